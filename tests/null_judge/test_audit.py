"""Conditions that do not differ: audit and check claim no more often than they may."""

from __future__ import annotations

from judgestats.analysis.audit import audit
from judgestats.data import Condition, score_array
from judgestats.stats import mean_shift
from tests.null_judge.designs import claims, seeded
from tests.null_judge.doors import JUDGES, audited, labelled, passes
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


def test_a_difference_of_spread_and_one_of_means_are_found():
    world = World(sizes=(2,) * 20, replications=5)
    found = audited(seeded(1), world, resamples=99, effect=3.0)
    assert {h.id: h.claim for h in found.headlines}["headline.gmd.all"] == "differs"
    one, two = (Condition(judge=j, temperature=1.0) for j in ("one", "two"))
    frame = scored(seeded(2), world, [one, two], shift={two.label: -1.0})
    found = audit(frame, n_resamples=99)
    assert checked(found)


def test_a_declared_model_of_omega_stands_beside_the_parallel_one():
    frame = scored(seeded(1), World(sizes=(1,) * 20, replications=4, unread=0.0), JUDGES[:1])
    found = audit(frame, n_resamples=19, omega_model="congeneric")
    name = JUDGES[0].label
    beside = found[f"reliability.omega_congeneric.{name}"]
    assert "congeneric" in f"{beside.label} {beside.estimator}"
    assert "congeneric" not in found[f"reliability.alpha.{name}"].label
    assert {r.role for r in found.results if r.result is beside} == {"secondary"}
    assert f"headline.reliability.omega_congeneric.{name}" not in {h.id for h in found.headlines}


def test_no_pair_is_told_apart_where_the_claim_that_rests_on_pairs_tells_none():
    world = World(sizes=(1,) * 30, unread=0.0, constant=0.0)
    frame = scored(seeded(5), world, JUDGES, shift={JUDGES[0].label: -0.3})
    found = audit(frame, n_resamples=19)
    [claim] = [h for h in found.headlines if h.id == "headline.shift.all"]
    own = mean_shift(score_array(frame).scores)
    assert claim.p_adjusted < 0.9
    assert min(r.p_adjusted for r in own.rows) < claim.p_adjusted
    assert min(r.p_adjusted for r in found["shift.all"].rows) == claim.p_adjusted
