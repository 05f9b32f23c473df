"""Your own judgments, from a file or a frame."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.data.columns import PARSED_COLUMNS
from judgestats.data.readers import json_paths, layout, roles, row_checks, verdicts
from judgestats.data.readers.checks import check_table, with_orders, with_pairs_of_ids
from judgestats.data.readers.columns import (
    ALIASES,
    DONE,
    PARTS,
    VERDICTS,
    MissingRoleError,
    answers_differ,
    column_named,
    each_distinct,
    folded,
    holds_answers,
    item_texts,
    joined_ids,
    known_column,
    names_question,
    nested,
    repeats_verdict,
    resolve_columns,
    text_column,
)
from judgestats.data.readers.frame import (
    bare,
    few_names,
    parsed_frame,
    parts_of_items,
    reasons_of,
    systems_of_answers,
    understood_as,
)
from judgestats.data.readers.interpretation import proposed, proposed_paths, roles_of
from judgestats.data.readers.labels import joined_labels, with_labelled_rows, with_labels_of
from judgestats.data.readers.logs import table_of
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.test_logs import ragas_options
from judgestats.data.schema import validate_parsed
from judgestats.data.verdict_kinds import RepliesError, meanings_of, normalize_value
from judgestats.data.vocabulary import MeaningError
from judgestats.errors import InputError
from judgestats.protocols.base import Status

_NAMES = ("item_id", "judge", "cluster", "category", "order")
_FREE = ("explanation", "raw_text", "reason", "request_order")
_NUMBERS = ("temperature", "cost_usd", "tokens_in", "tokens_out", "latency_s", "weight")
_OF_ROWS = frozenset({"criterion", "system", "run", "rater"})
"""Roles whose columns are under other names in the frame."""
_CHANCES = ("confidence", "pass_probability", "logprob", "logprob_pass", "logprob_fail")
GRADES = {"very low": 0, "low": 1, "medium": 2, "high": 3, "very high": 4}
"""Words for a confidence, in their order."""
MAX_COLUMNS = 5_000


def load_table(
    path: Path,
    options: TableOptions,
    *,
    further: Callable[[Collection[str]], tuple[set[str], set[str]]] = lambda _: (set(), set()),
) -> pd.DataFrame:
    """The table that a file holds, with names and verdicts as they are written.

    Parameters
    ----------
    path : Path
    options : TableOptions
    further : callable
        Given the columns, which more of them are names, and which may hold verdicts.

    Raises
    ------
    InputError
        The file is damaged, too large, not UTF-8, or no table.
    """

    def text_columns(header: pd.DataFrame) -> Collection[str]:
        by_name = {o: c for o, c in options.mapping.items() if column_named(header.columns, c)}
        names = resolve_columns(path, header, by_name, needs_item=False, needs_verdict=False)
        given = (*options.factors, *options.item, *options.explode, *options.stated_columns)
        kept = [column_named(header.columns, c) for c in given]
        parts = [str(c) for c in header.columns if folded(c) in PARTS]
        usual = (names[n] for n in (*_NAMES, *_FREE) if n in names)
        more, _ = further([str(c) for c in header.columns])
        return {c for c in (*kept, *parts, *usual, *more) if c}

    return table_of(
        path,
        text_columns,
        table=options.table,
        paths=_paths(options),
        verdicts=lambda header: (
            _verdict_columns(header, options) | further([str(c) for c in header.columns])[1]
        ),
    )


def read_table(
    path: Path, options: TableOptions | None = None, *, asks: bool = True
) -> pd.DataFrame:
    """Read a table's file into the parsed frame.

    Parameters
    ----------
    path : Path
    options : TableOptions, optional
    asks : bool
        As `read_frame` takes it.

    Returns
    -------
    DataFrame
        A row without a readable verdict keeps its row: its status says so.

    Raises
    ------
    InputError
        A missing column, no verdict, a column whose part is not clear, or an empty file.
    """
    options = options or TableOptions()
    return read_frame(load_table(path, options), options, source=path, asks=asks)


def _verdict_columns(header: pd.DataFrame, options: TableOptions) -> set[str]:
    """The columns that may hold verdicts or labels, by their names or as the user says."""
    roles = (*VERDICTS, "label")
    usual = {folded(name) for role in roles for name in ALIASES[role]}
    named = {folded(options.mapping[role]) for role in roles if role in options.mapping}
    columns = [str(c) for c in header.columns]
    return {c for c in columns if folded(c) in usual | named} | {
        *layout.named_runs(columns),
        *(c for spec in options.wide for c in layout.wide_columns(columns, spec)),
    }


_OPEN = (
    MissingRoleError, roles.UndecidedError, RepliesError, MeaningError,
    row_checks.FurtherQuestionError,
)  # fmt: skip
"""Refusals after which ways that read the table are looked for."""


def read_frame(
    table: pd.DataFrame,
    options: TableOptions | None = None,
    *,
    source: Path | str = "the frame",
    asks: bool = True,
) -> pd.DataFrame:
    """Read a frame into the parsed frame.

    Parameters
    ----------
    table : DataFrame
    options : TableOptions, optional
    source : Path or str
        What it is, for messages.
    asks : bool
        Whether ways that read the table are looked for where its columns do not say it.

    Returns
    -------
    DataFrame
        With ``attrs["understood"]``: what the columns were interpreted as.

    Raises
    ------
    InputError
        The table cannot be read, or in several ways (an `OpenQuestionError` then).
    """
    options = options or TableOptions()
    try:
        return _frame_of(table, options, source)
    except _OPEN as error:
        if not asks or (isinstance(error, MissingRoleError) and error.answered):
            raise
        read = partial(tried, source, table)
        found: InputError = error
        if not options.has_table_options and any(nested(table[c]) for c in table):
            found = proposed_paths(source, json_paths.records_with_objects(table), error, read)
        if found is error:
            found = proposed(source, table.rename(columns=str), options, error, read)
        raise found from None


def _frame_of(table: pd.DataFrame, options: TableOptions, source: Path | str) -> pd.DataFrame:
    if table.empty:
        raise InputError(f"{source}: the file holds no judgments." if isinstance(source, Path)
                         else f"{source} holds no judgments.")  # fmt: skip
    if len(table.columns) > MAX_COLUMNS:
        raise InputError(
            f"{source} has {len(table.columns):,} columns; at most {MAX_COLUMNS:,} are read. Keep "
            "those with the item, the judge and the verdict."
        )
    table = table.rename(columns=str)
    paths = _paths(options)
    if any("[]" in p and p not in table for p in paths):
        table = pd.DataFrame(json_paths.projected(json_paths.records_with_objects(table), paths))
    if set(PARSED_COLUMNS) <= set(table.columns) and not options.has_table_options:
        return table.reset_index(drop=True)
    if json_paths.ROW in options.item and json_paths.ROW not in table:
        table = table.assign(**{json_paths.ROW: range(1, len(table) + 1)})
    given, n_rows = options, len(table)
    options = ragas_options(table, options)
    layout_name = "" if options is given else "ragas"
    options = with_runs(source, table, options)
    shapes: list[str] = []
    served: dict[str, str] = {}
    wide: dict[str, str] = {}
    read_by = partial(tried, source, table)
    table, mapping, people = reshaped(
        source, table.reset_index(drop=True), options, shapes, served, wide
    )
    n_rows = max(n_rows, len(table))
    options = row_checks.with_rater_kinds(source, table, options, read_by)
    mapping.pop("rater_kind", "")
    table, humans, said = row_checks.stated_rows(source, table, options)
    shapes += [said] if said else []
    n_filtered = n_rows - len(table)
    ignored = [column_named(table.columns, c) for c in options.ignore]
    reasons: dict[str, str] = {}
    names = resolve_columns(
        source, table[~humans], mapping, taken=(*people, *ignored), needs_verdict=not options.parse,
        reasons=reasons,
    )  # fmt: skip
    if "status" in names and "status" not in mapping and _says_done(table[names["status"]]):
        del names["status"]
    own_words: list[str] = []
    if "label" not in mapping and repeats_verdict(table[~humans], names):
        own_words = [names.pop("label")]
        shapes += [f"{own_words[0]} says the same as the verdict in every row: no human labels"]
    elif "label" not in mapping and holds_answers(table[~humans], names):
        shapes += [f"{names['label']} holds reference answers: no human labels"]
        del names["label"]
    table, names = _expand_rows(table, names, mapping, options)
    rows = row_checks.Rows(
        source=source, table=table[~humans], names=names, options=options, read=read_by
    )
    row_checks.check_rows(rows)
    spoken_for = {column_named(table.columns, c) for c in options.factors}
    for ours in ("cluster", "status"):
        if ours not in mapping and names.get(ours) in spoken_for:
            del names[ours]
    if options.parse:
        table, names = verdicts.read_texts(source, table, names, options)
    if "rater" in mapping and "label" in names and not (options.human or people):
        served |= {names["rater"]: "rater", names["label"]: "label"}
        table, names, people = layout.with_raters_as_columns(source, table, names, options.factors)
        humans = pd.Series(data=False, index=table.index)
    if not people:
        joined = names["item_id"]
        table, names, folding = with_pairs_of_ids(source, table, names, options)
        shapes += [folding] if folding else []
        served |= {joined: "item"} if folding else {}
    table, named = verdicts.map_model_names(table, names, options)
    shapes += [named] if named else []
    if not people:
        table, names, folding = with_orders(source, table, names, options)
        shapes += [folding] if folding else []
    labelled = table[humans]
    table = table[~humans].reset_index(drop=True)
    places = row_checks.list_positions(table, options)
    understanding = roles.understand(
        source,
        table.drop(columns=[*people, *own_words]),
        names,
        item=tuple(known_column(source, table, c, "item_id") for c in options.item),
        factors=tuple(known_column(source, table, c, "factor") for c in options.factors),
        ignore=tuple(known_column(source, table, c, "ignore") for c in options.ignore),
        places=places,
    )
    out = _columns(source, table, names, understanding, options)
    read = verdicts.read_verdicts(source, table, names, understanding, options)
    out = _with_status(source, out.assign(score=read.score, choice=read.choice), read, names)
    notes: list[str] = [*read.notes]
    cells = table[list(people)] if people else out[["label"]] if "label" in out else None
    if options.human:
        held = [names[v] for v in VERDICTS if v in names]
        kinds = options.human.partition("=")[0].strip()
        out, label_notes = with_labelled_rows(
            source, out, labelled, held, read, understanding, values=options.values,
            rater=names.get("rater", "") or known_column(source, labelled, kinds, "human"),
        )  # fmt: skip
        notes += label_notes
    elif cells is not None:
        stated = cells if people else cells.set_axis([names["label"]], axis=1)
        own_rows = pd.Series(out.index, index=out.index)
        out, label_notes = with_labels_of(
            source, out, own_rows, stated, read.kinds, options.values, criterion=read.criterion
        )
        notes += label_notes
    if "chance" in out:
        out = _with_label_chances(source, out, names["chance"])
    if options.labels is not None:
        out, label_notes = joined_labels(
            source, out, options.labels, read.kinds, understanding.item,
            criterion=read.criterion, values=options.values,
        )  # fmt: skip
        notes += label_notes
    out, label_notes = check_table(source, table, out, options, read, names)
    notes += label_notes
    if options.kind == "category":
        out["verdict_kind"] = np.where(out["choice"] != "", "category", "")
    if understanding.criterion:
        out["criterion"] = text_column(table[understanding.criterion])
    elif read.criterion and len({(k.name, k.scale) for k in read.kinds.values()}) > 1:
        raise row_checks.mixed_criteria_error(rows, read.criterion)
    frame = parsed_frame(out, factors=tuple(f"factor_{f}" for f in understanding.factors))
    frame.attrs["columns_read"] = dict(names)
    frame.attrs["notes"] = notes
    frame.attrs["scale"] = read.scale
    systems = systems_of_answers(table, understanding, names)
    sides = verdicts.side_columns(table) or ()
    lengths = (verdicts.length_columns(table) or ()) if sides else ()
    held = [c for c in (*systems, *sides, *lengths) if c in dict(understanding.unused)]
    understanding = replace(
        understanding,
        unused=(
            *((c, why) for c, why in understanding.unused if c not in held),
            *((c, "repeats the verdict") for c in own_words),
        ),
    )
    for role, columns in (("systems", (*systems, *sides)), ("lengths", lengths)):
        if own := [c for c in columns if c in held]:
            shapes.append(f"{role} = {' and '.join(own)}")
            served |= dict.fromkeys(own, role)
    sentence = "; ".join([*shapes, understood_as(frame, names, understanding, options)])
    frame.attrs["understood"] = [f"{read.description}.", f"{sentence}."]
    frame.attrs["unused"] = {
        column: "the same in every row"
        if why == roles.UNVARYING and column in table and len(set(table[column].map(str))) == 1
        else why
        for column, why in understanding.unused
    }
    frame.attrs |= {
        "rows_in": n_rows,
        "rows_filtered": n_filtered,
        "options": given.words(),
        "layout": layout_name,
    }
    frame.attrs["values"] = {
        names[v]: meanings_of(read.kinds.values()) for v in VERDICTS if v in names
    }
    frame.attrs["roles"] = roles_of(
        names, understanding, systems=[*systems, *sides], wide=wide, options=options
    )  # fmt: skip
    reasons = dict.fromkeys((*systems, *sides), "names who answered") | reasons
    reasons |= understanding.reasons
    reasons |= dict.fromkeys(wide, "stated" if given.wide else "by the names of columns")
    derived = f"layout {layout_name}" if layout_name else "unique question"
    frame.attrs["reasons"] = reasons_of(frame.attrs["roles"], reasons, given, derived)
    frame.attrs["parts"] = {
        **served,
        **dict.fromkeys(understanding.item, "item"),
        **dict.fromkeys(understanding.factors, "condition"),
        **dict.fromkeys(filter(None, [understanding.criterion]), "criterion"),
    }
    return frame


def with_runs(source: Path | str, table: pd.DataFrame, options: TableOptions) -> TableOptions:
    """The options with ``run1``, ``run2`` ... as repetitions, if nothing else is stated.

    Raises
    ------
    InputError
        Another column seems to hold verdicts too.
    """
    verdict_columns = {*VERDICTS, "raw_text"} & set(options.mapping)
    given = (column_named(table.columns, column) for column in options.mapping.values())
    if options.wide or options.explode or options.parse or "raw_text" in verdict_columns:
        return options
    if verdict_columns and not all(given):  # a path into nested cells
        return options
    listed = [str(c) for c in table.columns]
    runs = layout.run_columns(table, listed)
    names = resolve_columns(source, table, options.mapping, needs_item=False, needs_verdict=False)
    if verdict_columns:
        return _with_people(table, names, options)
    if not runs:
        return _with_people(table, names, _with_criteria(source, table, names, options))
    spec = f"run={','.join(runs)}"
    if other := next((names[v] for v in VERDICTS if v in names), ""):
        label = (
            ""
            if "label" in names
            else f" (with --map label={other} where {other!r} holds human labels)"
        )
        raise InputError(
            f"{source}: {runs[0]} to {runs[-1]} seem to hold one judge's repeated verdicts, and "
            f"{other!r} a verdict as well. For the repetitions: --wide '{spec}'{label}; for "
            f"{other!r} alone: --map verdict={other}."
        )
    return replace(options, wide=(spec,))


_OVERALL = frozenset({"success", "outcome", "decision", "correct", "passed", "pass"})
"""Names (folded) of verdicts that may sum up those on criteria."""
_OF_VERDICTS = frozenset({"score", "scores", "rating", "ratings", "grade", "grades", "verdicts"})
"""Names (folded) of objects that hold a verdict for each criterion."""
_POINTS = r"\[\s*[\"']?-?\d"
"""How lists of points begin."""


def _with_criteria(
    source: Path | str, table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> TableOptions:
    """The options with a column for each criterion, where no column holds the verdicts of all."""
    verdict = next((names[v] for v in VERDICTS if v in names), "")
    if {"raw_text", "label"} & set(names) or verdict in options.mapping.values():
        return options
    if verdict and folded(verdict) not in _OVERALL:
        return options
    taken = {*names.values(), *options.item, *options.factors, *options.ignore}
    named = [c for c in map(str, table) if folded(c) in _OF_VERDICTS]
    trees = [c for c in named if roles.has_nested_values(table[c])]
    if trees and any(table[c].astype(str).str.match(_POINTS).all() for c in map(str, table)):
        return options  # a list of points may be what the judge gave, and the object labels
    spec = layout.criteria_columns(json_paths.with_leaves(table, trees), taken)
    if not spec:
        return options
    mapping = dict(options.mapping)
    if "item_id" not in names and not options.item:
        texts = [str(c) for c in table if names_question(str(c)) and table[c].is_unique]
        mapping |= {"item_id": texts[0]} if len(texts) == 1 else {}
    stacked = replace(options, mapping=mapping, wide=(spec,))
    if verdict:
        raise row_checks.FurtherQuestionError(
            f"{source}: {verdict!r} and a column for each criterion seem to hold verdicts.",
            [stacked, replace(options, mapping={**mapping, "verdict": verdict})],
        )
    return stacked


def _with_people(
    table: pd.DataFrame, names: Mapping[str, str], options: TableOptions
) -> TableOptions:
    """The options with columns of human labels as labels of the verdicts."""
    verdict = next((names[v] for v in VERDICTS if v in names), "")
    said = options.wide or options.human or options.labels is not None or "label" in names
    if said or not verdict or verdict not in table:
        return options
    taken = {*names.values(), *options.item, *options.factors, *options.ignore}
    people = layout.people_columns(table, verdict, taken)
    if len(people) == 1:
        return replace(options, mapping={**options.mapping, "label": people[0]})
    return replace(options, wide=(f"label={','.join(people)}",)) if people else options


_STATUSES = {**dict.fromkeys(DONE, ""), **dict.fromkeys(("error", "timeout"), "failed")}
"""Words of other tools for a status; after success, the cell of the verdict decides."""


def _says_done(column: pd.Series) -> bool:
    """Whether a column says of every row that it was done, which is not a status of a judgment."""
    words = {normalize_value(v) for v in column.unique()}
    return len(words) == 1 and bool(words & {*DONE})


def tried(source: Path | str, table: pd.DataFrame, options: TableOptions) -> pd.DataFrame:
    """The table as some options read it, valid.

    Raises
    ------
    InputError
        They do not read it.
    """
    frame = read_frame(table, options, source=source, asks=False)
    scale = options.scale or frame.attrs["scale"]
    return validate_parsed(bare(frame), what=str(source), scale=scale)


def _paths(options: TableOptions) -> list[str]:
    """The paths into nested cells that the options name."""
    named = [*options.mapping.values(), *options.item, *options.factors]
    return [*named, *options.stated_columns]


def _expand_rows(
    table: pd.DataFrame,
    names: dict[str, str],
    mapping: Mapping[str, str],
    options: TableOptions,
) -> tuple[pd.DataFrame, dict[str, str]]:
    """The table with the content of its objects with a mapped path, and names that fit its rows.

    The repetition number of a record does not number the entries of its list, and neither does part
    of an item. `model` may name the author of the judged answer, and a record's `status` may be
    that of the export. A column of labels is ignored where human rows are the labels.
    """
    listed = row_checks.list_positions(table, options)
    dropped = {"replicate"} if listed or names.get("replicate") in options.item else set()
    if listed and "judge" in names and folded(names["judge"]) == "model":
        dropped |= {"judge"} if roles.varies_in_lists(table, names["judge"], listed[-1]) else set()
    if "judge" not in mapping and "system" not in names and answers_differ(table, names):
        names = {"system" if k == "judge" else k: v for k, v in names.items()}
    if listed and "status" in names:
        known = {s.value for s in Status}
        dropped |= set() if known & set(table[names["status"]].astype(str)) else {"status"}
    names = {k: v for k, v in names.items() if k not in dropped - set(mapping)}
    if options.human and "label" not in mapping:
        names = {k: v for k, v in names.items() if k != "label"}
    return json_paths.with_leaves(table, _parents(table, names.values())), names


def _parents(table: pd.DataFrame, served: Collection[str]) -> list[str]:
    """The columns with the nested cells from which a path's column was taken."""
    paths = [s for s in served if "." in s and s in table]
    parents = (
        column_named(table.columns, ".".join(steps[:n]))
        for steps in (p.split(".") for p in paths)
        for n in range(len(steps) - 1, 0, -1)
    )
    return [c for c in dict.fromkeys(parents) if c and c not in served]


def reshaped(
    source: Path | str,
    table: pd.DataFrame,
    options: TableOptions,
    shapes: list[str],
    served: dict[str, str],
    wide: dict[str, str],
) -> tuple[pd.DataFrame, dict[str, str], tuple[str, ...]]:
    """The table with one row per judgment, the mapping with what follows, and human columns.

    `shapes` takes what was done, as text. `served` takes what the used columns hold. `wide` takes
    the role of each column with the verdicts of one judge, run, criterion, order or person.
    """
    mapping = dict(options.mapping)
    if options.item:
        mapping.setdefault("item_id", options.item[0])
    people: tuple[str, ...] = ()
    if options.explode:
        table = layout.exploded(source, table, options.explode)
        shapes.append(f"one row per entry of {', '.join(options.explode)}")
        served |= dict.fromkeys(options.explode, "verdicts, one per entry")
        if not {"score", "choice", "verdict", "raw_text"} & set(mapping) and not options.wide:
            one = column_named(table.columns, options.explode[0])
            if one:
                mapping["raw_text" if options.parse else "verdict"] = one
        if json_paths.PLACE not in {*mapping.values(), *options.item}:
            mapping.setdefault("replicate", json_paths.PLACE)
    for spec in options.wide:
        table = layout.with_paths(source, table, layout.wide_paths(spec))
        table, role, columns = layout.long_of(source, table, spec)
        one = {"label": "person", "replicate": "repeat"}.get(role, role)
        shapes.append(f"one column per {one} ({few_names(list(columns))})")
        served |= dict.fromkeys(columns, "label" if role == "label" else f"verdicts of one {one}")
        wide |= dict.fromkeys(columns, "criterion" if role in layout.CROSSED else role)
        if role == "label":
            people = (*people, *columns)
            continue
        if (own := role.removesuffix("+criterion")) not in {"criterion", "system"}:
            mapping[own] = own
        if not {"score", "choice", "verdict", "raw_text"} & set(mapping):
            mapping["raw_text" if options.parse else "verdict"] = "verdict"
    table, people = layout.labels_by_criterion(source, table, people)
    paths = [*mapping.values(), *_paths(options)]
    table = layout.with_paths(source, table, paths)
    if run := mapping.pop("run", ""):
        numbered = [
            known_column(source, table, c, "run") for c in (run, mapping.get("replicate")) if c
        ]
        mapping["replicate"] = "+".join(numbered)
        if len(numbered) > 1:  # a repeat within each run
            key = joined_ids(table, numbered)
            table = table.drop(columns=numbered).assign(**{mapping["replicate"]: key})
    return table, mapping, people


def _columns(
    source: Path | str,
    table: pd.DataFrame,
    names: Mapping[str, str],
    understanding: roles.ColumnRoles,
    options: TableOptions,
) -> pd.DataFrame:
    """Everything but the verdicts, under our names and types."""
    kept = {o: c for o, c in names.items() if o not in {*VERDICTS, *_OF_ROWS}}
    out = pd.DataFrame({ours: table[theirs] for ours, theirs in kept.items()})
    out["item_id"] = joined_ids(table, understanding.item)
    own, system = parts_of_items(table, understanding, names)
    if system:  # several answers to one question are compared
        out["author"] = text_column(table[system])
    if "cluster" in out:
        out["cluster"] = text_column(out["cluster"])
    else:
        out["cluster"] = joined_ids(table, own) if own else out["item_id"]
    if (out["item_id"] == "").any():
        row = int((out["item_id"] == "").to_numpy().argmax())
        raise InputError(
            f"{source}: {int((out['item_id'] == '').sum())} rows have no item (column "
            f"{understanding.item[0]!r}; the first is row {row}). Drop them, or name their items."
        )
    out["cluster"] = out["cluster"].mask(out["cluster"] == "", out["item_id"])
    judge = options.judge or "judge"
    out["judge"] = text_column(out["judge"]) if "judge" in out else judge
    out["judge"] = out["judge"].mask(out["judge"] == "", judge)
    for column in ("order", "category", "explanation", "raw_text", "reason", "label"):
        if column in out:
            out[column] = text_column(out[column])
    for column in _NUMBERS:
        if column in out:
            out[column] = _numbers(source, out[column], names[column])
    if "confidence" in out:
        graded = text_column(out["confidence"]).str.strip().str.lower().map(GRADES)
        if graded.notna().any():
            out["confidence_rank"] = graded.astype(float)
    for column in _CHANCES:
        if column in out:  # a word (high, low) is no chance
            out[column] = pd.to_numeric(out[column], errors="coerce").astype(float)
    out = _with_chances(out)
    if "temperature" not in out:
        out["temperature"] = float("nan")
    if "replicate" in out:
        out["replicate"] = numbered_repeats(out["replicate"])
    for factor in understanding.factors:
        out[f"factor_{factor}"] = text_column(table[factor])
    if (sides := verdicts.side_columns(table)) is not None:
        out["system_a"], out["system_b"] = (text_column(table[c]) for c in sides)
        if (lengths := verdicts.side_lengths(table)) is not None:
            out["length_a"], out["length_b"] = lengths
    saying = (*VERDICTS, "label", "explanation", "raw_text", "reason")
    return out.assign(**item_texts(table, {names[n] for n in saying if n in names}))


def _with_chances(out: pd.DataFrame) -> pd.DataFrame:
    """Chances from log-probabilities: of the verdict, or of both words."""
    if "confidence" in out and out["confidence"].max() <= 0 and out["confidence"].min() < 0:
        out = out.rename(columns={"confidence": "logprob"})
    if "logprob" in out and "confidence" not in out and not (out["logprob"] > 0).any():
        out["confidence"] = np.exp(out["logprob"])
    if {"logprob_pass", "logprob_fail"} <= set(out) and "pass_probability" not in out:
        out["pass_probability"] = 1 / (1 + np.exp(out["logprob_fail"] - out["logprob_pass"]))
    return out


def _with_label_chances(source: Path | str, out: pd.DataFrame, name: str) -> pd.DataFrame:
    """The chance with which each labelled item was drawn; none where the file has no labels."""
    chance = pd.to_numeric(out["chance"], errors="coerce").astype(float)
    if "label" not in out or out["label"].eq("").all():
        return out.drop(columns="chance")
    bad = (out["label"] != "") & (text_column(out["chance"]) != "") & ~chance.between(0, 1, "right")
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise InputError(
            f"{source}: column {name!r} holds {str(out['chance'].iloc[row])[:40]!r} in row {row}, "
            "which is not a probability of being labelled (above 0, at most 1). If it is the "
            f"judge's confidence: --map confidence={shlex.quote(name)}; else --ignore "
            f"{shlex.quote(name)}."
        )
    return out.assign(chance=chance)


def numbered_repeats(column: pd.Series) -> pd.Series:
    """Numbers of repetitions as they stand; other names (``run-a``) numbered in order."""
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.notna().all() and (numbers % 1 == 0).all() and numbers.ge(0).all():
        return numbers.astype("int64")
    codes, _ = pd.factorize(column.astype(str), sort=True)
    return pd.Series(codes, index=column.index, dtype="int64")


def _numbers(source: Path | str, column: pd.Series, name: str) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce")
    bad = column.notna() & numbers.isna()
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise InputError(
            f"{source}: column {name!r} holds {str(column.iloc[row])[:40]!r} in row {row}, which "
            "is not a number."
        )
    return numbers.astype(float)


def _status_named(cell: object) -> str:
    """The status that a cell names, empty for success: the cell of the verdict decides then."""
    word = normalize_value(cell)
    return _STATUSES.get(word, word)


def _with_status(
    source: Path | str, out: pd.DataFrame, read: verdicts.Read, names: Mapping[str, str]
) -> pd.DataFrame:
    """A status for every row, and a reason where there is no verdict."""
    has_verdict = read.status == Status.OK.value
    if "status" in out:
        stated = each_distinct(out["status"], _status_named)
        by_name = {s.value for s in Status}
        strange = sorted(set(stated) - by_name - {""})
        if strange:
            raise InputError(
                f"{source}: column {names['status']!r} holds the status {strange[0]!r}; known are "
                f"{', '.join(sorted(by_name))}. Where it has another meaning: "
                f"--ignore {shlex.quote(names['status'])}."
            )
        out["status"] = stated.mask(stated == "", read.status)
    else:
        out["status"] = read.status
    if "reason" not in out:
        out["reason"] = read.reason.mask(has_verdict, "")
    return out
