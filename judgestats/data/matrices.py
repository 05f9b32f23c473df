"""Arrays of the statistics from a judgments frame: scores, and verdicts on pairs in both orders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.arrays import Floats, Objects
from judgestats.data.columns import RULES
from judgestats.errors import InputError, one_of
from judgestats.protocols.base import NO_REPLY, Status


@dataclass(frozen=True, kw_only=True)
class ScoreArray:
    """Scores as items x conditions x replications, NaN where there is none.

    `items`, `clusters` and `categories` have one entry per item; `conditions` one per condition.
    """

    scores: NDArray[np.float64]
    items: tuple[str, ...]
    clusters: NDArray[np.object_]
    conditions: tuple[str, ...]

    def condition(self, name: str) -> NDArray[np.float64]:
        """Items x replications of one condition."""
        return self.scores[:, self.conditions.index(name), :]


def score_array(frame: pd.DataFrame, *, conditions: tuple[str, ...] | None = None) -> ScoreArray:
    """Spread a parsed frame out as items x conditions x replications.

    Parameters
    ----------
    frame : DataFrame
        A parsed judgments frame.
    conditions : tuple of str, optional
        Which conditions, in which order; all by default, in order of appearance.

    Returns
    -------
    ScoreArray
        The last axis is as long as the largest number of replications; replications keep their
        index, so that a failed call leaves a gap rather than moving the others up.

    Raises
    ------
    InputError
        A condition is not in the frame, or two judgments claim one place: an item was scored in
        several orders of presentation, or a replicate occurs twice. What the order does to a score
        is not inconsistency, so orders are not replications: they are a factor.

    Examples
    --------
    >>> f = pd.DataFrame({"condition": ["a", "a"], "item_id": ["x", "x"], "cluster": ["q", "q"],
    ...                   "stage": "final", "replicate": [0, 1], "score": [7.0, np.nan]})
    >>> score_array(f).scores.tolist()
    [[[7.0, nan]]]
    """
    frame = frame[frame["stage"] == "final"]
    present = tuple(frame["condition"].unique())
    chosen = present if conditions is None else conditions
    unknown = [c for c in chosen if c not in present]
    if unknown:
        raise InputError(
            f"score_array: no judgment has the condition {', '.join(unknown)}. There are: "
            f"{', '.join(present)}."
        )
    frame = frame[frame["condition"].isin(chosen)]
    # Conditions without any score (verdicts in words, often in both orders) are all missing here.
    with_scores = frame.loc[frame["score"].notna(), "condition"].unique()
    _check_orders(frame[frame["condition"].isin(with_scores)])
    item_codes, items = pd.factorize(frame["item_id"])
    codes = {c: i for i, c in enumerate(chosen)}
    shown, labels = pd.factorize(frame["condition"])
    condition_codes = np.array([codes[c] for c in labels], dtype=int)[shown]
    replicate_codes = pd.factorize(frame["replicate"], sort=True)[0]
    width = int(replicate_codes.max()) + 1 if len(frame) else 0
    scores = np.full((len(items), len(chosen), width), np.nan)
    score = frame["score"].to_numpy(float)
    place = np.ravel_multi_index((item_codes, condition_codes, replicate_codes), scores.shape)
    twice = np.bincount(place[~np.isnan(score)], minlength=1) > 1
    if twice.any():
        row = frame.iloc[int(np.flatnonzero(np.isin(place, np.flatnonzero(twice)))[0])]
        raise InputError(
            f"score_array: several scores claim one place, {int(twice.sum())} times; the first is "
            f"replicate {row['replicate']} of item {str(row['item_id'])[:60]!r} under "
            f"{row['condition']!r}. Number the repetitions in the replicate column, or drop the "
            "repeated rows."
        )
    scores[item_codes, condition_codes, replicate_codes] = score
    first = frame.drop_duplicates("item_id").set_index("item_id")["cluster"]
    clusters = first.loc[list(items)].to_numpy(object)
    return ScoreArray(
        scores=scores, items=tuple(map(str, items)), clusters=clusters, conditions=chosen
    )


def several_orders(condition: str, n_items: int) -> str:
    """What is wrong with scores of one condition in several orders, and what to do.

    Parameters
    ----------
    condition : str
    n_items : int
        Items that were scored in more than one order.

    Returns
    -------
    str

    Examples
    --------
    >>> several_orders("A", 1)[:60]
    "1 item of 'A' was scored in several orders of presentation, "
    """
    counted = f"{n_items:,} items of {condition!r} were" if n_items != 1 else (
        f"1 item of {condition!r} was"
    )  # fmt: skip
    return (
        f"{counted} scored in several orders of presentation, which are not repetitions of one "
        "judgment. Make the order a factor, so that every order is a condition "
        "(--factor order, read_judgments(..., factors=('order',))), or keep one order"
    )


def _check_orders(scored: pd.DataFrame) -> None:
    """Refuse scores of one item and condition in several orders of presentation."""
    if "order" not in scored or len(scored["order"].unique()) < 2:
        return
    orders = scored.groupby(["condition", "item_id"], sort=False, observed=True)["order"]
    several = orders.nunique().gt(1).groupby(level="condition", sort=False).sum()
    for condition, count in several[several > 0].items():
        raise InputError(f"score_array: {several_orders(str(condition), int(count))}.")


def status_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts of each status by condition, with the shares that were not read and not answered.

    Examples
    --------
    >>> f = pd.DataFrame({"condition": ["a"] * 4, "status": ["ok", "ok", "refused", "failed"]})
    >>> status_table(f).loc["a", ["unread_share", "unanswered_share"]].round(3).tolist()
    [0.333, 0.25]
    """
    table = pd.crosstab(frame["condition"], frame["status"])
    table = table.reindex(list(frame["condition"].unique()))
    shares = [lost_shares(counts) for counts in table.to_dict("records")]
    return table.assign(n=table.sum(axis=1), **pd.DataFrame(shares, index=table.index))


def lost_shares(counts: Mapping[Any, int]) -> dict[str, float]:
    """Of counts by status: the share of replies not read, and of judgments without a reply.

    Two different failures: a reply that cannot be read is the judge's, a judgment that was not
    answered (or never asked, since the model refuses its condition) the server's. If nothing was
    answered, it is not known how much would have been read (NaN). "Not applicable" was read.

    Examples
    --------
    >>> lost_shares({"ok": 3, "refused": 1, "failed": 1})
    {'unread_share': 0.25, 'unanswered_share': 0.2}
    >>> lost_shares({"failed": 1})
    {'unread_share': nan, 'unanswered_share': 1.0}
    """
    total = sum(counts.values())
    answered = total - sum(counts.get(status.value, 0) for status in NO_REPLY)
    read = counts.get(Status.OK.value, 0) + counts.get(Status.NOT_APPLICABLE.value, 0)
    return {
        "unread_share": (answered - read) / answered if answered else math.nan,
        "unanswered_share": (total - answered) / total if total else math.nan,
    }


def both_orders(asked: pd.DataFrame, pairs: Sequence[str]) -> tuple[Objects, Objects]:
    """Verdicts of one condition in both orders, pairs x replications; empty text where unparsed.

    Parameters
    ----------
    asked : DataFrame
        Parsed judgments of a pairwise condition; `choice` names the response (a, b, tie).
    pairs : sequence of str
        The pairs' ids, in the order wanted.

    Returns
    -------
    tuple of ndarray of object
        Orders ``ab`` and ``ba``.
    """
    replicates = sorted(set(asked["replicate"].unique()))
    tables = []
    for order in ("ab", "ba"):
        own = asked[asked["order"] == order]
        wide = own.pivot(index="item_id", columns="replicate", values="choice")
        wide = wide.reindex(index=list(pairs), columns=replicates).astype(object)
        tables.append(wide.where(wide.notna(), "").to_numpy(object))
    return tables[0], tables[1]


def combined(ab: Objects, ba: Objects, *, rule: str) -> Objects:
    """One verdict from both orders, by the declared rule; empty text where there is none.

    Parameters
    ----------
    ab, ba : ndarray of object
        ``"a"``, ``"b"``, ``"tie"`` or empty.
    rule : {"tie", "first", "drop"}

    Returns
    -------
    ndarray of object
        Where an order could not be read there is no verdict, except that ``first`` asks for the
        first order only.

    Examples
    --------
    >>> ab, ba = np.array(["a", "a", "b", ""]), np.array(["a", "b", "tie", "a"])
    >>> [combined(ab, ba, rule=r).tolist() for r in RULES]
    [['a', 'tie', 'tie', ''], ['a', 'a', 'b', ''], ['a', '', '', '']]
    """
    one_of("combined", "rule", rule, RULES)
    if rule == "first":
        return ab.astype(object)
    otherwise = "tie" if rule == "tie" else ""
    read = (ab != "") & (ba != "")
    return np.where(read, np.where(ab == ba, ab, otherwise), "").astype(object)


def scores_of(asked: pd.DataFrame, items: Sequence[str], *, values: str = "score") -> Floats:
    """Scores of one condition, things judged x replications; NaN where unparsed.

    Parameters
    ----------
    asked : DataFrame
    items : sequence of str
        Rows wanted, in this order; one may be in it several times, as an answer in several pairs
        does.
    values : str

    Raises
    ------
    InputError
        An item has several in one replicate.
    """
    place = {item: i for i, item in enumerate(dict.fromkeys(items))}
    row = np.array([place.get(item, -1) for item in asked["item_id"].to_numpy(object)], dtype=int)
    replicates, column = np.unique(asked["replicate"].to_numpy(), return_inverse=True)
    wide = np.full((len(place), replicates.size), np.nan)
    held = row >= 0
    cells = row[held] * replicates.size + column[held]
    if np.unique(cells).size < cells.size:
        raise InputError(
            "scores_of: an item has several scores in one replicate. Number the repetitions, or "
            "take one order at a time."
        )
    wide[row[held], column[held]] = asked[values].to_numpy(dtype=float)[held]
    return wide[[place[item] for item in items]]
