"""On which kind of item verdicts agree with people's."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from judgestats.results.conventions import LEAST_IN_CATEGORY
from judgestats.stats.agreement.mean_share import mean_share


def agreement_by_category(frame: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Shares of verdicts that are people's, by condition and category, with intervals.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments; without labels or categories nothing is computed.
    level : float

    Returns
    -------
    DataFrame
        ``condition``, ``category``, ``n_items``, ``accuracy`` and its interval's ends.
    """
    if not {"label", "category"} <= set(frame.columns):
        return pd.DataFrame()
    labelled = frame[frame["label"].astype(str).ne("") & frame["choice"].astype(str).ne("")]
    labelled = labelled.assign(
        right=labelled["choice"].astype(str) == labelled["label"].astype(str)
    )
    rows: list[dict[str, Any]] = []
    for (condition, name), group in labelled.groupby(["condition", "category"], sort=True):
        by_item = group.groupby("item_id")["right"].mean()
        if not name or len(by_item) < LEAST_IN_CATEGORY:
            continue
        clusters = group.groupby("item_id")["cluster"].first().loc[by_item.index]
        share = mean_share(by_item.to_numpy(dtype=float), cluster=clusters.to_numpy(), level=level)
        low, high = (
            (share.interval.low, share.interval.high) if share.interval else (math.nan, math.nan)
        )
        rows.append(
            {
                "condition": str(condition), "category": str(name), "n_items": len(by_item),
                "accuracy": share.estimate, "accuracy_low": low, "accuracy_high": high,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)
