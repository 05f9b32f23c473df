"""Agreement of verdicts with people's: the score, accuracy and kappa, each beside its null."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.validity_annotators import annotator_results
from judgestats.analysis.validity_confidence import confidence_results
from judgestats.analysis.validity_disagreements import verdict_disagreements
from judgestats.arrays import Floats, Ints, Objects
from judgestats.stats.agreement.accuracy import accuracy
from judgestats.stats.agreement.alignment import alignment_score
from judgestats.stats.agreement.cohen import cohen_kappa
from judgestats.stats.inference.relation_null import relation_null
from judgestats.stats.inference.result import Estimate, Note, Result, Sample

_OUTCOMES = ("a", "b", "tie")
_CREDIT = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
"""1 for the same outcome, .5 where exactly one says tie; rows the judge, columns the human."""


def people_results(asked: pd.DataFrame, declared: AnalysisPlan) -> list[tuple[str, str, Result]]:
    """Agreement of one condition's verdicts with people's labels.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition with ``choice`` and ``label`` as ``a``, ``b``, ``tie`` or empty;
        or both in other words (pass and fail), of which only being the same is asked.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Identity, title and result.
    """
    pairs = asked[asked["label"] != ""]
    judge, human = pairs["choice"].to_numpy(object), pairs["label"].to_numpy(object)
    words = {*judge, *human} - {""}
    of_pairs = words <= set(_OUTCOMES)
    names = _OUTCOMES if of_pairs else tuple(sorted(words))
    # Several judgments of one item are not independent: the item is the least cluster.
    options: dict[str, Any] = {
        "cluster": pairs["cluster"].to_numpy(object),
        "level": declared.level,
    }
    statistics: list[tuple[str, str, Estimate, Callable[[Floats], Floats]]] = [
        (
            "people.accuracy",
            "Same verdict as people",
            accuracy(judge, human, categories=names, **options),
            lambda t: _share(t, np.eye(len(names))),
        ),
        (
            "people.kappa",
            "Same verdict as people, beyond chance",
            cohen_kappa(judge, human, categories=list(names), **options),
            _kappa,
        ),
    ]
    if of_pairs:
        statistics.insert(
            0,
            (
                "people.alignment",
                "Agreement with people (1 / .5 / 0)",
                alignment_score(judge, human, **options),
                lambda t: _share(t, _CREDIT),
            ),
        )
    if of_pairs and "tie" in words:
        statistics.append(
            (
                "people.accuracy_decided",
                "Same verdict as people, where neither says tie",
                accuracy(judge, human, ties="exclude", **options),
                lambda t: _share(t[..., :2, :2], np.eye(2)),
            )
        )
    items = _items_read(pairs, names)
    return [
        *(
            (kind, title, _by_item(result, items, value, declared))
            for kind, title, result, value in statistics
        ),
        *_always_same(pairs, names, declared.level),
        *annotator_results(asked, declared, scores=False),
        verdict_disagreements(pairs),
        *confidence_results(asked, declared),
    ]


def _always_same(
    pairs: pd.DataFrame, names: tuple[str, ...], level: float
) -> list[tuple[str, str, Result]]:
    """How often one would be right that always gives people's most common verdict, where read."""
    once = pairs[pairs["choice"] != ""].drop_duplicates("item_id")
    if once.empty:
        return []
    human = once["label"].to_numpy(object)
    constant = str(once["label"].mode().iloc[0])
    same = accuracy(
        np.full(human.size, constant, dtype=object), human, categories=names,
        cluster=once["cluster"].to_numpy(object), level=level,
    )  # fmt: skip
    same = same.replace(label=f"A judge that always says {constant}")
    return [("people.always_same", f"Same verdict as people, always '{constant}'", same)]


def _share(table: Floats, credit: Floats) -> Floats:
    return np.asarray((table * credit).sum((-2, -1)) / table.sum((-2, -1)))


def _kappa(table: Floats) -> Floats:
    p = table / table.sum((-2, -1), keepdims=True)
    chance = (p.sum(-1) * p.sum(-2)).sum(-1)
    return np.asarray((np.trace(p, axis1=-2, axis2=-1) - chance) / (1 - chance))


@dataclass(frozen=True, kw_only=True)
class _Items:
    """What was read of each item; several labels of one leave nothing to shuffle."""

    sizes: Ints
    n_clusters: int
    several_labels: bool
    labels: Ints
    counts: Floats
    clusters: Objects


def _items_read(pairs: pd.DataFrame, names: tuple[str, ...]) -> _Items:
    read = pairs[pairs["choice"] != ""]
    item, ids = pd.factorize(read["item_id"])
    place = {name: i for i, name in enumerate(names)}
    label = read["label"].map(place).to_numpy(int)
    counts, labelled = (np.zeros((len(ids), len(names))) for _ in range(2))
    np.add.at(counts, (item, read["choice"].map(place).to_numpy(int)), 1.0)
    labelled[item, label] = 1.0
    first = np.unique(item, return_index=True)[1]
    return _Items(
        sizes=np.bincount(item, minlength=len(ids)),
        n_clusters=int(read["cluster"].nunique()),
        several_labels=bool((labelled.sum(axis=1) > 1).any()),
        labels=np.asarray(label[first], dtype=np.int64),
        counts=counts,
        clusters=read["cluster"].to_numpy(object)[first],
    )


def _by_item(
    result: Estimate,
    items: _Items,
    value: Callable[[Floats], Floats],
    declared: AnalysisPlan,
) -> Estimate:
    """The result with items counted as items, and with its null.

    The statistics see one row a judgment; several of one item (orders, replications) are counted
    as that item's replications. The null shuffles people's labels over items, so an item's
    judgments stay together, and whole clusters where items have them.
    """
    n, out = items.sizes.size, result.sample
    sample = Sample(
        n_items=n,
        n_clusters=items.n_clusters,
        n_replications=int(items.sizes.min()) if n else None,
        n_replications_max=int(items.sizes.max()) if n else None,
        n_excluded=out.n_excluded,
        excluded={f"judgments, {why}": lost for why, lost in out.excluded.items()},
    )
    result = result.replace(sample=sample)
    if not declared.n_resamples or math.isnan(result.estimate):
        return result
    if items.several_labels:
        return result.replace(
            notes=(
                *result.notes,
                Note(
                    code="no_null",
                    message="items have several different labels, so no null is given: labels "
                    "cannot be shuffled over items",
                ),
            )
        )
    names = np.arange(items.counts.shape[1])
    null = relation_null(
        (items.labels, items.counts),
        lambda drawn, chosen: value(
            np.einsum("nv,bnl->bvl", chosen, (drawn[..., None] == names).astype(float))
        ),
        cluster=items.clusters,
        n_permutations=declared.n_resamples,
        seed=declared.seed,
        vectorized=True,
    )
    return result.replace(null=null)
