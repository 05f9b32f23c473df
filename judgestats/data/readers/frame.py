"""Completion of a reader's columns, grades, and what was understood of a table."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.data import codes
from judgestats.data.columns import JUDGMENT, PARSED_COLUMNS
from judgestats.data.readers.columns import (
    ALIASES,
    PARTS,
    SYSTEMS,
    TRIALS,
    Remark,
    folded,
    label_note,
)
from judgestats.data.readers.json_paths import PLACE
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import UNVARYING, ColumnRoles, names_judged_text
from judgestats.data.schema import kinds_by_value
from judgestats.data.verdict_kinds import score_pass_map
from judgestats.errors import printable
from judgestats.files.text import number, short, shorten_text, text
from judgestats.protocols.base import Status
from judgestats.protocols.replies import no_verdict
from judgestats.results.records import CRITERIA

TOLD = ("judge", "item_id", "cluster", "replicate", "status")
"""Columns that every reader fills."""
DEFAULTS = {k: v for k, v in JUDGMENT.items() if k not in {*TOLD, "condition", "verdict_kind"}}


def reading_key(label: str) -> tuple[object, ...]:
    """Sort key for labels in natural order: words by letter, numbers within them by size.

    Examples
    --------
    >>> sorted(["B, T=1", "a, T=10", "a, T=0.3", "a, T=2"], key=reading_key)
    ['a, T=0.3', 'a, T=2', 'a, T=10', 'B, T=1']
    """
    parts = re.split(r"(\d+(?:\.\d+)?)", label)
    key = tuple(float(p) if i % 2 else p.casefold() for i, p in enumerate(parts))
    return (*key, label)


def sort_conditions(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with their conditions in natural order, else in the order that they had.

    Examples
    --------
    >>> f = pd.DataFrame({"condition": ["A, T=1", "A, T=0.3", "A, T=1"], "n": [1, 2, 3]})
    >>> sort_conditions(f)["n"].tolist()
    [2, 1, 3]
    """
    codes, labels = pd.factorize(frame["condition"])
    ranked = sorted(range(len(labels)), key=lambda i: reading_key(str(labels[i])))
    if ranked == list(range(len(labels))):
        return frame
    place = np.argsort(ranked)[codes]
    ordered = frame.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)
    ordered.attrs.update(frame.attrs)
    return ordered


def bare(frame: pd.DataFrame) -> pd.DataFrame:
    """The same data without ``attrs``, which pandas copies in depth at every step.

    Examples
    --------
    >>> f = pd.DataFrame({"n": [1]})
    >>> f.attrs["notes"] = ["said"]
    >>> bare(f).attrs, f.attrs
    ({}, {'notes': ['said']})
    """
    out = frame.copy(deep=False)
    out.attrs = {}
    return out


def condition_labels(frame: pd.DataFrame, factors: Iterable[str]) -> pd.Series:
    """One label per condition: judge, temperature, and further factors as ``name=value``."""
    key = ("judge", "temperature", *factors)
    places = codes.row_codes((frame[c] for c in key), len(frame))
    first = codes.first_places(places, int(places.max(initial=-1)) + 1)
    names = [f.removeprefix("factor_") for f in factors]
    labels = [
        str(judge)
        + ("" if pd.isna(temperature) else f", T={float(temperature):g}")
        + "".join(f", {n}={v}" for n, v in zip(names, levels, strict=True))
        for judge, temperature, *levels in zip(*(frame[c].iloc[first] for c in key), strict=True)
    ]
    return codes.texts_by_code(labels, places, frame.index)


def _plain_names(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Names that are printed, without what would move the cursor or begin another line."""
    for column in set(frame.columns).intersection(columns):
        names = [n for n in codes.codes_of(frame[column])[1] if isinstance(n, str)]
        plain = {n: p for n in names if (p := printable(n, one_line=True)) != n}
        if plain:
            frame = frame.assign(**{column: frame[column].replace(plain)})
    return frame


def parsed_frame(columns: pd.DataFrame, *, factors: tuple[str, ...] = ()) -> pd.DataFrame:
    """Fill in missing columns of a file, and label the conditions.

    Repetitions are numbered in the order of the rows where no column numbers them. Costs, tokens,
    and times that a file does not hold stay missing: they are never 0.
    """
    frame = columns.reset_index(drop=True)
    missing = {k: v for k, v in DEFAULTS.items() if k not in frame.columns}
    every: NDArray[np.int64] = np.zeros(len(frame), dtype=np.int64)
    texts = {v for v in missing.values() if isinstance(v, str)}
    constant = {v: codes.texts_by_code([v], every, frame.index) for v in texts}
    frame = frame.assign(**{k: constant.get(v, v) for k, v in missing.items()})
    frame = _plain_names(frame, ("judge", "condition", *factors))
    if "condition" not in frame.columns:
        frame = frame.assign(condition=condition_labels(frame, factors))
    if "replicate" not in frame.columns:
        key = (frame[c] for c in ("condition", "item_id", "order", "stage"))
        frame["replicate"] = codes.numbered_within(codes.row_codes(key, len(frame)))
    failed = frame["status"].eq("failed") & frame["transport"].eq("answered")
    frame["transport"] = frame["transport"].mask(failed, "failed")
    if "verdict_kind" not in frame.columns:
        frame["verdict_kind"] = kinds_by_value(frame)
    extra = [c for c in frame.columns if c not in PARSED_COLUMNS]
    return frame[[*PARSED_COLUMNS, *extra]]


_MOST_CHOICE = 100
_NO_GRADE = frozenset({"", "nan", "none", "null", "n/a", "[invalid]", "$error$", "error"})
_NUMERALS = frozenset("0123456789.+-eE")


def unparsed_fields(raw: str, why: str, *, finish_reason: str = "") -> dict[str, Any]:
    """The fields of a judgment without a verdict: refused, truncated or unparseable."""
    row = no_verdict(raw, finish_reason, shorten_text(why, 300))
    return {
        "status": row.status.value,
        "score": math.nan,
        "choice": "",
        "reason": row.reason or shorten_text(why, 300),
    }


def failed(why: str) -> dict[str, Any]:
    """The fields of a judgment whose call failed."""
    return {
        "status": Status.FAILED.value,
        "score": math.nan,
        "choice": "",
        "reason": shorten_text(why, 300) or "the call failed",
    }


def grade(
    value: object, *, raw: str = "", why: str = "", finish_reason: str = ""
) -> dict[str, Any]:
    """The fields of a judgment from its grade: a number is a score, a word or truth value a choice.

    Parameters
    ----------
    value : object
        As the log has it.
    raw : str
        The judge's reply, which distinguishes a refusal from an unparsable reply.
    why : str
        The tool's own reason where there is no grade.
    finish_reason : str

    Returns
    -------
    dict
        ``status``, ``score``, ``choice``, ``reason``.

    Examples
    --------
    >>> grade(7)["score"], grade("C")["choice"], grade(True)["choice"], grade("8")["score"]
    (7.0, 'C', 'yes', 8.0)
    >>> grade(float("nan"), raw="I'm sorry, I cannot judge this.")["status"]
    'refused'
    >>> grade(float("inf"))["status"]
    'unparseable'
    """
    score, choice = math.nan, ""
    if isinstance(value, bool):
        choice = "yes" if value else "no"
    elif isinstance(value, (int, float)):
        score = number(value)
    elif isinstance(value, str):
        word = value.strip()
        if word and set(word) <= _NUMERALS and not math.isnan(number(word)):
            score = number(word)
        elif word.lower() in _NO_GRADE:
            value = None
        elif len(word) <= _MOST_CHOICE and "\n" not in word:
            choice = shorten_text(word)
    if math.isnan(score) and not choice:
        reason = why or (
            "the log has no grade here" if value is None else f"no grade: {short(value)}"
        )
        return unparsed_fields(raw or text(value), reason, finish_reason=finish_reason)
    return {"status": Status.OK.value, "score": score, "choice": choice, "reason": ""}


def passes_and_failures(frame: pd.DataFrame) -> pd.DataFrame:
    """A log's grades of 0 and 1 as fail and pass: they are not points of a scale.

    A scorer is treated as a whole, over all judges: one other grade makes its numbers scores.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    DataFrame
        With a note that names what was taken so.
    """
    several = "factor_scorer" in frame
    scorers = frame["factor_scorer"] if several else pd.Series("", index=frame.index)
    score, choice = frame["score"].copy(), frame["choice"].copy()
    named: list[str] = []
    for scorer, rows in score.groupby(scorers, sort=False):
        read = rows.dropna()
        if read.empty or not read.isin([0, 1]).all() or (choice[rows.index] != "").any():
            continue
        choice[read.index] = read.map({1.0: "pass", 0.0: "fail"}).astype(object)
        score[read.index] = math.nan
        named.append(printable(str(scorer), one_line=True))
    if not named:
        return frame
    of = f" of {', '.join(named[:8])}" if several else ""
    out = frame.assign(score=score, choice=choice)
    out["verdict_kind"] = kinds_by_value(out)
    out.attrs = dict(frame.attrs)
    note = f"The grades{of} are 0 and 1 only: pass / fail, 1 = pass (--kind score: points)."
    out.attrs["notes"] = [*frame.attrs.get("notes", ()), Remark(note, "zero_one", len(named))]
    if score.isna().all():
        out.attrs["scale"] = None
    return out


_OF_ITEMS = frozenset(map(folded, ALIASES["verdict"]))
"""Names of columns that may be human verdicts where they are the same in all rows of an item."""


def understood_as(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    understanding: ColumnRoles,
    options: TableOptions,
) -> str:
    """What names an item, the judge and the repeats, and which columns are unused."""
    parts = [f"item = {' + '.join(understanding.item)}"]
    if "cluster" in names and codes.n_levels(frame["cluster"]) < codes.n_levels(frame["item_id"]):
        parts.append(f"cluster = {names['cluster']}")
    if "judge" not in names:
        parts.append(f"judge: {options.judge or 'not named (--judge NAME)'}")
    parts += [f"{r} = {names[r]}" for r in ("judge", "temperature", "order") if r in names]
    criterion = understanding.criterion
    parts += [f"criteria = {criterion}"] if criterion else []
    if factors := [f for f in understanding.factors if f != criterion]:
        parts.append(f"conditions also by {' + '.join(factors)}")
    key = (frame[c] for c in ("condition", "item_id", "order"))
    sizes = np.bincount(codes.row_codes(key, len(frame)))
    low, high = int(sizes.min()), int(sizes.max())
    counted = f"{low} to {high} repeats" if low < high else f"{low} repeat{'s' * (low != 1)}"
    by = f" ({names.get('replicate', 'numbered by row')})" if high > 1 else ""
    parts.append(counted + by)
    if "label" in frame and (frame["label"] != "").any():
        pair = score_pass_map(frame["label"], frame["score"])
        kind = " (pass / fail of the item, no points)" if pair else ""
        parts.append(f"{label_note(_labels_from(frame, names, options))}{kind}")
    else:
        parts += [
            f"did people say `{c}`? Then --map label={c}"
            for c, why in understanding.unused
            if why == UNVARYING and folded(c) in _OF_ITEMS
        ][:1]
    return "; ".join([*parts, *unused_columns(understanding)])


def _labels_from(frame: pd.DataFrame, names: Mapping[str, str], options: TableOptions) -> str:
    """Where human labels are from, and of how many people."""
    people = [str(c).removeprefix("label_") for c in frame.columns if str(c).startswith("label_")]
    raters = f"{len(people)} raters ({few_names(people)})"
    of = f" of {raters}" if len(people) > 1 else ""
    if options.human:
        return f"rows of {options.human}"
    if isinstance(options.labels, (str, Path)):
        return f"{Path(options.labels).name}{of}, joined by item"
    if "label" not in names and options.labels is None:
        return raters if people else "1 rater"
    return f"{names.get('label', 'joined by item')}{of}"


def systems_of_answers(
    table: pd.DataFrame, understanding: ColumnRoles, names: Mapping[str, str]
) -> list[str]:
    """The column that names the system where each answer has an id, and its question a column."""
    if "system" in names:
        return [names["system"]]
    whole = [c for c, why in understanding.unused if why == UNVARYING]
    named = [c for c in whole if folded(c) in SYSTEMS and len(table[c].unique()) > 1]
    alone = len(named) == 1 and not any(folded(c) in SYSTEMS for c in understanding.item)
    return named if alone and "cluster" in names else []


def parts_of_items(
    table: pd.DataFrame, understanding: ColumnRoles, names: Mapping[str, str]
) -> tuple[tuple[str, ...], str]:
    """The columns of an item that name its cluster, and the column that names its system."""
    systems = systems_of_answers(table, understanding, names)
    own = tuple(
        c for c in understanding.item
        if c not in systems and folded(c) not in PARTS | TRIALS | CRITERIA | {PLACE}
        and not names_judged_text(c)
    )  # fmt: skip
    systems = systems or [c for c in understanding.item if folded(c) in SYSTEMS]
    return own, systems[0] if len(systems) == 1 else ""


def unused_columns(understanding: ColumnRoles) -> list[str]:
    """The columns that the analysis does not use, as text."""
    still = [c for c, why in understanding.unused if why == UNVARYING]
    others = [f"{c}: {why}" for c, why in understanding.unused if c not in still]
    sentences = []
    if still:
        columns = "columns" if len(still) > 1 else "column"
        sentences.append(
            f"{len(still)} {columns} not used, constant within an item ({few_names(still)})"
        )
    if others:
        sentences.append(f"{len(others)} not used ({few_names(others)})")
    return sentences


def reasons_of(
    roles: Mapping[str, Iterable[str]],
    reasons: Mapping[str, str],
    given: TableOptions,
    derived: str,
) -> dict[str, str]:
    """Why each column has its role; what the user did not state was derived."""
    said = [*given.mapping.values(), *given.item, *given.factors, *given.explode]
    named = {*map(folded, (*said, *given.stated_columns))}
    found: dict[str, str] = {}
    for column in (c for own in roles.values() for c in own):
        stated = folded(column) in named
        why = "stated" if stated else reasons.get(column, "")
        if why == "stated" and not stated and not given.wide:
            of_people = column in roles.get("label", ())
            why = "place in the list" if column == PLACE else derived
            why = "human labels in the verdict's words" if of_people else why
        found |= {column: why} if why else {}
    return found


def few_names(names: list[str]) -> str:
    """The first eight names, none longer than forty characters."""
    return ", ".join(n[:40] for n in names[:8]) + (", ..." if len(names) > 8 else "")
