"""Omega of graded scores: the reliability of the sum of the grades as they are (Green & Yang)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from judgestats.arrays import Floats, too_large
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.blas_threads import one_blas_thread
from judgestats.stats.inference.keywords import Resampled, with_keywords
from judgestats.stats.inference.resampling import cluster_bootstrap, cluster_codes
from judgestats.stats.inference.result import Estimate, Note, Sample, format_number
from judgestats.stats.reliability.bivariate_normal import bivariate_normal_cdf
from judgestats.stats.reliability.one_factor_solvers import minres_one_factor
from judgestats.stats.reliability.polychoric import Polychoric, polychoric


@dataclasses.dataclass(frozen=True, kw_only=True)
class OrdinalOmega(Estimate):
    """Ordinal omega with its factor solution and the latent-scale value beside it.

    Attributes
    ----------
    latent : float
        Omega of the continuous responses thought to lie behind the grades: the reliability of a
        score nobody has, always at least as flattering.
    loadings : array of shape (p,)
        On the polychoric correlations.
    correlations : Polychoric or None
        Correlations and thresholds.
    """

    latent: float = math.nan
    loadings: Floats = dataclasses.field(default_factory=lambda: np.empty(0))
    correlations: Polychoric | None = None

    def row(self) -> dict[str, Any]:
        """The tidy row, with the latent-scale value."""
        return super().row() | {"latent": self.latent}

    def __str__(self) -> str:
        lines = super().__str__().rstrip("\n").split("\n")
        at = next((i for i, s in enumerate(lines) if s.startswith("warning")), len(lines))
        more = f"on the latent scale (a score nobody has): {format_number(self.latent)}"
        return "\n".join([*lines[:at], more, *lines[at:], ""])


def weighted_loadings(R: Floats, weights: Floats) -> tuple[Floats, bool]:
    """One-factor loadings minimising ``sum_{i<j} w_ij (r_ij - l_i l_j)^2``.

    Parameters
    ----------
    R : array of shape (p, p)
        Correlations.
    weights : array of shape (p, p)
        Symmetric weights; the diagonal is not used.

    Returns
    -------
    loadings : array of shape (p,)
        With positive sum.
    converged : bool

    Examples
    --------
    >>> R = np.full((4, 4), 0.49) + 0.51 * np.eye(4)
    >>> weighted_loadings(R, np.ones((4, 4)))[0].round(6).tolist()
    [0.7, 0.7, 0.7, 0.7]
    """
    w = weights.copy()
    np.fill_diagonal(w, 0.0)
    w /= w.max()
    x = minres_one_factor(R[None], lower=0.0).loadings[0]

    def discrepancy(v: Floats) -> float:
        return float((w * (R - np.outer(v, v)) ** 2).sum()) / 2.0

    f = discrepancy(x)
    small = False
    for _ in range(200):
        residual = w * (R - np.outer(x, x))
        gradient = -2.0 * residual @ x
        small = bool(np.abs(gradient).max() < 1e-12)
        if small:
            break
        hessian = 2.0 * (w * np.outer(x, x)) - 2.0 * residual
        np.fill_diagonal(hessian, 2.0 * (w @ x**2))
        values, vectors = np.linalg.eigh(hessian)
        step = -vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), 1e-8))
        t = 1.0
        while t > 1e-12 and discrepancy(x + t * step) > f:
            t *= 0.5
        new = x + t * step
        if f - discrepancy(new) <= 1e-18:
            small = bool(np.abs(gradient).max() < 1e-7)
            break
        x, f = new, discrepancy(new)
    return (x if x.sum() >= 0 else -x), small


def green_yang_omega(
    loadings: Floats, thresholds: tuple[Floats, ...], correlations: Floats
) -> float:
    r"""Reliability of the sum of grades under a one-factor normal model.

    Parameters
    ----------
    loadings : array of shape (p,)
        Standardised loadings of the latent responses.
    thresholds : tuple of arrays
        Inner thresholds of each column; the grades are 1, 2, 3 ... (equally spaced).
    correlations : array of shape (p, p)
        Polychoric correlations, for the variance of the sum.

    Returns
    -------
    float

    Notes
    -----
    .. math:: \omega = \frac{\sum_{j,j'} [\sum_{c,c'} \Phi_2(\tau_{jc}, \tau_{j'c'};
        \lambda_j\lambda_{j'}) - \sum_c\Phi(\tau_{jc})\sum_{c'}\Phi(\tau_{j'c'})]}
        {\sum_{j,j'} [\sum_{c,c'} \Phi_2(\tau_{jc}, \tau_{j'c'}; \rho_{jj'}) -
        \sum_c\Phi(\tau_{jc})\sum_{c'}\Phi(\tau_{j'c'})]}

    with :math:`\rho_{jj} = 1`: the covariance of two parallel sums over the variance of one.

    References
    ----------
    Green & Yang (2009), Psychometrika 74, 155-167, equation 21.
    """
    owner = np.repeat(np.arange(loadings.size), [t.size for t in thresholds])
    tau = np.concatenate(thresholds)
    a, b = tau[:, None], tau[None, :]
    product = ndtr(a) * ndtr(b)
    model = np.outer(loadings, loadings)[np.ix_(owner, owner)]
    observed = correlations[np.ix_(owner, owner)]
    true = bivariate_normal_cdf(a, b, np.clip(model, -1.0, 1.0)) - product
    total = bivariate_normal_cdf(a, b, np.clip(observed, -1.0, 1.0)) - product
    return float(true.sum() / total.sum())


@one_blas_thread()
@with_keywords()
def omega_ordinal(
    scores: ArrayLike,
    *,
    estimator: Literal["dwls", "minres"] = "dwls",
    interval: Literal["percentile", "bca"] | None = None,
    n_jobs: int = 1,
    **inference: Unpack[Resampled],
) -> OrdinalOmega:
    """Omega of the sum of graded scores, from polychoric correlations (Green & Yang, 2009).

    For few grades (five-point scales, pass / fail), where normal-theory omega is biased. The
    estimand is the reliability of the sum of the grades; the value on the latent scale is beside
    it.

    Parameters
    ----------
    scores : array-like of shape (N, R)
        Grades, items in rows, replications in columns; a column's distinct values are its grades,
        taken as equally spaced. Rows with a missing grade are left out and counted.
    estimator : {"dwls", "minres"}
        Diagonally weighted least squares with the correlations' asymptotic variances (lavaan's
        WLSMV point estimates, MBESS ``type = "categorical"``), or unweighted.
    interval : {"percentile", "bca"} or None
        Bootstrap over clusters; off by default, because each resample fits all correlations anew.
    n_jobs
        Of the bootstrap.

    Returns
    -------
    OrdinalOmega
        NaN with `reason` where a column is constant or there are fewer than three columns.

    Raises
    ------
    InputError
        If `scores` is not a finite table or an option does not exist.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> X = rng.normal(size=(200, 1)) + rng.normal(size=(200, 5)) > 0.3
    >>> result = omega_ordinal(X)
    >>> round(result.estimate, 2), round(result.latent, 2)
    (0.68, 0.8)
    """
    where = "omega_ordinal"
    data = np.asarray(scores, dtype=float)
    if data.ndim != 2 or too_large(data).any():
        msg = (
            f"{where}: scores must be a two-dimensional table of finite grades, got shape "
            f"{data.shape}. Give items in rows; mark an unread judgment as NaN."
        )
        raise InputError(msg)
    one_of(where, "estimator", estimator, ("dwls", "minres"))
    one_of(where, "interval", interval, ("percentile", "bca", None))
    complete = ~np.isnan(data).any(axis=1)
    codes = cluster_codes(inference["cluster"], data.shape[0], where=where)[complete]
    codes = np.unique(codes, return_inverse=True)[1]
    rows, lost = data[complete], int((~complete).sum())
    n, p = rows.shape
    base = OrdinalOmega(
        name="omega_ordinal",
        label="Ordinal omega (Green & Yang)",
        estimate=math.nan,
        sample=Sample(
            n_items=n,
            n_clusters=int(np.unique(codes).size),
            n_replications=p,
            excluded={"a missing replication": lost},
        ),
        estimator=f"one factor of two-step polychoric correlations by {estimator}; sum of grades",
    )
    if n < 3:
        return dataclasses.replace(base, reason=f"{n} complete items: at least three are needed")
    if p < 3:
        return dataclasses.replace(base, reason=f"{p} replications do not identify one factor")
    constant = np.flatnonzero(np.ptp(rows, axis=0) == 0)
    if constant.size:
        names = ", ".join(str(i + 1) for i in constant)
        return dataclasses.replace(
            base, reason=f"replications {names} hold one grade only; use omega_total's parallel"
        )
    polychorics = polychoric(rows)
    value, latent, loadings, converged = _omega(polychorics, estimator)
    if not converged:
        return dataclasses.replace(base, reason="the factor search did not converge")
    notes = _notes(polychorics, loadings)
    result = dataclasses.replace(
        base,
        estimate=value,
        latent=latent,
        loadings=loadings,
        correlations=polychorics,
        notes=tuple(notes),
    )
    if interval is None:
        return result

    def statistic(x: Floats) -> float:
        once = _omega(polychoric(x), estimator)
        return once[0] if once[3] else math.nan

    boot = cluster_bootstrap(
        rows,
        statistic,
        cluster=codes,
        n_resamples=inference["n_resamples"],
        level=inference["level"],
        method=interval,
        seed=inference["seed"],
        n_jobs=n_jobs,
        names=("ordinal omega",),
    )
    defined = math.isfinite(boot.interval.low) and math.isfinite(boot.interval.high)
    return dataclasses.replace(
        result,
        interval=boot.interval if defined else None,
        std_error=boot.std_error,
        notes=(*notes, *boot.notes),
    )


def _omega(polychoric: Polychoric, estimator: str) -> tuple[float, float, Floats, bool]:
    """Observed-scale omega, latent-scale omega, loadings, convergence."""
    if estimator == "minres":
        solution = minres_one_factor(polychoric.rho[None], lower=0.0)
        loadings, converged = solution.loadings[0], bool(solution.converged[0])
    else:
        with np.errstate(divide="ignore"):
            weights = 1.0 / polychoric.avar
        if not np.isfinite(weights[~np.eye(weights.shape[0], dtype=bool)]).all():
            return math.nan, math.nan, np.full(polychoric.rho.shape[0], np.nan), False
        loadings, converged = weighted_loadings(polychoric.rho, weights)
    value = green_yang_omega(loadings, polychoric.thresholds, polychoric.rho)
    true = float(loadings.sum()) ** 2
    return value, true / (true + float((1.0 - loadings**2).sum())), loadings, converged


def _notes(polychoric: Polychoric, loadings: Floats) -> list[Note]:
    """What a reader of the solution must know."""
    notes = []
    if polychoric.at_edge:
        i, j = polychoric.at_edge[0]
        message = (
            f"the polychoric correlation of replications {i + 1} and {j + 1} lies at +-1 (an empty "
            "cell decides it): few items or nearly identical replications"
        )
        notes.append(Note(code="edge", message=message))
    heywood = np.flatnonzero(np.abs(loadings) >= 1 - 1e-9)
    if heywood.size:
        names = ", ".join(str(i + 1) for i in heywood)
        notes.append(
            Note(
                code="heywood",
                message=f"Heywood case: the loading of replication {names} reaches 1",
            )
        )
    if (polychoric.rho[~np.eye(polychoric.rho.shape[0], dtype=bool)] <= 0).any():
        notes.append(Note(code="negative", message="some polychoric correlations are not positive"))
    return notes
