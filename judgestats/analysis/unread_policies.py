"""Results under both policies for unread judgments: left out, and as an outcome of their own."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from judgestats.analysis.verdict_shares import commonest_share, same_after_swap, same_as_people


def of_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Means and variances with all readable scores, and with completely read items only.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments, scores in points of one scale.

    Returns
    -------
    DataFrame
        One row a condition: ``items``, ``mean``, ``variance``, and the same of the items of which
        every judgment was read (``..._complete``). Empty where all were read, or none is a score.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "item_id": list("xxyy"), "score": [1, 3, 5, None],
    ...                       "status": ["ok", "ok", "ok", "unparseable"]})
    >>> of_scores(frame).T[0].to_dict() == {"condition": "a", "items": 2, "mean": 3.5,
    ...     "variance": 2.0, "items_complete": 1, "mean_complete": 2.0, "variance_complete": 2.0}
    True
    """
    if "score" not in frame or frame["status"].eq("ok").all():
        return pd.DataFrame()
    frame = frame[["condition", "item_id", "score", "status"]]  # texts are slow to copy
    kept = frame[~frame["item_id"].isin(set(frame.loc[frame["status"].ne("ok"), "item_id"]))]
    rows = []
    for condition, part in frame.groupby("condition", sort=False):
        if not part["score"].notna().any():
            continue  # verdicts, not scores
        complete = _scores_of(kept[kept["condition"] == condition])
        own = {f"{name}_complete": value for name, value in complete.items()}
        rows.append({"condition": str(condition), **_scores_of(part), **own})
    return pd.DataFrame(rows)


def _scores_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Number of items with a score, mean of their means, mean of their variances."""
    cells = frame.dropna(subset=["score"]).groupby("item_id")["score"].agg(["mean", "var"])
    if cells.empty:
        return {"items": 0, "mean": math.nan, "variance": math.nan}
    return {
        "items": len(cells),
        "mean": float(cells["mean"].mean()),
        "variance": float(cells["var"].mean()),
    }


def of_verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    """Agreement of an item's verdicts, unread ones left out, and as a category of their own.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.

    Returns
    -------
    DataFrame
        One row a condition: the share of the commonest verdict where an item was judged more than
        once in an order, of verdicts the same after a swap, and of those that are people's, each
        of the verdicts read and (``..._unread``) with unread ones as a category. Empty where all
        were read.
    """
    if "choice" not in frame or frame["status"].eq("ok").all():
        return pd.DataFrame()
    keys = ["item_id", "order"]
    repeated = frame.groupby(["condition", *keys], sort=False).size().max() > 1
    rows = []
    for condition, part in frame.groupby("condition", sort=False):
        read = part[part["choice"].ne("")]
        own = part.assign(choice=part["choice"].where(part["choice"].ne(""), "(not read)"))
        row: dict[str, Any] = {"condition": str(condition), "unread": len(part) - len(read)}
        for name, kept in (("", read), ("_unread", own)):
            row[f"commonest{name}"] = commonest_share(kept, keys) if repeated else math.nan
            row[f"same_after_swap{name}"] = same_after_swap(kept)
            row[f"same_as_people{name}"] = same_as_people(kept)
        rows.append(row)
    return pd.DataFrame(rows)
