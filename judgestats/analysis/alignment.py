"""Which way of asking a judge agrees with people, and is consistency bought with bias?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from judgestats.analysis.asked_rows import aligned_rows, asked_row
from judgestats.analysis.drawings import ranked
from judgestats.analysis.families import LEVEL, claim_of
from judgestats.analysis.limits import designed_labels
from judgestats.analysis.outcome import Analysis, NamedResult, Recommendation
from judgestats.analysis.pair_description import people_ceiling, reference_results
from judgestats.analysis.pair_methods import (
    AVERAGE,
    Method,
    fewer_pairs,
    judged_pairs,
    methods_of,
    pairs_asked,
    weighted_methods,
)
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.recommend import Spent, recommend_best
from judgestats.analysis.selections import metrics_of, selection_limits
from judgestats.analysis.weighted_scores import weighted_limitations
from judgestats.analysis.worded_numbers import worded_coefficient
from judgestats.items.schema import Item
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import heat
from judgestats.results import About, Claim, Headline, Row
from judgestats.results.numbers import adjusted_p, apa_number, bounds_of, with_bounds
from judgestats.stats.inference.adjust import p_adjust, p_bounds
from judgestats.stats.inference.result import Estimate

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
                id="best",
                role="secondary",
                question="Which conditions may be the best, and is a cheap one as good?",
                test="comparisons with the best, simultaneous, paired by pair, clustered by "
                "question; recommended is the cheapest within the margin",
                family="all conditions",
                adjustment="simultaneous",
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
        declared = declared.without("methods", "difference", "ranks_of_credit", "best")
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
    weighted = weighted_methods(frame, pairs)
    beside = [describe(m, pairs, declared) for m in weighted]
    results += [result for _, own in beside for result in own]
    ceiling = people_ceiling(pairs, level=declared.level)
    table = pd.DataFrame(rows)
    # One method without any readable verdict would leave the others no pair in common.
    readable = [m for m in methods if not np.isnan(m.credit).all()]
    compared, found = compare_methods(readable, pairs, declared)
    results += found
    results += compare_temperatures(readable, pairs, declared)
    results += consistency_of(table)
    results += reference_results(pairs, declared)
    headlines = _headlines(compared, table, at)
    recommended, best = _recommend(methods, rows, pairs.table.clusters, at, declared.level)
    results += best
    order = {"primary": 0, "secondary": 1, "descriptive": 2, "replicated": 3}
    results.sort(key=lambda r: order[r.role])
    return Analysis(
        experiment="alignment",
        question=declared.question,
        drawing=ranked(
            "alignment",
            caption="Agreement with people by method, beside what people reach among themselves "
            "and what says nothing. Bars at the right join methods that are not told apart.",
            results=results,
            compared="difference.",
            lines=("alignment.people", "alignment.always_tie", "alignment.random"),
        ),
        sentence=_sentence(headlines, table, compared, ceiling, at),
        headlines=headlines,
        conditions=pd.DataFrame([*rows, *(row for row, _ in beside)]) if beside else table,
        results=tuple(results),
        limitations=(
            *_limits(frame, table, items),
            *weighted_limitations(frame),
            *fewer_pairs(declared, pairs),
        ),
        recommendation=recommended,
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
        asked_row(
            "again",
            "same when asked again",
            "again",
            "percent_agreement",
            "consistency.repeated.{}",
            called,
        ),
        asked_row(
            "swap",
            "same when shown swapped",
            "swapped",
            "swap_consistency",
            "consistency.orders.{}",
            called,
        ),
    )


def _headlines(
    compared: Mapping[str, Compared], table: pd.DataFrame, at: float
) -> tuple[Headline, ...]:
    """Of each judge: whether its methods differ, and whether the best beats both baselines.

    Equality and what concerns baselines are adjusted over judges, as the primary test is.
    """
    judges = list(compared)
    if not judges:
        return (
            Headline(
                id="headline.methods", hypothesis="methods", claim="undefined", about=About(),
                estimand="alignment_score",
                reason="fewer than two methods of a judge were judged and read",
            ),
        )  # fmt: skip
    tests = [compared[j].test for j in judges]
    apart = p_adjust([t.p_value for t in tests])
    bounds = p_bounds([t.p_value for t in tests], [t.p_floor for t in tests])
    alike = p_adjust([compared[j].equal.p_all for j in judges])
    found = []
    for judge, p, bound, p_alike in zip(judges, apart, bounds, alike, strict=True):
        one, own = compared[judge], _own(table, judge, at)
        about = About(
            judge=judge,
            stratum=f"{judge} at {heat(at)}",
            conditions=tuple(own["condition"]),
            varied="method",
            factors={"temperature": None if math.isnan(at) else at},
        )
        claim = claim_of(p, p_alike)
        found.append(
            Headline(
                id=f"headline.methods.{judge}",
                hypothesis="methods",
                claim=claim,
                about=about,
                estimand="alignment_score",
                rests_on=tuple(
                    f"{kind}.{judge}" for kind in ("methods", "equivalence.methods", "difference")
                ),
                family="methods.family" if len(judges) > 1 else "",
                p_adjusted=p_alike if claim == "equivalent" else p,
                p_bound=bound and claim != "equivalent",
                reason=one.test.reason,
                says=_SAYS[claim],
                size=_widest(judge, one) if claim == "differs" else "",
            )
        )
        best = str(own.iloc[0]["factor_method"])
        for row in one.shifts.rows:
            if {row.a, row.b} & {best} and {row.a, row.b} & set(_BASELINES):
                floor = row.b if row.a == best else row.a
                # NaN stays NaN: a baseline that could not be compared is not one tested in vain.
                p_floor = float(np.minimum(1.0, len(judges) * row.p_adjusted))
                above = (row.estimate > 0) == (row.a == best)
                found.append(
                    Headline(
                        id=f"headline.difference.{judge}.{floor}",
                        hypothesis="difference",
                        claim=claim_of(p_floor, math.nan),
                        about=replace(about, conditions=(str(own.iloc[0]["condition"]),)),
                        estimand="alignment_score",
                        direction="higher" if above else "lower",
                        rests_on=(f"difference.{judge}/{row.a}:{row.b}",),
                        family=f"difference.{judge}",
                        p_adjusted=p_floor,
                        reason=row.reason,
                        says=_against(claim_of(p_floor, math.nan), floor, above=above),
                    )
                )
    return tuple(found)


_SAYS: Mapping[Claim, str] = {
    "differs": "its methods differ in agreement with people",
    "equivalent": "all its methods agree with people alike, within the margin",
    "open": "neither a difference between its methods nor equality is shown",
    "undefined": "its methods could not be compared",
}


def _against(claim: Claim, floor: str, *, above: bool) -> str:
    """What a comparison of the best method with a baseline says."""
    if claim != "differs":
        return f"its best method is not shown to agree more often with people than {floor}"
    return f"its best method agrees {'more' if above else 'less'} often with people than {floor}"


def _widest(judge: str, compared: Compared) -> str:
    """Id of the pair of methods that lies farthest apart, baselines left out."""
    pairs = [
        row
        for row in compared.shifts.rows
        if not {row.a, row.b} & set(_BASELINES) and math.isfinite(row.estimate)
    ]
    if not pairs:
        return ""
    row = max(pairs, key=lambda r: abs(r.estimate))
    return f"difference.{judge}/{row.a}:{row.b}"


def _own(table: pd.DataFrame, judge: str, at: float) -> pd.DataFrame:
    """A judge's methods at the temperature, the best first."""
    own = table[(table["judge"] == judge) & np.isclose(table["temperature"], at, equal_nan=True)]
    return own[own["alignment"].notna()].sort_values("alignment", ascending=False, kind="stable")


def _sentence(
    headlines: Sequence[Headline],
    table: pd.DataFrame,
    compared: Mapping[str, Compared],
    ceiling: Estimate | None,
    at: float,
) -> str:
    floors = {
        judge: [h for h in headlines if (h.hypothesis, h.about.judge) == ("difference", judge)]
        for judge in compared
    }
    text = "; ".join(
        _of_judge(h, floors[judge], compared[judge], _own(table, judge, at), at)
        for judge in compared
        for h in headlines
        if h.id == f"headline.methods.{judge}"
    )
    if not compared:
        each = (
            f"{r['condition']} {worded_coefficient(r, 'alignment')}" for _, r in table.iterrows()
        )
        text = f"Agreement with people: {'; '.join(each)}; methods were not compared"
    read = table.groupby("judge", sort=False)["alignment"].count()
    mute = [str(judge) for judge, n in read.items() if n == 0]
    text += f"; no verdict of {' and '.join(mute)} could be read" if mute else ""
    if ceiling is not None and not math.isnan(ceiling.estimate):
        text += f"; people score {ceiling.short()} against one another"
    return f"{text}."


def _of_judge(
    headline: Headline,
    floors: Sequence[Headline],
    compared: Compared,
    own: pd.DataFrame,
    at: float,
) -> str:
    """Whether methods differ, the best as observed, what it beats, and what is open."""
    row, judge = own.iloc[0], headline.about.judge
    best = str(row["factor_method"])
    text = (
        f"{judge}: {best} has the highest agreement with people at {heat(at)} (score "
        f"{worded_coefficient(row, 'alignment')})"
    )
    above = [h for h in floors if h.claim == "differs" and h.direction == "higher"]
    below = [h for h in floors if h not in above]
    names = [[h.id.rpartition(".")[2] for h in hs] for hs in (above, below)]
    text += f", better than {' and '.join(names[0])}" if above else ""
    text += f", not shown better than {' or '.join(names[1])}" if below else ""
    p = f"adjusted p {adjusted_p(headline)}"
    if headline.claim == "undefined":
        return f"{text} (methods could not be compared: {headline.reason})"
    if headline.claim == "equivalent":
        return f"{text}; all methods are shown to lie within {MARGIN:g} of one another ({p})"
    if headline.claim == "open":
        return f"{text}; methods are not told apart ({_largest(compared)}; {p})"
    shown = [r.p_adjusted < LEVEL for r in compared.shifts.rows]
    apart = [m for m in _others(compared.shifts.rows, best, shown) if m not in _BASELINES]
    alike = [m for m in _others(compared.equal.rows, best, compared.equal.shown) if m not in apart]
    rest = sorted(set(own["factor_method"]) - {best, *apart, *alike})
    text += f"; methods differ ({p})"
    text += f", told apart from it: {', '.join(apart)}" if apart else ""
    text += f", shown to be within {MARGIN:g} of it: {', '.join(alike)}" if alike else ""
    return text + (f", neither told apart nor shown alike: {', '.join(rest)}" if rest else "")


def _largest(compared: Compared) -> str:
    """The methods furthest apart with their interval, and whether the margin is ruled out."""
    known = [r for r in compared.equal.rows if r.interval is not None]
    if not known:
        return "no difference has an interval"
    row = max(known, key=lambda r: abs(r.estimate))
    low, high = bounds_of(row.interval)
    out = (
        "ruled out here, but not for all together" if max(-low, high) < MARGIN else "not ruled out"
    )
    lead = "largest difference" if len(compared.equal.rows) > 1 else "difference"
    return (
        f"{lead}, {row.a} less {row.b}, {with_bounds(row.estimate, low, high, bounded=True)} (90 % "
        f"interval), so one of {apa_number(MARGIN, bounded=True)} is {out}"
    )


def _others(rows: Sequence[Any], name: str, chosen: Sequence[bool]) -> list[str]:
    """What the chosen comparisons with a name compare it with."""
    return sorted(
        str(r.b if r.a == name else r.a)
        for r, taken in zip(rows, chosen, strict=True)
        if taken and name in {r.a, r.b}
    )


def _recommend(
    methods: Sequence[Method],
    rows: Sequence[Mapping[str, Any]],
    clusters: Any,
    at: float,
    level: float,
) -> tuple[Recommendation | None, tuple[NamedResult, ...]]:
    """The cheapest method that is shown to be hardly worse than the best."""
    known = [
        (m, r)
        for m, r in zip(methods, rows, strict=True)
        if np.isclose(m.temperature, at, equal_nan=True) and not np.isnan(m.credit).all()
    ]
    given = recommend_best(
        {str(r["condition"]): m.credit for m, r in known},
        clusters,
        spent=Spent.of(
            [r for _, r in known],
            USD="cost_per_pair", tokens="tokens_per_pair", judgments="judgments_per_pair",
        ),
        margin=MARGIN, level=level, what="agreement with people", each="a pair",
    ) if len(known) > 1 else None  # fmt: skip
    return (None, ()) if given is None else (given[0], (given[1],))


def _limits(frame: pd.DataFrame, table: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    limits = selection_limits(frame, table)
    personas = {"strict-expert", "lay-reader", "hurried-reader"}
    if {label.annotator for item in items for label in item.labels} <= personas:
        limits.append(designed_labels())
    return limits
