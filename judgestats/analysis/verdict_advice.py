"""Which of several judges gives the steadier verdicts, and how many of them to count."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import NamedResult, Recommendation
from judgestats.analysis.recommend import TARGET, recommend_votes, verdicts_reach
from judgestats.analysis.selections import choices_of
from judgestats.stats.reliability.step_up import replications_needed


def recommend_verdicts(
    frame: pd.DataFrame, table: pd.DataFrame
) -> tuple[Recommendation | None, tuple[NamedResult, ...]]:
    """As `recommend_votes`, of verdicts that nobody labelled.

    Where people labelled items it is they who tell what to take; where items were shown in several
    orders, repeating one order is not asking again.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.
    table : DataFrame
        One row a condition.

    Returns
    -------
    Recommendation or None
    tuple of NamedResult
        What it rests on.
    """
    labelled = "label" in frame and bool(frame["label"].astype(str).str.strip().ne("").any())
    ordered = len(frame[["item_id", "order"]].drop_duplicates()) > frame["item_id"].nunique()
    if labelled or ordered or "vote_share" not in table or "vote_share_low" not in table:
        return None, ()
    choices = choices_of(frame, column="choice")
    cost = frame.groupby("condition", sort=False)["cost_usd"].sum(min_count=1)
    needed = [
        _needed(float(share), float(low))
        for share, low in zip(table["vote_share"], table["vote_share_low"], strict=True)
    ]
    return recommend_votes(
        table.assign(
            judgments_for_90=needed, cost_usd=table["condition"].map(cost).astype(float)
        ),
        {name: own.values for name, own in choices.items()},
        next(iter(choices.values())).cluster,
        one="verdict", reaches=verdicts_reach,
        validity="Check a sample of its verdicts by hand: reliability is not validity.",
    )  # fmt: skip


def _needed(share: float, low: float) -> float:
    """How many verdicts reach the target; NaN where perhaps no number does."""
    if not low > 0:
        return math.nan
    exact = float(replications_needed(share, target=TARGET))
    return max(1.0, float(np.ceil(exact - 1e-9))) if math.isfinite(exact) else math.nan
