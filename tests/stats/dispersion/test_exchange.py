"""The exchange ratio: values of two codes, and an interval that agrees with its p."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judgestats.stats.designs import cell_statistics
from judgestats.stats.dispersion import exchange_ratio
from judgestats.stats.inference import effective_clusters

CLOSE = {"rel": 1e-8, "abs": 1e-12}


@pytest.mark.parametrize(("statistic", "key", "power"), [("gmd", "mad", 1), ("variance", "sd", 2)])
def test_ratio_p_and_interval_are_those_of_two_codes(declared, statistic, key, power):
    scores, clusters = declared.cube("ratio12q")
    cells = cell_statistics(scores, cluster=clusters)
    found = exchange_ratio(*getattr(cells, statistic).T, cells.cluster, power=power)
    expected = declared.value("ratio12q", f"{key}_ratio")
    limits = found.limits()
    assert found.estimate == pytest.approx(expected["ratio"], **CLOSE)
    assert found.p_value == pytest.approx(expected["p"], **CLOSE)
    assert [limits.low, limits.high] == pytest.approx(expected["ci"], **CLOSE)
    sums = [np.bincount(cells.cluster, column) for column in cells.gmd.T]
    fewest = min(map(effective_clusters, sums))
    assert fewest == pytest.approx(declared.value("ratio12q", "effective_clusters"), **CLOSE)


@pytest.mark.parametrize("data_set", ["wild40x3", "nofar40x3", "tens60x4"])
def test_the_mean_difference_of_repeats_is_that_of_two_codes(declared, data_set):
    cells = cell_statistics(declared.cube(data_set)[0])
    expected = declared.value(data_set, "tail")["mad"]
    assert float(cells.gmd.mean()) == pytest.approx(expected, **CLOSE)


def _draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = int(rng.integers(4, 40))
    codes = np.unique(rng.integers(0, n, size=n), return_inverse=True)[1]
    shape = rng.choice([0.3, 2.0])
    a, b = np.round(rng.gamma(shape, size=(2, n)), 1) / rng.choice([1, 3])
    return a, b * rng.choice([1.0, 1.0, 1.5]), codes


def test_p_is_small_exactly_where_the_interval_leaves_one_out():
    rng = np.random.default_rng(11)
    rejected = 0
    for _ in range(1000):
        found = exchange_ratio(*_draw(rng), power=int(rng.integers(1, 3)))
        limits = found.limits()
        if math.isnan(limits.low):
            assert limits.reason
            continue
        outside = not limits.low <= 1 <= limits.high
        assert outside == (found.p_value <= 0.05)
        rejected += outside
    assert 50 < rejected < 500


def test_blocks_of_tied_clusters_have_the_p_of_single_exchanges():
    for seed in range(12):
        a, b = np.random.default_rng(seed).integers(0, 3, size=(2, 9000)).astype(float)
        z = abs(float(np.sum(b - a))) / math.sqrt(float(np.sum((b - a) ** 2)))
        found = exchange_ratio(a, b, np.arange(9000), power=1)
        assert found.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.08)


def test_what_cannot_be_bounded_says_so_and_keeps_its_p():
    a, b = np.r_[np.ones(3), np.zeros(37)], np.r_[np.zeros(3), np.ones(3), np.zeros(34)]
    few = exchange_ratio(a, b, np.arange(40), power=1)
    assert "too few items vary (3 of 40) to bound the ratio; p > .999 stands" in few.limits().reason
    many = np.r_[np.zeros(7), np.ones(33)]
    for pair in ((a, many), (many, a)):
        assert (
            "too few items vary (3 of 40)"
            in exchange_ratio(*pair, np.arange(40), power=1).limits().reason
        )
    five = exchange_ratio(np.ones(5), 2 * np.ones(5), np.arange(5), power=1)
    assert five.p_value == 1 / 16
    assert "5 items cannot reach p .05" in five.limits().reason
    alike = exchange_ratio(np.arange(9), 2 * np.arange(9), np.arange(9), power=1)
    assert "the ratio is the same in every cluster; p = .008 stands" in alike.limits().reason
    constant = exchange_ratio(np.zeros(9), np.ones(9), np.arange(9), power=1)
    assert math.isnan(constant.estimate)
    assert "no repeats of a judge differ" in constant.reason


def test_blocks_of_many_clusters_are_exchanged_as_exactly() -> None:
    """Of 3,000 clusters: sides and rows change nothing, and equal judges rarely differ."""
    rng = np.random.default_rng(3)
    codes = np.arange(6_000) // 2
    rejected = []
    for seed in range(60):
        a, b = rng.gamma(0.8, size=6_000) * rng.gamma(2, size=(2, 6_000))
        found = exchange_ratio(a, b, codes, power=1, n_draws=399, seed=seed)
        limits = found.limits()
        assert (found.p_value <= 0.05) == (not limits.low <= 1 <= limits.high)
        rejected.append(found.p_value <= 0.05)
    assert sum(rejected) <= 8  # 3 are expected; more than 8 have probability .005
    turned = exchange_ratio(b, a, codes, power=1, n_draws=399, seed=seed)
    assert turned.p_value == found.p_value
    order = rng.permutation(codes.size)
    moved = exchange_ratio(a[order], b[order], codes[order], power=1, n_draws=399, seed=seed)
    assert moved.p_value == found.p_value
