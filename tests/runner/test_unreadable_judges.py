"""A judge of whose replies none can be read: an experiment ends, and claims nothing."""

import json
import sys

import pytest

from judgestats.cli import main

ONE_JUDGE = ("bias", "crowd", "temperature")
"""Pairs next to scores, stages, and scores; test_invariances_everywhere.py has every analysis."""


@pytest.fixture
def chatty(workplace, monkeypatch):
    """A judge that talks about something else."""
    (workplace / "chatty_for_tests.py").write_text(
        "def judge(prompt):\n    return 'I would rather talk about the weather.'\n"
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    return "chatty_for_tests:judge"


@pytest.mark.parametrize("experiment", ONE_JUDGE)
def test_nothing_read_is_an_answer_too(chatty, experiment, workplace, capsys):
    given = ["--judges", chatty, "--limit", "3", "--report", "none", "--resamples", "99"]
    given += ["--crosscheck", "no"]
    assert main(["run", experiment, *given]) == 0
    capsys.readouterr()
    [results] = workplace.rglob("results.json")
    claims = {h["claim"] for h in json.loads(results.read_text())["headlines"]}
    assert claims <= {"undefined", "described", "open"}


def test_a_function_that_fails_is_looked_for_in_the_function(workplace, monkeypatch, capsys):
    (workplace / "failing_for_tests.py").write_text(
        "def judge(prompt):\n    raise ValueError('no model is loaded')\n"
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    given = ["--judges", "failing_for_tests:judge", "--limit", "2", "--report", "none"]
    assert main(["run", "temperature", *given]) == 2
    told = capsys.readouterr().err
    assert "ValueError: no model is loaded" in told
    assert "call it in Python" in told
    assert "doctor" not in told
