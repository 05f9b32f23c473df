"""Maximum likelihood with errors over clusters: Newton's method, cumulative logits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.jackknife import cluster_sums, effective_clusters, t_of_clusters
from judgestats.stats.inference.result import Interval, Note

Parts = tuple[float, Floats, Floats]
"""Log-likelihood, scores (n, p) and information (p, p)."""

STEPS, LAST_STEP = 60, 1e-11
"""Newton steps at most, and the largest last one."""
FEW_CLUSTERS = 20
INFINITE = 15.0
"""Logits beyond which an estimate is a runaway: odds of three million to one."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A maximum of a likelihood: its parameters, scores of each row, inverse information."""

    beta: Floats
    loglik: float
    scores: Floats
    bread: Floats


def newton(
    parts: Callable[[Floats], Parts],
    start: Floats,
    *,
    where: str,
    runaway: str = "",
) -> Fit:
    """Maximise a concave log-likelihood.

    Parameters
    ----------
    parts : callable
        Parameters to log-likelihood (-inf where not allowed), scores (n, p), information (p, p).
    start : ndarray, shape (p,)
    where : str
        Name of the public function, for messages.
    runaway : str
        What it means where a parameter grows without bound; empty: no bound is held.

    Returns
    -------
    Fit

    Raises
    ------
    InputError
        If there is no finite maximum, or it is not reached.

    Examples
    --------
    >>> y = np.array([1.0, 1.0, 0.0, 1.0])
    >>> def parts(b):
    ...     p = 1 / (1 + np.exp(-b[0]))
    ...     ll = float(np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)))
    ...     return ll, (y - p)[:, None], np.array([[4 * p * (1 - p)]])
    >>> round(float(newton(parts, np.zeros(1), where="f").beta[0]), 6) == round(math.log(3), 6)
    True
    """
    beta = np.array(start, dtype=float)
    value, scores, information = parts(beta)
    for _ in range(STEPS):
        try:
            step = np.linalg.solve(information, scores.sum(axis=0))
        except np.linalg.LinAlgError as error:
            raise InputError(f"{where}: {runaway or 'the parameters are confounded'}.") from error
        size = 1.0
        new = parts(beta + step)
        while not new[0] >= value - 1e-9 * (1 + abs(value)) and size > 1e-6:
            size /= 2
            new = parts(beta + size * step)
        beta = beta + size * step
        value, scores, information = new
        if runaway and np.abs(beta).max() > INFINITE:
            raise InputError(f"{where}: {runaway}.")
        if np.abs(step).max() < LAST_STEP:
            break
    else:
        if np.abs(step).max() > 1e-6:
            raise InputError(
                f"{where}: the likelihood has no clear maximum. Leave a facet out, or give more."
            )
    return Fit(
        beta=beta,
        loglik=value,
        scores=scores,
        bread=np.asarray(np.linalg.inv(information), dtype=np.float64),
    )


def clustered_covariance(fit: Fit, codes: Ints) -> Floats:
    """Sandwich covariance of a maximum (CR1): scores summed by cluster, times G / (G - 1).

    Examples
    --------
    >>> one = Fit(beta=np.zeros(1), loglik=0.0, scores=np.array([[1.0], [-1.0], [2.0], [-2.0]]),
    ...           bread=np.array([[0.25]]))
    >>> round(float(clustered_covariance(one, np.arange(4))[0, 0]), 4)
    0.8333
    """
    sums = cluster_sums(fit.scores, codes)
    g = sums.shape[0]
    factor = g / (g - 1) if g > 1 else 1.0
    return np.asarray(fit.bread @ (sums.T @ sums) @ fit.bread * factor)


def cluster_df(codes: Ints) -> float:
    """Effective degrees of freedom of an interval over clusters, at least 1.

    Examples
    --------
    >>> cluster_df(np.repeat(np.arange(5), 3))
    4.0
    """
    sizes = np.unique(codes, return_counts=True)[1]
    return max(effective_clusters(sizes) - 1.0, 1.0)


def few_clusters_notes(n_clusters: int) -> tuple[Note, ...]:
    """Says how few clusters there are, below twenty."""
    message = f"Only {n_clusters} clusters: intervals were studied from {FEW_CLUSTERS} on."
    return Note.where(n_clusters < FEW_CLUSTERS, "few_clusters", message)


def wald_interval(estimate: float, std_error: float, *, df: float, level: float) -> Interval | None:
    """Estimate and standard error as an interval, None where there is no error."""
    if not (math.isfinite(std_error) and std_error > 0 and math.isfinite(estimate)):
        return None
    half = float(distributions.t.ppf((1 + level) / 2, df)) * std_error
    method = f"CR1 sandwich over clusters, {t_of_clusters(df)}"
    return Interval(low=estimate - half, high=estimate + half, level=level, method=method)


MOST_LEVELS = 100
RUNAWAY = "a factor decides the scores without exception, so its log odds are infinite"


def coded_levels(scores: Floats, *, where: str) -> tuple[Floats, Ints]:
    """The distinct scores in order, and the place of each score among them (-1 where missing).

    Examples
    --------
    >>> levels, codes = coded_levels(np.array([7.0, 9.0, np.nan, 7.0]), where="f")
    >>> levels.tolist(), codes.tolist()
    ([7.0, 9.0], [0, 1, -1, 0])
    """
    read = ~np.isnan(scores)
    levels = np.unique(scores[read])
    if levels.size < 2 or levels.size > MOST_LEVELS:
        problem = "all scores are equal" if levels.size == 1 else f"there are {levels.size} levels"
        problem = problem if levels.size else "no score was read"
        how = "Round the scores, or use means."
        raise InputError(f"{where}: 2 to {MOST_LEVELS} levels are needed, but {problem}. {how}")
    codes = np.full(scores.shape, -1, dtype=np.int64)
    codes[read] = np.searchsorted(levels, scores[read])
    return levels, codes


def level_likelihood(
    cut: Floats, y: Ints, eta: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Probability of each row's level, with the pieces of its derivatives.

    Parameters
    ----------
    cut : ndarray, shape (K - 1,)
        Thresholds in order.
    y : ndarray of int, shape (n,)
    eta : ndarray, shape (n,)

    Returns
    -------
    p, up, low, up_slope, low_slope : ndarray, shape (n,)
        Probability, density at the upper and lower threshold, and their derivatives.

    Examples
    --------
    >>> level_likelihood(np.array([0.0]), np.array([0, 1]), np.zeros(2))[0].tolist()
    [0.5, 0.5]
    """
    edges = np.concatenate([[-np.inf], cut, [np.inf]])
    upper, lower = expit(edges[y + 1] - eta), expit(edges[y] - eta)
    # Of two probabilities near 1 the difference is that of their complements.
    flipped = expit(eta - edges[y]) - expit(eta - edges[y + 1])
    p = np.where(lower > 0.5, flipped, upper - lower)
    up, low = upper * (1 - upper), lower * (1 - lower)
    return p, up, low, up * (1 - 2 * upper), low * (1 - 2 * lower)


def fit_cumulative_logit(y: Ints, x: Floats, *, where: str) -> Fit:
    """Thresholds, then slopes: P(Y <= k) = logistic(threshold_k - x'b), by Newton's method.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        Levels 0 .. K - 1, each of them used.
    x : ndarray, shape (n, p)
    where : str

    Returns
    -------
    Fit

    Examples
    --------
    >>> y = np.array([0, 1, 0, 1, 1, 0])
    >>> fit = fit_cumulative_logit(y, np.zeros((6, 0)), where="f")
    >>> abs(round(float(fit.beta[0]), 9))
    0.0
    """
    k, (n, p) = int(y.max()) + 1, x.shape
    share = np.cumsum(np.bincount(y, minlength=k)[:-1]) / n
    start = np.concatenate([np.log(share / (1 - share)), np.zeros(p)])
    above, below = np.zeros((n, k - 1 + p)), np.zeros((n, k - 1 + p))
    rows = np.arange(n)
    above[rows[y < k - 1], y[y < k - 1]] = 1.0
    below[rows[y > 0], y[y > 0] - 1] = 1.0
    above[:, k - 1 :], below[:, k - 1 :] = -x, -x

    def parts(beta: Floats) -> Parts:
        prob, up, low, up_slope, low_slope = level_likelihood(beta[: k - 1], y, x @ beta[k - 1 :])
        if not np.all(prob > 0):
            return -np.inf, np.zeros_like(above), np.eye(beta.size)
        u, v = up / prob, low / prob
        scores = above * u[:, None] - below * v[:, None]
        uu, vv, uv = u * u - up_slope / prob, v * v + low_slope / prob, -u * v
        cross = (above * uv[:, None]).T @ below
        information = (above * uu[:, None]).T @ above + (below * vv[:, None]).T @ below
        return float(np.log(prob).sum()), scores, information + cross + cross.T

    return newton(parts, start, where=where, runaway=RUNAWAY)


def dummies(groups: Sequence[str] | NDArray[np.str_], names: Sequence[str]) -> Floats:
    """One column for each name but the first.

    Examples
    --------
    >>> dummies(["a", "b", "a"], ["a", "b"]).tolist()
    [[0.0], [1.0], [0.0]]
    """
    values = np.asarray(groups)
    return np.column_stack([(values == name).astype(float) for name in names[1:]])
