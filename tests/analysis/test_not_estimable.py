"""Where one item holds all scatter, no bound is told and none is kept: memory, streams, plans."""

import math

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.pytest_plugin import held_judge
from judgestats.results import print_of

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


def test_streams_say_the_same(judged, results, tmp_path):
    judged.to_parquet(tmp_path / "part.parquet", index=False)
    streamed = js.audit(js.read_judgments(tmp_path, stream="yes")).run.records
    for name in LOST:
        assert streamed[name].interval is None, name
        assert streamed[name].notes[-1] == results[name].notes[-1], name


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
