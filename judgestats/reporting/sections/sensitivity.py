"""Sensitivity of results, and selections in all rotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgestats.reporting.display import Markdown
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.data import condition_table
from judgestats.reporting.tables import Column, Table


def left_out_estimates(run: Run) -> Table | Markdown:
    """Reliability, or what verdicts agree with, by condition, each question left out in turn."""
    rows = [row | {"group": row["what"]} for row in run.table("sensitivity.estimates")]
    if not rows:
        return Markdown("")
    return _left_out_table(
        rows, of="condition", number="coefficient:3", caption="Estimates", name="estimates"
    )


def _left_out_table(
    rows: Sequence[Mapping[str, Any]],
    *,
    of: str,
    number: str,
    caption: str,
    name: str = "",
    question: str = "Question that matters most",
    further: Sequence[Column] = (),
) -> Table:
    """Something computed from all questions, and its extremes with each left out in turn.

    Parameters
    ----------
    rows : sequence of mapping
        ``all``, ``low``, ``high`` and ``question``, under the key `of`, perhaps in a ``group``.
    of : str
        What a row stands for.
    number : str
        The format of the three numbers.
    caption : str
        What is computed.
    name : str
        Behind the table's label, where there are several such tables.
    question : str
        What the question named is.
    further : sequence of Column
        Before the question.
    """
    return Table(
        columns=(
            Column(key=of, label=of.capitalize()),
            Column(key="all", label="All questions", format=number),
            Column(key="low", label="Lowest, one left out", format=number),
            Column(key="high", label="Highest, one left out", format=number),
            *further,
            Column(key="question", label=question),
        ),
        rows=tuple(rows),
        group="group" if any("group" in row for row in rows) else "",
        caption=f"{caption} with each question left out in turn.",
        label=f"tbl-left-out-{name}".rstrip("-"),
    )


def left_out(run: Run) -> Table | Markdown:
    """How far the within-item variance of each condition hangs on one question."""
    rows = run.table("sensitivity.variance")
    if not rows:
        few = "cell_variances" in run.arrays and len(set(run.arrays["clusters"])) < 3
        return Markdown("With fewer than three questions none can be left out." if few else "")
    return _left_out_table(
        rows, of="condition", number="number:3", caption="Within-item variance",
        question="Question that adds most",
    )  # fmt: skip


def left_out_primary(run: Run) -> Table | Markdown:
    """The primary blocked F tests of spread, with each question left out in turn."""
    rows = run.table("sensitivity.primary")
    if not rows:
        return Markdown("")
    return _left_out_table(
        rows, of="test", number="number:2", name="primary",
        caption="F of the primary test (p of the F distribution, to show how much it moves)",
        further=(Column(key="p", label="Largest p", format="p"),),
    )  # fmt: skip


def parts(run: Run) -> Table | None:
    """The two averages behind the Grade Score, and what chance scores; None for other runs."""
    if not {"grade_score", "llm_score", "choice_score", "chance"} <= set(run.conditions):
        return None
    columns = (
        Column(key="llm_score", label="Places (LLM score)", format="coefficient:3"),
        Column(key="choice_score", label="Options (choice score)", format="coefficient:3"),
        Column(key="harmonic_of_means", label="Their harmonic mean", format="coefficient:3"),
        Column(key="grade_score", label="Grade Score", format="coefficient:3"),
        Column(key="chance", label="By chance", format="coefficient:3"),
        Column(key="corrected", label="Chance-corrected", format="coefficient:3"),
    )
    return condition_table(
        run,
        columns,
        run.described,
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
    rows = [
        described.get(str(shares["condition"]), {}) | shares
        for shares in run.table("places.selections")
    ]
    if not rows:
        return None
    return condition_table(
        run,
        (
            Column(key="n", label="Selections", format="integer"),
            *(
                Column(key=f"place_{k}", label=f"Place {k}", format="coefficient:2")
                for k in range(1, 1 + sum(str(key).startswith("place_") for key in rows[0]))
            ),
        ),
        rows,
        caption=(
            "Share of the selections at each place, over the items with the most common number of "
            "options. Every option stood at every place once, so a judge that follows content "
            "selects all places equally often."
        ),
        label="tbl-places",
    )
