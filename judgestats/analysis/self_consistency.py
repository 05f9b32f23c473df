"""Reliability and agreement with people of several judgments in one, against their cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.aggregates import Aggregated, Answers, described
from judgestats.analysis.asked_rows import aligned_rows, asked_row
from judgestats.analysis.drawings import against
from judgestats.analysis.families import one_family
from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.pair_description import reference_results
from judgestats.analysis.pair_methods import fewer_pairs, judged_pairs, pairs_asked
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.recording import conditions_of
from judgestats.analysis.scores import omega_declared
from judgestats.analysis.selections import condition_row, metrics_of, named, selection_limits
from judgestats.analysis.self_consistency_answer import (
    Averaged,
    bought,
    headlines_of,
    recommend,
    sentence_of,
)
from judgestats.analysis.unread import lost_shares_of
from judgestats.analysis.verdict_shares import of_shares
from judgestats.analysis.weighted_scores import first_weighted, weighted_limitations
from judgestats.arrays import Floats
from judgestats.items.schema import Item
from judgestats.judgments.design import Condition
from judgestats.judgments.pairs import scores_of
from judgestats.judgments.settings import heat
from judgestats.results import About, Row
from judgestats.stats.inference.result import Comparisons
from judgestats.stats.layouts.panels import AGGREGATES, aggregate_replications
from judgestats.stats.spread.equivalence import EquivalenceResult, equivalence_of_means
from judgestats.stats.spread.mean_shift import mean_shift

SIZES = (1, 3, 5, 10, 20)
MARGIN = 0.05
"""Declared margin: alignment scores that differ by less than five points in a hundred."""

_ONE = "one judgment"
_TIES = Limit(
    "Equal scores are a tie, and means of several scores are rarely equal: averaging also turns "
    "ties into decisions, which counts as agreement with people. The accuracy, of pairs where "
    "neither ties, is free of that.",
    code="ties",
    short="means rarely tie: accuracy leaves ties out",
)
_OF_JUDGES = "judges and temperatures"
_METRICS = {
    "alignment": "agreement/alignment",
    "icc1": "reliability/icc1",
    "cost_usd": "cost/usd",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    several = len({c.judge for c in conditions}) > 1
    panel = Hypothesis(
        id="panel",
        role="secondary",
        question="Does a panel (one judgment of each judge) agree better than one judge?",
        test="difference of mean alignment scores, paired by pair, interval over questions: "
        "against one judgment of each judge, and as many of that judge as the panel asks for",
        family="all comparisons with the panel, within a temperature",
        adjustment="holm",
    )
    declared = AnalysisPlan(
        experiment="self_consistency",
        question=(
            "How much reliability and agreement with people does the mean, median or mode of "
            "several judgments buy, how much a panel of judges, and at what cost?"
        ),
        blocks=(
            "The labelled pair is the block. The replications of an answer are cut into disjoint "
            "groups of k, so that no judgment is used twice at one k; credit is averaged over "
            "groups. Pairs of one question are kept together."
        ),
        missing=(
            "A group uses the scores that could be read; a verdict without any is left out, and "
            "counted as wrong in the column beside."
        ),
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"alignment_score": MARGIN},
        options=pairs_asked(parameters),
        hypotheses=(
            Hypothesis(
                id="gain",
                role="primary",
                question="Does the mean of the largest k agree better with people than one "
                "judgment?",
                test="difference of mean alignment scores, paired by pair, interval over questions",
                family=_OF_JUDGES,
                adjustment="holm",
            ),
            Hypothesis(
                id="equivalence",
                role="secondary",
                question="Where no gain is seen: is it shown to be small?",
                test=f"two one-sided tests, difference within {MARGIN}",
                family="as for the difference",
                adjustment="holm",
            ),
            Hypothesis(
                id="sizes",
                role="secondary",
                question="And the mean of fewer?",
                test="as for the largest k",
                family="sizes k, within a judge and temperature",
                adjustment="holm",
            ),
            Hypothesis(
                id="aggregates",
                role="secondary",
                question="Does the median or the mode agree better than the mean (largest k)?",
                test="as above, against the mean",
                family=f"median and mode, {_OF_JUDGES}",
                adjustment="holm",
            ),
            *((panel,) if several else ()),
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
                id="reliability",
                role="descriptive",
                question="How reliable is the mean, median or mode of k judgments?",
                test="ICC(1,1) over disjoint groups of k, each beside its null; of the mean of all "
                "judgments parallel omega",
            ),
            Hypothesis(
                id="alignment",
                role="descriptive",
                question="How often does it agree with people?",
                test="mean credit with interval over questions, beside always-tie, random and what "
                "people score against one another; accuracy without ties",
            ),
        ),
    )
    if int(parameters["replicates"]) < SIZES[1]:
        declared = declared.without("gain", "equivalence", "sizes", "aggregates")
    return declared


def analyse(frame: pd.DataFrame, declared: AnalysisPlan, *, items: Sequence[Item]) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed pointwise judgments of the labelled pairs' responses.
    declared : AnalysisPlan
    items : sequence of Item

    Returns
    -------
    Analysis
    """
    frame = frame[frame["status"] != "invalid_condition"]
    pairs = judged_pairs(items)
    names = tuple(sorted({*pairs.first, *pairs.second}))
    clusters = frame.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[list(names)]
    answers = Answers(pairs=pairs, names=names, clusters=clusters.to_numpy(object))
    asked = [
        _made(str(condition), own, answers, declared)
        for condition, own in frame.groupby("condition", sort=False)
    ]
    questions = pairs.table.clusters
    panels, panel_results = _panels(asked, answers, declared)
    every = [a for one in asked for a in one.made.values()] + panels
    gains, small, results = _gains(asked, questions, declared)
    results += panel_results
    beside = [one.weighted for one in asked if one.weighted is not None]
    results += [r for one in [*every, *beside] for r in one.results]
    results += [r for one in asked for r in _omega(one, answers, declared)]
    results += reference_results(pairs, declared)
    recommended, best = recommend(every, questions, declared)
    results += best
    order = {"primary": 0, "secondary": 1, "descriptive": 2}
    results.sort(key=lambda r: order[r.role])
    table = pd.DataFrame([one.row for one in [*every, *beside]])
    headlines = headlines_of(asked, gains, small)
    told = bought(asked, [p.name for p in panels], results)
    return Analysis(
        experiment="self_consistency",
        question=declared.question,
        drawing=against(
            "k",
            "alignment",
            "reliability",
            "tokens_per_pair",
            caption="What averaging buys, and takes: agreement with people, reliability and tokens "
            "by the number of judgments averaged. The line is what people reach.",
            only={"aggregate": ("one", "mean")},
            lines=("alignment.people",),
        ),
        sentence=sentence_of(headlines, asked, gains, small),
        headlines=(*headlines, *told),
        conditions=table,
        results=tuple(results),
        limitations=(
            *selection_limits(frame, table),
            _TIES,
            *weighted_limitations(frame),
            *fewer_pairs(declared, pairs),
        ),
        recommendation=recommended,
        condition_records=tuple(conditions_of(table, judged=set(frame["condition"]))),
        condition_metrics={one.name: metrics_of(one.row, _METRICS) for one in [*every, *beside]},
        rows=_rows([one.name for one in [*every, *beside]]),
    )


def _made(condition: str, own: pd.DataFrame, answers: Answers, declared: AnalysisPlan) -> Averaged:
    """One judgment, and mean, median and mode of every size."""
    base = condition_row(condition, own)
    scores = scores_of(own, answers.names)
    times = max(int(base["n_replications"]), 1)
    each = float(base["cost_usd"]) / times
    # of one verdict, as `alignment` counts: both answers of a pair are judged for it
    verdicts = max(len(answers.pairs.names), 1) * times
    tokens = float((own["tokens_in"] + own["tokens_out"]).sum(skipna=False)) / verdicts
    made: dict[tuple[str, int], Aggregated] = {}
    for how in AGGREGATES:
        for k in (k for k in SIZES if k <= scores.shape[1]):
            if k == 1 and how != "mean":
                continue  # one judgment is its own mean, median and mode
            grouped = aggregate_replications(scores, k=k, how=how)
            made[how, k] = described(
                base, grouped, answers,
                name=condition if k == 1 else f"{condition}, {how} of {k}",
                how="one" if k == 1 else how,
                judgments=k,
                cost=each * k,
                tokens=tokens * k,
                level=declared.level,
                scores=scores[:, :k] if how == "mean" else None,
                n_permutations=declared.n_resamples,
                seed=declared.seed,
            )  # fmt: skip
    temperature = float(base["temperature"])
    expected = first_weighted(own, answers.names)
    weighted = None if expected is None else described(
        base, expected, answers, name=f"{condition}, weighted by probabilities", how="weighted",
        judgments=1, cost=each, tokens=tokens, level=declared.level,
    )  # fmt: skip
    return Averaged(
        where=f"{base['judge']} at {heat(temperature)}", judge=str(base["judge"]),
        temperature=temperature, base=base, scores=scores, made=made, weighted=weighted,
    )  # fmt: skip


def _omega(one: Averaged, answers: Answers, declared: AnalysisPlan) -> Iterator[NamedResult]:
    """Omega of the judgments' mean under the declared model, where that is not the parallel one."""
    model = declared.options.get("omega_model", "parallel")
    for value in omega_declared(
        one.scores, model, cluster=answers.clusters, level=declared.level,
        n_permutations=declared.n_resamples, seed=declared.seed,
    ):  # fmt: skip
        yield named(
            f"reliability.omega_{model}.{one.base['condition']}",
            f"Reliability of the mean of all judgments under the {model} model, {one.where}",
            "descriptive",
            value,
        )


def _gains(
    asked: Sequence[Averaged], questions: Any, declared: AnalysisPlan
) -> tuple[Comparisons | None, EquivalenceResult | None, list[NamedResult]]:
    """The largest k against one judgment, other sizes, and median and mode against the mean."""
    gain: dict[str, Comparisons] = {}
    small: dict[str, EquivalenceResult] = {}
    other: dict[str, Comparisons] = {}
    alike: dict[str, EquivalenceResult] = {}
    results: list[NamedResult] = []
    margin = declared.margins["alignment_score"]
    for one in asked:
        if len(one.sizes) < 2:
            continue
        top = max(one.sizes)

        def compare(
            columns: Mapping[str, Floats],
        ) -> tuple[Comparisons, EquivalenceResult]:
            names, table = list(columns), np.column_stack(list(columns.values()))
            return of_shares(mean_shift(
                table, conditions=names, reference=names[0], cluster=questions,
                level=declared.level,
            )), of_shares(replace(
                equivalence_of_means(
                    table, conditions=names, reference=names[0], cluster=questions, margin=margin
                ),
                quantity="agreement with people, as a share of the pairs",
            ))  # fmt: skip

        gain[one.where], small[one.where] = compare(
            {_ONE: one.credit(1), f"mean of {top}": one.credit(top)}
        )
        other[one.where], alike[one.where] = compare(
            {f"{how} of {top}": one.credit(top, how) for how in AGGREGATES}
        )
        between = [k for k in one.sizes if 1 < k < top]
        if not between:
            continue
        fewer, _ = compare({_ONE: one.credit(1)} | {f"mean of {k}": one.credit(k) for k in between})
        results.append(
            named(f"sizes.{one.where}", f"Means of k against one judgment, {one.where}",
                  "secondary", fewer, about=About(judge=one.judge, stratum=one.where))
        )  # fmt: skip
    if not gain:
        return None, None, results
    gains = one_family(gain, family=f"gain: {_OF_JUDGES}")
    smalls = one_family(small, family=f"gain: {_OF_JUDGES}")
    family = f"median and mode: {_OF_JUDGES}"
    results += [
        named("gain", "Gain in agreement with people by averaging", "primary", gains,
              headline=True),
        named("equivalence.gain", "Is the gain small", "secondary", smalls, headline=True),
        named("aggregates", "Median and mode against the mean", "secondary",
              one_family(other, family=family), headline=True),
        named("equivalence.aggregates", "Do median and mode agree as often as the mean",
              "secondary", one_family(alike, family=family)),
    ]  # fmt: skip
    return gains, smalls, results


def _panels(
    asked: Sequence[Averaged], answers: Answers, declared: AnalysisPlan
) -> tuple[list[Aggregated], list[NamedResult]]:
    """One judgment of each judge, averaged, at every temperature with several judges."""
    panels: list[Aggregated] = []
    results: list[NamedResult] = []
    questions = answers.pairs.table.clusters
    for label in dict.fromkeys(heat(one.temperature) for one in asked):
        judges = [one for one in asked if heat(one.temperature) == label]
        size = len(judges)
        if size < 2:
            continue
        width = min(one.scores.shape[1] for one in judges)
        stacked = np.stack([one.scores[:, :width] for one in judges], axis=2)
        singles = [one.base for one in judges]
        base = {
            **singles[0],
            "judge": " + ".join(one.judge for one in judges),
            "n": sum(int(r["n"]) for r in singles),
            "n_ok": sum(int(r["n_ok"]) for r in singles),
            **lost_shares_of(singles),
        }
        panel = described(
            base,
            aggregate_replications(stacked.reshape(len(answers.names), -1), k=size, how="mean"),
            answers,
            name=f"panel of {size}, {label}", how="panel", judgments=size,
            cost=sum(float(one.made["mean", 1].row["cost_usd"]) for one in judges),
            tokens=sum(float(one.made["mean", 1].row["tokens_per_pair"]) for one in judges),
            level=declared.level,
            n_permutations=declared.n_resamples, seed=declared.seed,
        )  # fmt: skip
        panels.append(panel)
        columns = {"panel": panel.credit}
        for one in judges:
            columns[f"one of {one.judge}"] = one.credit(1)
            if size <= one.scores.shape[1]:
                as_many = aggregate_replications(one.scores, k=size)
                columns[f"mean of {size} of {one.judge}"] = described(
                    base, as_many, answers, name="as many", how="mean", judgments=size, cost=0.0,
                    level=declared.level, n_permutations=0,
                ).credit  # fmt: skip
        names, table = list(columns), np.column_stack(list(columns.values()))
        common: dict[str, Any] = {
            "conditions": names, "reference": "panel", "cluster": questions,
        }  # fmt: skip
        results += [
            named(f"panel.{label}", f"Judges against the panel, {label}", "secondary",
                  of_shares(mean_shift(table, level=declared.level, **common)), headline=True),
            named(f"equivalence.panel.{label}", f"Do judges agree as often as the panel, {label}",
                  "secondary",
                  of_shares(equivalence_of_means(
                      table, margin=declared.margins["alignment_score"], **common
                  ).replace(quantity="agreement with people, as a share of the pairs"))),
        ]  # fmt: skip
    return panels, results


def _rows(names: Sequence[str]) -> tuple[Row, ...]:
    """Agreement with people and reliability, of one judgment and of each aggregate."""
    people, accuracy = aligned_rows(names)
    reliability = asked_row(
        "reliability", "its reliability", "reliability", "icc_1_1", "reliability.{}", names
    )
    return people, reliability, accuracy
