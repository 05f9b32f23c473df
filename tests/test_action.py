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


def scores() -> str:
    """Twenty-seven answers, judged twice, a point apart where the first is odd."""
    rows = [f"{i},{r},{1 + i % 9 + r * (i % 2)}" for i in range(27) for r in range(2)]
    return "\n".join(["item,repeat,score", *rows]) + "\n"


def test_the_file_is_an_action_and_names_every_variable() -> None:
    action = yaml.safe_load((TOP / "action.yml").read_text("utf-8"))
    assert action["runs"]["using"] == "composite"
    step = action["runs"]["steps"][-1]
    [script] = re.findall(r"\$GITHUB_ACTION_PATH/(\S+?)\"", step["run"])
    text = (TOP / script).read_text("utf-8")
    read = set(re.findall(r'given\(environ, "([A-Z]+)"\)', text)) | {"MIN", "MAX"}
    assert {name.removeprefix("JUDGESTATS_") for name in step["env"]} == read
    inputs = {re.sub(r"\W", "", v.partition("inputs.")[2]) for v in step["env"].values()}
    assert inputs | {"version"} == set(action["inputs"])
    assert set(action["outputs"]) == {"verdict", "deciding", "exit-code"}
    assert all("${{" not in s["run"] for s in action["runs"]["steps"]), "inputs go by variables"


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"REQUIRE": "icc_1_1=.8", "BEFORE": "a.csv"}, 0, "No change shown"),
        ({"MIN": "reliability=.8", "BEFORE": "a.csv"}, 0, "**PASS** judge: "),
        ({"REQUIRE": "mean>=9,unparsed=.2"}, 1, "| ≥ 9.00 | fails |"),
        ({"MIN": "mean=9", "MAX": "unread=.2"}, 1, "**FAIL** judge: "),
        ({"REQUIRE": "icc_1_1=.95"}, 3, "**CANNOT TELL** judge: ICC(1,1) "),
        ({"REQUIRE": "icc_1_1=.95", "ALLOW": "cannot-tell"}, 0, "**CANNOT TELL**"),
        ({"FOR": "score"}, 0, "**PASS** judge: "),
        ({"FOR": "score", "STRICT": "true"}, 1, "No human labels"),
        ({"FOR": "gate"}, 3, "no scores with pass / fail labels"),
        ({"MIN": "reliabilty=.9"}, 2, "Did you mean"),
        ({"MAX": "reliability=.9"}, 2, "Write reliability=.9 (at least .9)."),
        ({"REQUIRE": "reliability=1.5"}, 2, "lies between -1 and 1; 1.5 is outside"),
    ],
)
def test_the_step_gates_and_tells(tmp_path, given, code, words) -> None:
    (tmp_path / "a.csv").write_text(scores())
    environ = {**os.environ, "PYTHONPATH": str(TOP), "GITHUB_STEP_SUMMARY": "page.md",
               "GITHUB_OUTPUT": "out.txt"}  # fmt: skip
    environ |= {f"JUDGESTATS_{name}": value for name, value in given.items()}
    done = subprocess.run(
        [sys.executable, str(TOP / ".ci" / "gate.py")],
        cwd=tmp_path, env={**environ, "JUDGESTATS_FILE": "a.csv"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert words in (tmp_path / "page.md").read_text("utf-8")
    outputs = dict(line.split("=", 1) for line in (tmp_path / "out.txt").read_text().splitlines())
    assert outputs["exit-code"] == str(code)
    if code != 2:
        outcome = {0: ("USE", "USE_WITH_CARE", "CANNOT_TELL"), 3: ("CANNOT_TELL",)}
        assert outputs["verdict"] in outcome.get(code, ("DO_NOT_USE", "USE_WITH_CARE"))
        assert outputs["deciding"]
