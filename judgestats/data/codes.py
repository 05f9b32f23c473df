"""Codes of columns: each text is looked up once, and rows are compared by numbers."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from judgestats.arrays import Ints

_KEPT: dict[int, tuple[weakref.ref[Any], Any, pd.Index]] = {}
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
        try:
            return pd.factorize(column, use_na_sentinel=False)
        except TypeError:  # lists and objects, in a field that holds texts elsewhere
            column = column.astype("str")
    held = column.array.__arrow_array__()  # never changed in place
    kept = _KEPT.get(id(held))
    if kept is None or kept[0]() is not held:
        kept = _keep(held, *pd.factorize(column, use_na_sentinel=False))
    return kept[1].astype(np.int64), kept[2]


def _keep(held: Any, codes: Ints, levels: pd.Index) -> tuple[weakref.ref[Any], Any, pd.Index]:
    key = id(held)
    small = codes.astype(np.min_scalar_type(len(levels)))

    def forget(_: object, kept: dict[int, Any] = _KEPT) -> None:
        kept.pop(key, None)

    _KEPT[key] = weakref.ref(held, forget), small, levels
    return _KEPT[key]


def texts_by_code(texts: Sequence[str], codes: Ints, index: pd.Index) -> pd.Series:
    """A column of texts from the place of each cell among some texts.

    Examples
    --------
    >>> texts_by_code(["a", "b"], np.array([1, 0, 1]), pd.RangeIndex(3)).tolist()
    ['b', 'a', 'b']
    """
    own = np.bincount(codes, minlength=len(texts)) > 0
    place, levels = pd.factorize(pd.Index(np.array(texts, dtype=object)[own], dtype="str"))
    codes = place[(np.cumsum(own) - 1)[codes]] if len(own) > 1 else np.zeros(len(codes), dtype=int)
    if len(levels) == 1:
        every = pa.repeat(levels.array.__arrow_array__()[0], len(codes))
        array = pd.array(every, dtype="str")
    else:
        array = levels.array.take(codes)
    _keep(array.__arrow_array__(), codes, levels)
    return pd.Series(array, index=index)


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
    """How many different values a column holds; a missing cell does not count.

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


def places_of(*columns: pd.Series) -> tuple[Ints, tuple[int, ...], tuple[pd.Index, ...]]:
    """The place of each row in a table over the levels of these columns, its shape and its axes.

    Examples
    --------
    >>> place, shape, _ = places_of(pd.Series(["x", "y", "y"]), pd.Series([7, 7, 2]))
    >>> place.tolist(), shape
    ([0, 2, 3], (2, 2))
    """
    codes, levels = zip(*map(codes_of, columns), strict=True)
    shape = tuple(map(len, levels))
    place = np.asarray(np.ravel_multi_index(codes, shape), dtype=np.int64)
    return place, shape, tuple(pd.Index(level) for level in levels)


def tallied(place: Ints, size: int) -> tuple[Ints, Ints]:
    """The different places, in order, and how many rows each has; `size` is that of the table.

    Examples
    --------
    >>> [part.tolist() for part in tallied(np.array([5, 1, 5]), 6)]
    [[1, 5], [1, 2]]
    """
    if size > 4 * len(place):  # a sparse table is not laid out
        return np.unique(place, return_counts=True)
    counts = np.bincount(place, minlength=1)
    filled = np.flatnonzero(counts)
    return filled, counts[filled]


def first_rows(column: pd.Series) -> Ints:
    """The first row of each level, in order of appearance.

    Examples
    --------
    >>> first_rows(pd.Series(["x", "y", "x"])).tolist()
    [0, 1]
    """
    codes, levels = codes_of(column)
    return first_places(codes, len(levels))


def first_places(codes: Ints, n_codes: int) -> Ints:
    """The first place of each code; one that does not occur has the number of places.

    Examples
    --------
    >>> first_places(np.array([1, 0, 1]), 3).tolist()
    [1, 0, 3]
    """
    first = np.full(n_codes, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last assignment stays
    return first
