"""Strategies, gains, scaling, selection and points of a judge, tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from judgestats.analysis.crowd_data import Judged
from judgestats.analysis.crowd_plan import REFERENCE
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.selections import named
from judgestats.analysis.verdict_shares import of_shares
from judgestats.protocols.strategies import strategy
from judgestats.results import About
from judgestats.stats.comparison.cochran import cochran_q_test
from judgestats.stats.comparison.ordered_conditions import page_trend_test
from judgestats.stats.spread.equivalence import equivalence_of_means
from judgestats.stats.spread.mean_shift import mean_shift


def strategy_results(judged: Judged, declared: AnalysisPlan) -> list[NamedResult]:
    """Cochran's Q and McNemar under both policies for what could not be read."""
    names = conditions_of(declared, "strategies", judged)
    if len(names) < 2:
        return []
    primary = _cochran(judged, names, declared)
    results = [
        named(
            f"strategies.{judged.name}",
            f"Right verdicts by strategy, {judged.name}",
            "primary",
            primary,
            headline=True,
        ),
        named(
            f"strategies.pairs.{judged.name}",
            f"Which strategies differ, {judged.name}",
            "primary",
            primary.mcnemar(level=declared.level),
            about=About(stratum=judged.name),
        ),
    ]
    if judged.rows["right"].isna().any():
        results.append(
            named(
                f"strategies.unread_wrong.{judged.name}",
                f"Right verdicts, a missing one counted as wrong, {judged.name}",
                "secondary",
                _cochran(judged, names, declared, unread=0.0),
            )
        )
    return results


def _cochran(
    judged: Judged, names: Sequence[str], declared: AnalysisPlan, *, unread: float | None = None
) -> Any:
    wide = judged.by_verdict(names, unread=unread)
    return cochran_q_test(
        wide.to_numpy(float),
        names=list(names),
        cluster=judged.clusters_of(wide.index),
        level=declared.level,
        n_permutations=declared.n_resamples,
        seed=declared.seed,
    )


def gain_results(judged: Judged, declared: AnalysisPlan) -> list[NamedResult]:
    """Differences from vanilla, and whether none is shown."""
    asked = dict.fromkeys(
        [
            *conditions_of(declared, "strategies", judged),
            *conditions_of(declared, "scaling", judged),
        ]
    )
    if REFERENCE not in asked or len(asked) < 2:
        return []
    names = [REFERENCE, *(n for n in asked if n != REFERENCE)]
    right = judged.by_pair("right", names)
    shifts = of_shares(
        mean_shift(
            right,
            conditions=names,
            cluster=judged.cluster,
            reference=REFERENCE,
            level=declared.level,
        )
    )
    return [
        named(
            f"gain.{judged.name}",
            f"Accuracy beyond the vanilla judge's, {judged.name}",
            "secondary",
            shifts,
            headline=True,
            about=About(stratum=judged.name),
        ),
        named(
            f"gain.equivalence.{judged.name}",
            f"Is no difference from vanilla shown? {judged.name}",
            "secondary",
            of_shares(
                equivalence_of_means(
                    right,
                    margin=declared.margins["accuracy"],
                    conditions=names,
                    cluster=judged.cluster,
                    reference=REFERENCE,
                ).replace(quantity="accuracy, as a share of the pairs")
            ),
            about=About(stratum=judged.name),
        ),
    ]


def scaling_results(judged: Judged, declared: AnalysisPlan) -> list[NamedResult]:
    """Trend of accuracy and of the explanation's length over k."""
    names = conditions_of(declared, "scaling", judged)
    if len(names) < 3:
        return []
    labels = [f"k={strategy(n).k}" for n in names]
    common: dict[str, Any] = {
        "names": labels,
        "cluster": judged.cluster,
        "level": declared.level,
        "n_permutations": declared.n_resamples,
        "seed": declared.seed,
        "alternative": "two-sided",
    }
    accuracy = page_trend_test(judged.by_pair("right", names), **common)
    return [
        named(
            f"scaling.accuracy.{judged.name}",
            f"Accuracy against the number of crowd judgments, {judged.name}",
            "secondary",
            accuracy,
            headline=True,
        ),
        named(
            f"scaling.length.{judged.name}",
            f"Length of the explanation against the number of crowd judgments, {judged.name}",
            "secondary",
            page_trend_test(judged.by_pair("words", names), **common),
        ),
    ]


def selection_results(judged: Judged, declared: AnalysisPlan) -> list[NamedResult]:
    """Selections with and without verdicts, at each k."""
    results = []
    by_k: dict[int, list[str]] = {}
    for name in conditions_of(declared, "selections", judged):
        by_k.setdefault(strategy(name).k, []).append(name)
    for k, names in by_k.items():
        if len(names) < 2:
            continue
        test = _cochran(judged, names, declared)
        results += [
            named(
                f"selection.k{k}.{judged.name}",
                f"Right verdicts by selection at k = {k}, {judged.name}",
                "secondary",
                test,
            ),
            named(
                f"selection.pairs.k{k}.{judged.name}",
                f"Which selections differ at k = {k}, {judged.name}",
                "secondary",
                test.mcnemar(level=declared.level),
                about=About(stratum=judged.name),
            ),
        ]
    return results


def point_results(judged: Judged, declared: AnalysisPlan) -> list[NamedResult]:
    """Key points and words beyond vanilla's."""
    names = conditions_of(declared, "strategies", judged)
    results = []
    for column, what in (("points", "Key points"), ("words", "Words of the explanation")):
        values = judged.by_pair(column, names)
        if REFERENCE not in names or len(names) < 2 or np.isnan(values).all():
            continue
        counted = ~np.isnan(values).all(axis=1)
        if counted.sum() < 2:
            continue
        results.append(
            named(
                f"points.{column}.{judged.name}",
                f"{what} beyond the vanilla judge's, {judged.name}",
                "descriptive",
                mean_shift(
                    values[counted],
                    conditions=names,
                    cluster=judged.cluster[counted],
                    reference=REFERENCE,
                    level=declared.level,
                ),
            )
        )
    return results


def conditions_of(declared: AnalysisPlan, key: str, judged: Judged) -> list[str]:
    """The strategies that the plan names and that were judged."""
    names = [n for n in declared.options[key].split(",") if n]
    return [n for n in names if n in judged.strategies]
