"""The audit of judgments that do not fit in memory, from counts: same numbers, same tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.audit import audit_sentence, comparison_results, plan
from judgestats.analysis.limits import limits_of_conditions
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.recommend import recommend_replicates
from judgestats.analysis.scores import condition_metrics, condition_row
from judgestats.analysis.verdict_table import estimates_of, verdict_metrics, verdict_sentence
from judgestats.analysis.verdict_words import outcomes
from judgestats.analysis.verdicts import verdict_plan
from judgestats.errors import InputError
from judgestats.judgments.large.reduced import Column, ReducedJudgments
from judgestats.stats.blocked_f import blocked_f_test
from judgestats.stats.cells import Cells
from judgestats.stats.cells_counts import cells_from_counts
from judgestats.stats.condition_summary import condition_summary
from judgestats.stats.counts import CountTable
from judgestats.stats.gwet import brennan_prediger, gwet_ac1
from judgestats.stats.intraclass_cells import icc_of_cells
from judgestats.stats.kappa import fleiss_kappa
from judgestats.stats.mean_shift import mean_shift
from judgestats.stats.raw_agreement import flip_rate, percent_agreement, verdict_entropy
from judgestats.stats.result import Estimate, Result, TestResult
from judgestats.stats.spread import spread_test
from judgestats.stats.two_way_sums import TwoWaySums
from judgestats.stats.variance_ratio import variance_ratio
from judgestats.stats.vote_share import vote_share_reliability

__all__ = ["audit_reduced", "plan_for_reduced", "verdict_counts"]

MOST_CELLS = 100_000
"""Cells up to which rank tests and permutations of cells are computed; about half a minute."""

MOST_CONDITIONS = 12
SHOWN_ITEMS = 2_000
"""Items whose cells figures show."""

_QUESTION = "How consistent and reliable are these judgments, and which judge is steadier?"


def plan_for_reduced(
    reduced: ReducedJudgments, *, n_resamples: int = 999, seed: int = 0, level: float = 0.95
) -> AnalysisPlan:
    """The plan that fits what was counted: scores, or verdicts in words.

    Parameters
    ----------
    reduced : ReducedJudgments
    n_resamples, seed : int
    level : float

    Returns
    -------
    AnalysisPlan
    """
    make = plan if reduced.is_scores else verdict_plan
    return make(n_resamples=n_resamples, seed=seed, level=level)


def audit_reduced(
    reduced: ReducedJudgments, *, n_resamples: int = 999, seed: int = 0, level: float = 0.95
) -> Analysis:
    """Audit judgments that were reduced to counts.

    Parameters
    ----------
    reduced : ReducedJudgments
        From `judgestats.judgments.large.reduce.reduce_parquet`.
    n_resamples, seed : int
        Of permutations of cells, where these are few enough.
    level : float
        Of the intervals.

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
    declared = plan_for_reduced(reduced, n_resamples=n_resamples, seed=seed, level=level)
    if int(reduced.counts.sum(axis=2, dtype=np.int64).max()) < 2:
        raise InputError(
            "audit: every item was judged only once in a condition, so nothing can be said about "
            "consistency. Judge the items again (at least 2 replicates), or check that the column "
            "with the repetition is named replicate."
        )
    return _scores(reduced, declared) if reduced.is_scores else _verdicts(reduced, declared)


# Scores ------------------------------------------------------------------------------------------


def _scores(reduced: ReducedJudgments, declared: AnalysisPlan) -> Analysis:
    labels = tuple(c.label for c in reduced.columns)
    cells = cells_from_counts(
        reduced.counts,
        np.asarray(reduced.values, dtype=float),
        conditions=labels,
        cluster=reduced.cluster if reduced.clustered else None,
    )
    summary = condition_summary(cells, level=declared.level)
    rows: list[dict[str, Any]] = []
    results: list[NamedResult] = []
    for place, column in enumerate(reduced.columns):
        name = column.label
        single = icc_of_cells(cells, name, level=declared.level)
        if reduced.clustered:
            single = single.replace(interval=summary[name].icc.interval)
        found = _columns_results(reduced, place, declared.level)
        rows.append(
            condition_row(
                summary[name],
                about=_about(column),
                statuses=column.statuses,
                reliability=single,
                omega=found["omega"],
            )
        )
        results.append(_named("icc1", "Reliability of one judgment", name, single))
        results += [_named(kind, _TITLES[kind], name, value) for kind, value in found.items()]
    table = _whole_counts(pd.DataFrame(rows))
    compared, left_out = _compared(cells, declared)
    blocked = next((r.result for r in compared if r.id == "spread.all"), None)
    test = blocked if isinstance(blocked, TestResult) else None
    metrics = {
        "quality/unread_share": float((table["unread_share"] * table["n"]).sum() / table["n"].sum())
    }
    by_condition = {str(r["condition"]): condition_metrics(r) for r in rows}
    if len(rows) == 1:
        metrics |= by_condition[labels[0]]
    if test is not None:
        metrics["spread/p_value"] = test.p_value
    return Analysis(
        experiment="audit",
        question=_QUESTION,
        sentence=audit_sentence(table, test),
        conditions=table,
        results=(*results, *compared),
        limitations=(
            *limits_of_conditions(
                table, n_clusters=reduced.n_clusters, sizes=cells.n_scores[cells.n_scores > 0]
            ),
            *_left_out(reduced, left_out),
        ),
        recommendation=recommend_replicates(table),
        metrics=metrics,
        condition_metrics=by_condition,
        arrays=_shown_cells(reduced, cells),
    )


def _whole_counts(table: pd.DataFrame) -> pd.DataFrame:
    """A status that does not occur under a condition is counted 0 there."""
    counted = [c for c in table.columns if c.startswith("n_")]
    return table.assign(**{c: table[c].fillna(0).astype(int) for c in counted})


_TITLES = {
    "omega": "Reliability of the mean of all replications",
    "icc2": "ICC(2,1), replications as judges whose level matters",
    "icc3": "ICC(3,1), replications as judges whose level does not matter",
    "alpha": "Cronbach's alpha of all replications",
    "lambda2": "Guttman's lambda-2 of all replications",
}


def _columns_results(reduced: ReducedJudgments, place: int, level: float) -> dict[str, Estimate]:
    """Coefficients that need to know which replication gave which score."""
    sums = column_sums(reduced, place)
    if sums is None:
        reason = f"replications are not told apart: {reduced.board_reason}"
        empty = TwoWaySums(k=2, n_clusters=1, shift=0.0, clustered=False).alpha()
        return {"omega": _as_omega(empty.replace(reason=reason))}
    alpha = sums.alpha(level=level)
    return {
        "omega": _as_omega(alpha),
        "alpha": alpha,
        "lambda2": sums.lambda2(),
        "icc2": sums.icc("ICC(2,1)", level=level),
        "icc3": sums.icc("ICC(3,1)", level=level),
    }


def column_sums(reduced: ReducedJudgments, place: int) -> TwoWaySums | None:
    """Sums over the complete items of one condition; None where replications are not known."""
    if reduced.board is None:
        return None
    values = np.asarray(reduced.values, dtype=float)
    sums = TwoWaySums(
        k=reduced.board.shape[2],
        n_clusters=reduced.n_clusters,
        # A score that occurs: sums of whole numbers stay whole.
        shift=float(values[values.size // 2]),
        clustered=reduced.clustered,
    )
    for here, x in reduced.blocks(place):
        sums.add(x, reduced.cluster[here])
    return sums


def _as_omega(alpha: Estimate) -> Estimate:
    """Parallel omega, which on the column-centred covariance is raw alpha."""
    return alpha.replace(
        name="omega_total",
        label="McDonald's omega total (parallel)",
        estimator="parallel: equal loadings and error variances; closed form on the covariances",
    )


def _named(kind: str, title: str, condition: str, result: Result) -> NamedResult:
    return NamedResult(
        id=f"reliability.{kind}.{condition}",
        title=f"{title} ({condition})",
        role="primary",
        result=result,
        headline=kind in {"icc1", "omega", "fleiss_kappa", "ac1", "vote_share", "flip_rate"},
    )


def _about(column: Column) -> dict[str, Any]:
    return {
        "judge": column.judge,
        "temperature": column.temperature,
        **{f"factor_{name}": value for name, value in column.factors.items()},
        "cost_usd": column.cost_usd,
        "tokens_out_mean": column.tokens_out_mean,
        "latency_mean_s": math.nan,
    }


def _compared(cells: Cells, declared: AnalysisPlan) -> tuple[list[NamedResult], list[str]]:
    """The paired comparison of all conditions, and what was left out of it."""
    k = len(cells.conditions)
    if not 2 <= k <= MOST_CONDITIONS:
        return [], []
    shared = np.all(cells.n_scores >= 2, axis=1)
    if int(shared.sum()) < 3:
        return [], []
    if cells.mean.size <= MOST_CELLS:
        found = spread_test(
            cells,
            level=declared.level,
            n_permutations=declared.n_resamples,
            n_resamples=declared.n_resamples,
            seed=declared.seed,
        )
        return comparison_results(found), []
    blocked = blocked_f_test(
        cells.spread("mean"),
        conditions=cells.conditions,
        cluster=cells.cluster,
        n_permutations=0,
        level=declared.level,
    ).replace(
        name="spread_blocked_f",
        method="Blocked F test of spread: mean distance from the cell mean",
        null_hypothesis="the condition does not matter for the spread of judgments",
        alternative="the spread of judgments differs between some conditions",
        sample=cells.sample(shared, reason="fewer than 2 scores in some condition"),
    )
    listed: list[tuple[str, str, Result]] = [
        ("spread.all", "Spread of all conditions", blocked),
        ("ratio.all", "Ratios of variances", variance_ratio(cells, level=declared.level)),
        ("shift.all", "Differences of mean scores", mean_shift(cells, level=declared.level)),
    ]
    left_out = (
        f"Rank tests of spread and permutations of cells: {cells.mean.size:,} cells are more "
        f"than the {MOST_CELLS:,} up to which they are drawn. The p of the blocked F test is "
        "that of the F distribution, to which the permutation distribution tends."
    )
    return [
        NamedResult(id=identity, title=title, role="secondary", result=result, headline=True)
        for identity, title, result in listed
    ], [left_out]


def _shown_cells(reduced: ReducedJudgments, cells: Cells) -> dict[str, Any]:
    """Cells of evenly spaced items, for figures."""
    n = len(reduced.items)
    at = np.unique(np.linspace(0, n - 1, min(n, SHOWN_ITEMS)).astype(int))
    return {
        "items": [reduced.items[i] for i in at.tolist()],
        "clusters": [str(c) for c in reduced.cluster[at].tolist()],
        "conditions": list(cells.conditions),
        "cell_means": cells.mean[at],
        "cell_variances": cells.variance[at],
    }


def _left_out(reduced: ReducedJudgments, more: list[str]) -> list[str]:
    """What one pass cannot give, and why."""
    out = [
        (
            f"The {reduced.n_rows:,} judgments were counted in one pass and are not kept in this "
            "run. Left out: null references of reliabilities, bootstrap intervals and congeneric "
            "or ordinal models, which read every judgment many times (the jackknife over clusters "
            "and the F intervals stand in for the bootstrap)."
        )
    ]
    if reduced.board is None:
        out.append(
            "Left out: omega, alpha, lambda-2 and the two-way ICCs, and the check that no judgment "
            f"stands twice: {reduced.board_reason}."
        )
    if len(reduced.items) > SHOWN_ITEMS:
        out.append(f"Figures of cells show {SHOWN_ITEMS:,} items at even distances.")
    return [*out, *(f"Left out: {text[0].lower()}{text[1:]}" for text in more)]


# Verdicts ----------------------------------------------------------------------------------------


def verdict_counts(
    reduced: ReducedJudgments, place: int
) -> tuple[CountTable, NDArray[np.int64], NDArray[np.bool_]]:
    """The count table of one condition, with the clusters of its items and which items these are.

    Every coefficient that takes a count table takes this one: kappa, AC1, Brennan-Prediger, vote
    shares, agreement, flips, entropy.

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
    names = list(reduced.values)
    if not reduced.is_scores:
        named = outcomes(pd.Series(names)).tolist()
        merged = sorted({v for v in named if v})
        counts = np.column_stack(
            [counts[:, [i for i, v in enumerate(named) if v == m]].sum(axis=1) for m in merged]
        )
        names = merged
    seen = counts.sum(axis=0) > 0
    table = CountTable(
        counts=counts[:, seen],
        categories=tuple(v for v, s in zip(names, seen.tolist(), strict=True) if s),
    )
    return table, reduced.cluster[asked], asked


_NOMINAL: tuple[tuple[str, str, Any], ...] = (
    ("fleiss_kappa", "Agreement of repetitions", fleiss_kappa),
    ("ac1", "Agreement of repetitions, AC1", gwet_ac1),
    ("vote_share", "Reliability of one verdict", vote_share_reliability),
    ("flip_rate", "How often asking again changes the verdict", flip_rate),
    ("brennan_prediger", "Agreement of repetitions, Brennan and Prediger", brennan_prediger),
    ("percent_agreement", "Two repetitions agree", percent_agreement),
    ("entropy", "Entropy of an item's verdicts", verdict_entropy),
)


def _verdicts(reduced: ReducedJudgments, declared: AnalysisPlan) -> Analysis:
    rows: list[dict[str, Any]] = []
    results: list[NamedResult] = []
    done: dict[str, str] = {}
    for place, column in enumerate(reduced.columns):
        if column.label in done:  # the first order of presentation, as in memory
            continue
        done[column.label] = column.order
        same = [c for c in reduced.columns if c.label == column.label]
        table, cluster, asked = verdict_counts(reduced, place)
        where = f", order {column.order}" if len(same) > 1 else ""
        found: list[tuple[str, str, Result]] = []
        if float(table.per_item.max(initial=0)) >= 2:
            found = [
                (
                    f"reliability.{kind}",
                    f"{title}{where}",
                    statistic(
                        table, cluster=cluster if reduced.clustered else None, level=declared.level
                    ),
                )
                for kind, title, statistic in _NOMINAL
            ]
        results += [
            _named(kind.split(".", 1)[1], title, column.label, result)
            for kind, title, result in found
        ]
        rows.append(_verdict_row(column, same, asked, cluster) | estimates_of(found))
    table_of = _whole_counts(pd.DataFrame(rows))
    limits = _left_out(reduced, [])
    if any(c.order for c in reduced.columns):
        limits.append(
            "Left out: results on position and, where there are several orders, repetitions in all "
            "but the first: they pair each judgment with its swapped twin."
        )
    if "label" in reduced.columns_read:
        limits.append(
            "Left out: agreement with people, which joins labels to judgments. Analyse a sample "
            "in memory (--stream no)."
        )
    worst = table_of.sort_values("unread_share").iloc[-1]
    if worst["unread_share"] > 0:
        limits.insert(
            0,
            f"Up to {100 * worst['unread_share']:.3g} % of the verdicts of a condition "
            f"({worst['condition']}) could not be read; they count neither for nor against it.",
        )
    total = table_of["n"].sum()
    return Analysis(
        experiment="audit",
        question=declared.question,
        sentence=verdict_sentence(table_of),
        conditions=table_of,
        results=tuple(results),
        limitations=tuple(limits),
        metrics={
            "quality/unread_share": float((table_of["unread_share"] * table_of["n"]).sum() / total)
        },
        condition_metrics={str(r["condition"]): verdict_metrics(r) for r in rows},
    )


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
        "unread_share": 1 - statuses["ok"] / n,
    }
