"""Results under both policies for unread judgments: left out, and as an outcome of their own."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from judgestats.analysis.verdict_shares import (
    commonest_share,
    same_after_swap,
    same_as_people,
)
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import short_condition
from judgestats.reporting.sections.scales import on_one_scale
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table

__all__ = ["missing_policies"]


def missing_policies(run: Run) -> Table | Markdown:
    """Means and spreads with all readable scores, and with completely read items only."""
    frame = on_one_scale(run)
    if frame.empty:
        return Markdown("")
    if "score" not in frame or not frame["score"].notna().any():
        return _verdict_policies(run)
    if frame["status"].eq("ok").all():
        return Markdown(
            "Every judgment was read, so leaving unread judgments out and leaving their items out "
            "altogether give the same numbers."
        )
    lost = set(frame.loc[frame["status"].ne("ok"), "item_id"])
    kept = frame[~frame["item_id"].isin(lost)]
    rows = []
    for condition, part in frame.groupby("condition", sort=False):
        if not part["score"].notna().any():
            continue  # verdicts, not scores
        complete = kept[kept["condition"] == condition]
        a, b = _mean_and_variance(part), _mean_and_variance(complete)
        rows.append(
            {
                "condition": str(condition), "mean": a[0], "variance": a[1], "items": a[2],
                "mean_c": b[0], "variance_c": b[1], "items_c": b[2],
            }
        )  # fmt: skip
    columns = [
        Column(key="condition", label="Condition"),
        Column(key="items", label="Items", format="integer"),
        Column(key="mean", label="Mean", format="number:2"),
        Column(key="variance", label="Variance", format="number:3"),
        Column(key="items_c", label="Complete items", format="integer"),
        Column(key="mean_c", label="Mean", format="number:2"),
        Column(key="variance_c", label="Variance", format="number:3"),
    ]
    if all(math.isnan(float(str(row["variance"]))) for row in rows):  # each item judged once
        columns = [c for c in columns if not c.key.startswith("variance")]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=(
            "Two policies for unread judgments: every score that was read, and only items of which "
            "every judgment was read in every condition."
        ),
        label="tbl-missing",
    )


def _verdict_policies(run: Run) -> Table | Markdown:
    """Agreement of an item's verdicts, unread ones left out, and as a category of their own."""
    frame = run.judgments
    if frame["status"].eq("ok").all():
        return Markdown(
            "Every verdict was read, so both policies for unread ones give the same numbers."
        )
    for needed, made in (
        ({"least_if_read", "most_if_read"}, _bounds_if_read),
        ({"vote_share", "vote_share_unread_a_category"}, _reliability_policies),
    ):
        if needed <= set(run.conditions):
            return made(run)
    rows: list[dict[str, Any]] = []
    for condition, part in frame.groupby("condition", sort=False):
        keys = ["item_id", "order"]
        read = part[part["choice"].ne("")]
        own = part.assign(choice=part["choice"].where(part["choice"].ne(""), "(not read)"))
        rows.append(
            {
                "condition": str(condition),
                "lost": len(part) - len(read),
                "missing": commonest_share(read, keys),
                "own": commonest_share(own, keys),
                "swap": same_after_swap(read),
                "swap_own": same_after_swap(own),
                "right": same_as_people(read),
                "right_own": same_as_people(own),
            }
        )
    repeated = part.groupby(keys).size().max() > 1
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="lost", label="Not read", format="integer"),
            *(
                Column(key=key, label=label, format="coefficient:3")
                for key, label in (
                    ("missing", "Commonest verdict, unread left out"),
                    ("own", "Commonest verdict, unread a category"),
                    ("swap", "Same after a swap, unread left out"),
                    ("swap_own", "Same after a swap, unread a category"),
                    ("right", "As people, unread left out"),
                    ("right_own", "As people, unread a category"),
                )
                if (repeated or key not in {"missing", "own"})
                and any(not math.isnan(row[key]) for row in rows)
            ),
        ),
        rows=tuple(rows),
        caption=(
            "Two policies for unread verdicts: left out, and as a category of their own (which "
            "agrees with nothing that people said)."
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


def _mean_and_variance(frame: pd.DataFrame) -> tuple[float, float, int]:
    """Mean of item means, mean of item variances, number of items with a score."""
    cells = frame.dropna(subset=["score"]).groupby("item_id")["score"].agg(["mean", "var"])
    if cells.empty:
        return (math.nan, math.nan, 0)
    return (float(cells["mean"].mean()), float(cells["var"].mean()), len(cells))
