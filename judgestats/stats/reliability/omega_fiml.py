"""Omega with missing replications: full-information maximum likelihood over what was read.

Every item contributes the likelihood of its own readable judgments, so nothing is dropped and
nothing imputed. Valid when a judgment's being missing does not depend on the score it would have
had (missing at random). The determinant and inverse of each item's covariance come from the
Woodbury identity with a mask, so all missing patterns are handled in the same array operations.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.optimize import minimize

from judgestats.arrays import Floats, Ints
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimable import only, useful_reliability
from judgestats.stats.inference.result import Interval, Note
from judgestats.stats.reliability.omega_delta import logit_interval
from judgestats.stats.reliability.omega_result import TARGETS, OmegaEstimate, replications_needed
from judgestats.stats.reliability.one_factor import Model


@dataclasses.dataclass(frozen=True, kw_only=True)
class FimlFit:
    """One-factor solution from incomplete scores.

    Attributes
    ----------
    means, loadings, uniquenesses : arrays of shape (p,)
    log_likelihood : float
    parameters : array
        Free parameters: means, then the free loadings, then the free uniquenesses.
    model : str
    converged : bool
    """

    means: Floats
    loadings: Floats
    uniquenesses: Floats
    log_likelihood: float
    parameters: Floats
    model: Model
    converged: bool


def _expand(model: Model, p: int) -> Floats:
    """Matrix that turns free parameters into (means, loadings, uniquenesses)."""
    common, own = np.ones((p, 1)), np.eye(p)
    blocks = [
        own,
        own if model == "congeneric" else common,
        common if model == "parallel" else own,
    ]
    out = np.zeros((3 * p, sum(b.shape[1] for b in blocks)))
    column = 0
    for k, block in enumerate(blocks):
        out[k * p : (k + 1) * p, column : column + block.shape[1]] = block
        column += block.shape[1]
    return out


def _rowwise(X: Floats, full: Floats) -> tuple[Floats, Floats]:
    """Each item's negative log-likelihood and its gradient in (means, loadings, uniquenesses)."""
    p = X.shape[1]
    mean, lam, psi = full[:p], full[p : 2 * p], full[2 * p :]
    seen = ~np.isnan(X)
    m = seen.astype(float)
    r = np.where(seen, X - mean, 0.0)
    d = 1.0 / psi
    c = 1.0 + m @ (lam**2 * d)
    b = r @ (lam * d)
    value = 0.5 * (
        m.sum(1) * math.log(2 * math.pi) + m @ np.log(psi) + np.log(c) + r**2 @ d - b**2 / c
    )
    ratio, spread = (b / c)[:, None], (1.0 / c + (b / c) ** 2)[:, None]
    by_mean = -r * d + m * (lam * d) * ratio
    by_loading = m * (lam * d) * spread - r * d * ratio
    by_psi = 0.5 * (m * d - m * (lam * d) ** 2 * spread - (r * d) ** 2) + r * lam * d**2 * ratio
    return value, np.concatenate([by_mean, by_loading, by_psi], axis=1)


def fiml_one_factor(X: Floats, *, model: Model, lower: float | None) -> FimlFit:
    """Fit a one-factor model to scores with missing replications.

    Parameters
    ----------
    X : array of shape (N, p)
        Scores, NaN where missing; every item has at least one.
    model : {"parallel", "tau-equivalent", "congeneric"}
    lower : float or None
        Lower bound of the uniquenesses as a share of the column's variance (None: almost 0).

    Returns
    -------
    FimlFit
    """
    p = X.shape[1]
    center, variance = np.nanmean(X, axis=0), np.nanvar(X, axis=0)
    unit = math.sqrt(float(variance.mean()))
    Z = (X - center) / unit
    share = variance / unit**2
    expand = _expand(model, p)
    n_free = expand.shape[1]
    n_psi = 1 if model == "parallel" else p
    floor = (lower or 1e-8) * (share if n_psi == p else np.array([share.mean()]))
    start = np.concatenate(
        [
            np.zeros(p),
            np.full(n_free - p - n_psi, math.sqrt(0.5 * share.mean())),
            np.maximum(0.5 * (share if n_psi == p else share.mean()) * np.ones(n_psi), floor),
        ]
    )

    def objective(free: Floats) -> tuple[float, Floats]:
        value, gradient = _rowwise(Z, expand @ free)
        return float(value.mean()), expand.T @ gradient.mean(0)

    optimum = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * (n_free - n_psi) + [(float(f), None) for f in floor],
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 30},
    )
    gradient = objective(optimum.x)[1]
    at_floor = np.zeros(n_free, dtype=bool)
    at_floor[n_free - n_psi :] = optimum.x[n_free - n_psi :] <= floor * (1 + 1e-9)
    inner = np.where(at_floor & (gradient > 0), 0.0, gradient)
    full = expand @ optimum.x
    full[:p] = full[:p] * unit + center
    lam = full[p : 2 * p] * unit
    sign = -1.0 if lam.sum() < 0 else 1.0
    free = optimum.x.copy()
    free[:p] = full[:p]
    free[p : n_free - n_psi] *= unit * sign
    free[n_free - n_psi :] *= unit**2
    n_seen = float((~np.isnan(X)).sum())
    return FimlFit(
        means=full[:p],
        loadings=lam * sign,
        uniquenesses=full[2 * p :] * unit**2,
        log_likelihood=-float(optimum.fun) * X.shape[0] - n_seen * math.log(unit),
        parameters=free,
        model=model,
        converged=bool(np.abs(inner).max() < 1e-5),
    )


def fiml_omega(X: Floats, fit: FimlFit, *, cluster: Ints | None = None) -> tuple[float, float]:
    """Omega (model denominator) of a FIML solution and its sandwich standard error.

    Parameters
    ----------
    X : array of shape (N, p)
        The scores that were fitted.
    fit : FimlFit
    cluster : array of int of shape (N,), optional
        Scores are summed within clusters.

    Returns
    -------
    omega, std_error : float
        The error is NaN where the information matrix is singular.
    """
    p = X.shape[1]
    expand = _expand(fit.model, p)
    u, v = float(fit.loadings.sum()), float(fit.uniquenesses.sum())
    omega = u * u / (u * u + v)
    full_gradient = np.zeros(3 * p)
    full_gradient[p : 2 * p] = 2.0 * u * v / (u * u + v) ** 2
    full_gradient[2 * p :] = -(u**2) / (u * u + v) ** 2
    gradient = expand.T @ full_gradient

    def total_gradient(free: Floats) -> Floats:
        return np.asarray(expand.T @ _rowwise(X, expand @ free)[1].sum(0))

    size = fit.parameters.size
    information = np.empty((size, size))
    scale = math.sqrt(float(np.nanvar(X)))
    for i in range(size):
        h = np.zeros(size)
        h[i] = 1e-5 * max(abs(float(fit.parameters[i])), 1e-2 * scale)
        h[i] = min(h[i], 0.1 * float(fit.parameters[i])) if i >= size - _n_psi(fit, p) else h[i]
        difference = total_gradient(fit.parameters + h) - total_gradient(fit.parameters - h)
        information[i] = difference / (2.0 * h[i])
    try:
        direction = np.linalg.solve(0.5 * (information + information.T), gradient)
    except np.linalg.LinAlgError:
        return omega, math.nan
    influence = (_rowwise(X, expand @ fit.parameters)[1] @ expand) @ direction
    if cluster is not None:
        influence = np.bincount(cluster, weights=influence).astype(float)
    variance = float(influence @ influence)
    return omega, math.sqrt(variance) if variance > 0 else math.nan


def fiml_estimate(
    base: OmegaEstimate,
    X: Floats,
    codes: Ints | None,
    *,
    lower: float | None,
    interval: str | None,
    level: float,
) -> OmegaEstimate:
    """Complete an `OmegaEstimate` from incomplete scores: solution, reliabilities, interval."""
    n, p = X.shape
    model: Model = base.model  # type: ignore[assignment]
    readable = (~np.isnan(X)).sum(axis=0)
    if readable.min() < 3 or n <= p:
        reason = f"{n} items with {readable.min()} to {readable.max()} scores in a replication"
        return dataclasses.replace(base, reason=f"{reason} are too few for {p} replications")
    if not np.nanvar(X, axis=0).min() > 0:
        return dataclasses.replace(base, reason="a replication holds the same score for all items")
    if model == "congeneric" and p < 3:
        return dataclasses.replace(
            base, reason="two replications do not identify a congeneric model"
        )
    plain = fiml_one_factor(X, model="parallel", lower=lower)
    true, own = float(plain.loadings[0]) ** 2, float(plain.uniquenesses[0])
    single = true / (true + own)
    base = dataclasses.replace(
        base,
        single=single,
        mean_of_all=p * single / (1 + (p - 1) * single),
        replications_for={t: replications_needed(single, target=t) for t in TARGETS},
    )
    fit = plain if model == "parallel" else fiml_one_factor(X, model=model, lower=lower)
    if not fit.converged:
        return dataclasses.replace(base, reason="the search did not converge to a minimum")
    value, se = fiml_omega(X, fit, cluster=codes)
    low, high = logit_interval(value, se, level=level)
    if interval == "robust":
        z = float(distributions.norm.ppf((1 + level) / 2))
        low, high = value - z * se, value + z * se
    by_cluster = " by cluster" if codes is not None else ""
    scale = "" if interval == "robust" else " on the logit scale"
    made = Interval(
        low=low, high=high, level=level, method=f"delta method, sandwich{by_cluster}{scale}"
    )
    kept, lost = useful_reliability(made, only(n if codes is None else int(codes.max()) + 1))
    notes = (*base.notes, *(lost if interval is not None else ()))
    if interval is not None and math.isnan(low):
        notes = (
            *notes,
            Note(code="no_interval", message="no interval: the information matrix is singular"),
        )
    return dataclasses.replace(
        base,
        estimate=value,
        std_error=se,
        loadings=fit.loadings,
        uniquenesses=fit.uniquenesses,
        omegas={"model": value},
        interval=None if interval is None or math.isnan(low) else kept,
        notes=notes,
    )


def _n_psi(fit: FimlFit, p: int) -> int:
    return 1 if fit.model == "parallel" else p
