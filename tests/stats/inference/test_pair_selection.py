"""Selection among pairwise averages and differences gives what sorting them all gives."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgestats.stats import mann_whitney_test, wilcoxon_signed_rank
from judgestats.stats.comparison import walsh_averages
from judgestats.stats.inference import (
    kth_average,
    kth_difference,
    median_average,
    median_difference,
    noise_free_difference,
    signed_rank_null,
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


def by_sorting(d: np.ndarray, cluster: np.ndarray | None) -> tuple[float, float, float]:
    """Estimate and limits of differences with ties, from all averages sorted."""
    averages, n = walsh_averages(d), d.size
    centre = float(np.median(averages))
    if cluster is None and n < 50:
        null = signed_rank_null(np.arange(1, n + 1))
        place = max(int(np.searchsorted(np.cumsum(null), 0.025 * (1 - 1e-12))), 1)
    else:
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        if cluster is not None:
            moved = d - centre
            signed = np.sign(moved) * stats.rankdata(np.abs(moved))
            spread = np.sqrt(np.sum(np.bincount(cluster, weights=signed) ** 2) / 4)
        z = stats.norm.isf(0.025)
        place = max(int(np.floor(averages.size / 2 - z * spread)), 1)
    return centre, float(averages[place - 1]), float(averages[-place])


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 80), st.integers(0, 99), st.booleans(), st.sampled_from([1.0, 0.1, 1 / 3]))
def test_limits_with_ties_are_those_of_a_sort(
    n: int, seed: int, grouped: bool, step: float
) -> None:
    """The same numbers up to the rounding of sums that are equal."""
    rng = np.random.default_rng(seed)
    d = rng.integers(-3, 6, n) * step
    d[0] = d[1] = step  # at least one tie
    d = noise_free_difference(d, np.zeros(n))
    cluster = rng.integers(0, max(2, n // 3), n) if grouped else None
    found = wilcoxon_signed_rank(d, np.zeros(n), cluster=cluster).effects[1]
    codes = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    centre, low, high = by_sorting(d, codes)
    np.testing.assert_allclose(found.estimate, centre, rtol=1e-14, atol=1e-15)
    if found.interval is not None:
        limits = (found.interval.low, found.interval.high)
        np.testing.assert_allclose(limits, (low, high), rtol=1e-14, atol=1e-15)


def test_twenty_thousand_items_in_moments_with_ties_and_without() -> None:
    rng = np.random.default_rng(1)
    for d in (rng.normal(0.3, 1, 20_000), rng.integers(-2, 4, 20_000).astype(float)):
        out = wilcoxon_signed_rank(d, np.zeros(d.size)).effects[1]
        assert abs(out.estimate - d.mean()) < 0.55
        assert out.interval is None or out.interval.low <= out.estimate <= out.interval.high
    x, y = rng.normal(0.3, 1, 20_000), rng.normal(size=20_000)
    assert abs(mann_whitney_test(x, y).effects[1].estimate - 0.3) < 0.05
