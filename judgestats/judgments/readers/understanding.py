"""What names an item, what tells conditions apart, and which columns have no part in either.

A column of repeating values that varies within what would be an item could be part of its key: rows
that differ in it would be pooled as repetitions of one judgment. That is refused, with the command
that would be right, unless its name says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.errors import InputError
from judgestats.judgments.readers.names import PARTS, folded

CRITERIA = frozenset(
    {"criterion", "criteria", "metric", "aspect", "dimension", "attribute", "scorer", "rubric"}
)
UNVARYING = "does not vary within an item"
"""Why a column has no part in a key that tells something of the item as a whole."""
_TIMES = re.compile(r"(time|date|tstamp|timestamp|created|updated|asked|started|ended)", re.I)
_MEASURES = re.compile(
    r"(latency|duration|second|token|cost|price|usd|length|chars|words|prob|logprob|confidence"
    r"|weight|tokens|elapsed|_ms$|_s$)",
    re.I,
)
_ROWS = re.compile(
    r"(uuid|guid|hash|sha|digest|row|request_?id|trace_?id|line|seed|fingerprint)", re.I
)
_NOTES = re.compile(
    r"(finish|error|reason|note|comment|text|prompt_sha|conv|explan|rational)", re.I
)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}.*")
_LONG = 60
_FEW = 30
_GROUPS = 20_000
_ALIKE = 0.9


@dataclass(frozen=True, kw_only=True)
class Understanding:
    """How a table's columns are used.

    Attributes
    ----------
    item : tuple of str
        The columns that together name an item; the first is the question's.
    factors : tuple of str
        Columns that tell conditions apart.
    unused : tuple of (column, why)
    """

    item: tuple[str, ...]
    factors: tuple[str, ...]
    unused: tuple[tuple[str, str], ...]


def group_codes(table: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.int64]:
    """A number for each row, the same where all of the columns hold the same."""
    codes: NDArray[np.int64] = np.zeros(len(table), dtype=np.int64)
    for column in columns:
        own, distinct = pd.factorize(_hashable(table[column]), use_na_sentinel=False)
        codes = pd.factorize(codes * len(distinct) + own)[0].astype(np.int64)
    return codes


def _hashable(column: pd.Series) -> pd.Series:
    return column.astype(str) if _nested(column) else column


def _nested(column: pd.Series) -> bool:
    if not pd.api.types.is_object_dtype(column) or pd.api.types.infer_dtype(column) == "string":
        return False
    kinds = set(map(type, column))
    return bool(kinds & {list, dict, np.ndarray})


def understand(
    source: Path | str,
    table: pd.DataFrame,
    names: Mapping[str, str],
    *,
    item: tuple[str, ...] = (),
    factors: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
) -> Understanding:
    """Say what names an item and a condition, and what the other columns are.

    Parameters
    ----------
    source : Path or str
        For messages.
    table : DataFrame
    names : mapping of our column to theirs
    item, factors, ignore : tuple of str
        As the user says.

    Returns
    -------
    Understanding

    Raises
    ------
    InputError
        A column could be part of an item's or a condition's key, and nobody said whether it is.
    """
    own_item = item or (names["item_id"],)
    not_parts = [names[n] for n in ("judge", "temperature", "order", "cluster") if n in names]
    not_parts = [c for c in not_parts if c not in own_item]
    serving = {*names.values()} - ({names["category"]} if "category" in names else set())
    rest = [str(c) for c in table.columns if c not in {*serving, *own_item, *factors, *ignore}]
    base = group_codes(table, [*own_item, *not_parts, *factors])
    parts: list[str] = []
    criteria: list[str] = []
    for column in rest if not item else [c for c in rest if folded(c) in CRITERIA]:
        if folded(column) in CRITERIA and _varies(base, table[column]):
            criteria.append(column)
        elif folded(column) in PARTS and not item and _varies(base, table[column]):
            parts.append(column)
    parts_of_key = (*own_item, *parts)
    conditions = (*factors, *criteria)
    base = group_codes(table, [*parts_of_key, *not_parts, *conditions])
    repeat = names.get("replicate", "")
    unused: list[tuple[str, str]] = []
    open_: list[str] = []
    for column in rest:
        if column in {*parts, *criteria}:
            continue
        why = _why_unused(table[column], column, base)
        if not why and repeat and _numbers_repeats(table, column, repeat):
            why = f"goes with {repeat}"
        if not why and not _could_be_key(table[column], base):
            why = "measure"
        if why:
            if column != names.get("category"):
                unused.append((column, why))
        else:
            open_.append(column)
    unused += [(c, "as you say") for c in ignore if c in table.columns]
    if open_:
        raise _undecided(source, open_, parts_of_key, table, repeats=not repeat)
    return Understanding(item=parts_of_key, factors=conditions, unused=tuple(unused))


def _varies(base: NDArray[np.int64], column: pd.Series) -> bool:
    own, distinct = pd.factorize(_hashable(column), use_na_sentinel=False)
    if len(distinct) < 2:
        return False
    return bool(len(pd.unique(base * len(distinct) + own)) > int(base.max(initial=-1)) + 1)


def _why_unused(column: pd.Series, name: str, base: NDArray[np.int64]) -> str:
    """Why a column has no part in a key; empty where it might have one."""
    if not _varies(base, column):
        return UNVARYING
    if _nested(column):
        return "nested"
    if pd.api.types.is_datetime64_any_dtype(column) or _TIMES.search(name):
        return "time"
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 != 0).any():
        return "measure"
    if _MEASURES.search(name):
        return "measure"
    if _ROWS.search(name):
        return "row id"
    if _NOTES.search(name):
        return "free text"
    kept = column.dropna()
    distinct = pd.unique(_hashable(kept))
    if len(distinct) >= max(3, 0.9 * len(kept)):
        return "row id"
    if not pd.api.types.is_numeric_dtype(column):
        texts = [str(v) for v in distinct[:500]]
        if all(_ISO.fullmatch(t.strip()) for t in texts):
            return "time"
        if sum(map(len, texts)) > _LONG * len(texts) or len(distinct) > max(200, len(kept) / 5):
            return "free text"
    elif len(distinct) > _FEW:
        return "measure"
    return ""


def _could_be_key(column: pd.Series, base: NDArray[np.int64]) -> bool:
    """Whether values of a design stand here, rather than a measure that happens to repeat.

    Words that repeat do. Numbers do where every item has the same ones, equally often.
    """
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return True
    sizes = np.bincount(base)
    several = np.flatnonzero(sizes > 1)[:_GROUPS]
    if not len(several):
        return False
    kept = np.isin(base, several)
    codes, distinct = pd.factorize(column[kept], use_na_sentinel=False)
    groups = np.searchsorted(several, base[kept])
    cells = np.bincount(
        groups * len(distinct) + codes, minlength=len(several) * len(distinct)
    ).reshape(len(several), len(distinct))
    same = (cells == cells[0]).all(axis=1).mean()
    return bool(same >= _ALIKE and (cells[0] > 0).sum() > 1)


def _numbers_repeats(table: pd.DataFrame, column: str, repeat: str) -> bool:
    """Whether a column goes one to one with the repetition (a seed a run)."""
    pairs = len(pd.unique(group_codes(table, [column, repeat])))
    return pairs == table[column].nunique(dropna=False) == table[repeat].nunique(dropna=False)


def _undecided(
    source: Path | str,
    columns: Sequence[str],
    item: Sequence[str],
    table: pd.DataFrame,
    *,
    repeats: bool,
) -> InputError:
    shown = ", ".join(
        f"{c!r} ({', '.join(str(v)[:20] for v in pd.unique(_hashable(table[c].dropna()))[:3])} ...)"
        for c in columns[:4]
    )
    several = len(columns) > 1
    listed = ",".join(columns)
    key = ",".join([*item, *columns])
    numbered = (
        f" if it numbers the repetitions: --map replicate={_quoted(listed)};"
        if repeats and not several and pd.api.types.is_numeric_dtype(table[columns[0]])
        else ""
    )
    return InputError(
        f"{source}: the column{'s' * several} {shown} var{'y' if several else 'ies'} among the "
        f"rows of one {' + '.join(item)}, so that these rows may be no repetitions of one "
        f"judgment. If {'they are' if several else 'it is'} part of what is judged: --item "
        f"{_quoted(key)}; if {'they tell' if several else 'it tells'} ways of judging apart: "
        f"--factor {_quoted(listed)};{numbered} if neither, and the rows are repetitions: --ignore "
        f"{_quoted(listed)}."
    )


def _quoted(words: str) -> str:
    return words if re.fullmatch(r"[\w,.\-]+", words) else f"'{words}'"
