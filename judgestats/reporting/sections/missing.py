"""Results under both policies for unread judgments: left out, and as an outcome of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import short_condition
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table

__all__ = ["missing_policies"]


def missing_policies(run: Run) -> Table | Markdown:
    """Means and spreads with all readable scores, and with completely read items only."""
    rows = run.table("policies.scores")
    if rows:
        return _score_policies(rows)
    frame = run.finals
    if frame.empty:
        return Markdown("")
    of_scores = "score" in frame and bool(frame["score"].notna().any())
    if frame["status"].eq("ok").all() or of_scores:
        return Markdown(
            "Every judgment was read, so leaving unread judgments out and leaving their items out "
            "altogether give the same numbers."
            if of_scores
            else "Every verdict was read, so both policies for unread ones give the same numbers."
        )
    for needed, made in (
        ({"least_if_read", "most_if_read"}, _bounds_if_read),
        ({"vote_share", "vote_share_unread_a_category"}, _reliability_policies),
    ):
        if needed <= set(run.conditions):
            return made(run)
    return _verdict_policies(run.table("policies.verdicts"))


def _score_policies(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = [
        Column(key="condition", label="Condition"),
        Column(key="items", label="Items", format="integer"),
        Column(key="mean", label="Mean", format="number:2"),
        Column(key="variance", label="Variance", format="number:3"),
        Column(key="items_complete", label="Complete items", format="integer"),
        Column(key="mean_complete", label="Mean", format="number:2"),
        Column(key="variance_complete", label="Variance", format="number:3"),
    ]
    if all(math.isnan(number_of(row["variance"])) for row in rows):  # each item judged once
        columns = [c for c in columns if not c.key.startswith("variance")]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=(
            "Two policies for judgments without a score: every score that was read, and only items "
            "of which every judgment was read in every condition."
        ),
        label="tbl-missing",
    )


def _verdict_policies(rows: Sequence[Mapping[str, Any]]) -> Table | Markdown:
    if not rows:
        return Markdown("")
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="unread", label="No verdict", format="integer"),
            *(
                Column(key=key, label=label, format="coefficient:3")
                for key, label in (
                    ("commonest", "Commonest verdict, unread left out"),
                    ("commonest_unread", "Commonest verdict, unread a category"),
                    ("same_after_swap", "Same after a swap, unread left out"),
                    ("same_after_swap_unread", "Same after a swap, unread a category"),
                    ("same_as_people", "As people, unread left out"),
                    ("same_as_people_unread", "As people, unread a category"),
                )
                if any(not math.isnan(number_of(row[key])) for row in rows)
            ),
        ),
        rows=tuple(rows),
        caption=(
            "Two policies for judgments without a verdict (not read, or not answered): left out, "
            "and as a category of their own (which agrees with nothing that people said)."
        ),
        label="tbl-missing",
    )


def _bounds_if_read(run: Run) -> Table:
    """The Grade Score of complete items, and what it can be over all items, however they chose."""
    columns = (
        Column(key="condition", label="Condition"),
        Column(key="lost", label="Not read", format="integer"),
        Column(key="grade_score", label="Complete items", format="coefficient:3"),
        Column(key="least_if_read", label="All items, at least", format="coefficient:3"),
        Column(key="most_if_read", label="All items, at most", format="coefficient:3"),
    )
    return _by_condition(
        run,
        columns,
        "Two policies for unread selections: items whose rotations were all read, and bounds over "
        "all items, whatever the unread selections were.",
    )


def _reliability_policies(run: Run) -> Table:
    """Reliability of one verdict with unread ones left out, and as a category."""
    columns = (
        Column(key="condition", label="Condition"),
        Column(key="lost", label="Not read", format="integer"),
        Column(key="vote_share", label="Reliability, unread left out", format="coefficient:3"),
        Column(
            key="vote_share_unread_a_category",
            label="Reliability, unread a category",
            format="coefficient:3",
        ),
        *(
            Column(key=key, label=label, format="coefficient:3")
            for key, label in (
                ("as_judged", "Judged correct, unread left out"),
                ("as_judged_unread_not_correct", "Judged correct, unread as not"),
            )
            if key in run.conditions
        ),
    )
    return _by_condition(
        run,
        columns,
        "Two policies for unread verdicts: left out, and as a category of their own. A judge that "
        "often gives no verdict on the same items is repeatable in that, which is no agreement.",
    )


def _by_condition(run: Run, columns: tuple[Column, ...], caption: str) -> Table:
    rows = tuple(
        {
            "group": str(row.get("judge", "")) if run.by_judge else "",
            "condition": short_condition(row, run),
            "lost": int(number_of(row.get("n")) - number_of(row.get("n_ok"))),
            **{c.key: number_of(row.get(c.key)) for c in columns[2:]},
        }
        for row in run.described
    )
    group = "group" if run.by_judge else ""
    return Table(columns=columns, rows=rows, group=group, caption=caption, label="tbl-missing")
