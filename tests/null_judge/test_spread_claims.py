"""Comparisons of spread claim nothing where nothing differs, and find what does."""

import pytest

from judgestats.analysis import judges
from judgestats.data import Condition
from tests.null_judge.designs import SPREAD, claims, seeded
from tests.null_judge.worlds import World, scored

SEEDS = range(4)
GIVEN = {"resamples": 199, "seed": 0}
TWO = [Condition(judge=j, temperature=1.0) for j in "ab"]


@pytest.mark.parametrize("name", SPREAD)
def test_nothing_is_claimed_where_nothing_differs(name):
    found = [SPREAD[name](seeded(seed), World(), resamples=99) for seed in SEEDS]
    for one in found:
        assert one.headlines
        assert all(h.p_adjusted >= 0.05 for h in one.headlines if h.claim == "open")
        records = one.records()
        assert all(records[i] for h in one.headlines for i in h.rests_on)
    # Of 4 at .05, 2 or more are false in 1.4 %.
    assert sum(bool(claims(one)) for one in found) <= 1


@pytest.mark.parametrize("name", SPREAD)
def test_a_difference_of_stated_size_is_found(name):
    world = World(sizes=(2,) * 30, replications=10, unread=0.0)
    found = SPREAD[name](seeded(7), world, effect=2.5)
    true = found.conditions["condition"].iloc[-1]
    shown = [h for h in found.headlines if h.claim == "differs"]
    assert shown
    assert all(true in h.about.conditions for h in shown if h.hypothesis == "spread")


def test_no_sampling_at_zero_is_in_no_claim():
    found = SPREAD["temperature with T = 0"](seeded(1), World())
    assert not [h for h in found.headlines if "j, T=0" in h.about.conditions]
    assert not claims(found)
    assert "j, T=0" not in found.records()["spread.j"].about.conditions
    assert all("T=0" not in (r.a, r.b) for r in found["ratio.j"].rows)


def test_where_nothing_was_read_the_reason_is_told():
    frame = scored(seeded(1), World(unread=1.0), TWO)
    found = judges.analyse(frame, judges.plan(GIVEN, TWO))
    [headline] = found.headlines
    assert headline.claim == "undefined"
    assert "could any score be read" in headline.reason
