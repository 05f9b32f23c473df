"""Hodges-Lehmann estimates: the pseudomedian of differences and the shift between two samples."""

from __future__ import annotations

import math
from functools import partial
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.pair_selection import (
    kth_average,
    kth_difference,
    median_average,
    median_difference,
)
from judgestats.stats.inference.rank_distributions import rank_sum_null, signed_rank_null
from judgestats.stats.inference.rank_inversion import (
    crossing,
    order_limits,
    paired_limits,
    paired_z,
    shift_limits,
    shift_z,
    snap_to_jump,
)
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.inference.rounding_noise import noise_free_difference
from judgestats.stats.layouts.blocks import as_paired
from judgestats.stats.layouts.groups import read_two_samples

Convention = Literal["walsh", "r"]

MAX_JUMPS = 1_000_000
"""Up to so many averages or differences, crossings are looked up among them (sorting is cheap)."""


def walsh_averages(d: Floats) -> Floats:
    """Sorted averages (d_i + d_j) / 2 for i <= j."""
    i, j = np.triu_indices(d.size)
    result: Floats = np.sort((d[i] + d[j]) / 2)
    return result


def _level_note(level: float, reached: float) -> list[Note]:
    if reached >= level - 1e-12:
        return []
    message = f"The level {level:g} cannot be reached with so few values; this is {reached:g}."
    return [Note(code="level_not_reached", message=message)]


def _unless_collapsed(
    limits: tuple[float, float], level: float, method: str
) -> tuple[Interval | None, list[Note]]:
    """The interval, or a note where the data are so coarse that both limits are one value."""
    low, high = limits
    if not math.isfinite(low):
        return None, []
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        message = (
            f"No interval: both limits are {low:g}, the scores being too coarse to resolve the "
            "shift further. The rank effect tells more here."
        )
        return None, [Note(code="collapsed_interval", message=message)]
    return Interval(low=low, high=high, level=level, method=method), []


def _tied_limits(
    d: Floats, centre: float, cluster: Ints | None, level: float, exact: bool | None
) -> tuple[tuple[float, float], float, str]:
    """Order statistics of all Walsh averages, zeros kept: closed limits are safe with ties.

    R drops the zero differences before it inverts the test; its limits are then about the
    differences that are not zero, and miss the pseudomedian of all (.60 for .95 in
    docs/simulations/coverage_ranks.csv).
    """
    n = d.size
    size = n * (n + 1) // 2
    if cluster is None and (n < 50 if exact is None else exact):
        null = signed_rank_null(np.arange(1, n + 1))
        low, high, reached = order_limits(partial(kth_average, d), size, null, level)
        return (low, high), reached, "exact, Walsh averages"
    if cluster is None:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        method = "Walsh averages, normal"
    else:
        moved = d - centre
        signed = np.sign(moved) * distributions.ranks(np.abs(moved))
        spread = math.sqrt(float(np.sum(np.bincount(cluster, weights=signed) ** 2)) / 4)
        method = "Walsh averages, normal over clusters"
    z = float(distributions.norm.isf((1 - level) / 2))
    place = math.floor(size / 2 - z * spread)
    reached = level if place >= 1 else 1 - 2.0 ** (1 - n)
    place = max(place, 1)
    return (kth_average(d, place), kth_average(d, size - place + 1)), reached, method


@with_keywords()
def hodges_lehmann_paired(
    x: ArrayLike | str,
    y: object = None,
    *,
    convention: Convention = "walsh",
    exact: bool | None = None,
    correct: bool = True,
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Pseudomedian of paired differences x - y.

    Parameters
    ----------
    x, y : array-like of shape (n,), or formula and frame
        See `wilcoxon_signed_rank`.
    convention : {"walsh", "r"}
        ``walsh``: the median of all Walsh averages, zero differences kept. ``r``: as R's
        ``wilcox.test`` -- the median of Walsh averages where its exact rule holds, otherwise the
        root of the standardised statistic without the zero differences.
    exact : bool, optional
        Interval from the exact distribution; default R's rule (fewer than 50 differences, no ties,
        no zeros).
    correct : bool
        Continuity correction in the approximate interval.
    cluster : array-like or str, optional
        Cluster of each pair: the interval inverts the test that flips whole clusters' signs
        (normal approximation).

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as pairs.

    Notes
    -----
    :math:`\hat\Delta = \mathrm{median}_{i \le j} (d_i + d_j)/2`. With ties R's estimate is a root
    of a step function and can differ from the median (paired45_ties); both are offered by name. The
    interval inverts the signed-rank test. With ties or zeros ``walsh`` takes order statistics of
    all Walsh averages, since R's limits leave the zeros out and miss the pseudomedian of all
    differences; an interval that collapses on one value is not given, with a note.

    References
    ----------
    Hodges & Lehmann (1963), Ann. Math. Statist. 34, 598-611.

    Examples
    --------
    >>> e = hodges_lehmann_paired([1.1, 2.3, 3.2, 4.8, 5.9, 6.4, 7.7], [1, 2, 3, 4, 5, 6, 7])
    >>> round(e.estimate, 6), round(e.interval.low, 6), round(e.interval.high, 6)
    (0.5, 0.2, 0.8)
    """
    where = "hodges_lehmann_paired"
    one_of(where, "convention", convention, ("walsh", "r"))
    blocks = as_paired(x, y, where=where, cluster=inference["cluster"])
    return paired_estimate(
        noise_free_difference(blocks.scores[:, 0], blocks.scores[:, 1]),
        sample=blocks.sample,
        convention=convention,
        exact=exact,
        correct=correct,
        cluster=blocks.cluster,
        level=inference["level"],
    )


def paired_estimate(
    d: Floats,
    *,
    sample: Sample,
    convention: Convention,
    exact: bool | None,
    correct: bool,
    cluster: Ints | None,
    level: float,
) -> Estimate:
    """The pseudomedian of differences d and its interval (see `hodges_lehmann_paired`)."""
    nonzero = d[d != 0]
    n = nonzero.size
    reason = ""
    if d.size == 0:
        reason = "there are no pairs"
    elif n == 0:
        reason = "" if convention == "walsh" else "all differences are zero"
    untied = np.unique(np.abs(nonzero)).size == n and n == d.size
    by_rule = (n < 50 and untied and cluster is None) if exact is None else exact
    notes: list[Note] = []
    z = paired_z(nonzero, correct, None if cluster is None else cluster[d != 0])
    plain = paired_z(nonzero, False, None)
    estimate = math.nan
    closed = convention == "walsh" and not untied
    few = n * (n + 1) / 2 <= MAX_JUMPS and not closed
    jumps = np.unique(walsh_averages(nonzero)) if few else None
    if not reason:
        if convention == "walsh":
            estimate = median_average(d)
        elif by_rule and untied:
            estimate = median_average(nonzero)
        elif np.ptp(nonzero) == 0:
            estimate = float(nonzero[0])
        else:
            estimate = crossing(plain, float(nonzero.min()), float(nonzero.max()), jumps)
    interval: Interval | None = None
    if not reason and n > 0 and np.ptp(d) > 0 and closed:
        limits, reached, method = _tied_limits(d, estimate, cluster, level, exact)
        interval, more = _unless_collapsed(limits, reached, method)
        notes += _level_note(level, reached) + more
    elif not reason and n > 0 and np.ptp(nonzero) > 0:
        reached = level
        if by_rule and cluster is None:
            null = signed_rank_null(np.arange(1, n + 1))
            pick = partial(kth_average, nonzero)
            low, high, reached = order_limits(pick, n * (n + 1) // 2, null, level)
            limits, method = (low, high), "exact, Walsh averages"
        else:
            low, high, reached = paired_limits(
                z, float(nonzero.min()), float(nonzero.max()), level, jumps
            )
            limits = snap_to_jump((low, high), nonzero, None)
            method = "signed-rank inversion, normal" + (
                " over clusters" if cluster is not None else ""
            )
        notes += _level_note(level, reached)
        interval, more = _unless_collapsed(limits, reached, method)
        notes += more
    elif not reason:
        message = "No interval: the differences do not vary."
        notes.append(Note(code="no_interval", message=message))
    return Estimate(
        name="pseudomedian",
        label="Hodges-Lehmann pseudomedian of the differences",
        estimator="median of Walsh averages" if convention == "walsh" else "as R's wilcox.test",
        estimate=estimate,
        interval=interval,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )


def hodges_lehmann_shift(
    x: ArrayLike | str,
    y: object = None,
    *,
    convention: Convention = "walsh",
    exact: bool | None = None,
    correct: bool = True,
    level: float = 0.95,
) -> Estimate:
    r"""Shift between two independent samples: the median of all differences x - y.

    Parameters
    ----------
    x, y : array-like, or formula and frame
        See `mann_whitney_test`.
    convention : {"walsh", "r"}
        ``walsh``: the median of all pairwise differences; ``r``: as R's ``wilcox.test``, a root of
        the standardised statistic where its exact rule does not hold.
    exact : bool, optional
        Interval from the exact distribution; default R's rule (both samples below 50, no ties).
    correct : bool
        Continuity correction in the approximate interval.
    level : float

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    Notes
    -----
    :math:`\hat\Delta = \mathrm{median}_{i,j} (x_i - y_j)`.

    Examples
    --------
    >>> round(hodges_lehmann_shift([1.1, 2.2, 3.3, 4.4], [0.5, 1.5, 2.6]).estimate, 4)
    1.2
    """
    where = "hodges_lehmann_shift"
    one_of(where, "convention", convention, ("walsh", "r"))
    groups = read_two_samples(x, y, where=where)
    first, second = groups.split()
    return shift_estimate(
        first,
        second,
        sample=groups.sample,
        convention=convention,
        exact=exact,
        correct=correct,
        level=level,
    )


def shift_estimate(
    x: Floats,
    y: Floats,
    *,
    sample: Sample,
    convention: Convention,
    exact: bool | None,
    correct: bool,
    level: float,
) -> Estimate:
    """The shift x - y and its interval (see `hodges_lehmann_shift`)."""
    n, m = x.size, y.size
    reason = "" if n and m else "a sample is empty"
    pooled = np.concatenate([x, y])
    untied = np.unique(pooled).size == pooled.size
    by_rule = (n < 50 and m < 50 and untied) if exact is None else exact
    notes: list[Note] = []
    estimate = math.nan
    interval: Interval | None = None
    if not reason:
        low, high = float(x.min() - y.max()), float(x.max() - y.min())
        jumps = np.unique(x[:, None] - y[None]) if n * m <= MAX_JUMPS else None
        if convention == "walsh" or (by_rule and untied):
            estimate = median_difference(x, y)
        elif low == high:
            estimate = low
        else:
            estimate = crossing(shift_z(x, y, False), low, high, jumps)
        if low == high:
            message = "No interval: neither sample varies."
            notes.append(Note(code="no_interval", message=message))
        elif by_rule:
            null = rank_sum_null(np.arange(1, n + m + 1), n)[n * (n + 1) // 2 :]
            first, second, reached = order_limits(partial(kth_difference, x, y), n * m, null, level)
            interval, more = _unless_collapsed(
                (first, second), reached, "exact, pairwise differences"
            )
            notes += _level_note(level, reached) + more
        else:
            limits = shift_limits(shift_z(x, y, correct), low, high, level, jumps)
            limits = snap_to_jump(limits, x, y)
            interval, more = _unless_collapsed(limits, level, "rank-sum inversion, normal")
            notes += more
    return Estimate(
        name="location_shift",
        label="Hodges-Lehmann shift",
        estimator="median of all differences" if convention == "walsh" else "as R's wilcox.test",
        estimate=estimate,
        interval=interval,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )
