"""Runs recompute their numbers by other packages, after the screen, and keep the outcome."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from judgestats.analysis import crosscheck
from judgestats.cli import main
from judgestats.runner import load_design, run_experiment

SMALL = {"resamples": "99", "report": "none", "repeats": "3", "judges": "sim-typical,sim-null"}


def artifacts(workplace: Path, run_id: str) -> Path:
    [folder] = workplace.glob(f"mlruns/*/{run_id}/artifacts")
    return folder


@pytest.mark.parametrize(
    ("name", "more", "quantity"),
    [
        ("judges", {"temperatures": "0.5"}, "signed-rank statistic"),
        ("rejection_sampling", {"limit": "8"}, "McNemar's exact p"),
    ],
)
def test_numbers_of_a_run_are_the_same(workplace, name, more, quantity):
    run = run_experiment(load_design(name), {**SMALL, **more})
    kept = pd.read_csv(artifacts(workplace, run.run_id) / "tables" / "crosscheck.csv")
    assert quantity in set(kept["quantity"])
    assert kept["agrees"].all(), kept.to_string()
    assert kept["reason"].isna().all()


def test_the_outcome_comes_after_the_screen_and_a_difference_is_told_and_kept(
    workplace, monkeypatch, capsys
):
    check = crosscheck.CHECKS[0]._replace(value=lambda table: table["ICC"].iloc[0] + 0.5)
    monkeypatch.setattr(crosscheck, "CHECKS", (check,))
    words = ["run", "judges", "--limit", "6", "--temperatures", "1"]
    assert main([*words, *(w for k, v in SMALL.items() for w in (f"--{k}", v))]) == 0
    said = capsys.readouterr().out
    places = [
        said.index(p) for p in ("Care  ", "WARNING: ICC(1,1) of sim-typical, T=1 is ", "Next  ")
    ]
    assert places == sorted(places)
    [folder] = workplace.glob("mlruns/*/*/artifacts")
    stored = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert stored["limitations"][0]["code"] == "crosscheck"
    assert "pingouin" in json.loads((folder / "session.json").read_text())["packages"]
    assert main(["show", folder.parent.name]) == 0
    assert "Another package finds other values for 2 of 2 numbers" in " ".join(
        capsys.readouterr().out.split()
    )


def test_it_can_be_left_out_and_computed_later(workplace, capsys):
    given = {**SMALL, "limit": "6", "temperatures": "1", "crosscheck": "no"}
    run = run_experiment(load_design("judges"), given)
    assert not (artifacts(workplace, run.run_id) / "tables" / "crosscheck.csv").exists()
    capsys.readouterr()
    assert main(["show", run.run_id, "crosscheck"]) == 0
    assert "pingouin" in capsys.readouterr().out
    assert main(["second-opinion", run.run_id, "--out", "numbers.csv"]) == 0
    said = capsys.readouterr()
    assert said.err == (
        "judgestats: second-opinion is deprecated and will be removed in 0.4.0. "
        "Use judgestats show RUN crosscheck.\n"
    )
    assert "ICC(1,1)" in said.out
    assert pd.read_csv("numbers.csv")["agrees"].all()


@pytest.mark.parametrize(("choice", "made"), [("auto", False), ("yes", True), ("no", False)])
def test_an_audit_that_keeps_nothing_is_checked_when_asked(
    workplace, tmp_path, monkeypatch, choice, made
):
    calls = []
    monkeypatch.setattr(
        crosscheck,
        "CHECKS",
        (crosscheck.CHECKS[0]._replace(value=lambda t: calls.append(t) or 0.0),),
    )
    frame = pd.DataFrame(
        {"item_id": list("aabbcc"), "replicate": [0, 1] * 3, "score": [1, 2, 3, 3, 5, 4]}
    )
    frame.to_csv(tmp_path / "s.csv", index=False)
    words = ["--track", "none", "--report", "none", "--crosscheck", choice, "--resamples", "99"]
    assert main(["analyze", str(tmp_path / "s.csv"), *words]) == 0
    assert bool(calls) is made
    assert not list(workplace.glob("judgestats-reports/*"))
