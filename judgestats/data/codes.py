"""Codes of columns: each text is looked up once, and rows are compared by numbers."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Ints

_KEPT: dict[int, tuple[weakref.ref[Any], Ints, pd.Index]] = {}
"""Codes of Arrow arrays of texts by the array's id; `codes_of` owns them."""


def codes_of(column: pd.Series) -> tuple[Ints, pd.Index]:
    """The place of each cell among the column's different values; a missing cell is a value.

    Columns that share an Arrow array of texts, as copies of a frame do, are encoded once.

    Examples
    --------
    >>> codes, levels = codes_of(pd.Series(["b", None, "b"]))
    >>> codes.tolist(), levels.tolist()
    ([0, 1, 0], ['b', nan])
    """
    if column.dtype != "str":
        return pd.factorize(column, use_na_sentinel=False)
    held = column.array.__arrow_array__()  # never changed in place
    key = id(held)
    kept = _KEPT.get(key)
    if kept is None or kept[0]() is not held:
        codes, levels = pd.factorize(column, use_na_sentinel=False)
        codes.flags.writeable = False
        kept = _KEPT[key] = weakref.ref(held, lambda _: _KEPT.pop(key, None)), codes, levels
    return kept[1:]


def row_codes(columns: Iterable[pd.Series], n_rows: int) -> Ints:
    """A number from 0 on for each row, the same where all columns hold the same.

    Examples
    --------
    >>> row_codes([pd.Series(["x", "x", "y"]), pd.Series([1, 2, 1])], 3).tolist()
    [0, 1, 2]
    """
    codes: Ints = np.zeros(n_rows, dtype=np.int64)
    n_codes = 1
    for column in columns:
        own, levels = codes_of(column)
        if len(levels) < 2:
            continue
        if n_codes > 1:
            wide = n_codes * len(levels)
            own = codes * len(levels) + own
            if wide <= 8 * n_rows:
                used = np.zeros(wide, dtype=bool)
                used[own] = True
                own = (np.cumsum(used) - 1)[own]
            else:
                own = pd.factorize(own)[0]
        codes = own
        n_codes = int(codes.max()) + 1
    return codes.astype(np.int64, copy=False)


def n_levels(column: pd.Series) -> int:
    """How many different values a column holds; a missing cell is none.

    Examples
    --------
    >>> n_levels(pd.Series(["b", None, "b"]))
    1
    """
    return len(codes_of(column)[1]) - int(column.hasnans)


def numbered_within(codes: Ints) -> Ints:
    """The number of each row among those of the same code, from 0 on.

    Examples
    --------
    >>> numbered_within(np.array([3, 1, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(codes, kind="stable")
    run = codes[order]
    starts = np.flatnonzero(np.r_[True, run[1:] != run[:-1]])
    lengths = np.diff(np.r_[starts, run.size])
    within = np.empty(run.size, dtype=np.int64)
    within[order] = np.arange(run.size) - np.repeat(starts, lengths)
    return within
