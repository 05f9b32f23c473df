"""One strategy of one judge: its row in the table of conditions, and the estimates behind it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.crowd_data import Judged
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.selections import (
    add_estimate,
    condition_row,
    named,
    spent_on_a_verdict,
)
from judgestats.stats.agreement.kappa import fleiss_kappa
from judgestats.stats.agreement.mean_share import mean_of_groups, mean_share
from judgestats.stats.agreement.position_preference import first_position_preference
from judgestats.stats.agreement.raw_agreement import percent_agreement
from judgestats.stats.agreement.swap import swap_consistency

_FEWEST = 5
"""Questions of the smallest set for which an accuracy, and so the average, is reported."""


def describe(
    judged: Judged, strategy: str, declared: AnalysisPlan
) -> tuple[dict[str, Any], list[NamedResult]]:
    """Accuracy, order, repetition, length and cost of one strategy.

    Parameters
    ----------
    judged : Judged
    strategy : str
    declared : AnalysisPlan

    Returns
    -------
    tuple of dict and list of NamedResult
    """
    asked = judged.rows[judged.rows["factor_strategy"] == strategy]
    label = f"{strategy}, {judged.name}"
    row = condition_row(str(asked["condition"].iloc[0]), asked)
    row["k"] = int(asked["k"].iloc[0])
    row |= _means(asked)
    results = _accuracy(judged, strategy, label, row, declared)
    results += _order(judged, strategy, label, row, declared)
    results += _repeat(judged, strategy, label, row, declared)
    if strategy in declared.options["strategies"].split(","):
        return row, results
    return row, results[:1]  # the curve and the selections: in the table, accuracy in full


def _means(asked: pd.DataFrame) -> dict[str, float]:
    """Averages over the strategy's verdicts."""
    columns = ("words", "final_tokens_out", "used", "preferred", "left_out", "points")
    return {**{name: _mean(asked[name]) for name in columns}, **spent_on_a_verdict(asked)}


def _mean(values: pd.Series) -> float:
    usable = values.dropna().astype(float)
    return float(usable.mean()) if len(usable) else math.nan


def _accuracy(
    judged: Judged, strategy: str, label: str, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    right = judged.by_pair("right", [strategy])[:, 0]
    if np.isnan(right).all():
        row["accuracy"] = math.nan
        return []
    overall = mean_share(
        right,
        cluster=judged.cluster,
        level=declared.level,
        name="accuracy",
        label=f"Accuracy ({label})",
    )
    add_estimate(row, "accuracy", overall)
    results = [named(f"accuracy.{label}", f"Accuracy, {label}", "descriptive", overall)]
    wrong = judged.by_pair("right", [strategy], unread=0.0)[:, 0]
    row["accuracy_unread_wrong"] = float(np.nanmean(wrong))
    questions = pd.Series(judged.cluster).groupby(judged.category).nunique()
    sets = [name for name in dict.fromkeys(judged.category) if questions[name] >= _FEWEST]
    if len(questions) < 2 or len(sets) < len(questions):
        return results  # a set of a few questions says nothing of its own
    for name in sets:
        own = judged.category == name
        if np.isnan(right[own]).all():
            continue
        part = mean_share(
            right[own],
            cluster=judged.cluster[own],
            level=declared.level,
            name="accuracy",
            label=f"Accuracy on {name} ({label})",
        )
        add_estimate(row, f"accuracy_in_{name}", part)
        results.append(
            named(
                f"accuracy.in.{name}.{label}", f"Accuracy on {name}, {label}", "descriptive", part
            )
        )
    average = mean_of_groups(
        right,
        group=judged.category,
        cluster=judged.cluster,
        level=declared.level,
        name="accuracy_over_sets",
        label=f"Average accuracy of the sets ({label})",
    )
    add_estimate(row, "average", average)
    results.append(
        named(f"accuracy.average.{label}", f"Average over sets, {label}", "descriptive", average)
    )
    return results


def _order(
    judged: Judged, strategy: str, label: str, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    ab, ba = judged.choices(strategy, "ab"), judged.choices(strategy, "ba")
    if not ab.size or not ba.size or not ((ab != "").any() and (ba != "").any()):
        return []
    both = (ab != "").any(axis=1) & (ba != "").any(axis=1)
    if both.sum() < 2:
        return []  # every pair is shown in one order only
    common: dict[str, Any] = {"cluster": judged.cluster, "level": declared.level}
    swap = swap_consistency(ab, ba, **common)
    lean = first_position_preference(ab, ba, **common)
    add_estimate(row, "swap_consistency", swap)
    if lean.effect is not None:
        add_estimate(row, "first_preference", lean.effect)
    return [
        named(f"order.{label}", f"Both orders agree, {label}", "descriptive", swap),
        named(
            f"order.position.{label}",
            f"Preference for the first place, {label}",
            "descriptive",
            lean,
        ),
    ]


def _repeat(
    judged: Judged, strategy: str, label: str, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    """Agreement of repeated pipelines; a pair in an order is the thing judged."""
    parts = [judged.choices(strategy, order) for order in ("ab", "ba")]
    width = max(part.shape[1] for part in parts)
    if width < 2:
        return []
    full = [p for p in parts if p.shape[1] == width]
    verdicts = np.vstack(full)
    cluster = np.concatenate([judged.cluster] * len(full))
    present = (verdicts != "").sum(axis=1) > 1
    if present.sum() < 2:
        return []
    common: dict[str, Any] = {"cluster": cluster[present], "level": declared.level}
    again = percent_agreement(verdicts[present], **common)
    kappa = fleiss_kappa(verdicts[present], **common)
    add_estimate(row, "self_agreement", again)
    add_estimate(row, "fleiss_kappa", kappa)
    return [
        named(f"repeat.{label}", f"Repeated pipelines agree, {label}", "descriptive", again),
        named(
            f"repeat.kappa.{label}", f"Kappa of repeated pipelines, {label}", "descriptive", kappa
        ),
    ]
