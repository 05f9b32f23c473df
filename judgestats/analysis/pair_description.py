"""Verdicts on labelled pairs described: agreement with people, kappas, ties, beside references."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.pair_methods import JudgedPairs, baselines, credit_by_pair
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.selections import add_estimate, named
from judgestats.arrays import Floats, Objects
from judgestats.stats.agreement.accuracy import human_ceiling
from judgestats.stats.agreement.cohen import cohen_kappa
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.inference.relation_null import relation_null
from judgestats.stats.inference.result import Estimate, Sample

_OUTCOMES = ("a", "b", "tie")


def share_of_pairs(
    values: Floats, pairs: JudgedPairs, *, level: float, name: str, label: str
) -> Estimate:
    """Mean over pairs with an interval over questions."""
    return mean_share(values, cluster=pairs.table.clusters, level=level, name=name, label=label)


def describe_verdicts(
    row: dict[str, Any], verdicts: Objects, pairs: JudgedPairs, *, name: str, level: float
) -> tuple[Floats, list[NamedResult]]:
    """Put agreement with people, accuracy without ties and the share of ties into a row.

    Parameters
    ----------
    row : dict
        Of the table of conditions; changed.
    verdicts : ndarray of object, shape (n_pairs, n_verdicts)
    pairs : JudgedPairs
    name : str
    level : float

    Returns
    -------
    tuple of ndarray and list of NamedResult
        Credit by pair, and the estimates behind the row. Where a verdict could not be read the row
        also says what the agreement is with unread verdicts counted as wrong.
    """
    labels = pairs.table.labels
    credit = credit_by_pair(verdicts, labels)

    def share(values: Floats, kind: str, label: str) -> Estimate:
        return share_of_pairs(values, pairs, level=level, name=kind, label=f"{label} ({name})")

    score = share(credit, "alignment_score", "Alignment score")
    add_estimate(row, "alignment", score)
    results = [named(f"alignment.{name}", f"Alignment, {name}", "descriptive", score)]
    if np.any(verdicts == ""):
        wrong = credit_by_pair(verdicts, labels, unread=0.0)
        counted = share(wrong, "alignment_score", "Alignment score, unread as wrong")
        add_estimate(row, "alignment_unread_as_wrong", counted)
        results.append(
            named(f"alignment.unread_as_wrong.{name}", f"Alignment, unread as wrong, {name}",
                  "descriptive", counted)
        )  # fmt: skip
    decided = credit_by_pair(
        np.where(verdicts == "tie", "", verdicts), np.where(labels == "tie", "", labels)
    )
    if not np.isnan(decided).all():
        right = share(decided, "accuracy", "Accuracy without ties")
        add_estimate(row, "accuracy_decided", right)
        results.append(
            named(f"agreement.accuracy.{name}", f"Accuracy without ties, {name}", "descriptive",
                  right)
        )  # fmt: skip
    read = verdicts != ""
    row["tie_share"] = float(np.sum(verdicts == "tie") / read.sum()) if read.any() else math.nan
    return credit, results


def _counts(table: Objects) -> Floats:
    return np.stack([(table == o).sum(axis=1) for o in _OUTCOMES], axis=1).astype(float)


def _kappa(table: Floats) -> Floats:
    p = table / table.sum((-2, -1), keepdims=True)
    chance = (p.sum(-1) * p.sum(-2)).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((np.trace(p, axis1=-2, axis2=-1) - chance) / (1 - chance))


def kappa_with_people(
    verdicts: Objects, pairs: JudgedPairs, *, level: float, n_permutations: int, seed: int
) -> Estimate:
    """Cohen's kappa of every verdict with every label, beside its null.

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
    result = result.replace(
        sample=Sample(
            n_items=int(present.sum()),
            n_clusters=len(set(pairs.table.clusters[present])),
            n_replications=deep,
        )
    )
    if not n_permutations or math.isnan(result.estimate):
        return result
    verdict_counts, human, clusters = (
        verdict_counts[present],
        human[present],
        pairs.table.clusters[present],
    )
    null = relation_null(
        (human, verdict_counts),
        lambda drawn, given: _kappa(np.einsum("nv,bnl->bvl", given, drawn)),
        cluster=clusters,
        n_permutations=n_permutations,
        seed=seed,
        vectorized=True,
    )
    return result.replace(null=null)


def people_ceiling(pairs: JudgedPairs, *, level: float) -> Estimate | None:
    """What people score against one another, where a pair has several labels."""
    table = pairs.table
    if table.labels.shape[1] < 2:
        return None
    return human_ceiling(table.labels, cluster=table.clusters, level=level)


def reference_results(pairs: JudgedPairs, declared: AnalysisPlan) -> list[NamedResult]:
    """What a score is read against: people against one another, always-tie, and random verdicts."""
    results = []
    ceiling = people_ceiling(pairs, level=declared.level)
    if ceiling is not None:
        results.append(
            named("alignment.people", "People against one another", "secondary", ceiling)
        )
    for name, credit in baselines(pairs).items():
        score = share_of_pairs(
            credit, pairs, level=declared.level, name="alignment_score",
            label=f"Alignment score ({name})",
        )  # fmt: skip
        results.append(
            named(f"alignment.{name.replace(' ', '_')}", f"Baseline: {name}", "secondary", score)
        )
    return results
