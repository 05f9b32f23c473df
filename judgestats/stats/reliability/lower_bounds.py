"""Further lower bounds to reliability: split halves, ten Berge's series, the greatest lower bound.

All are above alpha by construction, also in noise: read them beside their null.
"""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.keywords import (
    NULL,
    ON_DEMAND,
    Inference,
    Permutations,
    with_keywords,
)
from judgestats.stats.inference.result import Estimate, Note, Result, Sample, format_number
from judgestats.stats.layouts.score_matrix import (
    Missing,
    em_covariance,
    pairwise_correlation,
    pairwise_covariance,
    prepare_scores,
)
from judgestats.stats.reliability.covariance_estimate import (
    IntervalMethod,
    covariance_estimate,
)
from judgestats.stats.reliability.internal_consistency import alpha_from_covariance

ALL_SPLITS_UP_TO = 16
"""Columns up to which every split is enumerated (6,435 splits); beyond, splits are drawn."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SplitHalves(Result):
    """Distribution of split-half reliabilities.

    Attributes
    ----------
    values : ndarray
        lambda-4 of every split (or of the splits drawn).
    largest, smallest, mean, median : float
        ``largest`` is Guttman's lambda-4 (maximal split-half).
    n_splits : int
    exhaustive : bool
        Whether these are all the splits there are.
    sample : Sample
    notes : tuple of Note
    reason : str
    """

    values: Floats
    largest: float
    smallest: float
    mean: float
    median: float
    n_splits: int
    exhaustive: bool
    sample: Sample
    notes: tuple[Note, ...] = ()
    reason: str = ""

    def tidy(self) -> pd.DataFrame:
        """One row: the summary of the distribution."""
        names = ("largest", "mean", "median", "smallest", "n_splits", "exhaustive", "reason")
        row = {"term": "split_halves"} | {name: getattr(self, name) for name in names}
        return pd.DataFrame([row | {"n": self.sample.n_items}])

    def sentence(self) -> str:
        """The range of the splits."""
        if self.reason:
            return f"Split-half reliability is undefined: {self.reason}."
        kind = "all" if self.exhaustive else "drawn"
        return (
            f"Split-half reliability ranges from {format_number(self.smallest)} to "
            f"{format_number(self.largest)} over {self.n_splits} {kind} splits, mean "
            f"{format_number(self.mean)} ({self.sample})."
        )

    def __str__(self) -> str:
        lines = ["", "\tSplit-half reliability", "", self.sentence()]
        return "\n".join([*lines, *(f"warning: {n.message}" for n in self.notes), ""])


def split_halves(
    scores: ArrayLike,
    *,
    missing: Missing = "refuse",
    n_splits: int = 10_000,
    seed: int | None = 0,
) -> SplitHalves:
    r"""Reliabilities of all splits of the columns into halves.

    Parameters
    ----------
    scores : array-like, shape (n_items, k)
    missing : {"refuse", "listwise", "pairwise", "em"}
        ``pairwise`` is what ``psych::splitHalf`` does.
    n_splits : int
        Splits drawn at random where k exceeds 16.
    seed : int or None

    Returns
    -------
    SplitHalves

    Raises
    ------
    InputError
        If the scores are no finite matrix, or `n_splits` is below 1.

    Notes
    -----
    lambda-4 of a split into A and B is :math:`4 s_{AB} / s^2_{A+B}` on the covariances. An odd k is
    split into halves that differ by one column, as ``psych::splitHalf``; for even k the mean of
    all splits is alpha. The largest of many splits exceeds the reliability in small samples.

    References
    ----------
    Guttman (1945), Psychometrika 10; Cronbach (1951), Psychometrika 16.

    Examples
    --------
    >>> x = [[2, 3, 2, 4], [5, 4, 5, 5], [8, 8, 9, 7], [4, 4, 3, 5]]
    >>> out = split_halves(x)
    >>> out.n_splits, round(out.mean, 4)
    (3, 0.9627)
    """
    if n_splits < 1:
        raise InputError(f"split_halves: n_splits must be at least 1, got {n_splits}. Use 10000.")
    prepared = prepare_scores(scores, where="split_halves", missing=missing)
    reason = prepared.reason
    x = prepared.x
    covariance = np.empty((0, 0))
    if not reason:
        covariance = em_covariance(x)[0] if missing == "em" else pairwise_covariance(x)
        if math.isnan(float(alpha_from_covariance(covariance))):
            reason = "the sum of the replications has no variance"
    if reason:
        return SplitHalves(
            values=np.empty(0),
            largest=math.nan,
            smallest=math.nan,
            mean=math.nan,
            median=math.nan,
            n_splits=0,
            exhaustive=False,
            sample=prepared.sample,
            reason=reason,
        )
    k = x.shape[1]
    exhaustive = k <= ALL_SPLITS_UP_TO
    signs = _all_signs(k) if exhaustive else _drawn_signs(k, n_splits, seed)
    halves = np.einsum("si,ij,sj->s", signs, covariance, signs, optimize=True)
    values = 1 - halves / covariance.sum()
    notes: tuple[Note, ...] = ()
    if not exhaustive:
        message = f"{n_splits} of the splits of {k} columns were drawn at random."
        notes = (Note(code="drawn_splits", message=message),)
    return SplitHalves(
        values=values,
        largest=float(values.max()),
        smallest=float(values.min()),
        mean=float(values.mean()),
        median=float(np.median(values)),
        n_splits=values.size,
        exhaustive=exhaustive,
        sample=prepared.sample,
        notes=notes,
    )


def _all_signs(k: int) -> Floats:
    """Every split into halves as a row of +1 and -1; for even k each split once."""
    half = k // 2
    chosen = combinations(range(k), half)
    picks = [c for c in chosen if k % 2 or 0 in c]
    signs = -np.ones((len(picks), k))
    np.put_along_axis(signs, np.array(picks), 1.0, axis=1)
    return signs


def _drawn_signs(k: int, n_splits: int, seed: int | None) -> Floats:
    base = np.tile(np.r_[np.ones(k // 2), -np.ones(k - k // 2)], (n_splits, 1))
    return np.random.default_rng(seed).permuted(base, axis=1)


@with_keywords(permutations=NULL)
def ten_berge_mu(
    scores: ArrayLike,
    *,
    order: int = 3,
    standardized: bool = True,
    interval: IntervalMethod = "none",
    missing: Missing = "refuse",
    n_jobs: int = 1,
    **inference: Unpack[Inference],
) -> Estimate:
    r"""Ten Berge and Zegers' mu: mu-0 is alpha, mu-1 lambda-2, higher orders are closer bounds.

    Parameters
    ----------
    scores : array-like, shape (n_items, k)
    order : int
        0, 1, 2, ...
    standardized : bool
        Use correlations, as ``psych::tenberge`` is called.
    interval, missing, n_jobs
        As for `internal_consistency.cronbach_alpha`.

    Returns
    -------
    Estimate
        Named ``mu<order>``.

    Raises
    ------
    InputError
        If `order` is negative or the scores are no finite matrix.

    Notes
    -----
    With :math:`p_h = \sum_{i \ne j} s_{ij}^{2^h}`, :math:`\mu_r` is
    :math:`(p_0 + (p_1 + (p_2 + ... (\frac{k}{k-1} p_r)^{1/2} ...)^{1/2})^{1/2}) / 1'S1`.

    References
    ----------
    ten Berge & Zegers (1978), Psychometrika 43, 575-579.

    Examples
    --------
    >>> x = [[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3]]
    >>> round(ten_berge_mu(x, n_permutations=0).estimate, 4)
    0.9871
    """
    if order < 0:
        raise InputError(f"ten_berge_mu: order must be 0 or more, got {order}. Use 1, 2 or 3.")

    def coefficient(matrices: Floats) -> Floats:
        k = matrices.shape[-1]
        off = matrices * (1 - np.eye(k))
        powers = [(off ** (2**h)).sum(axis=(-2, -1)) for h in range(order + 1)]
        total = matrices.sum(axis=(-2, -1))
        inner = k / (k - 1) * powers[-1]
        for p in powers[-2::-1]:
            inner = p + np.sqrt(np.maximum(inner, 0.0))
        trace = np.trace(matrices, axis1=-2, axis2=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            out: Floats = np.where(total > 1e-12 * trace, inner / total, np.nan)
        return out

    return covariance_estimate(
        scores,
        coefficient,
        where="ten_berge_mu",
        name=f"mu{order}",
        label=f"ten Berge's mu-{order}",
        estimator="mu on the " + ("correlations" if standardized else "covariances"),
        on="correlation" if standardized else "covariance",
        interval=interval,
        missing=missing,
        **inference,
        n_jobs=n_jobs,
        correlation_of_missing=pairwise_correlation,
    )


@with_keywords(permutations=ON_DEMAND)
def greatest_lower_bound(
    scores: ArrayLike,
    *,
    standardized: bool = False,
    missing: Missing = "refuse",
    n_jobs: int = 1,
    **inference: Unpack[Permutations],
) -> Estimate:
    r"""Greatest lower bound to reliability (algebraic).

    Parameters
    ----------
    scores : array-like, shape (n_items, k)
    standardized : bool
        Use correlations instead of covariances.
    missing : {"refuse", "listwise", "pairwise", "em"}
    n_permutations : int
        Permutations for the null (a few milliseconds each).
    n_jobs : int

    Returns
    -------
    Estimate
        Named ``glb``; details hold the largest error variances of the columns.

    Raises
    ------
    InputError
        If the scores are no finite matrix or an option is unknown.

    Notes
    -----
    :math:`1 - \max \sum\theta_i / 1'S1` over error variances :math:`\theta_i \ge 0` that leave
    :math:`S - \mathrm{diag}(\theta)` positive semidefinite: a semidefinite programme, solved by a
    barrier method to about 1e-9 (``psych::glb.algebraic`` to about 1e-7). In samples it is far too
    high (at 200 items and 10 columns by several hundredths): no interval is offered.

    References
    ----------
    Bentler & Woodward (1980), Psychometrika 45; ten Berge & Socan (2004), Psychometrika 69.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(40, 1)) + rng.normal(size=(40, 3))
    >>> alpha, glb = (alpha_from_covariance(np.cov(x.T)), greatest_lower_bound(x).estimate)
    >>> bool(glb >= alpha)
    True
    """
    thetas: list[Floats] = []

    def coefficient(matrices: Floats) -> Floats:
        values = np.full(matrices.shape[0], np.nan)
        for index, matrix in enumerate(matrices):
            total = float(matrix.sum())
            if np.isnan(matrix).any() or total <= 1e-12 * float(np.trace(matrix)):
                continue
            if float(np.linalg.eigvalsh(matrix)[0]) < -1e-8 * float(np.trace(matrix)):
                continue  # pairwise covariances need not be positive semidefinite
            theta = _largest_errors(matrix)
            if not thetas:
                thetas.append(theta)
            values[index] = 1 - float(theta.sum()) / total
        return values

    def details(covariance: Floats, _: int) -> dict[str, Any]:
        return {"error_variances": thetas[0] if thetas else np.full(covariance.shape[0], np.nan)}

    out = covariance_estimate(
        scores,
        coefficient,
        where="greatest_lower_bound",
        name="glb",
        label="Greatest lower bound",
        estimator="largest error variances on the "
        + ("correlations" if standardized else "covariances"),
        on="correlation" if standardized else "covariance",
        interval="none",
        cluster=None,
        level=0.95,
        missing=missing,
        n_resamples=2,
        **inference,
        n_jobs=n_jobs,
        details=details,
    )
    if math.isnan(out.estimate) and out.reason.startswith("the sum of the replications"):
        return out.replace(reason="the covariance matrix is not positive semidefinite")
    return out


def _largest_errors(covariance: Floats) -> Floats:
    """Non-negative diagonal of largest sum that leaves the matrix positive semidefinite.

    Barrier method: Newton steps on sum(theta) + mu (log det + sum log theta), mu to 0. Where the
    matrix is singular, columns with a share in its null space can carry no error; the others are
    solved for on its range.
    """
    k = covariance.shape[0]
    scale = float(np.mean(np.diag(covariance)))
    matrix = covariance / scale
    eigenvalues, vectors = np.linalg.eigh(matrix)
    null = eigenvalues < 1e-10 * eigenvalues[-1]
    basis = vectors[:, ~null]
    free = np.flatnonzero((vectors[:, null] ** 2).sum(axis=1) < 1e-10)
    theta = np.zeros(k)
    if not free.size:
        return theta
    lead = basis[free]
    core = basis.T @ matrix @ basis
    value = np.full(free.size, 0.5 * float(eigenvalues[~null][0]))
    mu = float(value.sum())

    def inverse_of(candidate: Floats) -> Floats | None:
        left = core - (lead.T * candidate) @ lead
        try:
            np.linalg.cholesky(left)
        except np.linalg.LinAlgError:  # outside the cone: the step is halved by the caller
            return None
        return np.linalg.inv(left)

    while mu > 1e-11:
        mu *= 0.1
        for _ in range(30):
            inverse = inverse_of(value)
            if inverse is None:
                break
            influence = lead @ inverse @ lead.T
            slope = 1 - mu * np.diag(influence) + mu / value
            # Relative to theta the curvature is 1 plus a positive part: never singular.
            curvature = np.outer(value, value) * influence**2 + np.eye(value.size)
            try:
                step = value * np.linalg.solve(curvature, value * slope / mu)
            except np.linalg.LinAlgError:  # but for rounding, next to a constant column
                mu = 0.0
                break
            decrement = float(slope @ step)
            size = 1.0
            while size > 1e-12:
                trial = value + size * step
                if np.all(trial > 0) and inverse_of(trial) is not None:
                    value = trial
                    break
                size *= 0.5
            if decrement < 1e-6 * mu or size <= 1e-12:
                break
    theta[free] = value * scale
    return theta
