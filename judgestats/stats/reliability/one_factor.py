"""The one-factor model of replicated scores: its fit, its faults, and the three omegas it gives.

Replications of one prompt are exchangeable, so ``parallel`` (one loading, one uniqueness) is the
model the design implies; ``tau-equivalent`` frees the uniquenesses and ``congeneric`` the loadings
too. Fit indices follow lavaan's normal-theory conventions, with the Bartlett-corrected chi-square
of factanal and psych beside them.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

import numpy as np

from judgestats.arrays import Floats
from judgestats.stats.inference import distributions
from judgestats.stats.reliability.one_factor_solvers import (
    Solution,
    minres_one_factor,
    ml_one_factor,
)

Model = Literal["parallel", "tau-equivalent", "congeneric"]
Estimator = Literal["ml", "minres"]
Denominator = Literal["model", "observed", "residual"]

DEFAULT_LOWER: dict[str, float] = {"ml": 0.005, "minres": 0.0}
BATCH_CELLS = 3_000_000  # numbers per working array, so that wide data do not exhaust memory


@dataclasses.dataclass(frozen=True, kw_only=True)
class OneFactorFit:
    """How well a one-factor model fits, and whether its solution is proper.

    Attributes
    ----------
    chi2, df, p_value : float
        Likelihood ratio against the saturated model, ``N F`` (lavaan). For minres ``F`` is the ML
        discrepancy at the minres solution (as psych does). NaN where the covariance is singular.
    chi2_bartlett, p_bartlett : float
        The same with factanal's factor ``N - 1 - (2 p + 5) / 6 - 2 / 3``.
    rmsea, cfi, tli, srmr : float
        lavaan's conventions (N, not N - 1, in RMSEA; SRMR over the lower triangle with diagonal).
    objective : float
        The minimised discrepancy: ``log|Sigma| + tr(S Sigma^-1) - log|S| - p`` for ML, the sum of
        squared off-diagonal residuals for minres.
    heywood : tuple of int
        Columns (from 0) whose uniqueness is negative or sits at its lower bound.
    converged : bool
        Whether the search reached a stationary point.
    """

    chi2: float = math.nan
    df: int
    p_value: float = math.nan
    chi2_bartlett: float = math.nan
    p_bartlett: float = math.nan
    rmsea: float = math.nan
    cfi: float = math.nan
    tli: float = math.nan
    srmr: float = math.nan
    objective: float = math.nan
    heywood: tuple[int, ...] = ()
    converged: bool = True


def singular_reason(S: Floats, n_items: int) -> str:
    """Why the covariance matrix has no inverse, or an empty string where it has one.

    Examples
    --------
    >>> singular_reason(np.eye(3), 10)
    ''
    >>> singular_reason(np.ones((2, 2)), 10)
    'columns 1 and 2 are the same up to scale'
    """
    p = S.shape[0]
    variances = np.diag(S)
    constant = np.flatnonzero(variances <= 1e-14 * max(float(variances.max()), 1e-300))
    if constant.size:
        names = ", ".join(str(i + 1) for i in constant[:8])
        return f"column{'s' if constant.size > 1 else ''} {names} hold the same score for all items"
    R = S / np.sqrt(np.outer(variances, variances))
    if float(np.linalg.eigvalsh(R)[0]) > 1e-10 * p:
        return ""
    if n_items <= p:
        return f"{n_items} items do not exceed {p} replications"
    pairs = np.argwhere(np.triu(np.abs(R) > 1 - 1e-10, 1))
    if pairs.size:
        i, j = pairs[0]
        return f"columns {i + 1} and {j + 1} are the same up to scale"
    return "one column is an exact linear combination of the others"


def parallel_solution(S: Floats) -> tuple[float, float]:
    """Common covariance and uniqueness of the parallel model, its closed-form ML and minres fit.

    Examples
    --------
    >>> parallel_solution(np.array([[2.0, 1.0], [1.0, 4.0]]))
    (1.0, 2.0)
    """
    p = S.shape[0]
    common = float((S.sum() - np.trace(S)) / (p * (p - 1)))
    return common, float(np.trace(S) / p - common)


def omegas(loadings: Floats, uniquenesses: Floats, S: Floats) -> dict[str, Floats]:
    """The three one-factor omegas of each solution of a stack, by the name of the denominator.

    ``model``: ``(sum l)^2 / ((sum l)^2 + sum psi)``; ``observed``: ``(sum l)^2 / sum S``;
    ``residual``: ``1 - sum psi / sum S``.
    """
    true = loadings.sum(-1) ** 2
    error = uniquenesses.sum(-1)
    total = S.sum((-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "model": true / (true + error),
            "observed": true / total,
            "residual": 1.0 - error / total,
        }


def fit_stack(
    S: Floats,
    *,
    model: Model,
    estimator: Estimator,
    lower: float | None,
    start: tuple[Floats, Floats] | None = None,
) -> Solution:
    """Fit a tau-equivalent or congeneric model to each matrix of a stack, in bounded memory.

    Parameters
    ----------
    S : array of shape (B, p, p)
        Covariance or correlation matrices; one with a zero or undefined variance gives NaN.
    model, estimator, lower, start
        As in `one_factor_solvers`.

    Returns
    -------
    Solution
    """
    size, p, _ = S.shape
    variances = np.einsum("bii->bi", S)
    usable = np.isfinite(S).all((1, 2)) & (variances > 0).all(1)
    loadings = np.full((size, p), np.nan)
    psi = np.full((size, p), np.nan)
    objective = np.full(size, np.nan)
    converged = np.zeros(size, dtype=bool)
    at_bound = np.zeros((size, p), dtype=bool)
    iterations = 0
    per_batch = max(1, BATCH_CELLS // (4 * p * p))
    index = np.flatnonzero(usable)
    for first in range(0, index.size, per_batch):
        rows = index[first : first + per_batch]
        part = _solve_part(S[rows], model=model, estimator=estimator, lower=lower, start=start)
        loadings[rows], psi[rows] = part.loadings, part.uniquenesses
        objective[rows], converged[rows] = part.objective, part.converged
        at_bound[rows] = part.at_bound
        iterations = max(iterations, part.iterations)
    return Solution(
        loadings=loadings,
        uniquenesses=psi,
        objective=objective,
        converged=converged,
        at_bound=at_bound,
        iterations=iterations,
    )


def _solve_part(
    S: Floats,
    *,
    model: Model,
    estimator: Estimator,
    lower: float | None,
    start: tuple[Floats, Floats] | None,
) -> Solution:
    if estimator == "ml":
        return ml_one_factor(S, lower=lower, equal_loadings=model == "tau-equivalent", start=start)
    if model == "congeneric":
        return minres_one_factor(S, lower=lower, start=None if start is None else start[0])
    # tau-equivalent minres has a closed form: the mean covariance is the squared loading
    size, p, _ = S.shape
    variances = np.einsum("bii->bi", S)
    common = (S.sum((1, 2)) - variances.sum(1)) / (p * (p - 1))
    loadings = np.repeat(np.sqrt(np.maximum(common, 0.0))[:, None], p, axis=1)
    # a negative mean covariance has no real loading; the coefficient itself stays defined (alpha)
    loadings = np.where((common < 0)[:, None], np.nan, loadings)
    psi = variances - common[:, None]
    off = S - loadings[:, :, None] * loadings[:, None, :]
    off[:, np.arange(p), np.arange(p)] = 0.0
    return Solution(
        loadings=loadings,
        uniquenesses=psi,
        objective=0.5 * np.einsum("bij,bij->b", off, off),
        converged=np.ones(size, dtype=bool),
        at_bound=psi < 0,
        iterations=0,
    )


def free_parameters(model: Model, p: int) -> int:
    """Number of free parameters of a model for p columns."""
    return {"parallel": 2, "tau-equivalent": p + 1, "congeneric": 2 * p}[model]


def fit_one_factor(
    S: Floats,
    loadings: Floats,
    uniquenesses: Floats,
    *,
    model: Model,
    n_items: int,
    common: float | None = None,
    heywood: tuple[int, ...] = (),
    converged: bool = True,
    minres_objective: float = math.nan,
) -> OneFactorFit:
    """Fit indices of a solution against its covariance matrix.

    Parameters
    ----------
    S : array of shape (p, p)
        The matrix that was fitted.
    loadings, uniquenesses : arrays of shape (p,)
        The solution.
    model : str
        For the degrees of freedom.
    n_items : int
        Rows behind `S`.
    common : float or None
        The common covariance of the parallel model (it may be negative, and then has no loading).
    heywood, converged, minres_objective
        Passed on from the solver.

    Returns
    -------
    OneFactorFit
    """
    p = S.shape[0]
    df = p * (p + 1) // 2 - free_parameters(model, p)
    implied = np.outer(loadings, loadings) if common is None else np.full((p, p), common)
    sigma = implied + np.diag(uniquenesses)
    variances = np.diag(S)
    plain = OneFactorFit(df=df, objective=minres_objective, heywood=heywood, converged=converged)
    if not np.isfinite(sigma).all() or not (variances > 0).all():
        return plain
    residual = (S - sigma) / np.sqrt(np.outer(variances, variances))
    srmr = float(np.sqrt(np.mean(residual[np.tril_indices(p)] ** 2)))
    sign_s, log_s = np.linalg.slogdet(S)
    sign_m, log_m = np.linalg.slogdet(sigma)
    if singular_reason(S, n_items) or sign_s <= 0 or sign_m <= 0:
        return dataclasses.replace(plain, srmr=srmr)
    F = float(log_m - log_s + np.trace(np.linalg.solve(sigma, S)) - p)
    F0 = float(np.log(variances).sum() - log_s)
    df0 = p * (p - 1) // 2
    chi2, chi2_0 = n_items * F, n_items * F0
    factor = n_items - 1 - (2 * p + 5) / 6 - 2 / 3
    positive = df > 0
    excess, excess_0 = max(chi2 - df, 0.0), max(chi2_0 - df0, chi2 - df, 0.0)
    return OneFactorFit(
        chi2=chi2,
        df=df,
        p_value=float(distributions.chi2.sf(chi2, df)) if positive else math.nan,
        chi2_bartlett=factor * F,
        p_bartlett=float(distributions.chi2.sf(factor * F, df)) if positive else math.nan,
        rmsea=math.sqrt(excess / (df * n_items)) if positive else math.nan,
        cfi=1.0 - excess / excess_0 if positive and excess_0 > 0 else math.nan,
        tli=(chi2_0 / df0 - chi2 / df) / (chi2_0 / df0 - 1)
        if positive and chi2_0 != df0
        else math.nan,
        srmr=srmr,
        objective=minres_objective if math.isfinite(minres_objective) else F,
        heywood=heywood,
        converged=converged,
    )
