"""Selection among pairwise averages and differences gives what sorting them all gives."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.stats import mann_whitney_test, wilcoxon_signed_rank
from judgestats.stats.comparison import walsh_averages
from judgestats.stats.inference import (
    kth_average,
    kth_difference,
    median_average,
    median_difference,
)
from judgestats.stats.inference import rank_distributions as pair_selection

VALUES = st.lists(
    st.one_of(st.integers(-9, 9).map(float), st.floats(-1e6, 1e6)), min_size=1, max_size=6
)


@pytest.mark.parametrize("few", [0, 64])
@settings(max_examples=40, deadline=None)
@given(VALUES, VALUES)
def test_every_place_is_that_of_a_sort(few: int, a: list[float], b: list[float]) -> None:
    """By bisection, and by counting the sums of few different values."""
    with mock.patch.object(pair_selection, "_FEW", few):
        places_are_those_of_a_sort(np.array(a), np.array(b))


def places_are_those_of_a_sort(d: np.ndarray, y: np.ndarray) -> None:
    averages = walsh_averages(d)
    got = [kth_average(d, k + 1) for k in range(averages.size)]
    np.testing.assert_allclose(got, averages, rtol=0, atol=1e-8)
    differences = np.sort((d[:, None] - y[None]).ravel())
    got = [kth_difference(d, y, k + 1) for k in range(differences.size)]
    np.testing.assert_allclose(got, differences, rtol=0, atol=1e-8)
    np.testing.assert_allclose(median_average(d), np.median(averages), atol=1e-8)
    np.testing.assert_allclose(median_difference(d, y), np.median(differences), atol=1e-8)


def test_twenty_thousand_items_in_moments_with_ties_and_without() -> None:
    rng = np.random.default_rng(1)
    for d in (rng.normal(0.3, 1, 20_000), rng.integers(-2, 4, 20_000).astype(float)):
        out = wilcoxon_signed_rank(d, np.zeros(d.size)).effects[1]
        assert abs(out.estimate - d.mean()) < 0.55
        assert out.interval is None or out.interval.low <= out.estimate <= out.interval.high
    x, y = rng.normal(0.3, 1, 20_000), rng.normal(size=20_000)
    assert abs(mann_whitney_test(x, y).effects[1].estimate - 0.3) < 0.05
