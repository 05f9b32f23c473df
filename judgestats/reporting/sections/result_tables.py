"""Results as tables: tests, comparisons of pairs, estimates, and rows of any other kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd

from judgestats.reporting.formats import (
    DASH,
    UNKNOWN,
    WHY_UNKNOWN,
    integer,
    interval,
    number,
    p_cell,
    positive_interval,
)
from judgestats.reporting.sections.estimate_tables import estimates_table, said_once, subject_of
from judgestats.reporting.tables import Column, Table
from judgestats.results import (
    Comparison,
    Estimate,
    Record,
    Results,
    ResultSet,
    Test,
    estimand_of,
)
from judgestats.results import Table as TableRecord
from judgestats.results.estimands import name_of
from judgestats.results.numbers import bounds_of
from judgestats.results.wording import hangs_on, statistic_text

__all__ = [
    "comparisons_table",
    "results_tables",
    "rows_tables",
    "shape_of",
    "tests_table",
]

Shape = Literal["tests", "comparisons", "estimates", "rows"]


def shape_of(record: Record, results: Results) -> Shape:
    """Which table a result belongs to; a set goes where its members go."""
    if isinstance(record, ResultSet):
        members = results.members(record)
        return shape_of(members[0], results) if members else "estimates"
    if isinstance(record, Test):
        return "tests"
    if isinstance(record, Comparison):
        return "comparisons"
    return "estimates" if isinstance(record, Estimate) else "rows"


def results_tables(
    records: Sequence[Record], *, results: Results, label: str, caption: str
) -> list[Table]:
    """Results as tables, one for each shape: tests, pairs, estimates, rows."""
    base = caption.rstrip("?. ")
    shapes = {r.id: shape_of(r, results) for r in records}
    tests = [r for r in records if isinstance(r, Test)]
    sets = [r for r in records if shapes[r.id] == "comparisons"]
    estimates = [r for r in records if shapes[r.id] == "estimates"]
    rows = [r for r in records if isinstance(r, TableRecord)]
    out: list[Table] = []
    if tests:
        out.append(tests_table(tests, results=results, label=f"tbl-{label}-tests", caption=base))
    if sets:
        out.append(
            comparisons_table(sets, results=results, label=f"tbl-{label}-comparisons", caption=base)
        )
    if estimates:
        out.append(
            estimates_table(
                estimates, results=results, label=f"tbl-{label}-estimates", caption=base
            )
        )
    return out + rows_tables(rows, label=f"tbl-{label}-rows", caption=base)


def tests_table(tests: Sequence[Test], *, results: Results, label: str, caption: str) -> Table:
    """Tests: each with its own statistic, df, p, adjusted p, effect with interval.

    What is the same in all rows (the test, the effect, the number of items) is said once, under
    the table; so is a common title, where each row has a subject of its own.
    """
    subjects = [subject_of(t) for t in tests]
    own = len(set(subjects)) == len(tests) > 1 and all(subjects)
    alike = own and len({(t.hypothesis, t.test, t.method) for t in tests}) == 1
    rows: list[dict[str, Any]] = []
    for test, subject in zip(tests, subjects, strict=True):
        effects = results.effects(test)
        effect = effects[0] if effects else None
        bounded = effect is not None and estimand_of(effect.estimand).bounded
        bounds = bounds_of(effect.interval if effect else None)
        n = test.sample.n_items if test.sample is not None else None
        s = test.statistic
        has_value = not math.isnan(s.value)
        rows.append(
            {
                "what": subject if alike else test.title,
                "test": test.method,
                "statistic": statistic_text(s.symbol, s.value, s.df) if has_value else DASH,
                "p": p_cell(test.p, bound=test.p <= test.p_floor),
                "p_adjusted": p_cell(test.p_adjusted, bound=test.p_bound),
                "effect": name_of(effect.estimand) if effect else "",
                "value": number(effect.estimate, leading_zero=not bounded) if effect else DASH,
                "ci": interval(*bounds, leading_zero=not bounded),
                "n": integer(math.nan if n is None else n),
            }
        )
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
    if all(math.isnan(row["p_adjusted"]) for row in rows):
        columns = [c for c in columns if c.key != "p_adjusted"]
    if all(row["value"] == DASH for row in rows):
        columns = [c for c in columns if c.key not in {"effect", "value", "ci"}]
    columns, note = said_once(columns, rows, ("test", "effect", "n"))
    if any(test.p <= test.p_floor for test in tests):
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


def comparisons_table(
    sets: Sequence[Record], *, results: Results, label: str, caption: str
) -> Table:
    """Pairs: estimate with interval, statistic, p before and after adjustment."""
    pairs = [
        (whole, row)
        for whole in sets
        for row in (results.members(whole) if isinstance(whole, ResultSet) else (whole,))
        if isinstance(row, Comparison)
    ]
    methods = list(dict.fromkeys(row.method for _, row in pairs))
    rows: list[dict[str, Any]] = [
        {
            "group": f"{whole.title}: {row.method}" if len(methods) > 1 else whole.title,
            "pair": f"{row.a} against {row.b}",
            "estimate": row.estimate,
            "ci": _pair_interval(row),
            "hangs": hangs_on(row.details).strip(" ()"),
            "statistic": row.statistic.value,
            "p": p_cell(row.p, bound=row.p <= row.p_floor),
            "p_adjusted": p_cell(row.p_adjusted, bound=row.p_bound),
        }
        for whole, row in pairs
    ]
    reasons = list(dict.fromkeys(row.reason for _, row in pairs if row.reason))
    names = list(dict.fromkeys(name_of(row.estimand) for _, row in pairs))
    why = f" Undefined (–): {'; '.join(reasons)}." if reasons else ""
    unknown = f" {WHY_UNKNOWN}" if any(UNKNOWN in row["ci"] for row in rows) else ""
    columns = [
        Column(key="pair", label="Pair"),
        Column(key="estimate", label="Estimate", format="number:3"),
        Column(key="ci", label="Interval", align="right"),
        Column(key="hangs", label="Hangs on"),
        Column(key="statistic", label="Statistic", format="number:2"),
        Column(key="p", label="p", format="p"),
        Column(key="p_adjusted", label="p, adjusted", format="p"),
    ]
    if all(row["ci"] == DASH for row in rows):
        columns = [c for c in columns if c.key != "ci"]
    if not any(row["hangs"] for row in rows):
        columns = [c for c in columns if c.key != "hangs"]
    if not any(row.family for _, row in pairs):
        columns = [c for c in columns if c.key != "p_adjusted"]
    elif all(row["p"] == row["p_adjusted"] or math.isnan(row["p"]) for row in rows):
        columns = [c for c in columns if c.key != "p"]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group",
        caption=f"{caption}: pairs.",
        note=f"Estimate: {'; '.join(names)}. Method: {'; '.join(methods)}.{why}{unknown}",
        label=label,
    )


def _pair_interval(row: Comparison) -> str:
    """A comparison's interval; ratios may have an end that is not determined."""
    low, high = bounds_of(row.interval)
    if estimand_of(row.estimand).is_ratio:
        return positive_interval(low, high, estimate=row.estimate)
    return interval(low, high)


_MOST_COLUMNS = 9


def rows_tables(records: Sequence[TableRecord], *, label: str, caption: str) -> list[Table]:
    """Rows of any other kind, as they are: one table for each set of columns, at most nine.

    Results with the same columns (one a judge, say) stand in one table, each under its title.
    """
    alike: dict[tuple[str, ...], list[TableRecord]] = {}
    for record in records:
        if record.rows:
            alike.setdefault(tuple(c.key for c in record.columns), []).append(record)
    out = []
    for number_, (keys, group) in enumerate(alike.items(), start=1):
        frame = pd.DataFrame(
            [dict(zip(keys, row, strict=True)) | {_TITLE: r.title} for r in group for row in r.rows]
        )
        frame = _with_intervals(frame)
        kept = [c for c in frame.columns if c != _TITLE and not frame[c].isna().all()]
        kept = kept[:_MOST_COLUMNS]
        several = len(group) > 1
        titles = group[0].title if len(group) == 1 else ""  # of several each heads its rows
        head = "" if titles.lower().startswith(caption.lower()) else f"{caption}: "
        out.append(
            Table.from_frame(
                frame[[*kept, *([_TITLE] if several else [])]],
                caption=f"{head}{titles}." if titles else f"{caption}.",
                label=label + (f"-{number_}" if len(alike) > 1 else ""),
                group=_TITLE if several else "",
            )
        )
    return out


def _with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with an interval in place of its ends, its level and the standard error."""
    ends = ("conf_low", "conf_high")
    if not {*ends} <= {*frame.columns}:
        return frame
    at = list(frame.columns).index(ends[0])
    texts = [interval(low, high) for low, high in zip(*(frame[c] for c in ends), strict=True)]
    out = frame.drop(
        columns=[*ends, *({"conf_level", "conf_method", "std_error"} & {*frame.columns})]
    )
    out.insert(min(at, len(out.columns)), "interval", texts)
    return out


_TITLE = "result's title"
"""Of the column that groups rows: no result has one of this name."""
