"""The probes of the bias experiment: what one judge at one temperature said of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.pair_methods import JudgedPairs
from judgestats.items.schema import Item
from judgestats.judgments.pairs import both_orders, scores_of
from judgestats.judgments.settings import heat
from judgestats.protocols.naming import response_names
from judgestats.protocols.padding import unpadded
from judgestats.protocols.scale import Scale

__all__ = [
    "POINTS",
    "Comparing",
    "Probed",
    "Things",
    "author_of_judge",
    "in_points",
    "place_shares",
    "preference_share",
    "probed",
    "things_of",
]

Floats = NDArray[np.float64]
Objects = NDArray[np.object_]

POINTS = Scale(low=1, high=10)
"""Scores of every scale are told in points of this one, so that scales can be compared."""

_SHARE = {"a": 1.0, "b": 0.0, "tie": 0.5}


@dataclass(frozen=True, kw_only=True)
class Things:
    """What is scored, and what is known of it.

    Attributes
    ----------
    original : tuple of str
        Ids of the answers without padding.
    twins : tuple of (str, str)
        Ids of an answer and of its padded twin.
    cluster : mapping of id to question
    """

    original: tuple[str, ...]
    twins: tuple[tuple[str, str], ...]
    cluster: Mapping[str, str]

    def clusters(self, names: Sequence[str]) -> Objects:
        """The questions of some ids."""
        return np.array([self.cluster[n] for n in names], dtype=object)


def things_of(items: Sequence[Item]) -> Things:
    """The ids of all answers, and which are padded twins of which."""
    twins, original, cluster = [], [], {}
    for item in items:
        names = response_names(item)
        by_text = {r.text.rstrip(): n for r, n in zip(item.responses, names, strict=True)}
        for response, name in zip(item.responses, names, strict=True):
            cluster[name] = item.cluster
            bare = unpadded(response.text)
            if bare == response.text:
                original.append(name)
            else:
                twins.append((by_text[bare.rstrip()], name))
    return Things(original=tuple(original), twins=tuple(twins), cluster=cluster)


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """Verdicts on the labelled pairs, and what stood beside them.

    Attributes
    ----------
    ab, ba : ndarray of object, shape (n_pairs, n_replications)
        Verdicts in both orders.
    human : ndarray, shape (n_pairs,)
        People's share for the earlier response, a tie counting half.
    log_length_ratio : ndarray, shape (n_pairs,)
    own : ndarray, shape (n_pairs,)
        1 where the earlier response is the judge's own, -1 where the later one is, else 0.
    """

    ab: Objects
    ba: Objects
    human: Floats
    log_length_ratio: Floats
    own: Floats

    @property
    def preference(self) -> Floats:
        """The judge's share for the earlier response over both orders, which weigh alike."""
        return np.asarray((preference_share(self.ab) + preference_share(self.ba)) / 2)


@dataclass(frozen=True, kw_only=True)
class Probed:
    """One judge at one temperature.

    Attributes
    ----------
    where, judge : str
    comparing : Comparing or None
    conditions : mapping of probe to condition
    scores : mapping of scale to ndarray, shape (n_answers, n_replications)
        Of the answers without padding, in `POINTS`.
    padded : mapping of scale to ndarray, shape (n_twins, 2, n_replications)
        Original and padded, in `POINTS`.
    native : mapping of scale to ndarray
        As `scores`, in points of the scale itself.
    """

    where: str
    judge: str
    comparing: Comparing | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, Floats] = field(default_factory=dict)
    padded: Mapping[str, Floats] = field(default_factory=dict)
    native: Mapping[str, Floats] = field(default_factory=dict)


def probed(
    frame: pd.DataFrame,
    *,
    items: Sequence[Item],
    pairs: JudgedPairs,
    things: Things,
    own: Mapping[str, str],
) -> list[Probed]:
    """Every judge at every temperature with what it said of each probe.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``factor_probe``.
    items : sequence of Item
    pairs : JudgedPairs
    things : Things
    own : mapping of judge to author
        Whose answers are the judge's own.

    Returns
    -------
    list of Probed
    """
    labels_beside = _beside(items, pairs)
    effects = []
    for (judge, temperature), asked in frame.groupby(
        ["judge", "temperature"], sort=False, dropna=False
    ):
        parts: dict[str, Any] = {"conditions": {}, "scores": {}, "padded": {}, "native": {}}
        for probe, own_rows in asked.groupby("factor_probe", sort=False):
            name = str(probe)
            parts["conditions"][name] = str(own_rows["condition"].iloc[0])
            if name == "pairs":
                parts["comparing"] = _comparing(
                    own_rows, pairs, labels_beside, own.get(str(judge), "")
                )
                continue
            scale = Scale.parse(name.removeprefix("scale "))
            plain = scores_of(own_rows, things.original)
            parts["native"][name] = plain
            parts["scores"][name] = in_points(plain, scale)
            parts["padded"][name] = np.stack(
                [
                    in_points(scores_of(own_rows, [t[i] for t in things.twins]), scale)
                    for i in (0, 1)
                ],
                axis=1,
            )
        effects.append(
            Probed(where=f"{judge} at {heat(float(str(temperature)))}", judge=str(judge), **parts)
        )
    return effects


def in_points(scores: Floats, scale: Scale) -> Floats:
    """Scores of a scale in points of `POINTS`."""
    share = (scores - scale.low) / (scale.high - scale.low)
    return np.asarray(POINTS.low + share * (POINTS.high - POINTS.low))


def _beside(items: Sequence[Item], pairs: JudgedPairs) -> tuple[Floats, Floats, Objects]:
    """People's share, log ratio of lengths and the two authors of every pair."""
    by_id = {item.id: item for item in items}
    texts = [
        tuple(by_id[i].responses[k] for k in pair)
        for i, pair in zip(pairs.table.items, pairs.table.pairs, strict=True)
    ]
    ratio = np.array([np.log(max(len(a.text), 1) / max(len(b.text), 1)) for a, b in texts])
    authors = np.array([[a.author, b.author] for a, b in texts], dtype=object)
    return preference_share(pairs.table.labels), ratio, authors


def _comparing(
    rows: pd.DataFrame,
    pairs: JudgedPairs,
    labels_beside: tuple[Floats, Floats, Objects],
    author: str,
) -> Comparing:
    human, ratio, authors = labels_beside
    ab, ba = both_orders(rows, pairs.names)
    mine = authors == author if author else np.zeros(authors.shape, dtype=bool)
    return Comparing(
        ab=ab,
        ba=ba,
        human=human,
        log_length_ratio=ratio,
        own=mine[:, 0].astype(float) - mine[:, 1].astype(float),
    )


def author_of_judge(judge: str, authors: Sequence[str]) -> str:
    """The author that bears the name of a judge's model, or nothing.

    Examples
    --------
    >>> author_of_judge("org/GPT-4@http://localhost/v1", ["gpt-4", "llama"])
    'gpt-4'
    """
    model = judge.partition("@")[0].lower()
    names = {model, model.rpartition("/")[2]}
    return next((a for a in authors if a.lower() in names), "")


def preference_share(verdicts: Objects) -> Floats:
    """Share of each pair's verdicts for the earlier response, a tie counting half; NaN if none.

    Examples
    --------
    >>> preference_share(np.array([["a", "tie"], ["b", ""], ["", ""]], dtype=object)).tolist()
    [0.75, 0.0, nan]
    """
    points = np.vectorize(lambda v: _SHARE.get(v, np.nan), otypes=[float])(verdicts)
    present = ~np.isnan(points)
    count = present.sum(axis=1)
    total = np.where(present, points, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def place_shares(ab: Objects, ba: Objects) -> Floats:
    """Share of each pair's verdicts for the second and for the first place, shape (n_pairs, 2).

    Each order weighs the same; a tie counts half; NaN where an order was not read.
    """
    first = (preference_share(ab) + 1 - preference_share(ba)) / 2
    return np.column_stack([1 - first, first])
