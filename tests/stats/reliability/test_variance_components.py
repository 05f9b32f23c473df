"""Variance components, generalizability, D-study and the priced plan."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.stats import d_study, generalizability, icc, priced_plan, variance_components
from judgestats.stats.designs import DESIGNS, array_layout, long_layout, strata_of
from judgestats.stats.reliability import (
    BalancedCriterion,
    ItemOnlyCriterion,
    UnbalancedCriterion,
    component_null,
    error_variances,
    minimise,
)

PARTS = {"item": 0.8, "judge": 0.1, "item:judge": 0.2, "residual": 0.6}


def study(seed=0, items=12, judges=3, replicates=4, spread=(1.0, 0.6, 0.5)):
    rng = np.random.default_rng(seed)
    item, judge, both = spread
    return (
        item * rng.normal(size=(items, 1, 1))
        + judge * rng.normal(size=(1, judges, 1))
        + both * rng.normal(size=(items, judges, 1))
        + rng.normal(size=(items, judges, replicates))
    )


@pytest.mark.parametrize("design", ["replicate in item x judge", "item x judge x replicate"])
@pytest.mark.parametrize("restricted", [True, False])
def test_both_criteria_are_one_function(design, restricted):
    terms = DESIGNS[design]
    factors = ("item", "judge") if "in" in design.split() else ("item", "judge", "replicate")
    layout = array_layout(study(), factors)
    strata, of_mean = strata_of(layout, terms)
    a = BalancedCriterion(strata, of_mean, layout.y.size, restricted=restricted)
    b = UnbalancedCriterion(layout, terms, restricted=restricted)
    point = np.linspace(0.2, 1.1, len(terms) + 1)
    (value, slope), (other, other_slope) = a(point), b(point)
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(slope, other_slope, rtol=1e-8, atol=1e-8)


def test_gradients_are_right_at_the_boundary_too():
    x = study()
    x[np.random.default_rng(3).random(x.shape) < 0.2] = np.nan
    terms = DESIGNS["item x judge x replicate"]
    criterion = UnbalancedCriterion(array_layout(x, ("item", "judge", "replicate")), terms)
    point = np.array([0.5, 0.3, 0.0, 0.2, 0.1, 0.05, 0.9])
    _, slope = criterion(point)
    for j in range(7):
        step = np.zeros(7)
        step[j] = 1e-6
        if point[j] > 0:
            numeric = (criterion(point + step)[0] - criterion(point - step)[0]) / 2e-6
        else:
            numeric = (criterion(point + step)[0] - criterion(point)[0]) / 1e-6
        assert slope[j] == pytest.approx(numeric, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("terms", [("item",), ("item", "judge"), ("item", "judge", "replicate")])
@pytest.mark.parametrize("restricted", [True, False])
def test_the_fast_form_is_the_general_one(terms, restricted):
    x = study(items=9, judges=3, replicates=4)
    x[np.random.default_rng(3).random(x.shape) < 0.3] = np.nan
    x[4] = np.nan
    layout = array_layout(x, ("item", "judge", "replicate"))
    point = np.linspace(0.0, 0.9, len(terms) + 1)
    a = UnbalancedCriterion(layout, terms, restricted=restricted)(point)
    b = ItemOnlyCriterion(layout, terms, restricted=restricted)(point)
    assert a[0] == pytest.approx(b[0], rel=1e-12)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-9, atol=1e-9)


def test_a_direct_likelihood_gives_the_same_criterion():
    # An independent derivation: the multivariate normal density of error contrasts, built densely.
    x = study(items=5, judges=3, replicates=2)
    x[0, 0, 0] = x[3, 2, 1] = np.nan
    terms = DESIGNS["replicate in item x judge"]
    layout = array_layout(x, ("item", "judge"))
    point = np.array([0.7, 0.4, 0.3, 0.8])
    n = layout.y.size
    same_item = layout.codes["item"][:, None] == layout.codes["item"]
    same_judge = layout.codes["judge"][:, None] == layout.codes["judge"]
    v = 0.7 * same_item + 0.4 * same_judge + 0.3 * (same_item & same_judge) + 0.8 * np.eye(n)
    contrasts = np.linalg.svd(np.ones((n, 1)))[0][:, 1:]
    cv = contrasts.T @ v @ contrasts
    z = contrasts.T @ layout.y
    density = (
        (n - 1) * math.log(2 * math.pi) + np.linalg.slogdet(cv)[1] + z @ np.linalg.solve(cv, z)
    )
    # lme4's criterion has log|X'V^-1X| instead of the density of orthonormal contrasts: + log n.
    assert UnbalancedCriterion(layout, terms)(point)[0] == pytest.approx(density + math.log(n))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_reml_equals_anova_unless_a_component_is_negative(seed):
    x = study(seed, items=8, judges=3, replicates=3)[:, :, 0]
    anova = variance_components(x, design="item x judge", method="anova")
    reml = variance_components(x, design="item x judge")
    if all(v >= 0 for v in anova.variances.values()):
        assert reml.variances == pytest.approx(anova.variances, rel=1e-9)
    else:
        assert all(v >= 0 for v in reml.variances.values())
        assert "boundary" in [n.code for n in reml.notes]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.floats(0.2, 5), st.floats(-9, 9))
def test_scale_and_labels_do_not_matter(seed, scale, shift):
    rng = np.random.default_rng(seed)
    x = study(seed, items=7, judges=3, replicates=1)[:, :, 0]
    x[rng.random(x.shape) < 0.15] = np.nan
    x[:, 0] = np.where(np.isnan(x[:, 0]), 0.3, x[:, 0])
    moved = (scale * x + shift)[rng.permutation(7)][:, rng.permutation(3)]
    a = variance_components(x, design="item x judge").variances
    b = variance_components(moved, design="item x judge").variances
    total = sum(a.values())
    for term, value in a.items():
        assert b[term] / scale**2 == pytest.approx(value, abs=2e-5 * total)


def test_long_and_array_forms_agree_and_order_is_free():
    x = study(items=6, judges=2, replicates=3)
    i, j = (a.ravel() for a in np.indices(x.shape)[:2])
    order = np.random.default_rng(0).permutation(x.size)
    labels = {"item": np.array([f"q{k}" for k in i])[order], "judge": j[order]}
    a = variance_components(x, design="replicate in item x judge")
    b = variance_components(x.ravel()[order], facets=labels, design="replicate in item x judge")
    assert a.variances == pytest.approx(b.variances, rel=1e-9)
    assert a.criterion == pytest.approx(b.criterion)
    assert long_layout(x.ravel()[order], labels, ("item", "judge")).balanced


def test_three_facets_with_prompts():
    rng = np.random.default_rng(1)
    x = (
        rng.normal(size=(30, 1, 1, 1))
        + 0.5 * rng.normal(size=(1, 1, 4, 1))
        + rng.normal(size=(30, 3, 4, 2))
    )
    fit = variance_components(x, design="replicate in item x judge x prompt")
    assert fit["item"] == pytest.approx(1.0, abs=0.6)
    assert fit["residual"] == pytest.approx(1.0, abs=0.15)
    assert set(fit.levels) == {"item", "judge", "prompt"}


def test_own_terms_may_leave_some_out():
    x = study()
    fit = variance_components(x, design=("item", "item:judge"))
    assert set(fit.variances) == {"item", "item:judge", "residual"}
    crossed = ("item", "judge:replicate", "item:judge", "item:replicate")
    refused = variance_components(x, design=crossed, method="anova")
    assert "use method='reml'" in refused.reason


def test_profile_intervals_hold_the_estimate_and_reach_zero():
    x = study(items=15, judges=2, replicates=1, spread=(1.0, 0.0, 0.0))[:, :, 0]
    fit = variance_components(x, design="item x judge", profile=True)
    assert fit.intervals["judge"].low == 0
    for term, interval in fit.intervals.items():
        assert interval.low <= math.sqrt(fit[term]) <= interval.high
    assert "std_dev_low" in fit.tidy()


@pytest.mark.parametrize(
    ("x", "design", "words"),
    [
        (np.full((4, 3), 5.0), "item x judge", "all scores are equal"),
        (np.ones((1, 3)), "item x judge", "the facet item has 1 level"),
        (np.full((4, 3), np.nan), "item x judge", "no judgment is left"),
        (np.arange(12.0).reshape(4, 3, 1), "replicate in item x judge", "one judgment"),
    ],
)
def test_what_cannot_be_estimated_says_why(x, design, words):
    fit = variance_components(x, design=design)
    assert words in fit.reason
    assert all(math.isnan(v) for v in fit.variances.values())
    assert "undefined" in fit.sentence()
    assert "undefined" in str(fit)
    assert np.isnan(generalizability(fit, n={"judge": 2} | _replicates(design)).terms[0].estimate)


def _replicates(design):
    return {"replicate": 2} if design.startswith("replicate") else {}


def test_a_judge_without_error_gets_anova_values():
    x = np.repeat(np.array([[1.0], [4.0], [6.0], [2.0]]), 3, axis=1)
    fit = variance_components(x, design="item x judge")
    assert fit["item"] == pytest.approx(np.var([1, 4, 6, 2], ddof=1))
    assert fit["residual"] == 0
    assert "zero_residual" in [n.code for n in fit.notes]


def test_unbalanced_anova_is_refused():
    x = study()[:, :, 0]
    x[0, 0] = np.nan
    assert "equally often" in variance_components(x, design="item x judge", method="anova").reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"design": "item x rater"}, "design must be one of"),
        ({"design": ("judge",)}, "must hold the term 'item'"),
        ({"method": "bayes"}, "method must be"),
        ({"design": "item x judge x replicate"}, "one axis per facet"),
        ({"facets": {"item": [1, 2]}}, "facets must label"),
    ],
)
def test_unusable_options_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        variance_components(np.arange(12.0).reshape(12), **options)


def test_infinite_scores_are_refused():
    with pytest.raises(InputError, match="finite"):
        variance_components([[1.0, np.inf], [2.0, 3.0]])
    with pytest.raises(InputError, match="no term of this design"):
        variance_components(study()[:, :, 0])["prompt"]


def test_minimise_respects_fixed_components():
    layout = array_layout(study(), ("item", "judge"))
    terms = DESIGNS["replicate in item x judge"]
    criterion = BalancedCriterion(*strata_of(layout, terms), layout.y.size)
    free = minimise(criterion, np.full(4, 0.5))
    held = minimise(criterion, np.full(4, 0.5), fixed={1: 0.0})
    assert held.variances[1] == 0
    assert held.criterion > free.criterion


# ---------------------------------------------------------------- coefficients
def test_g_and_phi_are_iccs():
    x = study()[:, 0, :]
    fit = variance_components(x, method="anova")
    k = x.shape[1]
    table = generalizability(fit)
    truncated = max(fit["replicate"], 0)
    assert table["g_relative"].estimate == pytest.approx(
        icc(x, form="ICC(3,k)", interval="none", n_permutations=0).estimate
    )
    phi = fit["item"] / (fit["item"] + (truncated + fit["residual"]) / k)
    assert table["phi_absolute"].estimate == pytest.approx(phi)


def test_error_variances_by_hand():
    parts = {"item": 0.0574, "replicate": 0.0754, "residual": 0.1257}
    e = error_variances(parts, n={"replicate": 12})
    assert e.relative == pytest.approx(0.1257 / 12)
    assert e.absolute == pytest.approx((0.0754 + 0.1257) / 12)
    assert e.g == pytest.approx(0.0574 / (0.0574 + 0.010475))


def test_fixed_judges_move_their_interaction_into_the_universe():
    random = error_variances(PARTS, n={"judge": 2, "replicate": 3})
    fixed = error_variances(PARTS, n={"judge": 2, "replicate": 3}, fixed=("judge",))
    assert fixed.universe == pytest.approx(0.8 + 0.1)
    assert fixed.relative == pytest.approx(0.6 / 6)
    assert fixed.absolute == pytest.approx(fixed.relative)
    assert random.absolute == pytest.approx(0.05 + 0.1 + 0.1)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.01, 5), st.floats(0, 5), st.floats(0, 5), st.floats(0.01, 5), st.integers(1, 20))
def test_more_of_a_facet_never_hurts(item, judge, both, residual, n):
    parts = {"item": item, "judge": judge, "item:judge": both, "residual": residual}
    few = error_variances(parts, n={"judge": n, "replicate": 2})
    more = error_variances(parts, n={"judge": n + 1, "replicate": 2})
    assert more.g >= few.g
    assert more.phi >= few.phi
    assert few.phi <= few.g + 1e-12


def test_negative_components_count_as_zero_and_are_named():
    table = generalizability({"item": 1.0, "judge": -0.1, "residual": 1.0}, n={"judge": 4})
    assert table["phi_absolute"].estimate == pytest.approx(0.8)
    assert "judge" in table.all_notes()[0].message
    nothing = generalizability({"item": 0.0, "residual": 0.0}, n={"replicate": 2})
    assert nothing["g_relative"].reason == "all components are 0"


def test_d_study_holds_every_combination():
    out = d_study(PARTS, n={"judge": [1, 2], "replicate": [1, 3, 9]})
    assert len(out.table) == 6
    assert out.table["judgments"].tolist() == [1, 3, 9, 2, 6, 18]
    assert "D-study" in str(out)
    assert "ranges from" in out.sentence()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: error_variances({"item": 1.0}), "must hold 'item' and 'residual'"),
        (lambda: error_variances(PARTS, n={"prompt": 2}), "must name facets"),
        (lambda: error_variances(PARTS, n={"judge": 0, "replicate": 1}), "at least 1"),
        (lambda: error_variances(PARTS, n={"judge": 2}), "must give a number for"),
        (
            lambda: error_variances(PARTS, n={"judge": 2, "replicate": 1}, fixed=("replicate",)),
            "must not hold replicate",
        ),
        (lambda: d_study(PARTS, n={"judge": []}), "at least one number"),
        (lambda: priced_plan(PARTS, cost_per_call=0.0, target=0.8), "must be positive"),
        (lambda: priced_plan(PARTS, cost_per_call=1.0, target=1.2), "target must be"),
        (
            lambda: priced_plan(PARTS, cost_per_call=1.0, target=0.8, criterion="alpha"),
            "criterion must be",
        ),
        (
            lambda: priced_plan(PARTS, cost_per_call=1.0, target=0.8, at_most={"prompt": 3}),
            "at_most must name",
        ),
    ],
)
def test_unusable_plans_are_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_the_plan_is_the_cheapest_by_exhaustion():
    plan = priced_plan(PARTS, cost_per_call=0.01, target=0.75, n_items=100)
    cheapest = min(
        (0.01 * j * r, -error_variances(PARTS, n={"judge": j, "replicate": r}).phi, j, r)
        for j in range(1, 11)
        for r in range(1, 31)
        if error_variances(PARTS, n={"judge": j, "replicate": r}).phi >= 0.75
    )
    assert plan.best["cost_per_item"] == pytest.approx(cheapest[0])
    assert (plan.best["n_judge"], plan.best["n_replicate"]) == cheapest[2:]
    assert plan.best["cost"] == pytest.approx(100 * cheapest[0])
    assert "The cheapest design" in plan.sentence()
    assert plan.glance().loc[0, "target"] == 0.75


def test_plans_by_width_price_and_impossible_targets():
    wide = priced_plan(PARTS, cost_per_call=1.0, target=2.0, criterion="interval_width")
    assert wide.best["interval_width"] <= 2.0
    tight = priced_plan(PARTS, cost_per_call=1.0, target=1.0, criterion="interval_width")
    assert tight.best["cost"] > wide.best["cost"]
    priced = priced_plan(PARTS, cost_per_call={"a": 0.1, "b": 1.0}, target=0.75)
    assert priced.table["n_judge"].max() == 2
    never = priced_plan(PARTS, cost_per_call=1.0, target=0.999)
    assert not never.best
    assert "the best of" in never.reason
    assert "No design tried" in never.sentence()


def test_fixed_facets_stay_as_observed_in_a_plan():
    fit = variance_components(study(items=40), design="replicate in item x judge")
    plan = priced_plan(fit, cost_per_call=1.0, target=0.5, fixed=("judge",))
    assert set(plan.table["n_judge"]) == {3}
    assert generalizability(fit).details["n"] == {"judge": 3, "replicate": 4}


# ---------------------------------------------------------------- is a component more than nothing
def test_the_facet_null_tells_an_effect_from_none():
    x = study(spread=(1.0, 0.0, 0.0))
    item = component_null(x, facet="item", design="replicate in item x judge", n_permutations=99)
    judge = component_null(x, facet="judge", design="replicate in item x judge", n_permutations=99)
    assert item.p_value == 0.01
    assert judge.p_value > 0.05
    assert abs(judge.mean) < 0.05
    assert judge.hypothesis == "the component is 0"


def test_component_tests_refuse_and_explain():
    x = study()[:, :, 0]
    with pytest.raises(InputError, match="facet must be"):
        component_null(x, facet="prompt", design="item x judge")
    x[0, 0] = np.nan
    with pytest.raises(InputError, match="complete array"):
        component_null(x, facet="item", design="item x judge")
