"""One absurd score in a file: no size follows it, it is named, and the rest is computed."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

from judgestats.cli import main

HEAD = "item_id,judge,repeat,score\n"
LIMIT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from judgestats.cli import main
for words in {commands!r}:
    code = main(words)
    assert code == 0, (words, code)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
assert peak < 1024, peak
"""
ALONE = ["1764273600", "-1e9", "1e30"]
UNREAD = ["1e300", "-1e308"]


def rows(last: str = "", *, shift: int = 0) -> str:
    ordinary = (
        f"q{i},j,{t},{(i + t + shift * (i % 2)) % 9 + 1}\n" for i in range(20) for t in range(3)
    )
    return HEAD + "".join(ordinary) + (f"q99,j,0,{last}\n" if last else "")


def said(capsys, *words: str, code: int = 0) -> str:
    assert main([*words, "--report", "none", "--track", "none"]) == code
    out, err = capsys.readouterr()
    return " ".join((out if code == 0 else err).split())


def number(value: str) -> str:
    return f"{float(value):.15g}"


@pytest.mark.parametrize("value", ALONE)
def test_a_far_score_is_named_and_levels_are_skipped(value, workplace, capsys):
    (workplace / "f.csv").write_text(rows(value))
    screen = said(capsys, "analyze", "f.csv")
    text = said(capsys, "analyze", "f.csv", "--all")
    for one in (screen, text):
        assert "1 of 61 scores lies far from all others (1 to 9): " in one
        assert f"{number(value)} in row 61" in one
    assert "assumed since all except 1 run from 1 to 9" in text
    assert "two scales" not in text
    assert screen.startswith("CANNOT TELL")
    assert "too wide a range for levels of a scale" in text
    assert "2.14 [0.53, 8.74]" in screen
    (workplace / "r.csv").write_text(rows(value, shift=1))
    assert main(["drift", "r.csv", "f.csv"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert f"f.csv: Note: 1 of 61 scores lies far from all others (1 to 9): {number(value)}" in told


@pytest.mark.parametrize("value", UNREAD)
def test_a_score_too_large_to_compute_with_is_unread_and_named(value, workplace, capsys):
    (workplace / "f.csv").write_text(rows(value))
    text = said(capsys, "analyze", "f.csv")
    assert "1 of 61 unparsed" in text
    told = said(capsys, "analyze", "f.csv", "--all")
    assert f"1 score ({float(value)} in row 61) is far from all others" in told
    without = rows()
    (workplace / "g.csv").write_text(without)
    assert "2.14 [0.53, 8.74]" in text
    assert "2.14 [0.53, 8.74]" in said(capsys, "analyze", "g.csv")


def test_a_score_next_to_zero_is_a_score(workplace, capsys):
    (workplace / "f.csv").write_text(rows("5e-324"))
    assert "unparsed" not in said(capsys, "analyze", "f.csv")


def test_a_stated_scale_refuses_it_and_has_no_million_points(workplace, capsys):
    (workplace / "f.csv").write_text(rows("1764273600"))
    refusal = said(capsys, "analyze", "f.csv", "--scale", "1-10", code=2)
    assert "the score is outside the scale 1-10" in refusal
    wide = said(capsys, "analyze", "f.csv", "--scale", "1-1000000000", code=2)
    assert "--scale 1-1000000000 has 1,000,000,000 points; at most 10,000" in wide


def test_no_command_needs_memory_for_it(workplace):
    commands = []
    for place, value in enumerate(["1764273600", "1e16"]):
        name = f"f{place}"
        (workplace / f"{name}.csv").write_text(rows(value))
        pd.read_csv(f"{name}.csv").to_parquet(f"{name}.parquet")
        quiet = ["--report", "none", "--track", "none"]
        commands += [
            ["analyze", f"{name}.csv", "--report", "html", "--track", "none"],
            ["analyze", f"{name}.parquet", "--stream", "yes", *quiet],
            ["doctor", f"{name}.csv"],
            ["labels", "plan", f"{name}.csv", "--labels", "10", "--out", f"{name}-labels.csv"],
        ]
    (workplace / "good.csv").write_text(rows())
    commands.append(["drift", "good.csv", "f0.csv"])
    done = subprocess.run(
        [sys.executable, "-c", LIMIT.format(commands=commands)],
        cwd=workplace, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(("value", "own"), [("1e300", True), ("inf", False)])
def test_a_label_too_large_to_compute_with_is_left_out_and_named(value, own, workplace, capsys):
    labels = {f"q{i}": f"{i * 7 % 9 + 1}" for i in range(20)}
    called = "f.csv" if own else "l.csv"

    def agreement(word: str) -> str:
        given = labels | {"q4": word}
        if own:
            head, *lines = rows().splitlines()
            of = [f"{line},{given[line.partition(',')[0]]}" for line in lines]
            (workplace / "f.csv").write_text("\n".join([f"{head},label", *of, ""]))
            return said(capsys, "analyze", "f.csv")
        (workplace / "f.csv").write_text(rows())
        table = "".join(f"{item},{label}\n" for item, label in given.items())
        (workplace / "l.csv").write_text(f"item_id,label\n{table}")
        return said(capsys, "analyze", "f.csv", "--labels", "l.csv")

    text = agreement(value)
    number = "inf" if value == "inf" else "1e+300" if own else "1e300"
    place = "row 13) are" if own else "of 'q4') is"
    assert f"{called}: {3 if own else 1} label{'s' * own} ({number} " in text
    assert f"{place} far from all others, no point of a scale and left out." in text
    line = text[text.index("Pearson's r") :].partition("]")[0]
    assert line in agreement("")
