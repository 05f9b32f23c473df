"""Where one item holds all scatter, no bound is told and none is kept: memory, streams, plans."""

import csv
import math
import re

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.pytest_plugin import held_judge
from judgestats.results import plain_text, print_of, write_csv
from judgestats.results.verdict_screen import verdict_screen

LOST = ("reliability.icc1.a", "reliability.alpha.a", "sd.all/b:a", "gmd.all/b:a")


@pytest.fixture(scope="module")
def judged():
    """Two judges of 12 items of 6 questions: one item holds nearly all scatter."""
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "item_id": f"i{i}",
            "cluster": f"q{i % 6}",
            "judge": judge,
            "replicate": r,
            "score": float(score),
            "status": "ok",
        }
        for judge in "ab"
        for i in range(12)
        for r, score in enumerate(
            rng.integers(1, 11, 3) if i == 0 else 8 + (i % 3 == 0) + (rng.random(3) < 0.03)
        )
    )


@pytest.fixture(scope="module")
def results(judged):
    return js.audit(judged, n_resamples=19).analysis.records()


def test_the_estimate_stays_and_the_note_says_what_holds_the_scatter(results):
    for name in LOST:
        record = results[name]
        assert math.isfinite(record.estimate), name
        assert record.interval is None, name
        assert record.not_estimable, name
        [message] = [n.message for n in record.notes if n.code == "not_estimable"]
        assert "not estimable at this size" in message
        known = (
            "One of 6 clusters carries",
            "Without one of the 6",
            "Too few items vary (2 of 12)",
        )
        assert any(why in message for why in known)
        assert record.reason, name
        assert record.reason[1:] in message
    assert results["gmd.all/b:a"].reason.startswith("too few items vary (2 of 12) to bound the ")
    assert "undefined" not in print_of(results["gmd.all/b:a"], results)


def test_the_sem_has_its_interval_up_to_half_the_range_and_its_tail_bound(judged):
    """Few effective items are no refusal: that keeps the samples that saw no wild reply."""
    frame = judged.assign(score=judged["score"].clip(1, 10))
    results = js.audit(frame.to_dict("records"), scale=(1, 10), n_resamples=19).run.records
    for judge in "ab":
        sem, tail = (results.estimate(f"condition.{k}.{judge}") for k in ("sem", "sem_tail"))
        assert sem.interval.low < sem.estimate < sem.interval.high == 4.5
        assert tail.estimate == 4.5
        assert (sem.reason, sem.not_estimable, tail.reason) == ("", False, "")
    screen = plain_text(verdict_screen(results))
    assert re.search(
        r"^SEM in these runs \(points\) .*\nSEM tail bound \(points\)( +4\.50){2} +-\s*$",
        screen,
        re.M,
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_sem_of_any_repeats_is_that_of_the_public_function(seed):
    """On whatever few items it rests."""
    rng = np.random.default_rng(seed)
    x = 5 + (rng.random((30, 3)) < 0.03) * rng.integers(1, 6, (30, 3)).astype(float)
    x[0] = [5, 6, 5]
    x[1] = [5, 5, 7]
    rows = [
        {"item_id": f"i{i}", "judge": "a", "replicate": r, "score": x[i, r]}
        for i in range(30) for r in range(3)
    ]  # fmt: skip
    results = js.audit(rows, scale=(1, 10), n_resamples=19).run.records
    sem = results["condition.sem.a"]
    known = js.stats.repeat_pairs(x, scale=(1, 10)).sem()
    assert sem.interval.low == pytest.approx(known.low, rel=1e-9)
    assert sem.interval.high == pytest.approx(known.high, rel=1e-9)


def test_streams_say_the_same(judged, results, tmp_path):
    judged.to_parquet(tmp_path / "part.parquet", index=False)
    streamed = js.audit(js.read_judgments(tmp_path, stream="yes")).run.records
    for name in LOST:
        assert streamed[name].interval is None, name
        assert streamed[name].notes[-1] == results[name].notes[-1], name


def test_screen_csv_and_metrics_have_no_ends(results, tmp_path):
    text = plain_text(verdict_screen(results))
    assert "(no CI)" in text
    write_csv(tmp_path / "results.csv", results)
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    for name in LOST:
        assert rows[name]["conf_low"] == rows[name]["conf_high"] == "", name
        assert "not_estimable" in rows[name]["notes"], name
    assert math.isnan(results.condition_metrics["a"]["ci/reliability/icc1.lo"])


@pytest.mark.parametrize("required", ["reliability>=.01", "reliability/icc1>=.01"])
def test_no_requirement_holds_and_the_gate_says_why(judged, required):
    gate = js.check(judged, require=required, n_resamples=19)
    assert [v.subject.judge for v in gate.verdicts] == ["a", "b"]
    for verdict in gate.verdicts:
        assert verdict.outcome == "CANNOT_TELL"
        assert verdict.requirements[0].status == "open"
        assert "not estimable" in verdict.sentence
    assert gate.exit_code == 3
    with pytest.raises(AssertionError, match="not estimable"):
        held_judge(judged, require=required, n_resamples=19)


def test_a_family_that_cannot_reach_its_level_is_told_so():
    rng = np.random.default_rng(0)
    few = pd.DataFrame(
        {"item_id": f"i{i}", "judge": judge, "replicate": r, "score": 6 + round(rng.normal(0, sd))}
        for judge, sd in (("a", 0.3), ("b", 3.0))
        for i in range(5)
        for r in range(5)
    )
    results = js.audit(few, n_resamples=19).analysis.records()
    [spread] = [h for h in results.headlines if h.hypothesis == "spread"]
    [pair] = results.members(results["gmd.all"])
    assert pair.p == pytest.approx(1 / 16) == pytest.approx(pair.details["p_floor"])
    assert (spread.claim, spread.p_bound) == ("open", True)
    assert spread.p_adjusted == 0.125
