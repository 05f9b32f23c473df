"""Ways of judging the same labelled pairs: each becomes verdicts on pairs, and credit by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.weighted_scores import first_weighted
from judgestats.arrays import Floats, Objects
from judgestats.items.labelled import LabelledPairs, label_table
from judgestats.items.schema import Item
from judgestats.judgments.pairs import both_orders, combined, scores_of
from judgestats.judgments.settings import heat
from judgestats.protocols.naming import pair_name, response_names
from judgestats.stats.agreement.alignment import alignment_credit
from judgestats.stats.agreement.transitivity import pairwise_from_scores

AVERAGE = "pointwise-mean"
"""The method that averages all replications of `pointwise`."""
WEIGHTED = "pointwise-weighted"
"""Scores weighted by the probabilities of their tokens, made from one reply each."""


@dataclass(frozen=True, kw_only=True)
class JudgedPairs:
    """The labelled pairs of an experiment and the ids under which they were judged.

    Attributes
    ----------
    table : LabelledPairs
    names : tuple of str
        Ids of the pairs.
    first, second : tuple of str
        Ids of the pair's two responses as things scored.
    """

    table: LabelledPairs
    names: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]


def judged_pairs(items: Sequence[Item]) -> JudgedPairs:
    """The labelled pairs of the items, with their ids."""
    table = label_table(items)
    by_id = {item.id: item for item in items}
    names, first, second = [], [], []
    for item_id, pair in zip(table.items, table.pairs, strict=True):
        item = by_id[item_id]
        responses = response_names(item)
        names.append(pair_name(item, pair))
        first.append(responses[pair[0]])
        second.append(responses[pair[1]])
    return JudgedPairs(table=table, names=tuple(names), first=tuple(first), second=tuple(second))


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way of judging at one temperature.

    Attributes
    ----------
    condition : str
        Label of the condition it was asked under.
    judge, method : str
    temperature : float
    asked : DataFrame
        Its judgments.
    verdicts : ndarray of object, shape (n_pairs, n_verdicts)
        ``"a"``, ``"b"``, ``"tie"`` or empty; one column a replication, or one in all for a mean.
    credit : ndarray, shape (n_pairs,)
        Mean credit over labels and replications: expected alignment of one verdict.
    orders : tuple of two ndarrays, or None
        Verdicts by order, for comparisons of pairs.
    derived : bool
        Whether it was made from another method's judgments.
    """

    condition: str
    judge: str
    method: str
    temperature: float
    asked: pd.DataFrame
    verdicts: Objects
    credit: Floats
    orders: tuple[Objects, Objects] | None = None
    derived: bool = False

    @property
    def label(self) -> str:
        """The method with its temperature."""
        return f"{self.method} at {heat(self.temperature)}"

    @property
    def described(self) -> str:
        """Label of the condition that its numbers are of: its own, where it is derived."""
        if not self.derived:
            return self.condition
        return self.condition.replace("method=pointwise", f"method={self.method}")


def credit_by_pair(verdicts: Objects, labels: Objects, *, unread: float | None = None) -> Floats:
    """Mean credit of each pair over its verdicts and labels; NaN where there is none of either.

    Parameters
    ----------
    verdicts : ndarray of object, shape (n_pairs, n_verdicts)
    labels : ndarray of object, shape (n_pairs, n_labels)
    unread : float, optional
        Credit of a verdict that could not be read; it is left out by default.

    Examples
    --------
    >>> v = np.array([["a", "tie"], ["b", ""]], dtype=object)
    >>> credit_by_pair(v, np.array([["a"], ["a"]], dtype=object)).tolist()
    [0.75, 0.0]
    >>> credit_by_pair(v, np.array([["a"], ["b"]], dtype=object), unread=0.0).tolist()
    [0.75, 0.5]
    """
    total = np.zeros(len(verdicts))
    count = np.zeros(len(verdicts))
    for v in verdicts.T:
        for human in labels.T:
            credit = alignment_credit(v, human)
            if unread is not None:
                credit = np.where((v == "") & (human != ""), unread, credit)
            present = ~np.isnan(credit)
            total += np.where(present, credit, 0.0)
            count += present
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.nan))


def methods_of(
    frame: pd.DataFrame, pairs: JudgedPairs, *, rule: str, mean_of: str = "pointwise"
) -> list[Method]:
    """Every condition as a method, and the mean of all replications of `mean_of`.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``factor_method``.
    pairs : JudgedPairs
    rule : {"tie", "first", "drop"}
        What a pair is where the two orders disagree.
    mean_of : str
        The method whose replications are also averaged.

    Returns
    -------
    list of Method
    """
    methods: list[Method] = []
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(asked["factor_method"].iloc[0])
        common: dict[str, Any] = {
            "condition": str(condition),
            "judge": str(asked["judge"].iloc[0]),
            "temperature": float(asked["temperature"].iloc[0]),
            "asked": asked,
        }
        if name.startswith("pairwise"):
            ab, ba = both_orders(asked, pairs.names)
            verdicts = combined(ab, ba, rule=rule)
            methods.append(_method(name, verdicts, pairs, orders=(ab, ba), **common))
            continue
        a, b = scores_of(asked, pairs.first), scores_of(asked, pairs.second)
        single = np.column_stack(
            [_words(pairwise_from_scores(a[:, r], b[:, r])) for r in range(a.shape[1])]
        )
        methods.append(_method(name, single, pairs, **common))
        if name == mean_of and a.shape[1] > 1:
            mean = _words(pairwise_from_scores(a, b))[:, None]
            methods.append(_method(AVERAGE, mean, pairs, derived=True, **common))
    return methods


def weighted_methods(frame: pd.DataFrame, pairs: JudgedPairs) -> list[Method]:
    """Scores weighted by their tokens' probabilities, one call each, where they were told."""
    weighted = []
    for condition, asked in frame.groupby("condition", sort=False):
        a, b = (first_weighted(asked, names) for names in (pairs.first, pairs.second))
        if a is None or b is None:
            continue
        weighted.append(
            _method(
                WEIGHTED,
                _words(pairwise_from_scores(a[:, 0], b[:, 0]))[:, None],
                pairs,
                condition=str(condition),
                judge=str(asked["judge"].iloc[0]),
                temperature=float(asked["temperature"].iloc[0]),
                asked=asked,
                derived=True,
            )
        )
    return weighted


def _words(verdicts: NDArray[Any]) -> Objects:
    return np.array([v or "" for v in verdicts], dtype=object)


def _method(name: str, verdicts: Objects, pairs: JudgedPairs, **fields: Any) -> Method:
    return Method(
        method=name,
        verdicts=verdicts,
        credit=credit_by_pair(verdicts, pairs.table.labels),
        **fields,
    )


def baselines(pairs: JudgedPairs) -> dict[str, Floats]:
    """Credit of always saying tie, and that to be expected of a, b and tie drawn alike, by pair."""
    labels = pairs.table.labels
    fixed = np.full((len(pairs.names), 1), "", dtype=object)
    each = {v: credit_by_pair(np.full_like(fixed, v), labels) for v in ("a", "b", "tie")}
    return {"always tie": each["tie"], "random": np.mean(list(each.values()), axis=0)}


def pairs_asked(parameters: Mapping[str, Any]) -> dict[str, str]:
    """How many pairs were asked for, as an option of the plan; nothing where all were."""
    return {} if parameters.get("pairs") is None else {"pairs": str(parameters["pairs"])}


def fewer_pairs(declared: AnalysisPlan, pairs: JudgedPairs) -> list[str]:
    """The limitation that the items hold fewer labelled pairs than were asked for."""
    asked = int(declared.options.get("pairs", 0))
    if asked <= len(pairs.names):
        return []
    return [f"{asked} pairs were asked for; the items hold {len(pairs.names)} with a label."]
