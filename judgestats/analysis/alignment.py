"""Agreement of judging methods with human labels, and bias behind consistency."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis import coefficients, families, pair_methods, records, selections
from judgestats.analysis.families import AnalysisPlan, Hypothesis
from judgestats.analysis.limits import designed_labels
from judgestats.analysis.pair_methods import Method, MethodPairs
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.repeats import Costs, best_conditions
from judgestats.analysis.score_audit import weighted_limitations
from judgestats.arrays import Floats
from judgestats.data.columns import Condition, heat
from judgestats.items.records import Item
from judgestats.results import About, Headline
from judgestats.stats.dispersion.equivalence import EquivalenceResult
from judgestats.stats.inference.multiplicity import p_bounds
from judgestats.stats.inference.result import Comparisons, Note, TestResult

_DEPENDENT = Note(
    code="dependent_conditions",
    message="The conditions judged the same pairs, so they are not independent: the coefficient "
    "describes them, without p-value or interval.",
)
_SCORES = "alignment scores (1, .5, or 0 per pair)"
_Key = TypeVar("_Key", str, tuple[str, str])
_METRICS = {
    "alignment": "agreement/alignment",
    "kappa": "agreement/kappa",
    "accuracy_decided": "agreement/accuracy_without_ties",
    "self_agreement": "reliability/self_agreement",
    "swap_consistency": "order/swap_consistency",
    "first_preference": "order/first_preference",
    "cost_usd": "cost/usd",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    asked_at = {c.temperature for c in conditions}
    at = "nan" if asked_at == {None} else f"{parameters['methods_at']:g}"
    rule = str(parameters["disagreement"])
    within = "pairs of methods and baselines, within a judge"
    declared = families.planned(
        "alignment", parameters,
        Hypothesis(
            "methods", f"Do the methods differ in their agreement with human labels (T = {at})?",
            "blocked F on credit, pairs as blocks, p by exchanging the methods of a question's "
            "pairs jointly", "one test per judge", "primary",
        ),
        Hypothesis("difference", "Which methods differ, and which beat always-tie and random?",
            "difference of mean alignment scores, interval over questions", within),
        Hypothesis("equivalence", "Where no difference is significant: are the methods equivalent?",
            f"two one-sided tests, difference within {pair_methods.MARGIN}",
            "pairs, within a judge (and a method, over temperatures)"),
        Hypothesis(
            "ranks_of_credit", "And by ranks, with the baselines among the methods, as the study "
            "tested it?",
            "Friedman and Nemenyi's comparisons on credit, pairs as blocks, p by permuting a "
            "question's pairs jointly. Ranks also differ between a mean of several verdicts and a "
            "single one that agrees equally often, so they do not decide", within,
            adjustment="single step",
        ),
        Hypothesis("temperature", "Does temperature change the agreement with human labels?",
            "blocked F on credit over temperatures, and differences of means",
            "methods and judges"),
        pair_methods.BEST_METHOD,
        Hypothesis("consistency", "Is consistency bought with bias?",
            "agreement of replications, share of pairs judged the same every time and wrong, "
            "consistency between orders, preference for the first position; Spearman over "
            "conditions (described, not tested)"),
        Hypothesis("alignment", "How often does each method agree with human labels?",
            "mean credit with interval over questions, next to always-tie, random, and the human "
            "ceiling", role="descriptive"),
        families.published("Friedman and Nemenyi with pairs as independent blocks"),
        Hypothesis("agreement", "Is the agreement better than chance, and better on decided pairs?",
            "Cohen's kappa with the labels next to its null, accuracy without ties",
            role="descriptive"),
        margins={"alignment_score": pair_methods.MARGIN},
        options={"methods_at": at, "disagreement": rule, **pair_methods.pair_option(parameters)},
        blocks="The pair is the block: all methods judge the same labelled pairs. Its value is the "
        "credit (1 as the human label, .5 exactly one says tie, 0 otherwise), averaged over its "
        "labels and replications: the expected alignment of one verdict. Pairs of one "
        "question are kept together.",
        missing="An unparsed verdict earns no credit and is left out; the next column counts it as "
        "wrong. A pair without credit under one method is left out of the comparison of methods, "
        "and counted. Where a pair's two orders disagree the declared rule "
        f"is: {rule}. Equal scores are a tie.",
    )  # fmt: skip
    asked = {str(c.factors["method"]) for c in conditions}
    methods = len(asked | {pair_methods.AVERAGE}) if "pointwise" in asked else len(asked)
    temperatures = max(Counter((c.judge, *c.factors.values()) for c in conditions).values())
    left: set[str] = set()
    if methods < 2:
        left |= {"methods", "difference", "ranks_of_credit", "best", "published"}
        left |= {"equivalence"} if temperatures < 2 else set()
    return declared.drop_hypotheses(*left, *(["temperature"] if temperatures < 2 else []))


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
    pairs = pair_methods.method_pairs(items)
    methods = pair_methods.methods_of(frame, pairs, rule=declared.options["disagreement"])
    at = float(declared.options["methods_at"])
    results: list[NamedResult] = []
    every = [*methods, *pair_methods.weighted_methods(frame, pairs)]
    rows = []
    for method in every:
        row, described = _describe(method, pairs, declared)
        rows.append(row)
        results += described
    ceiling = pair_methods.people_ceiling(pairs, level=declared.level)
    shown = pd.DataFrame(rows)
    table = pd.DataFrame(rows[: len(methods)])
    # One method without any readable verdict would leave the others no pair in common.
    readable = [m for m in methods if not np.isnan(m.credit).all()]
    compared, described = _compare_methods(readable, pairs, declared)
    results += described
    results += _compare_temperatures(readable, pairs, declared)
    results += _consistency(table)
    results += pair_methods.reference_results(pairs, declared)
    headlines = _headlines(compared, table, at)
    results += _best(methods, rows, pairs, at, declared.level)
    called = {
        str(r["condition"]): f"{m.judge}, {m.label}" for m, r in zip(every, rows, strict=True)
    }
    return Analysis(
        experiment="alignment",
        question=declared.question,
        drawing=coefficients.ranked(
            "alignment",
            caption="Agreement with human labels by method, next to the human ceiling and the "
            "baselines.",
            results=results,
            compared="difference.",
            lines=("alignment.people", "alignment.always_tie", "alignment.random"),
        ),
        headlines=headlines,
        conditions=shown,
        condition_records=tuple(records.conditions_of(shown, judged=set(frame["condition"]))),
        results=tuple(records.sort_by_role(results)),
        limitations=(
            *_limits(frame, table, items),
            *weighted_limitations(frame),
            *pair_methods.fewer_pairs(declared, pairs),
        ),
        metrics={"agreement/people": ceiling.estimate} if ceiling else {},
        condition_metrics=coefficients.metrics_of_conditions(rows, _METRICS),
        rows=(
            *coefficients.aligned_rows(called),
            coefficients.results_row(
                "again", "Agreement of repeats", "Repeats agree", "percent_agreement",
                "consistency.repeated.{}", called,
            ),
            coefficients.declared_row("swap_consistency", called, ids="consistency.orders.{}"),
        ),
    )  # fmt: skip


def _limits(frame: pd.DataFrame, table: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    personas = {"strict-expert", "lay-reader", "hurried-reader"}
    designed = {label.annotator for item in items for label in item.labels} <= personas
    return selections.selection_limits(frame, table) + [designed_labels()] * designed


def _describe(
    method: Method, pairs: MethodPairs, declared: AnalysisPlan
) -> tuple[dict[str, Any], list[NamedResult]]:
    """One row of the table of conditions, and the estimates behind it."""
    label = f"{method.judge}, {method.label}"
    row = selections.condition_row(method.described, method.asked)
    if method.derived:
        row["factor_method"] = method.method
    replications = max(int(row["n_replications"]), 1)
    # what one verdict is made of
    used = replications if method.method == pair_methods.AVERAGE else 1
    each = max(len(pairs.names), 1) * replications
    tokens = (method.asked["tokens_in"] + method.asked["tokens_out"]).sum(skipna=False)
    spent = {"judgments": row["n"], "cost": row["cost_usd"], "tokens": tokens}
    row |= {f"{what}_per_pair": float(amount) / each * used for what, amount in spent.items()}
    row["n_items"] = int(np.sum(~np.isnan(method.credit)))
    common: dict[str, Any] = {"cluster": pairs.table.clusters, "level": declared.level}
    credit, results = pair_methods.describe_verdicts(
        row, method.verdicts, pairs, name=label, level=declared.level
    )
    if np.isclose(method.temperature, float(declared.options["methods_at"]), equal_nan=True):
        results += _category_results(method, pairs, label, declared.level)
    again = None
    if method.verdicts.shape[1] > 1:
        again = stats.percent_agreement(method.verdicts, **common)
        row["same_and_wrong"] = _same_and_wrong(method, credit)
    orders = method.orders
    kappa = pair_methods.kappa_with_people(method.verdicts, pairs, **declared.resampling)
    results += selections.entered(
        row, label,
        ("kappa", "descriptive", "agreement.kappa", "Kappa with human labels", kappa),
        ("self_agreement", "descriptive", "consistency.repeated", "Agreement of replications",
         again),
        ("swap_consistency", "secondary", "consistency.orders", "Both orders agree",
         stats.swap_consistency(*orders, **common) if orders else None),
        ("first_preference", "secondary", "consistency.position",
         "Preference for the first position",
         stats.first_position_preference(*orders, **common) if orders else None),
    )  # fmt: skip
    return row, results


def _same_and_wrong(method: Method, credit: Floats) -> float:
    """Share of pairs with the same verdict every time that earns less than half of the credit."""
    v = method.verdicts
    same = (v != "").all(axis=1) & (v == v[:, :1]).all(axis=1)
    present = ~np.isnan(credit)
    return float(np.mean(same[present] & (credit[present] < 0.5))) if present.any() else math.nan


def _category_results(
    method: Method, pairs: MethodPairs, label: str, level: float
) -> list[NamedResult]:
    labels, table = pairs.table.labels, pairs.table
    if len(set(table.categories)) < 2:
        return []
    deep, wide = method.verdicts.shape[1], labels.shape[1]
    category, cluster = (np.repeat(v, deep * wide) for v in (table.categories, table.clusters))
    verdicts, human = np.repeat(method.verdicts, wide, axis=1), np.tile(labels, (1, deep))
    parts = stats.alignment_by_category(
        verdicts.ravel(), human.ravel(), category=category, cluster=cluster, level=level
    )
    rows = ((f"alignment.in.{c}", f"Alignment on {c}", part) for c, part in parts.items())
    return records.named_results(label, "descriptive", *rows)


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """The comparison of one judge's methods: a test, differences (baselines too), equivalence."""

    test: TestResult
    shifts: Comparisons
    equal: EquivalenceResult
    results: list[NamedResult]


def _compared(
    judge: str, methods: Sequence[Method], pairs: MethodPairs, declared: AnalysisPlan, *, tests: int
) -> _Compared:
    floor, clusters = pair_methods.baselines(pairs), pairs.table.clusters
    names, all_names = [m.method for m in methods], [*floor, *(m.method for m in methods)]
    credit = np.column_stack([m.credit for m in methods])
    with_floor = np.column_stack([*floor.values(), credit])  # a method less a baseline
    test = _credit_test(credit, names, clusters, declared, tests=tests)
    shifts = selections.label_shares(
        stats.mean_shift(with_floor, conditions=all_names, cluster=clusters, level=declared.level)
    )
    _, equal = selections.share_differences(
        credit, names, cluster=clusters, level=declared.level, quantity=_SCORES,
        margin=declared.margins["alignment_score"],
    )  # fmt: skip
    joint = stats.friedman_test(
        with_floor, names=all_names, cluster=clusters, **declared.resampling
    )
    pairs_of_ranks = joint.permutation_pairs(
        n_permutations=declared.n_resamples, seed=declared.seed
    )
    plain = stats.friedman_test(with_floor, names=all_names, level=declared.level)
    levels = {m.method: m.described for m in methods}
    about = About(
        judge=judge, stratum=f"{judge} at {heat(float(declared.options['methods_at']))}",
        conditions=tuple(levels.values()), varied="method",
    )  # fmt: skip
    together = "questions kept together"
    named = partial(records.named_results, judge, about=about, levels=levels)
    results = [
        *named("primary", ("methods", "Agreement with human labels by method", test)),
        *named(
            "secondary",
            ("difference", "Differences of alignment scores", shifts),
            ("equivalence.methods", "Do the methods agree alike", equal),
            ("ranks_of_credit", f"Friedman, {together}", joint),
            ("ranks_of_credit.pairs", f"Nemenyi's test, {together}", pairs_of_ranks),
        ),
        *named(
            "replicated",
            ("published.friedman", "Friedman, pairs as blocks", plain),
            ("published.nemenyi", "Nemenyi, pairs as blocks", plain.nemenyi()),
        ),
    ]
    return _Compared(test=test, shifts=shifts, equal=equal, results=results)


def _credit_test(
    credit: Floats, names: Sequence[str], clusters: Any, declared: AnalysisPlan,
    *, tests: int,
) -> TestResult:  # fmt: skip
    return selections.credit_test(
        credit, within="questions", conditions=names, cluster=clusters, n_comparisons=tests,
        **declared.resampling,
    )  # fmt: skip


def _compare_methods(
    methods: Sequence[Method], pairs: MethodPairs, declared: AnalysisPlan
) -> tuple[dict[str, _Compared], list[NamedResult]]:
    """Every judge's methods at the one temperature, the tests of all judges in one family."""
    at = float(declared.options["methods_at"])
    here = [m for m in methods if np.isclose(m.temperature, at, equal_nan=True)]
    of = _several(here, lambda m: m.judge)
    by_judge = {
        judge: _compared(judge, own, pairs, declared, tests=len(of)) for judge, own in of.items()
    }
    if not by_judge:
        return {}, []
    family = stats.adjust_family({j: c.test for j, c in by_judge.items()}, family="methods: judges")
    results = families.jointly(
        [r for c in by_judge.values() for r in c.results], {f"difference.{j}" for j in by_judge},
        family="differences of alignment scores: judges",
    )  # fmt: skip
    at_id = {f"{kind}.{j}": j for kind in ("difference", "ranks_of_credit.pairs") for j in of}
    for i, result in enumerate(results):
        judge = at_id.get(result.id, "")
        if judge and isinstance(result.result, Comparisons):
            p, bound = family.p_adjusted[judge], family.p_bound[judge]
            held = families.restrict_pairs(result.result, p, claim=f"methods.{judge}", bound=bound)
            judged = {m.method for m in of[judge]}
            rows = zip(result.result.rows, held.rows, strict=True)
            held = held.replace(rows=tuple(h if {r.a, r.b} <= judged else r for r, h in rows))
            results[i] = replace(result, result=held)
            if result.id.startswith("difference."):
                by_judge[judge] = replace(by_judge[judge], shifts=held)
    if len(by_judge) > 1:
        title = "Agreement with human labels by method, adjusted"
        results.append(NamedResult("methods.family", title, "primary", family))
    return by_judge, results


def _several(methods: Iterable[Method], key: Callable[[Method], _Key]) -> dict[_Key, list[Method]]:
    """Methods grouped by a key; groups of one are left out."""
    groups: dict[_Key, list[Method]] = {}
    for method in methods:
        groups.setdefault(key(method), []).append(method)
    return {of: own for of, own in groups.items() if len(own) > 1}


def _compare_temperatures(
    methods: Sequence[Method], pairs: MethodPairs, declared: AnalysisPlan
) -> list[NamedResult]:
    """Methods that were asked at several temperatures, all of them in one family."""
    clusters = pairs.table.clusters
    tests: dict[str, TestResult] = {}
    shifts: dict[str, Comparisons] = {}
    equal: dict[str, EquivalenceResult] = {}
    series = _several(methods, lambda m: (m.judge, m.method))
    for (judge, name), unsorted in series.items():
        own = sorted(unsorted, key=lambda m: m.temperature)
        labels = [heat(m.temperature) for m in own]
        credit = np.column_stack([m.credit for m in own])
        where = f"{name} by {judge}"
        tests[where] = _credit_test(credit, labels, clusters, declared, tests=len(series))
        shifts[where], equal[where] = selections.share_differences(
            credit, labels, cluster=clusters, level=declared.level, quantity=_SCORES,
            margin=declared.margins["alignment_score"],
        )  # fmt: skip
    if not tests:
        return []
    family = "temperature: methods and judges"
    equal_title = "Equivalence of temperatures"
    return [
        *records.results_by_subject("temperature", "Agreement by temperature", "secondary", tests),
        NamedResult("temperature.family", "Agreement by temperature, adjusted", "secondary",
              stats.adjust_family(tests, family=family)),
        NamedResult("temperature.shift", "Differences between temperatures", "secondary",
              families.one_family(shifts, family=family)),
        *records.results_by_subject("equivalence.temperature", equal_title, "secondary", equal),
    ]  # fmt: skip


def _consistency(table: pd.DataFrame) -> list[NamedResult]:
    """Relation over conditions of repeatability to agreement with human labels."""
    if "self_agreement" not in table:
        return []
    rows = table.dropna(subset=["self_agreement", "alignment"])
    if len(rows) < 5:
        return []
    test = stats.spearman_correlation(
        rows["self_agreement"].to_numpy(float), rows["alignment"].to_numpy(float), interval=False
    )
    title = "Consistency and agreement with human labels, over conditions"
    correlation = test.effects[0].replace(notes=(_DEPENDENT,))
    return [NamedResult("consistency.over_conditions", title, "secondary", correlation)]


_BASELINES = ("always tie", "random")


def _headlines(
    compared: Mapping[str, _Compared], table: pd.DataFrame, at: float
) -> tuple[Headline, ...]:
    """Of each judge: whether its methods differ, and whether the best beats both baselines.

    Equality and what concerns baselines are adjusted over judges, as the primary test is.
    """
    judges = list(compared)
    if not judges:
        return (
            families.claim_headline(
                "methods", About(), p=math.nan, estimand="alignment_score",
                reason="fewer than two methods of a judge were judged and read",
            ),
        )  # fmt: skip
    tests = [compared[j].test for j in judges]
    apart = stats.p_adjust([t.p_value for t in tests])
    bounds = p_bounds([t.p_value for t in tests], [t.p_floor for t in tests])
    alike = stats.p_adjust([compared[j].equal.p_all for j in judges])
    headlines = []
    for judge, p, bound, p_alike in zip(judges, apart, bounds, alike, strict=True):
        one, own = compared[judge], _own(table, judge, at)
        about = About(
            judge=str(own["judge"].iloc[0]),
            stratum=f"{judge} at {heat(at)}",
            varied="method",
            conditions=tuple(own["condition"]),
            factors={"temperature": None if math.isnan(at) else at},
        )
        kinds = ("methods", "equivalence.methods", "difference")
        headlines.append(
            families.claim_headline(
                f"methods.{judge}", about, p=p, p_alike=p_alike, p_bound=bound,
                estimand="alignment_score",
                rests_on=tuple(f"{kind}.{judge}" for kind in kinds),
                family="methods.family" if len(judges) > 1 else "",
                reason=one.test.reason,
                size=_widest(judge, one.shifts) if p <= families.LEVEL else "",
            )
        )  # fmt: skip
        best = str(own.iloc[0]["factor_method"])
        for row in one.shifts.rows:
            if {row.a, row.b} & {best} and {row.a, row.b} & set(_BASELINES):
                floor = row.b if row.a == best else row.a
                above = (row.estimate > 0) == (row.a == best)
                headlines.append(
                    families.claim_headline(
                        f"difference.{judge}.{floor}",
                        replace(about, conditions=(str(own.iloc[0]["condition"]),)),
                        p=row.p_adjusted, estimand="alignment_score",
                        direction="higher" if above else "lower",
                        rests_on=(f"difference.{judge}/{row.a}:{row.b}",),
                        family=f"difference.{judge}", reason=row.reason,
                    )
                )  # fmt: skip
    return tuple(headlines)


def _widest(judge: str, shifts: Comparisons) -> str:
    """Id of the two methods that differ most, baselines left out."""
    rows = [
        r for r in shifts.rows if not {r.a, r.b} & set(_BASELINES) and math.isfinite(r.estimate)
    ]
    row = max(rows, key=lambda r: abs(r.estimate), default=None)
    return f"difference.{judge}/{row.a}:{row.b}" if row else ""


def _own(table: pd.DataFrame, judge: str, at: float) -> pd.DataFrame:
    """A judge's methods at the temperature, the best first."""
    judged = pair_methods.judge_in_wording(table) == judge
    own = table[judged & np.isclose(table["temperature"], at, equal_nan=True)]
    return own[own["alignment"].notna()].sort_values("alignment", ascending=False, kind="stable")


def _best(
    methods: Sequence[Method],
    rows: Sequence[Mapping[str, Any]],
    pairs: MethodPairs,
    at: float,
    level: float,
) -> tuple[NamedResult, ...]:
    """Comparisons of the methods with the best one, with what each spends."""
    usable = [
        (m, r)
        for m, r in zip(methods, rows, strict=False)
        if np.isclose(m.temperature, at, equal_nan=True) and not np.isnan(m.credit).all()
    ]
    if len(usable) < 2:
        return ()
    by_name = {str(r["condition"]): m.credit for m, r in usable}
    spent = Costs.from_rows(
        [r for _, r in usable],
        USD="cost_per_pair",
        tokens="tokens_per_pair",
        judgments="judgments_per_pair",
    )
    clusters, margin = pairs.table.clusters, pair_methods.MARGIN
    return best_conditions(by_name, clusters, spent=spent, margin=margin, level=level)
