"""The GitHub Action: its file is one, its step gates and writes a summary."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).parents[1]


def scores(shift: int, noise: int) -> str:
    """Twenty-seven answers, judged twice."""
    rows = [
        f"{i},{r},{min(10, 1 + (i + r * noise) % 9 + shift)}" for i in range(27) for r in range(2)
    ]
    return "\n".join(["item,repeat,score", *rows]) + "\n"


def test_the_file_is_an_action_and_names_every_variable() -> None:
    action = yaml.safe_load((TOP / "action.yml").read_text("utf-8"))
    assert action["runs"]["using"] == "composite"
    step = action["runs"]["steps"][-1]
    [script] = re.findall(r"\$GITHUB_ACTION_PATH/(\S+?)\"", step["run"])
    read = set(re.findall(r"JUDGESTATS_[A-Z]+", (TOP / script).read_text("utf-8")))
    read |= {"JUDGESTATS_MIN", "JUDGESTATS_MAX"}
    assert set(step["env"]) <= read
    assert all("${{" not in s["run"] for s in action["runs"]["steps"]), "inputs go by variables"


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"JUDGESTATS_MIN": "reliability=.9", "JUDGESTATS_BEFORE": "a.csv"}, 0, "No change shown"),
        ({"JUDGESTATS_MIN": "mean=9", "JUDGESTATS_MAX": "unread=.2"}, 1, "**fails**"),
        ({"JUDGESTATS_MIN": "reliabilty=.9"}, 2, "Did you mean"),
        ({"JUDGESTATS_MAX": "reliability=.9"}, 2, "Write require: reliability>=.9."),
        ({"JUDGESTATS_MIN": "reliability=1.5"}, 2, "is at most 1; 1.5 is outside"),
    ],
)
def test_the_step_gates_and_tells(tmp_path, given, code, words) -> None:
    (tmp_path / "a.csv").write_text(scores(0, 0))
    environ = {**os.environ, "PYTHONPATH": str(TOP), "GITHUB_STEP_SUMMARY": "page.md"}
    done = subprocess.run(
        [sys.executable, str(TOP / ".ci" / "gate.py")],
        cwd=tmp_path, env={**environ, "JUDGESTATS_JUDGMENTS": "a.csv", **given},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert words in (tmp_path / "page.md").read_text("utf-8")
