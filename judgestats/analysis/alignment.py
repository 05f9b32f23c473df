"""Which way of asking a judge agrees with people, and is consistency bought with bias?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.alignment_methods import (
    Compared,
    compare_methods,
    compare_temperatures,
    consistency_of,
    describe,
)
from judgestats.analysis.outcome import Analysis, NamedResult, Recommendation
from judgestats.analysis.pair_description import at_most_worse, people_ceiling, reference_results
from judgestats.analysis.pair_methods import (
    AVERAGE,
    Method,
    fewer_pairs,
    judged_pairs,
    methods_of,
    pairs_asked,
)
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.selections import metrics_of, selection_limits
from judgestats.analysis.told import told_coefficient
from judgestats.items.schema import Item
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import heat
from judgestats.stats.inference.result import Estimate, format_p

__all__ = ["MARGIN", "analyse", "plan"]

MARGIN = 0.05
"""Declared margin: alignment scores that differ by less than five points in a hundred."""

_BASELINES = ("always tie", "random")
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
        blocks=(
            "The pair is the block: all methods judge the same labelled pairs. Its value is the "
            "credit (1 as the person, .5 exactly one says tie, 0 otherwise), averaged over its "
            "labels and replications: the alignment to be expected of one verdict. Pairs of one "
            "question are kept together."
        ),
        missing=(
            "A verdict that could not be read earns no credit and is left out, and is counted as "
            "wrong in the column beside; a pair without credit under one method is left out of "
            "the comparison of methods, and counted. "
            f"Where a pair's two orders disagree the declared rule is: {rule}. Equal scores are a "
            "tie."
        ),
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"alignment_score": MARGIN},
        options={"methods_at": at, "disagreement": rule, **pairs_asked(parameters)},
        hypotheses=(
            Hypothesis(
                id="methods",
                role="primary",
                question=f"Do the methods differ in their agreement with people (T = {at})?",
                test="blocked F on credit, pairs as blocks, p by exchanging the methods of a "
                "question's pairs jointly",
                family="one test per judge",
                adjustment="holm",
            ),
            Hypothesis(
                id="difference",
                role="secondary",
                question="Which methods differ, and which beat always-tie and random?",
                test="difference of mean alignment scores, interval over questions",
                family="pairs of methods and baselines, within a judge",
                adjustment="holm",
            ),
            Hypothesis(
                id="equivalence",
                role="secondary",
                question="Where no difference is seen: is it shown to be small?",
                test=f"two one-sided tests, difference within {MARGIN}",
                family="pairs, within a judge (and a method, over temperatures)",
                adjustment="holm",
            ),
            Hypothesis(
                id="ranks_of_credit",
                role="secondary",
                question="And by ranks, as the study tested it?",
                test="Friedman and Nemenyi's comparisons on credit, pairs as blocks, p by "
                "permuting a question's pairs jointly. Ranks also tell a mean of several verdicts "
                "from a single one that agrees equally often, so they do not decide",
                family="pairs of methods and baselines, within a judge",
                adjustment="single step",
            ),
            Hypothesis(
                id="temperature",
                role="secondary",
                question="Does temperature change the agreement with people?",
                test="blocked F on credit over temperatures, and differences of means",
                family="methods and judges",
                adjustment="holm",
            ),
            Hypothesis(
                id="consistency",
                role="secondary",
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
            Hypothesis(
                id="published",
                role="replicated",
                question="What would the replicated study have printed?",
                test="Friedman and Nemenyi with pairs as independent blocks",
            ),
        ),
    )
    asked = {str(c.factors["method"]) for c in conditions}
    methods = len(asked | {AVERAGE}) if "pointwise" in asked else len(asked)
    temperatures = max(Counter((c.judge, c.factors["method"]) for c in conditions).values())
    if methods < 2:
        declared = declared.without("methods", "difference", "ranks_of_credit")
    if temperatures < 2:
        declared = declared.without("temperature")
    if methods < 2 and temperatures < 3:
        declared = declared.without("published")
    if methods < 2 and temperatures < 2:
        declared = declared.without("equivalence")
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
    pairs = judged_pairs(items)
    methods = methods_of(frame, pairs, rule=declared.options["disagreement"])
    at = float(declared.options["methods_at"])
    results: list[NamedResult] = []
    rows = []
    for method in methods:
        row, found = describe(method, pairs, declared)
        rows.append(row)
        results += found
    ceiling = people_ceiling(pairs, level=declared.level)
    table = pd.DataFrame(rows)
    # One method without any readable verdict would leave the others no pair in common.
    readable = [m for m in methods if not np.isnan(m.credit).all()]
    compared, found = compare_methods(readable, pairs, declared)
    results += found
    results += compare_temperatures(readable, pairs, declared)
    results += consistency_of(table)
    results += reference_results(pairs, declared)
    order = {"primary": 0, "secondary": 1, "descriptive": 2, "replicated": 3}
    results.sort(key=lambda r: order[r.role])
    return Analysis(
        experiment="alignment",
        question=declared.question,
        sentence=_sentence(table, compared, ceiling, at),
        conditions=table,
        results=tuple(results),
        limitations=(*_limits(frame, table, items), *fewer_pairs(declared, pairs)),
        recommendation=_recommend(methods, rows, pairs.table.clusters, at),
        metrics={
            "quality/unread_share": float(1 - table["n_ok"].sum() / table["n"].sum()),
            **({"agreement/people": ceiling.estimate} if ceiling else {}),
        },
        condition_metrics={str(r["condition"]): metrics_of(r, _METRICS) for r in rows},
        arrays={
            "pairs": list(pairs.names),
            "clusters": [str(c) for c in pairs.table.clusters],
            "conditions": [m.label for m in methods],
            "credit": np.column_stack([m.credit for m in methods]),
        },
    )


def _sentence(
    table: pd.DataFrame, compared: Mapping[str, Compared], ceiling: Estimate | None, at: float
) -> str:
    told = "; ".join(_of_judge(judge, c, table, at) for judge, c in compared.items())
    if not compared:
        each = (f"{r['condition']} {told_coefficient(r, 'alignment')}" for _, r in table.iterrows())
        told = f"Agreement with people: {'; '.join(each)}; methods were not compared"
    read = table.groupby("judge", sort=False)["alignment"].count()
    mute = [str(judge) for judge, n in read.items() if n == 0]
    told += f"; no verdict of {' and '.join(mute)} could be read" if mute else ""
    if ceiling is not None and not math.isnan(ceiling.estimate):
        told += f"; people score {ceiling.short()} against one another"
    return f"{told}."


def _of_judge(judge: str, compared: Compared, table: pd.DataFrame, at: float) -> str:
    """The best method, what it beats, what is shown to be as good, and what is open."""
    own = table[(table["judge"] == judge) & np.isclose(table["temperature"], at, equal_nan=True)]
    own = own[own["alignment"].notna()]
    row = own.sort_values("alignment", ascending=False).iloc[0]
    best = str(row["factor_method"])
    text = (
        f"{judge}: {best} agrees best with people at {heat(at)} (score "
        f"{told_coefficient(row, 'alignment')})"
    )
    beaten = _others(
        compared.shifts.rows, best, [r.p_adjusted < 0.05 for r in compared.shifts.rows]
    )
    above = [m for m in _BASELINES if m in beaten]
    apart = [m for m in beaten if m not in _BASELINES]
    below = [m for m in _BASELINES if m not in above]
    text += f", better than {' and '.join(above)}" if above else ""
    text += f", not shown better than {' or '.join(below)}" if below else ""
    if apart:
        text += f"; told apart from it: {', '.join(apart)}"
    alike = [m for m in _others(compared.equal.rows, best, compared.equal.shown) if m not in apart]
    rest = set(own["factor_method"]) - {best, *apart, *alike}
    if alike:
        text += f"; shown to be within {MARGIN:g} of it: {', '.join(alike)}"
    if rest:
        text += f"; neither told apart nor shown alike: {', '.join(sorted(rest))}"
    test = compared.test
    every = f"not computed, {test.reason}" if test.reason else f"p {format_p(test.p_value)}"
    return f"{text} (all methods: {every})"


def _others(rows: Sequence[Any], name: str, chosen: Sequence[bool]) -> list[str]:
    """What the chosen comparisons with a name compare it with."""
    return sorted(
        str(r.b if r.a == name else r.a)
        for r, taken in zip(rows, chosen, strict=True)
        if taken and name in {r.a, r.b}
    )


def _recommend(
    methods: Sequence[Method], rows: Sequence[Mapping[str, Any]], clusters: Any, at: float
) -> Recommendation | None:
    """The cheapest method that is shown to be hardly worse than the best."""
    known = [
        (m, r)
        for m, r in zip(methods, rows, strict=True)
        if np.isclose(m.temperature, at, equal_nan=True) and not np.isnan(m.credit).all()
    ]
    if len(known) < 2:
        return None  # nothing to choose from
    shown = at_most_worse([m.credit for m, _ in known], clusters, margin=MARGIN)
    enough = [r for (_, r), ok in zip(known, shown, strict=True) if ok]
    priced = all(float(r["cost_per_pair"]) > 0 for r in enough)
    by = "cost_per_pair" if priced else "judgments_per_pair"
    row = min(enough, key=lambda r: (float(r[by]), -float(r["alignment"])))
    best = max((r for _, r in known), key=lambda r: float(r["alignment"]))
    price = (
        f"${float(row['cost_per_pair']):.4f}"
        if priced
        else f"{float(row['judgments_per_pair']):.2g} judgments"
    )
    score = told_coefficient(best, "alignment")
    why = (
        f"{row['condition']} has the best score ({score}), and no method shown to be at most "
        f"{MARGIN:g} below it is cheaper ({price} a pair). "
        if row is best
        else f"{row['condition']} is the cheapest ({price} a pair) of the methods shown to be at "
        f"most {MARGIN:g} below the best score ({score}, {best['condition']}). "
    )
    return Recommendation(
        text=(
            f"{why}"
            "The best was picked on the same pairs, which flatters it; compare it with what "
            "people score against one another before taking it for them."
        ),
        cost_usd=float(row["cost_per_pair"]) if priced else None,
    )


def _limits(frame: pd.DataFrame, table: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    limits = selection_limits(frame, table)
    personas = {"strict-expert", "lay-reader", "hurried-reader"}
    if {label.annotator for item in items for label in item.labels} <= personas:
        limits.append(
            "The labels are those of the bundled bank's designed personas, not of people: they "
            "serve to rehearse the method."
        )
    return limits
