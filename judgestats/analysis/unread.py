"""The shares of judgments not read and not answered, with intervals, as records and metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.judgments.shapes import lost_shares
from judgestats.protocols.base import NO_REPLY, Status
from judgestats.results import About
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.inference.result import Estimate

_TITLES = {
    "unread": "Share of replies not read",
    "unanswered": "Share of judgments not answered",
}


def unread_share(asked: pd.DataFrame, *, level: float = 0.95) -> Estimate:
    """The share of replies without a verdict, averaged over items, its interval over clusters.

    Parameters
    ----------
    asked : DataFrame
        Parsed judgments with ``item_id``, ``cluster`` and ``status``; those that were not answered
        or never asked are no replies.
    level : float

    Returns
    -------
    Estimate

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("abcdefgh"), "cluster": list("abcdefgh"),
    ...                       "status": ["ok"] * 7 + ["failed"]})
    >>> share = unread_share(frame)
    >>> share.estimate, share.interval.high > 0.02, unanswered_share(frame).estimate
    (0.0, True, 0.125)
    """
    replies = asked[~asked["status"].isin(_GONE)]
    return _share(replies, ~replies["status"].isin(_READ), "unread_share", level)


def unanswered_share(asked: pd.DataFrame, *, level: float = 0.95) -> Estimate:
    """The share of judgments that were not answered or never asked, as `unread_share`."""
    return _share(asked, asked["status"].isin(_GONE), "unanswered_share", level)


_GONE = [status.value for status in NO_REPLY]
_READ = [Status.OK.value, Status.NOT_APPLICABLE.value]


def _share(rows: pd.DataFrame, lost: pd.Series, name: str, level: float) -> Estimate:
    items = lost.astype(float).groupby(rows["item_id"], sort=False).mean()
    clusters = rows.groupby("item_id", sort=False)["cluster"].first()
    return mean_share(
        items.to_numpy(),
        cluster=clusters.loc[items.index].to_numpy(),
        level=level,
        name=name,
        label=_TITLES[name.removesuffix("_share")],
    )


def with_lost_shares(analysis: Analysis, frame: pd.DataFrame, *, level: float) -> Analysis:
    """An analysis with the intervals of both shares, of every condition and of the whole run.

    Where all was answered, the share of the unanswered is a metric and no record: it is not worth
    a line.
    """
    used = ["condition", "item_id", "cluster", "status"]
    frame = frame.loc[frame["stage"] == "final", used] if "stage" in frame else frame[used]
    gone = bool(frame["status"].isin(_GONE).any())
    shares = {str(n): _both(part, level) for n, part in frame.groupby("condition", sort=False)}
    described = [
        NamedResult(
            id=f"{kind}.{name}",
            title=_TITLES[kind],
            role="descriptive",
            result=share,
            about=About(conditions=(name,)),
        )
        for name, both in shares.items()
        for kind, share in both.items()
        if kind == "unread" or gone
    ]
    metrics = {
        name: {**(_metrics(shares[name]) if name in shares else {}), **own}
        for name, own in analysis.condition_metrics.items()
    }
    return replace(
        analysis,
        condition_metrics=metrics,
        metrics={**_metrics(_both(frame, level)), **analysis.metrics},
        described=(*analysis.described, *described),
    )


def _both(asked: pd.DataFrame, level: float) -> dict[str, Estimate]:
    """Both shares; that of the unread is undefined where there is no reply."""
    gone = asked["status"].isin(_GONE)
    shares = {} if gone.all() else {"unread": unread_share(asked, level=level)}
    return {**shares, "unanswered": unanswered_share(asked, level=level)}


def _metrics(shares: Mapping[str, Estimate]) -> dict[str, float]:
    out = {f"quality/{name}_share": math.nan for name in _TITLES}
    for name, share in shares.items():
        metric = f"quality/{name}_share"
        out[metric] = share.estimate
        if share.interval is not None:
            out[f"ci/{metric}.lo"] = share.interval.low
            out[f"ci/{metric}.hi"] = share.interval.high
    return out


def lost_shares_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Both shares of several rows of a table of conditions together.

    Examples
    --------
    >>> rows = [{"n": 10, "unread_share": 0.1, "unanswered_share": 0.0},
    ...         {"n": 10, "unread_share": float("nan"), "unanswered_share": 1.0}]
    >>> lost_shares_of(rows)
    {'unread_share': 0.1, 'unanswered_share': 0.5}
    """
    gone = [round(r["n"] * r["unanswered_share"]) for r in rows]
    unread = sum(
        round((r["n"] - n) * r["unread_share"])
        for r, n in zip(rows, gone, strict=True)
        if n < r["n"]
    )
    counts = {"failed": sum(gone), "unparseable": unread}
    counts["ok"] = sum(int(r["n"]) for r in rows) - sum(counts.values())
    return {name: float(np.round(share, 12)) for name, share in lost_shares(counts).items()}


def lost_metrics(table: pd.DataFrame) -> dict[str, float]:
    """Both shares of a whole table of conditions, as metrics."""
    rows = [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]
    return {f"quality/{name}": share for name, share in lost_shares_of(rows).items()}
