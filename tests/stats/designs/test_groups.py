"""Independent groups: Kruskal-Wallis, Mann-Whitney, variance tests, and their effects."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import (
    brown_forsythe_test,
    cliffs_delta,
    epsilon_squared,
    kruskal_test,
    levene_test,
    mann_whitney_test,
    pairwise_mann_whitney,
    vargha_delaney_a,
)
from judgestats.stats.designs import read_groups

SAMPLE = st.lists(st.integers(1, 8), min_size=2, max_size=8)


def frame(*samples: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "value": [v for s in samples for v in s],
            "group": [f"g{i}" for i, s in enumerate(samples) for _ in s],
        }
    )


@settings(max_examples=30, deadline=None)
@given(a=SAMPLE, b=SAMPLE, c=SAMPLE)
def test_rank_tests_ignore_monotone_transforms(a: list, b: list, c: list) -> None:
    plain = kruskal_test([a, b, c])
    moved = kruskal_test([np.exp(v) for v in (a, b, c)])
    assert plain.p_value == moved.p_value or math.isnan(plain.p_value)
    if not math.isnan(plain.p_value):
        expected = stats.kruskal(a, b, c)
        assert plain.statistic == pytest.approx(expected.statistic, abs=1e-10)
    for exact in (True, False):
        p = [mann_whitney_test(x, y, exact=exact).p_value
             for x, y in ((a, b), (np.exp(a), np.exp(b)), (b, a))]  # fmt: skip
        assert np.allclose(p, p[0], atol=1e-12, equal_nan=True)


@settings(max_examples=20, deadline=None)
@given(a=SAMPLE, b=SAMPLE)
def test_exact_p_is_the_share_of_arrangements(a: list, b: list) -> None:
    found = mann_whitney_test(a, b, exact=True)
    ranks = stats.rankdata(a + b)
    if np.ptp(ranks) == 0:
        assert math.isnan(found.p_value)
        return
    centre = len(a) * ranks.sum() / ranks.size
    sums = np.array(
        [ranks[list(c)].sum() for c in itertools.combinations(range(ranks.size), len(a))]
    )
    far = np.abs(sums - centre) >= abs(ranks[: len(a)].sum() - centre) - 1e-9
    assert found.p_value == pytest.approx(far.mean(), abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(a=SAMPLE, b=SAMPLE)
def test_effects_mirror_and_agree(a: list, b: list) -> None:
    delta, mirrored = cliffs_delta(a, b), cliffs_delta(b, a)
    assert delta.estimate == pytest.approx(np.mean(np.sign(np.subtract.outer(a, b))), abs=1e-12)
    assert mirrored.estimate == pytest.approx(-delta.estimate, abs=1e-12)
    if delta.interval and mirrored.interval:
        assert delta.interval.low == pytest.approx(-mirrored.interval.high, abs=1e-9)
        assert delta.interval.low <= delta.estimate <= delta.interval.high
    a12 = vargha_delaney_a(a, b)
    assert a12.estimate == pytest.approx((1 + delta.estimate) / 2)


def test_from_formulas_and_labels() -> None:
    data = frame([1, 2, 3, 7], [2, 5, 6], [8, 9, 3, 4])
    ways = [
        kruskal_test("value ~ group", data),
        kruskal_test(data.value, data.group),
        kruskal_test({"g0": [1, 2, 3, 7], "g1": [2, 5, 6], "g2": [8, 9, 3, 4]}),
        kruskal_test([[1, 2, 3, 7], [2, 5, 6], [8, 9, 3, 4]], names=["g0", "g1", "g2"]),
    ]
    assert len({w.statistic for w in ways}) == 1
    assert all(w.groups == ("g0", "g1", "g2") for w in ways)
    assert epsilon_squared("value ~ group", data).estimate == ways[0].effects[0].estimate


def test_levels_keep_a_useful_order() -> None:
    numbers = read_groups([1.0, 2, 3], [10, 2, 2], where="f")
    assert numbers.names == ("2", "10")
    texts = read_groups([1.0, 2, 3], ["low", "high", "high"], where="f")
    assert texts.names == ("low", "high")
    ordered = pd.Categorical(["b", "a", "a"], categories=["z", "b", "a"], ordered=True)
    data = pd.DataFrame({"v": [1.0, 2, 3], "g": ordered})
    assert read_groups("v ~ g", data, where="f").names == ("b", "a")


def test_missing_values_and_emptied_groups() -> None:
    data = frame([1, np.nan, 3], [2, 4], [np.nan])
    found = kruskal_test("value ~ group", data)
    assert found.groups == ("g0", "g1")
    assert found.sample.n_excluded == 2
    with pytest.raises(InputError, match="2 of 6 values are missing"):
        kruskal_test("value ~ group", data, missing="raise")


def test_nothing_varies() -> None:
    for test in (kruskal_test, levene_test, brown_forsythe_test):
        found = test([[3, 3, 3], [3, 3]])
        assert math.isnan(found.p_value)
        assert found.reason
        assert "not computed" in found.sentence()
    found = mann_whitney_test([3, 3], [3, 3, 3])
    assert math.isnan(found.p_value)
    assert math.isnan(levene_test([[1, 2], [5, 8], [0, 1]]).p_value)
    assert "not computed" in kruskal_test([[3, 3, 3], [3, 3]]).dunn().sentence()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: kruskal_test([[1, 2, 3]]), "at least 2 groups"),
        (lambda: kruskal_test([1.0, 2.0]), "give values with group labels"),
        (lambda: kruskal_test([1.0, 2.0], ["a"]), "equally long"),
        (lambda: kruskal_test([1.0, np.inf], ["a", "b"]), "finite"),
        (lambda: kruskal_test("value ~ group | item", frame([1], [2])), "takes no block"),
        (lambda: kruskal_test("value ~ arm", frame([1], [2])), "no column 'arm'"),
        (lambda: kruskal_test([[1], [2]], distribution="f"), "distribution must be"),  # type: ignore[arg-type]
        (lambda: mann_whitney_test("value ~ group", frame([1], [2], [3])), "exactly 2 samples"),
        (lambda: mann_whitney_test([1], ["a"]), "must hold numbers"),
        (lambda: mann_whitney_test([[1]], [2]), "one-dimensional"),
        (lambda: mann_whitney_test([1, 2], [], alternative="x"), "alternative"),  # type: ignore[arg-type]
        (lambda: levene_test([[1, 2], [3, 4]], center="mode"), "center must be"),  # type: ignore[arg-type]
        (lambda: cliffs_delta([1, 2], [3], interval="x"), "interval must be"),  # type: ignore[arg-type]
        (lambda: pairwise_mann_whitney([[1, 2]]), "at least 2 groups"),
    ],
)
def test_bad_input_is_named(call: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()  # type: ignore[operator]


def test_variance_tests_agree_with_scipy_and_carry_the_warning() -> None:
    rng = np.random.default_rng(1)
    samples = [rng.normal(0, s, n) for s, n in ((1, 12), (2, 15), (1, 9))]
    assert levene_test(samples).statistic == pytest.approx(
        stats.levene(*samples, center="mean").statistic
    )
    assert brown_forsythe_test(samples).p_value == pytest.approx(stats.levene(*samples).pvalue)
    for test in (levene_test, brown_forsythe_test):
        found = test(samples)
        assert "descriptive_only" in {n.code for n in found.notes}
        assert "Descriptive" in str(found)
    effect = levene_test(samples).effect
    assert effect is not None
    assert effect.interval is not None


def test_permutation_and_clusters() -> None:
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(12), 5)
    value = np.repeat(rng.normal(size=12), 5) + 0.1 * rng.normal(size=60)
    group = np.repeat(["a", "b"], 30)
    naive = mann_whitney_test(pd.Series(value)[:30], value[30:])
    clustered = mann_whitney_test(value[:30], value[30:], cluster=cluster)
    means = [value[cluster == g].mean() for g in range(12)]
    assert "over whole clusters" in clustered.method
    assert clustered.p_value == pytest.approx(
        mann_whitney_test(means[:6], means[6:]).p_value, abs=0.1
    )
    assert clustered.p_value > naive.p_value
    assert clustered.effects[1].interval is None
    found = kruskal_test(value, group, cluster=cluster, n_permutations=999)
    assert found.p_value == pytest.approx(clustered.p_value, abs=0.05)
    within = kruskal_test(value, np.tile(["a", "b", "c", "d", "e"], 12), cluster=cluster)
    assert "within clusters, 12 of 12" in within.method
    assert any(n.code == "clusters_ignored" for n in within.dunn().notes)
    free = kruskal_test(value, group, distribution="permutation", n_permutations=999)
    assert free.p_value == pytest.approx(kruskal_test(value, group).p_value, abs=0.05)
    one_sided = mann_whitney_test(value[:30], value[30:], cluster=cluster, alternative="greater")
    other = mann_whitney_test(value[:30], value[30:], cluster=cluster, alternative="less")
    assert one_sided.p_value + other.p_value == pytest.approx(1, abs=0.01)


def test_hodges_lehmann_shift_moves_with_the_sample() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=30), rng.normal(size=60)
    e = mann_whitney_test(x, y).effects[1]
    assert e.estimate == pytest.approx(np.median(np.subtract.outer(x, y)))
    moved = mann_whitney_test(x + 5, y).effects[1]
    assert e.interval is not None
    assert moved.interval is not None
    assert moved.interval.low == pytest.approx(e.interval.low + 5)
    assert mann_whitney_test([2, 2], [1, 1, 1]).effects[1].interval is None


def test_pairwise_and_disjoint_samples() -> None:
    family = pairwise_mann_whitney({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8], "c": [1, 6, 3, 8]})
    row = family.rows[0]
    assert row.effect == -1
    assert row.p_value == pytest.approx(2 / 70)
    e = cliffs_delta([1, 2, 3], [4, 5, 6])
    assert e.estimate == -1
    assert e.interval is None
    assert e.notes[0].code == "boundary"


def test_dunn_on_a_hundred_thousand_rows_is_fast() -> None:
    import time

    rng = np.random.default_rng(1)
    value, group = rng.integers(1, 11, 100_000).astype(float), rng.integers(0, 6, 100_000)
    start = time.perf_counter()
    family = kruskal_test(value, group).dunn()
    assert time.perf_counter() - start < 2  # about 20 ms; generous for a busy machine
    assert len(family.rows) == 15
