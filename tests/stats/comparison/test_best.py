"""The set that holds every true best, and what may be recommended from it."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import comparisons_with_best


def test_seven_equal_judges_are_all_kept_at_the_level() -> None:
    rng = np.random.default_rng(11)
    left_out = 0
    for _ in range(300):
        credit = (rng.random((40, 7)) < 0.6).astype(float)
        left_out += len(comparisons_with_best(credit).candidates) < 7
    assert left_out / 300 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


def test_a_clear_best_is_alone_and_recommended() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3)) * 0.3 + [1.0, 0.0, 0.0]
    out = comparisons_with_best(x, conditions=["good", "b", "c"], cost=[9, 1, 1])
    assert out.candidates == ("good",)
    assert out.recommended == "good"
    row = out.rows[0]
    assert row.interval is not None
    assert row.interval.low == 0.0
    assert row.interval.high > 0.8
    assert "is the best" in out.sentence()


def test_what_is_not_told_apart_says_how_many_items_would_decide() -> None:
    rng = np.random.default_rng(3)
    x = (rng.random((30, 2)) < [0.7, 0.6]).astype(float)
    out = comparisons_with_best(x, conditions=["a", "b"], margin=0.02)
    assert set(out.candidates) == {"a", "b"}
    assert out.recommended is None
    assert out.n_items_needed is not None
    assert out.n_items_needed > 30
    assert f"{out.n_items_needed:,} items would decide" in out.sentence()
    # The number does what it promises, were the differences as observed.
    many = np.tile(x, (int(np.ceil(out.n_items_needed / 30)), 1))
    assert comparisons_with_best(many, conditions=["a", "b"], margin=0.02).recommended


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"conditions": ["a", "a"]}, "different names"),
        ({"cost": [1.0]}, "2 finite numbers"),
        ({"margin": -1.0}, "positive number"),
        ({"level": 2.0}, "level must be between 0 and 1"),
    ],
)
def test_unusable_options_are_refused(change, words) -> None:
    with pytest.raises(InputError, match=words):
        comparisons_with_best(np.eye(4)[:, :2], **change)


def test_equal_judges_in_unequal_clusters_are_kept_too() -> None:
    rng = np.random.default_rng(12)
    cluster = np.repeat(np.arange(8), [20, 8, 4, 3, 2, 1, 1, 1])
    left_out = 0
    for _ in range(200):
        x = rng.normal(size=(8, 3))[cluster] + rng.normal(size=(40, 3))
        left_out += len(comparisons_with_best(x, cluster=cluster).candidates) < 3
    assert left_out / 200 <= 0.05
