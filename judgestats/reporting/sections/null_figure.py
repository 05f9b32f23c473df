"""Coefficients beside what they yield when there is nothing to find."""

from __future__ import annotations

import math

from judgestats.reporting import plots
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import full_condition
from judgestats.reporting.sections.estimate_tables import subject_of
from judgestats.reporting.show import Captioned
from judgestats.results import Estimate, estimand_of
from judgestats.results.numbers import bounds_of

__all__ = ["null_heading", "null_intro", "null_strip"]

_MOST_ROWS = 36


def null_strip(run: Run) -> Captioned | None:
    """Coefficients beside their null: ICC by condition, or all that carry a null reference."""
    table = run.conditions
    shuffled = (
        "every replication's judgments are shuffled over items, so that the item cannot matter."
    )
    kind = "reliability" if "reliability_null_q95" in table else "icc1"
    if f"{kind}_null_q95" in table:
        rows = [
            plots.NullRow(
                label=full_condition(r, run),
                estimate=number_of(r.get(kind)),
                low=number_of(r.get(f"{kind}_low")),
                high=number_of(r.get(f"{kind}_high")),
                null_mean=number_of(r.get(f"{kind}_null_mean")),
                null_q95=number_of(r.get(f"{kind}_null_q95")),
            )
            for r in run.described
            if math.isfinite(number_of(r.get(kind)))
        ]
        what, name, also = (
            ("Reliability of one judgment", "ICC(1,1)", "")
            if kind == "icc1"
            else ("Reliability", "Reliability", " So are those behind every mean, median and mode.")
        )
    else:
        rows = _of_results(run)
        what, name, also = "Coefficients", "Coefficient", ""
        shuffled = _what_is_shuffled(run)
    if not rows:
        return None
    if len(rows) > _MOST_ROWS:
        also += f" The first {_MOST_ROWS} of {len(rows)} are drawn; the tables have all."
    return Captioned(
        figure=plots.NullStrip(rows=tuple(rows[:_MOST_ROWS]), x_label=name),
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


def _of_results(run: Run) -> list[plots.NullRow]:
    """A row for each result with a null, those of one coefficient together."""
    rows = []
    for record in _with_null(run):
        condition = subject_of(record)
        low, high = bounds_of(record.interval)
        rows.append(
            plots.NullRow(
                label=condition or record.title,
                group=estimand_of(record.estimand).label if condition else "",
                estimate=record.estimate,
                low=low,
                high=high,
                null_mean=record.null.mean if record.null else math.nan,
                null_q95=record.null.q95 if record.null else math.nan,
            )
        )
    groups = [g for g in dict.fromkeys(row.group for row in rows) if g]
    rows.sort(key=lambda row: groups.index(row.group) if row.group else -1)
    if len(rows) > _MOST_ROWS and rows[0].group:  # the first coefficient is the main one
        rows = [row for row in rows if row.group == rows[0].group]
    return rows


def _what_is_shuffled(run: Run) -> str:
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
