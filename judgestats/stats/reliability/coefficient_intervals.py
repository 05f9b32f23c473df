"""Intervals of coefficients that are functions of covariances."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats
from judgestats.errors import one_of
from judgestats.stats.designs.score_matrix import (
    MeanSquares,
    Prepared,
    correlations,
    mean_squares,
    prepare_scores,
    resampled_covariances,
    stacked_covariances,
)
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import (
    only,
    useful_reliability,
)
from judgestats.stats.inference.estimate import Estimate, Interval, Note
from judgestats.stats.inference.jackknife import (
    cluster_jackknife,
)
from judgestats.stats.inference.keywords import Permuted
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


Coefficient = Callable[[Floats], Floats]
"""From a stack of covariance (or correlation) matrices, shape (B, k, k), to B values."""
IntervalMethod = Literal["auto", "feldt", "bonett", "none"]


def _feldt(alpha: float, n: int, k: int, level: float) -> tuple[float, float]:
    tail = (1 - level) / 2
    df1, df2 = n - 1, (n - 1) * (k - 1)
    return (
        1 - (1 - alpha) * float(distributions.f.ppf(1 - tail, df1, df2)),
        1 - (1 - alpha) * float(distributions.f.ppf(tail, df1, df2)),
    )


def _bonett(alpha: float, n: int, k: int, level: float) -> tuple[float, float]:
    z = float(distributions.norm.ppf((1 + level) / 2)) * math.sqrt(2 * k / ((k - 1) * (n - 2)))
    return -math.expm1(math.log1p(-alpha) + z), -math.expm1(math.log1p(-alpha) - z)


def _why_undefined(x: Floats, correlation_based: bool) -> str:
    spread = np.ptp(x, axis=0)
    if not np.any(spread > 0):
        return "no replication varies over items, so there is no variance to be reliable"
    if correlation_based and not np.all(spread > 0):
        constant = int(np.sum(spread == 0))
        return (
            f"{constant} of {x.shape[1]} replications {'is' if constant == 1 else 'are'} constant "
            f"and {'has' if constant == 1 else 'have'} no correlation"
        )
    return "the sum of the replications has no variance"


def _quality_notes(prepared: Prepared, value: float) -> list[Note]:
    """What a reader must know before trusting the value."""
    x = prepared.x
    notes = list(prepared.notes)
    if math.isnan(value):
        return notes
    if np.all(np.ptp(x, axis=1) == 0):
        message = (
            "Every item got the same score from all its replications, as it happens at temperature "
            "0: reliability 1 then says that one draw was repeated, not that the judge is right."
        )
        notes.append(Note(code="no_within_item_variance", message=message))
    constant = int(np.sum(np.ptp(x, axis=0) == 0))
    if constant:
        message = (
            f"{constant} of {x.shape[1]} replications "
            f"{'is constant and' if constant == 1 else 'are constant and'} kept."
        )
        notes.append(Note(code="constant_replications", message=message))
    if value < 0:
        message = "The value is negative: replications vary against each other; 0 is not a floor."
        notes.append(Note(code="negative_reliability", message=message))
    return notes


def covariance_estimate(
    scores: ArrayLike,
    coefficient: Coefficient,
    *,
    where: str,
    name: str,
    label: str,
    estimator: str,
    on: Literal["covariance", "correlation"],
    interval: IntervalMethod,
    missing: Literal["refuse", "listwise"],
    n_jobs: int,
    details: Callable[[Floats, int], dict[str, Any]] | None = None,
    std_error: Callable[[Floats, int], float] | None = None,
    **inference: Unpack[Permuted],
) -> Estimate:
    """Estimate, interval and null of a function of the covariance matrix (shared by this file).

    `coefficient` maps a stack of covariance (or correlation, as `on` says) matrices to values.
    """
    one_of(
        where,
        "interval",
        interval,
        get_args(IntervalMethod),
    )
    prepared = prepare_scores(scores, where=where, cluster=inference["cluster"], missing=missing)
    common: dict[str, Any] = {
        "name": name,
        "label": label,
        "estimator": estimator,
        "sample": prepared.sample,
    }
    if prepared.reason:
        return Estimate(estimate=math.nan, reason=prepared.reason, **common)
    x = prepared.x
    n, k = x.shape

    def covariance_coefficient(covariance: Floats) -> Floats:
        return coefficient(covariance if on == "covariance" else correlations(covariance))

    covariance = stacked_covariances(x[None])
    value = float(covariance_coefficient(covariance)[0])
    if math.isnan(value):
        reason = _why_undefined(x, on == "correlation")
        return Estimate(estimate=math.nan, reason=reason, **common)
    notes = _quality_notes(prepared, value)

    bounds: Interval | None = None
    if interval in {"feldt", "bonett"}:
        bounds, note = _analytic(value, n, k, inference["level"], interval, prepared, name)
        notes += [note] if note else []
    elif interval == "auto" and name == "alpha":  # ICC(3,k)
        ratio = MeanSquareRatio.from_scores(x, prepared.cluster, residual=True)
        bounds, more = ratio.icc_interval(single=False, level=inference["level"])
        notes += more
    elif interval == "auto":
        left_out = cluster_jackknife(
            x,
            lambda data, w: covariance_coefficient(resampled_covariances(data, w)),
            cluster=prepared.cluster,
            level=inference["level"],
            vectorized=True,
        )
        bounds, lost = useful_reliability(left_out.interval, only(left_out.n_clusters))
        notes += lost or left_out.notes

    null = None
    if inference["n_permutations"] > 0:
        permuted = permutation_distribution(
            x,
            lambda stack: covariance_coefficient(stacked_covariances(stack)),
            scheme="replications",
            n_permutations=inference["n_permutations"],
            seed=inference["seed"],
            n_jobs=n_jobs,
            vectorized=True,
        )
        null = permuted.null
        notes += permuted.notes
    return Estimate(
        estimate=value,
        interval=bounds,
        std_error=std_error(covariance[0], n) if std_error else math.nan,
        null=null,
        notes=tuple(notes),
        details=details(covariance[0], n) if details else {},
        **common,
    )


def _analytic(
    value: float, n: int, k: int, level: float, method: str, prepared: Prepared, name: str
) -> tuple[Interval | None, Note | None]:
    """Feldt's or Bonett's interval, or the note that says why there is none."""
    why = ""
    if name != "alpha":
        why = f"{method}'s interval is for raw alpha, not for {name}: use interval='auto'"
    elif 1 - value <= 1e-12:
        why = "a reliability of exactly 1 has no interval: nothing varied within items"
    elif method == "bonett" and n < 3:
        why = "Bonett's interval needs at least 3 items"
    if why:
        return None, Note(code="no_interval", message=f"No interval: {why}.")
    low, high = (_feldt if method == "feldt" else _bonett)(value, n, k, level)
    title = {"feldt": "Feldt F", "bonett": "Bonett ln(1 - alpha)"}[method]
    note = None
    if prepared.clustered:
        message = (
            f"{title} treats items as independent, but they share clusters: use interval='auto'."
        )
        note = Note(code="clusters_ignored", message=message)
    return Interval(low=low, high=high, level=level, method=title), note


def shuffled_mean_squares(
    x: Floats, *, n_permutations: int, seed: int | None, n_jobs: int = 1
) -> MeanSquares:
    """Mean squares of a complete layout under shuffles of each column over the rows.

    Parameters
    ----------
    x : ndarray, shape (n, k)
    n_permutations : int
    seed : int or None
    n_jobs : int

    Returns
    -------
    MeanSquares
        A stack of `n_permutations`.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> shuffled = shuffled_mean_squares(x, n_permutations=99, seed=0)
    >>> len(shuffled.items), float(np.max(shuffled.items)), float(mean_squares(x).items)
    (99, 15.5, 15.5)
    """
    own = mean_squares(x)
    n, k = x.shape
    centred = x - x.mean(axis=0)
    draws = _permuted_item_squares if seed is not None else _permuted_item_squares.__wrapped__
    between = draws(centred.tobytes(), (n, k), n_permutations, seed, n_jobs)
    left = (n - 1) * float(own.items) + (n - 1) * (k - 1) * float(own.residual) - between
    # Differences of equal sums are rounding errors, not variation.
    tiny = 1e-13 * (left + between)
    between, left = np.where(between > tiny, between, 0.0), np.where(left > tiny, left, 0.0)
    shifts = (k - 1) * float(own.replications)
    return MeanSquares(
        items=between / (n - 1),
        replications=own.replications,
        residual=left / ((n - 1) * (k - 1)),
        within=(left + shifts) / (n * (k - 1)),
        n=float(n),
        k=float(k),
        df_within=float(n * (k - 1)),
    )


@lru_cache(maxsize=1)
def _permuted_item_squares(
    centred: bytes, shape: tuple[int, int], n_permutations: int, seed: int | None, n_jobs: int
) -> Floats:
    """Sum of squares between items in each shuffle, columns having mean 0."""
    x = np.frombuffer(centred).reshape(shape)
    values, codes = np.unique(x, return_inverse=True)
    # A byte a score: the stack of shuffles is then an eighth as large.
    small = len(values) <= 256
    shuffled = codes.reshape(shape).astype(np.uint8) if small else x

    def squares(stack: NDArray[Any]) -> Floats:
        total = np.zeros(stack.shape[:-1])
        for column in range(shape[1]):
            own = stack[..., column]
            total += values[own] if small else own
        return np.asarray(np.einsum("bi,bi->b", total, total)) / shape[1]

    return permutation_distribution(
        shuffled, squares, scheme="replications", n_permutations=n_permutations, seed=seed,
        n_jobs=n_jobs, vectorized=True,
    ).distribution  # fmt: skip
