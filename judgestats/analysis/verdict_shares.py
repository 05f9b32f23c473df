"""Plain shares of verdicts: the same after a swap, the same as people's, the commonest."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

import pandas as pd

from judgestats.stats.inference.result import Comparisons


def in_rotations(frame: pd.DataFrame) -> bool:
    """Whether judgments are selections whose options were shown in rotations (order ``s/N``)."""
    return (
        {"order", "position", "choice"} <= set(frame.columns)
        and len(frame) > 0
        and bool(frame["order"].astype(str).str.fullmatch(r"\d+/\d+").all())
    )


def same_after_swap(frame: pd.DataFrame) -> float:
    """Share of items with one verdict in each of two orders whose verdicts are the same."""
    if "order" not in frame or frame["order"].nunique() != 2:
        return math.nan
    sets = frame.groupby("item_id").agg(orders=("order", "nunique"), n=("choice", "size"),
                                        kinds=("choice", "nunique"))  # fmt: skip
    both = sets[(sets["orders"] == 2) & (sets["n"] == 2)]
    return float((both["kinds"] == 1).mean()) if len(both) else math.nan


def same_as_people(frame: pd.DataFrame) -> float:
    """Share of verdicts that are people's, where the frame holds theirs."""
    if "label" not in frame:
        return math.nan
    rows = frame[frame["label"].astype(str).ne("")]
    same = rows["choice"].astype(str).eq(rows["label"].astype(str))
    return float(same.mean()) if len(rows) else math.nan


def commonest_share(frame: pd.DataFrame, keys: list[str]) -> float:
    """Share of a unit's verdicts that are its commonest one, averaged over units."""
    counts = frame.groupby([*keys, "choice"]).size()
    grouped = counts.groupby(level=keys)
    return float((grouped.max() / grouped.sum()).mean()) if len(counts) else math.nan


Compared = TypeVar("Compared", bound=Comparisons)


def of_shares(differences: Compared) -> Compared:
    """Differences of means of 0 and 1 as what they are: of shares, not of points of a scale."""
    rows = tuple(replace(row, estimate_name="rate_difference") for row in differences.rows)
    return replace(differences, rows=rows)
