"""Shifts by a change: as mean_shift where there is variation, exact where there is none."""

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import equivalence_of_means, mean_shift, probe_shift


def drawn(rng, *, shift=0.0, n=24, r=3):
    cluster = np.repeat(np.arange(n // 2), 2)
    item = rng.normal(size=(n, 1)) + rng.normal(size=n // 2)[cluster][:, None]
    return item + rng.normal(size=(n, r)), item + shift + rng.normal(size=(n, r)), cluster


def test_it_is_the_paired_shift_over_clusters_and_its_equivalence():
    before, after, cluster = drawn(np.random.default_rng(0), shift=0.3)
    out = probe_shift(before, after, margin=0.25, reach=9, cluster=cluster)
    both = np.stack([before, after], axis=1)
    [row] = mean_shift(both, cluster=cluster).rows
    [small] = equivalence_of_means(both, cluster=cluster, margin=0.25).rows
    assert (out.p_value, out.details["p_small"]) == pytest.approx((row.p_value, small.p_value))
    assert (out.effect.estimate, out.effect.interval.low) == pytest.approx(
        (row.estimate, row.interval.low)
    )


def test_signs_alone_bound_p_where_differences_are_equal():
    nearly = probe_shift([5.0] * 5, [6.0, 6, 6, 6, 6.01], margin=0.25, reach=9)
    alike = probe_shift([5.0] * 5, [6.0] * 5, margin=0.25, reach=9)
    assert nearly.p_value == alike.p_value == 2**-4
    assert alike.details["p_small"] == 1.0


def test_nothing_moved_is_seldom_seen_where_the_margin_is_reached():
    # The worst case: few questions shift, each by all that there is.
    rng = np.random.default_rng(1)
    still = [not (rng.random(29) < 0.1).any() for _ in range(2000)]
    zero = probe_shift(np.zeros(29), np.zeros(29), margin=0.1, reach=1)
    assert np.mean(still) < zero.details["p_small"] + 0.015


def test_the_size_holds_and_the_detectable_shift_is_found_as_often_as_it_says():
    rng, wrong = np.random.default_rng(2), []
    size = []
    for _ in range(300):
        before, after, cluster = drawn(rng)
        out = probe_shift(before, after, margin=0.25, reach=9, cluster=cluster)
        wrong.append(out.p_value < 0.05)
        size.append(out.effects[1].estimate)
    assert np.mean(wrong) < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)
    shift, found = float(np.mean(size)), []
    for _ in range(300):
        before, after, cluster = drawn(rng, shift=shift)
        found.append(
            probe_shift(before, after, margin=0.25, reach=9, cluster=cluster).p_value < 0.05
        )
    assert abs(np.mean(found) - 0.8) < 0.08


def test_what_was_not_read_is_left_out_and_wrong_input_told():
    out = probe_shift([[1, math.nan], [2, 2], [math.nan, 3]], [2, 3, math.nan], margin=1, reach=9)
    assert (out.sample.n_items, out.sample.n_excluded) == (2, 1)
    none = probe_shift([math.nan] * 3, [1, 2, 3], margin=1, reach=9)
    assert none.reason == "no item was read both with and without the change"
    assert math.isnan(none.p_value)
    one = probe_shift([1, 2], [2, 4], margin=1, reach=9, cluster=["q", "q"])
    assert "one cluster" in one.reason
    for margin, reach in ((0, 9), (9, 9)):
        with pytest.raises(InputError, match="margin must be positive and below the reach"):
            probe_shift([1, 2], [2, 3], margin=margin, reach=reach)
    with pytest.raises(InputError, match="must hold the same items"):
        probe_shift([1, 2], [2], margin=1, reach=9)
