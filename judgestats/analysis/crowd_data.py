"""Verdicts of strategies against labels: one array a judge, pairs x strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Floats, Objects
from judgestats.items.records import Item
from judgestats.protocols.template import pair_name


def gold_labels(items: Sequence[Item]) -> dict[str, str]:
    """The label of every labelled pair by the pair's id: ``"a"`` is the earlier response."""
    gold = {}
    for item in items:
        for label in item.labels:
            turned = {"a": "b", "b": "a"}.get(label.winner, label.winner)  # a tie stays one
            winner = label.winner if label.a < label.b else turned
            gold[pair_name(item, (label.a, label.b))] = winner
    return gold


@dataclass(frozen=True, kw_only=True)
class StrategyVerdicts:
    """The verdicts of one judge at one temperature under all strategies.

    Attributes
    ----------
    name : str
        ``sim-crowd``, with the temperature where there are several.
    rows : DataFrame
        Its pipelines, with ``right`` (1, 0, NaN where there is no verdict) and ``words``.
    pairs : tuple of str
        Ids of the pairs.
    cluster, category : ndarray of object, shape (n_pairs,)
    strategies : tuple of str
    """

    name: str
    rows: pd.DataFrame
    pairs: tuple[str, ...]
    cluster: Objects
    category: Objects
    strategies: tuple[str, ...]

    def pair_means(
        self, value: str, strategies: Sequence[str], *, unread: float | None = None
    ) -> Floats:
        """A value averaged over orders and repetitions: pairs x strategies.

        Parameters
        ----------
        value : str
            A column of `rows`.
        strategies : sequence of str
        unread : float, optional
            Stands for a missing value; by default it is left out of the average.
        """
        rows = self.rows
        if unread is not None:
            rows = rows.assign(**{value: rows[value].fillna(unread)})
        wide = rows.pivot_table(
            index="item_id", columns="factor_strategy", values=value, aggfunc="mean", dropna=False
        )
        return wide.reindex(index=list(self.pairs), columns=list(strategies)).to_numpy(float)

    def verdict_table(
        self, strategies: Sequence[str], *, unread: float | None = None
    ) -> pd.DataFrame:
        """``right`` of every single verdict: (pair, order, repetition) x strategies."""
        rows = self.rows
        if unread is not None:
            rows = rows.assign(right=rows["right"].fillna(unread))
        wide = rows.pivot(
            index=["item_id", "order", "replicate"], columns="factor_strategy", values="right"
        )
        return wide.reindex(columns=list(strategies))

    def clusters_of(self, index: pd.Index) -> Objects:
        """The clusters of `verdict_table`'s rows."""
        by_pair = dict(zip(self.pairs, self.cluster, strict=True))
        return np.array([by_pair[name] for name in index.get_level_values("item_id")], dtype=object)

    def choices(self, strategy: str, order: str) -> Objects:
        """Choices in one order: pairs x repetitions; empty text where there is none."""
        own = self.rows[(self.rows["factor_strategy"] == strategy) & (self.rows["order"] == order)]
        wide = own.pivot(index="item_id", columns="replicate", values="choice")
        wide = wide.reindex(index=list(self.pairs)).astype(object)
        return wide.where(wide.notna(), "").to_numpy(object)


def strategy_verdicts(pipelines: pd.DataFrame, gold: Mapping[str, str]) -> list[StrategyVerdicts]:
    """The verdicts by judge and temperature.

    Parameters
    ----------
    pipelines : DataFrame
        As `judgestats.data.stages.StageSchedule.table` gives them.
    gold : mapping of pair to label

    Returns
    -------
    list of StrategyVerdicts
    """
    pipelines = pipelines[pipelines["item_id"].isin(gold.keys())]
    choices = pipelines["choice"].to_numpy(object)
    truth = pipelines["item_id"].map(dict(gold)).to_numpy(object)
    right = np.where(choices == "", np.nan, (choices == truth).astype(float))
    words = [
        float(len(text.split())) if choice else np.nan
        for text, choice in zip(pipelines["explanation"], choices, strict=True)
    ]
    pipelines = pipelines.assign(right=right, words=words)
    several = pipelines.groupby("judge")["temperature"].nunique(dropna=False).max() > 1
    by_judge = []
    for (judge, temperature), rows in pipelines.groupby(
        ["judge", "temperature"], sort=False, dropna=False
    ):
        once = rows.drop_duplicates("item_id")
        by_judge.append(
            StrategyVerdicts(
                name=f"{judge} at T={_number(temperature)}" if several else str(judge),
                rows=rows,
                pairs=tuple(once["item_id"]),
                cluster=once["cluster"].to_numpy(object),
                category=once["category"].to_numpy(object),
                strategies=tuple(dict.fromkeys(rows["factor_strategy"])),
            )
        )
    return by_judge


def _number(value: Any) -> str:
    return "default" if pd.isna(value) else f"{float(value):g}"
