"""Systems compared under a judge that errs, held to R and to simulated truths."""

import math

import numpy as np
import pytest

from judgestats import stats
from judgestats.errors import InputError
from judgestats.stats.validity import labelled_items, ppi_mean


def test_the_difference_is_that_of_r_and_ppi_python(reference):
    d = reference.data("two_systems")
    out = stats.corrected_differences(
        d[["judge_a", "judge_b"]],
        d[["human_a", "human_b"]],
        names=["a", "b"],
        labels_drawn="random",
    )
    want = reference.value("two_systems", "greg_difference_lm_r")
    assert out.rows[0].estimate == pytest.approx(want, abs=1e-10)
    items = labelled_items(d.judge_a - d.judge_b, d.human_a - d.human_b, kind="score", where="t")
    ppi = reference.value("two_systems", "difference_ppi_plusplus")
    assert ppi_mean(items).estimate == pytest.approx(ppi["point"], abs=1e-10)
    assert out.rows[0].p_adjusted < 0.001


def null_judge(rng, n, n_labels):
    """Equal systems; the second writes longer and the judge passes what is long."""
    y = rng.random((n, 2)) < 0.7
    long = np.column_stack([rng.random(n) < 0.2, rng.random(n) < 0.8])
    f = np.where(long & (rng.random((n, 2)) < 0.6), True, np.where(rng.random((n, 2)) < 0.1, ~y, y))
    human = np.where(np.arange(n)[:, None] < n_labels, y, np.nan)
    return f, human


def test_a_judge_that_likes_length_makes_false_claims_and_the_correction_none():
    rng = np.random.default_rng(11)
    corrected = alone = 0
    runs = 300
    for _ in range(runs):
        f, human = null_judge(rng, 400, 100)
        out = stats.corrected_differences(f, human, names=["a", "b"], labels_drawn="random")
        corrected += out.rows[0].p_adjusted < 0.05
        d = f[:, 0].astype(float) - f[:, 1]
        alone += abs(d.mean()) > 1.96 * d.std() / math.sqrt(d.size)
    assert alone / runs > 0.9
    assert corrected / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


def test_ranks_are_ranges_and_labels_by_verdict_are_refused():
    rng = np.random.default_rng(1)
    y = rng.random((600, 3)) < np.array([0.9, 0.6, 0.58])
    f = np.where(rng.random((600, 3)) < 0.1, ~y, y)
    human = np.where(np.arange(600)[:, None] < 200, y, np.nan)
    out = stats.corrected_differences(f, human, names=list("xyz"), labels_drawn="random")
    assert out.details["rank_ranges"] == {"x": (1, 1), "y": (2, 3), "z": (2, 3)}
    assert set(out.details["win_rates"]) == {"x - y", "x - z", "y - z"}
    assert out.details["win_rates"]["x - y"].estimate > 0.6
    with pytest.raises(InputError, match="at random"):
        stats.corrected_differences(f, human, names=list("xyz"), labels_drawn="by-verdict")
    none = stats.corrected_differences(f, human, names=list("xyz"), labels_drawn="convenience")
    assert "picked by hand" in none.rows[0].reason


def test_win_rate_is_corrected_by_class_and_orders_are_averaged():
    rng = np.random.default_rng(5)
    truth = rng.choice(["win", "tie", "loss"], 3000, p=[0.5, 0.2, 0.3])
    judged = np.where(rng.random(3000) < 0.3, "win", truth)
    human = [t if i < 600 else None for i, t in enumerate(truth)]
    out = stats.corrected_win_rate(judged, human, labels_drawn="random")
    true = np.mean([{"win": 1, "tie": 0.5, "loss": 0}[t] for t in truth])
    assert out.interval.low <= true <= out.interval.high
    assert out.details["judge"] > true + 0.08
    both = stats.corrected_win_rate([["win", "loss"], ["win", "win"]] * 20, ["tie", "win"] * 20)
    assert both.details["judge"] == pytest.approx(0.75)
    assert {c["class"] for c in both.details["classes"]} == {"tie", "pass"}
    with pytest.raises(InputError, match="not one of win, tie and loss"):
        stats.corrected_win_rate(["won"], ["win"])


def test_slices_are_tested_against_the_rest_and_small_ones_have_no_estimate():
    rng = np.random.default_rng(2)
    name = np.repeat(["code", "prose", "rare"], [150, 150, 6])
    y = rng.random(306) < 0.5
    f = np.where(rng.random(306) < np.where(name == "code", 0.4, 0.05), ~y, y)
    for cluster in (None, np.arange(306) // 3):
        out = stats.error_rates_by_slice(f, y, name, cluster=cluster)
        code, prose, rare = out.rows
        assert code.p_adjusted < 0.001
        assert code.estimate < -0.2
        assert prose.p_adjusted < 0.001
        assert "at least 10" in rare.reason
        assert math.isnan(out.details["rates"]["rare"].estimate)
    sensitivity = stats.error_rates_by_slice(f, y, name, measure="sensitivity")
    assert sensitivity.rows[0].n == int(y[:150].sum())


@pytest.mark.parametrize("runs", [80, pytest.param(200, marks=pytest.mark.study)])
def test_equal_slices_are_rarely_told_apart(runs):
    rng = np.random.default_rng(9)
    claims = 0
    for _ in range(runs):
        y = rng.random(240) < 0.5
        f = np.where(rng.random(240) < 0.2, ~y, y)
        out = stats.error_rates_by_slice(f, y, np.arange(240) % 6)
        claims += any(r.p_adjusted < 0.05 for r in out.rows)
    assert claims / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
