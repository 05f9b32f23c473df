"""Judge or system: reference values, the state in SQLite, kills, exit codes, and texts."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.decisions import ChangeMonitor
from judgestats.errors import InputError, StoreError
from judgestats.stats.validity import sequential as process
from tests.analysis.decisions.reference import agree, data, expected

STREAM = data("dec_stream")


def opened(path: Path, **options) -> ChangeMonitor:
    """A state with the reference of the stream."""
    reference, old = data("dec_reference"), data("dec_old").iloc[0]
    monitor = ChangeMonitor(path)
    monitor.open(
        {str(r["item"]): r[["r1", "r2", "r3"]].tolist() for _, r in reference.iterrows()},
        old=[1] * int(old["passes"]) + [0] * int(old["n"] - old["passes"]), **options,
    )  # fmt: skip
    return monitor


def period(t: int) -> tuple[list[tuple[str, float]], list[float]]:
    own = STREAM[STREAM["period"] == t]
    anchors = own[own["kind"] == "anchor"]
    pairs = list(zip(anchors["item"].astype(str), anchors["value"].astype(float), strict=True))
    return pairs, own.loc[own["kind"] == "new", "value"].astype(float).tolist()


def test_reference_values(tmp_path):
    monitor = opened(tmp_path / "m.db")
    for t in range(1, 21):
        made = monitor.add_period(*period(t))
    base = data("dec_reference")[["r1", "r2", "r3"]].mean(axis=1).to_numpy()
    again = STREAM[STREAM["kind"] == "anchor"]
    n, total = (np.bincount(again["item"] - 1, w, minlength=200) for w in (None, again["value"]))
    shift, variance = process.anchor_shift(n.astype(float), total, base, np.full(200, 3.0))
    agree("dec_stream", {
        "judge_shift_all": made.judge.shift, "judge_shift_variance_all": variance,
        "system_shift_all": made.system.shift,
        "log_mixture_.1_.0005": process.log_mixture(0.1, 0.0005),
        "log_e_judge": [one[1] for one in made.series], "threshold": made.judge.threshold,
        "log_e_system": [one[2] for one in made.series],
        "judge_said_in": made.judge.raised, "system_said_in": made.system.raised,
    })  # fmt: skip
    assert shift == pytest.approx(made.judge.shift, abs=1e-12)
    assert made.verdict == "both"
    record = made.to_dict()
    assert (record["kind"], record["verdict"]) == ("change", "both")
    assert record["reference"] == {"anchors": 200, "repeats": 3.0, "n_old": 2000}


def test_an_anchor_never_tells_more_than_its_old_judgments():
    base, repeats = np.full(30, 0.5), np.full(30, 3.0)
    variances = []
    for k in (1, 3, 10, 1000):
        n = np.full(30, float(k))
        total = n * (0.5 + np.where(np.arange(30) % 2, 0.1, -0.1))
        variances.append(float(process.anchor_shift(n, total, base, repeats)[1]))
    assert min(variances) > 0.3 * variances[0]


def test_the_mixture_over_starts_begins_at_one_and_its_interval_is_its_inverse():
    assert float(process.mixed_over_starts(np.full(5, -np.inf))) == pytest.approx(-math.log(6))
    assert float(process.mixed_over_starts(np.zeros(7))) == pytest.approx(0)
    low, high = process.mixture_limits(-0.13, 0.0005, 3.689)
    for end in (low, high):
        assert float(process.log_mixture(-0.13 - end, 0.0005)) == pytest.approx(3.689, abs=1e-9)


@pytest.mark.parametrize("last", [20, 10])
def test_an_alarm_shows_the_interval_that_decides_it(tmp_path, last):
    rng = np.random.default_rng(5)
    true = rng.uniform(0.4, 1, 150)
    monitor = ChangeMonitor(tmp_path / "m.db")
    monitor.open({f"a{i}": (rng.random(3) < true[i]).astype(int).tolist() for i in range(150)})
    alarms = []
    for t in range(1, 21):
        moved = 0.3 if 8 <= t <= last else 0.0
        again = [(f"a{i}", int(rng.random() < true[i] - moved)) for i in rng.choice(150, 20, False)]
        made = monitor.add_period(again, [])
        if made.verdict == "judge":
            alarms.append(made.judge)
    assert len(alarms) >= 9
    assert any(one.low < 0 < one.high for one in alarms)  # the mean over all periods
    if last == 20:
        assert all(one.change.low < -0.3 < one.change.high < 0 for one in alarms)
        assert f"], on average since period {alarms[-1].since}, on" in " ".join(made.screen())
    else:
        assert alarms[-1].until < 20
        assert f"average in periods {made.judge.since} to {made.judge.until}" in str(made)
        assert not alarms[-1].change.low <= 0 <= alarms[-1].change.high


def test_no_change_is_stated_before_a_start_has_enough_judgments(tmp_path):
    monitor = ChangeMonitor(tmp_path / "m.db")
    monitor.open({f"a{i}": [0.0, 1.0] for i in range(40)})
    made = monitor.add_period([(f"a{i}", 1) for i in range(10)], [])
    assert (made.judge.since, math.isnan(made.judge.change.estimate)) == (0, True)


def test_small_changes_are_reported_and_not_alarmed(tmp_path):
    held = {f"a{i}": [float(i % 2)] * 30 for i in range(400)}
    monitor = ChangeMonitor(tmp_path / "m.db")
    monitor.open(held, tolerance=0.2)
    for _ in range(4):
        made = monitor.add_period(
            [(f"a{i}", float(i % 2) if i % 8 else 1 - float(i % 2)) for i in range(400)], []
        )
    assert made.judge.log_e > made.judge.threshold or abs(made.judge.shift) < 0.2
    assert made.judge.raised == 0


def test_scores_are_scaled_by_their_range(tmp_path):
    rng = np.random.default_rng(0)
    true = rng.uniform(2, 9, 80)
    reference = {f"a{i}": (true[i] + rng.normal(0, 0.5, 3)).clip(1, 10).tolist() for i in range(80)}
    made = {}
    for name, factor in (("points", 1.0), ("tenths", 0.1)):
        r = np.random.default_rng(1)
        monitor = ChangeMonitor(tmp_path / f"{name}.db")
        low, high = factor, 10 * factor
        monitor.open({a: [factor * v for v in x] for a, x in reference.items()}, scale=(low, high))
        for _ in range(6):
            again = [(f"a{i}", factor * float(np.clip(true[i] - 2, 1, 10))) for i in range(40)]
            new = factor * r.uniform(2, 9, 60).clip(1, 10)
            made[name] = monitor.add_period(again, new.tolist())
    assert made["points"].judge.log_e == pytest.approx(made["tenths"].judge.log_e)
    assert made["points"].judge.shift == pytest.approx(10 * made["tenths"].judge.shift)
    assert made["points"].verdict in {"judge", "both"}


def test_what_is_refused_leaves_the_state_as_it_was(tmp_path):
    monitor = opened(tmp_path / "m.db")
    monitor.add_period(*period(1), digest="one")
    before = monitor.verdict().to_dict()
    anchors, new = period(2)
    for wrong, text in (
        (lambda: monitor.add_period(anchors, new, digest="one"), "added to"),
        (lambda: monitor.add_period([("strange", 1.0), *anchors], new), "no anchor is called"),
        (lambda: monitor.add_period(anchors, [*new, 7.0]), "range"),
        (lambda: opened(tmp_path / "m.db"), "is open"),
        (lambda: ChangeMonitor(tmp_path / "few.db").open({"a": [1, 1]}), "at least 20"),
    ):
        with pytest.raises(InputError, match=text):
            wrong()
    assert monitor.verdict().to_dict() == before
    unparsed = monitor.add_period([*anchors[:-1], (anchors[-1][0], math.nan)], [*new, None])
    assert (unparsed.anchors_used, unparsed.new_used) == (39, 120)


def test_another_process_waits_and_then_gives_up(tmp_path):
    monitor = opened(tmp_path / "m.db")
    held = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="Another process holds"):
        monitor.add_period(*period(1))
    held.execute("ROLLBACK")
    held.close()
    assert monitor.add_period(*period(1)).period == 1


ADD = """
import sys
from judgestats.decisions import ChangeMonitor
from tests.analysis.decisions.test_change import period
monitor = ChangeMonitor(sys.argv[1])
print("ready", flush=True)
monitor.add_period(*period(2))
"""


def test_killed_at_any_moment_the_state_is_before_or_after(tmp_path):
    monitor = opened(tmp_path / "m.db")
    monitor.add_period(*period(1))
    before = monitor.verdict().to_dict()
    shutil.copy(tmp_path / "m.db", tmp_path / "after.db")
    after = ChangeMonitor(tmp_path / "after.db").add_period(*period(2)).to_dict()
    draw = random.Random(0)
    seen = set()
    for k in range(3):
        path = tmp_path / f"k{k}.db"
        shutil.copy(tmp_path / "m.db", path)
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
        with subprocess.Popen(
            [sys.executable, "-c", ADD, str(path)], stdout=subprocess.PIPE, env=env
        ) as child:
            child.stdout.readline()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(draw.uniform(0, 0.06))
            child.send_signal(signal.SIGKILL)
        found = ChangeMonitor(path).verdict().to_dict()
        assert found in (before, after)
        seen.add(found["period"])
    assert seen <= {1, 2}


@pytest.fixture
def files(tmp_path):
    reference, old = data("dec_reference"), data("dec_old").iloc[0]
    anchors = reference.melt("item", value_name="value").assign(kind="anchor")
    values = [1] * int(old["passes"]) + [0] * int(old["n"] - old["passes"])
    others = pd.DataFrame({"item": [f"o{i}" for i in range(2000)], "value": values, "kind": "old"})
    columns = ["item", "value", "kind"]
    pd.concat([anchors[columns], others[columns]]).to_csv(tmp_path / "anchors.csv", index=False)
    for t in range(1, 21):
        STREAM[STREAM["period"] == t][columns].to_csv(tmp_path / f"{t}.csv", index=False)
    state = ["--state", str(tmp_path / "m.db"), "--rate", "p=value"]
    return tmp_path, [*state, "--anchors", str(tmp_path / "anchors.csv")]


def test_the_command_opens_adds_alarms_and_reopens(files, capsys):
    folder, words = files
    codes = [main(["monitor", str(folder / f"{t}.csv"), *words]) for t in range(1, 15)]
    assert codes == [0] * 13 + [1]
    out = capsys.readouterr().out
    assert out.startswith("NOT YET  No change of judge or system is detected after 1 period.")
    assert "CHANGED  The judge changed: −.21, 95% CI [−.47, −.01], on average since period" in out
    assert "anchor judgments; false alarm at most 5% over all periods)" in " ".join(out.split())
    assert main(["monitor", str(folder / "15.csv"), *words, "--values", "pass=fail"]) == 2
    assert "--values has no effect with anchors" in capsys.readouterr().err
    assert main(["monitor", str(folder / "14.csv"), *words]) == 2
    assert main(["monitor", str(folder / "15.csv"), *words, "--level", ".9"]) == 2
    assert "opened with alpha 0.05, not 0.1" in capsys.readouterr().err
    assert main(["check", str(folder / "m.db"), "--require", "judge_changed=no"]) == 1
    assert main(["check", str(folder / "m.db"), "--require", "system_changed=no"]) == 0
    more = [*words, "--json", "--chart", str(folder / "change.svg")]
    capsys.readouterr()
    required = ["--require", "system_changed=no"]
    assert main(["monitor", str(folder / "15.csv"), *more, *required]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["judge"]["raised"] == 14
    assert [one[1] for one in record["series"]] == pytest.approx(
        expected("dec_stream", "log_e_judge")[:15].tolist(), abs=1e-12
    )
    assert (folder / "change.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert main(["monitor", str(folder / "anchors.csv"), *words, "--reopen"]) == 0
    capsys.readouterr()
    assert main(["monitor", str(folder / "16.csv"), *words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["period"], record["alpha"], record["earlier"]) == (1, 0.025, ["judge"])
    every = pd.read_csv(folder / "anchors.csv").query("kind == 'anchor'").drop_duplicates("item")
    every.assign(value=0).to_csv(folder / "low.csv", index=False)
    assert main(["monitor", str(folder / "low.csv"), *words]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "false alarm at most 2.5% over all periods of this reference)" in said


def test_labels_of_anchors_say_whether_a_change_hurts(tmp_path):
    rng = np.random.default_rng(3)
    human = {f"a{i}": float(i < 120) for i in range(200)}
    reference = {a: (rng.random(3) < (0.9 if y else 0.1)).astype(int).tolist()
                 for a, y in human.items()}  # fmt: skip

    def streamed(labels, passes):
        monitor = ChangeMonitor(tmp_path / f"{len(list(tmp_path.iterdir()))}.db")
        monitor.open(reference, old=[1] * 1160 + [0] * 840, labels=labels)
        for _ in range(12):
            names = rng.choice(sorted(human), 40, replace=False)
            again = [(a, int(rng.random() < (passes if human[a] else 0.1))) for a in names]
            made = monitor.add_period(again, [1] * 30 + [0] * 30)
        return made

    worse = streamed(human, 0.5)
    assert worse.judge.raised
    assert worse.tpr.raised
    assert worse.tpr.low <= worse.tpr.shift <= worse.tpr.high < 0
    assert not worse.tnr.raised
    assert worse.tpr.threshold == pytest.approx(math.log(4 / 0.05))
    assert "On labelled anchors it hurts: TPR −" in " ".join(worse.screen())
    assert worse.to_dict()["tpr"]["raised"] == worse.tpr.raised
    without = streamed(None, 0.5)
    assert math.isnan(without.tpr.shift)
    assert "labelled" not in " ".join(without.screen())
    same = streamed(human, 0.9)
    assert not same.tpr.raised
    assert not same.tnr.raised
    with pytest.raises(InputError, match="0 or 1"):
        streamed({"a0": 7.0}, 0.9)


def test_labels_come_from_a_column_of_the_anchors(files, capsys):
    folder, words = files
    anchors = pd.read_csv(folder / "anchors.csv")
    means = anchors.groupby("item")["value"].transform("mean")
    anchors["human"] = np.where(anchors["kind"] == "anchor", (means > 0.5).astype(float), np.nan)
    anchors.to_csv(folder / "anchors.csv", index=False)
    for t in (1, 2):
        assert (
            main(["monitor", str(folder / f"{t}.csv"), *words, "--label", "human", "--json"]) == 0
        )
    record = json.loads(capsys.readouterr().out.split("\n}\n")[1] + "\n}")
    assert -1 <= record["tpr"]["shift"] <= 1
    assert -1 <= record["tnr"]["shift"] <= 1


def test_criteria_share_the_error(files, capsys):
    folder, words = files
    more = [*words, "--criteria", "4", "--json"]
    assert main(["monitor", str(folder / "1.csv"), *more]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["alpha"] == 0.0125
    assert record["judge"]["threshold"] == pytest.approx(math.log(2 / 0.0125))
    assert main(["monitor", str(folder / "2.csv"), *words]) == 2
    assert main(["monitor", str(folder / "2.csv"), *words, "--criteria", "0"]) == 2


def test_a_plan_tells_delay_and_floor(files, capsys):
    folder, words = files
    assert main(["monitor", str(folder / "anchors.csv"), *words, "--plan"]) == 0
    out = capsys.readouterr().out
    assert "200 anchors, 3 judgments each, 20 anchors per period" in out
    assert "No judge shift below .06" in out


def test_verdicts_in_words_that_the_reference_does_not_hold_are_no_change(tmp_path, capsys):
    words = ["pass", "fail"]
    anchors, day, other = (tmp_path / f"{name}.csv" for name in ("anchors", "day", "other"))
    items = [f"a{i}" for i in range(30)]
    pd.DataFrame({"item": items * 2, "verdict": words * 30}).to_csv(anchors, index=False)
    pd.DataFrame({"item": items, "verdict": words * 15}).to_csv(day, index=False)
    pd.DataFrame({"item": items, "verdict": ["gut", "schlecht"] * 15}).to_csv(other, index=False)
    state = ["--state", str(tmp_path / "m.db"), "--anchors", str(anchors), "--rate"]
    state.append("pass=verdict:pass")
    assert main(["monitor", str(day), *state]) == 0
    assert main(["monitor", str(other), *state]) == 2
    assert "no row is 'pass'; there are gut, schlecht" in capsys.readouterr().err
    assert len(ChangeMonitor(tmp_path / "m.db").verdict().series) == 1


def test_a_refused_reference_leaves_a_state_that_can_be_opened(files, capsys):
    folder, words = files
    anchors = folder / "anchors.csv"
    held = pd.read_csv(anchors)
    held.head(5).to_csv(anchors, index=False)
    assert main(["monitor", str(folder / "1.csv"), *words]) == 2
    assert "at least 20 anchors" in capsys.readouterr().err
    held.to_csv(anchors, index=False)
    assert main(["monitor", str(folder / "1.csv"), *words]) == 0
    assert capsys.readouterr().out.startswith("NOT YET  No change of judge or system is detected")
