"""Methods of judging against human labels."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import pair_methods
from judgestats.analysis.families import (
    LEVEL,
    AnalysisPlan,
    claim_headline,
    jointly,
    one_family,
    restrict_pairs,
)
from judgestats.analysis.recommendation import Costs, best_conditions
from judgestats.analysis.records import (
    NamedResult,
    named_results,
    results_by_subject,
)
from judgestats.analysis.selections import add_estimate, condition_row, label_shares
from judgestats.arrays import Floats
from judgestats.data.request_fields import heat
from judgestats.results import About, Claim, Headline
from judgestats.stats.agreement.human import alignment_by_category
from judgestats.stats.agreement.position import first_position_preference, swap_consistency
from judgestats.stats.agreement.raw_agreement import percent_agreement
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.rank_correlation import spearman_correlation
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.dispersion.equivalence import EquivalenceResult, equivalence_of_means
from judgestats.stats.inference.multiplicity import Family, adjust_family, p_adjust, p_bounds
from judgestats.stats.inference.result import Comparisons, Note, TestResult

_DEPENDENT = Note(
    code="dependent_conditions",
    message="The conditions judged the same pairs, so they are not independent: the coefficient "
    "describes them, without p-value or interval.",
)


def describe(
    method: pair_methods.Method, pairs: pair_methods.MethodPairs, declared: AnalysisPlan
) -> tuple[dict[str, Any], list[NamedResult]]:
    """One row of the table of conditions, and the estimates behind it."""
    label = f"{method.judge}, {method.label}"
    row = condition_row(method.described, method.asked)
    if method.derived:
        row["factor_method"] = method.method
    replications = max(int(row["n_replications"]), 1)
    used = (
        replications if method.method == pair_methods.AVERAGE else 1
    )  # what one verdict is made of
    each = max(len(pairs.names), 1) * replications
    row["judgments_per_pair"] = int(row["n"]) / each * used
    row["cost_per_pair"] = float(row["cost_usd"]) / each * used
    tokens = (method.asked["tokens_in"] + method.asked["tokens_out"]).sum(skipna=False)
    row["tokens_per_pair"] = float(tokens) / each * used
    row["n_items"] = int(np.sum(~np.isnan(method.credit)))
    common: dict[str, Any] = {"cluster": pairs.table.clusters, "level": declared.level}
    credit, results = pair_methods.describe_verdicts(
        row, method.verdicts, pairs, name=label, level=declared.level
    )
    kappa = pair_methods.kappa_with_people(method.verdicts, pairs, **declared.drawn)
    add_estimate(row, "kappa", kappa)
    results += named_results(label, "descriptive", ("agreement.kappa", "Kappa with people", kappa))
    if np.isclose(method.temperature, float(declared.options["methods_at"]), equal_nan=True):
        results += _category_results(method, pairs, label, declared.level)
    if method.verdicts.shape[1] > 1:
        again = percent_agreement(method.verdicts, **common)
        add_estimate(row, "self_agreement", again)
        repeated = ("consistency.repeated", "Agreement of replications", again)
        results += named_results(label, "descriptive", repeated)
        row["same_and_wrong"] = _same_and_wrong(method, credit)
    if method.orders is not None:
        swap = swap_consistency(*method.orders, **common)
        lean = first_position_preference(*method.orders, **common)
        add_estimate(row, "swap_consistency", swap)
        if lean.effect is not None:
            add_estimate(row, "first_preference", lean.effect)
        results += named_results(
            label,
            "secondary",
            ("consistency.orders", "Both orders agree", swap),
            ("consistency.position", "Preference for the first place", lean),
        )
    return row, results


def _same_and_wrong(method: pair_methods.Method, credit: Floats) -> float:
    """Share of pairs with the same verdict every time that earns less than half of the credit."""
    v = method.verdicts
    same = (v != "").all(axis=1) & (v == v[:, :1]).all(axis=1)
    present = ~np.isnan(credit)
    return float(np.mean(same[present] & (credit[present] < 0.5))) if present.any() else math.nan


def _category_results(
    method: pair_methods.Method, pairs: pair_methods.MethodPairs, label: str, level: float
) -> list[NamedResult]:
    labels, table = pairs.table.labels, pairs.table
    if len(set(table.categories)) < 2:
        return []
    deep, wide = method.verdicts.shape[1], labels.shape[1]
    parts = alignment_by_category(
        np.repeat(method.verdicts, wide, axis=1).ravel(),
        np.tile(labels, (1, deep)).ravel(),
        category=np.repeat(table.categories, deep * wide),
        cluster=np.repeat(table.clusters, deep * wide),
        level=level,
    )
    rows = ((f"alignment.in.{c}", f"Alignment on {c}", part) for c, part in parts.items())
    return named_results(label, "descriptive", *rows)


def _label_equivalence(equivalence: EquivalenceResult) -> EquivalenceResult:
    """Named for what is compared: a pair's 1, .5 or 0, not a score on the judge's scale."""
    return replace(equivalence, quantity="alignment scores (1, .5 or 0 a pair)")


class Compared:
    """The comparison of one judge's methods.

    Attributes
    ----------
    test : TestResult
        Blocked F of credit over the methods.
    shifts : Comparisons
        Differences of mean credit, baselines too.
    equal : EquivalenceResult
        Of the methods.
    results : list of NamedResult
    """

    def __init__(
        self,
        judge: str,
        methods: Sequence[pair_methods.Method],
        pairs: pair_methods.MethodPairs,
        declared: AnalysisPlan,
        *,
        tests: int,
    ) -> None:
        floor = pair_methods.baselines(pairs)
        names, all_names = [m.method for m in methods], [*floor, *(m.method for m in methods)]
        credit = np.column_stack([m.credit for m in methods])
        with_floor = np.column_stack([*floor.values(), credit])  # a method less a baseline
        clusters = pairs.table.clusters
        self.test: TestResult = _credit_test(credit, names, clusters, declared, tests=tests)
        self.shifts: Comparisons = label_shares(mean_shift(
            with_floor, conditions=all_names, cluster=clusters, level=declared.level
        ))  # fmt: skip
        self.equal: EquivalenceResult = label_shares(_label_equivalence(equivalence_of_means(
            credit, conditions=names, cluster=clusters,
            margin=declared.margins["alignment_score"],
        )))  # fmt: skip
        ranked = friedman_test(with_floor, names=all_names, cluster=clusters, **declared.drawn)
        plain = friedman_test(with_floor, names=all_names, level=declared.level)
        pairs_of_ranks = ranked.permutation_pairs(
            n_permutations=declared.n_resamples, seed=declared.seed
        )
        levels = {m.method: m.described for m in methods}
        about = About(
            judge=judge,
            stratum=f"{judge} at {heat(float(declared.options['methods_at']))}",
            conditions=tuple(levels.values()),
            varied="method",
        )
        test = ("methods", "Agreement with people by method", self.test)
        shifts = ("difference", "Differences of alignment scores", self.shifts)
        together, independent = "questions kept together", "pairs as independent"
        of: dict[str, Any] = {"about": about, "levels": levels}
        self.results = [
            *named_results(judge, "primary", test, headline=True, **of),
            *named_results(judge, "secondary", shifts, headline=True, **of),
            *named_results(
                judge, "secondary",
                ("equivalence.methods", "Do the methods agree alike", self.equal),
                ("ranks_of_credit", f"Friedman, {together}", ranked),
                ("ranks_of_credit.pairs", f"Nemenyi's comparisons, {together}", pairs_of_ranks),
                **of,
            ),
            *named_results(
                judge, "replicated",
                ("published.friedman", f"Friedman, {independent}", plain),
                ("published.nemenyi", f"Nemenyi, {independent}", plain.nemenyi()),
                **of,
            ),
        ]  # fmt: skip


def _credit_test(
    credit: Floats, names: Sequence[str], clusters: Any, declared: AnalysisPlan, *, tests: int
) -> TestResult:
    return blocked_f_test(
        credit, conditions=names, cluster=clusters,
        n_comparisons=tests, **declared.drawn,
    ).replace(
        name="credit_blocked_f",
        method="Blocked F test of credit, conditions exchanged within questions",
        null_hypothesis="the conditions agree equally often with people",
        alternative="some agree more often than others",
    )  # fmt: skip


def compare_methods(
    methods: Sequence[pair_methods.Method], pairs: pair_methods.MethodPairs, declared: AnalysisPlan
) -> tuple[dict[str, Compared], list[NamedResult]]:
    """Every judge's methods at the one temperature, the tests of all judges in one family."""
    at = float(declared.options["methods_at"])
    here = [m for m in methods if np.isclose(m.temperature, at, equal_nan=True)]
    of = {
        judge: [m for m in here if m.judge == judge]
        for judge in dict.fromkeys(m.judge for m in here)
    }
    of = {judge: own for judge, own in of.items() if len(own) > 1}
    by_judge = {
        judge: Compared(judge, own, pairs, declared, tests=len(of)) for judge, own in of.items()
    }
    if not by_judge:
        return {}, []
    family = adjust_family({j: c.test for j, c in by_judge.items()}, family="methods: judges")
    results = jointly(
        [r for c in by_judge.values() for r in c.results], {f"difference.{j}" for j in by_judge},
        family="differences of alignment scores: judges",
    )  # fmt: skip
    for judge, one in by_judge.items():
        names = {m.method for m in of[judge]}
        for i, result in enumerate(results):
            kinds = {f"difference.{judge}", f"ranks_of_credit.pairs.{judge}"}
            if result.id in kinds and isinstance(result.result, Comparisons):
                held = _restrict_methods(result.result, names, family, judge)
                results[i] = replace(result, result=held)
                one.shifts = held if result.id.startswith("difference.") else one.shifts
    if len(by_judge) > 1:
        title = "Agreement with people by method, adjusted"
        results.append(NamedResult("methods.family", title, "primary", family, headline=True))
    return by_judge, results


def _restrict_methods(
    pairs: Comparisons, methods: Collection[str], family: Family, judge: str
) -> Comparisons:
    """No two methods told apart where the judge's test does not; baselines are not in that test."""
    p, bound = family.p_adjusted[judge], family.p_bound[judge]
    held = restrict_pairs(pairs, p, claim=f"methods.{judge}", bound=bound)
    rows = zip(pairs.rows, held.rows, strict=True)
    return held.replace(rows=tuple(h if {r.a, r.b} <= set(methods) else r for r, h in rows))


def compare_temperatures(
    methods: Sequence[pair_methods.Method], pairs: pair_methods.MethodPairs, declared: AnalysisPlan
) -> list[NamedResult]:
    """Methods that were asked at several temperatures, all of them in one family."""
    clusters = pairs.table.clusters
    tests: dict[str, TestResult] = {}
    shifts: dict[str, Comparisons] = {}
    equal: dict[str, EquivalenceResult] = {}
    printed: list[NamedResult] = []
    series = {
        key: sorted((m for m in methods if (m.judge, m.method) == key), key=lambda m: m.temperature)
        for key in dict.fromkeys((m.judge, m.method) for m in methods)
    }
    series = {key: own for key, own in series.items() if len(own) > 1}
    for (judge, name), own in series.items():
        labels = [heat(m.temperature) for m in own]
        credit = np.column_stack([m.credit for m in own])
        where = f"{name} by {judge}"
        tests[where] = _credit_test(credit, labels, clusters, declared, tests=len(series))
        common: dict[str, Any] = {"conditions": labels, "cluster": clusters}
        shifts[where] = label_shares(mean_shift(credit, level=declared.level, **common))
        equal[where] = label_shares(_label_equivalence(
            equivalence_of_means(credit, margin=declared.margins["alignment_score"], **common)
        ))  # fmt: skip
        if len(own) > 2:
            plain = friedman_test(credit, names=labels, level=declared.level)
            title = "Friedman over temperatures"
            printed += named_results(where, "replicated", ("published.temperature", title, plain))
    if not tests:
        return []
    family = "temperature: methods and judges"
    equal_title = "Equivalence of temperatures"
    return [
        *results_by_subject("temperature", "Agreement by temperature", "secondary", tests),
        NamedResult("temperature.family", "Agreement by temperature, adjusted", "secondary",
              adjust_family(tests, family=family), headline=True),
        NamedResult("temperature.shift", "Differences between temperatures", "secondary",
              one_family(shifts, family=family)),
        *results_by_subject("equivalence.temperature", equal_title, "secondary", equal),
        *printed,
    ]  # fmt: skip


def consistency_of(table: pd.DataFrame) -> list[NamedResult]:
    """Over conditions: do those that repeat themselves better also agree better with people?"""
    if "self_agreement" not in table:
        return []
    rows = table[table["self_agreement"].notna() & table["alignment"].notna()]
    if len(rows) < 5:
        return []
    test = spearman_correlation(
        rows["self_agreement"].to_numpy(float), rows["alignment"].to_numpy(float), interval=False
    )
    title = "Agreement with itself and with people, over conditions"
    correlation = test.effects[0].replace(notes=(_DEPENDENT,))
    return [NamedResult("consistency.over_conditions", title, "secondary", correlation)]


MARGIN = 0.05
"""Declared margin: alignment scores that differ by less than five points in a hundred."""

_BASELINES = ("always tie", "random")


def alignment_headlines(
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
    headlines = []
    for judge, p, bound, p_alike in zip(judges, apart, bounds, alike, strict=True):
        one, own = compared[judge], _own(table, judge, at)
        about = About(
            judge=judge,
            stratum=f"{judge} at {heat(at)}",
            conditions=tuple(own["condition"]),
            varied="method",
            factors={"temperature": None if math.isnan(at) else at},
        )
        kinds = ("methods", "equivalence.methods", "difference")
        headlines.append(
            claim_headline(
                f"methods.{judge}", about, _SAYS, p=p, p_alike=p_alike, p_bound=bound,
                estimand="alignment_score",
                rests_on=tuple(f"{kind}.{judge}" for kind in kinds),
                family="methods.family" if len(judges) > 1 else "",
                reason=one.test.reason,
                size=_widest(judge, one) if p < LEVEL else "",
            )
        )  # fmt: skip
        best = str(own.iloc[0]["factor_method"])
        for row in one.shifts.rows:
            if {row.a, row.b} & {best} and {row.a, row.b} & set(_BASELINES):
                floor = row.b if row.a == best else row.a
                above = (row.estimate > 0) == (row.a == best)
                headline = claim_headline(
                    f"difference.{judge}.{floor}",
                    replace(about, conditions=(str(own.iloc[0]["condition"]),)),
                    _BASELINE_SAYS,
                    p=row.p_adjusted,
                    estimand="alignment_score",
                    direction="higher" if above else "lower",
                    rests_on=(f"difference.{judge}/{row.a}:{row.b}",),
                    family=f"difference.{judge}",
                    reason=row.reason,
                )
                more = "more" if above else "less"
                headlines.append(replace(headline, says=headline.says.format(more)))
    return tuple(headlines)


_SAYS: Mapping[Claim, str] = {
    "differs": "the methods differ in agreement with people",
    "equivalent": "all methods agree with people alike, within the margin",
    "open": "neither a difference between the methods nor equality is shown",
    "undefined": "the methods could not be compared",
}


_NOT_ABOVE = "the method seen to agree most is not shown to agree more often than a baseline"
_BASELINE_SAYS: Mapping[Claim, str] = {
    "differs": "the method seen to agree most agrees {} often with people than a baseline",
    "open": _NOT_ABOVE,
    "undefined": _NOT_ABOVE,
}


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


def best_methods(
    methods: Sequence[pair_methods.Method],
    rows: Sequence[Mapping[str, Any]],
    clusters: Any,
    at: float,
    level: float,
) -> tuple[NamedResult, ...]:
    """Comparisons of the methods with the best one, with what each spends."""
    usable = [
        (m, r)
        for m, r in zip(methods, rows, strict=True)
        if np.isclose(m.temperature, at, equal_nan=True) and not np.isnan(m.credit).all()
    ]
    return best_conditions(
        {str(r["condition"]): m.credit for m, r in usable},
        clusters,
        spent=Costs.from_rows(
            [r for _, r in usable],
            USD="cost_per_pair", tokens="tokens_per_pair", judgments="judgments_per_pair",
        ),
        margin=MARGIN, level=level, what="agreement with people",
    ) if len(usable) > 1 else ()  # fmt: skip
