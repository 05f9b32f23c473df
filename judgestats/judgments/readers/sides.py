"""Preferences that name a model: which of the two models of their row is meant."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgestats.judgments.kinds import PREFERENCES, spelling
from judgestats.judgments.readers.cell_texts import each_distinct
from judgestats.judgments.readers.names import SIDES, VERDICTS, folded
from judgestats.judgments.readers.options import TableOptions
from judgestats.judgments.words import family, status_word

_MOSTLY = 0.8
_PLACES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"))
_LENGTHS = ("length", "len", "nchars", "chars", "nwords", "words", "ntokens", "tokens")
_TEXTS = ("response", "answer", "output", "completion", "text")


def side_columns(table: pd.DataFrame) -> tuple[str, str] | None:
    """The columns that name the two models of a row; None where the table has none.

    Examples
    --------
    >>> side_columns(pd.DataFrame(columns=["id", "Model A", "Model B"]))
    ('Model A', 'Model B')
    """
    own = {folded(c): str(c) for c in table.columns}
    return next(((own[a], own[b]) for a, b in SIDES if a in own and b in own), None)


def length_columns(table: pd.DataFrame) -> tuple[str, str] | None:
    """The columns that tell how long the two responses of each row are, or hold their texts.

    Examples
    --------
    >>> length_columns(pd.DataFrame({"response_a": ["Yes."], "response_b": ["No."]}))
    ('response_a', 'response_b')
    """
    own = {folded(c): str(c) for c in table.columns}
    for names, numbers in ((_LENGTHS, True), (_TEXTS, False)):
        for name in names:
            for places in _PLACES:
                for spelled in ([f"{name}{p}" for p in places], [f"{p}{name}" for p in places]):
                    if not all(n in own for n in spelled):
                        continue
                    first, second = (own[n] for n in spelled)
                    numeric = (pd.api.types.is_numeric_dtype(table[c]) for c in (first, second))
                    if all(n is numbers for n in numeric):
                        return first, second
    return None


def side_lengths(table: pd.DataFrame) -> tuple[pd.Series, pd.Series] | None:
    """How long the two responses of each row are; None where the table does not tell.

    Parameters
    ----------
    table : DataFrame

    Returns
    -------
    tuple of Series or None
        Numbers of columns like ``length_a`` and ``tokens_b``, else the characters of columns of
        texts like ``response_a``; NaN where a cell is empty.

    Examples
    --------
    >>> rows = pd.DataFrame({"response_a": ["Yes.", None], "response_b": ["No, never.", "No."]})
    >>> [length.tolist() for length in side_lengths(rows)]
    [[4.0, nan], [10.0, 3.0]]
    """
    columns = length_columns(table)
    if columns is None:
        return None
    first, second = (
        table[c] if pd.api.types.is_numeric_dtype(table[c]) else table[c].astype("string").str.len()
        for c in columns
    )
    return first.astype(float), second.astype(float)


def _no_verdict(word: str) -> str:
    return "yes" if not word or status_word(word) else ""


def with_sides(
    table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> tuple[pd.DataFrame, str]:
    """The table with a model's name among the verdicts as its place (a or b), and that in words.

    Parameters
    ----------
    table : DataFrame
    names : mapping of our column to theirs
    options : TableOptions

    Returns
    -------
    tuple of DataFrame and str
        As given where the verdicts name no models of their rows, or where their kind is stated.

    Examples
    --------
    >>> rows = pd.DataFrame({"model_a": ["x", "z"], "model_b": ["y", "x"], "winner": ["x", "x"]})
    >>> found, said = with_sides(rows, {"choice": "winner"}, TableOptions())
    >>> found["winner"].tolist(), said
    (['a', 'b'], 'winner names models: a is the one of model_a, b the one of model_b')
    """
    sides = side_columns(table)
    told = any(family(m) == "preference" for m in options.values.values())
    if sides is None or told or options.passes or options.kind not in {"", "preference"}:
        return table, ""
    a, b = (each_distinct(table[c], spelling) for c in sides)
    if set(a) | set(b) <= set(PREFERENCES):
        return table, ""
    parts: list[str] = []
    for column in {names[n]: None for n in (*VERDICTS, "label") if n in names}:
        if column in sides or pd.api.types.is_numeric_dtype(table[column]):
            continue
        words = each_distinct(table[column], spelling)
        first, second = (words == a) & (a != b), (words == b) & (a != b)
        named = first | second
        recognised = named | (words.isin(PREFERENCES) | each_distinct(words, _no_verdict).eq("yes"))
        if not named.any() or recognised.mean() < _MOSTLY:
            continue
        cells = table[column].astype(object).mask(first, "a").mask(second, "b")
        other = ~recognised
        # A model that is not in the row is no verdict on it.
        table = table.assign(**{column: cells.mask(other, "?")})
        n = int(other.sum())
        unread = f" ({n:,} name neither: unread)" if n else ""
        parts.append(
            f"{column} names models: a is the one of {sides[0]}, b the one of {sides[1]}{unread}"
        )
    return table, "; ".join(parts)
