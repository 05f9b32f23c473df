"""How far results hang on single questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgestats.reporting.runs import Run
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table

__all__ = ["left_out", "left_out_estimates", "left_out_primary"]


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
