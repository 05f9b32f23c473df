"""People's labels beside a judge's verdicts: of one or several, in the same or another table."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.kinds import Kind, kind_of, spelling
from judgestats.judgments.readers.cell_texts import each_distinct, joined_ids
from judgestats.judgments.readers.names import ALIASES, column_named, folded
from judgestats.judgments.readers.table_files import table_of
from judgestats.judgments.readers.verdicts import Read, coded
from judgestats.results.numbers import counted

PART = "labels_part"
"""Column that `judgestats labels split` writes: ``tuning:DIGEST`` or ``validation:DIGEST``."""
_PEOPLE = ("annotator", "rater", "person", "human", "expert", "labeler", "labeller", "worker",
           "judge", "coder")  # fmt: skip
_COLLECTED = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"})
"""Endings of the files that `judgestats labels collect` fills in."""
_LABELS = (*ALIASES["label"], "score", "rating", "verdict", "winner", "choice", "passed", "pass",
           "correct", "value", "answer")  # fmt: skip


def with_labels(path: Path, frame: pd.DataFrame, labels: Any) -> pd.DataFrame:
    """A log's frame with people's labels from a second table, joined by item or by cluster.

    Parameters
    ----------
    path : Path
        The log, for messages.
    frame : DataFrame
        Parsed.
    labels : path or DataFrame or list of dict

    Returns
    -------
    DataFrame
    """
    scored = bool(frame["score"].notna().any())
    kind = Kind(name="score") if scored else kind_of(frame["choice"].replace("", None), column="")
    read = Read(score=frame["score"], choice=frame["choice"], reason=frame["reason"],
                kinds={"": kind}, description="", scale=None)  # fmt: skip
    attrs = dict(frame.attrs)
    try:
        out, notes = joined_labels(path, frame, labels, read, ("item_id",))
    except InputError:
        out, notes = joined_labels(path, frame, labels, read, ("cluster",), names=frame["cluster"])
    out.attrs = {**attrs, "notes": [*attrs.get("notes", []), *notes]}
    return out


def labelled_ids(path: Path, *, choices: Sequence[str] = ()) -> set[str]:
    """What the labelled items of a table are called; it is checked as when it is joined.

    Parameters
    ----------
    path : Path
    choices : sequence of str
        The words of a label, where they are not pass and fail.

    Returns
    -------
    set of str
    """
    table = _table(path)
    return set(_people(path, table, _keys(path, table, ("item_id",)), choices=choices).index)


def with_people(out: pd.DataFrame, people: pd.DataFrame, read: Read) -> pd.DataFrame:
    """The frame with ``label``, what most people say; where there are several, a column a person.

    Parameters
    ----------
    out : DataFrame
        Rows of judgments.
    people : DataFrame
        The same rows; a column a person.
    read : Read
        What kind of verdict the judge gave: labels are put in the same words.

    Returns
    -------
    DataFrame
    """
    kind = next(iter(read.kinds.values()), None)
    values_by_person = {str(c): _as_text(people[c], kind, str(c)) for c in people.columns}
    if len(values_by_person) == 1:
        return out.assign(label=next(iter(values_by_person.values())))
    table = pd.DataFrame(values_by_person)
    own = {f"label_{name}": values for name, values in values_by_person.items()}
    return out.assign(label=_most(table, kind), **own)


def _as_text(values: pd.Series, kind: Kind | None, column: str) -> pd.Series:
    """Labels in the judge's words where they are of the judge's kind, else as they stand."""
    text = each_distinct(values, lambda v: "" if pd.isna(v) else str(v).strip())
    if kind is None or kind.name == "score":
        return text
    spelled = each_distinct(values, spelling)
    if kind.codes and set(spelled) - {""} <= set(kind.codes):
        return spelled.map(lambda s: kind.codes.get(s, "")).astype(object)
    if kind.name in {"pass-fail", "preference"}:
        try:
            own = kind_of(values, column=column, role="choice", kind=kind.name)
        except InputError:
            return text
        return coded(values, own)[1]
    return text


def _most(table: pd.DataFrame, kind: Kind | None) -> pd.Series:
    """What most people say, empty where two things are said equally often; of scores the mean."""
    if kind is not None and kind.name == "score":
        mean = table.apply(pd.to_numeric, errors="coerce").mean(axis=1)
        texts = ["" if np.isnan(v) else f"{v:.10g}" for v in mean.to_numpy(float)]
        return pd.Series(texts, index=table.index, dtype=object)
    codes, words = pd.factorize(table.to_numpy(object).ravel())
    counts = np.zeros((len(table), len(words)), dtype=np.int64)
    np.add.at(counts, (np.repeat(np.arange(len(table)), table.shape[1]), codes), 1)
    empty = [i for i, w in enumerate(words) if w == ""]
    counts[:, empty] = 0
    best = counts.max(axis=1)
    tied = (counts == best[:, None]).sum(axis=1) > 1
    most = np.array(words, dtype=object)[counts.argmax(axis=1)]
    return pd.Series(np.where(tied | (best == 0), "", most), index=table.index, dtype=object)


def joined_labels(
    source: Path | str,
    out: pd.DataFrame,
    labels: Any,
    read: Read,
    item: Sequence[str],
    *,
    names: pd.Series | None = None,
) -> tuple[pd.DataFrame, list[str]]:
    """Labels of a second table, joined by the items' ids; every mismatch is counted and named.

    Parameters
    ----------
    source : Path or str
        The judgments.
    out : DataFrame
        With ``item_id``.
    labels : path or DataFrame or list of dict
    read : Read
    item : sequence of str
        The columns that name an item among the judgments.
    names : Series, optional
        What a row's item is called in the labels; by default ``item_id``.

    Returns
    -------
    tuple of DataFrame and list of str
        The frame with labels, and what did not match.
    """
    if isinstance(labels, (str, Path)):
        where: Path | str = Path(labels)
        table = _table(Path(labels))
    else:
        where, table = "the labels", pd.DataFrame(labels).rename(columns=str)
    table = table.reset_index(drop=True)
    keys = _keys(where, table, item)
    kind = next(iter(read.kinds.values()), None)
    is_named = kind is not None and kind.name not in {"score", "pass-fail"}
    choices = sorted(set(read.choice) - {""}) if is_named else []
    people = _people(where, table, keys, choices=choices)
    own = out["item_id"] if names is None else names
    joined = people.loc[people.index.isin(set(own))]
    given = list(dict.fromkeys(own))
    if joined.empty:
        raise InputError(
            f"{where}: no label belongs to an item of {source}. Items there are called "
            f"{', '.join(map(repr, given[:3]))}, here "
            f"{', '.join(map(repr, list(people.index[:3])))}. Give both files the same ids."
        )
    notes = []
    without = [i for i in given if i not in set(people.index)]
    spare = [i for i in people.index if i not in set(given)]
    name = where.name if isinstance(where, Path) else where
    # A label that is lost may be a mistake in the ids; an item without one rarely is.
    for ids, what in ((spare, "labels belong to no judged item"), (without, "items have no label")):
        if ids:
            shown = ", ".join(map(str, ids[:5])) + (" and others" if len(ids) > 5 else "")
            notes.append(f"{len(ids)} of {len(given if ids is without else people):,} {what} "
                         f"in {name}: {shown}.")  # fmt: skip
    matched = people.reindex(own).set_axis(out.index)
    chance = column_named(table.columns, "chance")
    if chance:  # with which `judgestats labels plan` drew the item
        drawn = table[chance].set_axis(joined_ids(table, tuple(keys)))
        drawn = drawn[~drawn.index.duplicated()]
        out = out.assign(chance=drawn.reindex(own).to_numpy())
    if PART in table.columns:
        part = table[PART].set_axis(joined_ids(table, tuple(keys)))
        part = part[~part.index.duplicated()].reindex(own).fillna("")
        out = out.assign(**{PART: part.astype(str).to_numpy(object)})
    labelled = with_people(out, matched, read)
    if labelled["label"].eq("").all():
        notes.append(
            f"No label in {name} can be used: each is no verdict, or as many people say another."
        )
    return labelled, notes


def _table(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise InputError(f"--labels: there is no file {str(path)!r}.")
    table = table_of(path, lambda head: [str(c) for c in head.columns])
    return table.rename(columns=str).reset_index(drop=True)


def _keys(where: Path | str, table: pd.DataFrame, item: Sequence[str]) -> list[str]:
    own = [column_named(table.columns, c) for c in item]
    if all(own):
        return own
    hit = next((column_named(table.columns, c) for c in ALIASES["item_id"]
                if column_named(table.columns, c)), "")  # fmt: skip
    if not hit or (len(item) > 1 and "item_id" not in table):  # as `labels plan` names it whole
        raise InputError(
            f"{where}: the labels need the column{'s' * (len(item) > 1)} that name an item among "
            f"the judgments ({', '.join(item)}). The file has: "
            f"{', '.join(str(c) for c in list(table.columns)[:30])}."
        )
    return [hit]


def _people(
    where: Path | str, table: pd.DataFrame, keys: list[str], *, choices: Sequence[str] = ()
) -> pd.DataFrame:
    """A row an item with a label, a column a person; `choices` are the words of a label."""
    rest = [str(c) for c in table.columns if c not in keys]
    by_name = {folded(c): c for c in reversed(rest)}
    label = next((by_name[folded(c)] for c in _LABELS if folded(c) in by_name), "")
    person = next((by_name[folded(c)] for c in _PEOPLE
                   if folded(c) in by_name and by_name[folded(c)] != label), "")  # fmt: skip
    columns = [label] if label else _person_columns(table, rest)
    if not columns:
        raise InputError(
            f"{where}: no column holds the labels. The file has: {', '.join(rest[:30])}. Call "
            "it label, or one column a person annotator1, annotator2, ..."
        )
    cells = table[columns]
    given = (cells.notna() & cells.astype(str).apply(lambda c: c.str.strip()).ne("")).any(axis=1)
    if not given.any():
        n_items = joined_ids(table, tuple(keys)).nunique()
        raise InputError(_no_label_yet(where, n_items, columns, table, choices))
    table = table[given].reset_index(drop=True)  # a row still to be labelled names nobody
    ids = joined_ids(table, tuple(keys))
    if not (label and person):
        _once(where, ids)
        return table[columns].set_axis(ids)
    long = pd.DataFrame({"id": ids, "person": table[person].astype(str), "label": table[label]})
    twice = long.duplicated(["id", "person"])
    if twice.any():
        row = long[twice].iloc[0]
        raise InputError(
            f"{where}: {row['person']!r} labelled {row['id']!r} more than once "
            f"({int(twice.sum())} such rows). Keep one label a person and item."
        )
    return long.pivot(index="id", columns="person", values="label")


def _no_label_yet(
    where: Path | str,
    n_items: int,
    columns: Sequence[str],
    table: pd.DataFrame,
    choices: Sequence[str],
) -> str:
    """What a table of labels lacks, and how to fill it."""
    if not n_items:
        return f"{where}: the table has no rows. Add one row per labelled item."
    holds = f"{where}: the table holds {counted(n_items, 'item', 'items')} and no label yet."
    own = {"item_id", "annotator", "label"} <= set(table.columns)  # as `labels plan` makes it
    usable = own and isinstance(where, Path) and where.suffix in _COLLECTED
    if not usable or any("," in word for word in choices):
        return f"{holds} Fill in the column {', '.join(columns)}."
    command = ["judgestats", "labels", "collect", str(where)]
    command += ["--choices", ",".join(choices)] if len(choices) > 1 else []
    return f"{holds} Give labels with: {shlex.join(command)}"


def _person_columns(table: pd.DataFrame, rest: Sequence[str]) -> list[str]:
    """Columns named as people are, and those that hold the same labels as one of these."""
    stems = {c: folded(c).rstrip("0123456789") for c in rest}
    named = [c for c, stem in stems.items() if stem == "h" or stem.startswith((*_PEOPLE, "ann"))]
    spellings = {c: set(map(spelling, table[c].dropna())) - {""} for c in rest}
    words = set().union(*(spellings[c] for c in named))
    return [c for c in rest if c in named or (spellings[c] and spellings[c] <= words)]


def _once(where: Path | str, ids: pd.Series) -> None:
    twice = ids.duplicated()
    if twice.any():
        raise InputError(
            f"{where}: the item {str(ids[twice].iloc[0])!r} has more than one label "
            f"({int(twice.sum())} such rows). Name the person who gave each in a column annotator."
        )
