"""What the commands print: one screen, in order; the rest when it is asked for."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis import measured_results
from judgestats.analysis.audit import audit
from judgestats.analysis.drift import drift
from judgestats.analysis.measures import with_measures
from judgestats.api import read_judgments
from judgestats.cli import main
from judgestats.results import plain_text
from judgestats.results.change_screen import change_screen
from judgestats.results.verdict_screen import verdict_screen
from judgestats.runner import announce_progress, finish, show
from judgestats.runner import display as console
from tests.results.screens import assert_screen

GOLDEN = Path(__file__).parent / "golden"


def table(
    path: Path, judges: int, *, shift: float = 0.0, repeats: int = 4, score: str = ""
) -> Path:
    """Scores of so many judges on 15 items, each judge a little noisier than the one before."""
    draw = random.Random(7)
    rows = ["judge,item_id,replicate,score"]
    for j in range(judges):
        for i in range(15):
            for r in range(repeats):
                drawn = 3 + i % 5 + shift + draw.gauss(0, 0.4 + j / 5)
                rows.append(f"judge-{j},i{i},{r},{score or round(min(10, max(1, drawn)))}")
    path.write_text("\n".join(rows) + "\n")
    return path


def audited(path: Path):
    frame = read_judgments(path, scale=(1, 10))
    found = with_measures(audit(frame, n_resamples=99), frame)
    return found.records({"kind": "audit", "title": path.name})


def golden(name: str, text: str) -> None:
    """Hold a screen to its committed text; what changed is seen in the file's difference."""
    expected = (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert text.rstrip("\n") == expected.rstrip("\n")


def test_the_screen_of_an_audit(tmp_path):
    found = audited(table(tmp_path / "two.csv", 2))
    assert_screen(found)
    golden("audit", plain_text(verdict_screen(found)))


def test_the_sem_is_called_the_sd_of_repeated_scores(tmp_path, capsys):
    """Two repeats differ by the root of two times as much; the GMD ratio is of their mean."""
    path = table(tmp_path / "two.csv", 2)
    words = ["analyze", str(path), "--track", "none", "--report", "none", "--resamples", "99"]
    assert main([*words, "--require", "sem<=.7"]) == 0
    screen = capsys.readouterr().out
    shown = re.search(r"SEM in these runs\s+(\S+) \[.*?\]\s+(\S+) \[.*?\]\s+≤ 0.70", screen)
    assert shown is not None
    scores = pd.read_csv(path).pivot(index=["judge", "item_id"], columns="replicate").to_numpy()
    judges = np.split(scores, 2)
    differences = [(x[:, :, None] - x[:, None])[:, ~np.eye(4, dtype=bool)] for x in judges]
    for sem, difference in zip(shown.groups(), differences, strict=True):
        assert float(sem) * 2**0.5 == pytest.approx(np.sqrt(np.mean(difference**2)), abs=0.01)
    far = [np.abs(difference).mean() for difference in differences]
    told = re.search(
        r"Two repeats of judge-1 differ by (\S+) points on average, those of judge-0 by (\S+): "
        r"(\S+) \S+ \S+ times as much\.",
        " ".join(screen.split()),
    )
    assert told is not None
    expected = [far[1], far[0], far[1] / far[0]]
    assert [float(number) for number in told.groups()] == pytest.approx(expected, abs=0.01)


def test_the_screen_of_drift(tmp_path):
    runs = [
        read_judgments(table(tmp_path / f"{s}.csv", 2, shift=s), scale=(1, 10)) for s in (0.0, 0.6)
    ]
    found = drift(*runs, n_resamples=99).records({"kind": "drift", "title": "drift: a to b"})
    golden("drift", plain_text(change_screen({"": found})))


def test_the_screen_of_runs_side_by_side(tmp_path):
    files = [table(tmp_path / f"{name}.csv", 2, shift=s) for name, s in (("may", 0), ("june", 1))]
    golden("compare", str(js.compare(*files, n_resamples=99)))


def test_runs_in_which_nothing_varies_have_no_table(tmp_path):
    files = [table(tmp_path / f"{name}.csv", 1, score="5") for name in ("may", "june")]
    told = str(js.compare(*files, n_resamples=99))
    assert told.startswith("NO CHANGE")
    assert "GMD ratio" not in told


@pytest.mark.parametrize(
    ("judges", "options"),
    [(1, {}), (13, {}), (2, {"repeats": 1}), (1, {"score": "7"})],
    ids=["one judge", "many judges", "judged once", "everything constant"],
)
def test_audits_of_other_kinds_keep_to_a_screen(tmp_path, judges, options):
    found = audited(table(tmp_path / "t.csv", judges, **options))
    assert_screen(found)
    assert plain_text(verdict_screen(found)).startswith(("USE", "DO NOT USE", "CANNOT TELL"))


def test_the_number_that_decides_stands_on_a_crowded_screen(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    rng = np.random.default_rng(5)
    rates = {"alpha": (0.96, 0.93), "beta": (0.9, 0.72), "gamma": (0.94, 0.9)}
    rows = []
    for i in range(150):
        good = bool(rng.random() < 0.6)
        for judge, (tpr, tnr) in rates.items():
            for k in range(3):
                passes = rng.random() < (tpr if good else 1 - tnr)
                rows.append({"item": i, "judge": judge, "repeat": k, "verdict": int(passes),
                             "label": int(good)})  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "judges.csv", index=False)
    main(["analyze", str(tmp_path / "judges.csv"), "--track", "none", "--report", "none"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "CANNOT TELL  alpha, as a gate: Flip rate .12 is too close to .10."
    assert any(line.startswith("Flip rate") for line in lines)
    assert any(line.startswith("Agreement of beta with human labels is lower") for line in lines)
    assert any(line.startswith("Care  alpha: ") and " more items judged" in line for line in lines)
    assert any(line.startswith("judges.csv") and " labels (" in line for line in lines)


@pytest.mark.parametrize(
    ("seed", "said"), [(0, "is too close to .75."), (2, "is not shown to reach .75.")]
)
def test_several_subjects_are_close_to_a_threshold_only_if_each_is(tmp_path, capsys, seed, said):
    rng = np.random.default_rng(seed)  # seed 2: .80 of many items, and .91 of few
    rows = []
    for judge, n, noise in (("a", 80, 0.55), ("b", 9, 0.42)):
        for i in range(n):
            level = rng.normal(5, 1)
            for r in range(3):
                score = round(level + rng.normal(0, noise), 1)
                rows.append({"item": f"{judge}{i}", "judge": judge, "repeat": r, "score": score})
    pd.DataFrame(rows).to_csv(tmp_path / "few.csv", index=False)
    main(["analyze", str(tmp_path / "few.csv"), "--track", "none", "--report", "none"])
    first = capsys.readouterr().out.splitlines()[0]
    assert first == f"CANNOT TELL  a, b, to score single answers: ICC(1,1) {said}"


@pytest.mark.parametrize(
    ("noise", "outcome", "step"), [(0.55, "CANNOT TELL", True), (0.2, "USE WITH CARE", False)]
)
def test_what_decides_stands_in_place_of_few_repeats(tmp_path, capsys, noise, outcome, step):
    rng = np.random.default_rng(0)
    rows = []
    for i in range(80):
        level = rng.normal(5, 1)
        for r in range(3):
            rows.append({"item": i, "judge": "a", "repeat": r,
                         "score": round(level + rng.normal(0, noise), 1)})  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "three.csv", index=False)
    main(["analyze", str(tmp_path / "three.csv"), "--track", "none", "--report", "none"])
    screen = " ".join(capsys.readouterr().out.split())
    assert screen.startswith(outcome)
    assert ("more items suffice" in screen or "No practical number of items" in screen) == step
    assert "few as 3" not in screen


def test_only_the_screen_stands_on_standard_output(capsys, tmp_path):
    found = measured_results(audited(table(tmp_path / "two.csv", 2)), None)
    with console.use_output(console.OutputOptions(form="screen", required=("reliability>=.9",))):
        console.print_status("on the way")
        console.print_verbose("the account")
        show(found, more="judgestats show X")
        finish(found, following=["judgestats show X"])
    said, on_the_way = capsys.readouterr()
    assert on_the_way == "on the way\n"
    assert said.startswith(
        "CANNOT TELL  judge-0, to score single answers: ICC(1,1) .92 is too close"
    )
    assert "\ntwo.csv · 2 judges × 15 items × 4 repeats\n" in said
    assert said.endswith("Next  judgestats show X\n")
    assert "\x1b" not in said


def test_colours_on_a_terminal_only_and_none_where_none_is_wanted(capsys, monkeypatch, tmp_path):
    found = audited(table(tmp_path / "two.csv", 1))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with console.use_output(console.OutputOptions(form="screen")):
        show(found)
    assert "\x1b[" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    with console.use_output(console.OutputOptions(form="screen")):
        show(found)
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) <= 60


def test_programs_get_one_document(capsys, tmp_path):
    found = audited(table(tmp_path / "two.csv", 2))
    with console.use_output(console.OutputOptions(form="json")):
        console.print_result("on the way")
        show(found)
        finish(found)
    said = json.loads(capsys.readouterr().out)
    assert said["brief"]["title"] == "two.csv"
    [line] = [li for li in said["brief"]["lines"] if li["key"] == "reliability"]
    records = {r["id"]: r for r in said["results"]["results"]}
    assert records[line["cells"][0]["record"]]["estimand"] == "icc_1_1"


def test_what_takes_long_is_said(capsys, monkeypatch):
    monkeypatch.setattr("judgestats.runner.display._LATE_S", 0.0)
    with announce_progress("Analysing 10 judgments"):
        import threading

        [timer] = [t for t in threading.enumerate() if isinstance(t, threading.Timer)] or [None]
        if timer is not None:
            timer.join()
    assert capsys.readouterr().err == "Analysing 10 judgments ...\n"


def test_a_run_is_shown_again_and_so_is_one_result(workplace, capsys, tmp_path):
    file = table(tmp_path / "two.csv", 2)
    words = ["analyze", str(file), "--report", "none", "--resamples", "99"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) <= 24
    [run] = re.findall(r"judgestats show (\w+)", said)
    assert main(["show", run]) == 0
    again = capsys.readouterr().out
    assert again.splitlines()[:8] == said.splitlines()[:8]
    assert main(["show", run, "reliability.icc1.judge-1"]) == 0
    shown = capsys.readouterr().out
    assert "ICC(1,1): single-rating reliability" in shown
    assert "conf_low  conf_high" in shown
    assert shown.count("ICC(1,1) =") == 1, "its number is written once"
    assert main(["show", run, "--all"]) == 0
    whole = capsys.readouterr().out
    assert "Limits of these data:" in whole
    assert f"\nNext:\n  judgestats show {run} " in whole
    [folder] = workplace.glob(f"mlruns/*/{run}*/artifacts")
    assert main(["show", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["brief"]["title"] == "Audit of two.csv"
    assert main(["show", run, "relability.icc1"]) == 2
    assert "Did you mean reliability.icc1" in capsys.readouterr().err
    assert main(["show", "0000"]) == 2
    assert "no run begins with '0000'" in capsys.readouterr().err
    assert main([*words, "--require", "reliabilty>=.8"]) == 2
    assert "Did you mean reliability?" in capsys.readouterr().err
    assert main(["check", run, "--require", "reliability/icc1>=.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] is True


def test_files_are_compared_as_runs_are(workplace, capsys, tmp_path):
    files = [table(tmp_path / f"{name}.csv", 1, shift=s) for name, s in (("a", 0.0), ("b", 0.6))]
    assert main(["drift", *map(str, files), "--resamples", "99", "--fail-if-changed"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("CHANGED")
    assert "a.csv to b.csv" in said.out
    assert f"{files[0]}: " in said.err
    kept = str(tmp_path / "compared")
    assert main(["drift", *map(str, files), "--resamples", "19", "--out", kept]) == 0
    assert f"Results: {kept}" in " ".join(capsys.readouterr().out.split())
    assert Path(kept, "tables", "crosscheck.csv").is_file()
    assert main(["show", kept, "crosscheck"]) == 0
    assert "mean difference" in capsys.readouterr().out
    assert main(["drift", *map(str, files), "--out", "report.html"]) == 2
    assert "`judgestats report FOLDER --out FILE` makes its report" in capsys.readouterr().err
    assert not Path("report.html").exists()


def test_a_key_of_conditions_says_the_number_and_its_bound_of_each(workplace, capsys, tmp_path):
    file = table(tmp_path / "two.csv", 2, repeats=6)
    words = ["analyze", str(file), "--scale", "1-10", "--report", "none", "--resamples", "99"]
    assert main(words) == 0
    said = capsys.readouterr().out
    [run] = re.findall(r"judgestats show (\w+)", said)
    [row] = re.findall(r"^SEM \(points\) +(\d.*?)  +(\d.*?)  ", said, re.M)
    [bounds] = re.findall(r"^SEM tail bound \(points\) +(\S+) +(\S+)", said, re.M)
    assert main(["show", run, "sem"]) == 0
    shown = capsys.readouterr().out
    for number, bound in zip(row, bounds, strict=True):
        assert f"\nSEM {number} points; at most {bound} with unseen far replies\n" in shown
    assert main(["show", run, "far_share"]) == 0
    shown = capsys.readouterr().out
    told = re.findall(r"^repeats 3\+ points apart: (\d+) of 15 items \(at most .*% of", shown, re.M)
    scores = pd.read_csv(file).groupby(["judge", "item_id"])["score"]
    far = (scores.max() - scores.min() >= 3).groupby("judge").sum()
    assert [int(n) for n in told] == far.tolist()
    assert main(["show", run, "sem", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)["records"]
    assert [r["id"] for r in records] == ["condition.sem.judge-0", "condition.sem.judge-1"]
