"""The same judge twice: drift claims no change more often than it may, and finds one of size."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.analysis.drift import drift
from judgestats.data import Condition
from judgestats.results import change_outcome
from tests.null_judge.designs import seeded
from tests.null_judge.doors import compared_runs
from tests.null_judge.worlds import World, compared, labelled_items, scored

ONE, TWO = (Condition(judge=f"judge, run {n}", temperature=1.0) for n in (1, 2))
PAIR = {ONE.label: TWO.label}
RUNS = 3


def share_of_false_claims(frames) -> float:
    """Share of comparisons of a judge with itself in which any headline claims a change."""
    false = 0
    for seed, frame in enumerate(frames):
        first = frame["condition"] == ONE.label
        found = drift(frame[first], frame[~first], pairs=PAIR, n_resamples=99, seed=seed)
        assert {h.claim for h in found.headlines} <= {"open", "differs", "undefined", "equivalent"}
        false += any(h.claim == "differs" for h in found.headlines)
        assert (change_outcome(found.headlines) == "CHANGED") == any(
            h.claim == "differs" for h in found.headlines
        )
    return false / RUNS


@pytest.mark.parametrize("replications", [2, 10])
def test_a_judge_that_scores_twice_has_not_changed(replications):
    world = World(replications=replications)
    frames = (scored(np.random.default_rng(s), world, [ONE, TWO]) for s in range(RUNS))
    assert share_of_false_claims(frames) == 0  # at 10 repeats p of the second is .049 by itself


def test_a_judge_that_compares_twice_has_not_changed():
    world = World(replications=3)

    def frame(seed):
        rng = np.random.default_rng(seed)
        return compared(rng, world, [ONE, TWO], labelled_items(rng, world))

    assert share_of_false_claims(map(frame, range(RUNS))) == 0


def test_a_change_of_size_is_found_among_all_tests():
    world = World(sizes=(2,) * 30, replications=3)
    found = 0
    for seed in range(4):
        rng = np.random.default_rng(100 + seed)
        frame = scored(rng, world, [ONE, TWO], shift={TWO.label: -0.5})
        first = frame["condition"] == ONE.label
        out = drift(frame[first], frame[~first], pairs=PAIR, n_resamples=99, seed=seed)
        [shift] = [h for h in out.headlines if h.hypothesis == "shift"]
        found += shift.claim == "differs" and shift.direction == "lower"
    assert found == 4


def test_a_comparison_among_several_is_adjusted_for_all():
    frame = scored(seeded(4), World(sizes=(1,) * 12), [ONE, TWO], shift={TWO.label: -0.4})
    first = frame["condition"] == ONE.label
    one, of_three = (
        drift(frame[first], frame[~first], pairs=PAIR, n_resamples=999, comparisons=n)
        for n in (1, 3)
    )
    for alone, among in zip(one.headlines, of_three.headlines, strict=True):
        if np.isfinite(alone.p_adjusted):
            assert among.p_adjusted == pytest.approx(min(1, 3 * alone.p_adjusted), rel=0.5)
            assert among.p_adjusted >= alone.p_adjusted


def test_four_runs_of_one_judge_are_one_family():
    """Each later run held to the first by itself, .14 of such comparisons would claim a change."""
    assert not compared_runs(seeded(3), World(), resamples=19)
    world = World(sizes=(1,) * 30, replications=5, unread=0.0, constant=0.0)
    assert compared_runs(seeded(1), world, resamples=99, effect=6.0)
