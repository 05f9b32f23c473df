"""Estimates as a table: value, interval and null, grouped by what is estimated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from judgestats.reporting.formats import DASH, interval, is_missing, number
from judgestats.reporting.runs import number_of
from judgestats.reporting.tables import Column, Table
from judgestats.results.estimands import name_of, without_zero

__all__ = ["estimates_table", "said_once", "with_condition"]


def estimates_table(results: Sequence[dict[str, Any]], *, label: str, caption: str) -> Table:
    """Estimates: value, interval, null reference; grouped where titles name a condition."""
    rows: list[dict[str, Any]] = []
    for result in results:
        condition = str(result.get("condition", ""))
        title = str(result.get("what") or result.get("title", ""))
        for line in result.get("tidy") or []:
            rows.append(
                {
                    "group": title if condition else _ALL,
                    "what": condition or title,
                    "title": str(result.get("title", "")),
                    "term": name_of(str(line.get("term", ""))),
                    "value": _bounded(line, "estimate"),
                    "ci": interval(
                        number_of(line.get("conf_low")),
                        number_of(line.get("conf_high")),
                        digits=3,
                        leading_zero=not without_zero(str(line.get("term", ""))),
                    ),
                    "se": _error(line),
                    "null": _bounded(line, "null_mean", digits=2),
                    "q95": _bounded(line, "null_q95", digits=2),
                    "p": number_of(line.get("p_value")),
                    "n": line.get("n"),
                }
            )
    order = list(dict.fromkeys(row["group"] for row in rows))
    grouped = order != [_ALL] and len(order) < len(rows)
    if not grouped:
        for row in rows:
            row["what"] = row["title"]
    if grouped:  # what holds for all conditions stands last
        order.sort(key=lambda name: name == _ALL)
    if grouped:
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
    if grouped and all(len({r["term"] for r in rows if r["group"] == g}) == 1 for g in order):
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


def _error(line: dict[str, Any]) -> str:
    """The standard error of an estimate that has no interval to say it."""
    if not math.isnan(number_of(line.get("conf_low"))):
        return DASH
    error = number_of(line.get("std_error"))
    return DASH if math.isnan(error) else number(error, digits=4)


def _bounded(line: dict[str, Any], key: str, *, digits: int = 3) -> str:
    """An estimate, or its null, without a leading zero where it cannot exceed 1."""
    bounded = without_zero(str(line.get("term", "")))
    return number(number_of(line.get(key)), digits=digits, leading_zero=not bounded)


def with_condition(result: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A result with what its title says apart from the condition that the title ends with."""
    title = str(result.get("title", "")).rstrip(")")
    pairs = [f"{a} and {b}" for a in names for b in names if a != b]
    for name in sorted([*names, *pairs], key=len, reverse=True):
        if title.endswith(name):
            what = title.removesuffix(name).rstrip(" (,:")
            return result | {"what": what, "condition": name} if what else result
    return result


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
