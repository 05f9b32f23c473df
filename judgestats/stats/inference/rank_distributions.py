"""Exact distributions of rank statistics with ties, and their inversion to intervals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference import distributions

MAX_WORK = 400_000_000
"""Elementary steps beyond which an exact distribution is refused (a few seconds)."""


def _refuse_if_heavy(where: str, work: float) -> None:
    if work > MAX_WORK:
        raise InputError(
            f"{where}: the exact distribution needs {work:.0e} steps of at most {MAX_WORK:.0e}. "
            "Use a permutation p-value."
        )


def signed_rank_null(scores: Ints) -> Floats:
    """Null distribution of the sum of scores with random signs' positive part.

    Parameters
    ----------
    scores : ndarray of int, shape (n,)
        Non-negative whole scores (twice the ranks of the absolute differences).

    Returns
    -------
    ndarray, shape (sum(scores) + 1,)
        Probability of each sum of the positively signed scores.

    Raises
    ------
    InputError
        If the distribution is too large to compute.

    Examples
    --------
    >>> (8 * signed_rank_null(np.array([1, 2, 3]))).tolist()
    [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]
    """
    total = int(scores.sum())
    _refuse_if_heavy("signed_rank_null", float(total) * scores.size)
    p = np.zeros(total + 1)
    p[0] = 1.0
    top = 0
    for score in np.sort(scores):
        top += int(score)
        shifted = np.zeros(top + 1)
        shifted[score:] = p[: top - score + 1]
        p[: top + 1] = 0.5 * (p[: top + 1] + shifted)
    return p


def rank_sum_null(scores: Ints, size: int) -> Floats:
    """Null distribution of the sum of `size` of the scores drawn without replacement.

    Parameters
    ----------
    scores : ndarray of int, shape (n,)
        Non-negative whole scores (twice the ranks in the pooled sample).
    size : int
        Size of the first sample.

    Returns
    -------
    ndarray
        Probability of each sum.

    Raises
    ------
    InputError
        If the distribution is too large to compute.

    Examples
    --------
    >>> (6 * rank_sum_null(np.array([1, 2, 3, 4]), 2)).round(9).tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0]
    """
    ordered = np.sort(scores)[::-1]
    top = int(ordered[:size].sum())
    _refuse_if_heavy("rank_sum_null", float(top) * size * scores.size)
    n = scores.size
    # State: having looked at the first t scores, the probability of j drawn with sum s, where
    # each of the remaining is drawn with the hypergeometric chance: no overflow for any n.
    p = np.zeros((size + 1, top + 1))
    p[0, 0] = 1.0
    for t, score in enumerate(ordered):
        left = n - t
        drawn = np.arange(size + 1)
        chance = np.clip((size - drawn) / left, 0.0, 1.0)[:, None]
        moved = p * chance
        p = p * (1.0 - chance)
        if score <= top:
            p[1:, score:] += moved[:-1, : top + 1 - score]
    return np.asarray(p[size], dtype=float)


def _row_product_null(row: Ints) -> Floats:
    """Distribution of sum_j j * r_pi(j) over all arrangements, built up subset by subset."""
    k = row.size
    top = int(np.sum(np.arange(1, k + 1) * np.sort(row)))
    _refuse_if_heavy("page_null", float(2**k) * k * top)
    layers: dict[int, Floats] = {0: np.zeros(top + 1)}
    layers[0][0] = 1.0
    for j in range(1, k + 1):
        following: dict[int, Floats] = {}
        for subset, p in layers.items():
            for i in range(k):
                bit = 1 << i
                if subset & bit:
                    continue
                shift = j * int(row[i])
                target = following.setdefault(subset | bit, np.zeros(top + 1))
                target[shift:] += p[: top + 1 - shift]
        layers = following
    return np.asarray(layers[(1 << k) - 1] / math.factorial(k), dtype=float)


def page_null(ranks2: Ints) -> Floats:
    """Null distribution of twice Page's L, rows permuted independently, given the ties.

    Parameters
    ----------
    ranks2 : ndarray of int, shape (N, k)
        Twice the within-block ranks.

    Returns
    -------
    ndarray
        Probability of each value of sum_i sum_j j * ranks2[i, j].

    Raises
    ------
    InputError
        If it is too large to compute.

    Examples
    --------
    >>> p = page_null(np.array([[2, 4]]))
    >>> {i: float(v) for i, v in enumerate(p) if v}
    {8: 0.5, 10: 0.5}
    """
    k = ranks2.shape[1]
    kinds, counts = np.unique(np.sort(ranks2, axis=1), axis=0, return_counts=True)
    length = int(np.sum(np.arange(1, k + 1) * np.sort(ranks2, axis=1))) + 1
    _refuse_if_heavy("page_null", float(length) * length)
    out = np.array([1.0])
    for row, count in zip(kinds, counts, strict=True):
        single = _row_product_null(row)
        for _ in range(int(count)):  # size: rows
            out = np.convolve(out, single)
    return out


def paired_limits(
    z: Callable[[float], float],
    low: float,
    high: float,
    level: float,
    jumps: Floats | None,
) -> tuple[float, float, float]:
    """Where the standardised statistic crosses its quantiles, as R's uniroot finds it.

    Returns both limits and the level reached: R doubles alpha until both crossings exist.
    """
    alpha = 1 - level
    top, bottom = z(low), z(high)
    if not (math.isfinite(top) and math.isfinite(bottom)):
        return math.nan, math.nan, level
    while alpha < 1:
        q = float(distributions.norm.isf(alpha / 2))
        if top - q >= 0 >= bottom + q:
            break
        alpha *= 2
    if alpha >= 1:
        return math.nan, math.nan, 0.0
    lower, upper = (
        crossing(lambda d, c=c: z(d) - c, low, high, jumps)  # type: ignore[misc]
        for c in (q, -q)
    )
    return lower, upper, 1 - alpha


def crossing(
    f: Callable[[float], float], low: float, high: float, jumps: Floats | None = None
) -> float:
    """Root of a decreasing step function: the point where it changes sign.

    With `jumps` (sorted, distinct: where the function can change) the jump itself is found by
    bisection over them; a step at exactly 0 is left to the root search, as in R.
    """
    if f(low) == 0:
        return low
    if f(high) == 0:
        return high
    if jumps is not None and jumps.size > 1:
        first, last = 0, jumps.size - 1
        flat = False
        while first < last and not flat:
            middle = (first + last) // 2
            value = f(float(jumps[middle] + jumps[middle + 1]) / 2)
            flat = value == 0
            first, last = (middle + 1, last) if value > 0 else (first, middle)
        if not flat:
            return float(jumps[first])
    return float(scipy.optimize.brentq(f, low, high, xtol=1e-12, rtol=1e-14))


def snap_to_jump(limits: tuple[float, float], x: Floats, y: Floats | None) -> tuple[float, float]:
    """Limits moved to the jump they were found at: an average x (or difference x - y) nearby.

    The standardised statistic is a step function, so a root search stops within a rounding error of
    one of its jumps. This removes the rounding error (at most 1e-9 of the data's size).
    """
    scale = 1e-9 * max(float(np.max(np.abs(x))), 1e-300)
    out = []
    for limit in limits:
        near = limit
        if math.isfinite(limit):
            # The partner of each value that would make the jump, and the closest one there is.
            partners = np.sort(x if y is None else y)
            wanted = 2 * limit - x if y is None else x - limit
            place = np.clip(np.searchsorted(partners, wanted), 0, partners.size - 1)
            jumps = []
            for step in (0, -1):
                other = partners[np.maximum(place + step, 0)]
                jumps.append((x + other) / 2 if y is None else x - other)
            candidates = np.concatenate(jumps)
            best = float(candidates[np.argmin(np.abs(candidates - limit))])
            near = best if abs(best - limit) <= scale else limit
        out.append(near)
    return out[0], out[1]


def paired_z(d: Floats, cluster: Ints | None) -> Callable[[float], float]:
    """The standardised signed-rank statistic of d - shift, as a function of the shift."""

    def z(shift: float) -> float:
        moved = d - shift
        keep = moved != 0
        moved = moved[keep]
        ranks = np.sign(moved) * distributions.ranks(np.abs(moved))
        if cluster is None:
            spread = math.sqrt(float(np.sum(ranks**2)) / 4)
        else:
            totals = np.bincount(cluster[keep], weights=ranks)
            spread = math.sqrt(float(np.sum(totals**2)) / 4)
        centred = float(ranks.sum()) / 2
        step = math.copysign(0.5, centred) if centred != 0 else 0.0
        return (centred - step) / spread if spread > 0 else math.nan

    return z


def shift_z(x: Floats, y: Floats) -> Callable[[float], float]:
    """The standardised rank-sum statistic of x - shift against y, as a function of the shift."""
    n, m = x.size, y.size

    def z(shift: float) -> float:
        ranks = distributions.ranks(np.concatenate([x - shift, y]))
        centred = float(ranks[:n].sum()) - n * (n + m + 1) / 2
        centre = (n + m + 1) / 2
        spread = math.sqrt(n * m / ((n + m) * (n + m - 1)) * float(np.sum((ranks - centre) ** 2)))
        step = math.copysign(0.5, centred) if centred != 0 else 0.0
        return (centred - step) / spread if spread > 0 else math.nan

    return z


def order_limits(
    place: Callable[[int], float], size: int, null: Floats, level: float
) -> tuple[float, float, float]:
    """Confidence limits among ordered averages or differences, and the level they reach.

    R's qsignrank / qwilcox rule; with very few values even the outermost pair falls short. `place`
    gives the k-th smallest (from 1) of the `size` values.
    """
    alpha = 1 - level
    lower = int(np.searchsorted(np.cumsum(null), alpha / 2 * (1 - 1e-12)))
    reached = level if lower >= 1 else 1 - 2 * float(null[0])
    lower = max(lower, 1)
    return place(lower), place(size - lower + 1), reached


def shift_limits(
    z: Callable[[float], float],
    low: float,
    high: float,
    level: float,
    jumps: Floats | None,
) -> tuple[float, float]:
    """R's two-sample limits: the end of the range where the crossing is beyond it."""
    q = float(distributions.norm.isf((1 - level) / 2))
    out = []
    for target in (q, -q):
        if not z(low) - target > 0:
            out.append(low)
        elif not z(high) - target < 0:
            out.append(high)
        else:
            out.append(crossing(lambda d, t=target: z(d) - t, low, high, jumps))  # type: ignore[misc]
    return out[0], out[1]


def _select(rows: Floats, columns: Floats, start: Ints, k: int) -> float:
    """The k-th smallest (from 1) of rows[i] + columns[j], j >= start[i], both sorted.

    Bisection over values: each step counts by one binary search a row. When the bounds come no
    closer the smallest sum above the lower one is the value wanted.
    """

    def count_positions(value: float) -> Ints:
        # Sums are compared as they are rounded, so the search is corrected by one step either way.
        at = np.searchsorted(columns, value - rows, side="right")
        for _ in range(2):
            here = np.minimum(at, columns.size - 1)
            at = at + ((at < columns.size) & (rows + columns[here] <= value))
            before = np.maximum(at - 1, 0)
            at = at - ((at > 0) & (rows + columns[before] > value))
        return np.maximum(at, start)

    low, high = float(rows[0] + columns[0]), float(rows[-1] + columns[-1])
    if int(np.sum(count_positions(low) - start)) >= k:
        return low
    # Bounds this close hold one value, up to the rounding of the sums themselves.
    close = 1e-15 * max(float(np.max(np.abs(rows))), float(np.max(np.abs(columns))))
    while high - low > close:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if int(np.sum(count_positions(middle) - start)) >= k:
            high = middle
        else:
            low = middle
    above = count_positions(low)
    exists = above < columns.size
    return float(np.min(rows[exists] + columns[above[exists]]))


_FEW = 64
"""Different values of which all sums are made: those of credits, or of whole scores."""


def _few(values: Floats) -> tuple[Floats, Ints] | None:
    """The distinct values and the count of each; None if there are many."""
    levels, counts = np.unique(values, return_counts=True)
    return (levels, counts.astype(np.int64)) if levels.size <= _FEW else None


def _kth_of(sums: Floats, counts: Ints, k: int) -> float:
    """The k-th smallest of sums, each of which occurs `counts` times."""
    order = np.argsort(sums, kind="stable")
    place = int(np.searchsorted(np.cumsum(counts[order]), k))
    return float(sums[order][place])


def kth_average(d: Floats, k: int) -> float:
    """The k-th smallest (from 1) of the Walsh averages (d_i + d_j) / 2, i <= j.

    Examples
    --------
    >>> [kth_average(np.array([3.0, 1.0, 2.0]), k) for k in (1, 2, 6)]
    [1.0, 1.5, 3.0]
    """
    few = _few(d)
    if few:
        x, n = few
        i, j = np.triu_indices(x.size)
        return _kth_of(x[i] + x[j], np.where(i == j, n[i] * (n[i] + 1) // 2, n[i] * n[j]), k) / 2
    x = np.sort(d)
    return _select(x, x, np.arange(x.size), k) / 2


def kth_difference(x: Floats, y: Floats, k: int) -> float:
    """The k-th smallest (from 1) of the differences x_i - y_j.

    Examples
    --------
    >>> [kth_difference(np.array([1.0, 5.0]), np.array([0.0, 2.0]), k) for k in (1, 2, 4)]
    [-1.0, 1.0, 5.0]
    """
    first, second = _few(x), _few(-y)
    if first and second:
        sums = np.add.outer(first[0], second[0]).ravel()
        return _kth_of(sums, np.multiply.outer(first[1], second[1]).ravel(), k)
    return _select(np.sort(x), np.sort(-y), np.zeros(x.size, dtype=np.int64), k)


def median_average(d: Floats) -> float:
    """Median of the Walsh averages.

    Examples
    --------
    >>> median_average(np.array([1.0, 2.0, 6.0]))
    2.75
    """
    m = d.size * (d.size + 1) // 2
    return (kth_average(d, (m + 1) // 2) + kth_average(d, m // 2 + 1)) / 2


def median_difference(x: Floats, y: Floats) -> float:
    """Median of the differences x_i - y_j.

    Examples
    --------
    >>> median_difference(np.array([1.0, 5.0]), np.array([0.0, 2.0]))
    2.0
    """
    m = x.size * y.size
    return (kth_difference(x, y, (m + 1) // 2) + kth_difference(x, y, m // 2 + 1)) / 2


DIGITS = 12
"""Significant digits that count."""


def noise_free(x: Floats) -> Floats:
    """Values rounded to 12 significant digits each: for ranking only.

    Examples
    --------
    >>> v = noise_free(np.array([0.1 + 0.2, 0.3, 1e-300]))
    >>> bool(v[0] == v[1]), bool(v[2] > 0)
    (True, True)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(np.abs(x)))
    exponent = np.where(np.isfinite(exponent), np.clip(exponent, -290, 290), 0.0)
    scale = 10.0**exponent
    rounded: Floats = np.round(x / scale, DIGITS - 1) * scale
    return rounded


def noise_free_difference(x: Floats, y: Floats) -> Floats:
    """Differences x - y rounded to 12 significant digits of the operands: 8.3 - 8.1 is 0.2.

    Examples
    --------
    >>> d = noise_free_difference(np.array([8.3, 0.3]), np.array([8.1, 0.1]))
    >>> d.tolist()
    [0.2, 0.2]
    """
    d = x - y
    size = float(max(np.max(np.abs(x), initial=0.0), np.max(np.abs(y), initial=0.0)))
    decimals = DIGITS - 1 - math.floor(math.log10(size)) if 0 < size < math.inf else math.inf
    return np.asarray(d if abs(decimals) > 290 else np.round(d, int(decimals)), dtype=float)


def level_ranks(x: Floats, *, axis: int | None = None) -> Floats:
    """Ranks with ties averaged, 1 the smallest; values equal to 12 digits are tied.

    Examples
    --------
    >>> level_ranks(np.array([0.3, 0.1 + 0.2, 0.1])).tolist()
    [2.5, 2.5, 1.0]
    """
    if x.size == 0:
        return np.asarray(x, dtype=float)
    return np.asarray(distributions.ranks(noise_free(x), axis=axis), dtype=float)
