"""SEM and ICC of a judge under its own runs, and what needs the ends of the scale."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judgestats import audit, check, read_judgments
from judgestats.cli import main


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


def test_icc_without_shifts_is_shown_where_runs_are_shown_to_differ():
    by_id, results = records(judged({"calm": 0.0, "moody": 1.2}, seed=2, scale=(1, 10)))
    assert "condition.icc_3_1.moody" in by_id
    assert "condition.icc_3_1.calm" not in by_id
    row = next(r for r in results.rows if r.key == "icc_3_1")
    assert list(row.cells) == ["moody"]
    keys = [r.key for r in results.rows]
    assert keys.index("icc_3_1") == keys.index("reliability") + 1
    one, three = by_id["reliability.icc1.moody"], by_id["condition.icc_3_1.moody"]
    assert three.estimate > one.estimate
    assert three.interval.low < three.estimate < three.interval.high


def test_too_few_runs_of_a_judge_say_that_its_sem_holds_in_them():
    by_id, _ = records(judged({"a": 0.0, "b": 0.0}, runs=3, scale=(1, 10)))
    sem = by_id["condition.sem.a"]
    assert sem.details["target"] == "these runs"
    assert "Three runs do not measure between-run noise" in sem.notes[-1].message
    many, _ = records(judged({"a": 0.0, "b": 0.0}, runs=12, scale=(1, 10)))
    assert "target" not in many["condition.sem.a"].details


def test_without_a_stated_scale_tail_bounds_have_a_reason():
    by_id, results = records(judged({"a": 0.0}))
    for key in ("sem_tail", "far_share", "icc_tail", "sem_core"):
        record = by_id[f"condition.{key}.a"]
        assert math.isnan(record.estimate)
        assert "ends of the scale" in record.reason
    assert math.isfinite(by_id["condition.gmd.a"].estimate)
    assert "no_scale" in {note.code for note in results.limitations}


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
