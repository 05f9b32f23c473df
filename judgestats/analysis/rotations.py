"""Selections in every cyclic rotation, spread out as the Grade Score needs them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.stats.agreement.grade_score_items import grade_score_items


class Rotations:
    """Selections of one condition: (item, replicate) x rotations.

    Attributes
    ----------
    positions : ndarray of float, shape (n_rows, n_rotations)
        Place selected, from 0; NaN where not read or not asked.
    choices : ndarray of object
        The response selected; empty where not read.
    preferred : ndarray of object, shape (n_rows,)
        The option that people or the item's design prefer; empty where unknown.
    n_options : ndarray of int, shape (n_rows,)
    items, cluster : ndarray of object, shape (n_rows,)
    """

    def __init__(self, asked: pd.DataFrame, items: Sequence[str] | None = None) -> None:
        for column in ("position", "preferred"):
            if column not in asked:
                asked = asked.assign(**{column: ""})
        parts = asked["order"].str.split("/", expand=True).astype(int)
        asked = asked.assign(rotation=parts[0] - 1, n_options=parts[1])
        keys = ["item_id", "replicate"]
        wide = asked.pivot(index=keys, columns="rotation", values=["position", "choice"])
        own = dict.fromkeys(asked["item_id"])
        order = [i for i in items or own if i in own]
        wide = wide.reindex(order, level="item_id")
        position = pd.DataFrame(wide["position"]).apply(pd.to_numeric, errors="coerce")
        self.positions: NDArray[np.float64] = position.to_numpy(float) - 1
        self.choices: NDArray[np.object_] = wide["choice"].fillna("").to_numpy(object)
        once = asked.groupby(keys, sort=False).agg(
            cluster=("cluster", "first"), n_options=("n_options", "first")
        )
        once["preferred"] = asked.groupby(keys, sort=False)["preferred"].max()
        once = once.loc[wide.index]
        self.items: NDArray[np.object_] = wide.index.get_level_values("item_id").to_numpy(object)
        self.cluster: NDArray[np.object_] = once["cluster"].to_numpy(object)
        self.n_options: NDArray[np.int64] = once["n_options"].to_numpy(np.int64)
        self.preferred: NDArray[np.object_] = once["preferred"].to_numpy(object)
        self.index = wide.index

    def repetitions(self) -> pd.DataFrame:
        """Choices with one row for each item and rotation, one column a replicate."""
        asked = np.arange(self.choices.shape[1]) < self.n_options[:, None]
        row, rotation = np.nonzero(asked)
        long = pd.DataFrame(
            {
                "item_id": self.items[row],
                "rotation": rotation,
                "replicate": self.index.get_level_values("replicate").to_numpy()[row],
                "choice": self.choices[row, rotation],
            }
        )
        wide = long.pivot(index=["item_id", "rotation"], columns="replicate", values="choice")
        return wide.fillna("")

    def item_scores(self) -> pd.Series:
        """Chance-corrected Grade Score by item, over its complete replicates."""
        items = grade_score_items(self.positions, n_options=self.n_options)
        values = np.where(items["complete"].astype(bool), items["corrected"], np.nan)
        return pd.Series(values, index=self.items).groupby(level=0, sort=False).mean()


def rotations_of(frame: pd.DataFrame) -> dict[str, Rotations]:
    """Selections by condition.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments whose `order` is ``"s/N"``, as `judgestats.protocols.selection` makes it.

    Returns
    -------
    dict of condition to Rotations
    """
    # All conditions list their items alike, so that they can be compared item by item.
    items = list(dict.fromkeys(frame["item_id"]))
    return {str(c): Rotations(asked, items) for c, asked in frame.groupby("condition", sort=False)}
