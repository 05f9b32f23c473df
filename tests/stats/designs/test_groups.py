"""Independent groups: Kruskal-Wallis, Mann-Whitney, variance tests, and their effects."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import (
    brown_forsythe_test,
    kruskal_test,
    levene_test,
    mann_whitney_test,
    pairwise_mann_whitney,
)
from judgestats.stats.designs import read_groups

SAMPLE = st.lists(st.integers(1, 8), min_size=2, max_size=8)


@settings(max_examples=30, deadline=None)
@given(a=SAMPLE, b=SAMPLE, c=SAMPLE)
def test_rank_tests_ignore_monotone_transforms(a: list, b: list, c: list) -> None:
    plain = kruskal_test([a, b, c])
    moved = kruskal_test([np.exp(v) for v in (a, b, c)])
    assert plain.p_value == moved.p_value or math.isnan(plain.p_value)
    if not math.isnan(plain.p_value):
        expected = stats.kruskal(a, b, c)
        assert plain.statistic == pytest.approx(expected.statistic, abs=1e-10)
    p = [mann_whitney_test(x, y).p_value for x, y in ((a, b), (np.exp(a), np.exp(b)), (b, a))]
    assert np.allclose(p, p[0], atol=1e-12, equal_nan=True)


@settings(max_examples=20, deadline=None)
@given(values=st.lists(st.integers(1, 99), min_size=3, max_size=12, unique=True))
def test_exact_p_is_the_share_of_arrangements(values: list[int]) -> None:
    a, b = values[: len(values) // 3 + 1], values[len(values) // 3 + 1 :]
    found = mann_whitney_test(a, b)
    ranks = stats.rankdata(a + b)
    centre = len(a) * ranks.sum() / ranks.size
    sums = np.array(
        [ranks[list(c)].sum() for c in itertools.combinations(range(ranks.size), len(a))]
    )
    far = np.abs(sums - centre) >= abs(ranks[: len(a)].sum() - centre) - 1e-9
    assert found.p_value == pytest.approx(far.mean(), abs=1e-10)


def test_nothing_varies() -> None:
    for test in (kruskal_test, levene_test, brown_forsythe_test):
        found = test([[3, 3, 3], [3, 3]])
        assert math.isnan(found.p_value)
        assert found.reason
        assert "not computed" in found.sentence()
    found = mann_whitney_test([3, 3], [3, 3, 3])
    assert math.isnan(found.p_value)
    assert math.isnan(levene_test([[1, 2], [5, 8], [0, 1]]).p_value)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: kruskal_test([[1, 2, 3]]), "at least 2 groups"),
        (lambda: kruskal_test([1.0, 2.0]), "give a mapping"),
        (lambda: kruskal_test([[1.0, np.inf], [1.0]]), "finite"),
        (lambda: read_groups({"a": [[1]]}, where="f"), "one-dimensional"),
        (lambda: mann_whitney_test([1], ["a"]), "must hold numbers"),
        (lambda: mann_whitney_test([[1]], [2]), "one-dimensional"),
        (lambda: levene_test([[1, 2], [3, 4]], center="mode"), "center must be"),  # type: ignore[arg-type]
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


def test_missing_values_and_emptied_groups() -> None:
    found = kruskal_test({"g0": [1, np.nan, 3], "g1": [2, 4], "g2": [np.nan]})
    assert list(found.estimates) == ["mean rank g0", "mean rank g1"]
    assert found.sample.n_excluded == 2
