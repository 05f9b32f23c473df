"""Friedman's test, its post hoc tests, Kendall's W, and what they refuse."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import friedman_test

SCORES = arrays(
    np.int64, st.tuples(st.integers(3, 8), st.integers(3, 5)), elements=st.integers(1, 6)
)


def test_agrees_with_scipy() -> None:
    x = np.random.default_rng(1).integers(5, 10, size=(20, 4))
    theirs = stats.friedmanchisquare(*x.T)
    clustered = friedman_test(pd.DataFrame(x), cluster=np.arange(20) // 2)
    assert clustered.statistic == pytest.approx(theirs.statistic, abs=1e-12)
    assert clustered.sample.n_clusters == 10
    assert clustered.conditions == ("0", "1", "2", "3")
    assert "permutations" in clustered.method
    assert friedman_test(x).p_value == pytest.approx(theirs.pvalue, abs=1e-12)


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
