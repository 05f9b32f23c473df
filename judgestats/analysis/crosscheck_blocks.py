"""Tests that compare conditions within items, recomputed by statsmodels and scipy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.arrays import Floats
from judgestats.results import Comparison, Results, Test

Numbers = Iterator[tuple[str, str, float, float, str, str]]
"""Id, what it is, ours, theirs, the package, and what both do alike."""


def blocked_numbers(
    scores: Mapping[str, Floats], clusters: NDArray[Any], results: Results
) -> Numbers:
    """F and signed ranks of the spread of repeated scores.

    Parameters
    ----------
    scores : mapping of condition to ndarray, shape (N, R)
        Of the conditions whose scores are complete, all on the same items.
    clusters : ndarray, shape (N,)
    results : Results

    Yields
    ------
    tuple
    """
    from scipy import stats

    tests = [r for r in results.results if isinstance(r, Test)]
    groups = {r.id.partition(".")[2]: tuple(r.groups) for r in tests if r.id.startswith("spread.")}
    for record in tests:
        names = record.about.conditions or groups.get(record.id.partition(".")[2], ())
        if len(names) < 2 or not set(names) <= set(scores):
            continue
        cells = np.column_stack([_distance(scores[name]) for name in names])
        if record.test == "spread_blocked_f" and record.statistic.value > 0:
            yield (
                record.id, "F of spread within items", record.statistic.value,
                f_of_blocks(cells, clusters), "statsmodels.AnovaRM",
                "each question's mean of its items' mean distances",
            )  # fmt: skip
        if record.test == "wilcoxon_signed_rank" and record.id.startswith("ranks."):
            gap = (cells[:, 1] - cells[:, 0]).round(12)
            theirs = stats.wilcoxon(gap, zero_method="pratt", alternative="greater").statistic
            yield (
                record.id, "signed-rank statistic V", record.statistic.value, float(theirs),
                "scipy.stats.wilcoxon", "sum of positive ranks, zeros ranked and left out",
            )  # fmt: skip


def credit_numbers(results: Results) -> Numbers:
    """Agreement of a judge's methods with people: F over methods, and differences of their means.

    Parameters
    ----------
    results : Results
        With the credit of every pair and method among its figures.

    Yields
    ------
    tuple
    """
    from statsmodels.stats.weightstats import DescrStatsW

    arrays = {f.id: f.values for f in results.figures}
    if not {"credit", "judges", "conditions", "clusters"} <= set(arrays):
        return
    credit = np.array(arrays["credit"], dtype=float)
    clusters = np.asarray(arrays["clusters"], dtype=object)
    keys = [
        (str(judge), str(label).rpartition(" at ")[0])
        for judge, label in zip(list(arrays["judges"]), list(arrays["conditions"]), strict=True)
    ]
    for record in results.results:
        judge = record.id.removeprefix("methods.")
        if not (isinstance(record, Test) and record.test == "credit_blocked_f"):
            continue
        methods = [(judge, name) for name in record.groups]
        if any(keys.count(key) != 1 for key in methods):
            continue  # asked at several temperatures, of which the record does not say which
        at = [keys.index(key) for key in methods]
        own = credit[:, at]
        kept = np.isfinite(own).all(axis=1)
        if record.statistic.value > 0:
            yield (
                record.id, "F of agreement with people", record.statistic.value,
                f_of_blocks(own[kept], clusters[kept]), "statsmodels.AnovaRM",
                "each question's mean of its pairs' credit",
            )  # fmt: skip
        column = dict(zip(record.groups, own.T, strict=True))
        for pair in results.results:
            if not (isinstance(pair, Comparison) and pair.part_of == f"difference.{judge}"):
                continue
            if {pair.a, pair.b} <= set(column):
                gap = column[pair.a] - column[pair.b]
                yield (
                    pair.id, "difference of alignment scores", pair.estimate,
                    float(DescrStatsW(gap[np.isfinite(gap)]).mean), "statsmodels.DescrStatsW",
                    "mean over pairs of the difference of credit",
                )  # fmt: skip


def _distance(x: Floats) -> Floats:
    return np.asarray(np.abs(x - x.mean(axis=1, keepdims=True)).mean(axis=1))


def f_of_blocks(cells: Floats, clusters: NDArray[Any]) -> float:
    """F of a repeated-measures analysis of variance, questions as subjects.

    Parameters
    ----------
    cells : ndarray, shape (n_items, n_conditions)
    clusters : ndarray, shape (n_items,)

    Examples
    --------
    >>> cells = np.array([[1.0, 2.0], [1.0, 4.0], [2.0, 3.0]])
    >>> round(f_of_blocks(cells, np.array(["a", "b", "c"])), 6)
    6.25
    """
    from statsmodels.stats.anova import AnovaRM

    wide = pd.DataFrame(cells).groupby(np.asarray(clusters, dtype=str), sort=False).mean()
    long = wide.melt(ignore_index=False, var_name="condition", value_name="value").reset_index(
        names="question"
    )
    table = AnovaRM(long, "value", "question", within=["condition"]).fit().anova_table
    return float(table["F Value"].iloc[0])
