"""Wilcoxon's signed-rank test and the Hodges-Lehmann shift."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.stats.comparison.effects import matched_estimate
from judgestats.stats.designs.blocks import as_paired
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimate import Estimate, Interval, Note, Sample
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.rank_distributions import (
    kth_average,
    kth_difference,
    median_average,
    median_difference,
    noise_free_difference,
    order_limits,
    paired_limits,
    paired_z,
    rank_sum_null,
    shift_limits,
    shift_z,
    signed_rank_null,
    snap_to_jump,
)
from judgestats.stats.inference.result import TestResult

MAX_JUMPS = 1_000_000
"""Up to this many averages or differences, crossings are looked up among them (sorting is
cheap)."""


def walsh_averages(d: Floats) -> Floats:
    """Sorted averages (d_i + d_j) / 2 for i <= j."""
    i, j = np.triu_indices(d.size)
    result: Floats = np.sort((d[i] + d[j]) / 2)
    return result


def _level_note(level: float, reached: float) -> list[Note]:
    if reached >= level - 1e-12:
        return []
    message = f"The level {level:g} cannot be reached with too few values; this is {reached:g}."
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
            "shift further. The rank effect says more here."
        )
        return None, [Note(code="collapsed_interval", message=message)]
    return Interval(low=low, high=high, level=level, method=method), []


def _tied_limits(
    d: Floats, centre: float, cluster: Ints | None, level: float
) -> tuple[tuple[float, float], float, str]:
    """Order statistics of all Walsh averages, zeros kept: closed limits are safe with ties.

    R drops the zero differences before it inverts the test; its limits are then about the
    differences that are not zero, and miss the pseudomedian of all (.60 for .95 in
    docs/simulations/coverage_ranks.csv).
    """
    n = d.size
    size = n * (n + 1) // 2
    if cluster is None and n < 50:
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


def paired_estimate(d: Floats, *, sample: Sample, cluster: Ints | None, level: float) -> Estimate:
    r"""The pseudomedian of differences d, zeros kept, and its interval.

    :math:`\hat\Delta = \mathrm{median}_{i \le j} (d_i + d_j)/2`. The interval inverts the
    signed-rank test: exact as R's rule (fewer than 50 differences, no ties, no zeros). With ties
    or zeros it takes order statistics of all Walsh averages, since R's limits leave the zeros out
    and miss the pseudomedian of all differences; an interval that collapses on one value is not
    given, with a note. With `cluster` it inverts the test that flips whole clusters' signs.

    References
    ----------
    Hodges & Lehmann (1963), Ann. Math. Statist. 34, 598-611.
    """
    n = d.size
    reason = "" if n else "there are no pairs"
    untied = np.unique(np.abs(d)).size == n and not np.any(d == 0)
    notes: list[Note] = []
    estimate = math.nan if reason else median_average(d)
    interval: Interval | None = None
    if not reason and np.ptp(d) > 0:
        if not untied:
            limits, reached, method = _tied_limits(d, estimate, cluster, level)
        elif n < 50 and cluster is None:
            null = signed_rank_null(np.arange(1, n + 1))
            low, high, reached = order_limits(
                partial(kth_average, d), n * (n + 1) // 2, null, level
            )
            limits, method = (low, high), "exact, Walsh averages"
        else:
            jumps = np.unique(walsh_averages(d)) if n * (n + 1) / 2 <= MAX_JUMPS else None
            low, high, reached = paired_limits(
                paired_z(d, cluster), float(d.min()), float(d.max()), level, jumps
            )
            limits = snap_to_jump((low, high), d, None)
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
        estimator="median of Walsh averages",
        estimate=estimate,
        interval=interval,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )


def shift_estimate(x: Floats, y: Floats, *, sample: Sample, level: float) -> Estimate:
    r"""The shift x - y, :math:`\mathrm{median}_{i,j} (x_i - y_j)`, and its interval.

    Exact as R's rule (both samples below 50, no ties), else by inverting the rank-sum test.
    """
    n, m = x.size, y.size
    reason = "" if n and m else "a sample is empty"
    pooled = np.concatenate([x, y])
    untied = np.unique(pooled).size == pooled.size
    notes: list[Note] = []
    estimate = math.nan
    interval: Interval | None = None
    if not reason:
        low, high = float(x.min() - y.max()), float(x.max() - y.min())
        estimate = median_difference(x, y)
        if low == high:
            message = "No interval: neither sample varies."
            notes.append(Note(code="no_interval", message=message))
        elif n < 50 and m < 50 and untied:
            null = rank_sum_null(np.arange(1, n + m + 1), n)[n * (n + 1) // 2 :]
            first, second, reached = order_limits(partial(kth_difference, x, y), n * m, null, level)
            interval, more = _unless_collapsed(
                (first, second), reached, "exact, pairwise differences"
            )
            notes += _level_note(level, reached) + more
        else:
            jumps = np.unique(x[:, None] - y[None]) if n * m <= MAX_JUMPS else None
            limits = shift_limits(shift_z(x, y), low, high, level, jumps)
            limits = snap_to_jump(limits, x, y)
            interval, more = _unless_collapsed(limits, level, "rank-sum inversion, normal")
            notes += more
    return Estimate(
        name="location_shift",
        label="Hodges-Lehmann shift",
        estimator="median of all differences",
        estimate=estimate,
        interval=interval,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )


_WHY = (
    "The signed-rank test was used because the values are paired by item; it asks whether the "
    "differences are symmetric about zero."
)

CLUSTER_WORK = 40_000_000
"""Elementary steps up to which sign changes of clusters are enumerated exactly by default."""


def tail_p(null: Floats, observed: int, centre: float) -> float:
    """Two-sided p-value, by distance, from the probabilities of whole-number statistics."""
    far = np.abs(np.arange(null.size) - centre) >= abs(observed - centre) - 1e-9
    return float(min(1.0, null[far].sum()))


def normal_p(z: float) -> float:
    """Two-sided p-value of a standard normal statistic."""
    return float(min(1.0, 2 * distributions.norm.sf(abs(z))))


@with_keywords()
def wilcoxon_signed_rank(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    names: Sequence[Any] | None = None,
    **inference: Unpack[Clustered],
) -> TestResult:
    r"""Wilcoxon's signed-rank test: do paired values differ?

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Both values of every pair; or an array (n, 2) alone. Pairs with a missing value are left out
        and counted.
    names : sequence, optional
        Labels of the two columns.
    cluster : array-like of shape (n,), optional
        Cluster of each pair: the p-value is then exact over sign changes of whole clusters.

    Returns
    -------
    TestResult
        Effects: matched rank-biserial correlation, Hodges-Lehmann pseudomedian.

    Raises
    ------
    InputError
        If the data cannot be interpreted as pairs.

    Notes
    -----
    :math:`V = \sum_{d_i > 0} \mathrm{rank}|d_i|`, variance :math:`\sum r_i^2 / 4`, which is R's tie
    correction. Exact below 50 differences without ties or zeros, else normal with continuity
    correction: R's rules. Zero differences are ranked with the others and left out after (Pratt;
    the default of ``coin::wilcoxsign_test``), while R's ``wilcox.test`` leaves them out before.
    scipy's ``wilcoxon`` reports the smaller of V+ and V-, is asymptotic with ties and applies no
    continuity correction by default; so this is own code, validated against R.

    References
    ----------
    Wilcoxon (1945), Biometrics 1, 80-83; Rosner, Glynn & Lee (2006), Biometrics 62, 185-192
    (clusters).

    Examples
    --------
    >>> before = [8.1, 7.4, 6.9, 9.0, 7.7, 8.4, 6.2]
    >>> after = [7.0, 7.1, 6.8, 8.1, 7.2, 8.6, 5.5]
    >>> result = wilcoxon_signed_rank(before, after)
    >>> result.statistic, round(result.p_value, 6), round(result.effect.estimate, 4)
    (26.0, 0.046875, 0.8571)
    """
    where = "wilcoxon_signed_rank"
    blocks = as_paired(x, y, where=where, names=names, cluster=inference["cluster"])
    d = noise_free_difference(blocks.scores[:, 0], blocks.scores[:, 1])
    notes = list(blocks.notes)
    n_zero = int(np.sum(d == 0))
    if n_zero:
        zero_words = "difference of zero is" if n_zero == 1 else "differences of zero are"
        message = f"{n_zero} {zero_words} ranked and then left out (Pratt)."
        notes.append(Note(code="zero_differences", message=message))
    outcome = signed_rank_outcome(d, blocks.cluster)
    a, b = blocks.conditions
    about: dict[str, Any] = {
        "sample": blocks.sample, "cluster": blocks.cluster, "level": inference["level"]
    }  # fmt: skip
    return TestResult(
        name=where,
        method=outcome["method"],
        statistic=outcome["statistic"],
        statistic_name="V",
        p_value=outcome["p_value"],
        sample=blocks.sample,
        null_hypothesis=f"{a} and {b} are alike",
        alternative=f"the differences {a} - {b} are not symmetric about 0",
        why=_WHY,
        effects=(matched_estimate(d, **about), paired_estimate(d, **about)),
        data_name=f"{a} and {b}",
        notes=tuple(notes),
        reason=outcome["reason"],
        details=MappingProxyType({"n_zero": n_zero, "n_used": d.size - n_zero, "z": outcome["z"]}),
    )


def signed_rank_outcome(d: Floats, cluster: Ints | None) -> dict[str, Any]:
    """Statistic, p-value and method of the signed-rank test of differences."""
    keep = d != 0
    n = int(keep.sum())
    method = "Wilcoxon signed rank test"
    undefined = {"statistic": math.nan, "p_value": math.nan, "z": math.nan, "method": method}
    if n == 0:
        why = "there are no pairs" if d.size == 0 else "all differences are zero"
        return undefined | {"reason": why}
    ranks = distributions.ranks(np.abs(d))[keep]
    signs = np.sign(d[keep])
    v = float(ranks[signs > 0].sum())
    centred = v - ranks.sum() / 2
    spread = math.sqrt(float(np.sum(ranks**2)) / 4)
    out = {"statistic": v, "z": centred / spread, "reason": ""}
    if cluster is not None:
        totals = np.rint(2 * np.bincount(cluster[keep], weights=signs * ranks)).astype(np.int64)
        sizes = np.abs(totals)
        if float(sizes.sum()) * sizes.size > CLUSTER_WORK:
            # Many clusters: the sum of independent random signs is normal long before the exact
            # distribution would cost more than a moment.
            z = float(totals.sum()) / math.sqrt(float(np.sum(totals.astype(float) ** 2)))
            method += ", normal over sign changes of clusters"
            return out | {"z": z, "p_value": normal_p(z), "method": method}
        null = signed_rank_null(sizes)
        p = tail_p(null, int(totals[totals > 0].sum()), sizes.sum() / 2)
        method += ", exact over sign changes of clusters"
    elif n < 50 and np.unique(ranks).size == n and n == d.size:
        scores = np.rint(2 * ranks).astype(np.int64)
        p = tail_p(signed_rank_null(scores), round(2 * v), scores.sum() / 2)
        method = "Wilcoxon signed rank exact test"
    else:
        p = normal_p((centred - float(np.sign(centred)) * 0.5) / spread)
        method += " with continuity correction"
    return out | {"p_value": p, "method": method}
