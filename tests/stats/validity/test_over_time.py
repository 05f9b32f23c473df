"""Confidence sequences and anchors, held to confseq and to simulated streams."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import anchored_change, confidence_sequence
from judgestats.stats.validity import RunningAverage


@pytest.mark.parametrize("column", ["binary", "bounded"])
def test_betting_is_that_of_confseq(column, reference):
    x = reference.data("sequence")[column]
    out = confidence_sequence(x, method="betting")
    for t, want in reference.value("sequence", f"{column}_hedged_cs").items():
        i = int(t) - 1
        assert (out.low[i], out.high[i]) == pytest.approx(want, abs=1.1e-3)


def misses(method, rate, runs=200, seed=4):
    """Share of streams in which some look from 20 on misses the running rate."""
    rng = np.random.default_rng(seed)
    truth = np.cumsum(rate) / np.arange(1, rate.size + 1)
    missed = fixed = 0
    for _ in range(runs):
        out = confidence_sequence(rng.random(rate.size) < rate, method=method)
        looks = np.arange(19, rate.size)
        missed += np.any((truth < out.low)[looks] | (truth > out.high)[looks])
        fixed += np.any((truth < out.fixed_low)[29:] | (truth > out.fixed_high)[29:])
    return missed / runs, fixed / runs


@pytest.mark.parametrize("method", ["asymptotic", "empirical-bernstein"])
def test_limits_hold_at_every_look_when_the_rate_moves(method):
    step = np.repeat([0.9, 0.7], 200)
    for rate in (step, np.full(400, 0.8)):
        missed, fixed = misses(method, rate)
        assert missed <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)
        assert fixed > 0.2


def test_betting_misses_after_a_step():
    assert misses("betting", np.repeat([0.9, 0.7], 200), runs=60)[0] > 0.1


def test_clusters_enter_whole_and_the_stream_gives_the_same_limits():
    rng = np.random.default_rng(6)
    question = np.repeat(np.arange(60), rng.integers(1, 6, 60))
    x = (rng.random(60) < 0.7)[question] ^ (rng.random(question.size) < 0.1)
    out = confidence_sequence(x, cluster=question)
    assert out.n.size == 60
    assert out.n[-1] == x.size
    state = RunningAverage()
    for q in range(60):
        state = state.add(x[question == q])
    assert state.average == pytest.approx(out.average[-1])
    assert state.limits() == pytest.approx((out.low[-1], out.high[-1]))
    alone = confidence_sequence(x)
    assert out.high[-1] - out.low[-1] > 1.2 * (alone.high[-1] - alone.low[-1])
    shared = confidence_sequence(x, n_quantities=3)
    assert shared.high[-1] - shared.low[-1] > alone.high[-1] - alone.low[-1]
    assert all(math.isnan(v) for v in RunningAverage().limits())


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
    with pytest.raises(InputError, match="within 0 to 1"):
        confidence_sequence([2.0])


def test_the_fixed_interval_of_a_stream_without_a_failure_has_a_width():
    from judgestats.stats import confidence_sequence
    from judgestats.stats.validity import RunningAverage

    state = RunningAverage()
    for _ in range(40):
        state = state.add([1.0])
    low, high = state.fixed_limits()
    assert low == pytest.approx(40 / (40 + 1.959964**2), abs=1e-4)  # Wilson's, 40 of 40
    assert high == pytest.approx(1.0)
    out = confidence_sequence([1.0] * 40)
    assert out.fixed_low[-1] == pytest.approx(low)
    assert (out.fixed_high - out.fixed_low > 0).all()
