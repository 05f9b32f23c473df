"""Methods of judging described, and compared with one another, by temperature, with people."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.families import held_to, jointly, one_family
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.pair_description import (
    describe_verdicts,
    kappa_with_people,
)
from judgestats.analysis.pair_methods import AVERAGE, JudgedPairs, Method, baselines
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.selections import add_estimate, condition_row, named
from judgestats.analysis.verdict_shares import of_shares
from judgestats.arrays import Floats
from judgestats.judgments.settings import heat
from judgestats.results import About
from judgestats.stats.agreement.alignment import alignment_by_category
from judgestats.stats.agreement.position_preference import first_position_preference
from judgestats.stats.agreement.raw_agreement import percent_agreement
from judgestats.stats.agreement.swap import swap_consistency
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.spearman import spearman_correlation
from judgestats.stats.inference.adjust import Family, adjust_family
from judgestats.stats.inference.result import Comparisons, Note, TestResult
from judgestats.stats.spread.equivalence import EquivalenceResult, equivalence_of_means
from judgestats.stats.spread.mean_shift import mean_shift

_DEPENDENT = Note(
    code="dependent_conditions",
    message=(
        "The conditions judged the same pairs, so they are not independent: the coefficient "
        "describes them, without p-value or interval."
    ),
)


def describe(
    method: Method, pairs: JudgedPairs, declared: AnalysisPlan
) -> tuple[dict[str, Any], list[NamedResult]]:
    """One row of the table of conditions, and the estimates behind it."""
    label = f"{method.judge}, {method.label}"
    row = condition_row(method.described, method.asked)
    if method.derived:
        row["factor_method"] = method.method
    replications = max(int(row["n_replications"]), 1)
    used = replications if method.method == AVERAGE else 1  # what one verdict is made of
    each = max(len(pairs.names), 1) * replications
    row["judgments_per_pair"] = int(row["n"]) / each * used
    row["cost_per_pair"] = float(row["cost_usd"]) / each * used
    tokens = (method.asked["tokens_in"] + method.asked["tokens_out"]).sum(skipna=False)
    row["tokens_per_pair"] = float(tokens) / each * used
    row["n_items"] = int(np.sum(~np.isnan(method.credit)))
    common: dict[str, Any] = {"cluster": pairs.table.clusters, "level": declared.level}
    credit, results = describe_verdicts(
        row, method.verdicts, pairs, name=label, level=declared.level
    )
    kappa = kappa_with_people(
        method.verdicts, pairs, level=declared.level, n_permutations=declared.n_resamples,
        seed=declared.seed,
    )  # fmt: skip
    add_estimate(row, "kappa", kappa)
    results.append(
        named(f"agreement.kappa.{label}", f"Kappa with people, {label}", "descriptive", kappa)
    )
    if np.isclose(method.temperature, float(declared.options["methods_at"]), equal_nan=True):
        results += _by_category(method, pairs, label, declared.level)
    if method.verdicts.shape[1] > 1:
        again = percent_agreement(method.verdicts, **common)
        add_estimate(row, "self_agreement", again)
        results.append(
            named(f"consistency.repeated.{label}", f"Agreement of replications, {label}",
                  "descriptive", again)
        )  # fmt: skip
        row["same_and_wrong"] = _same_and_wrong(method, credit)
    if method.orders is not None:
        swap = swap_consistency(*method.orders, **common)
        lean = first_position_preference(*method.orders, **common)
        add_estimate(row, "swap_consistency", swap)
        if lean.effect is not None:
            add_estimate(row, "first_preference", lean.effect)
        results += [
            named(f"consistency.orders.{label}", f"Both orders agree, {label}", "secondary", swap),
            named(f"consistency.position.{label}", f"Preference for the first place, {label}",
                  "secondary", lean),
        ]  # fmt: skip
    return row, results


def _same_and_wrong(method: Method, credit: Floats) -> float:
    """Share of pairs with the same verdict every time that earns less than half of the credit."""
    v = method.verdicts
    same = (v != "").all(axis=1) & (v == v[:, :1]).all(axis=1)
    present = ~np.isnan(credit)
    return float(np.mean(same[present] & (credit[present] < 0.5))) if present.any() else math.nan


def _by_category(method: Method, pairs: JudgedPairs, label: str, level: float) -> list[NamedResult]:
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
    return [
        named(f"alignment.in.{c}.{label}", f"Alignment on {c}, {label}", "descriptive", part)
        for c, part in parts.items()
    ]


def _of_alignment(equivalence: EquivalenceResult) -> EquivalenceResult:
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
        methods: Sequence[Method],
        pairs: JudgedPairs,
        declared: AnalysisPlan,
        *,
        tests: int,
    ) -> None:
        floor = baselines(pairs)
        names, all_names = [m.method for m in methods], [*floor, *(m.method for m in methods)]
        credit = np.column_stack([m.credit for m in methods])
        with_floor = np.column_stack([*floor.values(), credit])  # a method less a baseline
        clusters = pairs.table.clusters
        draws: dict[str, Any] = {
            "level": declared.level,
            "n_permutations": declared.n_resamples,
            "seed": declared.seed,
        }
        self.test: TestResult = _of_credit(credit, names, clusters, declared, tests=tests)
        self.shifts: Comparisons = of_shares(mean_shift(
            with_floor, conditions=all_names, cluster=clusters, level=declared.level
        ))  # fmt: skip
        self.equal: EquivalenceResult = of_shares(_of_alignment(equivalence_of_means(
            credit, conditions=names, cluster=clusters,
            margin=declared.margins["alignment_score"],
        )))  # fmt: skip
        ranked = friedman_test(with_floor, names=all_names, cluster=clusters, **draws)
        plain = friedman_test(with_floor, names=all_names, level=declared.level)
        pairs_of_ranks = ranked.permutation_pairs(
            n_permutations=declared.n_resamples, seed=declared.seed
        )
        results = [
            named(f"methods.{judge}", f"Agreement with people by method, {judge}", "primary",
                  self.test, headline=True),
            named(f"difference.{judge}", f"Differences of alignment scores, {judge}", "secondary",
                  self.shifts, headline=True),
            named(f"equivalence.methods.{judge}", f"Do the methods agree alike, {judge}",
                  "secondary", self.equal),
            named(f"ranks_of_credit.{judge}", f"Friedman, questions kept together, {judge}",
                  "secondary", ranked),
            named(f"ranks_of_credit.pairs.{judge}",
                  f"Nemenyi's comparisons, questions kept together, {judge}", "secondary",
                  pairs_of_ranks),
            named(f"published.friedman.{judge}", f"Friedman, pairs as independent, {judge}",
                  "replicated", plain),
            named(f"published.nemenyi.{judge}", f"Nemenyi, pairs as independent, {judge}",
                  "replicated", plain.nemenyi()),
        ]  # fmt: skip
        levels = {m.method: m.described for m in methods}
        about = About(
            judge=judge,
            stratum=f"{judge} at {heat(float(declared.options['methods_at']))}",
            conditions=tuple(levels.values()),
            varied="method",
        )
        self.results = [replace(r, about=about, levels=levels) for r in results]


def _of_credit(
    credit: Floats, names: Sequence[str], clusters: Any, declared: AnalysisPlan, *, tests: int
) -> TestResult:
    return blocked_f_test(
        credit, conditions=names, cluster=clusters, n_permutations=declared.n_resamples,
        n_comparisons=tests, level=declared.level, seed=declared.seed,
    ).replace(
        name="credit_blocked_f",
        method="Blocked F test of credit, conditions exchanged within questions",
        null_hypothesis="the conditions agree equally often with people",
        alternative="some agree more often than others",
    )  # fmt: skip


def compare_methods(
    methods: Sequence[Method], pairs: JudgedPairs, declared: AnalysisPlan
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
                held = _held(result.result, names, family, judge)
                results[i] = replace(result, result=held)
                one.shifts = held if result.id.startswith("difference.") else one.shifts
    if len(by_judge) > 1:
        results.append(
            named("methods.family", "Agreement with people by method, adjusted", "primary", family,
                  headline=True)
        )  # fmt: skip
    return by_judge, results


def _held(pairs: Comparisons, methods: Collection[str], family: Family, judge: str) -> Comparisons:
    """No two methods told apart where the judge's test does not; baselines are not in that test."""
    p, bound = family.p_adjusted[judge], family.p_bound[judge]
    held = held_to(pairs, p, claim=f"methods.{judge}", bound=bound)
    rows = zip(pairs.rows, held.rows, strict=True)
    return held.replace(rows=tuple(h if {r.a, r.b} <= set(methods) else r for r, h in rows))


def compare_temperatures(
    methods: Sequence[Method], pairs: JudgedPairs, declared: AnalysisPlan
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
        tests[where] = _of_credit(credit, labels, clusters, declared, tests=len(series))
        common: dict[str, Any] = {"conditions": labels, "cluster": clusters}
        shifts[where] = of_shares(mean_shift(credit, level=declared.level, **common))
        equal[where] = of_shares(_of_alignment(
            equivalence_of_means(credit, margin=declared.margins["alignment_score"], **common)
        ))  # fmt: skip
        if len(own) > 2:
            printed.append(
                named(f"published.temperature.{where}", f"Friedman over temperatures, {where}",
                      "replicated",
                      friedman_test(credit, names=labels, level=declared.level))
            )  # fmt: skip
    if not tests:
        return []
    family = "temperature: methods and judges"
    return [
        *(
            named(f"temperature.{where}", f"Agreement by temperature, {where}", "secondary", t)
            for where, t in tests.items()
        ),
        named("temperature.family", "Agreement by temperature, adjusted", "secondary",
              adjust_family(tests, family=family), headline=True),
        named("temperature.shift", "Differences between temperatures", "secondary",
              one_family(shifts, family=family)),
        *(
            named(f"equivalence.temperature.{where}", f"Equivalence of temperatures, {where}",
                  "secondary", e)
            for where, e in equal.items()
        ),
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
        rows["self_agreement"].to_numpy(float), rows["alignment"].to_numpy(float), interval="none"
    )
    return [
        named("consistency.over_conditions",
              "Agreement with itself and with people, over conditions", "secondary",
              test.effects[0].replace(notes=(_DEPENDENT,)))
    ]  # fmt: skip
