"""Repetition over two orders: the function of one order, no order before the other."""

import math

import numpy as np
import pytest

from judgestats import stats
from judgestats.stats.agreement import repetition_over_orders

NAMES = ("fleiss_kappa", "gwet_ac1", "vote_share_reliability", "percent_agreement", "flip_rate")
RNG = np.random.default_rng(4)
AB, BA = (RNG.choice(["a", "b", "tie"], p=[0.6, 0.3, 0.1], size=(25, 4)) for _ in range(2))
AB[3, 2] = ""
CLUSTER = np.arange(25) // 3


@pytest.mark.parametrize("name", NAMES)
def test_one_order_is_the_function_of_that_name(name):
    given = {"cluster": CLUSTER, "n_permutations": 19}
    here = repetition_over_orders([AB], coefficient=name, **given)
    there = getattr(stats, name)(AB, **given)
    assert here.estimate == pytest.approx(there.estimate, abs=1e-12)
    assert here.interval.low == pytest.approx(there.interval.low, abs=1e-9)
    assert here.interval.high == pytest.approx(there.interval.high, abs=1e-9)
    assert here.null.p_value == there.null.p_value
    assert here.sample == there.sample


def test_a_judge_that_follows_the_place_agrees_with_itself_beyond_chance_in_no_order():
    ab, ba = np.full((9, 3), "a"), np.full((9, 3), "b")
    found = repetition_over_orders([ab, ba], coefficient="fleiss_kappa")
    assert math.isnan(found.estimate)
    assert "within an order" in found.reason
    assert repetition_over_orders([ab, ba], coefficient="flip_rate").estimate == 0
