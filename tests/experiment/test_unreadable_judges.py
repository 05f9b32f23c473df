"""A judge of whose replies none can be read: every experiment ends, and claims nothing."""

from __future__ import annotations

import json
import sys

import pytest

from judgestats.cli import main

ONE_JUDGE = ("bias", "crowd", "grade_score", "prompts", "self_consistency", "temperature")


@pytest.fixture
def chatty(tmp_path, monkeypatch):
    """A judge that talks about something else."""
    (tmp_path / "chatty_for_tests.py").write_text(
        "def judge(prompt):\n    return 'I would rather talk about the weather.'\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/m.db")
    return "chatty_for_tests:judge"


@pytest.mark.parametrize("experiment", ONE_JUDGE)
def test_nothing_read_is_an_answer_too(chatty, experiment, tmp_path, capsys):
    given = ["--judges", chatty, "--limit", "3", "--report", "none", "--resamples", "200"]
    assert main(["run", experiment, *given]) == 0
    capsys.readouterr()
    [results] = tmp_path.rglob("results.json")
    claims = {h["claim"] for h in json.loads(results.read_text())["headlines"]}
    assert claims <= {"undefined", "described", "open"}
