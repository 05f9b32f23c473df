"""Maximum likelihood by Newton's method, and covariances that hold for clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import (
    cluster_sums,
    effective_clusters,
    t_of_clusters,
)
from judgestats.stats.inference.result import Interval

Parts = tuple[float, Floats, Floats]
"""Log-likelihood, scores (n, p) and information (p, p)."""

Sandwich = Literal["CR0", "CR1", "CR2"]
SANDWICHES: tuple[str, ...] = ("CR0", "CR1", "CR2")
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
    tolerance: float = 1e-11,
    steps: int = 60,
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
    tolerance : float
        Largest last step.
    steps : int

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
    for _ in range(steps):
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
        if np.abs(step).max() < tolerance:
            break
    else:
        if np.abs(step).max() > 1e-6:
            raise InputError(
                f"{where}: the likelihood has no clear maximum ({steps} Newton steps). The "
                "parameters are many for these judgments: leave a facet out, or give more."
            )
    return Fit(
        beta=beta,
        loglik=value,
        scores=scores,
        bread=np.asarray(np.linalg.inv(information), dtype=np.float64),
    )


def clustered_covariance(fit: Fit, codes: Ints, kind: str = "CR1") -> Floats:
    """Sandwich covariance of a maximum, scores summed by cluster; CR1 multiplies by G / (G - 1).

    Examples
    --------
    >>> one = Fit(beta=np.zeros(1), loglik=0.0, scores=np.array([[1.0], [-1.0], [2.0], [-2.0]]),
    ...           bread=np.array([[0.25]]))
    >>> round(float(clustered_covariance(one, np.arange(4))[0, 0]), 4)
    0.8333
    """
    sums = cluster_sums(fit.scores, codes)
    g = sums.shape[0]
    factor = g / (g - 1) if kind == "CR1" and g > 1 else 1.0
    return np.asarray(fit.bread @ (sums.T @ sums) @ fit.bread * factor)


def weighted_cr2(x: Floats, weight: Floats, residual: Floats, codes: Ints, bread: Floats) -> Floats:
    """CR2 covariance of a generalised linear model (Bell & McCaffrey 2002, on the response).

    Parameters
    ----------
    x : ndarray, shape (n, p)
    weight : ndarray, shape (n,)
        Working weights, which are the variances of a canonical model.
    residual : ndarray, shape (n,)
        Response minus mean.
    codes : ndarray of int, shape (n,)
    bread : ndarray, shape (p, p)
        Inverse of X'WX.

    Notes
    -----
    As clubSandwich 0.5 for a glm: the target is the model's variance of the response.
    """
    meat = np.zeros_like(bread)
    for g in np.unique(codes):
        at = codes == g
        root = np.sqrt(weight[at])
        slope = x[at] * weight[at][:, None]
        left = np.diag(weight[at]) - slope @ bread @ slope.T
        value, vector = np.linalg.eigh(left * np.outer(root, root))
        inverse = np.where(value > 1e-10 * value.max(), value, np.inf) ** -0.5
        adjusted = (vector * inverse) @ vector.T * np.outer(root, root)
        score = x[at].T @ (adjusted @ residual[at])
        meat += np.outer(score, score)
    return np.asarray(bread @ meat @ bread)


def cluster_df(codes: Ints) -> float:
    """Effective degrees of freedom of an interval over clusters, at least 1.

    Examples
    --------
    >>> cluster_df(np.repeat(np.arange(5), 3))
    4.0
    """
    sizes = np.unique(codes, return_counts=True)[1]
    return max(effective_clusters(sizes) - 1.0, 1.0)


def wald_interval(
    estimate: float, std_error: float, *, df: float, level: float, sandwich: str
) -> Interval | None:
    """Estimate and standard error as an interval, None where there is no error."""
    if not (math.isfinite(std_error) and std_error > 0 and math.isfinite(estimate)):
        return None
    half = float(distributions.t.ppf((1 + level) / 2, df)) * std_error
    method = f"{sandwich} sandwich over clusters, {t_of_clusters(df)}"
    return Interval(low=estimate - half, high=estimate + half, level=level, method=method)
