"""Scores that do not fit in memory, analysed from counts by item and condition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.asked_rows import score_rows
from judgestats.analysis.audit_answer import audit_headlines, audit_sentence, held_to_claims
from judgestats.analysis.drawings import DRAWN_SCORES, ranked
from judgestats.analysis.far_scores import with_read_notes
from judgestats.analysis.large_parts import SHOWN_ITEMS, left_out, named, whole_counts
from judgestats.analysis.limits import MOST_COMPARED, limits_of_conditions, not_compared
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.recommend import recommend_reliable
from judgestats.analysis.scale_use import mean_deviations
from judgestats.analysis.score_audit import comparison_results
from judgestats.analysis.scores import (
    ALPHA_TITLE,
    OMEGA_TITLE,
    condition_metrics,
    condition_row,
    described_line,
    subject_of,
)
from judgestats.analysis.unread import lost_metrics
from judgestats.judgments.large.reduced import Column, ReducedJudgments
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.inference.result import Estimate, Result, TestResult
from judgestats.stats.layouts.cell_statistics import Cells
from judgestats.stats.layouts.cells_from_counts import cells_from_counts
from judgestats.stats.reliability.intraclass_cells import icc_of_cells
from judgestats.stats.reliability.omega import omega_of_covariance
from judgestats.stats.reliability.one_factor import Model
from judgestats.stats.reliability.two_way_sums import TwoWaySums
from judgestats.stats.spread.condition_summary import condition_summary
from judgestats.stats.spread.mean_shift import mean_shift
from judgestats.stats.spread.spread_between_conditions import spread_test
from judgestats.stats.spread.variance_ratio import variance_ratio

MOST_CELLS = 100_000
"""Cells up to which rank tests and permutations of cells are computed; about half a minute."""


_QUESTION = "How consistent and reliable are these judgments, and which judge is steadier?"


def audit_scores(reduced: ReducedJudgments, declared: AnalysisPlan) -> Analysis:
    """Means, spread, reliability by condition and the paired comparison of spread."""
    labels = tuple(c.label for c in reduced.columns)
    cells = _cells(reduced, range(len(labels)))
    summary = condition_summary(cells, level=declared.level)
    rows: list[dict[str, Any]] = []
    results: list[NamedResult] = []
    described: list[NamedResult] = []
    for place, column in enumerate(reduced.columns):
        name = column.label
        single = icc_of_cells(cells, name, level=declared.level)
        own_results = _columns_results(
            reduced, place, declared.level, declared.options.get("omega_model", "parallel")
        )
        rows.append(
            condition_row(
                summary[name],
                about=_about(column),
                statuses=column.statuses,
                reliability=single,
                alpha=own_results["alpha"],
                omega=[r for kind, r in own_results.items() if kind.startswith("omega_")],
            )
        )
        factors = {factor: str(level) for factor, level in column.factors.items()}
        subject = subject_of(name, column.judge, column.temperature, factors)
        described += described_line(name, summary[name], single, subject)
        results.append(named("icc1", "Reliability of one judgment", name, single, subject))
        results += [
            named(kind, _TITLES[kind], name, value, subject) for kind, value in own_results.items()
        ]
    table = whole_counts(pd.DataFrame(rows))
    compared, skipped = _compared(reduced, cells, declared)
    blocked = next((r.result for r in compared if r.id == "spread.all"), None)
    test = blocked if isinstance(blocked, TestResult) else None
    headlines = audit_headlines([*results, *compared])
    compared = held_to_claims(compared, headlines)
    metrics = lost_metrics(table)
    by_condition = {str(r["condition"]): condition_metrics(r) for r in rows}
    if len(rows) == 1:
        metrics |= by_condition[labels[0]]
    if test is not None:
        metrics["spread/p_value"] = test.p_value
    advice, rests_on = recommend_reliable(table, cells)
    analysis = Analysis(
        experiment="audit",
        question=_QUESTION,
        drawing=ranked(*DRAWN_SCORES),
        sentence=audit_sentence(table, headlines, compared),
        headlines=headlines,
        conditions=table,
        results=(*results, *compared, *rests_on),
        described=tuple(described),
        rows=score_rows(labels),
        limitations=(
            *limits_of_conditions(
                table, n_clusters=reduced.n_clusters, sizes=cells.n_scores[cells.n_scores > 0]
            ),
            *not_compared(sum(c.temperature != 0 for c in reduced.columns)),
            *left_out(reduced, skipped),
        ),
        recommendation=advice,
        metrics=metrics,
        condition_metrics=by_condition,
        arrays=_shown_cells(reduced, cells),
    )
    return with_read_notes(analysis, reduced.notes)


_TITLES = {
    "alpha": ALPHA_TITLE,
    **{f"omega_{model}": OMEGA_TITLE.format(model) for model in ("tau-equivalent", "congeneric")},
    "icc2": "ICC(2,1), replications as judges whose level matters",
    "icc3": "ICC(3,1), replications as judges whose level does not matter",
    "lambda2": "Guttman's lambda-2 of all replications",
}


def _columns_results(
    reduced: ReducedJudgments, place: int, level: float, omega_model: str
) -> dict[str, Estimate]:
    """Coefficients that need to know which replication gave which score."""
    sums = column_sums(reduced, place)
    if sums is None:
        reason = f"replications are not told apart: {reduced.board_reason}"
        empty = TwoWaySums(k=2, n_clusters=1, shift=0.0, clustered=False).alpha()
        return {"alpha": empty.replace(reason=reason)}
    alpha = sums.alpha(level=level)
    further: dict[str, Estimate] = {}
    if omega_model != "parallel":
        further[f"omega_{omega_model}"] = omega_of_covariance(
            sums.covariance(), model=cast("Model", omega_model), sample=sums.sample
        )
    return {
        "alpha": alpha,
        **further,
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


def _about(column: Column) -> dict[str, Any]:
    return {
        "judge": column.judge,
        "temperature": column.temperature,
        **{f"factor_{name}": value for name, value in column.factors.items()},
        "cost_usd": column.cost_usd,
        "tokens_in_mean": column.tokens_in_mean,
        "tokens_out_mean": column.tokens_out_mean,
        "latency_mean_s": math.nan,
    }


def _cells(reduced: ReducedJudgments, places: Sequence[int]) -> Cells:
    return cells_from_counts(
        reduced.counts[:, list(places)],
        np.asarray(reduced.values, dtype=float),
        conditions=[reduced.columns[i].label for i in places],
        cluster=reduced.cluster if reduced.clustered else None,
    )


def _shared(cells: Cells) -> NDArray[np.bool_]:
    """The items that can be compared; none where there are too few, or too many conditions."""
    shared = np.all(cells.n_scores >= 2, axis=1)
    enough = 2 <= len(cells.conditions) <= MOST_COMPARED and shared.sum() >= 3
    return shared if enough else np.zeros_like(shared)


def _compared(
    reduced: ReducedJudgments, cells: Cells, declared: AnalysisPlan
) -> tuple[list[NamedResult], list[str]]:
    """The paired comparison of all conditions, and what was left out of it.

    At T = 0 the spread is 0 by construction: such conditions are compared in their means alone.
    """
    warm = [i for i, c in enumerate(reduced.columns) if c.temperature != 0]
    shifts = mean_shift(cells, level=declared.level) if _shared(cells).any() else None
    sampled = cells if len(warm) == len(reduced.columns) else _cells(reduced, warm)
    shared = _shared(sampled)
    if not shared.any():
        return comparison_results(None, shifts), []
    if sampled.mean.size <= MOST_CELLS:
        comparison = spread_test(
            sampled,
            level=declared.level,
            n_permutations=declared.n_resamples,
            n_resamples=declared.n_resamples,
            seed=declared.seed,
        )
        return comparison_results(comparison, shifts or comparison.shifts), []
    blocked = blocked_f_test(
        sampled.spread("mean"),
        conditions=sampled.conditions,
        cluster=sampled.cluster,
        n_permutations=0,
        level=declared.level,
    ).replace(
        name="spread_blocked_f",
        method="Blocked F test of spread: mean distance from the cell mean",
        null_hypothesis="the condition does not matter for the spread of judgments",
        alternative="the spread of judgments differs between some conditions",
        sample=sampled.sample(shared, reason="fewer than 2 scores in some condition"),
    )
    listed: list[tuple[str, str, Result]] = [
        ("spread.all", "Spread of all conditions", blocked),
        ("ratio.all", "Ratios of variances", variance_ratio(sampled, level=declared.level)),
    ]
    listed += [] if shifts is None else [("shift.all", "Differences of mean scores", shifts)]
    left_out = (
        f"Rank tests of spread and permutations of cells: {sampled.mean.size:,} cells are more "
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
        "deviations": mean_deviations(cells.variance[at], reduced.cluster[at].tolist()),
    }
