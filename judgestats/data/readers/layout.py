"""Tables in other shapes than one row a judgment: wide, lists in cells, paths into nested JSON."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers.columns import column_named, folded
from judgestats.data.readers.hints import (
    ORDERS,
    SYSTEM_CRITERION,
    letters_in,
    systems_by_criterion,
)
from judgestats.data.readers.json_paths import PLACE, json_list, leaves_of, with_leaves
from judgestats.errors import InputError
from judgestats.files.guarded import json_value
from judgestats.files.text import short

ROLES = ("judge", "replicate", "criterion", "system", SYSTEM_CRITERION, "order", "label")
"""What each of several columns may hold the verdicts of; ``label``: of one person."""

VALUE = "verdict"
_RUN = re.compile(r"(run|rep|replicate|trial|try|attempt|sample|r|t)?[\s_\-]*\d+", re.I)
_MAX_CELLS = 50_000_000
_NONE = frozenset("_-?. x")
"""Letters that stand for no verdict among texts of one letter a verdict."""


def long_of(
    source: Path | str, table: pd.DataFrame, spec: str
) -> tuple[pd.DataFrame, str, tuple[str, ...]]:
    """A row a judgment, from a table with a column a judge, run, criterion or order.

    Parameters
    ----------
    source : Path or str
        For messages.
    table : DataFrame
    spec : str
        ``PATTERN,PATTERN`` or ``ROLE=PATTERN,PATTERN``, with ``*`` for any letters.

    Returns
    -------
    tuple of DataFrame, str, tuple of str
        The long table (columns: the role, and ``verdict``), the role, and the columns taken.

    Examples
    --------
    >>> wide = pd.DataFrame({"id": ["x"], "gpt_score": [7], "claude_score": [8]})
    >>> found, role, _ = long_of("f", wide, "*_score")
    >>> role, found[["judge", "verdict"]].values.tolist()
    ('judge', [['gpt', 7], ['claude', 8]])
    """
    role, patterns = _spec(spec)
    columns = _matching(source, table, patterns)
    if len(columns) < 2 and role not in {"", "label", "criterion", "system"}:
        raise InputError(
            f"{source}: --wide {spec!r} names only {columns[0]!r}. A single column of verdicts is "
            f"mapped: --map verdict={columns[0]}."
        )
    crossed = systems_by_criterion(columns) if role == SYSTEM_CRITERION else {}
    if role == SYSTEM_CRITERION and set(crossed) != set(columns):
        raise InputError(
            f"{source}: --wide {spec!r}: the columns are not each system by each criterion. Name "
            "one of the two: system=COLUMNS or criterion=COLUMNS."
        )
    levels = [c for _, c in crossed.values()] if crossed else _levels(columns)
    role = "criterion" if crossed else role or _role_of(levels)
    if role == "label":
        return table, role, columns
    if len(table) * len(columns) > _MAX_CELLS:
        raise InputError(
            f"{source}: {len(table):,} rows x {len(columns)} columns are more than {_MAX_CELLS:,} "
            "judgments. Split the file."
        )
    for name in (role, VALUE):
        if name in table.columns and name not in columns:
            table = table.rename(columns={name: f"{name} (file)"})
    rest = [c for c in table.columns if c not in columns]
    parts = [
        table[rest]
        .assign(**({"system": crossed[column][0]} if crossed else {}))
        .assign(**{role: level})
        .assign(**{VALUE: table[column].astype(object)})
        for column, level in zip(columns, levels, strict=True)
    ]
    return pd.concat(parts, ignore_index=True), SYSTEM_CRITERION if crossed else role, columns


def _spec(spec: str) -> tuple[str, list[str]]:
    head, mark, rest = spec.partition("=")
    role = head.strip().lower() if mark else ""
    role = {"run": "replicate", "person": "label", "annotator": "label"}.get(role, role)
    if role and role not in ROLES:
        raise InputError(
            f"--wide: a column may be a {', '.join(ROLES)}, not {role!r}. Write for example "
            "--wide 'judge=gpt*,claude*'."
        )
    patterns = [p.strip() for p in (rest if mark else spec).split(",") if p.strip()]
    if not patterns:
        raise InputError("--wide names no column. Write for example --wide 'gpt*,claude*'.")
    return role, patterns


def wide_paths(spec: str) -> list[str]:
    """What a specification of wide columns names by a path into nested cells.

    Examples
    --------
    >>> wide_paths("criterion=scores.tone.value,gpt*")
    ['scores.tone.value']
    """
    return [p for p in _spec(spec)[1] if "." in p and "*" not in p]


def wide_columns(columns: Sequence[str], spec: str) -> list[str]:
    """The columns that a specification of wide columns fits.

    Examples
    --------
    >>> wide_columns(["id", "gpt-4o", "Claude"], "judge=gpt*,claude")
    ['gpt-4o', 'Claude']
    """
    patterns = [p.lower() for p in _spec(spec)[1]]
    return [c for c in columns if any(fnmatch.fnmatch(c.lower(), p) for p in patterns)]


def _matching(source: Path | str, table: pd.DataFrame, patterns: list[str]) -> tuple[str, ...]:
    matching: list[str] = []
    for pattern in patterns:
        exact = column_named(table.columns, pattern)
        hits = [exact] if exact else [
            str(c) for c in table.columns if fnmatch.fnmatch(str(c).lower(), pattern.lower())
        ]  # fmt: skip
        if not hits:
            raise InputError(
                f"{source}: --wide: no column fits {pattern!r}. The file has: "
                f"{', '.join(str(c) for c in list(table.columns)[:30])}."
            )
        matching += [h for h in hits if h not in matching]
    return tuple(matching)


def _levels(columns: Sequence[str]) -> list[str]:
    """The columns' names without what they share at their beginning or end."""
    if len(columns) < 2:
        return list(columns)
    words = [re.split(r"([\s_.\-]+)", c) for c in columns]
    while all(len(w) > 2 for w in words) and len({tuple(w[:2]) for w in words}) == 1:
        words = [w[2:] for w in words]
    while all(len(w) > 2 for w in words) and len({tuple(w[-2:]) for w in words}) == 1:
        words = [w[:-2] for w in words]
    levels = ["".join(w) for w in words]
    return levels if len(set(levels)) == len(columns) else list(columns)


def _role_of(levels: Sequence[str]) -> str:
    if all(_RUN.fullmatch(level) for level in levels):
        return "replicate"
    return "order" if {folded(level) for level in levels} <= ORDERS else "judge"


def exploded(source: Path | str, table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """A row an entry of the lists in some cells; ``place`` numbers the entries from 0.

    Parameters
    ----------
    source : Path or str
    table : DataFrame
    columns : sequence of str
        Their lists must be equally long in each row. A column of equally long texts of few letters
        (``1101``) holds one verdict a letter.

    Returns
    -------
    DataFrame
        Entries that are objects become columns.

    Examples
    --------
    >>> exploded("f", pd.DataFrame({"id": ["x"], "s": ["[7, 8]"]}), ["s"])[["s", "place"]].values
    array([[7, 0],
           [8, 1]], dtype=object)
    """
    names = []
    for wanted in columns:
        name = column_named(table.columns, wanted)
        if not name:
            raise InputError(
                f"{source}: --explode: there is no column {wanted!r}. The file has: "
                f"{', '.join(str(c) for c in list(table.columns)[:30])}."
            )
        names.append(name)
    lists = {
        name: [[None if v in _NONE else v for v in cell] for cell in table[name]]
        if letters_in(table[name])
        else [_listed(v, source, name, i) for i, v in enumerate(table[name])]
        for name in names
    }
    for i in range(len(table)):
        if len({len(lists[n][i]) for n in names}) > 1:
            raise InputError(
                f"{source}, row {i}: the lists of {', '.join(names)} differ in length. Explode one "
                "of them."
            )
    rows = [len(v) for v in lists[names[0]]]
    if not any(rows):
        raise InputError(
            f"{source}: --explode: every list of {', '.join(names)} is empty, so there is no "
            "verdict to read. Name another column."
        )
    if sum(rows) > _MAX_CELLS:
        raise InputError(f"{source}: more than {_MAX_CELLS:,} entries. Split the file.")
    lists |= _equally_long(table.drop(columns=names), rows)
    table = with_leaves(table, [str(c) for c in table.columns if c not in lists])
    out = table.drop(columns=list(lists)).loc[table.index.repeat(rows)].reset_index(drop=True)
    for name, listed in lists.items():
        entries = [e for cell in listed for e in cell]
        objects = [e for e in entries if isinstance(e, dict)]
        if not entries or len(objects) < len(entries):
            nested = next((e for e in entries if isinstance(e, (list, tuple, dict))), None)
            if nested is not None:
                raise InputError(
                    f"{source}: --explode: a list of {name} holds {short(nested)}. Its entries "
                    "must be all verdicts or all objects."
                )
            out[name] = pd.Series(entries, dtype=object)
            continue
        inner = pd.DataFrame([leaves_of(e) for e in objects])
        both = [str(c) for c in inner.columns.intersection(out.columns)]
        if both:
            raise InputError(
                f"{source}: the column {both[0]!r} stands in the records and in the entries of "
                f"{name!r}. Name each by its path, as in --map item_id=id,score={name}[].score."
            )
        out = pd.concat([out, inner], axis=1)
    out[PLACE] = [i for n in rows for i in range(n)]
    return out


def _equally_long(table: pd.DataFrame, rows: Sequence[int]) -> dict[str, list[list[Any]]]:
    """Further columns with lists of plain values, as long as those that are exploded."""
    found = {}
    for name in map(str, table.columns):
        cells = [json_list(v) for v in table[name]]
        if all(
            cell is not None
            and len(cell) == n
            and not any(isinstance(e, (dict, list)) for e in cell)
            for cell, n in zip(cells, rows, strict=True)
        ):
            found[name] = [list(cell or ()) for cell in cells]
    return found


def _listed(value: object, source: Path | str, name: str, row: int) -> list[Any]:
    if isinstance(value, str):
        cell = value.strip()
        if cell.startswith("["):
            value = json_value(
                cell.replace("'", '"') if '"' not in cell else cell, f"{source}, row {row}"
            )
        else:
            for mark in ("|", ";", ","):
                if mark in cell:
                    return [_plain(p.strip()) for p in cell.split(mark)]
            return [_plain(cell)] if cell else []
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return list(value)
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return []
    raise InputError(
        f"{source}, row {row}: the column {name!r} holds {short(value)}, which is no list. Leave "
        "it out of --explode."
    )


def _plain(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def with_paths(source: Path | str, table: pd.DataFrame, paths: Iterable[str]) -> pd.DataFrame:
    """The table with a column for every path (``scores.coherence``) that is no column yet."""
    for path in paths:
        if column_named(table.columns, path) or "." not in path:
            continue
        column = path_column(source, table, path)
        if column is not None:
            table = table.assign(**{path: column})
    return table


def path_column(source: Path | str, table: pd.DataFrame, path: str) -> pd.Series | None:
    """What stands at a path in each row; None where its first part is no column.

    Examples
    --------
    >>> path_column("f", pd.DataFrame({"s": ['{"a": [3, 4]}']}), "s.a.1").tolist()
    [4]
    """
    steps = path.split(".")
    for n in range(len(steps) - 1, 0, -1):
        column = column_named(table.columns, ".".join(steps[:n]))
        if column:
            values = [_follow_path(v, steps[n:]) for v in table[column]]
            if all(v is None for v in values) and values:
                raise InputError(
                    f"{source}: nothing stands at {path!r}. The column {column!r} holds "
                    f"{short(table[column].iloc[0])}."
                )
            return pd.Series(values, index=table.index, dtype=object).infer_objects()
    return None


def _follow_path(value: Any, steps: Sequence[str]) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            value = json_value(value, "a cell")
        except InputError:
            return None  # text that begins with a bracket
    for step in steps:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
