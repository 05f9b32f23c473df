"""Exports of other tools as tables: flattened by a declared layout, then read as any table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers.guarded import shorten_text, text
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.row_checks import open_question
from judgestats.data.readers.tables import read_frame
from judgestats.errors import InputError
from judgestats.results.numbers import count_noun

_SEEN = 200
_DEPTH = 12
_NO_VERDICT = re.compile(
    r"(?:^|[._ ])(?:reason|reasons|reasoning|explanation|comment|rationale|justification|"
    r"threshold|result|metadata)$"
)
"""Last words of names that stand next to a verdict and hold none."""

JUDGE, HUMAN, RULE = "judge", "human", "rule"
RATERS: Mapping[str, str] = {
    **dict.fromkeys(
        ("llm", "llm_judge", "ai", "ai_judge", "model", "eval", "evaluator", "auto", "auto_eval",
         "automatic", "automated", "online_scoring", "judge", "machine", "runnable"), JUDGE
    ),
    **dict.fromkeys(
        ("human", "annotation", "annotator", "ui", "app", "user", "person", "people", "expert",
         "physician", "reviewer", "review", "manual", "labeler", "crowd", "gold"), HUMAN
    ),
    **dict.fromkeys(
        ("code", "heuristic", "programmatic", "rule", "regex", "exact_match", "reaction", "note"),
        RULE,
    ),
}  # fmt: skip
"""Who gave a row, by the word for it; any other word is asked for."""


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
        Patterns that a flattened record must have a column for.
    among : mapping of path to words
        Values of which one must occur.
    document : str
        Keys to the list of records in a JSON document.
    each : str
        The list in a record whose entries are the rows.
    keep, drop : (path, words)
        Rows that are read; rows that are left out.
    item : tuple of str
        Paths that together name an item; rows are numbered where there is none.
    cluster, judge, system, criterion, rater, error, explanation : str
        Paths of these roles.
    verdict : tuple of str
        Paths or patterns, the first that is not empty.
    within : mapping of role to pattern
        The pattern's group is the word in the cells of that role's path.
    label : tuple of str
        Patterns of people's labels; the group is the criterion.
    suffix : str
        A column holds verdicts where another one has its name and this ending.
    empty : str
        What an empty verdict means.
    values : mapping of word to meaning
    orders : tuple of str
        The order of each entry of `each`.
    first : (path, path)
        The response that was shown first, and the one that is called a.
    pair : (path, path)
        The two systems that are compared.
    shown : bool
        Verdicts name a place, not a response.
    scale : str
        The scale that the tool states.
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
    verdict: tuple[str, ...] = ()
    within: Mapping[str, str] = field(default_factory=dict)
    label: tuple[str, ...] = ()
    suffix: str = ""
    empty: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    orders: tuple[str, ...] = ()
    first: tuple[str, str] = ("", "")
    pair: tuple[str, str] = ("", "")
    shown: bool = False
    scale: str = ""


def flatten_record(record: Mapping[str, Any], each: str = "") -> Iterator[dict[str, Any]]:
    """The rows of a record: one, or one an entry of a list, with every leaf by its path.

    Parameters
    ----------
    record : mapping
    each : str
        The list whose entries are the rows (``a.b``, ``a[].b``); the column ``a.b[]`` holds the
        places of objects, and numbers and words themselves.

    Yields
    ------
    dict
        Leaves of outer levels stand in every row. A list of one object is that object, a list of
        ``{key, value}`` an object; other lists stay whole.

    Examples
    --------
    >>> list(flatten_record({"id": 1, "runs": [{"score": 2}, {"score": 3}]}, "runs"))
    [{'id': 1, 'runs[]': 0, 'runs[].score': 2}, {'id': 1, 'runs[]': 1, 'runs[].score': 3}]
    """
    leaves = dict(_leaves(record, "", each))
    listed, _, deeper = each.partition("[].")
    entries = leaves.pop(listed, None) if each else None
    if not each or not isinstance(entries, list):
        yield leaves
        return
    objects = any(isinstance(entry, Mapping) for entry in entries)
    for place, entry in enumerate(entries):
        if not objects:
            yield {**leaves, f"{listed}[]": entry}
            continue
        for row in flatten_record(entry if isinstance(entry, Mapping) else {}, deeper):
            own = {f"{listed}[].{k}": v for k, v in row.items()}
            yield {**leaves, f"{listed}[]": place, **own}


def _leaves(value: Any, path: str, each: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every leaf with its path; the list at `each` stays whole."""
    listed = each.partition("[].")[0]
    if isinstance(value, list) and path and path != listed and depth < _DEPTH:
        pairs = _pairs(value)
        if pairs is not None:
            value = pairs
        elif len(value) == 1 and isinstance(value[0], dict):
            value, path = value[0], f"{path}[]"
    if isinstance(value, Mapping) and depth < _DEPTH:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key), each, depth + 1)
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
        Two fit equally well.
    """
    fits: list[tuple[int, Layout]] = []
    flat: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for layout in layouts:
        key = layout.document, layout.each
        if key not in flat:
            rows = (flatten_record(r, layout.each) for r in records_of(document, layout)[:_SEEN])
            flat[key] = [row for own in rows for row in islice(own, _SEEN)]
        columns = dict.fromkeys(c for row in flat[key] for c in row)
        if not all(any(re.fullmatch(s, c) for c in columns) for s in layout.signature):
            continue
        if all(
            {text(row.get(path)) for row in flat[key]} & set(words)
            for path, words in layout.among.items()
        ):
            fits.append((len(layout.signature) + len(layout.among), layout))
    best = [layout for n, layout in fits if n == max(n for n, _ in fits)]
    if len(best) > 1:
        names = " or ".join(layout.about for layout in best)
        raise InputError(f"This may be an export of {names}. Name the columns with --map.")
    return best[0] if best else None


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
    source : Path or str
        For messages.

    Returns
    -------
    DataFrame
        As `judgestats.data.readers.tables.read_frame` gives it.
    """
    table, named, notes = export_table(document, layout, options, source=source)
    frame = read_frame(table, named, source=source)
    frame.attrs["notes"] = [*notes, *frame.attrs["notes"]]
    frame.attrs["understood"] = [f"Read as {layout.about}.", *frame.attrs["understood"]]
    return frame


def export_table(
    document: Any, layout: Layout, options: TableOptions, *, source: Path | str
) -> tuple[pd.DataFrame, TableOptions, list[str]]:
    """An export as a table with one row a verdict, the options that read it, and what was left out.

    Parameters
    ----------
    document : object
        A JSON document, or a list of records.
    layout : Layout
    options : TableOptions
        What the user says; the layout says the rest.
    source : Path or str
        For messages.

    Raises
    ------
    InputError
        The export does not tell who gave a row, or holds no verdict of a judge.
    """
    records = records_of(document, layout)
    rows = [row for record in records for row in flatten_record(record, layout.each)]
    table = pd.DataFrame(rows).astype(object)
    table = table.where(table.notna(), None)
    n = len(table)
    for (path, words), wanted in ((layout.keep, True), (layout.drop, False)):
        if path and path in table:
            cells = table[path].map(text)
            word = next((w for w in words if (cells == w).any()), "")
            table = table[(cells == word) == wanted] if word else table
    out = _verdict_rows(table.reset_index(drop=True), layout)
    if out.empty:
        raise InputError(f"{source}: this export of {layout.about} holds no verdict.")
    dropped = n - len(table)
    stated: dict[str, Any] = {}
    if layout.rater:
        rules, word, answers = _raters(out, layout)
        if not (options.human or options.judge_rows):
            if word or not answers:
                raise _question(document, layout, options, source, out, word, answers)
            stated = answers[0][1]
        out, dropped = out[~rules].reset_index(drop=True), dropped + int(rules.sum())
    notes = [f"{count_noun(dropped, 'row', 'rows')} of other events left out."] if dropped else []
    cluster = layout.cluster
    if cluster in layout.item:  # one column has one part
        out["cluster"], cluster = out[cluster], "cluster"
    roles = [("cluster", cluster), ("judge", layout.judge), ("order", "order"),
             ("explanation", layout.explanation), ("label", "label"), ("category", "")]  # fmt: skip
    mapping = {ours: theirs for ours, theirs in roles if theirs and theirs in out}
    items = [p for p in layout.item if p in out]
    if not items:
        out["row"] = [str(i) for i in range(1, len(out) + 1)] if "row" not in out else out["row"]
        items = ["row"]
    several = "criterion" in out and len(set(out["criterion"])) > 1
    people = [str(c) for c in out if str(c).startswith("person ")]
    values = {w: m for w, m in layout.values.items() if (out["verdict"].map(text) == w).any()}
    changes = {
        "mapping": {"item_id": items[0], "verdict": "verdict", **mapping},
        "item": tuple(items) if len(items) > 1 else (),
        "factors": ("criterion",) if several else (),
        "wide": (f"label={','.join(people)}",) if people else (),
        "values": {**values, **options.values},
        "as_shown": layout.shown or options.as_shown,
        **stated,
    }
    given = {k: v for k, v in options.set_options().items() if k not in changes}
    named = TableOptions(**{**changes, **given, **{k: v for k, v in stated.items() if v}})
    return out, named, notes


def _question(
    document: Any,
    layout: Layout,
    options: TableOptions,
    source: Path | str,
    table: pd.DataFrame,
    word: str,
    answers: Sequence[tuple[str, dict[str, str]]],
) -> InputError:
    """The refusal of rows of which the export does not tell who gave them."""
    if not answers:
        words = ", ".join(sorted(set(table[layout.rater].map(text)))[:5])
        return InputError(
            f"{source}: this export of {layout.about} holds no judge's rows ({layout.rater} is "
            f"{shorten_text(words, 80)})."
        )
    return open_question(
        source,
        f"{layout.rater} = {shorten_text(word, 40)!r} names neither a judge nor a person. Whose "
        "rows are these?",
        [
            (meaning, replace(options, human=o.get("human", ""), judge_rows=o["judge_rows"]))
            for meaning, o in answers
        ],
        lambda one: read_export(document, layout, one, source=source),
    )


def _verdict_rows(table: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """One row a verdict: columns by criterion are stacked, the first of several verdicts counts."""
    columns = [str(c) for c in table.columns]
    by_criterion: dict[str, list[str]] = {}
    for pattern in layout.verdict:
        for column in columns:
            match = re.fullmatch(pattern, column)
            if match is None or (match.groups() and _NO_VERDICT.search(column)):
                continue
            if layout.suffix and f"{column}{layout.suffix}" not in columns:
                continue
            by_criterion.setdefault(match[1] if match.groups() else "", []).append(column)
    plain = by_criterion.get("", [])
    labels = {
        (match[1] if match.groups() else ""): column
        for pattern in layout.label
        for column in columns
        if (match := re.fullmatch(pattern, column))
    }
    kept = {*layout.item, layout.cluster, layout.judge, layout.system, layout.rater,
            layout.explanation, *layout.pair}  # fmt: skip
    base = table[[c for c in columns if c in kept]].copy()
    if layout.system in base and layout.system:
        base["system"] = base.pop(layout.system).map(lambda v: text(v).rsplit("/", 1)[-1])
    if not any(p in base for p in layout.item):
        base["row"] = [str(i) for i in range(1, len(table) + 1)]
    if layout.pair[0]:
        base = base.rename(columns=dict(zip(layout.pair, ("model_a", "model_b"), strict=True)))
    order = _orders(table, layout)
    if order is not None:
        base["order"] = order
    parts = []
    for criterion, own in by_criterion.items():
        if not criterion and len(by_criterion) > 1:
            continue
        verdict = _first(table, [*own, *(plain if criterion else [])])
        if layout.error and layout.error in table:
            verdict = verdict.mask(verdict.isna() & table[layout.error].notna(), "error")
        part = base.assign(verdict=verdict)
        if layout.criterion and layout.criterion in table:
            named = _within(table[layout.criterion], layout.within.get("criterion", ""))
            part["criterion"] = named
            if criterion:
                part["criterion"] = named.mask(_first(table, own).notna(), criterion)
        elif criterion:
            part["criterion"] = criterion
        label = labels.get(criterion) or (labels.get("") if len(by_criterion) == 1 else None)
        if label is not None:
            part = _with_labels(part, table, label)
        wide = bool(criterion) and len(by_criterion) > 1
        parts.append(part[verdict.notna()] if wide and layout.rater else part)
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


def _within(cells: pd.Series, pattern: str) -> pd.Series:
    """The role's word in each cell."""
    words = cells.map(text)
    if not pattern:
        return words
    return words.map(lambda w: m[1] if (m := re.fullmatch(pattern, w)) else w)


def _with_labels(part: pd.DataFrame, table: pd.DataFrame, column: str) -> pd.DataFrame:
    """People's labels beside the verdicts; a list holds one a person, of those that submitted."""
    cells = table[column]
    if not cells.map(lambda v: isinstance(v, list)).any():
        return part.assign(label=cells.map(text))
    status = table.get(f"{column}.status")
    names = table.get(f"{column}.users")
    listed: list[dict[str, Any]] = []
    for i, cell in enumerate(cells):
        answers = cell if isinstance(cell, list) else []
        states = status.iloc[i] if status is not None else None
        people = names.iloc[i] if names is not None else None
        listed.append({
            f"person {people[k] if isinstance(people, list) and k < len(people) else k + 1}": answer
            for k, answer in enumerate(answers)
            if not isinstance(states, list) or k >= len(states) or states[k] == "submitted"
        })  # fmt: skip
    return pd.concat([part, pd.DataFrame(listed, index=part.index)], axis=1)


def _orders(table: pd.DataFrame, layout: Layout) -> pd.Series | None:
    """The order in which the two responses were shown."""
    if layout.orders:
        places = table[f"{layout.each}[]"]
        return places.map(lambda p: layout.orders[int(p)] if int(p) < len(layout.orders) else "")
    shown, called = layout.first
    if not shown or shown not in table or called not in table:
        return None
    same = table[shown].map(text) == table[called].map(text)
    return same.map({True: "ab", False: "ba"})


def _raters(
    table: pd.DataFrame, layout: Layout
) -> tuple[pd.Series, str, list[tuple[str, dict[str, str]]]]:
    """Which rows rules gave, a word that names nobody known, and who gave the others, by options.

    There are two answers where a word names neither a judge nor a person.
    """
    written = table[layout.rater].map(text)
    words = _within(written, layout.within.get("rater", ""))
    kinds = words.map(lambda w: RATERS.get(w.casefold(), ""))
    unclear = kinds == ""
    answers = []
    for meaning, kind in (("judge's rows", JUDGE), ("people's labels", HUMAN)):
        own = kinds.mask(unclear, kind)
        option = {
            flag: f"{layout.rater}={','.join(sorted(set(written[own == rater])))}"
            for flag, rater in (("judge_rows", JUDGE), ("human", HUMAN))
            if (own == rater).any()
        }
        if "judge_rows" in option:
            answers.append((meaning, option))
    word = words[unclear].iloc[0] if unclear.any() else ""
    return kinds == RULE, word, answers if word else answers[:1]
