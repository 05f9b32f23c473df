"""Fit of omega total: its input, model, and result."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.files.text import format_number
from judgestats.results.numbers import format_p
from judgestats.stats.designs.score_matrix import score_matrix
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.result import Estimate, Note, Sample
from judgestats.stats.reliability import one_factor
from judgestats.stats.reliability.one_factor import omegas

IntervalMethod = Literal["auto"]


def check_options(
    model: str,
    estimator: str,
    denominator: str,
    interval: str | None,
    lower: float | str | None,
) -> None:
    """Refuse options that do not exist or do not go together."""
    one_of("omega_total", "model", model, get_args(one_factor.Model))
    one_of("omega_total", "estimator", estimator, get_args(one_factor.Estimator))
    one_of("omega_total", "denominator", denominator, get_args(one_factor.Denominator))
    one_of("omega_total", "interval", interval, (*get_args(IntervalMethod), None))
    is_share = isinstance(lower, (int, float, np.number)) and 0 <= float(lower) < 1
    if not (lower is None or lower == "default" or is_share):
        raise InputError(
            "omega_total: lower must be a share of variance in [0, 1), None or 'default', got "
            f"{lower!r}."
        )


def prepare(X: ArrayLike, cluster: ArrayLike | None) -> tuple[Floats, Sample, Ints | None]:
    """Complete rows as floats, how many were left out, and the cluster codes of the rest."""
    data = score_matrix(X, where="omega_total")
    complete = ~np.isnan(data).any(axis=1)
    n, k = data.shape
    codes = cluster_codes(cluster, n, where="omega_total")
    sample = Sample.from_mask(
        complete, "a missing replication", codes, n_replications=k, n_replications_max=k
    )
    own = np.unique(codes[complete], return_inverse=True)[1].astype(np.int64)
    return data[complete], sample, None if cluster is None else own


TARGETS = (0.80, 0.90)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OmegaEstimate(Estimate):
    """Omega total with its model, and what one judgment and the mean of k are worth.

    Attributes
    ----------
    model, estimator_name, denominator : str
        As asked for.
    loadings, uniquenesses : arrays of shape (p,)
        The solution in score units (correlation units when standardised); empty if undefined.
    fit : OneFactorFit or None
        Fit indices, Heywood columns, convergence.
    single : float
        Single-judgment reliability, ICC(3,1): the parallel model's common covariance over its
        common variance.
    mean_of_all : float
        Reliability of the mean of all judgments: Spearman-Brown of `single`, equal to raw alpha.
    replications_for : mapping of float to float
        Target reliability -> judgments needed for it, NaN where no number reaches it.
    omegas : mapping of str to float
        All three denominators by name.
    """

    model: str = "parallel"
    estimator_name: str = "ml"
    denominator: str = "model"
    loadings: Floats = dataclasses.field(default_factory=lambda: np.empty(0))
    uniquenesses: Floats = dataclasses.field(default_factory=lambda: np.empty(0))
    fit: one_factor.OneFactorFit | None = None
    single: float = math.nan
    mean_of_all: float = math.nan
    replications_for: dict[float, float] = dataclasses.field(default_factory=dict)
    omegas: dict[str, float] = dataclasses.field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The tidy row, with model, fit and the worth of one judgment."""
        row = super().row()
        row |= {"model": self.model, "denominator": self.denominator, "single": self.single}
        row |= {f"k_for_{t:g}": k for t, k in self.replications_for.items()}
        if self.fit is not None:
            row |= {
                "chi2": self.fit.chi2,
                "df_fit": self.fit.df,
                "p_fit": self.fit.p_value,
                "rmsea": self.fit.rmsea,
                "cfi": self.fit.cfi,
                "srmr": self.fit.srmr,
                "n_heywood": len(self.fit.heywood),
            }
        return row

    def _further_lines(self) -> list[str]:
        more = []
        if self.fit is not None and math.isfinite(self.fit.chi2):
            f = self.fit
            more.append(
                f"fit: chi2 = {format_number(f.chi2)}, df = {f.df}, p {format_p(f.p_value)}, "
                f"RMSEA {format_number(f.rmsea)}, CFI {format_number(f.cfi)}, "
                f"SRMR {format_number(f.srmr)}"
            )
        k = self.sample.n_replications_max or self.sample.n_replications
        more.append(
            f"one judgment: {format_number(self.single)}; mean of {k}: "
            f"{format_number(self.mean_of_all)} (parallel model)"
        )
        if self.replications_for:
            needed = (f"{_count(n)} for {t:g}" for t, n in self.replications_for.items())
            more.append("judgments needed: " + ", ".join(needed))
        return more


def _count(n: float) -> str:
    return "no number" if math.isnan(n) else f"{n:.0f}"


EQUAL_SPREAD = (
    "The chi-squared of the fit assumes equal variance of items; otherwise it rejects "
    "exchangeable replications too."
)


def refuse(base: OmegaEstimate, reason: str, *, minres: bool = False) -> OmegaEstimate:
    """NaN with the reason and an available alternative."""
    other = " or estimator='minres'" if minres else ""
    alpha = format_number(base.mean_of_all)
    offer = f"model='parallel'{other} can be used instead (parallel omega: {alpha})"
    notes = Note.where(True, "not_fitted", reason)
    return dataclasses.replace(base, reason=f"{reason}; {offer}", notes=notes)


def fit(base: OmegaEstimate, S: Floats, n: int, lower: float | None) -> OmegaEstimate:
    """The estimate with its solution and fit, no interval yet."""
    p = S.shape[0]
    model: one_factor.Model = base.model  # type: ignore[assignment]
    estimator: one_factor.Estimator = base.estimator_name  # type: ignore[assignment]
    notes: list[Note] = []
    common: float | None = None
    if model == "parallel":
        common, own = one_factor.parallel_solution(S)
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
        solution = one_factor.fit_stack(S[None], model=model, estimator=estimator, lower=lower)
        loadings, psi = solution.loadings[0], solution.uniquenesses[0]
        converged = bool(solution.converged[0])
        objective = float(solution.objective[0]) if estimator == "minres" else math.nan
        heywood = tuple(np.flatnonzero(solution.at_bound[0] | (psi < 0)).tolist())
        if model == "tau-equivalent" and estimator == "minres":
            common = one_factor.parallel_solution(S)[0]
            total = float(S.sum())
            values = dict.fromkeys(("model", "observed", "residual"), p * p * common / total)
        else:
            values = {k: float(v) for k, v in omegas(loadings, psi, S).items()}
    if common is not None and common < 0:
        message = f"the mean covariance of the replications is negative ({format_number(common)})"
        notes.append(Note(code="negative_covariance", message=message))
    if heywood:
        columns = ", ".join(str(i + 1) for i in heywood)
        message = (
            f"Heywood case: the uniqueness of replication {columns} is "
            f"{'at its lower bound' if lower is not None else 'negative'}; the parallel model is "
            "safer"
        )
        notes.append(Note(code="heywood", message=message))
    if not converged:
        return dataclasses.replace(
            base,
            reason="the search did not converge to a minimum; model='parallel' has a closed form",
            notes=(*notes, Note(code="not_converged", message="the fit did not converge")),
        )
    fit = one_factor.fit_one_factor(
        S,
        loadings,
        psi,
        model=model,
        n_items=n,
        common=common,
        heywood=heywood,
        minres_objective=objective,
    )
    if math.isnan(fit.chi2) and model == "parallel":
        why = one_factor.singular_reason(S, n)
        message = f"no test of fit: the covariance matrix is singular ({why})"
        notes += Note.where(why, "singular", message)
    notes += Note.where(math.isfinite(fit.chi2), "fit_of_equal_spread", EQUAL_SPREAD)
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
        solution = one_factor.fit_stack(
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
