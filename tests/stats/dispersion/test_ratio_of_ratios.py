"""Ratios of variance ratios against known truth and invariances."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import ratio_of_ratios, variance_ratio


def scores(seed, factors, n=60, r=8):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, len(factors), r)) * np.sqrt(factors)[:, None]


def test_the_estimate_is_the_ratio_of_the_two_variance_ratios():
    treated, control = scores(0, [2.0, 6.0]), scores(1, [1.0, 1.0])
    [row] = ratio_of_ratios(treated, control, groups=["a", "b"]).rows
    single = [
        variance_ratio(np.stack([control[:, j], treated[:, j]], axis=1)).rows[0].estimate
        for j in (0, 1)
    ]
    assert row.estimate == pytest.approx(single[1] / single[0], rel=1e-12)


def test_coverage_and_size_where_both_groups_change_alike():
    covered = 0
    for seed in range(200):
        [row] = ratio_of_ratios(scores(seed, [2.0, 4.0]), scores(seed + 999, [1.0, 2.0])).rows
        covered += row.interval.low < 1 < row.interval.high
    assert covered >= 183  # 200 draws of .95: below 183 has a chance under .005


def test_undefined_is_said_and_wrong_shapes_are_refused():
    [row] = ratio_of_ratios(np.zeros((5, 2)), np.ones((5, 2))).rows
    assert np.isnan(row.p_value)
    assert row.reason
    assert row.interval is None
    with pytest.raises(InputError, match="same items"):
        ratio_of_ratios(np.ones((5, 2)), np.ones((4, 2)))
    with pytest.raises(InputError, match="at least 2 conditions"):
        ratio_of_ratios(np.ones((5, 1)), np.ones((5, 1)))
