"""Estimates as a table: value, interval and null, grouped by what is estimated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from judgestats.reporting.formats import DASH, interval, is_missing, number, p_cell
from judgestats.reporting.runs import Run
from judgestats.reporting.tables import Column, Table
from judgestats.results import Estimate, Record, Results, ResultSet, estimand_of
from judgestats.results.numbers import bounds_of

__all__ = ["estimates_table", "said_once", "subject_of", "titled"]


def subject_of(record: Record) -> str:
    """What a result is about, in words: its stratum, its conditions, or its judge."""
    about = record.about
    return about.stratum or " and ".join(about.conditions) or about.judge


def titled(record: Record, run: Run) -> str:
    """A result's title, with the conditions that it names in brackets called as elsewhere."""
    title = record.title
    for label in record.about.conditions:
        title = title.replace(f"({label})", f"({run.called(label)})")
    return title


def estimates_table(
    records: Sequence[Record], *, results: Results, label: str, caption: str
) -> Table:
    """Estimates: value, interval, null reference; grouped by what they are, a row a condition."""
    rows: list[dict[str, Any]] = []
    for whole in records:
        members = results.members(whole) if isinstance(whole, ResultSet) else (whole,)
        for record in members:
            if isinstance(record, Estimate):
                rows.append(_row(record, whole))
    order = list(dict.fromkeys(row["group"] for row in rows))
    grouped = order != [_ALL] and len(order) < len(rows)
    times = Counter((row["group"], row["subject"]) for row in rows)
    for row in rows:
        alone = row["subject"] and times[row["group"], row["subject"]] == 1
        row["what"] = row["subject"] if grouped and alone else row["title"]
    if grouped:  # what holds for all conditions stands last
        order.sort(key=lambda name: name == _ALL)
        rows.sort(key=lambda row: order.index(row["group"]))
    columns = [
        Column(key="what", label="Condition" if grouped else "Result"),
        Column(key="term", label="Estimand"),
        Column(key="value", label="Estimate", align="right"),
        Column(key="ci", label="Interval", align="right"),
        Column(key="se", label="Standard error", align="right"),
        Column(key="null", label="Null mean", align="right"),
        Column(key="q95", label="Null, 95th pct.", align="right"),
        Column(key="p", label="p", format="p"),
        Column(key="n", label="Items", format="integer"),
    ]
    columns = [
        c for c in columns if not all(is_missing(row[c.key]) or row[c.key] == DASH for row in rows)
    ]
    if grouped and all(row["group"] == row["term"] for row in rows):
        columns = [c for c in columns if c.key != "term"]  # the group's name says it
    columns, note = said_once(columns, rows, ("term", "n"))
    if any(c.key == "q95" for c in columns):
        note += "Null: the same computation where nothing is to be found. "
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group" if grouped else "",
        caption=f"{caption}: estimates.",
        note=note.strip(),
        label=label,
    )


_ALL = "All conditions together"


def _row(record: Estimate, whole: Record) -> dict[str, Any]:
    entry = estimand_of(record.estimand)
    zero, null = not entry.bounded, record.null
    low, high = bounds_of(record.interval)
    alone = math.isnan(low) and not math.isnan(record.std_error)
    subject = subject_of(record)
    return {
        "group": entry.label if subject else _ALL,
        "subject": subject,
        "title": whole.title,
        "term": entry.label,
        "value": number(record.estimate, digits=3, leading_zero=zero),
        "ci": interval(low, high, digits=3, leading_zero=zero),
        # the standard error says how sure an estimate is that has no interval
        "se": number(record.std_error, digits=4) if alone else DASH,
        "null": number(null.mean, leading_zero=zero) if null else DASH,
        "q95": number(null.q95, leading_zero=zero) if null else DASH,
        "p": p_cell(null.p, bound=null.p <= null.p_floor) if null else math.nan,
        "n": record.sample.n_items if record.sample is not None else None,
    }


def said_once(
    columns: Sequence[Column], rows: Sequence[dict[str, Any]], keys: Sequence[str]
) -> tuple[list[Column], str]:
    """The columns without those that say the same in every row, and the note that says it once."""
    kept, note = list(columns), ""
    for key in keys:
        column = next((c for c in kept if c.key == key), None)
        values = {str(row[key]) for row in rows}
        if column is not None and len(values) == 1 and len(rows) > 1:
            kept.remove(column)
            note += f"{column.heading}: {values.pop()}. "
    return kept, note
