"""What labels and ratings allow beside the pooled agreement: both orders, slots, levels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.ratings import ratings_of
from judgestats.results import About
from judgestats.stats.agreement.correlation_levels import correlation_by_level
from judgestats.stats.agreement.order_accuracy import accuracy_by_slot, pair_accuracy
from judgestats.stats.inference.result import Result

_FEWEST = 3
"""Pairs, sources or systems that a result needs at least."""
_OUTCOMES = {"a", "b", "tie", ""}
_ORDERS = {"ab", "ba"}


def beside_labels(frame: pd.DataFrame, *, level: float) -> list[NamedResult]:
    """Pair accuracy over both orders, accuracy by slot, and correlation by level, where there are.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, with a column ``label`` where people or a key said what is right.
    level : float
        Of intervals.

    Returns
    -------
    list of NamedResult
        Described, never claimed.

    Examples
    --------
    >>> beside_labels(pd.DataFrame({"condition": ["x"], "score": [7.0]}), level=0.95)
    []
    """
    if "label" not in frame:
        return []
    out = []
    for condition, own in frame.groupby("condition", sort=False):
        about = About(conditions=(str(condition),))
        for kind, title, result in (*_of_pairs(own, level), *_of_ratings(own, level)):
            out.append(
                NamedResult(
                    id=f"{kind}.{condition}",
                    title=f"{title} ({condition})",
                    role="descriptive",
                    result=result,
                    about=about,
                    hypothesis="people",
                )
            )
    return out


def _of_pairs(own: pd.DataFrame, level: float) -> Iterator[tuple[str, str, Result]]:
    """Of pairs that were shown in both orders and labelled."""
    if not {"choice", "order"} <= set(own):
        return
    own = own[own["label"].astype(str).isin(_OUTCOMES - {""}) & own["order"].isin(_ORDERS)]
    if not set(own["choice"]) <= _OUTCOMES:
        return
    yield from _by_slot(own, level)
    if set(own["order"]) != _ORDERS:
        return
    wide = own.pivot_table(
        index="item_id",
        columns=["order", "replicate"],
        values="choice",
        aggfunc="first",
        sort=False,
    )
    wide = wide.reindex(columns=wide.columns.sort_values()).fillna("")
    once = own.drop_duplicates("item_id").set_index("item_id").loc[wide.index]
    if len(wide) < _FEWEST or _several_labels(own):
        return
    ab, ba = (wide[o].to_numpy(object) for o in ("ab", "ba"))
    common: dict[str, Any] = {"cluster": once["cluster"].to_numpy(object), "level": level}
    yield (
        "people.both_orders",
        "Right in both orders",
        pair_accuracy(ab, ba, once["label"].to_numpy(object), **common),
    )


def _several_labels(own: pd.DataFrame) -> bool:
    """Whether people say more than one thing of an item."""
    return bool(own.groupby("item_id")["label"].nunique().max() > 1)


def _by_slot(own: pd.DataFrame, level: float) -> Iterator[tuple[str, str, Result]]:
    """Of labelled pairs of which it is known which response was shown first."""
    decided = own[own["label"].isin(["a", "b"])]
    if decided["item_id"].nunique() < _FEWEST or _several_labels(decided):
        return
    first = decided["order"].str[0]
    chosen = np.where(
        decided["choice"].isin(["a", "b"]), (decided["choice"] != first).astype(float), np.nan
    )
    yield (
        "people.slots",
        "Accuracy by the place of the right response",
        accuracy_by_slot(
            chosen,
            (decided["label"] != first).to_numpy(int),
            item=decided["item_id"].to_numpy(object),
            n_options=2,
            cluster=decided["cluster"].to_numpy(object),
            level=level,
            n_permutations=999,
            seed=0,
        ),
    )


def _of_ratings(own: pd.DataFrame, level: float) -> Iterator[tuple[str, str, Result]]:
    """Of answers of several systems to several questions, scored and rated."""
    if not {"author", "score"} <= set(own):
        return
    ratings, _ = ratings_of(own)
    scored = own.dropna(subset=["score"])
    items = scored.groupby("item_id", sort=False).agg(
        score=("score", "mean"), source=("cluster", "first"), system=("author", "first")
    )
    items["human"] = ratings.reindex(items.index)
    items = items.dropna(subset=["human"])
    items = items[items["system"].astype(str) != ""]
    several = items.groupby("source").size().max() if len(items) else 0
    if items["system"].nunique() < _FEWEST or items["source"].nunique() < _FEWEST or several < 2:
        return
    yield (
        "people.levels",
        "Correlation with people's ratings, pooled, within questions and between systems",
        correlation_by_level(
            items["score"].to_numpy(float), items["human"].to_numpy(float),
            source=items["source"].to_numpy(object), system=items["system"].to_numpy(object),
            level=level,
        ),
    )  # fmt: skip
