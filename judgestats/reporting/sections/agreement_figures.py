"""Figures of agreement with people: every condition beside what people score themselves."""

from __future__ import annotations

import math

from judgestats.reporting import plots
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import short_condition
from judgestats.reporting.show import Captioned
from judgestats.reporting.tables import Column, Table
from judgestats.results import Estimate
from judgestats.results.numbers import bounds_of

__all__ = ["alignment", "costs"]

_MOST_ROWS = 44


def alignment(run: Run) -> Captioned | None:
    """Agreement with people by condition, baselines last, the people's own as a line."""
    if "alignment" not in run.conditions:
        return None
    rows = [
        plots.EffectRow(
            label=short_condition(row, run),
            estimate=number_of(row.get("alignment")),
            low=number_of(row.get("alignment_low")),
            high=number_of(row.get("alignment_high")),
            group=str(row.get("judge", "")) if run.by_judge else "",
        )
        for row in run.described
    ][:_MOST_ROWS]
    people = math.nan
    for record in run.named("alignment"):
        kind = record.id.partition(".")[2]
        if not isinstance(record, Estimate):
            continue
        if kind == "people":
            people = record.estimate
        elif kind in {"always_tie", "random"}:
            low, high = bounds_of(record.interval)
            rows.append(
                plots.EffectRow(
                    label=kind.replace("_", " "),
                    estimate=record.estimate,
                    low=low,
                    high=high,
                    group="Baselines" if run.by_judge else "",
                )
            )
    if not any(math.isfinite(r.estimate) for r in rows):
        return None
    has_ceiling = math.isfinite(people)
    line = (
        f"The line is what people score against one another ({people:.3f})."
        if has_ceiling
        else "The line is .5."
    )
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows),
            x_label="Agreement with people (1 / .5 / 0)",
            reference=people if has_ceiling else 0.5,
            level=run.level,
        ),
        label="fig-alignment",
        caption=f"Agreement with people, with intervals over questions. {line}",
    )


def costs(run: Run) -> Table | None:
    """What a score or verdict is made of, what that costs, and what it gives."""
    table = run.conditions
    asked = "k" if "k" in table else "judgments_per_pair"
    if asked not in table or "alignment" not in table:
        return None
    several = run.by_judge
    unit = "Judgments an answer" if asked == "k" else "Judgments a pair"
    rows = [
        {
            "group": str(row.get("judge", "")) if several else "",
            "condition": short_condition(row, run),
            "asked": number_of(row.get(asked)),
            "cost": number_of(row.get("cost_usd" if asked == "k" else "cost_per_pair")),
            "reliability": number_of(row.get("reliability")),
            "ties": number_of(row.get("tie_share")),
            "wrong": number_of(row.get("same_and_wrong")),
            "alignment": number_of(row.get("alignment")),
        }
        for row in run.described
    ]
    columns = [
        Column(key="condition", label="Condition"),
        Column(key="asked", label=unit, format="number:2"),
        Column(key="cost", label="Cost", format="money"),
        Column(key="reliability", label="Reliability", format="coefficient:3"),
        Column(key="ties", label="Ties", format="percent:0"),
        Column(key="wrong", label="Same every time, and wrong", format="percent:0"),
        Column(key="alignment", label="Agreement with people", format="coefficient:3"),
    ]
    columns = [
        c for c in columns
        if c.key == "condition" or any(math.isfinite(float(str(r[c.key]))) for r in rows)
    ]  # fmt: skip
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group" if several else "",
        caption=(
            "What each condition asks for, what that costs ("
            + ("all answers" if asked == "k" else "a pair")
            + "), and what it gives."
        ),
        label="tbl-costs",
    )
