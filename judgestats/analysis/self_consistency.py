"""Self-consistency: reliability and agreement by number of judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.families import (
    AnalysisPlan,
    Hypothesis,
    claim_headline,
    clusters_of,
    direction_of,
    one_family,
)
from judgestats.analysis.limits import Limit
from judgestats.analysis.pair_methods import (
    BEST_METHOD,
    Aggregated,
    Answers,
    fewer_pairs,
    method_pairs,
    pair_option,
    reference_results,
)
from judgestats.analysis.pair_methods import described as aggregates_described
from judgestats.analysis.recommendation import Costs, best_conditions
from judgestats.analysis.records import (
    Analysis,
    NamedResult,
    by_role,
    conditions_of,
    named_results,
)
from judgestats.analysis.score_audit import first_weighted, weighted_limitations
from judgestats.analysis.scores import omega_declared
from judgestats.analysis.selections import (
    condition_row,
    label_shares,
    metrics_of,
    selection_limits,
)
from judgestats.analysis.summary_rows import (
    aligned_rows,
    factor_curve,
    results_row,
)
from judgestats.analysis.supplements import lost_shares_of
from judgestats.arrays import Floats
from judgestats.data.columns import Condition
from judgestats.data.pairs import scores_of
from judgestats.data.request_fields import heat
from judgestats.items.records import Item
from judgestats.results import About, Claim, Headline, Row
from judgestats.stats.designs.score_matrix import AGGREGATES, aggregate_replications
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.dispersion.equivalence import EquivalenceResult, equivalence_of_means
from judgestats.stats.inference.result import Comparisons


@dataclass(frozen=True, kw_only=True)
class Averaged:
    """One judge at one temperature, with everything made of its judgments."""

    where: str
    judge: str
    temperature: float
    base: Mapping[str, Any]
    scores: Floats
    made: Mapping[tuple[str, int], Aggregated]
    weighted: Aggregated | None

    @property
    def sizes(self) -> list[int]:
        """How many judgments were averaged."""
        return [k for how, k in self.made if how == "mean"]

    def credit(self, k: int, how: str = "mean") -> Floats:
        """Agreement with people, pair by pair, of an aggregate of k."""
        return self.made[how, k].credit

    def credited(self, k: int) -> str:
        """The label of the mean of k."""
        return self.made["mean", k].name


def headlines_of(
    asked: Sequence[Averaged], gains: Comparisons | None, small: EquivalenceResult | None
) -> tuple[Headline, ...]:
    """Of each judge and temperature: a gain or loss, equality within the margin, or neither."""
    if gains is None or small is None:
        return (
            Headline(
                id="headline.gain", hypothesis="gain", claim="undefined", about=About(),
                estimand="alignment_score",
                reason="Too few replications to average any: at least 3 are needed",
            ),
        )  # fmt: skip
    headlines = []
    averaged = [one for one in asked if len(one.sizes) > 1]
    for one, row, equal in zip(averaged, gains.rows, small.rows, strict=True):
        about = About(
            judge=one.judge,
            stratum=one.where,
            conditions=(one.credited(1), one.credited(max(one.sizes))),
            varied="judgments averaged",
            factors={"temperature": None if math.isnan(one.temperature) else one.temperature},
        )
        headline = claim_headline(
            f"gain.{one.where}", about, _SAYS,
            p=row.p_adjusted, p_alike=equal.p_adjusted, p_bound=row.p_bound,
            estimand="alignment_score",
            direction=direction_of(row.estimate),
            rests_on=(f"gain/{row.a}:{row.b}", f"equivalence.gain/{equal.a}:{equal.b}"),
            family="gain",
            reason=row.reason,
        )  # fmt: skip
        pairs = "more" if row.estimate > 0 else "fewer"
        headlines.append(replace(headline, says=headline.says.format(pairs)))
    return tuple(headlines)


_SAYS: Mapping[Claim, str] = {
    "differs": "averaging agrees with people on {} of the pairs than one judgment",
    "equivalent": "averaging is shown to change agreement with people by less than the margin",
    "open": "neither a gain in agreement with people from averaging nor its absence is shown",
    "undefined": "a gain from averaging could not be computed",
}


def best_aggregates(
    every: Sequence[Aggregated], questions: Any, declared: AnalysisPlan
) -> tuple[NamedResult, ...]:
    """Comparisons of the ways to aggregate with the best one, with what each spends."""
    usable = [a for a in every if not np.isnan(a.credit).all()]
    return best_conditions(
        {a.name: a.credit for a in usable}, questions,
        spent=Costs.from_rows(
            [a.row for a in usable],
            USD="cost_per_pair", tokens="tokens_per_pair", judgments="k",
        ),
        margin=declared.margins["alignment_score"], level=declared.level,
        what="agreement with people",
    ) if usable else ()  # fmt: skip


SIZES = (1, 3, 5, 10, 20)
MARGIN = 0.05
"""Declared margin: alignment scores that differ by less than five points in a hundred."""

_ONE = "one judgment"
_QUANTITY = "agreement with people, as a share of the pairs"
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
        question="Does a panel (one judgment of each judge) agree better than one judge?",
        test="difference of mean alignment scores, paired by pair, interval over questions: "
        "against one judgment of each judge, and as many of that judge as the panel asks for",
        family="all comparisons with the panel, within a temperature",
    )
    declared = AnalysisPlan(
        experiment="self_consistency",
        question="How much reliability and agreement with people does the mean, median or mode of "
        "several judgments buy, how much a panel of judges, and at what cost?",
        blocks="The labelled pair is the block. The replications of an answer are cut into "
        "disjoint groups of k, so that no judgment is used twice at one k; credit is averaged over "
        "groups. Pairs of one question are kept together.",
        missing="A group uses the scores that could be read; a verdict without any is left out, "
        "and counted as wrong in the column beside.",
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"alignment_score": MARGIN},
        options=pair_option(parameters),
        hypotheses=(
            Hypothesis(
                id="gain",
                role="primary",
                question="Does the mean of the largest k agree better with people than one "
                "judgment?",
                test="difference of mean alignment scores, paired by pair, interval over questions",
                family=_OF_JUDGES,
            ),
            Hypothesis(
                id="equivalence",
                question="Where no gain is seen: is it shown to be small?",
                test=f"two one-sided tests, difference within {MARGIN}",
                family="as for the difference",
            ),
            Hypothesis(
                id="sizes",
                question="And the mean of fewer?",
                test="as for the largest k",
                family="sizes k, within a judge and temperature",
            ),
            Hypothesis(
                id="aggregates",
                question="Does the median or the mode agree better than the mean (largest k)?",
                test="as above, against the mean",
                family=f"median and mode, {_OF_JUDGES}",
            ),
            *((panel,) if several else ()),
            BEST_METHOD,
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
    if int(parameters["repeats"]) < SIZES[1]:
        declared = declared.drop_hypotheses("gain", "equivalence", "sizes", "aggregates")
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
    pairs = method_pairs(items)
    names = tuple(sorted({*pairs.first, *pairs.second}))
    answers = Answers(pairs=pairs, names=names, clusters=clusters_of(frame, names))
    asked = [
        _averaged_scores(str(condition), own, answers, declared)
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
    results += best_aggregates(every, questions, declared)
    table = pd.DataFrame([one.row for one in [*every, *beside]])
    headlines = headlines_of(asked, gains, small)
    return Analysis(
        experiment="self_consistency",
        question=declared.question,
        drawing=factor_curve(
            "k",
            "alignment",
            "reliability",
            "tokens_per_pair",
            caption="What averaging buys, and takes: agreement with people, reliability and tokens "
            "by the number of judgments averaged. The line is what people reach.",
            only={"aggregate": ("one", "mean")},
            lines=("alignment.people",),
        ),
        headlines=headlines,
        conditions=table,
        results=tuple(by_role(results)),
        limitations=(
            *selection_limits(frame, table),
            _TIES,
            *weighted_limitations(frame),
            *fewer_pairs(declared, pairs),
        ),
        condition_records=tuple(conditions_of(table, judged=set(frame["condition"]))),
        condition_metrics={one.name: metrics_of(one.row, _METRICS) for one in [*every, *beside]},
        rows=_rows([one.name for one in [*every, *beside]]),
    )


def _averaged_scores(
    condition: str, own: pd.DataFrame, answers: Answers, declared: AnalysisPlan
) -> Averaged:
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
            made[how, k] = aggregates_described(
                base, grouped, answers,
                name=condition if k == 1 else f"{condition}, {how} of {k}",
                how="one" if k == 1 else how,
                judgments=k,
                cost=each * k,
                tokens=tokens * k,
                scores=scores[:, :k] if how == "mean" else None,
                **declared.drawn,
            )  # fmt: skip
    temperature = float(base["temperature"])
    expected = first_weighted(own, answers.names)
    weighted = None if expected is None else aggregates_described(
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
    for value in omega_declared(one.scores, model, cluster=answers.clusters, **declared.drawn):
        title = f"Reliability of the mean of all judgments under the {model} model, {one.where}"
        identity = f"reliability.omega_{model}.{one.base['condition']}"
        yield NamedResult(identity, title, "descriptive", value)


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
            return label_shares(mean_shift(
                table, conditions=names, reference=names[0], cluster=questions,
                level=declared.level,
            )), label_shares(replace(
                equivalence_of_means(
                    table, conditions=names, reference=names[0], cluster=questions, margin=margin
                ),
                quantity=_QUANTITY,
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
        about = About(judge=one.judge, stratum=one.where)
        against = ("sizes", "Means of k against one judgment", fewer)
        results += named_results(one.where, "secondary", against, about=about)
    if not gain:
        return None, None, results
    gains = one_family(gain, family=f"gain: {_OF_JUDGES}")
    smalls = one_family(small, family=f"gain: {_OF_JUDGES}")
    family = f"median and mode: {_OF_JUDGES}"
    results += [
        NamedResult("gain", "Gain in agreement with people by averaging", "primary", gains,
              headline=True),
        NamedResult("equivalence.gain", "Is the gain small", "secondary", smalls, headline=True),
        NamedResult("aggregates", "Median and mode against the mean", "secondary",
              one_family(other, family=family), headline=True),
        NamedResult("equivalence.aggregates", "Do median and mode agree as often as the mean",
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
        panel = aggregates_described(
            base,
            aggregate_replications(stacked.reshape(len(answers.names), -1), k=size, how="mean"),
            answers,
            name=f"panel of {size}, {label}", how="panel", judgments=size,
            cost=sum(float(one.made["mean", 1].row["cost_usd"]) for one in judges),
            tokens=sum(float(one.made["mean", 1].row["tokens_per_pair"]) for one in judges),
            **declared.drawn,
        )  # fmt: skip
        panels.append(panel)
        columns = {"panel": panel.credit}
        for one in judges:
            columns[f"one of {one.judge}"] = one.credit(1)
            if size <= one.scores.shape[1]:
                as_many = aggregate_replications(one.scores, k=size)
                columns[f"mean of {size} of {one.judge}"] = aggregates_described(
                    base, as_many, answers, name="as many", how="mean", judgments=size, cost=0.0,
                    level=declared.level, n_permutations=0,
                ).credit  # fmt: skip
        names, table = list(columns), np.column_stack(list(columns.values()))
        common: dict[str, Any] = {
            "conditions": names, "reference": "panel", "cluster": questions,
        }  # fmt: skip
        shifts = label_shares(mean_shift(table, level=declared.level, **common))
        equal = equivalence_of_means(table, margin=declared.margins["alignment_score"], **common)
        small = label_shares(equal.replace(quantity=_QUANTITY))
        against = ("panel", "Judges against the panel", shifts)
        alike = ("equivalence.panel", "Do judges agree as often as the panel", small)
        results += named_results(label, "secondary", against, headline=True)
        results += named_results(label, "secondary", alike)
    return panels, results


def _rows(names: Sequence[str]) -> tuple[Row, ...]:
    """Agreement with people and reliability, of one judgment and of each aggregate."""
    people, accuracy = aligned_rows(names)
    reliability = results_row(
        "reliability", "ICC(1,1)", "ICC(1,1)", "icc_1_1", "reliability.{}", names
    )
    return people, reliability, accuracy
