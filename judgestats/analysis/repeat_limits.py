"""Limitations from missing repeats and unparsed replies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.limits import Limit
from judgestats.analysis.ratings import ratings_of
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.data.matrices import lost_shares
from judgestats.protocols.base import NO_REPLY, Status
from judgestats.results import About
from judgestats.results.numbers import NEVER_REPEATED, format_number
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.estimate import Estimate

_TITLES = {
    "unread": "Share of replies not read",
    "unanswered": "Share of judgments not answered",
}


def unparsed_share(asked: pd.DataFrame, *, level: float = 0.95) -> Estimate:
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
    >>> share = unparsed_share(frame)
    >>> share.estimate, share.interval.high > 0.02, unanswered_share(frame).estimate
    (0.0, True, 0.125)
    """
    replies = asked[~asked["status"].isin(_GONE)]
    return _share(replies, ~replies["status"].isin(_READ), "unread_share", level)


def unanswered_share(asked: pd.DataFrame, *, level: float = 0.95) -> Estimate:
    """The share of judgments that were not answered or never asked, as `unparsed_share`."""
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
            f"{kind}.{name}", _TITLES[kind], "descriptive", share, about=About(conditions=(name,))
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
    shares = {} if gone.all() else {"unread": unparsed_share(asked, level=level)}
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


NOT_REPEATED = Limit(
    "No item was judged more than once by the same judge in the same way, so nothing can be said "
    "about consistency: whether asking again would give the same is not known.",
    code=NEVER_REPEATED,
    short="nothing was asked twice: consistency is not known",
)


OF_REPEATS = (
    "within_variance", "sem", "smallest_detectable_change", "constant_share", "icc1", "alpha",
    "omega", "mean_spread_correlation", "sd_between", "n_replications",
)  # fmt: skip


def repeat_limits(frame: pd.DataFrame) -> list[str]:
    """Conditions without repeats, or in which few items were repeated."""
    limits = []
    final = frame["score"].notna() & (frame["stage"] == "final")
    read = frame.loc[final, ["condition", "item_id"]]
    sizes = read.groupby(["condition", "item_id"], sort=False).size()
    never: list[str] = []
    for name, mine in sizes.groupby(level="condition", sort=False):
        repeated, items = int((mine > 1).sum()), len(mine)
        if not repeated:
            never.append(str(name))
        elif 2 * repeated < items:
            limits.append(
                f"{name}: only {repeated} of {items} items were judged more than once. What is "
                "said about consistency rests on these; they may not be like the others."
            )
    return [*not_repeated(never, of=len(set(frame["condition"].unique()))), *limits]


def not_repeated(never: Sequence[str], *, of: int) -> list[str]:
    """What follows for the conditions of which no item was judged again, said once for all.

    Parameters
    ----------
    never : sequence of str
        Their names.
    of : int
        How many conditions there are; where it is all of them, none need be named.

    Returns
    -------
    list of str

    Examples
    --------
    >>> not_repeated(["x", "y"], of=3)[0][:20]
    'x, y: No item was ju'
    >>> not_repeated(["x", "y"], of=2)[0][:11]
    'No item was'
    """
    if not never:
        return []
    return [NOT_REPEATED if len(never) == of else not_repeated_in(never)]


def not_repeated_in(conditions: Sequence[str]) -> Limit:
    """`NOT_REPEATED`, of these conditions alone."""
    text = f"{', '.join(conditions)}: {NOT_REPEATED}"
    n = len(conditions)
    once = "1 condition was" if n == 1 else f"{n} conditions were"
    short = f"{once} asked once: consistency is not known there"
    return Limit(text, code=NOT_REPEATED.code, short=short)


def constant_limits(table: pd.DataFrame) -> list[str]:
    """Conditions with one and the same score throughout."""
    still = table.loc[(table["sd"] == 0) & (table["n_ok"] > 1), "condition"].astype(str).tolist()
    if not still:
        return []
    text = (
        f"{', '.join(still)}: every score is the same. Such scores tell no item from another, "
        "and no agreement with them can be computed."
    )
    return [text]


def label_limits(frame: pd.DataFrame) -> list[str]:
    """What of people's labels could not be compared with scores, and why."""
    ratings, words = ratings_of(frame)
    if not words:
        return []
    spelled = frame["label"].astype(str).str.strip()
    numeric = pd.to_numeric(spelled.where(spelled != ""), errors="coerce").notna()
    by_word = (
        frame["score"].groupby(spelled.where((spelled != "") & ~numeric)).agg(["mean", "count"])
    )
    named = ", ".join(
        f"{str(word)[:30]!r} {short_number(row['mean'])} ({int(row['count'])})"
        for word, row in by_word[by_word["count"] > 0].head(6).iterrows()
    )
    text = (
        f"{words} labels are words, not numbers: a correlation with scores needs numbers, and the "
        "order of the words is not known"
        + (" (the numeric labels are used)" if len(ratings) else "")
        + ". Map them to numbers to compare."
    )
    return [text + (f" Mean score by label (scores): {named}." if named else "")]


def short_number(value: float) -> str:
    """A number with three digits, for a sentence."""
    return format_number(value, digits=3)
