"""Figures of agreement, calibration, and nulls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from judgestats.reporting import plots
from judgestats.reporting.display import Captioned, Showable
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.comparison_figures import effect_of
from judgestats.reporting.sections.data import (
    coefficients_of,
    condition_table,
    full_condition,
    short_condition,
)
from judgestats.reporting.sections.measures import measured
from judgestats.reporting.sections.result_tables import subject_of
from judgestats.reporting.tables import Column, Table, filled
from judgestats.results import CONDITIONS, Estimate, quantity_of
from judgestats.results import Table as ResultsTable
from judgestats.results.records import rows_of_table

_MOST_ROWS = 44


def alignment(run: Run) -> Captioned | None:
    """Agreement with people by condition, baselines last, the people's own as a line."""
    if "alignment" not in run.conditions:
        return None
    rows = [
        _effect_in(
            row, "alignment", short_condition(row, run),
            str(row.get("judge", "")) if run.by_judge else "",
        )
        for row in run.described
    ][:_MOST_ROWS]  # fmt: skip
    people = math.nan
    for record in run.named("alignment"):
        kind = record.id.partition(".")[2]
        if not isinstance(record, Estimate):
            continue
        if kind == "people":
            people = record.estimate
        elif kind in {"always_tie", "random"}:
            name = kind.replace("_", " ")
            rows.append(effect_of(replace(record, null=None), name, "Baselines" * run.by_judge))
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


def _effect_in(
    row: Mapping[str, Any], key: str, label: str, group: str = "", *, null: bool = False
) -> plots.EffectRow:
    """A column of the table of conditions as a row of a figure."""
    estimate, low, high, mean, q95 = (
        number_of(row.get(f"{key}{end}"))
        for end in ("", "_low", "_high", "_null_mean", "_null_q95")
    )
    plain = plots.EffectRow(label=label, estimate=estimate, low=low, high=high, group=group)
    return replace(plain, null_mean=mean, null_q95=q95) if null else plain


def costs(run: Run) -> Table | None:
    """What a score or verdict is made of, what that costs, and what it gives."""
    table = run.conditions
    asked = "k" if "k" in table else "judgments_per_pair"
    if asked not in table or "alignment" not in table:
        return None
    unit = "Judgments an answer" if asked == "k" else "Judgments a pair"
    cost = "cost_usd" if asked == "k" else "cost_per_pair"
    columns = [
        Column(key=asked, label=unit, format="number:2"),
        Column(key=cost, label="Cost", format="money"),
        Column(key="reliability", label="Reliability", format="coefficient:3"),
        Column(key="tie_share", label="Ties", format="percent:0"),
        Column(key="same_and_wrong", label="Same every time, and wrong", format="percent:0"),
        Column(key="alignment", label="Agreement with people", format="coefficient:3"),
    ]
    return condition_table(
        run,
        filled(columns, run.described),
        run.described,
        caption=(
            "What each condition asks for, what that costs ("
            + ("all answers" if asked == "k" else "a pair")
            + "), and what it gives."
        ),
        label="tbl-costs",
    )


_MOST = 6


def confidences(run: Run) -> list[Showable]:
    """How often each judge was right by its stated confidence, and the calibration error in words.

    Parameters
    ----------
    run : Run
        Its tables ``people.reliability_diagram.CONDITION`` hold the bins.
    """
    diagrams = [
        r
        for r in run.records.select(ResultsTable)
        if r.id.startswith("people.reliability_diagram.")
    ]
    curves = tuple(_curve(r) for r in diagrams[:_MOST] if r.rows)
    if not curves:
        return []
    text = " ".join(f"{c.name}: {r.text}" for c, r in zip(curves, diagrams, strict=False))
    return [
        Captioned(
            figure=plots.Curves(
                panels=(
                    plots.CurvePanel(y_label="Share that was right", curves=curves, diagonal=True),
                ),
                x_label="Stated confidence",
            ),
            label="fig-confidences",
            caption="Share that was right by stated confidence, in bins with intervals; on the "
            "dashed line a confidence is the chance of being right.",
        ),
        text,
    ]


def _curve(record: ResultsTable) -> plots.Curve:
    return plots.Curve(
        name=", ".join(record.about.conditions),
        points=tuple(
            plots.Point(
                x=float(row["confidence"]), value=float(row["share"]),
                low=float(row["conf_low"]), high=float(row["conf_high"]),
            )
            for row in rows_of_table(record)
        ),
    )  # fmt: skip


_NULL_FIGURE_MOST_ROWS = 36


def null_strip(run: Run) -> Captioned | None:
    """Coefficients beside their null: ICC by condition, or all that carry a null reference."""
    table = run.conditions
    shuffled = (
        "every replication's judgments are shuffled over items, so that the item cannot matter."
    )
    kind = "reliability" if "reliability_null_q95" in table else "icc1"
    if f"{kind}_null_q95" in table:
        rows = [
            _effect_in(r, kind, full_condition(r, run), null=True)
            for r in run.described
            if math.isfinite(number_of(r.get(kind)))
        ]
        what, name, also = (
            ("Reliability of one judgment", "ICC(1,1)", "")
            if kind == "icc1"
            else ("Reliability", "Reliability", " So are those behind every mean, median and mode.")
        )
    else:
        rows = _null_rows(run)
        what, name, also = "Coefficients", "Coefficient", ""
        shuffled = _null_description(run)
    if not rows:
        return None
    if len(rows) > _NULL_FIGURE_MOST_ROWS:
        also += (
            f" The first {_NULL_FIGURE_MOST_ROWS} of {len(rows)} are drawn; the tables have all."
        )
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows[:_NULL_FIGURE_MOST_ROWS]),
            x_label=name,
            reference=math.nan,
            level=run.level,
        ),
        label="fig-null",
        caption=(
            f"{what} beside what the same computation yields when there is nothing to find: "
            f"{shuffled}{also}"
        ),
    )


def _with_null(run: Run) -> list[Estimate]:
    """The estimates that carry a null reference; of primary ones where some do.

    The tables hold the nulls of all others, for which a page has no room.
    """
    with_null = [
        record for record in run.records.select(Estimate)
        if record.null is not None and not math.isnan(record.null.mean)
    ]  # fmt: skip
    return [record for record in with_null if record.role == "primary"] or with_null


def _null_rows(run: Run) -> list[plots.EffectRow]:
    """A row for each result with a null, those of one coefficient together."""
    rows = []
    for record in _with_null(run):
        condition = subject_of(record)
        group = quantity_of(record.estimand).heading if condition else ""
        rows.append(effect_of(record, condition or record.title, group))
    groups = [g for g in dict.fromkeys(row.group for row in rows) if g]
    rows.sort(key=lambda row: groups.index(row.group) if row.group else -1)
    if (
        len(rows) > _NULL_FIGURE_MOST_ROWS and rows[0].group
    ):  # the first coefficient is the main one
        rows = [row for row in rows if row.group == rows[0].group]
    return rows


def _null_description(run: Run) -> str:
    """What the null of each kind of result shuffles."""
    stems = {record.id.partition(".")[0] for record in _with_null(run)}
    people, order, judges = stems & {"people", "alignment"}, "order" in stems, "judges" in stems
    parts = []
    if "grade" in stems:
        parts.append("every selection is drawn at random, on the same numbers of options")
    if stems - {"people", "alignment", "order", "judges", "grade"}:
        parts.append("every replication's judgments are shuffled over items")
    if judges:
        parts.append("between judges, each judge's judgments are shuffled over items")
    if people:
        parts.append("for agreement with people, what they said is shuffled over items")
    if order:
        parts.append("for order, positions are exchanged within items")
    return "; ".join(parts) + "."


def null_heading(run: Run) -> str:
    """The heading of the section, by what stands beside its null."""
    graded = "grade_score" in run.conditions
    return "Grade Score and chance" if graded else "Reliability and its null"


def null_intro(run: Run) -> str:
    """What a null is, for the reader of the section."""
    if "grade_score" in run.conditions:
        return (
            "How free a judge is of position can only be told beside what chance scores, which "
            "depends on the number of options. A Grade Score inside the range of a judge that "
            "selects at random shows nothing."
        )
    return (
        "A reliability is the share of the variance that belongs to the items. Each coefficient "
        "stands beside what it yields when there is nothing to find: the judgments of each "
        "replication are shuffled over the items and the coefficient is computed again. Its mean "
        "and its 95th percentile are not 0, and a coefficient inside that range shows nothing."
    )


_VERDICT_FIGURES_MOST_ROWS = 24
_MOST_PLACES = 28


def coefficients(run: Run) -> Captioned | None:
    """Coefficients of verdicts with intervals, grouped by coefficient.

    Agreement with people has a figure of its own, with the baselines.
    """
    every = range(len(run.table(CONDITIONS)))
    names = {
        k: v for k, v in coefficients_of(run).items()
        if not k.startswith("alignment")
        and all(measured(run, i, k).bounded for i in every)  # points have another axis
    }  # fmt: skip
    rows = [
        _effect_in(row, key, full_condition(row, run), label)
        for key, label in names.items()
        for row in run.compared
        if not math.isnan(number_of(row.get(key)))
    ]  # fmt: skip
    while len(rows) > _VERDICT_FIGURES_MOST_ROWS and len({r.group for r in rows}) > 1:
        rows = [r for r in rows if r.group != rows[-1].group]  # the first are the main ones
    if not rows or len(rows) > 2 * _VERDICT_FIGURES_MOST_ROWS:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows), x_label="Estimate", level=run.level, reference=math.nan, bounded=True
        ),
        label="fig-coefficients",
        caption=f"Coefficients of verdicts with {100 * run.level:g} % intervals.",
    )


def positions(run: Run) -> Captioned | None:
    """How often the response shown first, the one shown second, or neither was chosen."""
    rows = run.table("places.pairs")
    if not rows or len(rows) > _MOST_PLACES:  # the table of verdicts says it; no page holds so many
        return None
    names = [str(row["condition"]) for row in rows]
    shares = np.array([[number_of(row["first"]), number_of(row["second"])] for row in rows])
    return Captioned(
        figure=plots.PositionHeatMap(
            labels=tuple(names), shares=shares, positions=("shown first", "shown second"),
            x_label="Preferred",
        ),
        label="fig-positions",
        caption=(
            "Which response was preferred, by the place at which it was shown, both orders of each "
            "pair taken together and ties left out: a judge without a preference for a place "
            "prefers both equally often."
        ),
    )  # fmt: skip
