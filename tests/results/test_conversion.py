"""From results to records: nothing is lost, and what shares a value is never taken for another."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats import stats
from judgestats.analysis import Analysis, NamedResult, records_of, smallest_adjusted
from judgestats.errors import InputError
from judgestats.results import (
    Comparison,
    Estimate,
    ResultSet,
    Table,
    Test,
    from_plain,
    plain,
    to_plain,
)
from judgestats.stats.inference import Sample, TestResult

PLACE = NamedResult("h.a", "A", "primary", None, hypothesis="h")
RNG = np.random.default_rng(3)
SCORES = RNG.integers(1, 10, size=(12, 3, 5)).astype(float)


def of(result, place=PLACE):
    return records_of(result, place)


def analysis_of(*results: NamedResult) -> Analysis:
    return Analysis(experiment="x", question="?", conditions=pd.DataFrame(), results=results)


def assert_holds(record, result, fields: dict[str, str]):
    for there, here in fields.items():
        assert plain(getattr(record, there)) == plain(getattr(result, here)), there


COMMON = {"reason": "reason", "sample": "sample"}


def test_an_estimate_keeps_every_field():
    result = stats.omega_total(SCORES[:, 0], model="congeneric", null=True, n_permutations=99)
    whole, single, all_ = of(result)
    assert isinstance(whole, Estimate)
    alike = ("label", "estimate", "interval", "std_error", "estimator")
    assert_holds(whole, result, COMMON | {"estimand": "name"} | {name: name for name in alike})
    assert (whole.null.mean, whole.null.q95, whole.null.p) == (
        result.null.mean, result.null.q95, result.null.p_value)  # fmt: skip
    assert whole.null.p_floor == 1 / 100
    assert [n.code for n in whole.notes] == [n.code for n in result.notes]
    own = {f.name for f in dataclasses.fields(result)} - {f.name for f in dataclasses.fields(
        type(stats.icc(SCORES[:, 0])))}  # fmt: skip
    assert own <= set(whole.details)
    assert whole.details["fit"]["chi2"] == plain(result.fit.chi2)
    assert (single.estimand, single.estimate) == ("icc_3_1", result.single)
    assert (all_.estimand, all_.estimate, all_.part_of) == ("alpha", result.mean_of_all, "h.a")


def test_the_parts_of_other_estimates_are_records():
    published = stats.published_omega_2412_12509(RNG.integers(1, 6, size=(10, 8)).astype(float))
    assert of(published)[1].estimate == pytest.approx(published.alpha, nan_ok=True)


def test_a_test_keeps_every_field_and_its_effects():
    result = stats.spread_test(SCORES, n_permutations=199, n_resamples=99).blocked_f
    test, *effects = of(result)
    assert isinstance(test, Test)
    assert_holds(test, result, COMMON | {"test": "name", "method": "method", "why": "why",
        "alternative": "alternative", "null_hypothesis": "null_hypothesis", "groups": "estimates",
        "p": "p_value", "data_name": "data_name"})  # fmt: skip
    assert (test.statistic.symbol, test.statistic.value) == ("F", result.statistic)
    assert dict(test.statistic.df) == dict(result.df)
    assert test.p_floor == 1 / 200
    assert test.effects == ("h.a/partial_eta_squared",)
    assert effects[0].estimate == result.effects[0].estimate
    assert effects[0].part_of == "h.a"


def test_comparisons_keep_every_row():
    found = stats.spread_test(SCORES, conditions=["a", "b", "c"], n_permutations=99, n_resamples=99)
    place = dataclasses.replace(PLACE, levels={"a": "J, a", "b": "J, b", "c": "J, c"})
    for result in (found.ratios, *found.post_hoc, found.shifts):
        whole, *rest = of(result, place)
        rows = [r for r in rest if isinstance(r, Comparison)]
        assert isinstance(whole, ResultSet)
        assert whole.members == tuple(r.id for r in rows)
        assert len(rows) == len(result.rows) == 3
        for record, row in zip(rows, result.rows, strict=True):
            assert (record.a, record.b, record.reason) == (row.a, row.b, row.reason)
            assert record.about.conditions == (f"J, {row.a}", f"J, {row.b}")
            for here, there in (
                (record.estimate, row.estimate), (record.statistic.value, row.statistic),
                (record.p, row.p_value), (record.p_adjusted, row.p_adjusted),
            ):  # fmt: skip
                assert here == there or (math.isnan(here) and math.isnan(there))
            assert plain(record.interval) == plain(row.interval)
            assert record.statistic.symbol
        if result.rows[0].effect_name:
            effect = next(r for r in rest if r.id == rows[0].effects[0])
            assert effect.estimate == result.rows[0].effect


def test_equivalence_carries_its_margin():
    result = stats.equivalence_of_spread(SCORES, margin=1.5)
    rows = [r for r in of(result) if isinstance(r, Comparison)]
    assert {(r.margin.low, r.margin.high, r.margin.alpha) for r in rows} == {(1 / 1.5, 1.5, 0.05)}
    assert tuple(r.p_adjusted <= r.margin.alpha for r in rows) == result.shown


@pytest.mark.parametrize(
    "result",
    [
        stats.position_and_noise(
            RNG.choice(["a", "b", "tie"], size=(12, 3)),
            RNG.choice(["a", "b", "tie"], size=(12, 3)),
            n_permutations=99,
        ),
    ],
)
def test_sets_of_estimates_keep_every_term(result):
    whole, *parts = of(result)
    assert isinstance(whole, ResultSet)
    tidy = result.tidy()
    assert [p.estimate for p in parts] == pytest.approx(tidy["estimate"].tolist(), nan_ok=True)
    assert [p.estimand for p in parts] == tidy["term"].tolist()


@pytest.mark.parametrize(
    "result",
    [
        stats.condition_summary(SCORES),
        stats.round_robin([0, 0, 1], [1, 2, 2], ["a", "a", "tie"], n_candidates=3),
    ],
)
def test_what_is_neither_estimate_nor_test_is_a_typed_table(result):
    (table,) = of(result)
    frame = result.tidy()
    assert isinstance(table, Table)
    assert [c.key for c in table.columns] == list(frame.columns)
    assert [list(row) for row in table.rows] == [
        list(row.values()) for row in plain(frame)
    ]  # fmt: skip


def named(test: TestResult, name: str, **more) -> NamedResult:
    return NamedResult(id=f"h.{name}", title=name, role="primary", result=test, **more)


values = st.sampled_from([0.0, 1.0, 2.5, math.inf])
tests = st.builds(
    TestResult,
    name=st.sampled_from(["friedman_test", "blocked_f_test", "page_trend_test"]),
    method=st.sampled_from(["one", "another"]),
    statistic=values,
    statistic_name=st.sampled_from(["F", "L", "Friedman chi-squared"]),
    p_value=st.sampled_from([0.001, 0.02, 0.02, 0.388, 1.0]),
    df=st.sampled_from([{}, {"df": 2.0}, {"num df": 2.0, "denom df": 10.0}]),
    sample=st.just(Sample(n_items=6)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(tests, min_size=2, max_size=8), st.data())
def test_results_that_share_a_value_keep_their_own_symbol_df_p_and_adjusted_p(listed, data):
    split = data.draw(st.integers(1, len(listed)))
    families = [listed[:split], listed[split:]]
    named_tests = [named(t, str(i)) for i, t in enumerate(listed)]
    named_families, expected = [], []
    start = 0
    for which, family in enumerate(families):
        if not family:
            continue
        members = {str(start + i): t for i, t in enumerate(family)}
        named_families.append(
            NamedResult(id=f"h.family{which}", title="f", role="primary",
                        result=stats.adjust_family(members, family=f"f{which}")))  # fmt: skip
        expected += stats.p_adjust([t.p_value for t in family]).tolist()
        start += len(family)
    results = from_plain(to_plain(analysis_of(*named_tests, *named_families).records()))
    for i, (test, adjusted) in enumerate(zip(listed, expected, strict=True)):
        record = results.get(f"h.{i}", Test)
        assert (record.statistic.symbol, record.statistic.value) == (
            test.statistic_name, test.statistic)  # fmt: skip
        assert dict(record.statistic.df) == dict(test.df)
        assert (record.p, record.p_adjusted) == (test.p_value, adjusted)
        assert record.id in results.family(record.family).members


def test_a_family_adds_the_tests_that_stand_nowhere_else():
    x = RNG.normal(size=10)
    one, two = stats.wilcoxon_signed_rank(x, x - 1), stats.friedman_test(SCORES[:, :, 0])
    family = stats.adjust_family({"one": one, "two": two}, family="both")
    found = analysis_of(
        named(one, "one"),
        NamedResult(id="h.family", title="Both", role="primary", result=family),
    ).records()
    assert found.families[0].members == ("h.one", "h.family/two")
    assert found.get("h.family/two", Test).p_adjusted == family.p_adjusted["two"]


def test_a_test_in_two_families_is_an_error_of_the_analysis():
    test = stats.friedman_test(SCORES[:, :, 0])
    families = [
        NamedResult(id=f"h.{i}", title="f", role="primary",
                    result=stats.adjust_family({"a": test}, family="f")) for i in range(2)
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"h\.one belongs to the families h\.1 and h\.0"):
        analysis_of(named(test, "one"), *families).records()


def test_a_family_that_cannot_reach_its_level_says_so():
    found = stats.spread_test(SCORES, n_permutations=19, n_resamples=19)
    tests = {str(i): dataclasses.replace(found.blocked_f) for i in range(2)}
    family = stats.adjust_family(tests, family="f")
    results = analysis_of(
        NamedResult(id="h.family", title="f", role="primary", result=family)
    ).records()
    assert results.families[0].smallest_p == pytest.approx(0.1)
    assert results.families[0].smallest_p > results.families[0].level
    assert smallest_adjusted([0.001, 0.001], method="holm") == pytest.approx(0.002)
    assert math.isnan(smallest_adjusted([0.001, math.nan], method="holm"))
