"""Alignment, self-consistency and bias claim nothing where nothing differs, and find what does."""

import pytest

from tests.null_judge.designs import DESIGNS, aligned, averaged, claims, left_out, seeded, unbiased
from tests.null_judge.worlds import World

PAIRS = ("alignment", "self_consistency", "bias")
EVEN = World(sizes=(2,) * 30, replications=10, unread=0.0)


@pytest.mark.parametrize("name", PAIRS)
def test_nothing_is_claimed_where_nothing_differs(name):
    found = [DESIGNS[name](seeded(seed), World(), resamples=99) for seed in range(4)]
    for one in found:
        assert one.headlines
        assert all(h.p_adjusted >= 0.05 for h in one.headlines if h.claim == "open")
        records = one.records()
        assert all(records[i] for h in one.headlines for i in h.rests_on)
        families = {f.id for f in records.families}
        assert {h.family for h in one.headlines if h.family} <= families
    assert sum(bool(claims(one)) for one in found) <= 1
    assert sum(left_out(one) for one in found) <= 1


def test_a_better_method_is_found_and_stands_alone():
    found = aligned(seeded(5), EVEN, effect=30.0)
    [better] = claims(found)
    assert better == "headline.methods.b"


def test_a_gain_by_averaging_is_found():
    found = averaged(seeded(7), EVEN, effect=1.5)
    gains = [h for h in found.headlines if h.claim == "differs"]
    assert gains
    assert all(h.direction == "higher" for h in gains)


def test_a_leaning_to_the_first_place_is_found_in_one_judge_only():
    found = unbiased(seeded(8), EVEN, effect=2.0)
    assert claims(found) == ["headline.moved.position, b at T=1"]
