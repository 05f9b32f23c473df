"""Confidence sequences and anchors, held to confseq and to simulated streams."""

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import anchored_change
from judgestats.stats.validity import RunningAverage


def misses(rate, runs=200, seed=4):
    """Share of streams in which some look from 20 on misses the running rate."""
    rng = np.random.default_rng(seed)
    truth = np.cumsum(rate) / np.arange(1, rate.size + 1)
    missed = fixed = 0
    for _ in range(runs):
        state, outside, outside_fixed = RunningAverage(), False, False
        for true, value in zip(truth, rng.random(rate.size) < rate, strict=True):
            state = state.add([float(value)])
            low, high = state.limits()
            outside |= not low <= true <= high and state.t >= 20
            low, high = state.fixed_limits()
            outside_fixed |= not low <= true <= high and state.t >= 30
        missed += outside
        fixed += outside_fixed
    return missed / runs, fixed / runs


def test_limits_hold_at_every_look_when_the_rate_moves():
    step = np.repeat([0.9, 0.7], 200)
    for rate in (step, np.full(400, 0.8)):
        missed, fixed = misses(rate)
        assert missed <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)
        assert fixed > 0.2


def stream(clusters):
    state = RunningAverage()
    for values in clusters:
        state = state.add(values)
    return state


def width(state, **options):
    low, high = state.limits(**options)
    return high - low


def test_clusters_enter_whole_and_widen():
    rng = np.random.default_rng(6)
    question = np.repeat(np.arange(60), rng.integers(1, 6, 60))
    x = (rng.random(60) < 0.7)[question] ^ (rng.random(question.size) < 0.1)
    state = stream(x[question == q] for q in range(60))
    assert (state.t, state.n) == (60, x.size)
    assert state.average == pytest.approx(x.mean())
    alone = stream([v] for v in x)
    assert width(state) > 1.2 * width(alone)
    assert width(alone, n_quantities=3) > width(alone)
    assert all(math.isnan(v) for v in RunningAverage().limits())
    with pytest.raises(InputError, match="within 0 to 1"):
        RunningAverage().add([2.0])


def test_anchors_tell_the_judges_change_from_the_systems():
    rng = np.random.default_rng(7)
    hits = {"judge": 0, "system": 0}
    for _ in range(200):
        quality = rng.normal(6, 1, 300)
        before = quality + rng.normal(0, 0.5, 300)
        anchor = rng.permutation(300) < 60
        again = np.where(anchor, quality + 0.4 + rng.normal(0, 0.5, 300), np.nan)
        after = rng.normal(6.3, 1, 250) + 0.4 + rng.normal(0, 0.5, 250)
        out = anchored_change(before, again, after)
        assert out["judge"].estimate + out["system"].estimate == pytest.approx(
            out["total"].estimate
        )
        for name, true in (("judge", 0.4), ("system", 0.3)):
            iv = out[name].interval
            hits[name] += iv.low <= true <= iv.high
    for v in hits.values():
        assert v / 200 >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 200)


def test_without_anchors_the_two_are_not_told_apart():
    out = anchored_change([1, 2, 3], [None] * 3, [3, 4, 5])
    assert out["total"].estimate == 2
    assert "without anchors" in out["judge"].reason
    with pytest.raises(InputError, match="no answer was read"):
        anchored_change([None], [None], [1])


def test_the_fixed_interval_of_a_stream_without_a_failure_has_a_width():
    low, high = stream([1.0] for _ in range(40)).fixed_limits()
    assert low == pytest.approx(40 / (40 + 1.959964**2), abs=1e-4)  # Wilson's, 40 of 40
    assert high == pytest.approx(1.0)
