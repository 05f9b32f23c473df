"""Levels in use: against R's shares, and what merging levels loses."""

import itertools
import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import levels_used
from judgestats.stats.robustness import BETWEEN, merged_levels


def test_shares_are_those_of_r_for_every_judge_and_temperature(reference):
    data = reference.data("score_levels")
    for (judge, t), part in data.groupby(["judge", "temperature"]):
        want = reference.value("score_levels", f"{judge} {t:g}")
        out = levels_used(np.repeat(part.score, part.n), scale=(0, 10))
        names = {"effective_levels": "effective_levels", "mode_share": "mode_share"}
        names |= {"ceiling_share": "ceiling"}
        for ours, theirs in names.items():
            assert out[ours].estimate == pytest.approx(want[theirs], abs=1e-10)
        assert len(out.details["levels"]) == want["levels_seen"]


def test_the_interval_takes_the_replications_of_an_item_together():
    rng = np.random.default_rng(1)
    base = rng.integers(1, 6, size=60)
    repeated = np.repeat(base[:, None], 8, axis=1)
    one, many = levels_used(base, scale=(1, 5)), levels_used(repeated, scale=(1, 5))
    alone = levels_used(repeated.ravel(), scale=(1, 5))
    for name in ("effective_levels", "mode_share"):
        assert many[name].interval.low == pytest.approx(one[name].interval.low, abs=1e-9)
        assert many[name].interval.low < alone[name].interval.low
    by_question = levels_used(base, scale=(1, 5), cluster=np.arange(60) // 3)
    assert by_question["mode_share"].sample.n_clusters == 20


def test_interval_of_effective_levels_covers():
    rng, p = np.random.default_rng(2), np.array([0.05, 0.1, 0.5, 0.25, 0.1])
    truth = math.exp(-np.sum(p * np.log(p)))
    hits = 0
    for _ in range(100):
        iv = levels_used(rng.choice(5, size=150, p=p) + 1, scale=(1, 5))[
            "effective_levels"
        ].interval
        hits += iv.low <= truth <= iv.high
    assert 88 <= hits <= 100


def test_merging_is_the_best_of_all_partitions():
    rng = np.random.default_rng(3)
    for _ in range(20):
        v = np.sort(rng.choice(40, size=7, replace=False)).astype(float)
        w = rng.integers(1, 30, size=7).astype(float)
        starts, share = merged_levels(v, w)
        mean = np.average(v, weights=w)
        total = np.sum(w * (v - mean) ** 2)

        def kept(cuts, v=v, w=w, mean=mean, total=total):
            parts = list(np.split(np.arange(7), cuts))
            return (
                sum(w[p].sum() * (np.average(v[p], weights=w[p]) - mean) ** 2 for p in parts)
                / total
            )

        best = max(kept(c) for c in itertools.combinations(range(1, 7), len(starts) - 1))
        assert share == pytest.approx(best, abs=1e-9)
        assert share >= 0.95
        if len(starts) > 1:
            fewer = itertools.combinations(range(1, 7), len(starts) - 2)
            assert max(kept(c) for c in fewer) < 0.95


def test_a_judge_that_uses_three_of_a_hundred_levels_is_told_so():
    rng = np.random.default_rng(4)
    out = levels_used(rng.choice([70, 80, 90], size=200), scale=(1, 100))
    assert out["heaping"].estimate == pytest.approx(0.8)
    assert out.notes[0].message == (
        "3 levels (70, 80, 90) in place of the 100 from 1 to 100 keep 100 % of the scores' "
        "variance: 0 % is lost."
    )
    spread = levels_used(rng.integers(1, 101, size=4000), scale=(1, 100))["heaping"]
    assert spread.interval.low < 0 < spread.interval.high
    halves = levels_used([1, 2, 2.5, 3, 4, 4, 3, 2] * 5, scale=(1, 5))["heaping"]
    assert halves.estimate == pytest.approx(7 / 8 - 5 / 9)


def test_what_cannot_be_said_is_said():
    with pytest.raises(InputError, match="a score of 11 lies outside the scale 1 to 10"):
        levels_used([1, 11], scale=(1, 10))
    with pytest.raises(InputError, match="at least one score"):
        levels_used([math.nan])
    out = levels_used([1, 2, 3, 2, 1])
    assert "The scale is not given" in out.notes[0].message
    assert out["heaping"].reason == "on 3 whole levels none is rounder than another"
    assert levels_used([5, 5, 5, 5], scale=(1, 5))["effective_levels"].estimate == 1.0


def test_half_points_are_told_by_what_asking_again_does_to_them():
    scores = [[3, 3, 3.5], [4, 4, 4], [2, 2.5, 2], [5, 1, 5], [3, np.nan, np.nan]]
    out = levels_used(scores, scale=(1, 5))
    assert out.details["differ_again"] == pytest.approx((2 / 3 * 3) / 4)
    [note] = [n for n in out.notes if n.code == BETWEEN]
    assert note.message == (
        "15 % of the scores and 44 % of the levels lie between whole numbers; two scores of one "
        "item differ by 0.5 or more in 50 % of cases."
    )
    once = levels_used([3, 3.5, 4, 2], scale=(1, 5))
    assert "nothing was asked twice" in once.notes[-1].message
    assert not levels_used([3, 4, 2], scale=(1, 5)).notes
