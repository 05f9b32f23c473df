"""SEM and ICC of a judge under its own runs, and what needs the ends of the scale."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from judgestats import audit, check, read_judgments, score_array
from judgestats.cli import main
from judgestats.results import plain_text
from judgestats.results.verdict_screen import verdict_screen
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
    by_id, results = records(judged({"a": 0.0, "b": 0.0}, runs=3, scale=(1, 10)))
    sem = by_id["condition.sem.a"]
    assert sem.details["target"] == "these runs"
    assert "Three runs do not measure between-run noise" in sem.notes[-1].message
    assert by_id["reliability.icc1.a"].details["target"] == "these runs"
    screen = plain_text(verdict_screen(results)).splitlines()
    assert any(line.startswith("ICC(1,1) in these runs ") for line in screen)
    many, _ = records(judged({"a": 0.0, "b": 0.0}, runs=12, scale=(1, 10)))
    for key in ("condition.sem.a", "reliability.icc1.a"):
        assert "target" not in many[key].details


def test_without_a_stated_scale_tail_bounds_have_a_reason():
    by_id, results = records(judged({"a": 0.0}))
    for key in ("sem_tail", "far_share", "icc_tail", "sem_core"):
        record = by_id[f"condition.{key}.a"]
        assert math.isnan(record.estimate)
        assert "ends of the scale" in record.reason
    assert math.isfinite(by_id["condition.gmd.a"].estimate)
    assert "no_scale" in {note.code for note in results.limitations}


def test_claims_of_two_runs_say_that_they_hold_in_these_runs():
    frame = judged({"a": 0.0, "b": 0.0}, runs=2, scale=(1, 10))
    frame.loc[frame["judge"].eq("b"), "score"] = (frame["score"] + 1).clip(1, 10)
    by_id, results = records(frame)
    assert results.members(by_id["shift.all"])[0].details["target"] == "these runs"
    assert "on the same items in these runs: " in plain_text(verdict_screen(results))
    assert by_id["instrument.leniency.a"].details["target"] == "these runs"
    caveats = {c.code: c.text for v in results.verdicts for c in v.caveats}
    upper = results.members(by_id["shift.all"])[0].details["run_sd_upper"]
    told = f"for these runs only: a run shift of SD up to {upper:.2f} cannot be excluded."
    assert told in caveats["these_runs"]
    lines = plain_text(verdict_screen(results)).splitlines()
    [head] = [line for line in lines if line.startswith("In these runs")]
    assert head.split()[-1] == "Needed"
    assert any(line.startswith("SEM in these runs (points)") for line in lines)


def test_five_runs_of_two_judges_hold_in_any_runs():
    frame = judged({"a": 0.0, "b": 0.0}, runs=5, scale=(1, 10))
    frame.loc[frame["judge"].eq("b"), "score"] = (frame["score"] + 1).clip(1, 10)
    _, results = records(frame)
    screen = plain_text(verdict_screen(results))
    assert "these runs" not in screen.lower()
    assert "SEM tail bound" in screen
    assert "Far share" not in screen
    assert "Runs differ" not in screen


def test_a_screen_says_what_shifts_of_runs_its_errors_include():
    by_id, results = records(judged({"a": 1.0, "b": 1.0}, runs=8, scale=(1, 10)))
    sd = results.members(by_id["shift.all"])[0].details["run_sd"]
    told = f"Runs differ by SD {sd:.2f} (included). Interleave repeats."
    assert told in " ".join(plain_text(verdict_screen(results)).split())


def test_where_one_score_dominates_the_flip_rate_replaces_the_icc():
    rng = np.random.default_rng(3)
    rows = [{"judge": "a", "item": f"i{i}", "repeat": r, "score": 10.0 if rng.random() < 0.9 else 9}
            for i in range(40) for r in range(5)]  # fmt: skip
    by_id, results = records(read_judgments(rows, scale=(1, 10)))
    icc, flips = by_id["reliability.icc1.a"], by_id["reliability.flip_rate.a"]
    x = np.array([row["score"] for row in rows]).reshape(40, 5)
    pairs = (x[:, :, None] != x[:, None, :]).sum(axis=(1, 2)) / 20
    assert flips.estimate == pytest.approx(pairs.mean(), rel=1e-12)
    assert flips.interval.low < flips.estimate < flips.interval.high
    assert icc.interval is None
    ends = f"{100 * flips.interval.low:.0f}, {100 * flips.interval.high:.0f}"
    said = f"flip rate {100 * flips.estimate:.0f}% [{ends}] and far share"
    assert f"an ICC interval does not cover; see {said}" in icc.details["refused"]
    assert math.isnan(by_id["repeats.needed.a"].estimate)
    [verdict] = results.verdicts
    assert verdict.outcome == "CANNOT_TELL"
    assert icc.details["refused"] in verdict.sentence
    assert any(row.key == "flips" for row in results.rows)
    screen = plain_text(verdict_screen(results))
    assert screen.index("Flip rate  ") < screen.index("Mean score")
    assert "Far share  " in screen


def test_every_claim_of_two_runs_names_these_runs():
    frame = judged({"a": 0.0, "b": 0.0}, runs=2, scale=(1, 10))
    moved = frame["score"] + np.random.default_rng(1).choice([0, 1, 3], len(frame))
    frame.loc[frame["judge"].eq("b"), "score"] = moved.clip(1, 10)
    _, results = records(frame)
    claims = [r for r in results.results if getattr(r, "p", math.nan) <= 0.05]
    assert {"spread.all", "ranks.all", "gmd.all/b:a", "shift.all/b:a"} <= {r.id for r in claims}
    assert {r.details.get("target") for r in claims} == {"these runs"}


def test_all_results_say_what_runs_add_and_what_more_of_them_would_save(tmp_path, capsys):
    path = tmp_path / "judged.csv"
    words = ["analyze", str(path), "--all", "--track", "none", "--report", "none"]
    told = []
    for runs, shift in ((4, 0.5), (7, 0.0)):
        frame = judged({"a": shift, "b": shift}, runs=runs)
        frame[["judge", "item_id", "replicate", "score"]].to_csv(path, index=False)
        assert main([*words, "--resamples", "99"]) == 0
        told.append(" ".join(capsys.readouterr().out.split()))
    assert re.search(r"\. Runs differ by SD 0\.\d\d \(included\)\.", told[0])
    assert re.search(r" 5 runs per judge would narrow this interval by \d+%\.", told[0])
    assert re.search(r"\. No run effect found \(SD at most 0\.\d\d\)\.", told[1])
    assert "would narrow" not in told[1]


def test_runs_with_many_missing_replies_hold_in_these_runs():
    frame = judged({"moody": 1.2}, seed=2, scale=(1, 10))
    whole, _ = records(frame)
    assert whole["condition.sem.moody"].sample.n_items == 40
    rng = np.random.default_rng(5)
    few = frame[rng.random(len(frame)) > 0.15]
    assert records(few)[0]["condition.sem.moody"].details["target"] == "these runs"
    one = frame[~(frame["item_id"].eq("i3") & frame["replicate"].eq(0))]
    sem = records(one)[0]["condition.sem.moody"]
    assert (sem.sample.n_items, sem.sample.excluded) == (39, {"a run misses it": 1})


def test_judges_used_interchangeably_need_their_own_agreement():
    rng = np.random.default_rng(4)
    means = rng.normal(6, 1.5, 40)
    rows = [{"judge": j, "item": f"i{i}", "score": float(np.clip(round(m + rng.normal()), 1, 10))}
            for j in "abc" for i, m in enumerate(means)]  # fmt: skip
    frame = read_judgments(rows, scale=(1, 10))
    by_id, results = records(frame)
    these, others = by_id["judges.icca"], by_id["judges.icc2"]
    assert these.estimate == others.estimate
    assert these.interval.low > others.interval.low
    [panel] = [v for v in results.verdicts if v.purpose == "panel"]
    [required] = panel.requirements
    assert (required.key, required.low) == ("icc_a_1", these.interval.low)
    gate = check(frame, require="icc_2_1=.2,icc_a_1=.3", n_resamples=99)
    [asked] = gate.verdicts
    assert {r.key: r.low for r in asked.requirements} == {
        "icc_a_1": these.interval.low, "icc_2_1": others.interval.low,
    }  # fmt: skip
    _, two = records(read_judgments([r for r in rows if r["judge"] != "c"], scale=(1, 10)))
    said = [n.message for n in two.limitations if n.code == "two_judges"]
    assert said[0].startswith("Two judges do not determine the variance of judges; ICC(A,1) of")
    assert np.isfinite(two.estimate("judges.icca").interval.low)


def test_judges_with_repeats_have_an_agreement_of_one_judgment():
    rng = np.random.default_rng(4)
    means = rng.normal(6, 1.5, 40)
    rows = [
        {"judge": j, "item": f"i{i}", "repeat": r,
         "score": float(np.clip(round(m + rng.normal()), 1, 10))}
        for j in "abc" for i, m in enumerate(means) for r in range(3)
    ]  # fmt: skip
    frame = read_judgments(rows, scale=(1, 10))
    _, results = records(frame)
    assert not [v for v in results.verdicts if v.purpose == "panel"]  # it is not asked for
    [verdict] = check(frame, require="icc_a_1=.4", n_resamples=99).verdicts
    [required] = verdict.requirements
    own = results.estimate("between_judges.all")
    assert (verdict.purpose, required.key, required.low) == ("panel", "icc_a_1", own.interval.low)
    assert 0.4 < own.estimate < 0.8
    alone = read_judgments([row for row in rows if row["judge"] == "a"], scale=(1, 10))
    [verdict] = check(alone, require="icc_a_1=.4", n_resamples=99).verdicts
    assert (verdict.subject.label, verdict.outcome) == ("the judge", "CANNOT_TELL")


def test_a_file_states_that_its_repeats_are_interleaved():
    frame = judged({"a": 1.0, "b": 1.0}, runs=5, scale=(1, 10))
    rows = frame[["item_id", "judge", "replicate", "score"]].to_dict("records")
    for order, is_random in (("interleaved", False), ("by repeat", True)):
        table = [row | {"request_order": order} for row in rows]
        by_id, results = records(read_judgments(table, scale=(1, 10)))
        shift = results.members(by_id["shift.all"])[0]
        assert (shift.details["run_sd"] > 0) == is_random
        assert shift.details["target"] == ""
