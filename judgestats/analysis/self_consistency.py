"""Self-consistency: reliability and agreement by number of judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import coefficients, families, pair_methods, records, selections
from judgestats.analysis.families import AnalysisPlan, Hypothesis
from judgestats.analysis.limits import Limit
from judgestats.analysis.pair_methods import MethodPairs
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.repeats import Costs, best_conditions
from judgestats.analysis.score_audit import first_weighted, weighted_limitations
from judgestats.analysis.scores import omega_declared
from judgestats.analysis.supplements import lost_shares_of
from judgestats.arrays import Floats, Objects
from judgestats.data.columns import Condition, heat
from judgestats.data.parse import scores_of
from judgestats.items.records import Item
from judgestats.results import About, Headline, quantity_of
from judgestats.results.records import Role
from judgestats.stats import icc
from judgestats.stats.designs.score_matrix import AGGREGATES, aggregate_replications
from judgestats.stats.dispersion.equivalence import EquivalenceResult
from judgestats.stats.inference.result import Comparisons


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What was scored: the responses of the labelled pairs.

    Attributes
    ----------
    pairs : MethodPairs
    names : tuple of str
        Ids of the responses, one per row of scores.
    clusters : ndarray of object
        Their questions.
    """

    pairs: MethodPairs
    names: tuple[str, ...]
    clusters: Objects

    def verdicts(self, grouped: Floats) -> Objects:
        """Scores of each group as verdicts on the pairs, pairs x groups."""
        place = {name: i for i, name in enumerate(self.names)}
        first, second = ([place[n] for n in own] for own in (self.pairs.first, self.pairs.second))
        return pair_methods.verdicts_of_scores(grouped[first], grouped[second])


@dataclass(frozen=True, kw_only=True)
class Aggregated:
    """One way of making several judgments into one.

    Attributes
    ----------
    row : dict
        Its row of the table of conditions.
    results : tuple of NamedResult
    credit : ndarray, shape (n_pairs,)
        Averaged over the groups.
    """

    row: dict[str, Any]
    results: tuple[NamedResult, ...]
    credit: Floats

    @property
    def name(self) -> str:
        """Its label."""
        return str(self.row["condition"])


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
        """Agreement with human labels, pair by pair, of an aggregate of k."""
        return self.made[how, k].credit


SIZES = (1, 3, 5, 10, 20)
_ONE = "one judgment"
_QUANTITY = "agreement with human labels, as a share of the pairs"
_TIES = Limit(
    "Equal scores are a tie, and means of several scores are rarely equal: averaging also turns "
    "ties into decisions, which raises agreement with human labels. Accuracy leaves out pairs "
    "with a tie, so it is not affected.",
    code="ties",
    short="means rarely tie: accuracy leaves ties out",
)
_OF_JUDGES = "judges and temperatures"
_METRICS = {"alignment": "agreement/alignment", "icc1": "reliability/icc1", "cost_usd": "cost/usd"}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    several = len({c.judge for c in conditions}) > 1
    panel = Hypothesis(
        "panel", "Does a panel (one judgment of each judge) agree better than one judge?",
        "difference of mean alignment scores, paired by pair, interval over questions. Compared "
        "with one judgment of each judge, and with as many as the panel has judges",
        "all comparisons with the panel, within a temperature",
    )  # fmt: skip
    declared = families.planned(
        "self_consistency", parameters,
        Hypothesis("gain", "Does the mean of the largest k agree better with human labels than one "
            "judgment?",
            "difference of mean alignment scores, paired by pair, interval over questions",
            _OF_JUDGES, "primary"),
        Hypothesis("equivalence", "Where no gain is significant: is it equivalent to none?",
            f"two one-sided tests, difference within {pair_methods.MARGIN}",
            "as for the difference"),
        Hypothesis("sizes", "And the mean of fewer?", "as for the largest k",
            "sizes k, within a judge and temperature"),
        Hypothesis(
            "aggregates", "Does the median or the mode agree better than the mean (largest k)?",
            "as above, against the mean", f"median and mode, {_OF_JUDGES}",
        ),
        *((panel,) if several else ()),
        pair_methods.BEST_METHOD,
        Hypothesis("reliability", "How reliable is the mean, median or mode of k judgments?",
            "ICC(1,1) over disjoint groups of k, each next to its null; for the mean of all "
            "judgments parallel omega", role="descriptive"),
        Hypothesis("alignment", "How often does it agree with human labels?",
            "mean credit with interval over questions, next to always-tie, random, and the human "
            "ceiling; accuracy without ties", role="descriptive"),
        margins={"alignment_score": pair_methods.MARGIN},
        options=pair_methods.pair_option(parameters),
        blocks="The labelled pair is the block. The replications of an answer are cut into "
        "disjoint groups of k, so that no judgment is used twice at one k; credit is averaged over "
        "groups. Pairs of one question are kept together.",
        missing="A group uses the parsed scores. A verdict without any is left out, and the next "
        "column counts it as wrong.",
    )  # fmt: skip
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
    pairs = pair_methods.method_pairs(items)
    names = tuple(sorted({*pairs.first, *pairs.second}))
    answers = Answers(pairs=pairs, names=names, clusters=families.clusters_of(frame, names))
    asked = [
        _averaged_scores(str(condition), own, answers, declared)
        for condition, own in frame.groupby("condition", sort=False)
    ]
    questions = pairs.table.clusters
    panels, panel_results = _panels(asked, answers, declared)
    every = [a for one in asked for a in one.made.values()] + panels
    gains, small, results = _gains(asked, questions, declared)
    results += panel_results
    described = [*every, *(one.weighted for one in asked if one.weighted is not None)]
    results += [r for one in described for r in one.results]
    results += [r for one in asked for r in _omega(one, answers, declared)]
    results += pair_methods.reference_results(pairs, declared)
    results += _best(every, questions, declared)
    table = pd.DataFrame([one.row for one in described])
    called = [one.name for one in described]
    people, accuracy = coefficients.aligned_rows(called)
    reliability = coefficients.results_row(
        "reliability", "ICC(1,1)", "ICC(1,1)", "icc_1_1", "reliability.{}", called
    )
    return Analysis(
        experiment="self_consistency",
        question=declared.question,
        drawing=coefficients.factor_curve(
            "k",
            "alignment",
            "reliability",
            "tokens_per_pair",
            caption="Agreement with human labels, reliability, and tokens by the number of "
            "judgments averaged. The line is the human ceiling.",
            only={"aggregate": ("one", "mean")},
            lines=("alignment.people",),
        ),
        headlines=_headlines(asked, gains, small),
        conditions=table,
        results=tuple(records.sort_by_role(results)),
        limitations=(
            *selections.selection_limits(frame, table),
            _TIES,
            *weighted_limitations(frame),
            *pair_methods.fewer_pairs(declared, pairs),
        ),
        condition_records=tuple(records.conditions_of(table, judged=set(frame["condition"]))),
        condition_metrics=coefficients.metrics_of_conditions(
            [one.row for one in described], _METRICS
        ),
        rows=(people, reliability, accuracy),
    )


def _averaged_scores(
    condition: str, own: pd.DataFrame, answers: Answers, declared: AnalysisPlan
) -> Averaged:
    """One judgment, and mean, median and mode of every size."""
    base = selections.condition_row(condition, own)
    scores = scores_of(own, answers.names)
    times = max(int(base["n_replications"]), 1)
    each = float(base["cost_usd"]) / times
    # of one verdict, as `alignment` counts: both answers of a pair are judged for it
    verdicts = max(len(answers.pairs.names), 1) * times
    tokens = float((own["tokens_in"] + own["tokens_out"]).sum(skipna=False)) / verdicts
    made = {
        (how, k): _aggregated(
            base, aggregate_replications(scores, k=k, how=how), answers, declared,
            name=condition if k == 1 else f"{condition}, {how} of {k}",
            how="one" if k == 1 else how, judgments=k, cost=each * k, tokens=tokens * k,
            scores=scores[:, :k] if how == "mean" else None,
        )
        for how in AGGREGATES
        for k in SIZES
        if k <= scores.shape[1] and (k > 1 or how == "mean")
    }  # fmt: skip
    expected = first_weighted(own, answers.names)
    weighted = None if expected is None else _aggregated(
        base, expected, answers, declared, name=f"{condition}, weighted by probabilities",
        how="weighted", judgments=1, cost=each, tokens=tokens,
    )  # fmt: skip
    temperature = float(base["temperature"])
    return Averaged(
        where=f"{base['judge']} at {heat(temperature)}", judge=str(base["judge"]),
        temperature=temperature, base=base, scores=scores, made=made, weighted=weighted,
    )  # fmt: skip


def _aggregated(
    base: Mapping[str, Any],
    grouped: Floats,
    answers: Answers,
    declared: AnalysisPlan,
    *,
    name: str,
    how: str,
    judgments: int,
    cost: float,
    tokens: float = math.nan,
    scores: Floats | None = None,
) -> Aggregated:
    """Describe aggregated scores, answers x groups, of one condition or panel.

    `cost` is of `judgments` of all answers, `tokens` of those that one verdict on a pair takes. The
    reliability of a single group is the parallel omega of its judgments, `scores`.
    """
    row = {**base, "condition": name, "aggregate": how, "k": judgments, "cost_usd": cost}
    row["cost_per_pair"] = cost / max(len(answers.pairs.names), 1)
    row["tokens_per_pair"] = tokens
    row["n_replications"] = grouped.shape[1]
    credit, results = pair_methods.describe_verdicts(
        row, answers.verdicts(grouped), answers.pairs, name=name, level=declared.level
    )
    common: dict[str, Any] = {"cluster": answers.clusters, **declared.resampling}
    reliability = None
    if grouped.shape[1] > 1:
        reliability = icc(grouped, form="ICC(1,1)", missing="listwise", **common)
    elif scores is not None and scores.shape[1] > 1:
        reliability = coefficients.computed(quantity_of("alpha"), scores, **common)
    results += selections.entered(
        row, name,
        ("reliability", "descriptive", "reliability", "Reliability", reliability),
        ("icc1" if judgments == 1 else "", "descriptive", "", "", reliability),
    )  # fmt: skip
    return Aggregated(row=row, results=tuple(results), credit=credit)


def _omega(one: Averaged, answers: Answers, declared: AnalysisPlan) -> Iterator[NamedResult]:
    """Omega of the judgments' mean under the declared model, where that is not the parallel one."""
    model = declared.options.get("omega_model", "parallel")
    for value in omega_declared(one.scores, model, cluster=answers.clusters, **declared.resampling):
        title = f"Reliability of the mean of all judgments under the {model} model, {one.where}"
        identity = f"reliability.omega_{model}.{one.base['condition']}"
        yield NamedResult(identity, title, "descriptive", value)


def _gains(
    asked: Sequence[Averaged], questions: Any, declared: AnalysisPlan
) -> tuple[Comparisons | None, EquivalenceResult | None, list[NamedResult]]:
    """The largest k against one judgment, other sizes, and median and mode against the mean."""
    shifts: dict[str, dict[str, Comparisons]] = {"gain": {}, "aggregates": {}}
    equal: dict[str, dict[str, EquivalenceResult]] = {"gain": {}, "aggregates": {}}
    results: list[NamedResult] = []
    for one in asked:
        top = max(one.sizes)
        if top == 1:
            continue
        single = {_ONE: one.credit(1)}
        columns = {
            "gain": single | {f"mean of {top}": one.credit(top)},
            "aggregates": {f"{how} of {top}": one.credit(top, how) for how in AGGREGATES},
        }
        for key, own in columns.items():
            found = _compare_with_first(own, questions, declared)
            shifts[key][one.where], equal[key][one.where] = found
        between = {f"mean of {k}": one.credit(k) for k in one.sizes if 1 < k < top}
        if between:
            fewer, _ = _compare_with_first(single | between, questions, declared)
            about = About(judge=one.judge, stratum=one.where)
            against = ("sizes", "Means of k against one judgment", fewer)
            results += records.named_results(one.where, "secondary", against, about=about)
    if not shifts["gain"]:
        return None, None, results
    family = {"gain": f"gain: {_OF_JUDGES}", "aggregates": f"median and mode: {_OF_JUDGES}"}
    gains, others = (families.one_family(shifts[key], family=text) for key, text in family.items())
    smalls, alike = (families.one_family(equal[key], family=text) for key, text in family.items())
    rows: tuple[tuple[str, str, Role, Comparisons], ...] = (
        ("gain", "Gain in agreement with human labels by averaging", "primary", gains),
        ("equivalence.gain", "Is the gain small", "secondary", smalls),
        ("aggregates", "Median and mode against the mean", "secondary", others),
        ("equivalence.aggregates", "Do median and mode agree as often as the mean", "secondary",
         alike),
    )  # fmt: skip
    results += [NamedResult(*row) for row in rows]
    return gains, smalls, results


def _compare_with_first(
    columns: Mapping[str, Floats], questions: Any, declared: AnalysisPlan
) -> tuple[Comparisons, EquivalenceResult]:
    """Agreement with human labels of each column minus the first, and its equivalence."""
    names = list(columns)
    return selections.share_differences(
        np.column_stack(list(columns.values())), names, reference=names[0], cluster=questions,
        level=declared.level, margin=declared.margins["alignment_score"], quantity=_QUANTITY,
    )  # fmt: skip


def _panels(
    asked: Sequence[Averaged], answers: Answers, declared: AnalysisPlan
) -> tuple[list[Aggregated], list[NamedResult]]:
    """One judgment of each judge, averaged, at every temperature with several judges."""
    panels: list[Aggregated] = []
    results: list[NamedResult] = []
    for label in dict.fromkeys(heat(one.temperature) for one in asked):
        judges = [one for one in asked if heat(one.temperature) == label]
        size = len(judges)
        if size < 2:
            continue
        width = min(one.scores.shape[1] for one in judges)
        stacked = np.stack([one.scores[:, :width] for one in judges], axis=2)
        rows = [one.made["mean", 1].row for one in judges]
        base = {
            **judges[0].base,
            "judge": " + ".join(one.judge for one in judges),
            **{key: sum(int(one.base[key]) for one in judges) for key in ("n", "n_ok")},
            **lost_shares_of([one.base for one in judges]),
        }
        panel = _aggregated(
            base,
            aggregate_replications(stacked.reshape(len(answers.names), -1), k=size, how="mean"),
            answers, declared, name=f"panel of {size}, {label}", how="panel", judgments=size,
            cost=sum(float(r["cost_usd"]) for r in rows),
            tokens=sum(float(r["tokens_per_pair"]) for r in rows),
        )  # fmt: skip
        panels.append(panel)
        columns = {"panel": panel.credit}
        for one in judges:
            columns[f"one of {one.judge}"] = one.credit(1)
            if size <= one.scores.shape[1]:
                as_many = answers.verdicts(aggregate_replications(one.scores, k=size))
                credit = pair_methods.credit_by_pair(as_many, answers.pairs.table.labels)
                columns[f"mean of {size} of {one.judge}"] = credit
        shifts, small = _compare_with_first(columns, answers.pairs.table.clusters, declared)
        against = ("panel", "Judges against the panel", shifts)
        alike = ("equivalence.panel", "Do judges agree as often as the panel", small)
        results += records.named_results(label, "secondary", against, alike)
    return panels, results


def _headlines(
    asked: Sequence[Averaged], gains: Comparisons | None, small: EquivalenceResult | None
) -> tuple[Headline, ...]:
    """Of each judge and temperature: a gain or loss, equality within the margin, or neither."""
    if gains is None or small is None:
        return (
            families.claim_headline(
                "gain", About(), p=math.nan, estimand="alignment_score",
                reason="Too few replications to average any: at least 3 are needed",
            ),
        )  # fmt: skip
    averaged = [one for one in asked if len(one.sizes) > 1]
    return tuple(
        families.claim_headline(
            f"gain.{one.where}",
            About(
                judge=one.judge, stratum=one.where, varied="judgments averaged",
                conditions=tuple(one.made["mean", k].name for k in (1, max(one.sizes))),
                factors={"temperature": None if math.isnan(one.temperature) else one.temperature},
            ),
            p=row.p_adjusted, p_alike=equal.p_adjusted, p_bound=row.p_bound,
            estimand="alignment_score", direction=families.direction_of(row.estimate),
            rests_on=(f"gain/{row.a}:{row.b}", f"equivalence.gain/{equal.a}:{equal.b}"),
            family="gain", reason=row.reason,
        )
        for one, row, equal in zip(averaged, gains.rows, small.rows, strict=True)
    )  # fmt: skip


def _best(
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
    ) if usable else ()  # fmt: skip
