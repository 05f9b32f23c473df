"""How many items have which counts after a shuffle, drawn instead of shuffled."""

import numpy as np
import pytest

from judgestats.stats.agreement import repetition_over_orders
from judgestats.stats.inference import CountedCodes, sum_statistics


def test_a_drawn_shuffle_keeps_what_every_column_holds():
    codes = np.array([[0, 1, -1], [1, 1, 0], [0, -1, 2], [2, 0, 1]])
    totals = [codes.size - (codes == -1).sum(), *[(codes == k).sum() for k in range(3)]]
    drawn = CountedCodes(3).sums(
        codes, lambda counts: np.column_stack([counts.sum(axis=1), counts]), size=20, seed=1
    )
    assert all(sums.tolist() == totals for sums in drawn)


def test_two_items_are_crossed_in_half_of_the_shuffles():
    codes = np.array([[0, 0], [1, 1]])
    agree = CountedCodes(2).sums(
        codes, lambda counts: (counts.max(axis=1) == 2)[:, None] / 2.0, size=400, seed=2
    )
    assert np.mean([float(s[0]) for s in agree]) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(
    "coefficient",
    ["fleiss_kappa", "gwet_ac1", "vote_share_reliability", "flip_rate"],
)
def test_the_null_of_a_large_table_is_that_of_shuffled_items(coefficient, monkeypatch):
    rng = np.random.default_rng(3)
    first = rng.choice(np.array(["a", "b", "tie", None], dtype=object), size=(120, 4))
    second = rng.choice(np.array(["a", "b", "tie"], dtype=object), size=(120, 3))

    def null():
        return repetition_over_orders(
            [first, second], coefficient=coefficient, n_permutations=499, seed=4
        ).null

    shuffled = null()
    monkeypatch.setattr(sum_statistics, "STACK", -1)
    drawn = null()
    assert drawn.mean == pytest.approx(shuffled.mean, abs=0.005)
    assert drawn.q95 == pytest.approx(shuffled.q95, abs=0.02)
