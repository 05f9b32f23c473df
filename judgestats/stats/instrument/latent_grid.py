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
from scipy.optimize import minimize
from scipy.special import logsumexp

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.instrument.fitting import Fit

REACH = 7.0
"""Standard deviations of quality that the grid spans to either side."""
FINEST = 1601
INFINITE = 40.0
"""Logits beyond which an estimate is a runaway: a sharp judge's thresholds reach 15."""
PER_SD = 3.0
"""Nodes for one standard deviation of the narrowest posterior."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equally spaced nodes of a standard normal variable with their log weights."""

    x: Floats
    log_weight: Floats


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


def integrated(loglik: Floats, grid: Grid) -> tuple[Floats, Floats]:
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


Model = Callable[[Floats, Grid], tuple[float, Floats, Floats]]
"""Parameters and grid to log-likelihood, scores of the answers (N, p), posteriors (N, Q)."""


@dataclass(frozen=True, kw_only=True)
class GridFit:
    """A marginal maximum, the grid it was found on, and what doubling the grid would move."""

    fit: Fit
    grid: Grid
    posterior: Floats
    change: float


def fit_on_grid(model: Model, start: Floats, *, where: str, runaway: str) -> GridFit:
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

    beta = _approached(model, start, grid)
    if np.abs(beta).max() > INFINITE:
        raise InputError(f"{where}: {runaway}.")
    for _ in range(6):
        x, posterior = grid.x, model(beta, grid)[2]
        mean = posterior @ x
        narrow = math.sqrt(max(float((posterior @ x**2 - mean**2).min()), 1e-8))
        needed = min(int(2 * REACH * PER_SD / narrow) + 1, FINEST)
        if needed <= grid.x.size:
            break
        grid = grid_of(needed)
    beta = _newton(model, beta, grid, where=where, runaway=runaway)
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


def _newton(model: Model, beta: Floats, grid: Grid, *, where: str, runaway: str) -> Floats:
    """The maximum to the last digits; the information is computed anew after each large step."""
    value, scores, _ = model(beta, grid)
    information = _information(model, beta, grid)
    for _ in range(40):
        # Away from the maximum a direction may curve upwards: its curvature is taken absolute.
        curve, axes = np.linalg.eigh(information)
        curve = np.maximum(np.abs(curve), 1e-8 * np.abs(curve).max())
        step = axes @ ((axes.T @ scores.sum(axis=0)) / curve)
        largest = float(np.abs(step).max())
        if largest < 1e-9:
            return beta
        size = min(1.0, 2.0 / largest)
        new = model(beta + size * step, grid)
        while not new[0] >= value - 1e-9 * abs(value) and size > 1e-4:
            size /= 2
            new = model(beta + size * step, grid)
        beta = beta + size * step
        value, scores, _ = new
        if largest > 1e-2:
            information = _information(model, beta, grid)
    raise InputError(f"{where}: the likelihood has no clear maximum: {runaway}.")


def _approached(model: Model, start: Floats, grid: Grid) -> Floats:
    """Near the maximum: BFGS on axes that the outer product of the scores makes alike."""
    scores = model(start, grid)[1]
    outer = scores.T @ scores
    outer += 1e-3 * np.trace(outer) / start.size * np.eye(start.size)
    axes = np.linalg.inv(np.linalg.cholesky(outer)).T

    def deviance(z: Floats) -> tuple[float, Floats]:
        value, each, _ = model(start + axes @ z, grid)
        if not math.isfinite(value):
            return 1e12, np.zeros_like(z)
        return -value, -(each.sum(axis=0) @ axes)

    optimum = minimize(
        deviance, np.zeros(start.size), jac=True, method="BFGS", options={"gtol": 1e-2}
    )
    return np.asarray(start + axes @ optimum.x)


def _information(model: Model, beta: Floats, grid: Grid) -> Floats:
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


def _solved(matrix: Floats, vector: Floats, where: str, runaway: str) -> Floats:
    value = np.linalg.eigvalsh(matrix)
    if not value[0] > 1e-9 * max(float(value[-1]), 1e-300):
        raise InputError(f"{where}: {runaway}.")
    return np.asarray(np.linalg.solve(matrix, vector))
