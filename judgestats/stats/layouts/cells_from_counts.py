"""Cells from counts of each score: what `cell_statistics` gives, without the single scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.layouts.cell_statistics import Cells, check_scores, statistics_of_sorted

ELEMENTS = 4_000_000
"""Scores spelled out at once."""


def distinct_rows(table: NDArray[Any]) -> tuple[Ints, Ints]:
    """Where each different row of small whole numbers first stands, and which one every row is.

    Parameters
    ----------
    table : ndarray of int, shape (n, m)
        Not negative.

    Returns
    -------
    first : ndarray of int, shape (n_distinct,)
    which : ndarray of int, shape (n,)

    Notes
    -----
    Linear in the table (hashing, no sort of rows): rows are read as numbers in mixed radix, and
    renumbered before such a number could overflow.

    Examples
    --------
    >>> first, which = distinct_rows(np.array([[1, 0], [0, 1], [1, 0]]))
    >>> first.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    key = np.zeros(table.shape[0], dtype=np.int64)
    size = 1
    for column in table.T:
        base = int(column.max(initial=0)) + 1
        if size * base > 2**62:
            key, distinct = pd.factorize(key)
            size = len(distinct)
        key = key * base + column
        size *= base
    which, distinct = pd.factorize(key)
    first = np.full(len(distinct), table.shape[0], dtype=np.int64)
    first[which[::-1]] = np.arange(table.shape[0] - 1, -1, -1)
    return first, which.astype(np.int64)


def cells_from_counts(
    counts: ArrayLike,
    values: ArrayLike,
    *,
    conditions: Sequence[object] | None = None,
    cluster: ArrayLike | None = None,
    ddof: int = 1,
) -> Cells:
    """Centre and spread of every item x condition cell, from how often each score was given.

    Parameters
    ----------
    counts : array-like of int, shape (N, k, V)
        Judgments of an item under a condition that gave a score; unread ones are counted nowhere.
    values : array-like, shape (V,)
        The scores, ascending, in score points.
    conditions : sequence, optional
        Names of the k conditions.
    cluster : array-like, shape (N,), optional
    ddof : {0, 1}

    Returns
    -------
    Cells
        The same numbers as `cell_statistics` on the scores themselves:
        cells with the same counts are computed once, by the same code.

    Raises
    ------
    InputError
        If shapes do not fit, a count is negative, or the scores do not ascend.

    Examples
    --------
    >>> c = cells_from_counts([[[2, 1, 0], [0, 0, 3]]], [7, 8, 9], conditions=["T=0", "T=1"])
    >>> c.mean.round(3).tolist(), c.variance.round(3).tolist()
    ([[7.333, 9.0]], [[0.333, 0.0]])
    """
    where = "cells_from_counts"
    table = np.asarray(counts)
    scores = np.asarray(values, dtype=float)
    if table.ndim != 3 or 0 in table.shape or scores.shape != (table.shape[2],):
        raise InputError(
            f"{where}: counts must be items x conditions x scores, with as many values as its last "
            f"axis, got shapes {table.shape} and {scores.shape}. Count every score in its column."
        )
    if table.dtype.kind not in "ui" or table.min() < 0:
        raise InputError(
            f"{where}: counts must be whole numbers of at least 0, got {table.dtype}. Count the "
            "judgments."
        )
    if not np.isfinite(scores).all() or np.any(np.diff(scores) <= 0):
        raise InputError(f"{where}: values must be finite and ascend, got {scores.tolist()[:10]}.")
    one_of(where, "ddof", ddof, (0, 1), advice="Use 1.")
    n_items, k, n_values = table.shape
    names = check_scores(np.empty((1, k)), function=where, conditions=conditions, ndims=(2,))[1]
    codes = cluster_codes(cluster, n_items, where=where)
    flat = table.reshape(n_items * k, n_values)
    first, which = distinct_rows(flat)
    patterns = flat[first].astype(np.int64)
    sizes = patterns.sum(axis=1)
    several = sizes[sizes >= 2]
    common_r = int(several.min()) if several.size else 0
    widest = max(int(sizes.max()), 1)
    padded = np.column_stack([patterns, widest - sizes])
    spelled = np.append(scores, np.nan)
    step = max(1, ELEMENTS // widest)
    parts = []
    for start in range(0, len(patterns), step):
        block = padded[start : start + step]
        ordered = np.repeat(np.tile(spelled, len(block)), block.ravel())
        parts.append(
            statistics_of_sorted(ordered.reshape(len(block), 1, widest), common_r, ddof=ddof)
        )
    arrays = {name: np.concatenate([p[name] for p in parts])[:, 0] for name in parts[0]}
    return Cells(
        conditions=names,
        common_r=common_r,
        ddof=ddof,
        cluster=codes,
        **{name: column[which].reshape(n_items, k) for name, column in arrays.items()},
    )
