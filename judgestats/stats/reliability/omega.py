"""Cronbach's alpha and McDonald's omega total of repeated scores."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.stats.inference.bootstrap import cluster_bootstrap, only, useful_reliability
from judgestats.stats.inference.keywords import NULL, Inference, one_blas_thread, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution, summarise_permutations
from judgestats.stats.inference.result import Note
from judgestats.stats.reliability import omega_fit, one_factor
from judgestats.stats.reliability.intraclass import icc_value, replications_needed
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio, shuffled_mean_squares
from judgestats.stats.reliability.omega_fit import OmegaEstimate, fit


def with_interval(
    fitted: OmegaEstimate,
    data: Floats,
    codes: Ints | None,
    statistic: Callable[[Floats], Floats],
    inference: Inference,
    *,
    n_jobs: int,
    standardize: bool,
) -> OmegaEstimate:
    """The estimate with the interval that covered best in docs/simulations/coverage_omega.csv.

    The parallel model has the jackknife interval of ICC(3,k), which is the same number. F intervals
    assume equal variance of items (docs/simulations/null.md). The other models have the bootstrap
    on the logit scale. It covers .93 on average over the simulated cases (percentile .91, BCa .91),
    and with tied scores it covers best in every case.
    """
    if fitted.model == "parallel" and not standardize:
        ratio = MeanSquareRatio.from_scores(data, codes, residual=True)
        bounds, notes = ratio.icc_interval(single=False, level=inference["level"])
        return dataclasses.replace(fitted, interval=bounds, notes=(*fitted.notes, *notes))
    boot = cluster_bootstrap(
        data,
        lambda x, weights: statistic(omega_fit.weighted_covariances(x, weights)),
        cluster=codes,
        n_resamples=inference["n_resamples"],
        level=inference["level"],
        method="normal",
        # 1 - omega is a ratio of variances: its logarithm is defined for negative alphas too
        transform="log_complement" if fitted.model == "parallel" else "logit",
        seed=inference["seed"],
        n_jobs=n_jobs,
        vectorized=True,
        names=("omega",),
    )
    defined = math.isfinite(boot.interval.low) and math.isfinite(boot.interval.high)
    kept, lost = useful_reliability(boot.interval if defined else None, only(boot.n_clusters))
    clusters = fitted.sample.n_clusters or fitted.sample.n_items
    message = (
        f"with {clusters} independent items a {fitted.model} interval covered .86 to .96 in "
        "simulation for a nominal .95"
    )
    few = Note.where(fitted.model != "parallel" and clusters < 50, "low_coverage", message)
    return dataclasses.replace(
        fitted,
        interval=kept,
        std_error=boot.std_error,
        notes=(*fitted.notes, *few, *(lost or boot.notes)),
    )


MODEL_TEXT = {
    "parallel": "one loading and one uniqueness for all replications",
    "tau-equivalent": "one loading, a uniqueness for each replication",
    "congeneric": "a loading and a uniqueness for each replication",
}
DENOMINATOR_TEXT = {
    "model": "(sum l)^2 / ((sum l)^2 + sum psi)",
    "observed": "(sum l)^2 / observed variance of the sum",
    "residual": "1 - sum psi / observed variance of the sum",
}


@one_blas_thread()
@with_keywords(permutations=NULL)
def omega_total(
    scores: ArrayLike,
    *,
    model: one_factor.Model = "parallel",
    estimator: one_factor.Estimator = "ml",
    denominator: one_factor.Denominator = "model",
    standardize: bool = False,
    lower: float | Literal["default"] | None = "default",
    interval: omega_fit.IntervalMethod | None = "auto",
    null: bool = False,
    n_jobs: int = 1,
    **inference: Unpack[Inference],
) -> OmegaEstimate:
    r"""McDonald's omega total of scores with one factor.

    Parameters
    ----------
    scores : array-like of shape (N, R)
        Scores: items in rows, replications in columns, in points. Items with a missing score
        (NaN) are left out and counted.
    model : {"parallel", "tau-equivalent", "congeneric"}
        Replications of one prompt are exchangeable, so ``parallel`` is the model of the design;
        its omega equals raw alpha and Spearman-Brown of ICC(3,1).
    estimator : {"ml", "minres"}
        Normal-theory maximum likelihood, or unweighted least squares off the diagonal. (The
        parallel model has the same closed form under both.)
    denominator : {"model", "observed", "residual"}
        ``model``: :math:`(\sum\lambda)^2/((\sum\lambda)^2+\sum\psi)` (lavaan with
        ``obs.var = FALSE``, MBESS, factanal by hand). ``observed``: over the observed variance of
        the sum (semTools' default, psych's ``omega_h`` with one factor). ``residual``:
        :math:`1-\sum\psi/1'S1` (psych's ``omega.tot``).
    standardize : bool
        Use the correlation matrix: omega of the sum of standardised columns (psych, factanal).
        False is omega of the scores as they are (lavaan, MBESS).
    lower : float, "default" or None
        Lower bound of each uniqueness as a share of the column's variance: .005 for ML (factanal,
        psych), 0 for minres. None lets a uniqueness go negative as lavaan does. A solution at the
        bound is a Heywood case and is reported as one.
    interval : "auto" or None
        The one that covered best in the committed simulation (docs/simulations/coverage_omega.csv):
        for the parallel model that of ICC(3,k), which is the same number (jackknife), else the
        bootstrap on the logit scale; a case in which it covered less than .93 is noted. None
        computes none.
    cluster : array-like of shape (N,), optional
        The question each item belongs to.
    null : bool
        Also permute each replication's column over the items: what omega is when the item does
        not matter.
    n_jobs : int
        Workers; the result does not depend on it.

    Returns
    -------
    OmegaEstimate
        With loadings, uniquenesses, fit, the single-rating reliability, that of the mean of all,
        and the judgments needed for .80 and .90. Undefined (NaN with `reason`) where the model
        cannot be fitted: fewer than two items or replications, a congeneric model of two columns,
        constant columns, ML with a singular covariance (N <= R, a duplicated column). Nothing is
        ever added to the covariance matrix to make it invertible.

    Raises
    ------
    InputError
        If `scores` is not a table of finite numbers or an option is not one of those named.

    Notes
    -----
    The single-rating reliability, that of the mean of k, and the judgments needed come from the
    parallel model, whatever the model of omega. At temperature 0 one draw is repeated: a
    reliability near 1 then says nothing about a second draw.

    References
    ----------
    McDonald (1999), Test theory. Feldt, Woodruff & Salih (1987), Applied Psychological
    Measurement 11, 93-103. Raykov (2002), Multivariate Behavioral Research 37, 89-103.
    Maydeu-Olivares, Coffman & Hartmann (2007), Psychological Methods 12, 157-176.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(60, 1)) + rng.normal(size=(60, 5))
    >>> result = omega_total(X)
    >>> round(result.estimate, 3), round(result.single, 3), result.replications_for[0.9]
    (0.771, 0.403, 14.0)
    >>> congeneric = omega_total(X, model="congeneric", interval=None)
    >>> round(congeneric.estimate, 3), congeneric.fit.df
    (0.776, 5)
    """
    omega_fit.check_options(model, estimator, denominator, interval, lower)
    floor = one_factor.DEFAULT_LOWER[estimator] if lower == "default" else lower
    data, sample, codes = omega_fit.prepare(scores, inference["cluster"])
    n, p = data.shape
    method = "closed form" if model == "parallel" else estimator
    description = (
        f"{model}: {MODEL_TEXT[model]}; {method} on the "
        f"{'correlation' if standardize else 'covariance'} matrix; {DENOMINATOR_TEXT[denominator]}"
    )
    base = OmegaEstimate(
        name="omega_total",
        label=f"McDonald's omega total ({model})",
        sample=sample,
        estimator=description,
        model=model,
        estimator_name=estimator,
        denominator=denominator,
    )
    for size, what in ((n, "complete item"), (p, "replication")):
        if size < 2:
            reason = f"{size} {what}{'' if size == 1 else 's'}: at least two are needed"
            return dataclasses.replace(base, reason=reason)
    S = np.cov(data, rowvar=False)
    if not np.diag(S).max() > 0:
        return dataclasses.replace(base, reason="every score is the same: there is no variance")
    # Of one judgment, and of the mean of all: alpha.
    common, own = one_factor.parallel_solution(S)
    total, single = float(S.sum()), common / (common + own)
    alpha = p / (p - 1) * (1 - float(np.trace(S)) / total) if total > 0 else math.nan
    base = dataclasses.replace(
        base,
        single=single,
        mean_of_all=alpha,
        replications_for={t: replications_needed(single, target=t) for t in omega_fit.TARGETS},
    )
    matrix = S
    if (standardize or model == "congeneric") and np.any(np.diag(S) <= 0):
        return omega_fit.refuse(base, one_factor.singular_reason(S, n))
    if standardize:
        sd = np.sqrt(np.diag(S))
        matrix = S / np.outer(sd, sd)
    if model == "congeneric" and p < 3:
        return omega_fit.refuse(base, "two replications do not identify a congeneric model")
    if estimator == "ml" and model != "parallel":
        singular = one_factor.singular_reason(S, n)
        if singular:
            reason = f"ML needs an invertible covariance matrix, and here {singular}"
            return omega_fit.refuse(base, reason, minres=True)
    fitted = fit(base, matrix, n, floor)
    if math.isnan(fitted.estimate):
        return fitted
    statistic = omega_fit.statistic_of(fitted, matrix, standardize=standardize, lower=floor)
    if interval is not None:
        fitted = with_interval(
            fitted, data, codes, statistic, inference, n_jobs=n_jobs, standardize=standardize
        )
    if null:
        seed = inference["seed"]
        draws: dict[str, Any] = {
            "n_permutations": inference["n_permutations"],
            "seed": seed,
            "n_jobs": n_jobs,
        }
        if model == "parallel" and not standardize:  # the same number as ICC(3,k)
            drawn = icc_value("ICC(3,k)", shuffled_mean_squares(data, **draws))
            permuted = summarise_permutations(
                fitted.estimate, drawn, scheme="replications", seed=seed
            )
        else:
            cold = omega_fit.statistic_of(fitted, None, standardize=standardize, lower=floor)
            permuted = permutation_distribution(
                data,
                lambda stack: cold(omega_fit.covariances_of_stack(stack)),
                scheme="replications",
                vectorized=True,
                **draws,
            )
        notes = (*fitted.notes, *permuted.notes)
        fitted = dataclasses.replace(fitted, null=permuted.null, notes=notes)
    return fitted
