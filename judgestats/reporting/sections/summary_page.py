"""Summary page of a report, with its answers."""

from __future__ import annotations

import re
from typing import Any

from judgestats.reporting.display import Markdown, Showable
from judgestats.reporting.numbers import (
    NOTHING,
    Measured,
    Shown,
    address,
    column,
    label,
    words,
)
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.figures import answer_figure
from judgestats.reporting.sections.methods import warned
from judgestats.reporting.sections.verdicts import requirement_table, verdict_page
from judgestats.reporting.tables import Column, Table
from judgestats.results import Comparison, Estimate, Results, Test

_TESTS = {"shift": "shift", "spread": "spread", "verdicts": "flips"}
"""A row of drift's screen, and the test of it, by the beginning of its id."""
_HEADS = {"shift": "Mean moved", "spread": "GMD ratio", "verdicts": "Changed"}


def changes(results: Results, *, first: str, second: str, file: str = "") -> Table:
    """Shift of the mean, GMD ratio, verdicts changed; each with the p of its test.

    Parameters
    ----------
    results : Results
        Of `drift`.
    first, second : str
        What the runs are called.
    file : str
        The name of the results file, where several stand on one page.
    """
    names = list(dict.fromkeys(name for row in results.rows for name in row.cells))
    rows: list[dict[str, Any]] = [{"condition": name} for name in names]
    columns = [Column(key="condition", label="Condition")]
    asked = [row for row in results.rows if row.key in _TESTS]

    def placed(shown: Shown) -> Shown:
        return shown.within(file) if file else shown

    for one in asked:
        numbers = [number_at(results, one.cells.get(name, "")) for name in names]
        for row, text in zip(rows, column(numbers), strict=True):
            row[one.key] = placed(text)
            row[f"{one.key}_p"] = placed(_p(results, f"{_TESTS[one.key]}.{row['condition']}"))
        columns += [
            Column(key=one.key, label=_HEADS[one.key], align="right"),
            Column(key=f"{one.key}_p", label="p, adjusted", align="right"),
        ]
    undefined = any(str(row.get("spread", "")) == str(NOTHING) for row in rows)
    notes = {
        "shift": f"Mean moved: {second} minus {first}, in points.",
        "spread": f"GMD ratio: mean difference of two repeats of an item in {second} over that in "
        f"{first}; its p is that of the test of spread.",
        "verdicts": "Changed: verdicts, or scores, beyond repetition.",
    }
    slug = re.sub(r"[^a-z0-9]+", "-", second.lower()).strip("-")
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=" ".join(
            [
                f"{second[:1].upper()}{second[1:]} against {first}, paired by item.",
                *(notes[one.key] for one in asked),
                "p-values are adjusted in one family.",
            ]
        ),
        note="– undefined: repeated scores are all equal in one of the runs." if undefined else "",
        label=f"tbl-changes-{slug}",
    )


def number_at(results: Results, record_id: str) -> Measured:
    """The number of a record; nothing where there is none."""
    record = results[record_id] if record_id else None
    return Measured.of(record) if isinstance(record, (Estimate, Comparison)) else Measured()


def _p(results: Results, test: str) -> Shown:
    if test not in results:
        return NOTHING
    bound = results.get(test, Test).p_bound
    return label(results, address(test, "p_adjusted"), p=True, bound=bound)


def page_one(run: Run) -> list[Showable]:
    """Outcome, facts, requirements or changes, figure, and care."""
    records, figure = run.records, answer_figure(run)
    if records.verdicts:
        return [*verdict_page(run, figure), warned(run) or ""]
    found = words(records, "#finding")
    parts: list[Showable] = [Markdown(f"::: {{.answer}}\n\n{found}\n\n:::")] if found else []
    parts += [warned(run), figure]
    if records.kind == "drift":  # one verdict a change: its size beside the p of its test
        parts.append(changes(records, first="the first run", second="the second run"))
    return parts


def above(run: Run) -> set[str]:
    """The addresses of the numbers that page one's table shows, and those with intervals as texts.

    An analysis may keep one number in two records: for a condition, and as a result.
    """
    if not run.records.verdicts:
        return set()
    cells = [cell for row in requirement_table(run).rows for cell in row.values()]
    shown = [cell for cell in cells if isinstance(cell, Shown)]
    texts = {str(cell) for cell in shown if "[" in str(cell)}
    records = {r.record for v in run.records.verdicts for r in v.requirements if r.record}
    records |= {f"condition.sem.{c.label}" for c in run.records.conditions}
    texts |= {address(record, "estimate") for record in records}
    return texts | {where for cell in shown for _, where in cell.parts if where}
