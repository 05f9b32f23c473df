"""The share of judgments that could not be read, with its interval, as records and metrics."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.results import About
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.inference.result import Estimate

__all__ = ["unread_share", "with_unread_shares"]

_METRIC = "quality/unread_share"


def unread_share(asked: pd.DataFrame, *, level: float = 0.95) -> Estimate:
    """The share of judgments without a verdict, averaged over items, its interval over clusters.

    Parameters
    ----------
    asked : DataFrame
        Parsed judgments with ``item_id``, ``cluster`` and ``status``.
    level : float

    Returns
    -------
    Estimate

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("abcdefgh"), "cluster": list("abcdefgh"),
    ...                       "status": "ok"})
    >>> share = unread_share(frame)
    >>> share.estimate, share.interval.high > 0.02
    (0.0, True)
    """
    lost = asked["status"].ne("ok").astype(float)
    items = lost.groupby(asked["item_id"], sort=False).mean()
    clusters = asked.groupby("item_id", sort=False)["cluster"].first()
    return mean_share(
        items.to_numpy(),
        cluster=clusters.loc[items.index].to_numpy(),
        level=level,
        name="unread_share",
        label="Share of judgments not read",
    )


def with_unread_shares(analysis: Analysis, frame: pd.DataFrame, *, level: float) -> Analysis:
    """An analysis with the interval of every condition's unread share, and of the whole run's."""
    if "stage" in frame:
        frame = frame[frame["stage"] == "final"]
    shares = {
        str(name): unread_share(asked, level=level)
        for name, asked in frame.groupby("condition", sort=False)
    }
    metrics = {
        name: {**(_metrics(shares[name]) if name in shares else {}), **own}
        for name, own in analysis.condition_metrics.items()
    }
    described = tuple(
        NamedResult(
            id=f"unread.{name}",
            title="Share of judgments not read",
            role="descriptive",
            result=share,
            about=About(conditions=(name,)),
        )
        for name, share in shares.items()
    )
    return replace(
        analysis,
        condition_metrics=metrics,
        metrics={**_metrics(unread_share(frame, level=level)), **analysis.metrics},
        described=(*analysis.described, *described),
    )


def _metrics(share: Estimate) -> dict[str, float]:
    out = {_METRIC: share.estimate}
    if share.interval is not None:
        out |= {f"ci/{_METRIC}.lo": share.interval.low, f"ci/{_METRIC}.hi": share.interval.high}
    return out
