"""Decisions on files and options that no one should give."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.decisions import StoppingRule, automation_certificate

WORDS = np.array(["fail", "pass"])


@pytest.fixture
def file(tmp_path):
    """300 items with verdict, confidence, score, and label."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.6
    v = np.where(rng.random(300) < 0.1, ~y, y)
    pd.DataFrame({
        "item": range(300), "verdict": WORDS[v.astype(int)], "confidence": rng.random(300),
        "label": WORDS[y.astype(int)],
    }).to_csv(tmp_path / "v.csv", index=False)  # fmt: skip
    pd.DataFrame({
        "item": range(300), "score": 5 + 2 * y + rng.normal(size=300),
        "label": WORDS[y.astype(int)],
    }).to_csv(tmp_path / "s.csv", index=False)  # fmt: skip
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cutoff", "s.csv", "--cost", "fn=1e300,fp=1"], "at most 1e12"),
        (["cutoff", "s.csv", "--cost", "fn=-1,fp=1"], "above 0"),
        (["cutoff", "s.csv", "--cost", "fn=abc,fp=1"], "fn=abc"),
        (["cutoff", "s.csv", "--cost", "fn=nan,fp=1"], "fn=nan"),
        (["automate", "v.csv", "--error", "1e-9"], "State at least 1e-06"),
        (["automate", "v.csv", "--error", "-.1"], "between 0 and 1"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_numbers_beyond_sense_are_refused(file, capsys, words, said):
    kind, name, *more = words
    assert main(["decide", kind, str(file / name), "--labels-drawn", "random", *more]) == 2
    assert said in capsys.readouterr().err


def test_prices_beyond_sense_are_refused_and_a_great_cost_is_not(file, capsys):
    d = pd.read_csv(file / "v.csv")
    pd.concat([d.assign(judge=j) for j in "ab"]).to_csv(file / "two.csv", index=False)
    command = ["decide", "automate", str(file / "two.csv"), "--error", ".2", "--price"]
    assert main([*command, "a=1,b=1e300,human=2"]) == 2
    assert "from 0 to 1e12" in capsys.readouterr().err
    assert main([*command, "a=1,b=1e12,human=1e12"]) == 0
    cost = ["--cost", "fn=1e12,fp=1e12"]
    assert main(["decide", "cutoff", str(file / "s.csv"), *cost]) == 0
    assert "Cost per item" in capsys.readouterr().out


def test_a_monitor_adds_nothing_that_it_cannot_draw_and_averages_repeats(tmp_path, capsys):
    rng = np.random.default_rng(1)
    rows = [(f"a{i}", v) for i in range(40) for v in rng.integers(0, 2, 3)]
    reference = pd.DataFrame(rows, columns=["item", "value"])
    today = reference.drop_duplicates("item")
    new = pd.DataFrame({"item": [f"n{i}" for i in range(60)], "value": rng.integers(0, 2, 60)})
    reference.to_csv(tmp_path / "ref.csv", index=False)
    said = {}
    for name, answers in (("once", new), ("twice", pd.concat([new, new]))):
        period, state = tmp_path / f"{name}.csv", tmp_path / f"{name}.db"
        pd.concat([today, answers]).to_csv(period, index=False)
        command = ["monitor", str(period), "--anchors", str(tmp_path / "ref.csv"),
                   "--state", str(state), "--rate", "r=value"]  # fmt: skip
        for more, why in (
            (["--chart", str(tmp_path / "a.xyz")], "--chart writes .svg, .png, .pdf"),
            (["--chart", str(tmp_path / "no" / "a.svg")], "does not exist"),
            (["--plan", "--per-period", "0"], "1 or more"),
        ):
            assert main([*command, *more]) == 2
            assert why in capsys.readouterr().err
            assert not state.exists()
        assert main([*command, "--json"]) == 0
        said[name] = json.loads(capsys.readouterr().out)["system"]
    assert said["once"] == said["twice"]


def test_a_level_near_one_is_not_rounded_to_it():
    v = np.ones(300)
    made = automation_certificate(
        v, np.linspace(0.5, 1, 300), v, error=0.5, level=0.999999999, labels_drawn="random"
    )
    assert "with 99.9999999% confidence" in " ".join(made.screen())


def test_a_run_that_ends_without_a_stop_saved_nothing():
    rule = StoppingRule.parse("icc_1_1:width<=.1", max_items=40, first=20, step=20)
    rule = rule.look(20, 0.7, 0.4, 0.9)
    assert np.isnan(rule.saved_share)
    assert rule.look(40, 0.7, 0.5, 0.85).saved_share == 0


def test_verdicts_that_are_all_empty_are_said_to_be_unparsed(file, capsys):
    pd.read_csv(file / "v.csv").assign(verdict="").to_csv(file / "u.csv", index=False)
    assert main(["decide", "automate", str(file / "u.csv")]) == 2
    assert "verdicts are all unparsed" in capsys.readouterr().err
