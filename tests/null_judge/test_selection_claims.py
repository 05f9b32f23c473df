"""Selections, shares called correct, strategies: nothing is claimed of equals, a difference is."""

import pytest

from tests.null_judge.designs import claims, seeded
from tests.null_judge.selections import SELECTIONS
from tests.null_judge.worlds import World

EFFECTS = {
    "grade_score": (3.0, "headline.position.j, T=1, prompt=long, unrelated=yes"),
    "head_to_tail": (12.0, "headline.judges.a and c at T=1"),
    "omega": (3.0, "headline.temperature.b"),
    "rejection_sampling": (8.0, "headline.crowd.j at T=1/vanilla:cce@4"),
    "crowd": (30.0, "headline.gain.b/cce-criticising@4:vanilla"),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_nothing_is_claimed_where_nothing_differs(name):
    found = [SELECTIONS[name](seeded(seed), World(), resamples=99) for seed in range(2)]
    for one in found:
        records = one.records()
        assert {h.claim for h in one.headlines} & {"open", "differs"}
        assert all(records[i] for h in one.headlines for i in h.rests_on)
        assert all(h.p_adjusted >= 0.05 for h in one.headlines if h.claim == "open")
        families = {f.id for f in records.families}
        assert {h.family for h in one.headlines if h.family} <= families
    assert sum(bool(claims(one)) for one in found) <= 1  # of 2 at .05, both are false in .3 %


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_difference_of_stated_size_is_found(name):
    effect, expected = EFFECTS[name]
    world = World(sizes=(2,) * 24, unread=0.0, constant=0.2)
    found = SELECTIONS[name](seeded(7), world, resamples=99, effect=effect)
    assert expected in claims(found)
