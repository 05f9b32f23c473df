"""Omega hierarchical and omega total from a Schmid-Leiman solution, as `psych::omega`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, too_large
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import format_number
from judgestats.stats.inference.bootstrap import cluster_bootstrap, cluster_codes
from judgestats.stats.inference.estimate import Estimate, Note, Sample
from judgestats.stats.inference.keywords import Resampled, one_blas_thread, with_keywords
from judgestats.stats.reliability.one_factor import minres_one_factor, singular_reason
from judgestats.stats.reliability.published_omega import minres_factors, oblimin


@dataclasses.dataclass(frozen=True, kw_only=True)
class SchmidLeiman:
    """A hierarchical solution: one general factor and k group factors, mutually orthogonal.

    Attributes
    ----------
    general : array of shape (p,)
        Loadings on the general factor.
    group : array of shape (p, k)
        Loadings on the group factors.
    uniquenesses : array of shape (p,)
        ``1 - communality``.
    oblique : array of shape (p, k)
        Pattern loadings of the rotated factors.
    phi : array of shape (k, k)
        Their correlations.
    second_order : array of shape (k,)
        Loadings of the rotated factors on the general factor.
    key : array of shape (p,)
        -1 for columns that were reversed.
    omega_hierarchical, omega_total, omega_asymptotic, alpha : float
        ``(sum g)^2 / V``, ``1 - sum u / V``, their ratio, and standardised alpha; V is the sum of
        the (keyed) correlations.
    explained_common_variance : float
        Share of the common variance that is general.
    converged : bool
    """

    general: Floats
    group: Floats
    uniquenesses: Floats
    oblique: Floats
    phi: Floats
    second_order: Floats
    key: Floats
    omega_hierarchical: float
    omega_total: float
    omega_asymptotic: float
    alpha: float
    explained_common_variance: float
    converged: bool


@one_blas_thread()
def schmid_leiman(R: Floats, *, n_factors: int = 3, tolerance: float = 1e-8) -> SchmidLeiman:
    """Minres factors, oblimin, one factor of the factors, Schmid-Leiman; every step to convergence.

    Columns that load negatively on the general factor are reversed, as psych does by default.

    Parameters
    ----------
    R : array of shape (p, p)
        Correlation matrix.
    n_factors : int
        Group factors. With two, the second-order loadings are not identified and both are set to
        the root of the factors' correlation (psych's ``option = "equal"``).
    tolerance : float
        Gradient at which the rotation stops (1e-5 in GPArotation and so in psych).

    Returns
    -------
    SchmidLeiman

    Examples
    --------
    Revelle's Table 7.5, whose general factor is known: blocks of 6, 4 and 2 with correlations .5,
    .6 and .7 inside and .2 between, so omega hierarchical is 144 * .2 / 53.2.

    >>> R = np.full((12, 12), 0.2)
    >>> for rows, r in ((slice(0, 6), 0.5), (slice(6, 10), 0.6), (slice(10, 12), 0.7)):
    ...     R[rows, rows] = r
    >>> np.fill_diagonal(R, 1.0)
    >>> solution = schmid_leiman(R)
    >>> round(solution.omega_hierarchical, 6), round(solution.omega_total, 6)
    (0.541353, 0.902256)
    """
    R = np.asarray(R, dtype=float)
    if R.ndim != 2 or R.shape[0] != R.shape[1] or R.shape[0] < 2 or not np.isfinite(R).all():
        raise InputError(
            "schmid_leiman: R must be a finite square correlation matrix of two or more columns, "
            f"got shape {R.shape}. For scores with missing values or constant columns use "
            "omega_hierarchical, which says what it leaves out."
        )
    if not np.allclose(R, R.T, atol=1e-8) or not np.allclose(np.diag(R), 1.0, atol=1e-8):
        raise InputError(
            "schmid_leiman: R must be a symmetric correlation matrix with 1 on its diagonal. Pass "
            "np.corrcoef(scores.T), or use omega_hierarchical on the scores."
        )
    if not 1 <= n_factors < R.shape[0]:
        raise InputError(
            f"schmid_leiman: n_factors must lie between 1 and {R.shape[0] - 1} for {R.shape[0]} "
            f"columns, got {n_factors}. Ask for fewer factors."
        )
    first = minres_factors(R, n_factors=n_factors)
    rotated = oblimin(first.loadings, tolerance=tolerance)
    phi = rotated.phi
    converged = rotated.converged
    if n_factors == 1:
        second = np.ones(1)
    elif n_factors == 2:
        second = np.full(2, math.sqrt(max(float(phi[0, 1]), 0.0)))
    else:
        solution = minres_one_factor(phi[None], lower=0.0)
        second = solution.loadings[0]
        converged = converged and bool(solution.converged[0])
    general = rotated.loadings @ second
    if general.sum() < 0:
        general, second = -general, -second
    group = rotated.loadings * np.sqrt(np.maximum(1.0 - second**2, 0.0))
    key = np.where(general < 0, -1.0, 1.0)
    keyed = R * np.outer(key, key)
    p, total = R.shape[0], float(keyed.sum())
    u = first.uniquenesses
    hierarchical = float((general * key).sum()) ** 2 / total
    omega = 1.0 - float(u.sum()) / total
    g2, s2 = float((general**2).sum()), float((group**2).sum())
    return SchmidLeiman(
        general=general * key,
        group=group * key[:, None],
        uniquenesses=u,
        oblique=rotated.loadings,
        phi=phi,
        second_order=second,
        key=key,
        omega_hierarchical=hierarchical,
        omega_total=omega,
        omega_asymptotic=hierarchical / omega if omega else math.nan,
        alpha=p / (p - 1) * (1.0 - p / total) if total else math.nan,
        explained_common_variance=g2 / (g2 + s2) if g2 + s2 > 0 else math.nan,
        converged=converged,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class HierarchicalOmega(Estimate):
    """Omega hierarchical, with omega total and the whole solution beside it.

    Attributes
    ----------
    omega_total, omega_asymptotic, alpha : float
        From the same solution.
    solution : SchmidLeiman or None
        Loadings, factor correlations, reversed columns.
    """

    omega_total: float = math.nan
    omega_asymptotic: float = math.nan
    alpha: float = math.nan
    solution: SchmidLeiman | None = None

    def row(self) -> dict[str, Any]:
        """The tidy row, with the other coefficients of the same solution."""
        return super().row() | {
            "omega_total": self.omega_total,
            "omega_asymptotic": self.omega_asymptotic,
            "alpha": self.alpha,
        }

    def __str__(self) -> str:
        lines = super().__str__().rstrip("\n").split("\n")
        at = next((i for i, s in enumerate(lines) if s.startswith("warning")), len(lines))
        more = (
            f"omega total = {format_number(self.omega_total)}, "
            f"asymptotic = {format_number(self.omega_asymptotic)}, "
            f"standardised alpha = {format_number(self.alpha)}"
        )
        return "\n".join([*lines[:at], more, *lines[at:], ""])


@one_blas_thread()
@with_keywords()
def omega_hierarchical(
    scores: ArrayLike,
    *,
    n_factors: int = 3,
    interval: Literal["percentile"] | None = "percentile",
    n_jobs: int = 1,
    **inference: Unpack[Resampled],
) -> HierarchicalOmega:
    r"""Omega hierarchical (and total) of columns that share a general and several group factors.

    For replications of several prompts or judges as columns: the share of the variance of their
    sum that one general factor carries. For replications of one prompt use `omega_total`.

    Parameters
    ----------
    scores : array-like of shape (N, p)
        Scores, items in rows; rows with a missing score are left out and counted. Columns that
        load negatively on the general factor are reversed, as psych does, with a note.
    n_factors : int
        Group factors (psych's default is 3).
    interval : "percentile" or None
        Bootstrap interval over clusters; of correlations alone see `schmid_leiman`.
    n_jobs
        Of the bootstrap.

    Returns
    -------
    HierarchicalOmega
        NaN with `reason` for too few columns, constant columns or fewer than three items.

    Raises
    ------
    InputError
        If `scores` is not a finite table, or `n_factors` is not positive.

    Notes
    -----
    Steps and conventions are those of ``psych::omega(fm = "minres", rotate = "oblimin")``: minres
    factors with uniquenesses of at least .005, oblimin without Kaiser normalisation, one minres
    factor of the factor correlations, Schmid-Leiman. psych stops each step at about 1e-5, this
    function iterates to convergence, which moves the third to fifth decimal. reliabiliPy's omega
    total uses squared pattern loadings for communalities and differs from both.

    References
    ----------
    Schmid & Leiman (1957), Psychometrika 22, 53-61. Zinbarg, Revelle, Yovel & Li (2005),
    Psychometrika 70, 123-133. Revelle, An introduction to psychometric theory, Table 7.5.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> g, f = rng.normal(size=(200, 1)), rng.normal(size=(200, 3))
    >>> X = g + np.repeat(f, 3, axis=1) * 0.7 + rng.normal(size=(200, 9))
    >>> result = omega_hierarchical(X, interval=None)
    >>> 0.5 < result.estimate < result.omega_total < 1
    True
    """
    where = "omega_hierarchical"
    data = _table(scores, where=where)
    if n_factors < 1:
        msg = f"{where}: n_factors must be at least 1, got {n_factors}. Use 3."
        raise InputError(msg)
    one_of(where, "interval", interval, ("percentile", None))
    p = data.shape[1]
    complete = ~np.isnan(data).any(axis=1)
    lost = int((~complete).sum())
    n = int(complete.sum())
    rows = data[complete]
    codes = cluster_codes(inference["cluster"], data.shape[0], where=where)[complete]
    base = HierarchicalOmega(
        name="omega_hierarchical",
        label="Omega hierarchical (Schmid-Leiman)",
        estimate=math.nan,
        sample=Sample(
            n_items=n,
            n_clusters=int(np.unique(codes).size),
            n_replications=p,
            excluded={"a missing score": lost},
        ),
        estimator=f"minres with {n_factors} factors, oblimin, Schmid-Leiman, as psych::omega",
    )
    if p < max(3, n_factors + 1):
        return dataclasses.replace(base, reason=f"{p} columns cannot carry {n_factors} factors")
    if n < 3:
        return dataclasses.replace(base, reason=f"{n} complete items: at least three are needed")
    notes: list[Note] = []
    S = np.cov(rows, rowvar=False)
    why = singular_reason(S, n)
    if (np.diag(S) <= 0).any():
        return dataclasses.replace(base, reason=why)
    if why:
        message = f"the correlation matrix is singular ({why}): minres is defined, ML is not"
        notes.append(Note(code="singular", message=message))
    solution = schmid_leiman(_correlations(rows), n_factors=n_factors)
    notes += _notes(solution, n_factors)
    result = dataclasses.replace(
        base,
        estimate=solution.omega_hierarchical,
        omega_total=solution.omega_total,
        omega_asymptotic=solution.omega_asymptotic,
        alpha=solution.alpha,
        solution=solution,
        notes=tuple(notes),
    )
    if interval is None:
        return result

    def statistic(x: Floats) -> float:
        if (x.std(axis=0) <= 0).any():
            return math.nan
        once = schmid_leiman(_correlations(x), n_factors=n_factors, tolerance=1e-5)
        return once.omega_hierarchical

    boot = cluster_bootstrap(
        rows,
        statistic,
        cluster=np.unique(codes, return_inverse=True)[1],
        n_resamples=inference["n_resamples"],
        level=inference["level"],
        method="percentile",
        transform="identity",
        seed=inference["seed"],
        n_jobs=n_jobs,
        names=("omega hierarchical",),
    )
    defined = math.isfinite(boot.interval.low) and math.isfinite(boot.interval.high)
    return dataclasses.replace(
        result,
        interval=boot.interval if defined else None,
        std_error=boot.std_error,
        notes=(*notes, *boot.notes),
    )


def _correlations(X: Floats) -> Floats:
    return np.asarray(np.corrcoef(X, rowvar=False), dtype=float)


def _notes(solution: SchmidLeiman, n_factors: int) -> list[Note]:
    """What a reader of the solution must know."""
    notes: list[Note] = []
    reversed_columns = np.flatnonzero(solution.key < 0)
    if reversed_columns.size:
        names = ", ".join(str(i + 1) for i in reversed_columns)
        notes.append(
            Note(
                code="reversed",
                message=f"columns {names} were reversed: they load negatively",
            )
        )
    heywood = np.flatnonzero(solution.uniquenesses <= 0.005 + 1e-9)
    if heywood.size:
        names = ", ".join(str(i + 1) for i in heywood)
        notes.append(
            Note(code="heywood", message=f"Heywood case: no uniqueness is left in column {names}")
        )
    if n_factors == 2:
        notes.append(
            Note(
                code="two_factors",
                message="two group factors do not identify the general factor: both are given the "
                "same loading on it",
            )
        )
    if not solution.converged:
        notes.append(Note(code="not_converged", message="the rotation did not converge"))
    return notes


def _table(X: ArrayLike, *, where: str) -> Floats:
    """The input as a float table, or a message saying what is wrong with it."""
    try:
        data = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        msg = f"{where}: scores must be a table of numbers, got others ({error}). Give scores."
        raise InputError(msg) from error
    if data.ndim != 2 or too_large(data).any():
        msg = (
            f"{where}: scores must be a two-dimensional table of finite numbers, got shape "
            f"{data.shape}. Give items in rows; mark an unread judgment as NaN."
        )
        raise InputError(msg)
    return data
