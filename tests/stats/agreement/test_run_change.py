"""Change between two runs, beyond what repetition does."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import run_change


def verdicts(rng: np.random.Generator, p: np.ndarray, r: int = 3) -> np.ndarray:
    return np.where(rng.random((p.size, r)) < p[:, None], "good", "bad").astype(object)


def test_the_same_judge_twice_has_not_changed() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for seed in range(150):
        p = rng.beta(0.5, 0.5, 40)
        out = run_change(
            verdicts(rng, p), verdicts(rng, p), kind="verdicts", n_permutations=99, seed=seed
        )
        found += out.p_value <= 0.05
        assert abs(out.effects[0].estimate) < 0.2
    assert found / 150 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


def test_excess_is_half_the_squared_distance_of_the_probabilities() -> None:
    rng = np.random.default_rng(2)
    n = 4000
    out = run_change(
        verdicts(rng, np.full(n, 0.2)), verdicts(rng, np.full(n, 0.7)), kind="verdicts",
        n_permutations=99,
    )  # fmt: skip
    assert out.effects[0].estimate == pytest.approx(0.25, abs=0.02)
    assert out.p_value == 0.01
    assert out.details["ruled_out_above"] == out.effects[0].interval.high


def test_scores_shift_and_its_sign() -> None:
    rng = np.random.default_rng(3)
    item = rng.normal(7, 1, (30, 1))
    before, after = item + 0.3 * rng.normal(size=(2, 30, 3))
    same = run_change(before, after, kind="scores", n_permutations=199)
    assert same.p_value > 0.05
    moved = run_change(before, after - 0.5, kind="scores", n_permutations=199)
    assert moved.p_value == 1 / 200
    assert moved.effects[0].estimate == pytest.approx((after - 0.5 - before).mean(), abs=1e-12)


def test_an_unchanged_rerun_as_baseline_takes_item_by_run_noise_away() -> None:
    rng = np.random.default_rng(4)
    plain, beyond = 0, 0
    for seed in range(60):
        p = rng.random(60) * 0.6 + 0.2
        runs = [verdicts(rng, np.clip(p + 0.15 * rng.normal(size=60), 0, 1), r=5) for _ in range(4)]
        plain += (
            run_change(*runs[:2], kind="verdicts", n_permutations=99, seed=seed).p_value <= 0.05
        )
        out = run_change(*runs[:2], kind="verdicts", baseline=(runs[2], runs[3]), seed=seed)
        beyond += out.p_value <= 0.05
    assert plain / 60 > 0.15
    assert beyond / 60 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


def test_dropped_items_are_counted_and_unrepeated_verdicts_not_tested() -> None:
    before = np.array([["a", "a"], ["b", None], [None, None]], dtype=object)
    after = np.array([["a", "b"], ["b", "b"], ["a", "a"]], dtype=object)
    out = run_change(before, after, kind="verdicts", n_permutations=9)
    assert (out.details["n_matched"], out.details["n_dropped"]) == (2, 1)
    once = run_change(before[:2, :1], after[:2, :1], kind="verdicts")
    assert np.isnan(once.p_value)
    assert "cannot be told from repetition" in once.reason
    direction = run_change([[7.0], [8.0], [6.0]], [[6.0], [7.5], [5.0]], kind="scores")
    assert [n.code for n in direction.notes] == ["not_repeated"]
    assert np.isfinite(direction.p_value)


def test_exchanges_keep_each_runs_number_of_readings() -> None:
    rng = np.random.default_rng(5)
    before = verdicts(rng, np.full(25, 0.5), r=4)
    after = verdicts(rng, np.full(25, 0.5), r=4)
    before[rng.random(before.shape) < 0.3] = None
    one = run_change(before, after, kind="verdicts", n_permutations=99)
    two = run_change(np.fliplr(before), after, kind="verdicts", n_permutations=99)
    assert one.effects[0].estimate == pytest.approx(two.effects[0].estimate, abs=1e-12)
    with pytest.raises(InputError, match="same items"):
        run_change(before, after[:4], kind="verdicts")
    with pytest.raises(InputError, match="kind must be"):
        run_change(before, after, kind="spread")
