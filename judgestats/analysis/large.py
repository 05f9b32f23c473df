"""Audit from counts, for data larger than memory."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis import coefficients, scores, validity, verdict_audit
from judgestats.analysis.agreement import ratings_of, true_score_of
from judgestats.analysis.audit import (
    audit_read,
    criterion_plan,
    merge_analyses,
    merged_plan,
    plan,
    plan_for,
    verdict_plan,
)
from judgestats.analysis.audit_answer import audit_headlines, restrict_to_claims
from judgestats.analysis.families import AnalysisPlan, Design, with_omega_model
from judgestats.analysis.limits import limits_of_conditions, lost_limits, not_compared
from judgestats.analysis.measures import VerdictCounts
from judgestats.analysis.records import Analysis, NamedResult, condition_result
from judgestats.analysis.repeats import assumed_scale, with_repeat_errors
from judgestats.analysis.score_audit import compared_conditions, spread_metrics
from judgestats.analysis.supplements import lost_metrics
from judgestats.analysis.text_checks import with_read_notes
from judgestats.analysis.verdict_audit import estimates_of
from judgestats.data.columns import INTERLEAVED
from judgestats.data.large.reduce import counts_of_reduced
from judgestats.data.large.reduced import Column, ReducedJudgments
from judgestats.data.parse import lost_shares
from judgestats.data.vocabulary import FAIL, PASS
from judgestats.errors import InputError
from judgestats.results import quantity_of
from judgestats.stats.designs.cells import Cells, cells_from_counts
from judgestats.stats.designs.count_table import CountTable
from judgestats.stats.dispersion.condition_summary import condition_summary
from judgestats.stats.inference import Estimate, RunComponent
from judgestats.stats.inference.runs import COVERAGE, RunSums, component_of_sums, run_columns
from judgestats.stats.reliability import RepeatPairs, TwoWaySums, repeat_pairs_of_counts
from judgestats.stats.reliability.intraclass import icc_of_cells


def whole_counts(table: pd.DataFrame) -> pd.DataFrame:
    """A status that does not occur under a condition is counted 0 there."""
    counted = [c for c in table.columns if c.startswith("n_")]
    return table.assign(**{c: table[c].fillna(0).astype(int) for c in counted})


def left_out(reduced: ReducedJudgments, more: list[str]) -> list[str]:
    """What one pass cannot give, and why."""
    out = [
        (
            f"The {reduced.n_rows:,} judgments were counted in one pass and are not kept in this "
            "run. Left out: null references of reliabilities, bootstrap intervals and ordinal "
            "models, which read every judgment many times (the jackknife over clusters replaces "
            "the bootstrap), and the judge as an instrument (leniency, levels used)."
        )
    ]
    if reduced.board is None:
        out.append(
            "Left out: the test of runs, alpha, lambda-2, the two-way ICCs, and the check for "
            f"duplicate judgments: {reduced.board_reason}."
        )
    if len(reduced.columns) > 1 and int(reduced.counts.sum(axis=2, dtype=np.int64).max()) == 1:
        out.append("Left out: agreement between judges that judged once (`--stream no` has it).")
    if len(reduced.items) > scores.SHOWN_ITEMS:
        out.append(f"Figures of cells show {scores.SHOWN_ITEMS:,} items at even distances.")
    return [*out, *(f"Left out: {text}" for text in more)]


def audit_scores(reduced: ReducedJudgments, declared: AnalysisPlan) -> Analysis:
    """Means, spread, reliability by condition and the paired comparison of spread."""
    labels = tuple(c.label for c in reduced.columns)
    cells = _cells(reduced, range(len(labels)))
    runs = runs_of_counts(reduced, range(len(labels)))
    summary = condition_summary(cells, runs=runs, level=declared.level)
    values = np.asarray(reduced.values, dtype=float)
    rows: list[dict[str, Any]] = []
    results: list[NamedResult] = []
    shown: list[NamedResult] = []
    for place, column in enumerate(reduced.columns):
        single = icc_of_cells(cells, column.label, level=declared.level)
        ratio, repeated = None, int((reduced.counts[:, place].sum(axis=1) > 1).sum())
        own_runs = None if runs is None else runs.for_judges(place)
        if own_runs is not None and own_runs.is_random:
            sums = column_sums(reduced, place)
            whole = sums is not None and sums.n >= max(3, COVERAGE * repeated)
            ratio = sums.ratio(residual=True) if sums is not None and whole else None
        factors = {factor: str(level) for factor, level in column.factors.items()}
        row, found, estimates = scores.described_condition(
            summary[column.label],
            [(quantity_of("icc_1_1"), single), *_coefficients_of(reduced, place, declared)],
            runs=own_runs, ratio=ratio,
            pairs=_pairs_of_column(reduced, place, assumed_scale(values)),
            subject=scores.subject_of(column.label, column.judge, column.temperature, factors),
            about=_about(column), statuses=column.statuses, level=declared.level,
        )  # fmt: skip
        rows.append(row)
        results += found if repeated else []
        shown += estimates
    table = whole_counts(pd.DataFrame(rows))
    compared, skipped = compared_conditions(
        lambda places: _cells(reduced, places),
        lambda places: runs_of_counts(reduced, places),
        warm=[c.temperature != 0 for c in reduced.columns],
        items=reduced.items,
        declared=declared,
    )
    headlines = audit_headlines([*results, *compared], n_criteria=declared.n_criteria)
    compared = restrict_to_claims(compared, headlines)
    metrics = lost_metrics(table) | spread_metrics(compared)
    by_condition = {str(r["condition"]): coefficients.condition_metrics(r) for r in rows}
    if len(rows) == 1:
        metrics |= by_condition[labels[0]]
    analysis = Analysis(
        experiment="audit",
        question=declared.question,
        drawing=coefficients.ranked(*coefficients.DRAWN_SCORES),
        headlines=headlines,
        conditions=table,
        results=(*results, *compared),
        described=tuple(shown),
        rows=coefficients.score_rows(labels),
        limitations=(
            *limits_of_conditions(
                table, n_clusters=reduced.n_clusters, sizes=cells.n_scores[cells.n_scores > 0]
            ),
            *not_compared(sum(c.temperature != 0 for c in reduced.columns)),
            *left_out(reduced, skipped),
        ),
        metrics=metrics,
        condition_metrics=by_condition,
        arrays=scores.figure_cells(cells, list(reduced.items), [str(c) for c in reduced.cluster]),
    )
    return with_read_notes(analysis, reduced.notes)


def _coefficients_of(
    reduced: ReducedJudgments, place: int, declared: AnalysisPlan
) -> scores.Coefficients:
    """Coefficients that need to know which replication gave which score."""
    model = declared.options.get("omega_model", "parallel")
    options = {} if model == "parallel" else {"omega_model": model}
    quantities = [
        q for q in coefficients.declared_for("scores", options=options, counts=True) if q.counted
    ]
    sums = column_sums(reduced, place)
    if sums is None:
        reason = f"repeats are not assigned to runs: {reduced.board_reason}"
        sums = TwoWaySums(k=2, n_clusters=1, shift=0.0, clustered=False)
        return [
            (q, coefficients.computed(q, sums, counts=True).replace(reason=reason))
            for q in quantities
            if q.primary
        ]
    return [
        (q, coefficients.computed(q, sums, counts=True, level=declared.level)) for q in quantities
    ]


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


def runs_of_counts(reduced: ReducedJudgments, places: Sequence[int]) -> RunComponent | None:
    """The variance between runs of some conditions; None where replications are not known."""
    if reduced.board is None:
        return None
    judges = []
    for place in places:
        seen = np.concatenate([~np.isnan(x) for _, x in reduced.blocks(place)])
        kept = run_columns(np.where(seen, 1.0, np.nan))
        parts = [
            RunSums.from_scores(x[:, kept], reduced.cluster[here], reduced.n_clusters)
            for here, x in reduced.blocks(place)
        ]
        judges.append(functools.reduce(operator.add, parts))
    return component_of_sums(judges, interleaved=reduced.interleaved)


def counted_errors(
    analysis: Analysis,
    parts: Sequence[ReducedJudgments],
    scale: tuple[float, float] | None,
) -> Analysis:
    """An analysis with the errors of repeats, as the audit in memory has them.

    Parameters
    ----------
    analysis : Analysis
        Of the stream.
    parts : sequence of ReducedJudgments
        One per criterion; those with verdicts have no such errors.
    scale : (float, float) or None
        None leaves out what rests on its ends, and says so.

    Returns
    -------
    Analysis
    """
    pairs: dict[str, RepeatPairs] = {}
    for reduced in parts:
        if reduced.is_scores:
            ends = scale or assumed_scale(np.asarray(reduced.values, dtype=float))
            pairs |= {c.label: _pairs_of_column(reduced, p, ends)
                      for p, c in enumerate(reduced.columns)}  # fmt: skip
    if not pairs:
        return analysis
    unstated = () if scale else tuple(pairs)
    return with_repeat_errors(analysis, pairs, unstated=unstated, level=0.95)


def _pairs_of_column(
    reduced: ReducedJudgments, place: int, scale: tuple[float, float]
) -> RepeatPairs:
    """Pairs of repeats of one condition."""
    cluster = reduced.cluster if reduced.clustered else None
    values = np.asarray(reduced.values, dtype=float)
    return repeat_pairs_of_counts(reduced.counts[:, place], values, scale=scale, cluster=cluster)


def counted_verdicts(parts: Sequence[ReducedJudgments]) -> dict[str, VerdictCounts]:
    """How often each verdict was given under every condition with verdicts.

    Parameters
    ----------
    parts : sequence of ReducedJudgments
        One per criterion.

    Returns
    -------
    dict of condition to VerdictCounts
    """
    found: dict[str, list[pd.Series]] = {}
    clusters: dict[str, pd.Series] = {}
    for reduced in parts:
        if reduced.is_scores:
            continue
        items, values = np.asarray(reduced.items, object), np.asarray(reduced.values, object)
        of_item = pd.Series(reduced.cluster, index=items)
        for place, column in enumerate(reduced.columns):
            item, value = np.nonzero(reduced.counts[:, place])
            keys = [items[item], np.full(item.size, column.order, object), values[value]]
            index = pd.MultiIndex.from_arrays(keys, names=["item_id", "order", "choice"])
            n = reduced.counts[item, place, value].astype(np.int64)
            found.setdefault(column.label, []).append(pd.Series(n, index=index))
            clusters[column.label] = of_item
    return {
        name: VerdictCounts(pd.concat(series), clusters[name]) for name, series in found.items()
    }


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


def with_labelled(
    analysis: Analysis,
    reduced: ReducedJudgments,
    labelled: pd.DataFrame,
    *,
    labels_drawn: str = "",
    **choices: Any,
) -> Analysis:
    """The audit of a stream with what its labelled judgments say, and averages corrected by them.

    Parameters
    ----------
    analysis : Analysis
        Of the stream.
    reduced : ReducedJudgments
        What was counted: the judge's verdicts on all items.
    labelled : DataFrame
        The judgments with a label, as `labelled_judgments` gives them.
    labels_drawn, **choices
        As `audit` takes them.

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        The labels were drawn within strata, which a stream does not keep.
    """
    if labels_drawn == "stratified":
        raise InputError(
            "labels_drawn='stratified' needs the category of every item, and so the judgments in "
            "memory. Use --stream no."
        )
    own = audit_read(labelled, notes=labelled.attrs.get("notes", ()), **choices)
    declared = plan_for(labelled, labels_drawn=labels_drawn, **choices)
    of_all = dict(_count_results(reduced, labelled, declared))
    people = _people(own, of_all)
    kinds = {r.id.split(".")[1] for r in people}
    ends = {f"{kind}{end}" for kind in kinds for end in ("", "_low", "_high")}
    columns = [str(c) for c in own.conditions.columns if c in ends]
    table = analysis.conditions.merge(
        own.conditions[["condition", *columns]], on="condition", how="left", validate="one_to_one"
    )
    if not reduced.is_scores:
        table = _with_estimates(table, of_all)
    n, items = len(labelled), labelled["item_id"].nunique()
    text = (
        f"Agreement with human labels is that of the {n:,} judgments of {items:,} labelled items, "
        "in a second pass over the file."
    )
    metrics = {}
    for name, values in analysis.condition_metrics.items():
        of_people = {
            k: v
            for k, v in own.condition_metrics.get(name, {}).items()
            if k.removeprefix("ci/").startswith("people/")
        }
        metrics[name] = {**values, **of_people, **validity.validity_metrics(of_all.get(name, []))}
    names = table["condition"]
    return replace(
        analysis,
        conditions=table,
        results=(*analysis.results, *people),
        rows=(
            *analysis.rows,
            *coefficients.people_rows(
                names,
                corrected=true_score_of(labelled) if reduced.is_scores else "poststratified",
                labels_drawn=labels_drawn,
                repeats=labelled["replicate"].nunique(),
            ),
        ),
        limitations=(
            *analysis.limitations,
            text,
            *validity.label_warnings(people),
            *labelled.attrs.get("notes", ()),
        ),
        condition_metrics=metrics,
    )


def _people(own: Analysis, of_all: dict[str, validity.Found]) -> tuple[NamedResult, ...]:
    """The labelled judgments' results; where all items have a part in one, that of all items."""
    over = {
        f"{kind}.{name}": condition_result(kind, title, name, result)
        for name, named in of_all.items()
        for kind, title, result in named
    }  # fmt: skip
    kept = [over.pop(r.id, r) for r in own.results if r.id.startswith("people.")]
    return (*kept, *over.values())


def _count_results(
    reduced: ReducedJudgments, labelled: pd.DataFrame, declared: AnalysisPlan
) -> Iterator[tuple[str, validity.Found]]:
    """By condition: results of the counts of all items and of the labels of some."""
    passes = set(reduced.values) <= {PASS, FAIL}
    if not (reduced.is_scores or passes):
        return
    ratings, _ = ratings_of(labelled)
    worth = np.array([v if reduced.is_scores else v == PASS for v in reduced.values], dtype=float)
    names = np.asarray(reduced.items, dtype=object)
    for label, rows in labelled.groupby("condition", sort=False):
        places = [i for i, c in enumerate(reduced.columns) if c.label == label]
        counts = reduced.counts[:, places].sum(axis=1, dtype=np.int64)
        # A score that nobody could read has no mean; a verdict so is a class of its own.
        kept = counts.any(axis=1) if reduced.is_scores else (reduced.asked[:, places] > 0).any(1)
        cluster = reduced.cluster[kept]
        how: dict[str, Any] = {
            "cluster": cluster if np.unique(cluster).size < cluster.size else None
        }
        judge, items = _spread_out(counts[kept], worth), names[kept]
        if reduced.is_scores:
            human = ratings.reindex(list(items)).to_numpy(float)
            results = validity.labelled_scores(judge, human, rows, declared, items=items, **how)
        else:
            index = pd.Index(items)
            human = validity.people_verdicts(rows, index)
            results = validity.labelled_verdicts(judge, human, rows, declared, items=index, **how)
        yield str(label), results


def _spread_out(counts: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts of each value as items x judgments, NaN behind the last of an item.

    Examples
    --------
    >>> _spread_out(np.array([[1, 2], [0, 1]]), np.array([7.0, 9.0])).tolist()
    [[7.0, 9.0, 9.0], [9.0, nan, nan]]
    """
    sizes = counts.sum(axis=1)
    # size: judgments of an item
    out = np.full((len(counts), max(1, int(sizes.max(initial=1)))), np.nan)
    repeated = np.repeat(np.tile(values, len(counts)), counts.ravel())
    out[np.arange(out.shape[1]) < sizes[:, None]] = repeated
    return out


def _with_estimates(table: pd.DataFrame, of_all: dict[str, validity.Found]) -> pd.DataFrame:
    """The table with the estimates of each condition in its columns, as the audit in memory has."""
    rows = table.to_dict("records")
    return pd.DataFrame([r | estimates_of(of_all.get(str(r["condition"]), [])) for r in rows])


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
        own = coefficients.repetition_results(
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
    limits = left_out(reduced, [])
    if any(c.order for c in reduced.columns):
        limits.append(
            "Left out: results on position, which pair each judgment with its swapped twin."
        )
    limits[:0] = lost_limits(table_of, "were not parsed; they count neither for nor against it.")
    return Analysis(
        experiment="audit",
        question=declared.question,
        drawing=coefficients.ranked(*coefficients.DRAWN_VERDICTS),
        headlines=audit_headlines(results, n_criteria=declared.n_criteria),
        conditions=table_of,
        results=tuple(results),
        described=tuple(described),
        rows=coefficients.verdict_rows(table_of["condition"]),
        limitations=tuple(limits),
        metrics=lost_metrics(table_of),
        condition_metrics={str(r["condition"]): coefficients.condition_metrics(r) for r in rows},
    )


def _pass_rate(reduced: ReducedJudgments, places: list[int], declared: AnalysisPlan) -> Estimate:
    """The mean over items of how often they pass, over all orders of presentation."""
    counts = reduced.counts[:, places].sum(axis=1, dtype=np.int64)
    read = counts.sum(axis=1)
    kept = read > 0
    passes = counts[kept, reduced.values.index(PASS)] if PASS in reduced.values else 0
    return validity.pass_rate(passes / read[kept], reduced.cluster[kept], declared)


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
    criteria: int = 1,
) -> AnalysisPlan:
    """The plan that fits what was counted: scores, or categorical verdicts.

    Parameters
    ----------
    reduced : ReducedJudgments
    n_resamples, seed : int
    level : float
    omega_model : str
        As of `judgestats.audit`.
    criteria : int
        How many are audited apart, of which this is one.

    Returns
    -------
    AnalysisPlan
    """
    make = plan if reduced.is_scores else verdict_plan
    declared = make(n_resamples=n_resamples, seed=seed, level=level)
    declared = criterion_plan(replace(declared, design=design_of([reduced])), criteria)
    return with_omega_model(declared, omega_model) if reduced.is_scores else declared


def plan_for_criteria(parts: Sequence[ReducedJudgments], **choices: Any) -> AnalysisPlan:
    """The plan of all criteria: each hypothesis once, and the design of all judgments.

    Parameters
    ----------
    parts : sequence of ReducedJudgments
        One per criterion.
    **choices
        As `plan_for_reduced` takes them.
    """
    own = [plan_for_reduced(reduced, criteria=len(parts), **choices) for reduced in parts]
    return replace(merged_plan(own), design=design_of(parts))


def design_of(parts: Sequence[ReducedJudgments]) -> Design:
    """The design of the counted data; without a board, repeats are not assigned to runs."""
    runs: dict[str, int] = {}
    columns = [column for reduced in parts for column in reduced.columns]
    for reduced in parts:
        for place, column in enumerate(reduced.columns):  # of one condition, one per order
            asked = 0
            if reduced.board is not None:
                asked = run_columns(np.where(reduced.board[:, place] > 0, 1.0, np.nan)).size
            runs[column.label] = max(runs.get(column.label, 0), asked)
    total = counts_of_reduced(parts)
    return Design.from_counts(
        n_items=total["items"],
        n_clusters=total["clusters"],
        runs=runs.values(),
        n_criteria=len(parts),
        n_orders=len({c.order for c in columns if c.order}) or 1,
        n_judges=len({c.judge for c in columns}),
        request_order=INTERLEAVED if all(r.interleaved for r in parts) else "",
    )


def audit_criteria(found: Mapping[str, ReducedJudgments], **choices: Any) -> Analysis:
    """Audit each criterion apart, and tell all, as the audit in memory does.

    Parameters
    ----------
    found : mapping of criterion to ReducedJudgments
        From `judgestats.data.large.reduce.reduce_criteria`.
    **choices
        As `audit_reduced` takes them.

    Returns
    -------
    Analysis
    """
    parts = [(name, audit_reduced(r, criteria=len(found), **choices)) for name, r in found.items()]
    if len(parts) == 1:
        return parts[0][1]
    whole = merge_analyses(parts)
    criterion = {c.label: name for name, reduced in found.items() for c in reduced.columns}
    named = tuple(
        c if c.criterion else replace(c, factors={**c.factors, "criterion": criterion[c.label]})
        for c in whole.condition_records
    )
    return replace(whole, condition_records=named)


def audit_reduced(
    reduced: ReducedJudgments,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    omega_model: str = "parallel",
    criteria: int = 1,
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
    criteria : int
        How many are audited apart, of which this is one.

    Returns
    -------
    Analysis
        The tables of `judgestats.audit`; what counts cannot give is left out, and `limitations`
        says what and why.
    """
    declared = plan_for_reduced(
        reduced, n_resamples=n_resamples, seed=seed, level=level, omega_model=omega_model,
        criteria=criteria,
    )  # fmt: skip
    audit_them = audit_scores if reduced.is_scores else audit_verdicts
    return audit_them(reduced, declared)
