"""Conditions that do not differ: audit and check claim no more often than they may."""

from __future__ import annotations

from judgestats.analysis.audit import audit
from judgestats.data import Condition
from tests.null_judge.designs import claims, seeded
from tests.null_judge.doors import labelled, passes
from tests.null_judge.worlds import World, scored

RUNS, MOST = 8, 2
"""Of 8 at .05, 3 or more are false in .6%; the study runs 400 a cell."""


def checked(found) -> bool:
    """Whether an audit claims a difference; its sentence says what its headlines do."""
    by_id = {h.id: h for h in found.headlines}
    for h in found.headlines:
        assert set(h.rests_on) <= {r.id for r in found.results}
    assert ("headline.gmd.all" in by_id) == ("headline.shift.all" in by_id)
    return bool(claims(found))


def test_nothing_is_told_apart_though_a_judge_without_sampling_stands_beside():
    cold, *warm = conditions = [Condition(judge="judge", temperature=t) for t in (0.0, 0.5, 1.0)]
    false = 0
    for seed in range(RUNS):
        frame = scored(seeded(seed), World(), conditions, spread={cold.label: 0.0})
        found = audit(frame, n_resamples=99)
        false += checked(found)
    assert false <= MOST
    ratios = found["sd.all"].rows
    assert {r.a for r in ratios} | {r.b for r in ratios} == {c.label for c in warm}
    assert cold.label in {x for r in found["shift.all"].rows for x in (r.a, r.b)}


def test_judges_equally_often_right_are_not_told_apart():
    world = World(replications=1)
    false = sum(checked(labelled(seeded(seed), world, resamples=99)) for seed in range(RUNS))
    assert false <= MOST


def test_a_judge_that_only_just_reaches_a_demand_seldom_passes():
    assert sum(passes(seeded(seed), World(), resamples=19) for seed in range(RUNS)) <= MOST
