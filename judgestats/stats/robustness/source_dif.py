"""Does a judge score one source differently at equal quality? Differential item functioning."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, as_numbers, check_lengths
from judgestats.errors import InputError
from judgestats.stats.inference import cluster_codes, distributions
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimate, Note, Sample, TestResult
from judgestats.stats.models import ordinal

NOISY = "label_noise"
_NOISE = (
    "Noise in human labels alone can make this difference: at equal scores the labels do not "
    "differ the other way round."
)
LEAST = 30
"""Questions of each source below which nothing is tested."""
MOST_RELATED = 0.95
"""Correlation of conditioner and source beyond which they cannot be distinguished."""
_INSTEAD = "Compare their mean scores instead."


@with_keywords()
def dif_test(
    scores: ArrayLike,
    source: ArrayLike,
    *,
    quality: ArrayLike,
    **inference: Unpack[Clustered],
) -> TestResult:
    r"""Test whether outputs of one source are scored differently at equal quality (DIF).

    Parameters
    ----------
    scores : array-like, shape (n,)
        The judge's scores of one criterion, NaN where unparsed.
    source : array-like, shape (n,)
        Whose output it is; the first in order is the source that others are compared with.
    quality : array-like, shape (n,)
        Quality known from elsewhere (human score, gold), NaN where there is none.
    cluster : array-like, shape (n,), optional
        The question of each output.

    Returns
    -------
    TestResult
        Uniform DIF: Wald's F over clusters. ``effects``: log odds of a higher score by source
        (``dif_log_odds``), then the change of Nagelkerke's R2. ``details``: ``uniform`` and
        ``non_uniform`` (likelihood ratio, its p, and p over clusters; the size differs with
        quality), ``nagelkerke`` of the three fits, ``points_if_exact`` and ``points_if_noisy``. A
        note `NOISY` where noise in the quality
        alone could make the difference.

    Raises
    ------
    InputError
        If a source has fewer than 30 questions, or the quality nearly determines the source.

    Notes
    -----
    Proportional-odds fits of the score on z, z + source, z * source. Where questions have a halo
    the likelihood ratio test of size .05 rejects .10 to .11 true nulls, Wald's over clusters .048
    (250 simulations): the latter decides.

    Human labels are noisy. At equal labels the outputs of a better source are better, and an
    unbiased judge sees that. The difference in points has two bounds. One is the difference at
    equal quality (labels without noise). The other follows from the regression of quality on score
    and source (all noise in the labels). It is due to the judge, whatever the noise, only if both
    bounds significantly have one sign. For an unbiased judge and labels as noisy as its scores,
    Wald's test rejects .38 (two sources) and .72 (three; docs/simulations/source_noise.csv).

    References
    ----------
    Klepper & Leamer (1984), Econometrica 52, 163-183.
    Zumbo (1999), A handbook on the theory and methods of DIF. Crane et al. (2006), Med. Care 44,
    S115-S123.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality, own = rng.normal(size=200), rng.integers(2, size=200)
    >>> said = np.round(3 + quality + 0.6 * own + rng.logistic(0, 0.5, 200)).clip(1, 5)
    >>> out = dif_test(said, np.where(own, "own", "others"), quality=quality)
    >>> bool(out.p_value < 0.01), round(out.effects[0].estimate, 1)
    (True, 1.8)
    """
    where = "dif_test"
    y = as_numbers(scores, "scores", where)
    z = as_numbers(quality, "quality", where)
    if z.shape != y.shape:
        raise InputError(f"{where}: quality must be one number an output, got shape {z.shape}.")
    labels = np.asarray(source)
    check_lengths(where, scores=y, source=labels)
    groups = labels.astype(str)
    codes = cluster_codes(inference["cluster"], y.size, where=where)
    used = ~np.isnan(y) & ~np.isnan(z)
    names = _sources(groups[used], codes[used])
    kept = used & np.isin(groups, names)
    who = ordinal.dummies(groups[kept], names)
    zk = z[kept]
    _check_separation(zk, who)
    coded = ordinal.coded_levels(np.where(kept, y, np.nan), where=where)[1][kept]
    zk = (zk - zk.mean()) / zk.std()
    fits = [
        ordinal.fit_cumulative_logit(coded, x, where=where)
        for x in (
            np.zeros((zk.size, 0)),
            zk[:, None],
            np.column_stack([zk, who]),
            np.column_stack([zk, who, who * zk[:, None]]),
        )
    ]
    clusters = None if inference["cluster"] is None else codes
    sample = Sample.from_mask(kept, "no score, quality or comparable source", clusters)
    result = _tested(fits, names, codes[kept], sample, level=inference["level"])
    return _bounded_by_noise(result, y[kept], zk, who, codes[kept], level=inference["level"])


def farthest_source(result: TestResult) -> int:
    """Index in ``effects`` of the source farthest from the reference, in standard errors.

    Parameters
    ----------
    result : TestResult
        Of `dif_test`.
    """
    differences = result.effects[:-1]
    sizes = [abs(e.estimate) / e.std_error if e.std_error > 0 else 0.0 for e in differences]
    return max(range(len(sizes)), key=sizes.__getitem__)


def _bounded_by_noise(
    result: TestResult, y: Floats, z: Floats, who: Floats, codes: Ints, *, level: float
) -> TestResult:
    """The differences in points without noise in the quality, and with all of the noise in it."""
    exact = _regression(y, z, who, codes)[0]
    coefficients, errors = _regression(z, y, who, codes)
    slope, reverse = coefficients[1], coefficients[2:]
    noisy = -reverse / slope if slope > 0 else np.full(reverse.size, np.nan)
    k = farthest_source(result)
    # Sure of both ends, so that no noise in between can be what is seen.
    far = distributions.t.ppf((1 + level) / 2, np.unique(codes).size - 1)
    sure = abs(reverse[k]) > far * errors[k + 2]
    explained = sure and exact[k + 2] * noisy[k] > 0
    notes = (*result.notes, *Note.where(not explained, NOISY, _NOISE))
    details = {"points_if_exact": exact[2:].tolist(), "points_if_noisy": noisy.tolist()}
    return result.replace(notes=notes, details=dict(result.details) | details)


def _regression(target: Floats, given: Floats, who: Floats, codes: Ints) -> tuple[Floats, Floats]:
    """Least squares of target on 1, given and source; standard errors over clusters (CR1)."""
    design = np.column_stack([np.ones(given.size), given, who])
    bread = np.linalg.pinv(design.T @ design)
    coefficients = bread @ (design.T @ target)
    scores = design * (target - design @ coefficients)[:, None]
    fit = ordinal.Fit(beta=coefficients, loglik=np.nan, scores=scores, bread=bread)
    covariance = ordinal.clustered_covariance(fit, codes)
    return coefficients, np.sqrt(np.diag(covariance))


def _sources(groups: NDArray[Any], codes: Ints) -> list[str]:
    """The sources with enough questions, in order."""
    where = "dif_test"
    counts = {str(g): int(np.unique(codes[groups == g]).size) for g in np.unique(groups)}
    enough = [g for g, n in counts.items() if n >= LEAST]
    if len(enough) < 2:
        text = ", ".join(f"{g} {n}" for g, n in list(counts.items())[:4]) or "none"
        raise InputError(
            f"{where}: two sources with at least {LEAST} questions each are needed; questions with "
            f"score and quality by source: {text}. {_INSTEAD}"
        )
    return enough


def _check_separation(z: Floats, who: Floats) -> None:
    where = "dif_test"
    total = float(np.sum((z - z.mean()) ** 2))
    if total <= 1e-12 * max(float(np.sum(z**2)), 1.0):
        why = "the quality of all outputs is equal, so nothing is held constant"
        raise InputError(f"{where}: {why}. {_INSTEAD}")
    x = np.column_stack([np.ones(z.size), who])
    left = float(np.sum((z - x @ np.linalg.lstsq(x, z, rcond=None)[0]) ** 2))
    related = math.sqrt(max(1 - left / total, 0.0))
    if related > MOST_RELATED:
        raise InputError(
            f"{where}: quality and source correlate at {related:.3f}: they cannot be "
            "distinguished. Compare sources on outputs of overlapping quality."
        )


def _wald(fit: ordinal.Fit, covariance: Floats, at: slice) -> float:
    b = fit.beta[at]
    return float(b @ np.linalg.solve(covariance[at, at], b)) / b.size


def _tested(
    fits: list[ordinal.Fit], names: list[str], codes: Ints, sample: Sample, *, level: float
) -> TestResult:
    null, base, uniform, crossed = fits
    n, q, df = codes.size, len(names) - 1, ordinal.cluster_df(codes)
    fitted = [1 - math.exp(2 * (null.loglik - f.loglik) / n) for f in fits]
    r2 = [f / (1 - math.exp(2 * null.loglik / n)) for f in fitted[1:]]
    covariance = ordinal.clustered_covariance(uniform, codes)
    at = slice(uniform.beta.size - q, uniform.beta.size)
    statistic = _wald(uniform, covariance, at)
    last = slice(crossed.beta.size - q, crossed.beta.size)
    cross_covariance = ordinal.clustered_covariance(crossed, codes)
    cross = _wald(crossed, cross_covariance, last)
    p_cross = float(distributions.f.sf(cross, q, df))
    message = f"The difference changes with quality (p {p_cross:.3g}), so one number misleads."
    notes = Note.where(p_cross < 1 - level, "non_uniform", message)
    effects = [
        Estimate(
            name="dif_log_odds",
            label=f"Log odds of a higher score, {name} over {names[0]}",
            estimate=float(b), std_error=float(se), sample=sample, estimator="proportional odds",
            interval=ordinal.wald_interval(float(b), float(se), df=df, level=level),
        )
        for name, b, se in zip(
            names[1:], uniform.beta[at], np.sqrt(np.diag(covariance))[at], strict=True
        )
    ]  # fmt: skip
    change = r2[1] - r2[0]
    effects.append(
        Estimate(
            name="r2_change", label="Change of Nagelkerke's R²", estimate=change, sample=sample
        )
    )

    def ratio(small: ordinal.Fit, large: ordinal.Fit, f: float) -> dict[str, float]:
        chi2 = 2 * (large.loglik - small.loglik)
        return {
            "chi2": chi2, "df": q, "p_likelihood_ratio": float(distributions.chi2.sf(chi2, q)),
            "p_clustered": float(distributions.f.sf(f, q, df)),
        }  # fmt: skip

    return TestResult(
        name="dif_test",
        method="Wald test of a difference between sources at equal quality, over clusters",
        statistic=statistic,
        statistic_name="F",
        df={"num df": float(q), "denom df": df},
        p_value=float(distributions.f.sf(statistic, q, df)),
        null_hypothesis="at equal quality every source has the same odds of a higher score",
        alternative="some source is scored higher or lower than its quality",
        why="it holds quality constant and takes the outputs of a question together",
        effects=tuple(effects),
        sample=sample,
        notes=notes,
        details={
            "sources": names,
            "uniform": ratio(base, uniform, statistic),
            "non_uniform": ratio(uniform, crossed, cross),
            "nagelkerke": r2,
            "loglik": [f.loglik for f in fits],
            "std_errors_wald": np.sqrt(np.diag(uniform.bread))[at].tolist(),
        },
    )
