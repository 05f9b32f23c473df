"""Levels in use: against R's shares, and what merging levels loses."""

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import levels_used, recoding_loss
from judgestats.stats.robustness import BETWEEN


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


@pytest.mark.parametrize(("groups", "name"), [("pairs", "pairs"), ("thirds", "three")])
def test_the_loss_by_a_shorter_scale_is_that_of_two_codes(declared, groups, name):
    scores, _ = declared.cube("scale60x4")
    expected = declared.value("scale60x4", name)
    out = recoding_loss(scores[:, 0], groups)
    one_sided = recoding_loss(scores[:, 0], groups, level=0.9).interval.high
    assert out.details["groups"] == expected["groups"]
    assert [out.estimate, out.interval.low, out.interval.high, one_sided] == pytest.approx(
        [expected["loss"], *expected["ci"], expected["upper95"]], rel=1e-8
    )
    pairs = recoding_loss(scores[:, 0], groups, cluster=np.arange(60) // 2)
    assert (out.sample.n_clusters, pairs.sample.n_clusters) == (None, 30)
    stated = recoding_loss(scores[::-1, 0, ::-1], expected["groups"])
    assert stated.interval.high == pytest.approx(out.interval.high)


def test_a_shorter_scale_would_do_only_where_its_loss_is_shown_to_be_small():
    rng = np.random.default_rng(11)
    true = rng.choice([2.0, 6.0, 9.0], (150, 1))
    out = recoding_loss(true + (rng.random((150, 4)) < 0.5), [[2, 3], [6, 7], [9, 10]])
    assert out.interval.high <= 0.05
    assert out.notes[0].message.startswith("A 3-level scale would do (loses at most ")
    assert "may differ" in out.notes[0].message
    lossy = recoding_loss(
        np.clip(np.round(rng.normal(6, 2, (60, 1)) + rng.normal(0, 1, (60, 3))), 1, 10)
    )
    assert not lossy.notes


def test_no_loss_is_estimated_where_repeats_share_nothing_or_there_are_none():
    rng = np.random.default_rng(12)
    x = rng.integers(1, 11, (40, 3)).astype(float)
    for scores, reason in (
        (x[:, :1], "needs repeats"), (x, "share"), (np.full((40, 3), 5.0), "one group"),
        (rng.normal(size=(100, 3)), "more than 200 distinct scores"),
    ):  # fmt: skip
        out = recoding_loss(scores)
        assert out.interval is None
        assert reason in out.reason
    with pytest.raises(InputError, match="two groups"):
        recoding_loss(x, [[1, 2], [2, 3]])
    with pytest.raises(InputError, match="no group holds the score"):
        recoding_loss(x, [[1, 2], [3, 4]])


def test_a_judge_that_uses_three_of_a_hundred_levels_is_told_so():
    rng = np.random.default_rng(4)
    out = levels_used(rng.choice([70, 80, 90], size=200), scale=(1, 100))
    assert out["heaping"].estimate == pytest.approx(0.8)
    assert out["effective_levels"].estimate == pytest.approx(3, abs=0.1)
    spread = levels_used(rng.integers(1, 101, size=4000), scale=(1, 100))["heaping"]
    assert spread.interval.low < 0 < spread.interval.high
    halves = levels_used([1, 2, 2.5, 3, 4, 4, 3, 2] * 5, scale=(1, 5))["heaping"]
    assert halves.estimate == pytest.approx(7 / 8 - 5 / 9)


def test_what_cannot_be_said_is_said():
    with pytest.raises(InputError, match="a score of 11 is outside the scale 1 to 10"):
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
        "15% of the scores and 44% of the levels are between whole numbers; two scores of one "
        "item differ by 0.5 or more in 50% of cases."
    )
    once = levels_used([3, 3.5, 4, 2], scale=(1, 5))
    assert "no item was judged twice" in once.notes[-1].message
    assert not levels_used([3, 4, 2], scale=(1, 5)).notes
