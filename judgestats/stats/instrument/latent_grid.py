"""Marginal likelihood of models with one latent quality an answer, on a grid fine enough.

All ratings of an answer share its quality, a standard normal variable. The integral over it is a
sum over equally spaced nodes. Many ratings make an answer's posterior narrow: a fixed rule of 61
Gauss-Hermite nodes was wrong by 1e-3 where an answer had 12, so the spacing follows the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from judgestats.errors import InputError
from judgestats.stats.instrument.fitting import Fit, newton

__all__ = ["Grid", "GridFit", "fit_on_grid", "grid_of", "integrated"]

FloatArray = NDArray[np.float64]

REACH = 7.0
"""Standard deviations of quality that the grid spans to either side."""
FINEST = 1601
PER_SD = 3.0
"""Nodes for one standard deviation of the narrowest posterior."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equally spaced nodes of a standard normal variable with their log weights."""

    x: FloatArray
    log_weight: FloatArray


def grid_of(n: int) -> Grid:
    """A grid of n nodes.

    Examples
    --------
    >>> g = grid_of(101)
    >>> round(float(np.sum(np.exp(g.log_weight) * g.x**2)), 9)
    1.0
    """
    x = np.linspace(-REACH, REACH, n)
    log_weight = -x * x / 2
    return Grid(x=x, log_weight=log_weight - logsumexp(log_weight))


def integrated(loglik: FloatArray, grid: Grid) -> tuple[FloatArray, FloatArray]:
    """Marginal log-likelihood of each answer and its posterior over the nodes.

    Parameters
    ----------
    loglik : ndarray, shape (n_answers, n_nodes)
        Log-likelihood of all ratings of an answer at each node.
    grid : Grid

    Returns
    -------
    marginal : ndarray, shape (n_answers,)
    posterior : ndarray, shape (n_answers, n_nodes)

    Examples
    --------
    >>> integrated(np.zeros((1, 51)), grid_of(51))[0].round(9).tolist()
    [0.0]
    """
    joint = loglik + grid.log_weight
    largest = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - largest)
    total = weights.sum(axis=1, keepdims=True)
    return (largest + np.log(total))[:, 0], weights / total


Model = Callable[[FloatArray, Grid], tuple[float, FloatArray, FloatArray]]
"""Parameters and grid to log-likelihood, scores of the answers (N, p), posteriors (N, Q)."""


@dataclass(frozen=True, kw_only=True)
class GridFit:
    """A marginal maximum, the grid it was found on, and what doubling the grid would move."""

    fit: Fit
    grid: Grid
    posterior: FloatArray
    change: float


def fit_on_grid(model: Model, start: FloatArray, *, where: str, runaway: str) -> GridFit:
    """Maximise a marginal likelihood; the grid is refined until posteriors are wide on it.

    Parameters
    ----------
    model : callable
    start : ndarray, shape (p,)
    where : str
        Name of the public function, for messages.
    runaway : str
        What it means where a parameter grows without bound.

    Returns
    -------
    GridFit

    Raises
    ------
    InputError
        If there is no finite maximum.
    """
    grid = grid_of(81)

    def parts(beta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        value, scores, _ = model(beta, grid)
        return value, scores, scores.T @ scores + 1e-8 * np.eye(beta.size)

    # The outer product of scores stands in for the information until the maximum is near.
    beta = newton(parts, start, where=where, runaway=runaway, tolerance=1e-3, steps=100).beta
    for _ in range(6):
        x, posterior = grid.x, model(beta, grid)[2]
        mean = posterior @ x
        narrow = math.sqrt(max(float((posterior @ x**2 - mean**2).min()), 1e-8))
        needed = min(int(2 * REACH * PER_SD / narrow) + 1, FINEST)
        if needed <= grid.x.size:
            break
        grid = grid_of(needed)
    information = _information(model, beta, grid)
    for _ in range(30):
        value, scores, posterior = model(beta, grid)
        step = _solved(information, scores.sum(axis=0), where, runaway)
        beta = beta + step
        if np.abs(step).max() < 1e-9:
            break
    else:
        raise InputError(
            f"{where}: the likelihood has no clear maximum. The parameters are many for these "
            "ratings: leave a facet out, merge rare levels, or give more answers."
        )
    information = _information(model, beta, grid)
    value, scores, posterior = model(beta, grid)
    finer = model(beta, grid_of(2 * grid.x.size - 1))[1].sum(axis=0)
    return GridFit(
        fit=Fit(
            beta=beta, loglik=value, scores=scores, bread=np.asarray(np.linalg.inv(information))
        ),
        grid=grid,
        posterior=posterior,
        change=float(np.abs(_solved(information, finer, where, runaway)).max()),
    )


def _information(model: Model, beta: FloatArray, grid: Grid) -> FloatArray:
    """The observed information, from differences of the gradient."""
    step, p = 1e-4, beta.size
    out = np.empty((p, p))
    for i in range(p):
        up, down = beta.copy(), beta.copy()
        up[i] += step
        down[i] -= step
        rise = model(up, grid)[1].sum(axis=0) - model(down, grid)[1].sum(axis=0)
        out[i] = -rise / (2 * step)
    return (out + out.T) / 2


def _solved(matrix: FloatArray, vector: FloatArray, where: str, runaway: str) -> FloatArray:
    value = np.linalg.eigvalsh(matrix)
    if not value[0] > 1e-9 * max(float(value[-1]), 1e-300):
        raise InputError(f"{where}: {runaway}.")
    return np.asarray(np.linalg.solve(matrix, vector))
