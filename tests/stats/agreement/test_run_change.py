"""Change between two runs, beyond what repetition does."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import run_change
from judgestats.stats.inference import weighted_holm, weighted_levels


def verdicts(rng: np.random.Generator, p: np.ndarray, r: int = 3) -> np.ndarray:
    return np.where(rng.random((p.size, r)) < p[:, None], "good", "bad").astype(object)


def test_an_unchanged_rerun_as_baseline_takes_item_by_run_noise_away() -> None:
    rng = np.random.default_rng(4)
    plain, beyond = 0, 0
    for _ in range(60):
        p = rng.random(60) * 0.6 + 0.2
        runs = [verdicts(rng, np.clip(p + 0.15 * rng.normal(size=60), 0, 1), r=5) for _ in range(4)]
        plain += run_change(*runs[:2], kind="verdicts").p_value <= 0.05
        out = run_change(*runs[:2], kind="verdicts", baseline=(runs[2], runs[3]))
        beyond += out.p_value <= 0.05
    assert plain / 60 > 0.1
    assert beyond / 60 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.parametrize("target", ["new items", "these items"])
def test_drift_of_each_target_is_that_of_two_codes(declared, target) -> None:
    rows = declared.data("drift12q")
    scores, clusters = declared.cube("drift12q")
    assert len(rows) == scores.size
    expected = declared.value("drift12q", target.replace(" ", "_"))
    out = run_change(scores[:, 0], scores[:, 1], kind="scores", cluster=clusters, target=target)
    effect = out.effects[0]
    ours = [effect.estimate, effect.std_error, out.df["df"], out.p_value,
            effect.interval.low, effect.interval.high]  # fmt: skip
    theirs = [expected[k] for k in ("estimate", "se", "df", "p")] + expected["ci"]
    assert ours == pytest.approx(theirs, rel=1e-8)


@pytest.mark.parametrize("kind", ["scores", "flips", "verdicts"])
def test_p_is_small_exactly_where_the_interval_leaves_out_nothing(kind) -> None:
    rng = np.random.default_rng(6)
    for _ in range(1000):
        p = rng.random(25)
        moved = np.clip(p + rng.normal(0, 0.2, 25) + rng.choice([0, 0.1]), 0, 1)
        runs = [(rng.random((25, 3)) < q[:, None]).astype(float) for q in (p, moved)]
        targets = ("new items", "these items") if kind == "scores" else ("new items",)
        for target in targets:
            out = run_change(*runs, kind=kind, target=target)
            interval = out.effects[0].interval
            excluded = (
                interval.low > 0 if kind == "verdicts" else not (interval.low <= 0 <= interval.high)
            )
            assert (out.p_value <= 0.05) == excluded


def test_equality_needs_an_interval_inside_the_margin() -> None:
    rng = np.random.default_rng(7)
    item = rng.normal(7, 1, (80, 1))
    before, after = item + 0.2 * rng.normal(size=(2, 80, 3))
    wide = run_change(before, after, kind="scores", margin=0.2, level=0.9)
    tight = run_change(before, after, kind="scores", margin=0.001, level=0.9)
    for out in (wide, tight):
        interval, margin = out.effects[0].interval, out.details["margin"]
        inside = -margin < interval.low and interval.high < margin
        assert (out.details["p_equivalent"] < 0.05) == inside
    assert wide.details["p_equivalent"] < 0.05 < tight.details["p_equivalent"]
    with pytest.raises(InputError, match="these items can be the target"):
        run_change(before, after, kind="flips", target="these items")
    once = run_change(before[:, :1], after[:, :1], kind="scores", target="these items")
    assert "two repeats" in once.reason


def test_the_same_judge_twice_has_not_changed() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(150):
        p = rng.beta(0.5, 0.5, 40)
        out = run_change(verdicts(rng, p), verdicts(rng, p), kind="verdicts")
        found += out.p_value <= 0.05
        assert abs(out.effects[0].estimate) < 0.2
    assert found / 150 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize(("moved", "least", "most"), [(0.15, 0.9, 1.0), (0.0, 0.0, 0.08)])
def test_a_rate_that_leads_the_family_is_found_like_a_paired_t(moved, least, most) -> None:
    rng = np.random.default_rng(8)
    ours, alone, n = 0, 0, 200
    for _ in range(n):
        p = rng.random(80)
        one, two = ((rng.random((80, 3)) < np.clip(q, 0, 1)[:, None]).astype(float)
                    for q in (p, p + moved))  # fmt: skip
        rate, flips = (run_change(one, two, kind=k).p_value for k in ("scores", "flips"))
        adjusted = weighted_holm([rate, flips], [0.8, 0.2])
        ours += bool((adjusted <= 0.05).any())
        alone += rate <= 0.05
        for raw, level, p_adjusted in zip(
            [rate, flips], weighted_levels([rate, flips], [0.8, 0.2]), adjusted, strict=True
        ):
            assert (p_adjusted <= 0.05) == (raw <= 1 - level)
    assert least <= ours / n <= most
    assert ours >= alone - 0.03 * n
