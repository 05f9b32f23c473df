"""Selections in all rotations: the parts of the Grade Score, and the places selected."""

from __future__ import annotations

from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import short_condition
from judgestats.reporting.tables import Column, Table

__all__ = ["parts", "places"]


def parts(run: Run) -> Table | None:
    """The two averages behind the Grade Score, and what chance scores; None for other runs."""
    if not {"grade_score", "llm_score", "choice_score", "chance"} <= set(run.conditions):
        return None
    columns = (
        Column(key="condition", label="Condition"),
        Column(key="llm_score", label="Places (LLM score)", format="coefficient:3"),
        Column(key="choice_score", label="Options (choice score)", format="coefficient:3"),
        Column(key="harmonic_of_means", label="Their harmonic mean", format="coefficient:3"),
        Column(key="grade_score", label="Grade Score", format="coefficient:3"),
        Column(key="chance", label="By chance", format="coefficient:3"),
        Column(key="corrected", label="Above chance", format="coefficient:3"),
    )
    return Table(
        columns=columns,
        rows=tuple(
            {
                "group": str(row.get("judge", "")) if run.by_judge else "",
                "condition": short_condition(row, run),
                **{c.key: number_of(row.get(c.key)) for c in columns[1:]},
            }
            for row in run.described
        ),
        group="group" if run.by_judge else "",
        caption=(
            "The parts of the Grade Score, averaged over items: how evenly places are selected (1: "
            "each as often as the others), and how often an item's commonest option is (1: always "
            "the same)."
        ),
        note=(
            "The Grade Score averages each item's own harmonic mean, which cannot exceed the "
            "harmonic mean of the averages. By chance: each selection drawn at random."
        ),
        label="tbl-grade-parts",
    )


def places(run: Run) -> Table | None:
    """How often each place was selected, over the items with the most common number of options."""
    described = {str(row.get("condition", "")): row for row in run.described}
    rows: list[dict[str, object]] = []
    for shares in run.table("places.selections"):
        row = described.get(str(shares["condition"]), {"condition": shares["condition"]})
        group = str(row.get("judge", "")) if run.by_judge else ""
        rows.append({**shares, "group": group, "condition": short_condition(row, run)})
    if not rows:
        return None
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="n", label="Selections", format="integer"),
            *(
                Column(key=f"place_{k}", label=f"Place {k}", format="coefficient:2")
                for k in range(1, 1 + sum(str(key).startswith("place_") for key in rows[0]))
            ),
        ),
        rows=tuple(rows),
        group="group" if run.by_judge else "",
        caption=(
            "Share of the selections at each place, over the items with the most common number of "
            "options. Every option stood at every place once, so a judge that follows content "
            "selects all places equally often."
        ),
        label="tbl-places",
    )
