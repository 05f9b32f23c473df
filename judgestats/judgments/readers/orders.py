"""One pair that a file gives as (A, B) and as (B, A): two orders of presentation, not two items."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.judgments.kinds import PREFERENCES, spelling
from judgestats.judgments.readers.names import PARTS, VERDICTS, folded
from judgestats.judgments.readers.options import TableOptions
from judgestats.judgments.readers.sides import side_columns
from judgestats.judgments.readers.understanding import group_codes
from judgestats.judgments.readers.verdicts import kind_of_column

_MARKS = (";", "|", "::", "__", "/")
_MOSTLY = 0.8


def with_pairs_of_ids(
    source: Path | str, table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> tuple[pd.DataFrame, dict[str, str], str]:
    """The table with the question and the two models that an item's id joins (``81;gpt;claude``).

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    names : mapping of our column to theirs
    options : TableOptions

    Returns
    -------
    tuple of DataFrame, dict and str
        All as given unless most ids stand with their last two parts swapped too, and the verdicts
        are preferences.

    Examples
    --------
    >>> rows = pd.DataFrame({"pair": ["1;x;y", "1;y;x"], "winner": ["A", "B"]})
    >>> found, names, said = with_pairs_of_ids("f", rows, {"item_id": "pair", "choice": "winner"},
    ...                                        TableOptions())
    >>> found[[names["item_id"], "model_a", "model_b"]].values.tolist()
    [['1', 'x', 'y'], ['1', 'y', 'x']]
    """
    given = dict(names)
    item = given.get("item_id", "")
    if not item or "order" in given or options.item or options.labels is not None:
        return table, given, ""
    question = f"question of {item}"
    if {"model_a", "model_b", question} & set(table.columns) or side_columns(table) is not None:
        return table, given, ""
    codes, ids = pd.factorize(table[item].astype(str))
    mark = next((m for m in _MARKS if len(ids) and all(v.count(m) >= 2 for v in ids)), "")
    if not mark:
        return table, given, ""
    parts = [v.rsplit(mark, 2) for v in ids]
    id_set = set(ids)
    twins = [mark.join((q, b, a)) in id_set and a != b for q, a, b in parts]
    if np.mean(twins) < _MOSTLY or not _preferences(source, table, given, options):
        return table, given, ""
    own = np.array(parts, dtype=object)[codes]
    table = table.assign(**{question: own[:, 0], "model_a": own[:, 1], "model_b": own[:, 2]}).drop(
        columns=item
    )
    return table, {**given, "item_id": question}, f"{item} joins a question and two models ({mark})"


def with_orders(
    source: Path | str, table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> tuple[pd.DataFrame, dict[str, str], str]:
    """The table with every pair named one way, the order in a column, and that in words.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    names : mapping of our column to theirs
    options : TableOptions

    Returns
    -------
    tuple of DataFrame, dict and str
        All as given where no pair stands in both orders, or where the verdicts are no preferences.

    Examples
    --------
    >>> rows = pd.DataFrame({"id": [1, 1], "model_a": ["x", "y"], "model_b": ["y", "x"],
    ...                      "winner": ["model_a", "model_a"]})
    >>> found, names, said = with_orders("f", rows, {"item_id": "id", "choice": "winner"},
    ...                                  TableOptions())
    >>> found[["model_a", "winner", names["order"]]].values.tolist()
    [['x', 'model_a', 'ab'], ['x', 'model_b', 'ba']]
    >>> said
    '1 pair of model_a and model_b stands in both orders, read as two orders of one pair'
    """
    given = dict(names)
    own = {folded(c): str(c) for c in table.columns}
    sides = side_columns(table)
    if sides is None or "order" in given or options.labels is not None or "item_id" not in given:
        return table, given, ""
    first, second = sides
    if {first, second} & set(given.values()):
        return table, given, ""
    key = [given["item_id"], *[c for c in options.item if c not in {first, second}]]
    key += [c for f, c in own.items() if f in PARTS and c not in {first, second, *given.values()}]
    turned, pairs = _turned(table, key, first, second)
    if not pairs or not _preferences(source, table, given, options):
        return table, given, ""
    a, b = table[first].astype(object), table[second].astype(object)
    order = "order shown" if "order shown" not in table else "order (of the pair)"
    one_way = {first: a.mask(turned, b), second: b.mask(turned, a)}
    table = table.assign(**one_way, **{order: np.where(turned, "ba", "ab")})
    opposite = _opposite(options)
    for column in {given[n] for n in (*VERDICTS, "label") if n in given}:
        other = [opposite.get(spelling(v), v) for v in table.loc[turned, column]]
        table[column] = table[column].astype(object)
        table.loc[turned, column] = pd.Series(other, index=table.index[turned], dtype=object)
    several = pairs > 1
    text = (
        f"{pairs:,} pair{'s' * several} of {first} and {second} stand{'s' * (not several)} in both "
        "orders, read as two orders of one pair"
    )
    return table, {**given, "order": order}, text


def _turned(
    table: pd.DataFrame, key: list[str], first: str, second: str
) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], int]:
    """Which rows give a pair the other way round than its first row, and how many pairs have so."""
    both = pd.concat([table[first], table[second]], ignore_index=True).astype(str)
    codes, _ = pd.factorize(both)
    a, b = codes[: len(table)].astype(np.int64), codes[len(table) :].astype(np.int64)
    wide = int(codes.max(initial=0)) + 1
    base = group_codes(table, list(dict.fromkeys(key)))
    pair = (base * wide + np.minimum(a, b)) * wide + np.maximum(a, b)
    number, _ = pd.factorize(pair)
    begins = np.unique(number, return_index=True)[1]
    turned = (a < b) != (a < b)[begins][number]
    return turned, len(np.unique(number[turned]))


def _preferences(
    source: Path | str, table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> bool:
    """Whether the verdicts say which of the two is better."""
    for role in VERDICTS:
        if role in names and options.kind in {"", "preference"}:
            kind = kind_of_column(source, table[names[role]], names[role], role, options)
            return kind.name == "preference"
    return False


def _opposite(options: TableOptions) -> dict[str, str]:
    """How each spelling of a and b is spelled for the other."""
    codes = {v: spelling(k) for k, v in options.values.items()}
    if {"a", "b"} <= set(codes):
        return {codes["a"]: codes["b"], codes["b"]: codes["a"]}
    words = [[w for w, v in PREFERENCES.items() if v == side] for side in ("a", "b")]
    return dict(zip(*words, strict=True)) | dict(zip(*words[::-1], strict=True))
