"""Order statistics of all pairwise averages or differences, without making them: O(n log n)."""

from __future__ import annotations

import numpy as np

from judgestats.arrays import Floats, Ints


def _select(rows: Floats, columns: Floats, start: Ints, k: int) -> float:
    """The k-th smallest (from 1) of rows[i] + columns[j], j >= start[i], both sorted.

    Bisection over values: each step counts by one binary search a row. When the bounds come no
    closer the smallest sum above the lower one is the value wanted.
    """

    def places(value: float) -> Ints:
        # Sums are compared as they are rounded, so the search is corrected by one step either way.
        at = np.searchsorted(columns, value - rows, side="right")
        for _ in range(2):
            here = np.minimum(at, columns.size - 1)
            at = at + ((at < columns.size) & (rows + columns[here] <= value))
            before = np.maximum(at - 1, 0)
            at = at - ((at > 0) & (rows + columns[before] > value))
        return np.maximum(at, start)

    low, high = float(rows[0] + columns[0]), float(rows[-1] + columns[-1])
    if int(np.sum(places(low) - start)) >= k:
        return low
    # Bounds this close hold one value, up to the rounding of the sums themselves.
    close = 1e-15 * max(float(np.max(np.abs(rows))), float(np.max(np.abs(columns))))
    while high - low > close:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if int(np.sum(places(middle) - start)) >= k:
            high = middle
        else:
            low = middle
    above = places(low)
    exists = above < columns.size
    return float(np.min(rows[exists] + columns[above[exists]]))


_FEW = 64
"""Different values of which all sums are made: those of credits, or of whole scores."""


def _few(values: Floats) -> tuple[Floats, Ints] | None:
    """The different values and how often each stands there; None where these are many."""
    levels, counts = np.unique(values, return_counts=True)
    return (levels, counts.astype(np.int64)) if levels.size <= _FEW else None


def _kth_of(sums: Floats, counts: Ints, k: int) -> float:
    """The k-th smallest of sums that stand there several times each."""
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
