"""Any other JSON: shown as a tree of paths with examples, and read by paths into it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pandas import DataFrame, concat

from judgestats.data.readers.columns import ALIASES, VERDICTS, folded
from judgestats.errors import InputError, printable
from judgestats.files.guarded import json_value
from judgestats.files.text import clean_json, short, text

_MOST_PATHS = 40
_SEEN = 200
_DEPTH = 12
_VERDICTS = frozenset(
    {folded(name).removesuffix("s") for role in VERDICTS for name in ALIASES[role]}
    | {folded(name) for role in VERDICTS for name in ALIASES[role]} | {"scores", "label"}
)  # fmt: skip
"""Last words of paths to verdicts."""
_ASKED = {"turns", "question", "prompt", "input", "instruction", "response", "response1", "answer"}


def tree_of(document: Any) -> str:
    """The paths of a JSON value with examples.

    Parameters
    ----------
    document : object
        A JSON value.

    Returns
    -------
    str

    Examples
    --------
    >>> print(tree_of({"runs": [{"id": "a", "out": {"score": 7}}]}))
    What the file holds, by path ([] stands for the entries of a list):
      runs[].id             'a'
      runs[].out.score      7
    """
    leaves = leaf_paths(document)
    if not leaves:
        return ""
    width = min(60, max(map(len, list(leaves)[:_MOST_PATHS])) + 4)
    lines = ["What the file holds, by path ([] stands for the entries of a list):"]
    for path, examples in list(leaves.items())[:_MOST_PATHS]:
        shown = ", ".join(printable(short(e)[:40], one_line=True) for e in examples[:3])
        lines.append(f"  {path:<{width}}  {shown}")
    if len(leaves) > _MOST_PATHS:
        lines.append(f"  ... and {len(leaves) - _MOST_PATHS} more")
    words = {_last(p) for p in leaves}
    if words & _ASKED and not words & _VERDICTS:
        lines.append(
            "These look like items, not judgments (no verdict is among them): judgestats run "
            "temperature -P items=FILE asks judges for verdicts; analyze reads what judges said."
        )
    return "\n".join(lines)


def leaf_paths(document: Any) -> dict[str, list[Any]]:
    """Examples by path, from the first entries of each list."""
    leaves: dict[str, list[Any]] = {}
    if isinstance(document, list):
        for entry in document[:_SEEN]:
            _walk(entry, "", leaves, 0)
    else:
        _walk(document, "", leaves, 0)
    return leaves


def _walk(value: Any, path: str, text: dict[str, list[Any]], depth: int) -> None:
    if depth > _DEPTH or len(text) > 2000:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            name = str(key)[:60]
            if "." not in name and "[" not in name and "," not in name:
                _walk(inner, f"{path}.{name}" if path else name, text, depth + 1)
    elif isinstance(value, list):
        for inner in value[:_SEEN]:
            _walk(inner, f"{path}[]", text, depth + 1)
    elif path:
        examples = text.setdefault(path, [])
        if value is not None and len(examples) < 3 and value not in examples:
            examples.append(value)


def _last(path: str) -> str:
    return folded(path.rpartition(".")[2].removesuffix("[]"))


BLOCK = "@block"
"""Column with the key of the list that a record is from."""
PLACE = "place"
"""Column with an entry's place in its list, from 0."""
ROW = "#"
"""Column with the number of each row, for a table without ids."""
_MOST_LEAVES = 2_000
_LONGEST_LITERAL = 100_000


def json_cell(value: Any, opening: str = "{[") -> Any:
    """What a cell holds, as it is or as text of JSON or Python that begins with some bracket.

    Examples
    --------
    >>> json_cell("{'tone': 3, 'safe': True}"), json_cell("[see below]")
    ({'tone': 3, 'safe': True}, '[see below]')
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in tuple(opening):
        return value
    try:
        return json_value(value, "a cell")
    except InputError:
        pass  # text that begins with a bracket, or a literal of Python
    if len(value) > _LONGEST_LITERAL:
        return value
    try:
        with warnings.catch_warnings(action="ignore"):
            found = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return value
    return clean_json(found) if isinstance(found, (dict, list)) else value


def records_with_objects(table: DataFrame, *, opening: str = "{[") -> list[dict[Any, Any]]:
    """The rows of a table, with lists where Parquet has arrays.

    Parameters
    ----------
    table : DataFrame
    opening : str
        Brackets with which cells begin whose text is read, in columns where nine in ten hold JSON.

    Examples
    --------
    >>> records_with_objects(DataFrame({"id": ["a"], "scores": ['[{"name": "tone"}]']}))
    [{'id': 'a', 'scores': [{'name': 'tone'}]}]
    """
    held = {}
    for name, column in table.items():
        cells = column.dropna()
        first = cells.iloc[0] if len(cells) else None
        if isinstance(first, str) and first.lstrip()[:1] in {*opening}:
            read = column.map(json_cell)
            held[name] = read if 10 * read.map(_is_tree).sum() >= 9 * len(cells) else column
        elif _is_tree(first):
            held[name] = column.map(_as_json)
    return table.assign(**{str(k): v for k, v in held.items()}).to_dict("records")


def _is_tree(value: Any) -> bool:
    return isinstance(value, (list, Mapping)) or hasattr(value, "tolist")


def _as_json(value: Any) -> Any:
    """A cell with lists where Parquet has arrays, without the keys that Parquet adds as null."""
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {k: _as_json(v) for k, v in value.items() if v is not None}
    return [_as_json(v) for v in value] if isinstance(value, (list, tuple)) else value


def object_in(value: Any) -> Mapping[str, Any] | None:
    """The object that a cell holds, as it is or as JSON text; None for anything else."""
    value = json_cell(value, "{")
    return value if isinstance(value, Mapping) else None


def json_list(value: Any) -> list[Any] | None:
    """The list that a cell holds, as it is or as JSON text; None for anything else."""
    value = json_cell(value, "[")
    if hasattr(value, "tolist"):
        value = value.tolist()
    return value if isinstance(value, list) else None


def leaves_of(value: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """What an object holds by path; lists are leaves.

    Examples
    --------
    >>> leaves_of({"a": {"b": 1}, "c": [2]})
    {'a.b': 1, 'c': [2]}
    """
    leaves: dict[str, Any] = {}
    for key, inner in value.items():
        path = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(inner, Mapping) and inner and depth < _DEPTH:
            leaves |= leaves_of(inner, path, depth + 1)
        elif len(leaves) < _MOST_LEAVES:
            leaves[path] = text(inner) if isinstance(inner, (str, Mapping)) else inner
    return leaves


def with_leaves(table: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The table with a column for everything that the objects in some columns hold."""
    for column in columns:
        objects = [object_in(v) for v in table[column]]
        if not any(objects):
            continue
        found = [leaves_of(o, column) if o else {} for o in objects]
        paths = [p for p in dict.fromkeys(p for f in found for p in f) if p not in table]
        own = DataFrame([[f.get(p) for p in paths] for f in found], columns=paths, dtype=object)
        table = concat([table.drop(columns=column), own.infer_objects().set_axis(table.index)],
                       axis=1)  # fmt: skip
    return table


def projected(document: Any, paths: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each entry of the deepest list that the paths go through, with all it holds.

    Parameters
    ----------
    document : object
        A JSON value.
    paths : sequence of str
        As `tree_of` shows them.

    Returns
    -------
    list of dict
        The values by path, named or not: what is above an entry is repeated in its row, lists as
        long as the entries' are divided among them, others stay complete. An entry's place in its
        list is ``place``.

    Raises
    ------
    InputError
        The paths go through two lists of which neither holds the other.

    Examples
    --------
    >>> projected([{"id": "a", "p": 1, "s": [{"v": 1}, {"v": 2}]}], ["id", "s[].v"])
    [{'id': 'a', 'p': 1, 'place': 0, 's[].v': 1}, {'id': 'a', 'p': 1, 'place': 1, 's[].v': 2}]
    """
    lists = sorted({p[: m.start()] for p in paths for m in re.finditer(r"\[\]", p)}, key=len)
    for outer, inner in pairwise(lists):
        if not inner.startswith(f"{outer}[]"):
            raise InputError(
                f"--map: the paths go through two lists side by side, {outer} and {inner}. Map "
                "paths through one of them (an entry can be chosen by its number, as in "
                "scores.0.value)."
            )
    entries = document if isinstance(document, list) else [document]
    placed = lists if isinstance(document, list) else lists[1:]  # the first holds the records
    alike: dict[str, set[str]] = {}
    for entry in entries:
        _note_alike(entry, "", lists, alike)
    rows = [row for entry in entries for row in _rows(entry, "", lists, alike)]
    names = {name: PLACE if name == placed[-1] else f"{PLACE} in {name}" for name in placed}
    out = [
        {names.get(k[0], "") if isinstance(k, tuple) else k: v for k, v in row.items()}
        for row in rows
    ]
    for row in out:
        row.pop("", None)
    return out


def _parts(value: Any, prefix: str, path: str) -> tuple[dict[str, Any], list[Any]]:
    """What an entry holds by path, without a list, and that list's entries."""
    if not isinstance(value, Mapping):
        return {prefix: value}, []
    own = {f"{prefix}.{k}" if prefix else k: v for k, v in leaves_of(value).items()}
    listed = own.pop(path, None)
    if listed is None:  # reached by an entry's number
        listed = follow_path(value, path.removeprefix(prefix).lstrip(".").split("."))
    return own, listed if isinstance(listed, list) else []


def _note_alike(value: Any, prefix: str, lists: Sequence[str], alike: dict[str, set[str]]) -> None:
    """Record which lists of plain values are as long as a list of entries next to them."""
    if not lists:
        return
    own, listed = _parts(value, prefix, lists[0])
    same = {
        k for k, v in own.items()
        if isinstance(v, list) and len(v) == len(listed)
        and not any(isinstance(e, (Mapping, list)) for e in v)
    }  # fmt: skip
    alike[lists[0]] = alike.get(lists[0], same) & same
    for entry in listed:
        _note_alike(entry, f"{lists[0]}[]", lists[1:], alike)


def _rows(
    value: Any, prefix: str, lists: Sequence[str], alike: Mapping[str, set[str]]
) -> Iterator[dict[Any, Any]]:
    """One row per entry of the innermost list; positions are tuples under the lists' names."""
    if not lists:
        yield _parts(value, prefix, "")[0]
        return
    name, deeper = lists[0], lists[1:]
    own, listed = _parts(value, prefix, name)
    beside = {k: own.pop(k) for k in alike[name]}
    for place, entry in enumerate(listed):
        at = {f"{k}[]": v[place] for k, v in beside.items()}
        for row in _rows(entry, f"{name}[]", deeper, alike):
            yield {**own, (name,): place, **at, **row}


def follow_path(value: Any, steps: Sequence[str]) -> Any:
    """The value at a path of keys and numbers of entries; None if nothing does."""
    for step in steps:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
