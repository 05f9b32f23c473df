"""From a covariance matrix (or a stack of them) to omega total."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from judgestats.arrays import Floats
from judgestats.stats.inference.result import Note, format_number
from judgestats.stats.reliability.omega_result import OmegaEstimate
from judgestats.stats.reliability.one_factor import (
    Estimator,
    Model,
    fit_one_factor,
    fit_stack,
    omegas,
    parallel_solution,
    singular_reason,
)

EQUAL_SPREAD = (
    "The chi-squared of the fit takes items to be equally spread: where they are not, it rejects "
    "exchangeable replications too, and is no reason to choose another model."
)


def parallel_reliability(S: Floats) -> tuple[float, float]:
    """ICC(3,1) and its Spearman-Brown (raw alpha) from a covariance matrix."""
    p = S.shape[0]
    common, own = parallel_solution(S)
    total = float(S.sum())
    alpha = p / (p - 1) * (1 - float(np.trace(S)) / total) if total > 0 else math.nan
    return common / (common + own), alpha


def refuse(base: OmegaEstimate, reason: str, *, minres: bool = False) -> OmegaEstimate:
    """NaN with the reason, and what can be had instead."""
    other = " or estimator='minres'" if minres else ""
    offer = (
        f"model='parallel'{other} can be used instead"
        f" (parallel omega: {format_number(base.mean_of_all)})"
    )
    return dataclasses.replace(
        base, reason=f"{reason}; {offer}", notes=(Note(code="not_fitted", message=reason),)
    )


def fit(base: OmegaEstimate, S: Floats, n: int, lower: float | None) -> OmegaEstimate:
    """The estimate with its solution and fit, no interval yet."""
    p = S.shape[0]
    model: Model = base.model  # type: ignore[assignment]
    estimator: Estimator = base.estimator_name  # type: ignore[assignment]
    notes: list[Note] = []
    common: float | None = None
    if model == "parallel":
        common, own = parallel_solution(S)
        total = float(S.sum())
        if not total > 1e-14 * np.trace(S):
            return dataclasses.replace(base, reason="the sum of the replications has no variance")
        loading = math.sqrt(common) if common >= 0 else math.nan
        loadings, psi = np.full(p, loading), np.full(p, own)
        value = p * p * common / total
        values = dict.fromkeys(("model", "observed", "residual"), value)
        heywood: tuple[int, ...] = ()
        converged, objective = True, math.nan
    else:
        solution = fit_stack(S[None], model=model, estimator=estimator, lower=lower)
        loadings, psi = solution.loadings[0], solution.uniquenesses[0]
        converged = bool(solution.converged[0])
        objective = float(solution.objective[0]) if estimator == "minres" else math.nan
        heywood = tuple(np.flatnonzero(solution.at_bound[0] | (psi < 0)).tolist())
        if model == "tau-equivalent" and estimator == "minres":
            common = parallel_solution(S)[0]
            total = float(S.sum())
            values = dict.fromkeys(("model", "observed", "residual"), p * p * common / total)
        else:
            values = {k: float(v) for k, v in omegas(loadings, psi, S).items()}
    if common is not None and common < 0:
        message = (
            f"the mean covariance of the replications is negative ({format_number(common)}): the "
            "coefficient is negative and no real loading reproduces it"
        )
        notes.append(Note(code="negative_covariance", message=message))
    if heywood:
        columns = ", ".join(str(i + 1) for i in heywood)
        message = (
            f"Heywood case: the uniqueness of replication {columns} is "
            f"{'at its lower bound' if lower is not None else 'negative'}; the congeneric solution "
            "is improper and the parallel model is safer"
        )
        notes.append(Note(code="heywood", message=message))
    if not converged:
        return dataclasses.replace(
            base,
            reason="the search did not converge to a minimum; model='parallel' has a closed form",
            notes=(*notes, Note(code="not_converged", message="the fit did not converge")),
        )
    fit = fit_one_factor(
        S,
        loadings,
        psi,
        model=model,
        n_items=n,
        common=common,
        heywood=heywood,
        converged=converged,
        minres_objective=objective,
    )
    if math.isnan(fit.chi2) and model == "parallel":
        why = singular_reason(S, n)
        if why:
            message = f"no test of fit: the covariance matrix is singular ({why})"
            notes.append(Note(code="singular", message=message))
    if math.isfinite(fit.chi2):
        notes.append(Note(code="fit_of_equal_spread", message=EQUAL_SPREAD))
    return dataclasses.replace(
        base,
        estimate=values[base.denominator],
        loadings=loadings,
        uniquenesses=psi,
        fit=fit,
        omegas=values,
        notes=tuple(notes),
    )


def statistic_of(
    fitted: OmegaEstimate, S: Floats | None, *, standardize: bool, lower: float | None
) -> Callable[[Floats], Floats]:
    """Omega of a stack of covariance matrices, started at the solution for `S` if there is one."""
    start = None if S is None else (fitted.loadings, fitted.uniquenesses)

    def statistic(stack: Floats) -> Floats:
        if standardize:
            variances = np.einsum("bii->bi", stack)
            sd = np.sqrt(np.where(variances > 0, variances, np.nan))
            stack = stack / (sd[:, :, None] * sd[:, None, :])
        p = stack.shape[1]
        if fitted.model == "parallel" or (
            fitted.model == "tau-equivalent" and fitted.estimator_name == "minres"
        ):
            total = stack.sum((1, 2))
            common = total - np.einsum("bii->b", stack)
            return np.where(total > 0, p / (p - 1) * common / total, np.nan)
        solution = fit_stack(
            stack,
            model=fitted.model,  # type: ignore[arg-type]
            estimator=fitted.estimator_name,  # type: ignore[arg-type]
            lower=lower,
            start=start,
        )
        values = omegas(solution.loadings, solution.uniquenesses, stack)[fitted.denominator]
        return np.where(solution.converged, values, np.nan)

    return statistic


def covariances_of_stack(stack: Floats) -> Floats:
    """Covariance matrices of a stack of data, shape (B, N, p) -> (B, p, p)."""
    centred = stack - stack.mean(axis=1, keepdims=True)
    return np.asarray(centred.transpose(0, 2, 1) @ centred / (stack.shape[1] - 1))


def weighted_covariances(X: Floats, weights: Floats) -> Floats:
    """Covariance matrices of resamples given as counts of each row, shape (B, p, p).

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]])
    >>> bool(np.allclose(weighted_covariances(X, np.ones((1, 3)))[0], np.cov(X.T)))
    True
    """
    p = X.shape[1]
    Z = X - X.mean(0)
    rows, columns = np.triu_indices(p)
    size = weights.sum(1)[:, None]
    means = weights @ Z / size
    products = weights @ (Z[:, rows] * Z[:, columns]) / size
    products -= means[:, rows] * means[:, columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        products *= size / (size - 1)
    S = np.empty((weights.shape[0], p, p))
    S[:, rows, columns] = products
    S[:, columns, rows] = products
    # rounding leaves a constant column of a resample a variance of about 1e-17: call it zero
    variances = np.einsum("bii->bi", S)
    scale = np.maximum((Z**2).mean(0), 1e-300)
    S[:, np.arange(p), np.arange(p)] = np.where(variances > 1e-12 * scale, variances, 0.0)
    return S
