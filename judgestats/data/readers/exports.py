"""Exports of other tools as tables: flattened by a declared layout, then read as any table."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers.columns import ALIASES, PARTS, Remark, folded, names_id, names_text
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import kind_of_rater, names_model
from judgestats.data.readers.row_checks import open_question, stated_rows
from judgestats.data.readers.tables import MAX_COLUMNS, read_frame
from judgestats.errors import InputError
from judgestats.files.text import shorten_text, text
from judgestats.results.numbers import count_noun

SEEN = 200
"""Rows by which an export is recognised."""
_DEPTH = 12
_NO_VERDICT = re.compile(
    r"(?:^|[._ ])(?:reason|reasons|reasoning|explanation|comment|rationale|justification|"
    r"threshold|result|metadata)$"
)
"""Last words of names that stand next to a verdict and hold none."""
_HUMAN = "human|expert|annotator|reviewer|gold|manual"
_BY_HUMANS = re.compile(rf"(?:{_HUMAN})[_ .-]+(.+)|(.+?)[_ .-]+(?:{_HUMAN})", re.IGNORECASE)
"""Names of criteria that hold human labels: their first or last word says so."""
_SCORE_OF = re.compile(r"[_. -]+(?:score|rating|grade|verdict|label)$", re.IGNORECASE)
_DESIGN = PARTS | {folded(c) for role in ("judge", "replicate", "order") for c in ALIASES[role]}
_RECORD = "record"
"""The number of the record, which is the item where the export names none."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where a tool's export holds what: paths, and patterns of paths; nothing is computed.

    A path names a leaf by its keys (``feedback_source.type``), ``[]`` after a key an entry of its
    list. A pattern with a group (``scores\\.(.+)``) finds several columns; the group is the
    criterion.

    Attributes
    ----------
    name, about : str
    signature : tuple of str
        Patterns that a flattened record must have a column for. Groups of several patterns must
        find a common name, and only criteria of common names are read.
    among : mapping of path to words
        Values of which one must occur.
    document : str
        Keys to the list of records in a JSON document; ``@block`` where each key has its list,
        which is then a column of that name.
    each : str
        The list in a record whose entries are the rows.
    keep, drop : (path, words)
        Rows that are read; rows that are left out.
    item : tuple of str
        Paths that together name an item; where there is none, the item is the record.
    cluster, judge, system, criterion, rater, error, explanation, weight, confidence : str
        Paths of these roles; of judge and confidence patterns.
    naming : str
        Pattern of the paths that repeat the name of a criterion.
    inner : tuple of str
        What paths begin with that is left out where they are named to the user.
    raters : mapping of word to kind
        Words of the tool for a rater: ``judge``, ``human``, or ``rule``.
    within : mapping of role to pattern
        The pattern's group is the word in the cells of that role's path.
    verdict : tuple of str
        Paths or patterns, the first that is not empty.
    label : tuple of str
        Patterns of human labels; the group is the criterion.
    empty : str
        What an empty verdict means.
    values : mapping of word to meaning
    letters : str
        What letters from A to E are, where they are not a preference.
    inverted : (pattern, word)
        Cells that say that a low score is good: the user has to say what is a pass.
    orders : tuple of str
        The order of each entry of `each`.
    first : (path, path)
        The response that was shown first, and the one that is called a.
    pair : (path, path)
        The two systems that are compared.
    shown : bool
        Verdicts name a position, not a response.
    """

    name: str
    about: str
    signature: tuple[str, ...]
    among: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    document: str = ""
    each: str = ""
    keep: tuple[str, tuple[str, ...]] = ("", ())
    drop: tuple[str, tuple[str, ...]] = ("", ())
    item: tuple[str, ...] = ()
    cluster: str = ""
    judge: str = ""
    system: str = ""
    criterion: str = ""
    rater: str = ""
    error: str = ""
    explanation: str = ""
    weight: str = ""
    confidence: str = ""
    inner: tuple[str, ...] = ()
    naming: str = ""
    raters: Mapping[str, str] = field(default_factory=dict)
    within: Mapping[str, str] = field(default_factory=dict)
    verdict: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    empty: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    letters: str = ""
    inverted: tuple[str, str] = ("", "")
    orders: tuple[str, ...] = ()
    first: tuple[str, str] = ("", "")
    pair: tuple[str, str] = ("", "")
    shown: bool = False

    @property
    def names(self) -> set[str]:
        """The paths of columns that are kept next to the verdicts."""
        own = (self.cluster, self.system, self.criterion, self.rater, self.explanation, self.weight)
        return {p for p in (*self.item, *own, *self.pair) if p}

    def serves(self, column: str) -> bool:
        """Whether the layout reads a column."""
        paths = {self.keep[0], self.drop[0], self.error, f"{self.each}[]", *self.first}
        if column in self.names | paths or names_text(column):
            return True
        base = re.sub(r"\.(?:status|users)$", "", column)
        own = (self.inverted[0], self.judge, self.confidence, self.naming)
        patterns = (*self.signature, *self.verdict, *self.label, *own)
        return any(re.fullmatch(p, c) for p in patterns if p for c in (column, base))

    def holds_labels(self, column: str) -> bool:
        """Whether a column holds human labels."""
        return any(re.fullmatch(pattern, column) for pattern in self.label)

    def stems(self, columns: Collection[str]) -> set[str] | None:
        """The names that the groups of the signature share; None where it does not fit."""
        shared: set[str] = set()
        grouped = False
        for pattern in self.signature:
            found = [m for c in columns if (m := re.fullmatch(pattern, c))]
            if not found:
                return None
            if found[0].groups():
                own = {m[1] for m in found}
                shared, grouped = shared & own if grouped else own, True
        return shared if shared or not grouped else None


def flatten_record(
    record: Mapping[str, Any],
    each: str = "",
    *,
    wanted: Callable[[str], bool] = lambda _: True,
    whole: Callable[[str], bool] = lambda _: False,
    at: str = "",
) -> Iterator[dict[str, Any]]:
    """The rows of a record: one, or one per entry of a list, with every leaf by its path.

    Parameters
    ----------
    record : mapping
    each : str
        The list whose entries are the rows (``a.b``, ``a[].b``). The column ``a.b[]`` holds the
        positions of objects, or numbers and words themselves.
    wanted : callable
        Which paths are kept.
    whole : callable
        Which lists stay one leaf.
    at : str
        What paths begin with.

    Yields
    ------
    dict
        Leaves of outer levels are in every row. A list of one object is that object, a list of
        ``{key, value}`` an object. Other lists are one leaf.

    Examples
    --------
    >>> list(flatten_record({"id": 1, "runs": [{"score": 2}, {"score": 3}]}, "runs"))
    [{'id': 1, 'runs[]': 0, 'runs[].score': 2}, {'id': 1, 'runs[]': 1, 'runs[].score': 3}]
    """
    listed, _, deeper = each.partition("[].")
    leaves = dict(_leaves(record, "", lambda path: path == listed or whole(path)))
    entries = leaves.pop(listed, None) if each else None
    leaves = {at + k: v for k, v in leaves.items() if wanted(at + k)}
    if not isinstance(entries, list):
        yield leaves
        return
    inner = f"{at}{listed}[]"
    objects = any(isinstance(entry, Mapping) for entry in entries)
    for position, entry in enumerate(entries):
        if not objects:
            yield {**leaves, inner: entry}
            continue
        own = entry if isinstance(entry, Mapping) else {}
        for row in flatten_record(own, deeper, wanted=wanted, whole=whole, at=f"{inner}."):
            yield {**leaves, inner: position, **row}


def _leaves(
    value: Any, path: str, whole: Callable[[str], bool] = lambda _: False, depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Every leaf with its path; a list that stays `whole` is one leaf."""
    if isinstance(value, list) and path and depth < _DEPTH and not whole(path):
        pairs = _pairs(value)
        if pairs is not None:
            value = pairs
        elif len(value) == 1 and isinstance(value[0], dict):
            value, path = value[0], f"{path}[]"
    if isinstance(value, Mapping) and depth < _DEPTH:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key), whole, depth + 1)
    else:
        yield path, value


def _pairs(entries: Sequence[Any]) -> dict[str, Any] | None:
    """A list of ``{key, value}`` as an object, as OpenTelemetry writes attributes."""
    if not entries or not all(isinstance(e, dict) and set(e) == {"key", "value"} for e in entries):
        return None
    found = {str(e["key"]): e["value"] for e in entries}
    typed = {
        k: next(iter(v.values())) if isinstance(v, dict) and len(v) == 1 else v
        for k, v in found.items()
    }
    return typed if len(found) == len(entries) else None


def records_of(document: Any, layout: Layout) -> list[Mapping[str, Any]]:
    """The records of a JSON document, or of what a reader of lines or tables gives."""
    if isinstance(document, Mapping) and layout.document == "@block":
        blocks = [(name, own) for name, own in document.items() if isinstance(own, list)]
        records = [(name, r) for name, own in blocks for r in own if isinstance(r, Mapping)]
        return [{"@block": name, **record} for name, record in records]
    for key in filter(None, layout.document.split(".")):
        document = document.get(key) if isinstance(document, Mapping) else document
    if isinstance(document, Mapping):
        values = list(document.values())
        document = values if values and all(isinstance(v, Mapping) for v in values) else [document]
    return [r for r in document if isinstance(r, Mapping)] if isinstance(document, list) else []


def find_layout(document: Any, layouts: Iterable[Layout]) -> Layout | None:
    """The layout that fits; the one with the longest signature where several do.

    Raises
    ------
    InputError
        Two fit equally well, or only the column is missing that says who gave a row.
    """
    fits: list[tuple[int, Layout]] = []
    flat: dict[tuple[str, str], list[dict[str, Any]]] = {}
    columns_of: dict[tuple[str, str], list[str]] = {}
    plain = _is_flat(document)
    blind = ""
    for layout in layouts:
        if plain and layout.each:
            continue
        key = ("" if plain else layout.document, layout.each)
        if key not in flat:
            records = records_of(document, layout)[:SEEN]
            rows = chain.from_iterable(flatten_record(r, layout.each) for r in records)
            flat[key] = list(islice(rows, SEEN))
            columns_of[key] = list(dict.fromkeys(c for row in flat[key] for c in row))
        columns = columns_of[key]
        if len(columns) > MAX_COLUMNS:
            continue
        if layout.stems(columns) is None:
            blind = blind or _missing_rater(layout, columns)
        elif not _has_design(flat[key], layout) and all(
            {text(row.get(path)) for row in flat[key]} & set(words)
            for path, words in layout.among.items()
        ):
            fits.append((len(layout.signature) + len(layout.among), layout))
    best = [layout for n, layout in fits if n == max(n for n, _ in fits)]
    if len(best) > 1:
        names = " or ".join(layout.about for layout in best)
        raise InputError(f"This may be an export of {names}. Name the columns with --map.")
    if not best and blind:
        raise InputError(blind)
    return best[0] if best else None


def _has_design(rows: Sequence[Mapping[str, Any]], layout: Layout) -> bool:
    """Whether records that would be items have ids, models or judges that occur again."""
    columns = dict.fromkeys(c for row in rows for c in row)
    if layout.each or any(path in columns for path in layout.item):
        return False
    for column in (c for c in columns if not layout.serves(c)):
        levels = len({text(row.get(column)) for row in rows})
        if 1 < levels < len(rows) and (names_id(column) or folded(column) in _DESIGN):
            return True
    return False


def _is_flat(document: Any) -> bool:
    """Whether all cells of some rows are plain, so that nothing is in lists or objects."""
    rows = document[:SEEN] if isinstance(document, list) else [None]
    return all(
        isinstance(row, Mapping) and not any(isinstance(v, (list, Mapping)) for v in row.values())
        for row in rows
    )


def _missing_rater(layout: Layout, columns: Collection[str]) -> str:
    """Why an export is not read that has all columns but the one with the raters."""
    if not layout.rater or layout.rater in columns:
        return ""
    others = [p for p in layout.signature if not re.fullmatch(p, layout.rater)]
    needed = [*others, *layout.verdict, re.escape(layout.criterion)]
    if not all(any(re.fullmatch(p, c) for c in columns) for p in needed):
        return ""
    return (
        f"This looks like {layout.about} without {layout.rater!r}, which says who gave each row. "
        "Add it, or name the columns with --map."
    )


def read_export(
    document: Any, layout: Layout, options: TableOptions, *, source: Path | str
) -> pd.DataFrame:
    """The judgments of an export, read as the table that its layout makes of it.

    Parameters
    ----------
    document : object
        A JSON document, or a list of records.
    layout : Layout
    options : TableOptions
        What the user says; the layout says the rest.
    source : Path or str
        For messages.

    Returns
    -------
    DataFrame
        As `judgestats.data.readers.tables.read_frame` gives it.

    Raises
    ------
    InputError
        The export does not tell who gave a row, or holds no verdict of a judge.
    """
    records = records_of(document, layout)
    serves = functools.cache(layout.serves)  # paths repeat from record to record
    around = _around(document, layout)
    rows = [
        {_RECORD: str(number), **around, **row}
        for number, record in enumerate(records, start=1)
        for row in flatten_record(record, layout.each, wanted=serves, whole=layout.holds_labels)
    ]
    table = pd.DataFrame(rows).astype(object)
    table = table.where(table.notna(), None)
    n = n_rows = len(table)
    for (path, words), kept in ((layout.keep, True), (layout.drop, False)):
        if path and path in table:
            cells = table[path].map(text)
            word = next((w for w in words if (cells == w).any()), "")
            table = table[(cells == word) == kept] if word else table
    if layout.criterion in table and not layout.naming:  # other events name no criterion
        table = table[table[layout.criterion].map(text) != ""]
    dropped = n - len(table)
    _check_direction(table, layout, options, source)
    paths: dict[str, list[str]] = {}
    out = _verdict_rows(table.reset_index(drop=True), layout, source, paths)
    if out.empty:
        raise InputError(f"{source}: this export of {layout.about} holds no verdict.")
    stated: dict[str, Any] = {}
    if layout.rater:
        rules, unclear, answers = _raters(out, layout)
        if not (options.human or options.judge_rows):
            if unclear is not None or not answers:
                raise _question(document, layout, options, source, out, unclear, answers)
            stated = answers[0][1]
        out, dropped = out[~rules].reset_index(drop=True), dropped + int(rules.sum())
    how = _stated_options(out, layout, options, stated)
    frame = read_frame(out, how, source=source)
    out, _, _ = stated_rows(source, out, how)
    left = f"{count_noun(dropped, 'row', 'rows')} of other events left out."
    notes = [Remark(left, "other_events", dropped)] if dropped else []
    frame.attrs["notes"] = [*notes, *frame.attrs["notes"]]
    frame.attrs["understood"] = [f"Read as {layout.about}.", *frame.attrs["understood"]]
    frame.attrs |= {"about": layout.about, "rows_in": n_rows}
    frame.attrs["rows_filtered"] += dropped
    frame.attrs["options"] = options.words()
    frame.attrs["levels"] = {
        role: int(out[role].nunique()) for role in ("criterion", "system") if role in out
    }
    if frame.attrs["levels"].get("criterion") == 1 and "criterion" not in frame:
        frame["criterion"] = text(out["criterion"].iloc[0])
    within = _document_path(document, layout)
    roles = {role: [p for c in held for p in paths.get(c, [c])]
             for role, held in frame.attrs["roles"].items()}  # fmt: skip
    roles |= {c: paths[c] for c in ("criterion", "system", "confidence", "weight") if c in paths}
    roles |= {"rater_kind": [layout.rater]} if layout.rater else {}
    if "repeat" not in roles and layout.each and frame["replicate"].gt(0).any():
        roles["repeat"] = [f"{layout.each}[]"]
    if any(c.startswith("rater ") for c in roles.get("label", ())):
        roles["label"] = paths["label"]
    frame.attrs["roles"] = {
        role: [
            p if p in around else within + functools.reduce(str.removeprefix, layout.inner, p)
            for p in dict.fromkeys(held)
        ]
        for role, held in roles.items()
    }
    frame.attrs["reasons"] = dict.fromkeys(
        (p for held in frame.attrs["roles"].values() for p in held), f"layout {layout.name}"
    )
    return frame


def _around(document: Any, layout: Layout) -> dict[str, Any]:
    """What stands next to the list of records and is the same for all: its leaves by path."""
    first = layout.document.partition(".")[0]
    if not first or not isinstance(document, Mapping):
        return {}
    outer = {k: v for k, v in document.items() if k != first}
    return {p: v for p, v in _leaves(outer, "") if layout.serves(p) and not isinstance(v, list)}


def _document_path(document: Any, layout: Layout) -> str:
    """What the path of a leaf begins with: the keys to the records."""
    if not isinstance(document, Mapping):
        return ""
    first = layout.document.partition(".")[0]
    return f"{layout.document}[]." if first and first in document else "" if first else "*."


def _stated_options(
    table: pd.DataFrame, layout: Layout, options: TableOptions, stated: Mapping[str, str]
) -> TableOptions:
    """The options that read the table: what the layout knows, and what the user says."""
    items = [p for p in layout.item if p in table] or [_RECORD]
    # A column has one part, so a cluster that is part of the item is a copy of its own.
    cluster = "cluster" if "cluster" in table else layout.cluster
    roles = {"item_id": items[0], "verdict": "verdict", "cluster": cluster, "judge": "judge",
             "order": "order", "explanation": layout.explanation, "label": "label",
             "weight": layout.weight, "confidence": "confidence"}  # fmt: skip
    raters = [str(c) for c in table if str(c).startswith("rater ")]
    words = set(table["verdict"].map(text))
    changes: dict[str, Any] = {
        "mapping": {ours: theirs for ours, theirs in roles.items() if theirs in table},
        "item": tuple(items) if len(items) > 1 else (),
        "factors": ("criterion",)
        if "criterion" in table and len(set(table["criterion"])) > 1
        else (),
        "wide": (f"label={','.join(raters)}",) if raters else (),
        "values": {w: m for w, m in layout.values.items() if w in words} | dict(options.values),
        "kind": options.kind or (layout.letters if words - {""} <= set("ABCDE") else ""),
        "as_shown": layout.shown or options.as_shown,
        **stated,
    }
    return replace(options, **changes)


def _check_direction(
    table: pd.DataFrame, layout: Layout, options: TableOptions, source: Path | str
) -> None:
    """Refuse scores of which a low one is good, unless the user says what is a pass."""
    pattern, word = layout.inverted
    if not pattern or options.values or options.passes or options.fails or options.kind:
        return
    for column in table:
        if re.fullmatch(pattern, str(column)) and (table[column].map(text) == word).any():
            raise InputError(
                f"{source}: {column} is {word!r}: a low score is good. Say what is a pass: "
                "--values WORD=pass,WORD=fail."
            )


def _question(
    document: Any,
    layout: Layout,
    options: TableOptions,
    source: Path | str,
    table: pd.DataFrame,
    word: str | None,
    answers: Sequence[tuple[str, dict[str, str]]],
) -> InputError:
    """The refusal of rows of which the export does not tell who gave them."""
    if word == "":
        empty = int((table[layout.rater].map(text) == "").sum())
        return InputError(
            f"{source}: {count_noun(empty, 'row has', 'rows have')} no {layout.rater}, so nobody "
            "knows who gave them. Fill the column, or leave these rows out."
        )
    if word is None or not answers:
        words = ", ".join(sorted(set(table[layout.rater].map(text)))[:5])
        return InputError(
            f"{source}: this export of {layout.about} holds no judge rows ({layout.rater} is "
            f"{shorten_text(words, 80)})."
        )
    return open_question(
        source,
        f"{layout.rater} = {shorten_text(word, 40)!r} names neither a judge nor a human. Whose "
        "rows are these?",
        [
            (meaning, replace(options, human=o.get("human", ""), judge_rows=o["judge_rows"]))
            for meaning, o in answers
        ],
        lambda one: read_export(document, layout, one, source=source),
    )


def _columns_by_criterion(
    columns: Sequence[str], layout: Layout, source: Path | str
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The verdict columns of each criterion (the empty name where none is named), and the labels.

    Raises
    ------
    InputError
        A column of human labels names a criterion that no judge's column has.
    """
    stems = layout.stems(columns)
    verdicts: dict[str, list[str]] = {}
    labels: dict[str, str] = {}
    for pattern, column in ((p, c) for p in layout.verdict for c in columns):
        match = re.fullmatch(pattern, column)
        name = match[1] if match and match.groups() else ""
        other = bool(_NO_VERDICT.search(column)) or bool(stems and name not in stems)
        if match is None or (name and other):
            continue
        if by_humans := _BY_HUMANS.fullmatch(name):
            labels[by_humans[1] or by_humans[2]] = column
        else:
            verdicts.setdefault(name, []).append(column)
    for pattern, column in ((p, c) for p in layout.label for c in columns):
        if match := re.fullmatch(pattern, column):
            labels[match[1] if match.groups() else ""] = column
    if len(verdicts) == 1 and len(labels) == 1:
        labels = dict(zip(verdicts, labels.values(), strict=True))
    if lost := [c for name, c in labels.items() if name not in verdicts and verdicts]:
        raise InputError(
            f"{source}: {lost[0]!r} seems to hold human labels, and no criterion of the judge has "
            "its name. Name the columns with --map."
        )
    return verdicts, labels


def _verdict_rows(
    table: pd.DataFrame, layout: Layout, source: Path | str, paths: dict[str, list[str]]
) -> pd.DataFrame:
    """One row per verdict: columns by criterion are stacked, the first of several counts.

    `paths` takes the paths from which each column was made.
    """
    by_criterion, labels = _columns_by_criterion([str(c) for c in table], layout, source)
    verdicts = [c for own in by_criterion.values() for c in own]
    columns = [str(c) for c in table]
    naming = [c for c in columns if c == layout.criterion or re.fullmatch(layout.naming, c)]
    named = "judge" if not layout.judge and all(map(names_model, by_criterion)) else "criterion"
    found = {
        "verdict": verdicts,
        named: naming or (verdicts if set(by_criterion) != {""} else []),
        "label": list(labels.values()),
        "cluster": [layout.cluster],
        "system": [c for c in (layout.system, *layout.pair) if c in columns],
        "order": [f"{layout.each}[]" if layout.orders else layout.first[0].split(".")[0]],
    }
    paths |= {role: own for role, own in found.items() if own and own[0]}
    paths |= {
        side: [path] for side, path in zip(("model_a", "model_b"), layout.pair, strict=True) if path
    }
    plain = by_criterion.pop("", []) if len(by_criterion) > 1 else []
    item = [c for c in table if c in layout.item] or [_RECORD]
    unnamed = [str(c) for c in table if names_text(str(c)) and c not in verdicts]
    texts = unnamed if item == [_RECORD] else []
    base = table[[c for c in table if c in layout.names or c in item or c in texts]].copy()
    paths |= {_RECORD: texts} if texts else {}
    if layout.cluster and layout.cluster in layout.item and layout.cluster in base:
        base["cluster"] = base[layout.cluster]
    if layout.system and layout.system in base:
        base["system"] = base.pop(layout.system).map(lambda v: text(v).rsplit("/", 1)[-1])
    if layout.pair[0]:
        base = base.rename(columns=dict(zip(layout.pair, ("model_a", "model_b"), strict=True)))
    base = base.assign(**_orders(table, layout))
    for role, pattern in (("judge", layout.judge), ("confidence", layout.confidence)):
        if own := [str(c) for c in table if pattern and re.fullmatch(pattern, str(c))]:
            base[role], paths[role] = table[own[0]], own[:1]
    parts = []
    for criterion, own in by_criterion.items():
        verdict = _first(table, [*own, *plain])
        if layout.error and layout.error in table:
            verdict = verdict.mask(verdict.isna() & table[layout.error].notna(), "error")
        part = base.assign(verdict=verdict)
        if layout.criterion and layout.criterion in table:
            names = _pattern_value(table[layout.criterion], layout.within.get("criterion", ""))
            part["criterion"] = names.mask(_first(table, own).notna(), criterion or names)
        elif criterion:
            part[named] = criterion if named == "criterion" else _SCORE_OF.sub("", criterion)
        if criterion in labels:
            part = _with_labels(part, table, labels[criterion])
        stacked = len(by_criterion) > 1 and layout.rater
        parts.append(part[verdict.notna()] if stacked else part)
    out = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    if layout.empty and len(out):
        out["verdict"] = out["verdict"].mask(out["verdict"].isna(), layout.empty)
    return out


def _first(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """The first of several cells that is not empty."""
    cells = table[list(columns)].map(lambda v: None if text(v) == "" else v)
    out = cells.iloc[:, 0]
    for column in columns[1:]:
        out = out.where(out.notna(), cells[column])
    return out.astype(object).where(out.notna(), None)


def _pattern_value(cells: pd.Series, pattern: str) -> pd.Series:
    """The role's word in each cell."""
    words = cells.map(text)
    if not pattern:
        return words
    return words.map(lambda w: m[1] if (m := re.fullmatch(pattern, w)) else w)


def _with_labels(part: pd.DataFrame, table: pd.DataFrame, column: str) -> pd.DataFrame:
    """The verdicts with human labels; a list holds one per rater, of those that were submitted."""
    cells = table[column]
    if not cells.map(lambda v: isinstance(v, list)).any():
        return part.assign(label=cells.map(text))
    none: list[Any] = [None] * len(cells)
    states, names = (list(table.get(f"{column}.{k}", none)) for k in ("status", "users"))
    listed = []
    for cell, state, users in zip(cells, states, names, strict=True):
        answers = cell if isinstance(cell, list) else []
        by = users if isinstance(users, list) else []
        sent = state if isinstance(state, list) else []
        given = [
            a if isinstance(a, Mapping) else {"value": a, "user_id": user, "status": status}
            for a, user, status in zip_longest(answers, by, sent)
        ]
        listed.append({
            f"rater {one.get('user_id') or k}": one.get("value")
            for k, one in enumerate(given, start=1)
            if (one.get("status") or "submitted") == "submitted"
        })  # fmt: skip
    return pd.concat([part, pd.DataFrame(listed, index=part.index)], axis=1)


def _orders(table: pd.DataFrame, layout: Layout) -> dict[str, pd.Series]:
    """The order in which the two responses were shown, where the export names it."""
    if layout.orders:
        known = dict(enumerate(layout.orders))
        place = table[f"{layout.each}[]"]
        return {"order": place.map(lambda p: "" if isinstance(p, list) else known.get(p, ""))}
    shown, called = layout.first
    if not shown or shown not in table or called not in table:
        return {}
    same = table[shown].map(text) == table[called].map(text)
    return {"order": same.map({True: "ab", False: "ba"})}


def _raters(
    table: pd.DataFrame, layout: Layout
) -> tuple[pd.Series, str | None, list[tuple[str, dict[str, str]]]]:
    """Rows of rules, a word that names no rater that is known, and the options that tell raters.

    There are two answers where a word names neither a judge nor a human.
    """
    written = table[layout.rater].map(text)
    words = _pattern_value(written, layout.within.get("rater", ""))
    kinds = words.map(lambda w: layout.raters.get(w) or kind_of_rater(w))
    unclear = ~kinds.isin(["judge", "human", "rule"])
    answers = []
    for meaning, kind in (("judge rows", "judge"), ("human labels", "human")):
        own = kinds.mask(unclear, kind)
        option = {
            flag: f"{layout.rater}={','.join(sorted(set(written[own == rater])))}"
            for flag, rater in (("judge_rows", "judge"), ("human", "human"))
            if (own == rater).any()
        }
        if "judge_rows" in option:
            answers.append((meaning, option))
    if not unclear.any():
        return kinds == "rule", None, answers[:1]
    return kinds == "rule", str(words[unclear].min()), answers
