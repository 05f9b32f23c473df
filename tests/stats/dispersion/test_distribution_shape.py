"""Shape of score distributions against scipy and known distributions."""

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import normality_test
from judgestats.stats.dispersion import kurtosis_change


def test_agrees_with_scipy_on_the_centred_scores():
    x = np.random.default_rng(1).gamma(2.0, size=(30, 12))
    found = normality_test(x)
    centred = (x - x.mean(axis=1, keepdims=True)).ravel()
    k2, p = stats.normaltest(centred)
    assert (found.statistic, found.p_value) == pytest.approx((k2, p), rel=1e-10)
    kurtosis, skewness = found.effects
    assert kurtosis.estimate == pytest.approx(stats.kurtosis(centred), rel=1e-10)
    assert skewness.estimate == pytest.approx(stats.skew(centred), rel=1e-10)


@pytest.mark.parametrize("runs", [80, pytest.param(200, marks=pytest.mark.study)])
def test_size_for_normal_scores_and_coverage_of_the_kurtosis(runs):
    rng = np.random.default_rng(2)
    rejected = covered = 0
    for _ in range(runs):
        found = normality_test(rng.normal(size=(40, 60)))
        rejected += found.p_value < 0.05
        covered += found.effects[0].interval.low < 0 < found.effects[0].interval.high
    assert rejected / runs <= 0.1
    assert covered / runs >= 0.89


def test_a_change_of_kurtosis_is_that_of_both_tests_and_paired():
    rng = np.random.default_rng(2)
    peaked, flat = rng.laplace(size=(30, 40)), rng.uniform(size=(30, 60))
    change = kurtosis_change(peaked, flat)
    one, two = (normality_test(x).effects[0].estimate for x in (peaked, flat))
    assert change.estimate == pytest.approx(two - one)
    assert change.interval.high < 0
    same = kurtosis_change(peaked, rng.laplace(size=(30, 40)))
    assert same.interval.low < 0 < same.interval.high


def test_a_change_of_kurtosis_needs_the_same_items_and_some_spread():
    still = kurtosis_change(np.full((5, 4), 8.0), np.random.default_rng(0).normal(size=(5, 4)))
    assert np.isnan(still.estimate)
    assert "never differ" in still.reason
    with pytest.raises(InputError, match="same items"):
        kurtosis_change(np.ones((3, 4)), np.ones((2, 4)))


def test_what_is_undefined_says_why():
    constant = normality_test(np.full((10, 5), 7.0))
    assert np.isnan(constant.p_value)
    assert constant.reason
    assert np.isnan(constant.effects[0].estimate)
    assert normality_test(np.array([[1.0, 2.0]])).reason
    with pytest.raises(InputError):
        normality_test(np.array([1.0, 2.0]))
