"""Which way of asking a judge agrees with people, and is consistency bought with bias?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.alignment_methods import (
    MARGIN,
    alignment_headlines,
    best_methods,
    compare_methods,
    compare_temperatures,
    consistency_of,
    describe,
)
from judgestats.analysis.families import AnalysisPlan, Hypothesis, published
from judgestats.analysis.limits import designed_labels
from judgestats.analysis.pair_methods import (
    AVERAGE,
    BEST_METHOD,
    Method,
    fewer_pairs,
    method_pairs,
    methods_of,
    pair_option,
    people_ceiling,
    reference_results,
    weighted_methods,
)
from judgestats.analysis.records import Analysis, NamedResult, by_role, conditions_of
from judgestats.analysis.score_audit import weighted_limitations
from judgestats.analysis.selections import metrics_of, selection_limits
from judgestats.analysis.summary_rows import aligned_rows, declared_row, ranked, results_row
from judgestats.data.columns import Condition
from judgestats.items.records import Item
from judgestats.results import Row

__all__ = ["MARGIN", "analyse", "plan"]

_METRICS = {
    "alignment": "agreement/alignment",
    "kappa": "agreement/kappa",
    "accuracy_decided": "agreement/accuracy_without_ties",
    "self_agreement": "reliability/self_agreement",
    "swap_consistency": "order/swap_consistency",
    "first_preference": "order/first_preference",
    "cost_usd": "cost/usd",
}
_QUESTION = (
    "Which way of asking a judge agrees best with people, does temperature matter for it, and is "
    "consistency bought with bias?"
)


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    asked_at = {c.temperature for c in conditions}
    at = "nan" if asked_at == {None} else f"{parameters['methods_at']:g}"
    rule = str(parameters["disagreement"])
    declared = AnalysisPlan(
        experiment="alignment",
        question=_QUESTION,
        blocks="The pair is the block: all methods judge the same labelled pairs. Its value is the "
        "credit (1 as the person, .5 exactly one says tie, 0 otherwise), averaged over its "
        "labels and replications: the alignment to be expected of one verdict. Pairs of one "
        "question are kept together.",
        missing="A verdict that could not be read earns no credit and is left out, and is counted "
        "as wrong in the column beside; a pair without credit under one method is left out of the "
        "comparison of methods, and counted. Where a pair's two orders disagree the declared rule "
        f"is: {rule}. Equal scores are a tie.",
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"alignment_score": MARGIN},
        options={"methods_at": at, "disagreement": rule, **pair_option(parameters)},
        hypotheses=(
            Hypothesis(
                id="methods",
                role="primary",
                question=f"Do the methods differ in their agreement with people (T = {at})?",
                test="blocked F on credit, pairs as blocks, p by exchanging the methods of a "
                "question's pairs jointly",
                family="one test per judge",
            ),
            Hypothesis(
                id="difference",
                question="Which methods differ, and which beat always-tie and random?",
                test="difference of mean alignment scores, interval over questions",
                family="pairs of methods and baselines, within a judge",
            ),
            Hypothesis(
                id="equivalence",
                question="Where no difference is seen: is it shown to be small?",
                test=f"two one-sided tests, difference within {MARGIN}",
                family="pairs, within a judge (and a method, over temperatures)",
            ),
            Hypothesis(
                id="ranks_of_credit",
                question="And by ranks, with the baselines among the methods, as the study tested "
                "it?",
                test="Friedman and Nemenyi's comparisons on credit, pairs as blocks, p by "
                "permuting a question's pairs jointly. Ranks also tell a mean of several verdicts "
                "from a single one that agrees equally often, so they do not decide",
                family="pairs of methods and baselines, within a judge",
                adjustment="single step",
            ),
            Hypothesis(
                id="temperature",
                question="Does temperature change the agreement with people?",
                test="blocked F on credit over temperatures, and differences of means",
                family="methods and judges",
            ),
            BEST_METHOD,
            Hypothesis(
                id="consistency",
                question="Is consistency bought with bias?",
                test="agreement of replications, share of pairs judged the same every time and "
                "wrong, consistency between orders, preference for the first place; Spearman over "
                "conditions (described, not tested)",
            ),
            Hypothesis(
                id="alignment",
                role="descriptive",
                question="How often does each method agree with people?",
                test="mean credit with interval over questions, beside always-tie, random and what "
                "people score against one another",
            ),
            Hypothesis(
                id="agreement",
                role="descriptive",
                question="Is the agreement better than chance, and better on decided pairs?",
                test="Cohen's kappa with the labels beside its null, accuracy without ties",
            ),
            published("Friedman and Nemenyi with pairs as independent blocks"),
        ),
    )
    asked = {str(c.factors["method"]) for c in conditions}
    methods = len(asked | {AVERAGE}) if "pointwise" in asked else len(asked)
    temperatures = max(Counter((c.judge, c.factors["method"]) for c in conditions).values())
    if methods < 2:
        declared = declared.drop_hypotheses("methods", "difference", "ranks_of_credit", "best")
    if temperatures < 2:
        declared = declared.drop_hypotheses("temperature")
    if methods < 2 and temperatures < 3:
        declared = declared.drop_hypotheses("published")
    if methods < 2 and temperatures < 2:
        declared = declared.drop_hypotheses("equivalence")
    return declared


def analyse(frame: pd.DataFrame, declared: AnalysisPlan, *, items: Sequence[Item]) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, with ``factor_method``.
    declared : AnalysisPlan
    items : sequence of Item
        The items judged, with their labels.

    Returns
    -------
    Analysis
    """
    frame = frame[frame["status"] != "invalid_condition"]
    pairs = method_pairs(items)
    methods = methods_of(frame, pairs, rule=declared.options["disagreement"])
    at = float(declared.options["methods_at"])
    results: list[NamedResult] = []
    rows = []
    for method in methods:
        row, described = describe(method, pairs, declared)
        rows.append(row)
        results += described
    weighted = weighted_methods(frame, pairs)
    beside = [describe(m, pairs, declared) for m in weighted]
    results += [result for _, own in beside for result in own]
    ceiling = people_ceiling(pairs, level=declared.level)
    table = pd.DataFrame(rows)
    shown = pd.DataFrame([*rows, *(row for row, _ in beside)]) if beside else table
    # One method without any readable verdict would leave the others no pair in common.
    readable = [m for m in methods if not np.isnan(m.credit).all()]
    compared, described = compare_methods(readable, pairs, declared)
    results += described
    results += compare_temperatures(readable, pairs, declared)
    results += consistency_of(table)
    results += reference_results(pairs, declared)
    headlines = alignment_headlines(compared, table, at)
    results += best_methods(methods, rows, pairs.table.clusters, at, declared.level)
    return Analysis(
        experiment="alignment",
        question=declared.question,
        drawing=ranked(
            "alignment",
            caption="Agreement with people by method, beside what people reach among themselves "
            "and what says nothing.",
            results=results,
            compared="difference.",
            lines=("alignment.people", "alignment.always_tie", "alignment.random"),
        ),
        headlines=headlines,
        conditions=shown,
        condition_records=tuple(conditions_of(shown, judged=set(frame["condition"]))),
        results=tuple(by_role(results)),
        limitations=(
            *_limits(frame, table, items),
            *weighted_limitations(frame),
            *fewer_pairs(declared, pairs),
        ),
        metrics={"agreement/people": ceiling.estimate} if ceiling else {},
        condition_metrics={
            str(r["condition"]): metrics_of(r, _METRICS)
            for r in [*rows, *(row for row, _ in beside)]
        },
        rows=_rows([*methods, *weighted], [*rows, *(row for row, _ in beside)]),
        arrays={
            "pairs": list(pairs.names),
            "clusters": [str(c) for c in pairs.table.clusters],
            "conditions": [m.label for m in methods],
            "judges": [m.judge for m in methods],
            "credit": np.column_stack([m.credit for m in methods]),
        },
    )


def _rows(methods: Sequence[Method], rows: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    """Agreement with people, whether it holds again and swapped, of each method."""
    called = {
        str(r["condition"]): f"{m.judge}, {m.label}" for m, r in zip(methods, rows, strict=True)
    }
    return (
        *aligned_rows(called),
        results_row(
            "again",
            "Agreement of repeats",
            "Repeats agree",
            "percent_agreement",
            "consistency.repeated.{}",
            called,
        ),
        declared_row("swap_consistency", called, ids="consistency.orders.{}"),
    )


def _limits(frame: pd.DataFrame, table: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    limits = selection_limits(frame, table)
    personas = {"strict-expert", "lay-reader", "hurried-reader"}
    if {label.annotator for item in items for label in item.labels} <= personas:
        limits.append(designed_labels())
    return limits
