"""Friedman's test, its post hoc tests, Kendall's W, and what they refuse."""

import math
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import friedman_test, page_trend_test

SCORES = arrays(
    np.int64, st.tuples(st.integers(3, 8), st.integers(3, 5)), elements=st.integers(1, 6)
)


@settings(max_examples=30, deadline=None)
@given(x=SCORES)
def test_monotone_transforms_within_items_change_nothing(x: np.ndarray) -> None:
    a = friedman_test(x)
    b = friedman_test(np.exp(x) * np.arange(1, x.shape[0] + 1)[:, None] + 7)
    assert a.statistic == b.statistic or (math.isnan(a.statistic) and math.isnan(b.statistic))
    page = [page_trend_test(v).p_value for v in (x, x.astype(float) ** 3)]
    assert page[0] == page[1] or all(map(math.isnan, page))


def test_agrees_with_scipy() -> None:
    x = np.random.default_rng(1).integers(5, 10, size=(20, 4))
    theirs = stats.friedmanchisquare(*x.T)
    clustered = friedman_test(pd.DataFrame(x), cluster=np.arange(20) // 2)
    assert clustered.statistic == pytest.approx(theirs.statistic, abs=1e-12)
    assert clustered.sample.n_clusters == 10
    assert clustered.conditions == ("0", "1", "2", "3")
    assert "permutations" in clustered.method
    assert friedman_test(x).p_value == pytest.approx(theirs.pvalue, abs=1e-12)


def test_permutation_is_that_of_ranks_within_items() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(10, 3)) + np.array([0, 0.5, 1])
    found = friedman_test(x, cluster=np.arange(10), n_permutations=19_999)
    shuffled = rng.permuted(np.tile(stats.rankdata(x, axis=1), (9_999, 1, 1)), axis=2)
    drawn = np.sum(shuffled.sum(axis=1) ** 2, axis=1)
    observed = np.sum(stats.rankdata(x, axis=1).sum(axis=0) ** 2)
    assert found.p_value == pytest.approx(np.mean(drawn >= observed), abs=0.01)
    assert found.iman_davenport.statistic_name == "F"


def test_same_seed_same_p_and_singleton_clusters_change_nothing() -> None:
    x = np.random.default_rng(5).normal(size=(12, 4))
    labels = (range(12), list("abcdefghijkl"))
    one, two = (friedman_test(x, cluster=c, n_permutations=499, seed=3) for c in labels)
    assert one.p_value == two.p_value
    assert friedman_test(x).effects[0].estimate == one.effects[0].estimate


def test_clusters_matter() -> None:
    """Twenty copies of one item's order are one observation, not twenty."""
    rng = np.random.default_rng(1)
    once = rng.normal(size=(4, 3))
    x = np.repeat(once, 10, axis=0)
    cluster = np.repeat(np.arange(4), 10)
    naive = friedman_test(x)
    clustered = friedman_test(x, cluster=cluster)
    assert naive.p_value < 0.01
    assert clustered.p_value > 0.05
    alone = friedman_test(once, cluster=np.arange(4)).p_value
    assert clustered.p_value == pytest.approx(alone, abs=0.02)
    assert any(n.code == "clusters_ignored" for n in clustered.nemenyi().notes)
    assert min(r.p_value for r in clustered.permutation_pairs().rows) > 0.05


def test_missing_blocks_are_left_out_and_counted() -> None:
    x = np.random.default_rng(6).normal(size=(10, 3))
    holes = x.copy()
    holes[2, 1] = np.nan
    found = friedman_test(holes)
    assert found.statistic == friedman_test(np.delete(x, 2, axis=0)).statistic
    assert found.sample.n_excluded == 1
    assert found.sample.excluded == {"missing score": 1}
    assert [n.code for n in found.notes] == ["incomplete_blocks"]


@pytest.mark.parametrize(
    "x", [np.full((6, 3), 8), np.ones((1, 3)), [[1, 2, 3]], np.full((3, 3), np.nan)]
)
def test_nothing_to_compare_is_nan_with_a_reason(x: object) -> None:
    omnibus = friedman_test(x)
    assert math.isnan(omnibus.p_value)
    assert math.isnan(omnibus.effects[0].estimate)
    assert omnibus.reason
    assert "not computed" in omnibus.sentence()
    assert "NA" in str(omnibus)
    for family in (omnibus.nemenyi(), omnibus.permutation_pairs(n_permutations=9)):
        assert "not computed" in family.sentence()
        assert all(math.isnan(r.p_adjusted) for r in family.rows)


def test_some_items_all_tied_is_fine() -> None:
    x = np.array([[8, 8, 8], [7, 8, 9], [7, 9, 8], [6, 7, 9]])
    assert friedman_test(x).statistic == pytest.approx(stats.friedmanchisquare(*x.T).statistic)
    assert "flat_items" in {n.code for n in page_trend_test(x).effects[0].notes}


def test_perfect_agreement() -> None:
    found = friedman_test(np.tile([1, 2, 3], (5, 1)))
    assert found.effect is not None
    assert found.effect.estimate == 1.0
    assert found.effect.interval is None
    assert "boundary" in {n.code for n in found.effect.notes}
    assert found.iman_davenport.statistic == math.inf
    assert found.iman_davenport.p_value == pytest.approx((1 / 6) ** 4)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: friedman_test([[1.0, np.inf], [1, 2]]), "finite"),
        (lambda: friedman_test([1.0, 2.0]), "blocks in rows"),
        (lambda: friedman_test([[1.0], [2.0]]), "at least 2 conditions"),
        (lambda: friedman_test([["a", "b"]]), "must hold numbers"),
        (lambda: friedman_test([[1, 2], [2, 1]], names=["a"]), "one label for each"),
        (lambda: friedman_test([[1, 2], [2, 1]], cluster=[1]), "one label per item .2."),
    ],
)
def test_bad_input_is_named(call: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()  # type: ignore[operator]


def test_ties_broken_by_arithmetic_are_level() -> None:
    x = np.array([[0.1 + 0.2, 0.3, 1.0], [0.3, 0.1 + 0.2, 1.0], [0.2, 0.5, 0.1]])
    clean = np.array([[0.3, 0.3, 1.0], [0.3, 0.3, 1.0], [0.2, 0.5, 0.1]])
    assert friedman_test(x).statistic == friedman_test(clean).statistic


def test_w_interval_holds_w_and_shrinks() -> None:
    rng = np.random.default_rng(8)
    widths = []
    for n in (10, 40, 160):
        e = friedman_test(rng.normal(size=(n, 4)) + np.arange(4) * 0.4).effects[0]
        assert e.interval is not None
        assert e.interval.low <= e.estimate <= e.interval.high
        widths.append(e.interval.high - e.interval.low)
    assert widths[0] > widths[1] > widths[2]


def test_results_print_tidy_and_speak() -> None:
    found = friedman_test(np.random.default_rng(1).normal(size=(15, 3)), names=["a", "b", "c"])
    assert str(found).startswith("\n\tFriedman rank sum test\n")
    row = found.glance().iloc[0]
    assert row["df"] == 2
    assert row["n"] == 15
    assert "ranks" not in found.to_dict()
    assert found.to_dict()["p_value"] == found.p_value
    text = found.sentence()
    assert "95% CI" in text
    assert "fails to rule it out" in text
    for family in (found.nemenyi(), found.permutation_pairs(n_permutations=99)):
        assert family.tidy().shape[0] == 3
        assert "does not show that the conditions are equal" in family.sentence()
    rows = found.nemenyi().rows
    for r in rows:
        assert r.interval is not None
        assert (r.interval.low <= 0 <= r.interval.high) == (r.p_value >= 0.05)


def test_a_thousand_items_take_milliseconds() -> None:
    x = np.random.default_rng(1).choice([0, 0.5, 1], size=(1000, 8))
    friedman_test(x).nemenyi()
    start = time.perf_counter()
    friedman_test(x).nemenyi()
    assert time.perf_counter() - start < 0.5  # about 4 ms; generous for a busy machine
