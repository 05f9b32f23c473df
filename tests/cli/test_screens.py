"""What the commands print: one screen, in order; the rest when it is asked for."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pandas as pd

import judgestats as js
from judgestats.analysis import measured_results
from judgestats.analysis.audit import audit
from judgestats.analysis.measures import with_measures
from judgestats.api import read_judgments
from judgestats.cli import main
from judgestats.runner import display as console
from judgestats.runner import finish, show

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


def test_runs_in_which_nothing_varies_have_no_table(tmp_path):
    files = [table(tmp_path / f"{name}.csv", 1, score="5") for name in ("may", "june")]
    told = str(js.compare(*files, n_resamples=99))
    assert told.startswith("NO CHANGE")
    assert "GMD ratio" not in told


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
