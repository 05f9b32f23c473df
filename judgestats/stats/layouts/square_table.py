"""The square table of two paired verdicts: counts by first and second verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError


def square_table(
    x: object, y: object = None, *, where: str, categories: Sequence[Any] | None = None
) -> tuple[Floats, tuple[str, ...], int]:
    """Square table of paired verdicts, its labels and the number of incomplete pairs.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Verdicts of the same items (None, "" or NaN: missing); or a square table alone.
    where : str
        Calling function, for messages.
    categories : sequence, optional
        Their order; default as sorted.

    Returns
    -------
    table : ndarray, shape (K, K)
        Rows x, columns y.
    labels : tuple of str
    n_excluded : int

    Raises
    ------
    InputError
        If the shapes do not fit.

    Examples
    --------
    >>> square_table(["a", "b", "b"], ["a", "a", "b"], where="f")[0].tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    if y is None:
        labels = tuple(map(str, x.index)) if isinstance(x, pd.DataFrame) else ()
        table = np.asarray(x, dtype=float)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or table.shape[0] < 2:
            raise InputError(
                f"{where}: a table must be square with at least 2 categories, got shape "
                f"{table.shape}. Give two lists of verdicts, or a square table of counts."
            )
        if not np.isfinite(table).all() or (table < 0).any():
            raise InputError(
                f"{where}: a table must hold counts, got negative or missing entries. Count pairs."
            )
        names = tuple(map(str, categories)) if categories is not None else labels
        return table, names or tuple(str(i + 1) for i in range(table.shape[0])), 0
    first, second = pd.Series(list(np.asarray(x))), pd.Series(list(np.asarray(y)))
    if len(first) != len(second):
        raise InputError(
            f"{where}: x and y must be equally long, got {len(first)} and {len(second)}. Give both "
            "verdicts of every item."
        )
    present = ~(first.isna() | second.isna() | (first == "") | (second == ""))
    first, second = first[present], second[present]
    seen = list(dict.fromkeys([*first, *second]))
    try:
        levels = list(categories) if categories is not None else sorted(seen)
    except TypeError:
        levels = sorted(seen, key=str)
    strange = [v for v in seen if v not in levels]
    if strange:
        raise InputError(
            f"{where}: categories must hold every verdict, got also {strange[0]!r}. Add it."
        )
    table = np.zeros((max(len(levels), 1), max(len(levels), 1)))
    place = {v: i for i, v in enumerate(levels)}
    for a, b in zip(first, second, strict=True):
        table[place[a], place[b]] += 1
    return table, tuple(map(str, levels)), int((~present).sum())
