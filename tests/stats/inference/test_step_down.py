"""Shifts adjusted together hold the level, and find more than Holm where they share an original."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.stats import p_adjust, probe_shift
from judgestats.stats.inference import signed_step_down

SIZES = (20, 8, 4, 3, 2, 1, 1, 1)
ITEMS = np.array([f"q{i:02d}" for i in range(24)], dtype=object)


def shared(rng: np.random.Generator, tests: int, *, by: float = 0.0) -> list[np.ndarray]:
    """Shifts from one original, of which every second item never varies; the first is of `by`."""
    scale = np.arange(24) % 2 * rng.gamma(2, 0.5, 24)
    original = rng.normal(size=24) * scale
    shifts = [rng.normal(size=24) * scale - original for _ in range(tests)]
    return [shifts[0] + by, *shifts[1:]]


def adjusted(shifts: list[np.ndarray], items: np.ndarray = ITEMS, draws: int = 499) -> np.ndarray:
    return signed_step_down(shifts, [items] * len(shifts), n_permutations=draws, seed=1)[0]


def test_each_alone_is_the_test_of_its_probe():
    rng = np.random.default_rng(0)
    clusters = np.repeat([f"q{i}" for i in range(8)], SIZES).astype(object)
    shifts = [rng.normal(size=40).round(), np.zeros(40), np.ones(40)]
    _, own = signed_step_down(shifts, [clusters] * 3, n_permutations=99, seed=0)
    theirs = [
        probe_shift(np.zeros(40), s, margin=0.25, reach=9, cluster=clusters).p_value for s in shifts
    ]
    assert own == pytest.approx(theirs)


@pytest.mark.parametrize("runs", [50, pytest.param(150, marks=pytest.mark.study)])
def test_it_holds_the_level_and_finds_more_than_holm(runs):
    false = found = by_holm = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        false += bool((adjusted(shared(rng, 30)) < 0.05).any())
        shifts = shared(rng, 30, by=0.6)
        found += bool(adjusted(shifts)[0] < 0.05)
        own = signed_step_down(shifts, [ITEMS] * 30, n_permutations=1, seed=0)[1]
        by_holm += bool(p_adjust(own)[0] < 0.05)
    assert false / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert found >= by_holm + runs / 10


def test_it_steps_down_and_is_never_below_a_test_s_own_p():
    shifts = shared(np.random.default_rng(3), 10, by=3.0)
    p, own = signed_step_down(shifts, [ITEMS] * 10, n_permutations=499, seed=0)
    assert (p >= own).all()
    assert (np.diff(p[np.argsort(own)]) >= 0).all()
    others, _ = signed_step_down(shifts[1:], [ITEMS] * 9, n_permutations=499, seed=0)
    assert p[1:] == pytest.approx(np.maximum(others, p[0]))


def test_order_of_items_and_tests_over_other_clusters_change_nothing():
    shifts = shared(np.random.default_rng(4), 5, by=1.0)
    mixed = np.random.default_rng(1).permutation(24)
    assert adjusted([s[mixed] for s in shifts], ITEMS[mixed]) == pytest.approx(adjusted(shifts))
    part = signed_step_down(
        [shifts[0], shifts[1][:9]], [ITEMS, ITEMS[:9]], n_permutations=499, seed=1
    )[0]
    assert np.isfinite(part).all()
