"""Results as tables: tests, comparisons of pairs, estimates, and rows of any other kind."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from judgestats.reporting.formats import (
    DASH,
    UNKNOWN,
    WHY_UNKNOWN,
    integer,
    interval,
    number,
    positive_interval,
)
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.estimate_tables import (
    estimates_table,
    said_once,
    with_condition,
)
from judgestats.reporting.tables import Column, Table
from judgestats.results.estimands import name_of, without_zero
from judgestats.stats.inference.result import format_number

__all__ = [
    "comparisons_table",
    "estimates_table",
    "results_tables",
    "rows_tables",
    "shape_of",
    "tests_table",
    "with_condition",
]

_SHAPES = ("comparisons", "tests", "estimates", "rows")


def shape_of(result: dict[str, Any]) -> str:
    """``comparisons``, ``tests``, ``estimates`` or ``rows``: which table a result belongs to."""
    rows = result.get("tidy") or [{}]
    if "contrast" in rows[0]:
        return "comparisons"
    glance = (result.get("glance") or [{}])[0]
    if "statistic" in glance or {"statistic", "p_value"} <= set(rows[0]):
        return "tests"  # a printed table may have a column of that name too
    return "estimates" if "estimate" in rows[0] else "rows"


def results_tables(
    results: Sequence[dict[str, Any]], *, run: Run, label: str, caption: str
) -> list[Table]:
    """Results as tables, one for each shape: pairs, tests, estimates."""
    made = {
        "tests": tests_table,
        "comparisons": comparisons_table,
        "estimates": estimates_table,
    }
    names = tuple(str(c) for c in run.conditions.get("condition", ()))
    out = []
    base = caption.rstrip("?. ")
    for shape in _SHAPES:
        chosen = [r for r in results if shape_of(r) == shape]
        if chosen and shape == "rows":
            out += rows_tables(chosen, label=f"tbl-{label}-{shape}", caption=base)
        elif chosen:
            named = [with_condition(r, names) for r in chosen]
            out.append(made[shape](named, label=f"tbl-{label}-{shape}", caption=base))
    return out


def tests_table(results: Sequence[dict[str, Any]], *, label: str, caption: str) -> Table:
    """Tests: statistic with df, p, adjusted p, effect with interval.

    A test that a family repeats with its adjusted p is shown once. What is the same in all rows
    (the test, the effect, the number of items) is said once, under the table.
    """
    symbols = {v: k for r in results for k, v in _printed(str(r.get("print", "")))}
    families = sum(len(r.get("glance") or []) > 1 for r in results)
    rows: list[dict[str, Any]] = []
    for result in results:
        lines = result.get("glance") or []
        for line in lines:
            title = str(result.get("title", ""))
            term = str(line.get("term", title)) if len(lines) > 1 else title
            # families of the same members (a judge at each temperature) are told apart
            told = f"{title}: {term}" if families > 1 and term != title else term
            rows.append(
                {
                    "what": told,
                    "test": str(line.get("method") or line.get("test") or ""),
                    "statistic": _statistic(line, symbols),
                    "p": number_of(line.get("p_value")),
                    "p_adjusted": number_of(line.get("p_adjusted")),
                    "effect": name_of(str(line.get("effect") or "")),
                    "value": _effect(line),
                    "ci": interval(
                        number_of(line.get("conf_low")),
                        number_of(line.get("conf_high")),
                        leading_zero=not without_zero(str(line.get("effect") or "")),
                    ),
                    "n": integer(number_of(line.get("n"))),
                    "key": line.get("statistic"),
                }
            )
    adjusted = {row["key"] for row in rows if not math.isnan(row["p_adjusted"])}
    rows = [r for r in rows if not math.isnan(r["p_adjusted"]) or r["key"] not in adjusted]
    columns = [
        Column(key="what", label="Result"),
        Column(key="test", label="Test"),
        Column(key="statistic", label="Statistic", align="right"),
        Column(key="p", label="p", format="p"),
        Column(key="p_adjusted", label="p, adjusted", format="p"),
        Column(key="effect", label="Effect"),
        Column(key="value", label="Value", align="right"),
        Column(key="ci", label="Interval", align="right"),
        Column(key="n", label="Items", align="right"),
    ]
    if not adjusted:
        columns = [c for c in columns if c.key != "p_adjusted"]
    if all(row["value"] == DASH for row in rows):
        columns = [c for c in columns if c.key not in {"effect", "value", "ci"}]
    note = _without_common_start(rows)
    columns, said = said_once(columns, rows, ("test", "effect", "n"))
    note += said
    if any(0 < row["p"] <= 0.001 and "permut" in _all_text(results) for row in rows):
        note += _SMALLEST
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=f"{caption}: tests.",
        note=note.strip(),
        label=label,
    )


_SMALLEST = (
    "A p-value from permutations cannot be smaller than 1 / (their number + 1): with 999 of them "
    "the smallest is .001. "
)


def _all_text(results: Sequence[dict[str, Any]]) -> str:
    return " ".join(str(r.get("text", "")) + str(r.get("print", "")) for r in results).lower()


def _effect(line: dict[str, Any]) -> str:
    name = str(line.get("effect") or "")
    return number(number_of(line.get("estimate")), leading_zero=not without_zero(name))


def _without_common_start(rows: list[dict[str, Any]]) -> str:
    """Shorten ``Trend, judge a`` and ``Trend, judge b`` to the judges; the start as a note."""
    starts = {row["what"].rpartition(", ")[0] for row in rows}
    if len(rows) < 2 or len(starts) != 1 or not (start := starts.pop()):
        return ""
    for row in rows:
        row["what"] = row["what"].rpartition(", ")[2]
    return f"{start}. "


_PRINTED = re.compile(r"^(\S[^=\n]{0,30}?) = ([-+0-9.e]+)(?:,|$)", re.MULTILINE)


def _printed(text: str) -> list[tuple[str, str]]:
    """The statistic's symbol and its printed value, out of an R-style print."""
    found = _PRINTED.search(text)
    return [(found.group(1), found.group(2))] if found else []


def _statistic(line: dict[str, Any], symbols: dict[str, str]) -> str:
    """``F(4, 124) = 20.72``; the symbol is found by the value it was printed with."""
    value = number_of(line.get("statistic"))
    if math.isnan(value):
        return DASH
    name = symbols.get(format_number(value, digits=5), "")
    name = "χ²" if name.lower().endswith(("chi-squared", "x-squared")) else name
    inside = _df(line)
    shown = f"{name}({inside})" if name and inside else name
    # counts and sums of ranks are whole or halves: no decimals that say nothing
    whole = not inside and name != "χ²" and value.is_integer()
    digits = 0 if whole else 2
    text = number(value, digits=digits, leading_zero=name not in {"rho", "tau", "r"})
    return f"{shown} = {text}" if shown else text


def comparisons_table(results: Sequence[dict[str, Any]], *, label: str, caption: str) -> Table:
    """Pairs: estimate with interval, statistic, p before and after adjustment."""
    rows: list[dict[str, Any]] = []
    reasons: dict[str, None] = {}
    names: dict[str, None] = {}
    methods: dict[str, None] = {}
    for result in results:
        for line in result.get("tidy") or []:
            if line.get("reason"):
                reasons.setdefault(str(line["reason"]))
            names.setdefault(str(line.get("estimate_name", "")))
            methods.setdefault(str(line.get("method", "")))
            rows.append(
                {
                    "group": str(result.get("title", "")),
                    "method": str(line.get("method", "")),
                    "pair": f"{line.get('a', '')} against {line.get('b', '')}",
                    "estimate": number_of(line.get("estimate")),
                    "ci": _pair_interval(line),
                    "statistic": number_of(line.get("statistic")),
                    "p": number_of(line.get("p_value")),
                    "p_adjusted": number_of(line.get("p_adjusted")),
                }
            )
    why = f" Undefined (–): {'; '.join(reasons)}." if reasons else ""
    how = "; ".join(m for m in methods if m)
    unknown = f" {WHY_UNKNOWN}" if any(UNKNOWN in row["ci"] for row in rows) else ""
    several = len(methods) > 1
    for row in rows:
        row["group"] = f"{row['group']}: {row['method']}" if several else row["group"]
    columns = [
        Column(key="pair", label="Pair"),
        Column(key="estimate", label="Estimate", format="number:3"),
        Column(key="ci", label="Interval", align="right"),
        Column(key="statistic", label="Statistic", format="number:2"),
        Column(key="p", label="p", format="p"),
        Column(key="p_adjusted", label="p, adjusted", format="p"),
    ]
    if all(row["ci"] == DASH for row in rows):
        columns = [c for c in columns if c.key != "ci"]
    adjusts = {str(r.get("adjust", "")) for result in results for r in result.get("tidy") or []}
    if adjusts <= {"", "none"}:
        columns = [c for c in columns if c.key != "p_adjusted"]
    elif all(row["p"] == row["p_adjusted"] or math.isnan(row["p"]) for row in rows):
        columns = [c for c in columns if c.key != "p"]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group",
        caption=f"{caption}: pairs.",
        note=f"Estimate: {'; '.join(n for n in names if n)}. Method: {how}.{why}{unknown}",
        label=label,
    )


def _pair_interval(line: dict[str, Any]) -> str:
    """A comparison's interval; ratios may have an end that is not determined."""
    low, high = number_of(line.get("conf_low")), number_of(line.get("conf_high"))
    if "ratio" in str(line.get("estimate_name", "")).lower():
        return positive_interval(low, high, estimate=number_of(line.get("estimate")))
    return interval(low, high)


_MOST_COLUMNS = 9


def rows_tables(results: Sequence[dict[str, Any]], *, label: str, caption: str) -> list[Table]:
    """Rows of any other kind, as they are: one table for each set of columns, at most nine.

    Results with the same columns (one a judge, say) stand in one table, each under its title.
    """
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for result in results:
        rows = result.get("tidy") or []
        if rows:
            alike.setdefault(tuple(map(str, rows[0])), []).append(result)
    out = []
    for number_, group in enumerate(alike.values(), start=1):
        frame = pd.DataFrame(
            [{**row, _TITLE: str(r.get("title", ""))} for r in group for row in r["tidy"]]
        )
        kept = [c for c in frame.columns if c != _TITLE and not frame[c].isna().all()]
        kept = kept[:_MOST_COLUMNS]
        several = len(group) > 1
        titles = "; ".join(dict.fromkeys(str(r.get("title", "")) for r in group))
        said = "" if titles.lower().startswith(caption.lower()) else f"{caption}: "
        out.append(
            Table.from_frame(
                frame[[*kept, *([_TITLE] if several else [])]],
                caption=f"{said}{titles}.",
                label=label + (f"-{number_}" if len(alike) > 1 else ""),
                group=_TITLE if several else "",
            )
        )
    return out


_TITLE = "result's title"
"""Of the column that groups rows: no result has one of this name."""


def _df(line: dict[str, Any]) -> str:
    values = [number_of(line.get(k)) for k in ("df", "df_residual")]
    shown = [
        number(v, digits=0 if float(v).is_integer() else 1) for v in values if not math.isnan(v)
    ]
    return ", ".join(shown)
