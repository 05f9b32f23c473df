"""First screens keep their rules: an outcome first, few lines, one finding, care, what is next."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main

FIRST = (
    "USE WITH CARE", "USE", "DO NOT USE", "CANNOT TELL", "CHANGED", "NO CHANGE", "PASS", "FAIL",
    "READY", "NOT YET", "CUTOFF", "AUTOMATE", "PANEL",
)  # fmt: skip
LATER_BEGIN = ("Care", "Next", "exit")
FORMER = (
    "moves by", "may be any but", "is told", "can be had", "lets pass", "asked again it",
    "stands beside", "beyond repetition", "unread", "the scatter of", "farthest apart", "in effect",
    "MIND", "a judgment",
)  # fmt: skip
"""Phrases that no first screen has."""
P_VALUE = re.compile(r"\bp\s*[=<>≤≥]\s*\.?\d")
NUMBER = re.compile(r"(?<![\w.])[−+±]?(?:\d[\d,]*(?:\.\d+)?%?|\.\d+)")
ROW = re.compile(r"\S.*  +\S")
"""A line of a table: cells that two blanks divide."""
WORDS, NUMBERS, LINES, WIDTH = 25, 5, 20, 100


def finding_of(lines: list[str]) -> str:
    """The sentence between the table and what follows it, without intervals."""
    end = next((i for i, li in enumerate(lines) if li.startswith(LATER_BEGIN)), len(lines))
    found: list[str] = []
    for line in reversed(lines[:end]):
        if found and (not line.strip() or ROW.match(line)):
            break
        if line.strip() and not ROW.match(line):
            found.insert(0, line)
        elif ROW.match(line):
            break
    return re.sub(r"\[[^\]]*\]", "", " ".join(found))


def faults_of(screen: str) -> Iterator[str]:
    """What breaks a rule of first screens."""
    lines = screen.rstrip("\n").split("\n")
    if not lines[0].startswith(FIRST):
        yield f"no outcome first: {lines[0][:60]!r}"
    if len(lines) > LINES:
        yield f"{len(lines)} lines"
    for line in lines:
        if len(line) > WIDTH:
            yield f"{len(line)} characters: {line!r}"
        if P_VALUE.search(line):
            yield f"a p: {line!r}"
        yield from (f"{phrase!r}: {line!r}" for phrase in FORMER if phrase in line)
    finding = finding_of(lines)
    if len(finding.split()) > WORDS:
        yield f"a finding of {len(finding.split())} words: {finding!r}"
    if len(NUMBER.findall(finding)) > NUMBERS:
        yield f"a finding of {len(NUMBER.findall(finding))} numbers: {finding!r}"
    if not any(line.startswith(("Next", "exit")) for line in lines):
        yield "nothing is next"
    if STATED.search(screen):
        for line, below in itertools.pairwise(lines):
            row = SEM.match(line) and not below.startswith("SEM tail bound")
            if row or (SEM.search(line, 1) and "SEM tail" not in line):
                yield f"an SEM without its tail bound: {line!r}"
    is_open = any(line.startswith("CANNOT TELL") for line in lines)
    if is_open and not NO_ROOM.search(screen) and not DECIDES.search(screen):
        yield "nothing would decide"


STATED = re.compile(r"scale \d+–\d+(?! \(assumed)")
SEM = re.compile(r"(?:^|  )SEM(?! tail)\b")
DECIDES = re.compile(r"more .* suffice|No\s+practical\s+number|needs about \d+|[Rr]epeat \d+", re.S)
"""What CANNOT TELL says of the data that would decide."""
NO_ROOM = re.compile(r"^PASS|^Reliability, ", re.M)
"""Claims of a study, and screens with a table of reliability."""


def test_the_rules_find_what_breaks_them() -> None:
    table = "            Estimate  Needed\nICC(1,1)    .90       ≥ .75\n"
    good = f"USE  j: it repeats.\nx.csv\n\n{table}\nAll hold, p .75.\nNext  judgestats show X\n"
    assert list(faults_of(good)) == []
    for broken, said in (
        (good.replace("USE  j", "j"), "no outcome first"),
        (good + "more\n" * 15, "lines"),
        (good.replace("x.csv", "x" * 101), "101 characters"),
        (good.replace("p .75", "p = .75"), "a p: "),
        (good.replace("x.csv", "0 unread"), "'unread'"),
        (good.replace("All hold", "word " * 25), "words"),
        (good.replace("All hold", "1, 2, 3, .4, 5 and 6"), "7 numbers"),
        (good.replace("Next", "Then"), "nothing is next"),
    ):
        assert any(said in fault for fault in faults_of(broken)), said


def write(path: str, head: str, rows: list[str]) -> None:
    Path(path).write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def make_files() -> None:
    """Judgments of every shape and kind, and labels of the verdicts."""
    rng = np.random.default_rng(3)
    level = rng.uniform(2, 9, 40)

    def score(i: int, noise: float) -> int:
        return int(np.clip(round(level[i] + rng.normal(0, noise)), 1, 10))

    noises = {"steady": 0.4, "average": 0.9, "noisy": 2.0}
    write("scores.csv", "item,judge,repeat,score", [
        f"q{i},{j},{r},{score(i, sd)}" for j, sd in noises.items() for i in range(40)
        for r in range(3)])  # fmt: skip
    write("steady.csv", "item,judge,repeat,score", [
        f"q{i},j,{r},{score(i, 0.4)}" for i in range(40) for r in range(3)])  # fmt: skip
    write("once.csv", "item,judge,score", [f"q{i},one,{score(i, 0.5)}" for i in range(40)])
    write("many.csv", "item,judge,repeat,score", [
        f"q{i},judge-{j},{r},{score(i, 0.5 + j / 9)}" for j in range(13) for i in range(12)
        for r in range(2)])  # fmt: skip
    write("wide.csv", "item,gpt-a,claude-b,llama-c", [
        f"q{i},{score(i, 0.9)},{score(i, 0.9)},{score(i, 1.5)}" for i in range(40)])  # fmt: skip
    truth = rng.random(200) < 0.7
    said = ["pass" if rng.random() < (0.95 if t else 0.3) else "fail" for t in truth]
    write("verdicts.csv", "item,judge,verdict", [f"q{i},my-judge,{v}" for i, v in enumerate(said)])
    write("labels.csv", "item,label", [
        f"q{i},{'pass' if t else 'fail'}" for i, t in enumerate(truth[:150])])  # fmt: skip
    write("repeats.csv", "item,judge,repeat,verdict", [
        f"q{i},{j},{r},{'pass' if rng.random() < (0.9 if i % 3 else 0.2) else 'fail'}"
        for j in ("x", "y") for i in range(60) for r in range(3)])  # fmt: skip
    winner = ("model_b", "model_a")
    write("pairs.csv", "item,model_a,model_b,order,judge,repeat,winner", [
        f"q{i},sys-a,sys-b,{o},j,{r},{winner[(i % 3 > 0) ^ (rng.random() < 0.2)]}"
        for i in range(40) for o in ("ab", "ba") for r in range(2)])  # fmt: skip


QUIET = ("--report", "none", "--track", "none", "--resamples", "99")
SIMULATED = ("--limit", "12", "--resamples", "99", "--report", "none")
ANALYZED = {
    "scores": ("scores.csv",),
    "a stated scale": ("scores.csv", "--scale", "1-10"),
    "a required SEM": ("scores.csv", "--scale", "1-10", "--require", "icc_1_1=.7,sem=.5"),
    "a judge": ("steady.csv", "--scale", "1-10", "--require", "sem=.5,icc_1_1=.7"),
    "scores, judged once": ("once.csv",),
    "thirteen judges": ("many.csv",),
    "wide": ("wide.csv", "--wide", "gpt*,claude*,llama*", "--scale", "1-10"),
    "verdicts": ("verdicts.csv",),
    "verdicts with labels": ("verdicts.csv", "--labels", "labels.csv"),
    "a pass rate": ("verdicts.csv", "--labels", "labels.csv", "--for", "estimate"),
    "repeated verdicts": ("repeats.csv",),
    "pairs": ("pairs.csv",),
}


def screen_of(capsys, *words: str, code: int = 0) -> str:
    assert main(list(words)) == code
    screen: str = capsys.readouterr().out
    assert list(faults_of(screen)) == [], screen
    return screen


@pytest.mark.parametrize("name", ANALYZED)
def test_the_screen_of_an_audit_keeps_the_rules(name, tmp_path, monkeypatch, capsys):
    """On 80 columns, where the limits of lines and widths are the hardest to keep."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    make_files()
    screen = screen_of(capsys, "analyze", *ANALYZED[name], *QUIET)
    lines = [line for line in screen.splitlines() if "judgestats labels" not in line]
    assert max(map(len, lines)) <= 80  # a command is not broken


@pytest.mark.parametrize(
    ("name", "code", "word"), [("scores", 1, "FAIL"), ("verdicts with labels", 3, "CANNOT TELL")]
)
def test_the_screen_of_a_gate_keeps_the_rules(name, code, word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make_files()
    assert screen_of(capsys, "check", *ANALYZED[name], code=code).startswith(word)


def test_the_screen_of_the_demo_keeps_the_rules(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    screen = screen_of(capsys, "demo")
    assert "RewardBench 2" in screen
    assert (
        "\nTwo repeats of gpt-5.4-nano differ by 1.07 points on average, those of gpt-5.4 by 0.32: "
        "3.37 [2.92,\n3.92] times as much.\n"
    ) in screen
    assert re.search(r"^SEM tail bound \(points\) +0\.59 +0\.71 +1\.34 ", screen, re.M)


def test_one_run_per_judge_holds_in_these_runs(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    make_files()
    assert "\nIn these runs " in screen_of(capsys, "analyze", *ANALYZED["wide"], *QUIET)
    assert "\nIn these runs " not in screen_of(capsys, "analyze", "once.csv", *QUIET)


def test_a_change_says_what_the_claim_on_new_items_costs(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    make_files()
    frame = pd.read_csv("steady.csv")
    rng = np.random.default_rng(1)
    moved = (rng.random(40) < 0.5).repeat(3) * 2 + (rng.random(120) < 0.3)
    frame.to_csv("first.csv", index=False)
    later = frame.assign(score=(frame["score"] + moved).clip(upper=10))
    later.to_csv("later.csv", index=False)
    words = ("drift", "first.csv", "later.csv", "--resamples", "99", "--scale", "1-10")

    def width(*further: str) -> tuple[str, float]:
        monkeypatch.setenv("COLUMNS", "100")
        screen = screen_of(capsys, *words, *further)
        low, high = re.search(r"^Mean .*?\[(\S+), (\S+)\]", screen, re.M).groups()
        return screen, float(high) - float(low)

    screen, wide = width()
    [share] = re.findall(r"interval for these\s+items alone would be (\d+)% narrower", screen)
    alone, narrow = width("--target", "these-items")
    assert abs(float(share) - 100 * (1 - narrow / wide)) < 2
    assert "narrower" not in alone


COMMANDS = {
    "labels plan": (("labels", "plan", "verdicts.csv", "--labels", "20", "--out", "l.csv"), 0),
    "half-width": (("labels", "plan", "verdicts.csv", "--half-width", ".05", "--rates",
                    "prevalence=.7,sensitivity=.9,specificity=.8"), 0),
    "labels split": (("labels", "split", "labels.csv"), 0),
    "labels next": (("labels", "next", "verdicts.csv", "--budget", "100", "--out", "n.csv"), 0),
    "cut-off": (("decide", "cutoff", "graded.csv", "--tpr", ".6", "--tnr", ".6",
                 "--labels-drawn", "random"), 0),
    "doctor": (("doctor", "pairs.csv"), 0),
    "columns that are not clear": (("doctor", "unclear.csv"), 1),
    "monitor": (("monitor", "verdicts.csv", "--state", "m.db", "--rate", "pass=verdict:pass"), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_the_screen_of_every_other_command_keeps_the_rules(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make_files()
    write("graded.csv", "item,score,label", [
        f"q{i},{i % 10},{'pass' if i % 10 > 4 else 'fail'}" for i in range(200)])  # fmt: skip
    write("unclear.csv", "sample_id,prompt_template,run,score", [
        f"s{i},{p},{r},{(i * r + len(p)) % 5 + 1}" for i in range(12) for p in ("p1", "p20")
        for r in range(6)])  # fmt: skip
    words, code = COMMANDS[name]
    assert main(list(words)) == code
    screen = capsys.readouterr().out
    numbers = "numbers" if name == "labels next" else ""  # one for each assumed rate
    assert [f for f in faults_of(screen) if not (numbers and numbers in f)] == [], screen


def test_labels_come_first_where_there_are_none(workplace, capsys) -> None:
    """Commands for labels are not crowded out by links to the run and its report."""
    make_files()
    said = screen_of(capsys, "analyze", "verdicts.csv", "--report", "md", "--resamples", "99")
    assert "\nNext  judgestats labels plan verdicts.csv --labels 200" in said
    assert "report.md" in said
    [run] = re.findall(r"judgestats show (\w+)", said)
    shown = screen_of(capsys, "show", run)
    assert f"judgestats show {run}" in shown
    assert screen_of(capsys, "report", run, "--out", "x.md").startswith("READY  Report (md): ")
    assert main(["card", run, "--out", "x.svg"]) == 0
    card = capsys.readouterr().out
    assert [f for f in faults_of(card) if f != "nothing would decide"] == [], card


@pytest.mark.parametrize("command", ["drift", "compare"])
@pytest.mark.parametrize("kind", ["scores", "repeats"])
def test_the_screen_of_changes_keeps_the_rules(command, kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make_files()
    frame = pd.read_csv(f"{kind}.csv")
    column = frame.columns[-1]
    moved = {"pass": "fail", "fail": "fail"} if kind == "repeats" else {}
    later = frame[column].map(moved) if moved else (frame[column] + 1).clip(upper=10)
    frame.assign(**{column: later}).to_csv("later.csv", index=False)
    screen = screen_of(capsys, command, f"{kind}.csv", "later.csv", "--resamples", "99")
    assert screen.startswith("CHANGED")
    assert " fell by " in screen if moved else " rose by " in screen


def test_the_screen_of_a_study_keeps_the_rules(workplace, capsys) -> None:
    screen = screen_of(capsys, "run", "replicate", "--report", "none")
    assert re.match(r"PASS +\d+ of \d+ claims hold", screen)


@pytest.mark.parametrize("experiment", ["temperature", "validity", "guidelines"])
def test_the_screen_of_an_experiment_keeps_the_rules(experiment, workplace, capsys) -> None:
    few = ("--limit", "8", "--repeats", "4", "--crosscheck", "no")
    screen = screen_of(capsys, "run", experiment, *few, *SIMULATED[2:])
    assert "SIMULATED" in screen
