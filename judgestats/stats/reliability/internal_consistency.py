"""Internal consistency of replications: Cronbach's alpha and Guttman's lambdas.

Rows are items (the things judged), columns are replications, judges or questions: whatever is
averaged. All coefficients here are functions of the columns' covariance matrix, and describe the
mean (or sum) of all columns, not one judgment.
"""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.stats.inference.keywords import NULL, Inference, with_keywords
from judgestats.stats.inference.result import Estimate
from judgestats.stats.layouts.score_matrix import (
    Missing,
    correlations,
    pairwise_correlation,
)
from judgestats.stats.reliability.covariance_estimate import IntervalMethod, covariance_estimate


def alpha_from_covariance(covariance: Floats) -> Floats:
    r"""Alpha of one or a stack of covariance (or correlation) matrices.

    Parameters
    ----------
    covariance : ndarray, shape (..., k, k)

    Returns
    -------
    ndarray, shape (...)
        :math:`\frac{k}{k-1}\left(1 - \frac{\mathrm{tr}\,S}{1'S1}\right)`; NaN where the sum has
        no variance.

    Examples
    --------
    >>> import numpy as np
    >>> alpha_from_covariance(np.array([[2.0, 1.0], [1.0, 2.0]])).round(6)
    np.float64(0.666667)
    """
    k = covariance.shape[-1]
    trace = np.trace(covariance, axis1=-2, axis2=-1)
    total = covariance.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = k / (k - 1) * (1 - trace / total)
    # Columns that cancel leave a total of rounding errors: no variance, hence no reliability.
    out: Floats = np.where(total > 1e-12 * trace, value, np.nan)
    return out


def lambda2_from_covariance(covariance: Floats) -> Floats:
    """Guttman's lambda-2 of one or a stack of covariance matrices, shape (..., k, k) to (...)."""
    k = covariance.shape[-1]
    trace = np.trace(covariance, axis1=-2, axis2=-1)
    total = covariance.sum(axis=(-2, -1))
    diagonal = np.diagonal(covariance, axis1=-2, axis2=-1)
    off = np.maximum((covariance**2).sum(axis=(-2, -1)) - (diagonal**2).sum(axis=-1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = 1 - trace / total + np.sqrt(k / (k - 1) * off) / total
    out: Floats = np.where(total > 1e-12 * trace, value, np.nan)
    return out


def duhachek_std_error(covariance: Floats, n: int) -> float:
    """Standard error of raw alpha by Duhachek and Iacobucci (2004), psych's ``ase``.

    Examples
    --------
    >>> import numpy as np
    >>> round(duhachek_std_error(np.array([[2.0, 1.0], [1.0, 2.0]]), 50), 6)
    0.094281
    """
    k, total, trace = covariance.shape[0], covariance.sum(), np.trace(covariance)
    square = covariance @ covariance
    with np.errstate(divide="ignore", invalid="ignore"):
        q = (
            2
            * k**2
            / ((k - 1) ** 2 * total**3)
            * (total * (np.trace(square) + trace**2) - 2 * trace * square.sum())
        )
    # q is a variance: where it vanishes (perfect agreement) rounding may leave it below 0.
    return math.sqrt(max(float(q), 0.0) / n) if math.isfinite(q) else math.nan


@with_keywords(permutations=NULL)
def cronbach_alpha(
    scores: ArrayLike,
    *,
    standardized: bool = False,
    interval: IntervalMethod = "auto",
    missing: Missing = "refuse",
    n_jobs: int = 1,
    **inference: Unpack[Inference],
) -> Estimate:
    r"""Cronbach's alpha, raw or standardised, of the mean of all replications.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_replications)
        Scores in points; NaN where missing.
    standardized : bool
        Use correlations instead of covariances: alpha of z-scored replications.
    interval : {"auto", "feldt", "bonett", "jackknife", "bca", "percentile", "none"}
        ``auto``: the jackknife over items, or clusters, on the scale of log(1 - alpha), which
        covers better than the bootstrap (docs/simulations/coverage_scores.csv) and, where items
        scatter unequally, than Feldt's exact F (docs/simulations/null.md).
    missing : {"refuse", "listwise", "pairwise", "em"}
        ``refuse`` gives NaN with the reason; ``pairwise`` is what ``psych::alpha`` does in silence;
        ``em`` uses the maximum likelihood covariance under missing at random.
    n_permutations : int
        Permutations of each replication's column over items for the null; 0 for none.
    n_jobs : int

    Returns
    -------
    Estimate
        Named ``alpha`` or ``alpha_standardized``; `std_error` of raw alpha is Duhachek and
        Iacobucci's; details hold `k`, `average_r` and the signal-to-noise ratio.

    Raises
    ------
    InputError
        If the scores are no finite matrix or an option is unknown.

    Notes
    -----
    :math:`\alpha = \frac{k}{k-1}\left(1 - \frac{\mathrm{tr}\,S}{1'S1}\right)`, equal to ICC(3,k).
    Constant replications are kept (``psych::alpha`` drops them in silence). No column is reversed
    and no absolute value is taken (``reliabilipy`` takes \|r\|). With missing judgments the
    standardised form uses the correlations of the pairwise covariance matrix, as ``psych::alpha``.

    References
    ----------
    Cronbach (1951), Psychometrika 16; Feldt (1965), Psychometrika 30; Bonett (2002), J. Educ.
    Behav. Stat. 27; Duhachek & Iacobucci (2004), J. Applied Psychology 89.

    Examples
    --------
    >>> alpha = cronbach_alpha(
    ...     [[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3], [6, 7, 6], [1, 2, 1]], n_permutations=99)
    >>> round(alpha.estimate, 4), alpha.interval.method.split(",")[0]
    (0.9823, 'jackknife over items of log(MSb/MSe)')
    """

    def details(covariance: Floats, n: int) -> dict[str, Any]:
        k = covariance.shape[0]
        r = correlations(covariance)
        average = float((r.sum() - k) / (k * (k - 1)))
        ratio = k * average / (1 - average) if average < 1 else math.inf
        return {"k": k, "average_r": average, "signal_to_noise": ratio, "n": n}

    kind = "correlations" if standardized else "covariances"
    return covariance_estimate(
        scores,
        alpha_from_covariance,
        where="cronbach_alpha",
        name="alpha_standardized" if standardized else "alpha",
        label="Cronbach's alpha (standardised)" if standardized else "Cronbach's alpha",
        estimator=f"alpha on the {kind}",
        on="correlation" if standardized else "covariance",
        interval=interval,
        missing=missing,
        **inference,
        n_jobs=n_jobs,
        details=details,
        std_error=None if standardized else duhachek_std_error,
    )


@with_keywords(permutations=NULL)
def guttman_lambda2(
    scores: ArrayLike,
    *,
    standardized: bool = False,
    interval: IntervalMethod = "auto",
    missing: Missing = "refuse",
    n_jobs: int = 1,
    **inference: Unpack[Inference],
) -> Estimate:
    r"""Guttman's lambda-2: a lower bound to reliability that is never below alpha.

    Parameters
    ----------
    scores, standardized, interval, missing
        As for `cronbach_alpha`; ``auto`` is the jackknife.
    n_jobs
        As for `cronbach_alpha`.

    Returns
    -------
    Estimate
        Named ``lambda2``.

    Raises
    ------
    InputError
        If the scores are no finite matrix or an option is unknown.

    Notes
    -----
    :math:`\lambda_2 = 1 - \frac{\mathrm{tr}\,S}{1'S1} + \frac{\sqrt{\frac{k}{k-1}\sum_{i \ne j}
    s_{ij}^2}}{1'S1}`. The standardised form with missing judgments uses pairwise correlations, as
    ``psych::tenberge``.

    References
    ----------
    Guttman (1945), Psychometrika 10.

    Examples
    --------
    >>> x = [[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3]]
    >>> round(guttman_lambda2(x, interval="none", n_permutations=0).estimate, 4)
    0.9812
    """
    return covariance_estimate(
        scores,
        lambda2_from_covariance,
        where="guttman_lambda2",
        name="lambda2",
        label="Guttman's lambda-2" + (" (standardised)" if standardized else ""),
        estimator="lambda-2 on the " + ("correlations" if standardized else "covariances"),
        on="correlation" if standardized else "covariance",
        interval=interval,
        missing=missing,
        **inference,
        n_jobs=n_jobs,
        correlation_of_missing=pairwise_correlation,
    )
