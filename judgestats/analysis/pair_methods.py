"""Methods of judging labelled pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.families import AnalysisPlan, Hypothesis
from judgestats.analysis.records import NamedResult
from judgestats.analysis.score_audit import first_weighted
from judgestats.analysis.selections import entered
from judgestats.analysis.verdict_consistency import kappa_of_tables
from judgestats.arrays import Floats, Objects
from judgestats.data.columns import heat
from judgestats.data.parse import both_orders, combined, scores_of
from judgestats.items.preference_sets import LabelledPairs, label_table
from judgestats.items.records import Item
from judgestats.protocols.template import pair_name, response_names
from judgestats.stats import cohen_kappa, human_ceiling, pairwise_from_scores, relation_null
from judgestats.stats.agreement import alignment_credit, mean_share
from judgestats.stats.inference.result import Estimate, Sample

BEST_METHOD = Hypothesis(
    "best", "Which conditions may be the best, and is a cheap one as good?",
    "comparisons with the best, simultaneous, paired by pair, clustered by question; recommended "
    "is the cheapest within the margin", "all conditions", adjustment="simultaneous",
)  # fmt: skip
MARGIN = 0.05
"""Declared margin: alignment scores that differ by less than five points in a hundred."""
AVERAGE = "pointwise-mean"
"""The method that averages all replications of `pointwise`."""
WEIGHTED = "pointwise-weighted"
"""Scores weighted by the probabilities of their tokens, made from one reply each."""


@dataclass(frozen=True, kw_only=True)
class MethodPairs:
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


def method_pairs(items: Sequence[Item]) -> MethodPairs:
    """The labelled pairs of the items, with their ids."""
    table = label_table(items)
    by_id = {item.id: item for item in items}
    judged = [(by_id[i], pair) for i, pair in zip(table.items, table.pairs, strict=True)]
    names = tuple(pair_name(item, pair) for item, pair in judged)
    first, second = (tuple(response_names(i)[pair[k]] for i, pair in judged) for k in (0, 1))
    return MethodPairs(table=table, names=names, first=first, second=second)


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
        ``"a"``, ``"b"``, ``"tie"`` or empty; one column per replication, or one in all for a mean.
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


def methods_of(frame: pd.DataFrame, pairs: MethodPairs, *, rule: str) -> list[Method]:
    """Every condition as a method, and the mean of all replications of scores.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``factor_method``.
    pairs : MethodPairs
    rule : {"tie", "first", "drop"}
        What a pair is where the two orders disagree.

    Returns
    -------
    list of Method
    """
    methods: list[Method] = []
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(asked["factor_method"].iloc[0])
        if name.startswith("pairwise"):
            ab, ba = both_orders(asked, pairs.names)
            verdicts = combined(ab, ba, rule=rule)
            methods.append(_method(condition, asked, name, verdicts, pairs, orders=(ab, ba)))
            continue
        a, b = scores_of(asked, pairs.first), scores_of(asked, pairs.second)
        methods.append(_method(condition, asked, name, verdicts_of_scores(a, b), pairs))
        if name == "pointwise" and a.shape[1] > 1:
            mean = _words(pairwise_from_scores(a, b))[:, None]
            methods.append(_method(condition, asked, AVERAGE, mean, pairs, derived=True))
    return methods


def weighted_methods(frame: pd.DataFrame, pairs: MethodPairs) -> list[Method]:
    """Scores weighted by their tokens' probabilities, one call each, where they were reported."""
    weighted = []
    for condition, asked in frame.groupby("condition", sort=False):
        a, b = (first_weighted(asked, names) for names in (pairs.first, pairs.second))
        if a is not None and b is not None:
            verdicts = verdicts_of_scores(a[:, :1], b[:, :1])
            weighted.append(_method(condition, asked, WEIGHTED, verdicts, pairs, derived=True))
    return weighted


def verdicts_of_scores(a: Floats, b: Floats) -> Objects:
    """Scores of both responses as verdicts, column by column; equal scores are a tie."""
    return np.column_stack(
        [_words(pairwise_from_scores(a[:, r], b[:, r])) for r in range(a.shape[1])]
    )


def _words(verdicts: NDArray[Any]) -> Objects:
    return np.array([v or "" for v in verdicts], dtype=object)


def judge_in_wording(rows: pd.DataFrame) -> pd.Series:
    """The judge of each row, with the wording where the run has several."""
    judge = rows["judge"].astype(str)
    return judge.str.cat(rows["factor_wording"], " at ") if "factor_wording" in rows else judge


def _method(
    condition: object,
    asked: pd.DataFrame,
    name: str,
    verdicts: Objects,
    pairs: MethodPairs,
    **more: Any,
) -> Method:
    return Method(
        condition=str(condition), judge=judge_in_wording(asked).iloc[0], method=name,
        temperature=float(asked["temperature"].iloc[0]), asked=asked, verdicts=verdicts,
        credit=credit_by_pair(verdicts, pairs.table.labels), **more,
    )  # fmt: skip


def baselines(pairs: MethodPairs) -> dict[str, Floats]:
    """Credit of always saying tie, and that to be expected of a, b and tie drawn alike, by pair."""
    labels = pairs.table.labels
    fixed = np.full((len(pairs.names), 1), "", dtype=object)
    each = {v: credit_by_pair(np.full_like(fixed, v), labels) for v in ("a", "b", "tie")}
    return {"always tie": each["tie"], "random": np.mean(list(each.values()), axis=0)}


def pair_option(parameters: Mapping[str, Any]) -> dict[str, str]:
    """How many pairs were asked for, as an option of the plan; nothing where all were."""
    return {} if parameters.get("pairs") is None else {"pairs": str(parameters["pairs"])}


def fewer_pairs(declared: AnalysisPlan, pairs: MethodPairs) -> list[str]:
    """The limitation that the items hold fewer labelled pairs than were asked for."""
    asked = int(declared.options.get("pairs", 0))
    if asked <= len(pairs.names):
        return []
    return [f"{asked} pairs were asked for; the items hold {len(pairs.names)} with a label."]


_OUTCOMES = ("a", "b", "tie")


def describe_verdicts(
    row: dict[str, Any], verdicts: Objects, pairs: MethodPairs, *, name: str, level: float
) -> tuple[Floats, list[NamedResult]]:
    """Put agreement with human labels, accuracy without ties and the share of ties into a row.

    Parameters
    ----------
    row : dict
        Of the table of conditions; changed.
    verdicts : ndarray of object, shape (n_pairs, n_verdicts)
    pairs : MethodPairs
    name : str
    level : float

    Returns
    -------
    tuple of ndarray and list of NamedResult
        Credit by pair, and the estimates behind the row. Where a verdict could not be read the row
        also says what the agreement is with unparsed verdicts counted as wrong.
    """
    labels = pairs.table.labels
    credit = credit_by_pair(verdicts, labels)

    def share(values: Floats, kind: str, label: str) -> Estimate:
        clusters, label = pairs.table.clusters, f"{label} ({name})"
        return mean_share(values, cluster=clusters, level=level, name=kind, label=label)

    wrong = right = None
    if np.any(verdicts == ""):
        counted = credit_by_pair(verdicts, labels, unread=0.0)
        wrong = share(counted, "alignment_score", "Alignment score, unparsed as wrong")
    decided = credit_by_pair(
        np.where(verdicts == "tie", "", verdicts), np.where(labels == "tie", "", labels)
    )
    if not np.isnan(decided).all():
        right = share(decided, "accuracy", "Accuracy without ties")
    results = entered(
        row, name,
        ("alignment", "descriptive", "alignment", "Alignment",
         share(credit, "alignment_score", "Alignment score")),
        ("alignment_unread_as_wrong", "descriptive", "alignment.unread_as_wrong",
         "Alignment, unparsed as wrong", wrong),
        ("accuracy_decided", "descriptive", "agreement.accuracy", "Accuracy without ties", right),
    )  # fmt: skip
    read = verdicts != ""
    row["tie_share"] = float(np.sum(verdicts == "tie") / read.sum()) if read.any() else math.nan
    return credit, results


def _counts(table: Objects) -> Floats:
    return np.stack([(table == o).sum(axis=1) for o in _OUTCOMES], axis=1).astype(float)


def kappa_with_people(
    verdicts: Objects, pairs: MethodPairs, *, level: float, n_permutations: int, seed: int
) -> Estimate:
    """Cohen's kappa of every verdict with every label, with its null.

    The null gives each pair the labels of another, so that all labels of a pair stay together.
    """
    labels = pairs.table.labels
    deep, wide = verdicts.shape[1], labels.shape[1]
    result = cohen_kappa(
        np.repeat(verdicts, wide, axis=1).ravel(),
        np.tile(labels, (1, deep)).ravel(),
        cluster=np.repeat(pairs.table.clusters, deep * wide),
        categories=list(_OUTCOMES),
        level=level,
    )
    verdict_counts, human = _counts(verdicts), _counts(labels)
    present = (verdict_counts.sum(axis=1) > 0) & (human.sum(axis=1) > 0)
    n, n_clusters = int(present.sum()), len(set(pairs.table.clusters[present]))
    sample = Sample(n_items=n, n_clusters=n_clusters, n_replications=deep)
    result = result.replace(sample=sample)
    if not n_permutations or math.isnan(result.estimate):
        return result
    null = relation_null(
        (human[present], verdict_counts[present]),
        lambda drawn, given: kappa_of_tables(np.einsum("nv,bnl->bvl", given, drawn)),
        cluster=pairs.table.clusters[present], n_permutations=n_permutations, seed=seed,
        vectorized=True,
    )  # fmt: skip
    return result.replace(null=null)


def people_ceiling(pairs: MethodPairs, *, level: float) -> Estimate | None:
    """What human raters score against one another, where a pair has several labels."""
    table = pairs.table
    if table.labels.shape[1] < 2:
        return None
    return human_ceiling(table.labels, cluster=table.clusters, level=level)


def reference_results(pairs: MethodPairs, declared: AnalysisPlan) -> list[NamedResult]:
    """What a score is read against: people against one another, always-tie, and random verdicts."""
    results = []
    if ceiling := people_ceiling(pairs, level=declared.level):
        title = "People against one another"
        results.append(NamedResult("alignment.people", title, "secondary", ceiling))
    for name, credit in baselines(pairs).items():
        score = mean_share(
            credit, cluster=pairs.table.clusters, level=declared.level, name="alignment_score",
            label=f"Alignment score ({name})",
        )  # fmt: skip
        key = f"alignment.{name.replace(' ', '_')}"
        results.append(NamedResult(key, f"Baseline: {name}", "secondary", score))
    return results
