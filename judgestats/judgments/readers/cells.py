"""Cells of a table as text, and ids that several columns name together."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgestats.judgments.readers.names import folded

__all__ = ["joined_ids", "text_column"]


def text_column(column: pd.Series) -> pd.Series:
    """A column as text; whole numbers without a point, missing ones empty.

    Examples
    --------
    >>> text_column(pd.Series([1.0, None])).tolist()
    ['1', '']
    """
    missing = column.isna()
    values = column.astype(object)
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        values = column.dropna().astype("int64").astype(object).reindex(column.index)
    return values.map(str).mask(missing, "").astype(object)


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
