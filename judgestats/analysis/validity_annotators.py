"""Several people labelled the same items: the ceiling, and whether the judge may replace one."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.plan import AnalysisPlan
from judgestats.errors import InputError
from judgestats.stats.agreement.kappa import fleiss_kappa
from judgestats.stats.inference.result import Estimate, Result
from judgestats.stats.validity.alternative_annotator import (
    AlternativeAnnotator,
    alternative_annotator_test,
)
from judgestats.stats.validity.ceiling import agreement_ceiling

PERSON = "label_"
"""Prefix of a column that holds one person's labels."""
_LEAST = 10
_MOST_PEOPLE = 50


def annotator_results(
    asked: pd.DataFrame, declared: AnalysisPlan, *, scores: bool
) -> list[tuple[str, str, Result]]:
    """What people agree on among themselves, beside the judge; the alternative annotator test.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition; columns ``label_NAME`` hold each person's labels in the
        judge's words.
    declared : AnalysisPlan
    scores : bool
        Whether `score` holds the verdicts, else `choice`.

    Returns
    -------
    list of (str, str, Result)
        Empty where fewer than ten judged items have the labels of two people.
    """
    people = [str(c) for c in asked if str(c).startswith(PERSON)]
    if not 2 <= len(people) <= _MOST_PEOPLE:
        return []
    first = asked.drop_duplicates("item_id").set_index("item_id")
    labels = _labels(first[people], scores=scores)
    judge = _judge(asked, scores=scores).reindex(first.index)
    present = pd.notna(labels)
    enough = pd.notna(judge).to_numpy() & (present.sum(axis=1) >= 2)
    if int(enough.sum()) < _LEAST:
        return []
    clusters = first["cluster"].to_numpy(object)
    cluster = clusters if len(set(clusters)) < len(clusters) else None
    values = judge.to_numpy(object)
    try:
        agreed = agreement_ceiling(
            values, labels, scores=scores, cluster=cluster, level=declared.level
        )
        replaced = alternative_annotator_test(
            values,
            labels,
            annotators=[c.removeprefix(PERSON) for c in people],
            scoring="neg_rmse" if scores else "accuracy",
            cluster=cluster,
            seed=declared.seed,
        )
    except InputError:  # labels that are no numbers: nothing here is said of them
        return []
    judged = "apart" if scores else "with_one"
    beyond: list[tuple[str, str, Result]] = []
    if not scores:  # on the items of the others: judged, labelled by two
        kappa = fleiss_kappa(
            labels[enough], cluster=clusters[enough], level=declared.level, n_permutations=0
        ).replace(label="Two people agree, beyond chance")
        beyond = [("people.among_kappa", kappa.label, kappa)]
    return [
        (f"people.{judged}", agreed["judge"].label, agreed["judge"]),
        ("people.among_themselves", agreed["people"].label, agreed["people"]),
        ("people.gap", agreed["gap"].label, agreed["gap"]),
        *beyond,
        ("people.replaced", "May the judge replace an annotator?", replaced),
        *_replaces(replaced),
    ]


def _replaces(replaced: AlternativeAnnotator) -> list[tuple[str, str, Result]]:
    """Of how many people the test says that the judge may stand for, beside a constant judge."""
    constant = replaced.beside.get("always the same")
    return [
        (
            f"people.{kind}",
            label,
            Estimate(
                name="winning_rate", label=label, estimate=test.winning_rate, sample=test.sample,
                reason=test.reason,
            ),
        )
        for kind, label, test in (
            ("replaces", f"People it may stand for (epsilon {replaced.epsilon:g})", replaced),
            ("constant_replaces", "People that a constant judge may stand for", constant),
        )
        if test is not None and not test.reason
    ]  # fmt: skip


def _labels(table: pd.DataFrame, *, scores: bool) -> NDArray[np.object_]:
    """Items x people, None where a person said nothing, in the words of the choices."""
    words = table.fillna("").astype(str).to_numpy(object).ravel()
    labels_text = pd.Series(words, dtype=object).str.strip()
    if not scores:
        labels_text = labels_text.str.lower()
    return labels_text.where(labels_text != "", None).to_numpy(object).reshape(table.shape)


def _judge(asked: pd.DataFrame, *, scores: bool) -> pd.Series:
    """The judge's mean score, or what it says most often (None where two things are)."""
    if scores:
        return asked.groupby("item_id", sort=False)["score"].mean()
    read = asked[asked["choice"] != ""]
    counts = pd.crosstab(read["item_id"], read["choice"].str.lower())
    if counts.empty:
        return pd.Series(dtype=object)
    top = counts.max(axis=1)
    most = pd.Series(counts.idxmax(axis=1), dtype=object)
    return most.where(counts.eq(top, axis=0).sum(axis=1) == 1, None)
