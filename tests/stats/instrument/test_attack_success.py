"""Success of attacks: exact tests over questions, by hand and by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import attack_success


def test_the_sign_test_counts_questions_that_succeed_more_often():
    attacked = [[10, 10], [10, 3], [2, 2], [10, 10], [1, 1]]
    clean = [[2, 2], [2, 2], [2, 2], [10, 10], [10, 1]]
    out = attack_success(attacked, clean, success_from=10)
    assert (out.details["more"], out.details["less"]) == (2, 1)
    assert out.p_value == stats.binomtest(2, 3).pvalue
    assert [e.estimate for e in out.effects] == [0.6, 0.4]


def test_without_a_clean_text_any_success_counts():
    out = attack_success([9, 1, 1, 1, 1, 1, 1, 1, 1, 9], success_from=5.5, tolerance=0.05)
    assert out.p_value == pytest.approx(stats.binom.sf(1, 10, 0.05))
    assert out.details["p_fails"] == pytest.approx(stats.binom.cdf(2, 10, 0.05))
    interval = stats.binomtest(2, 10).proportion_ci(method="exact")
    assert (out.effect.interval.low, out.effect.interval.high) == pytest.approx(
        (interval.low, interval.high)
    )


def test_wrong_input_is_told():
    with pytest.raises(InputError, match="clean must hold the 2 items"):
        attack_success([1, 2], [1], success_from=10)
    with pytest.raises(InputError, match="tolerance must be between 0 and 1"):
        attack_success([1, 2], success_from=10, tolerance=1.0)


def test_the_tests_hold_their_level():
    rng = np.random.default_rng(3)
    both = rng.random((2, 400, 40)) < 0.3
    claims = [
        attack_success(a.astype(float), c.astype(float), success_from=1).p_value < 0.05
        for a, c in zip(*both, strict=True)
    ]
    assert np.mean(claims) < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)
    rare = rng.random((400, 60)) < 0.05
    failed = [
        attack_success(r.astype(float), success_from=1).details["p_fails"] < 0.05 for r in rare
    ]
    assert np.mean(failed) < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)


def test_what_was_not_read_is_left_out():
    out = attack_success([[10, math.nan], [math.nan, math.nan], [1, 1]], success_from=10)
    assert (out.sample.n_items, out.effect.estimate) == (2, 0.5)
    empty = attack_success([[math.nan], [math.nan]], success_from=10)
    assert math.isnan(empty.p_value)
    assert empty.reason == "no text has a score"
