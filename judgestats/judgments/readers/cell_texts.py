"""Cells of a table as text, and ids that several columns name together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.json_text import clean_json
from judgestats.judgments.readers.names import folded

_EXACT = 2**63
"""Whole numbers from here on have no place in 64 bits."""


def text_column(column: pd.Series) -> pd.Series:
    """A column as text; whole numbers without a point, missing ones empty.

    Examples
    --------
    >>> text_column(pd.Series([1.0, None])).tolist()
    ['1', '']
    >>> text_column(pd.Series([1.0, 1e300])).tolist()
    ['1', '1e+300']
    """
    if _mixed(column):
        return column.map(str).mask(column.isna(), "").astype(object)
    # Names repeat: each different value is written once.
    codes, distinct = pd.factorize(column)
    values = pd.Series(distinct)
    if pd.api.types.is_float_dtype(values) and (values % 1 == 0).all():
        text = [str(int(v)) if abs(v) < _EXACT else str(v) for v in values]
    else:
        text = list(map(str, values))
    words = np.array([*text, ""], dtype=object)
    return pd.Series(words[codes], index=column.index, dtype=object)


def clean_cells(table: pd.DataFrame) -> pd.DataFrame:
    """A table of Python objects with clean text in its cells and in the names of its columns.

    Examples
    --------
    >>> clean_cells(pd.DataFrame({"a": ["b" + chr(0xD83D)]}, dtype=object))["a"].tolist()[0][1:]
    '\ufffd'
    """
    out = table.rename(columns=clean_json)
    for place, dtype in enumerate(out.dtypes):
        if pd.api.types.is_object_dtype(dtype):  # other columns hold no lone surrogate
            column = out.iloc[:, place]
            values = pd.Series(map(clean_json, column), index=column.index, dtype=object)
            out.isetitem(place, values.to_numpy())
    return out


def each_distinct(column: pd.Series, text: Callable[[Any], str]) -> pd.Series:
    """What a function says of each cell, asked once for each different value.

    Examples
    --------
    >>> each_distinct(pd.Series(["a", "a", "b"]), str.upper).tolist()
    ['A', 'A', 'B']
    """
    if _mixed(column):
        return column.map(text).astype(object)
    codes, distinct = pd.factorize(column, use_na_sentinel=False)
    words = np.array([*map(text, distinct), ""], dtype=object)
    return pd.Series(words[codes], index=column.index, dtype=object)


def _mixed(column: pd.Series) -> bool:
    """Whether values of several types stand there, of which equal ones may be written otherwise."""
    if not pd.api.types.is_object_dtype(column) or pd.api.types.infer_dtype(column) == "string":
        return False
    kinds = set(map(type, column)) - {type(None)}
    return len(kinds) > 1 or bool(kinds & {list, dict, np.ndarray, set})


def joined_ids(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """The ids of items that several columns name together.

    Examples
    --------
    >>> joined_ids(pd.DataFrame({"q": [81], "turn": [1]}), ["q", "turn"]).tolist()
    ['81/turn 1']
    """
    texts = [text_column(table[c]) for c in columns]
    out = texts[0]
    for text, column in zip(texts[1:], columns[1:], strict=True):
        out = out + (f"/{column} " if folded(column) == "turn" else "/") + text
    return out
