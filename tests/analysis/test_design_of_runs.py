"""SEM and ICC of a judge under its own runs, and what needs the ends of the scale."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats import audit, check, read_judgments, score_array
from judgestats.cli import main
from judgestats.stats import leniency, run_component


def judged(shifts, *, seed=1, runs=6, items=40, noise=0.6, scale=None):
    """Scores of judges in runs that share shifts of these SDs."""
    rng = np.random.default_rng(seed)
    rows = []
    means = rng.normal(6, 1.5, items)
    for judge, shift in shifts.items():
        of_run = shift * rng.normal(size=runs)
        for i in range(items):
            for r in range(runs):
                x = means[i] + of_run[r] + rng.normal(0, noise)
                rows.append({"judge": judge, "item": f"i{i}", "repeat": r,
                             "score": float(np.clip(round(x), 1, 10))})  # fmt: skip
    return read_judgments(rows, **({"scale": scale} if scale else {}))


def records(frame):
    found = audit(frame, n_resamples=99)
    return {r.id: r for r in found.run.records.results}, found.run.records


@pytest.mark.parametrize(("tail", "status"), [("plain", "holds"), ("strict", "open")])
def test_strict_compares_the_tail_bound(tail, status):
    frame = judged({"a": 0.0}, runs=4, items=80, scale=(1, 10))
    gate = check(frame, require="sem=0.8,icc_1_1=.7", tail=tail, n_resamples=99)
    by_key = {r.key: r for r in gate.verdicts[0].requirements}
    assert by_key["sem"].status == status
    bound = gate.results.estimate("condition.sem_tail.a")
    assert (by_key["sem"].high == pytest.approx(bound.interval.high)) == (tail == "strict")
    assert "SEM tail bound" in "".join(s.text for line in gate.lines() for s in line)


def test_a_strict_limit_without_a_scale_cannot_be_told(tmp_path, capsys):
    frame = judged({"a": 0.0}, runs=4)
    path = tmp_path / "judged.csv"
    frame[["judge", "item_id", "replicate", "score"]].to_csv(path, index=False)
    assert main(["check", str(path), "--require", "sem=2", "--tail", "strict"]) == 3
    assert "--scale 1-10" in capsys.readouterr().out
    assert main(["check", str(path), "--require", "sem=2"]) == 0


def test_missing_replies_move_no_run_of_a_leniency():
    frame = judged({"a": 1.0, "b": 1.0}, runs=5, scale=(1, 10))
    missing = frame[~(frame["replicate"].eq(0) & frame["item_id"].isin(["i0", "i1", "i2"]))]
    by_id, _ = records(missing)
    scores = score_array(missing).scores
    expected = leniency(scores, runs=run_component(scores)).terms[0].interval
    ends = by_id["instrument.leniency.a"].interval
    assert (ends.low, ends.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_fewer_than_two_effective_questions_have_no_interval():
    frame = judged({"moody": 1.2}, seed=2, scale=(1, 10))
    frame["cluster"] = frame["item_id"].map(lambda name: name if name in {"i1", "i2"} else "rest")
    by_id, results = records(frame)
    for key in ("condition.sem.moody", "reliability.icc1.moody"):
        assert by_id[key].interval is None
    said = {n.code: n.message for n in results.limitations}
    assert said["no_clusters"] == "No interval: 2 questions, effectively 1.1."
