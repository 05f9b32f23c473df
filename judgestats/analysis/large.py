"""Audit from counts, for data larger than memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis import verdict_audit
from judgestats.analysis.audit import plan, verdict_plan
from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.coefficients import condition_metrics, repetition_results
from judgestats.analysis.design import Design
from judgestats.analysis.families import AnalysisPlan, with_omega_model
from judgestats.analysis.large_scores import audit_scores, left_out, whole_counts
from judgestats.analysis.limits import lost_limits
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.repeat_limits import lost_metrics
from judgestats.analysis.summary_rows import DRAWN_VERDICTS, ranked, verdict_rows
from judgestats.analysis.validity import pass_rate
from judgestats.data.large.columns import Column, ReducedJudgments
from judgestats.data.matrices import lost_shares
from judgestats.data.vocabulary import FAIL, PASS
from judgestats.errors import InputError
from judgestats.stats.designs.count_table import CountTable
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.inference.runs import run_columns


def verdict_counts(
    reduced: ReducedJudgments, place: int
) -> tuple[CountTable, NDArray[np.int64], NDArray[np.bool_]]:
    """The count table of one condition, with the clusters of its items and which items these are.

    Every coefficient that takes a count table takes this one: kappa, AC1, vote shares,
    agreement, flips.

    Parameters
    ----------
    reduced : ReducedJudgments
    place : int
        Of the condition in ``reduced.columns``.

    Returns
    -------
    CountTable
        The categories are those that occur under this condition.
    ndarray of int
        Cluster of each item asked.
    ndarray of bool, shape (n_items,)
        Items asked under this condition.
    """
    asked = reduced.asked[:, place] > 0
    counts = reduced.counts[asked, place].astype(float)
    table = _drop_empty_categories(CountTable(counts=counts, categories=reduced.values))
    return table, reduced.cluster[asked], asked


def _drop_empty_categories(table: CountTable) -> CountTable:
    """Without the categories that never occur in it."""
    seen = table.counts.sum(axis=0) > 0
    kept = tuple(v for v, s in zip(table.categories, seen.tolist(), strict=True) if s)
    return CountTable(counts=table.counts[:, seen], categories=kept)


def audit_verdicts(reduced: ReducedJudgments, declared: AnalysisPlan) -> Analysis:
    """Agreement, flips and reliability of verdicts by condition."""
    rows: list[dict[str, Any]] = []
    results: list[NamedResult] = []
    described: list[NamedResult] = []
    done: set[str] = set()
    for column in reduced.columns:
        if column.label in done:  # another order of presentation
            continue
        done.add(column.label)
        same = [c for c in reduced.columns if c.label == column.label]
        places = [reduced.columns.index(c) for c in same]
        asked = np.asarray((reduced.asked[:, places] > 0).any(axis=1), dtype=np.bool_)
        cluster = reduced.cluster[asked]
        tables = [
            CountTable(counts=reduced.counts[asked, p].astype(float), categories=reduced.values)
            for p in places
        ]
        own = repetition_results(
            [_drop_empty_categories(t) for t in tables if float(t.per_item.max(initial=0)) >= 2],
            counts=True,
            cluster=cluster if reduced.clustered else None,
            level=declared.level,
        )
        if set(reduced.values) <= {PASS, FAIL}:
            own.insert(0, ("verdicts.pass_rate", "How many pass", _pass_rate(
                reduced, places, declared
            )))  # fmt: skip
        of_condition, needed = verdict_audit.named_results(column.label, own)
        results += of_condition
        described += needed
        rows.append(_verdict_row(column, same, asked, cluster) | verdict_audit.estimates_of(own))
    table_of = whole_counts(pd.DataFrame(rows))
    steadier = "Which judge is the steadier, by comparisons with the best, and how often to ask it."
    limits = left_out(reduced, [steadier])
    if any(c.order for c in reduced.columns):
        limits.append(
            "Left out: results on position, which pair each judgment with its swapped twin."
        )
    limits[:0] = lost_limits(table_of, "could not be read; they count neither for nor against it.")
    return Analysis(
        experiment="audit",
        question=declared.question,
        drawing=ranked(*DRAWN_VERDICTS),
        headlines=audit_headlines(results),
        conditions=table_of,
        results=tuple(results),
        described=tuple(described),
        rows=verdict_rows(table_of["condition"]),
        limitations=tuple(limits),
        metrics=lost_metrics(table_of),
        condition_metrics={str(r["condition"]): condition_metrics(r) for r in rows},
    )


def _pass_rate(reduced: ReducedJudgments, places: list[int], declared: AnalysisPlan) -> Estimate:
    """The mean over items of how often they pass, over all orders of presentation."""
    counts = reduced.counts[:, places].sum(axis=1, dtype=np.int64)
    read = counts.sum(axis=1)
    kept = read > 0
    passes = counts[kept, reduced.values.index(PASS)] if PASS in reduced.values else 0
    return pass_rate(passes / read[kept], reduced.cluster[kept], declared)


def _verdict_row(
    column: Column,
    orders: list[Column],
    asked: NDArray[np.bool_],
    cluster: NDArray[np.int64],
) -> dict[str, Any]:
    """A condition's judgments by status, over its orders."""
    n = sum(c.n for c in orders)
    statuses = dict.fromkeys(["ok", *(s for c in orders for s in c.statuses)], 0)
    for own in orders:
        for status, count in own.statuses.items():
            statuses[status] += count
    return {
        "condition": column.label,
        "judge": column.judge,
        "temperature": column.temperature,
        "n": n,
        "n_items": int(asked.sum()),
        "n_clusters": int(np.unique(cluster).size),
        **{f"n_{status}": count for status, count in statuses.items()},
        **lost_shares(statuses),
    }


def plan_for_reduced(
    reduced: ReducedJudgments,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    omega_model: str = "parallel",
) -> AnalysisPlan:
    """The plan that fits what was counted: scores, or verdicts in words.

    Parameters
    ----------
    reduced : ReducedJudgments
    n_resamples, seed : int
    level : float
    omega_model : str
        As of `judgestats.audit`.

    Returns
    -------
    AnalysisPlan
    """
    make = plan if reduced.is_scores else verdict_plan
    declared = make(n_resamples=n_resamples, seed=seed, level=level)
    declared = replace(declared, design=design_of(reduced))
    return with_omega_model(declared, omega_model) if reduced.is_scores else declared


def design_of(reduced: ReducedJudgments) -> Design:
    """The design of what was counted; without a board repeats are not told apart into runs."""
    runs: dict[str, int] = {}
    for place, column in enumerate(reduced.columns):  # of one condition, one per order
        asked = 1
        if reduced.board is not None:
            asked = run_columns(np.where(reduced.board[:, place] > 0, 1.0, np.nan)).size
        runs[column.label] = max(runs.get(column.label, 1), asked)
    return Design.of(
        n_items=len(reduced.items),
        n_clusters=reduced.n_clusters,
        runs=runs.values(),
        n_orders=len({c.order for c in reduced.columns if c.order}) or 1,
        n_judges=len({c.judge for c in reduced.columns}),
    )


def audit_reduced(
    reduced: ReducedJudgments,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    omega_model: str = "parallel",
) -> Analysis:
    """Audit judgments that were reduced to counts.

    Parameters
    ----------
    reduced : ReducedJudgments
        From `judgestats.data.large.reduce.reduce_parquet`.
    n_resamples, seed : int
        Of permutations of cells, where these are few enough.
    level : float
        Of the intervals.
    omega_model : str
        As of `judgestats.audit`; its omega has no interval here.

    Returns
    -------
    Analysis
        The tables of `judgestats.audit`; what counts cannot give is left out, and `limitations`
        says what and why.

    Raises
    ------
    InputError
        Nothing was judged more than once.
    """
    declared = plan_for_reduced(
        reduced, n_resamples=n_resamples, seed=seed, level=level, omega_model=omega_model
    )
    if int(reduced.counts.sum(axis=2, dtype=np.int64).max()) < 2:
        raise InputError(
            "audit: every item was judged only once in a condition, so nothing can be said about "
            "consistency. Judge the items again (at least 2 replicates), or check that the column "
            "with the repetition is named replicate."
        )
    audit_them = audit_scores if reduced.is_scores else audit_verdicts
    return audit_them(reduced, declared)
