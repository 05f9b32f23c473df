"""Bias and variance, accuracy by k, and panels, on simulated truths."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import accuracy_by_k, error_parts, panel_gain, panel_of_judges


def test_parts_of_the_error_are_recovered():
    rng = np.random.default_rng(1)
    y = rng.normal(6, 1, 1500)
    x = y[:, None] + 0.5 + rng.normal(0, 0.7, (1500, 1)) + rng.normal(0, 0.9, (1500, 4))
    out = error_parts(x, y, k=3)
    assert out["squared_bias"].estimate == pytest.approx(0.25, abs=0.06)
    assert out["between_items"].estimate == pytest.approx(0.49, abs=0.06)
    assert out["replicates"].estimate == pytest.approx(0.81 / 3, abs=0.02)
    parts = sum(out[k].estimate for k in ("squared_bias", "between_items", "replicates"))
    assert out["mean_squared_error"].estimate == pytest.approx(parts)
    one = error_parts(x, y)["mean_squared_error"]
    assert one.estimate == pytest.approx(np.mean((x - y[:, None]) ** 2))
    assert one.interval.low < 0.25 + 0.49 + 0.81 < one.interval.high
    with pytest.raises(InputError, match="two read judgments"):
        error_parts([[1.0], [2.0]], [1, 2])


def test_accuracy_by_k_and_the_fewest_that_are_enough():
    rng = np.random.default_rng(2)
    y = rng.random(3000) < 0.5
    hard = rng.random(3000) < 0.3
    p = np.where(hard, 0.75, 0.97)
    v = np.where(rng.random((3000, 9)) < p[:, None], y[:, None], ~y[:, None])
    out = accuracy_by_k(v, y)
    assert list(out.accuracy) == [1, 3, 5, 7, 9]
    assert out.accuracy[9].estimate > out.accuracy[1].estimate + 0.02
    assert 1 < out.recommended < 9
    assert out.accuracy[1].estimate == pytest.approx(np.mean(v == y[:, None]))
    steady = accuracy_by_k(np.tile(v[:, :1], 5), y)
    assert not steady.shown  # nothing varies, so nothing is shown
    assert "fewer are not non-inferior" in steady.sentence()
    with pytest.raises(InputError, match="one row for each label"):
        accuracy_by_k(v, y[:5])


def test_the_best_of_equal_judges_is_not_flattered():
    rng = np.random.default_rng(4)
    gains = []
    for seed in range(150):
        y = rng.random(100) < 0.5
        v = np.where(rng.random((100, 5)) < 0.75, y[:, None], ~y[:, None])
        out = panel_of_judges(v, y, names=list("abcde"), seed=seed)
        best = max(out.accuracy[k].estimate for k in "abcde")
        honest = out.accuracy["majority"].estimate - out.against_best["majority"].estimate
        gains.append((best - 0.75, honest - 0.75))
    flattered, honest = np.mean(gains, axis=0)
    assert flattered == pytest.approx(0.05, abs=0.01)
    assert abs(honest) < 0.012


def test_the_gain_of_a_panel_is_that_of_two_codes(declared):
    rows = declared.data("panel60x3")
    right = (rows[["j1", "j2", "j3"]].to_numpy() == rows[["label"]].to_numpy()).astype(float)
    majority = (right.sum(axis=1) > 1).astype(float)
    expected = declared.value("panel60x3", "panel")
    out = panel_gain(majority, right)
    assert majority.mean() == pytest.approx(expected["panel"], rel=1e-8)
    assert right.mean(axis=0) == pytest.approx(expected["members"], rel=1e-8)
    assert out.details["differences"] == pytest.approx(expected["differences"], rel=1e-8)
    assert [out.interval.low, out.interval.high] == pytest.approx(expected["ci"], rel=1e-8)
    assert "60 labels cannot show this; about" in out.notes[0].message
    again = panel_gain(majority[::-1], right[::-1, ::-1])
    assert again.interval == out.interval
    loss = panel_gain(1 - majority, 1 - right, losses=True)
    assert loss.interval.high == pytest.approx(-out.interval.low, rel=1e-12)
    wide = panel_gain(majority, right, level=0.99).interval
    assert wide.low < out.interval.low < out.interval.high < wide.high


def test_a_gain_over_clusters_is_wider_and_few_clusters_give_none():
    rng = np.random.default_rng(6)
    right = np.repeat(rng.random((20, 3)) < 0.7, 5, axis=0).astype(float)
    majority = (right.sum(axis=1) > 1).astype(float)
    items, groups = (
        panel_gain(majority, right),
        panel_gain(majority, right, cluster=np.arange(100) // 5),
    )
    assert np.diff([groups.interval.low, groups.interval.high]) > np.diff(
        [items.interval.low, items.interval.high]
    )
    alone = panel_gain(majority, right, cluster=np.r_[np.zeros(95), np.ones(5)])
    assert alone.interval is None
    assert alone.notes[0].message.startswith("No interval: 2 questions, effectively 1.1.")


def test_equal_judges_make_a_better_panel_and_a_copy_is_named():
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.6
    v = np.where(rng.random((500, 5)) < 0.75, y[:, None], ~y[:, None])
    v[:, 4] = np.where(rng.random(500) < 0.98, v[:, 3], ~v[:, 3])
    out = panel_of_judges(v, y, names=list("abcde"))
    assert out.copies[0][:2] == ("d", "e")
    assert 2 < out.effective_judges < 4.5
    assert out.against_best["majority"].interval.low > 0
    assert out.calls == 5
    assert "near copies: d and e" in out.sentence()


def test_a_panel_with_one_good_judge_is_beaten_by_it():
    rng = np.random.default_rng(5)
    y = rng.random(600) < 0.5
    p = np.array([0.95, 0.6, 0.6, 0.6, 0.6])
    v = np.where(rng.random((600, 5)) < p, y[:, None], ~y[:, None])
    out = panel_of_judges(v, y, names=list("abcde"))
    assert out.against_best["majority"].interval.high < 0
    assert out.accuracy["weighted"].estimate > out.accuracy["majority"].estimate


def test_a_panel_of_equal_copies_gains_nothing_and_has_an_interval():
    right = np.repeat((np.arange(80) % 4 > 0)[:, None], 3, axis=1).astype(float)
    out = panel_gain(right[:, 0], right)
    assert (out.estimate, out.interval.low) == (0, 0)
    assert out.interval.high > 0


def test_few_labels_are_refused():
    with pytest.raises(InputError, match="too few"):
        panel_of_judges([[1, 0]] * 5, [1] * 5, names=["a", "b"])
