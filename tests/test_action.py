"""The GitHub Action: its file is one, its step gates and writes a summary."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType

import pytest
import yaml

TOP = Path(__file__).parents[1]


def gate_module() -> ModuleType:
    """The script of the step."""
    spec = importlib.util.spec_from_file_location("gate", TOP / ".ci" / "gate.py")
    gate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gate)
    return gate


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
    read = set(re.findall(r"given\(environ, [\"']([A-Z]+)[\"']\)", text)) | {"MIN", "MAX"}
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
        ({"REQUIRE": "mean>=9,unparsed=.2"}, 1, "(upper) | fails |"),
        ({"MIN": "mean=9", "MAX": "unread=.2"}, 1, "**FAIL** judge: "),
        ({"REQUIRE": "icc_1_1=.95"}, 3, "**CANNOT TELL** judge: ICC(1,1) "),
        ({"REQUIRE": "icc_1_1=.95"}, 3, "more items suffice if ICC(1,1) equals its estimate"),
        ({"REQUIRE": "icc_1_1=.95", "ALLOW": "cannot-tell"}, 0, "**CANNOT TELL**"),
        ({"FOR": "score"}, 0, "**PASS** judge: "),
        ({"FOR": "score", "STRICT": "true"}, 1, "No human labels"),
        ({"FOR": "gate"}, 3, "no scores with pass / fail labels"),
        ({"MIN": "reliabilty=.9"}, 2, "Did you mean"),
        ({"MAX": "reliability=.9"}, 2, "Write reliability=.9 (at least .9)."),
        ({"REQUIRE": "reliability=1.5"}, 2, "is between -1 and 1; 1.5 is outside"),
        ({"REQUIRE": "![x](//a.b)@me=1"}, 2, "x"),
    ],
)
def test_the_step_gates_and_tells(tmp_path, monkeypatch, given, code, words) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(scores())
    given = {"FILE": "a.csv"} | given
    for name, value in {"GITHUB_STEP_SUMMARY": "page.md", "GITHUB_OUTPUT": "out.txt"}.items():
        monkeypatch.setenv(name, value)
    for name, value in given.items():
        monkeypatch.setenv(f"JUDGESTATS_{name}", value)
    assert gate_module().main() == code
    text = Path("page.md").read_text("utf-8")
    assert words in text.replace("\\", "")
    assert not re.search(r"(?<!\\)!\[|@me|\]\(", text), "markup of an input"
    outputs = dict(line.split("=", 1) for line in Path("out.txt").read_text().splitlines())
    assert outputs["exit-code"] == str(code)
    if code != 2:
        outcome = {0: ("USE", "USE_WITH_CARE", "CANNOT_TELL"), 3: ("CANNOT_TELL",)}
        assert outputs["verdict"] in outcome.get(code, ("DO_NOT_USE", "USE_WITH_CARE"))
        assert outputs["deciding"]


@contextmanager
def github(comments: list[dict], status: int = 200) -> Iterator[str]:
    """Comments of a pull request, as GitHub's interface lists, adds, and changes them."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self, data: object) -> None:
            text = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def sent(self) -> str:
            assert self.headers["Authorization"] == "Bearer secret-token"
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

        def do_GET(self) -> None:
            page = int(self.path.rpartition("=")[2])
            self.answer(comments[100 * page - 100 : 100 * page])

        def do_POST(self) -> None:
            assert self.path == "/repos/me/it/issues/7/comments"
            body = self.sent()
            if status == 200:
                comments.append({"id": len(comments), "body": body, "user": {"type": "Bot"}})
            self.answer({})

        def do_PATCH(self) -> None:
            comments[int(self.path.rpartition("/")[2])]["body"] = self.sent()
            self.answer({})

        def log_message(self, *_: object) -> None:
            """No line per request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def verdicts(changed: int, bit: str) -> str:
    """Ten repeats of 30 items; of some the output and its verdict changed."""
    words = ("fail", "pass")
    rows = [
        f"q{i}{bit},{r},{words[(i + (i < changed)) % 2]},text {i < changed} {i}"
        for i in range(30) for r in range(10)
    ]  # fmt: skip
    return "\n".join(["item,repeat,verdict,answer_text", *rows]) + "\n"


def step(folder: Path, url: str, **given: str) -> str:
    """The step of a pull request, and its summary."""
    (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    environ = {
        **os.environ, "PYTHONPATH": str(TOP), "GITHUB_STEP_SUMMARY": "page.md",
        "GITHUB_EVENT_PATH": "event.json", "GITHUB_JOB": "judge", "GITHUB_API_URL": url,
        "GITHUB_REPOSITORY": "me/it", "JUDGESTATS_COMMENT": "true",
        "JUDGESTATS_TOKEN": "secret-token", "NO_PROXY": "127.0.0.1",
    } | {f"JUDGESTATS_{name}": value for name, value in given.items()}  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(TOP / ".ci" / "gate.py")],
        cwd=folder, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "secret-token" not in done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return (folder / "page.md").read_text("utf-8")


def test_a_pull_request_gets_one_comment_with_its_flips_attributed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(verdicts(0, "@me"))
    (tmp_path / "b.csv").write_text(verdicts(3, "@me"))
    comments = [{"id": i, "body": "hello", "user": {"type": "User"}} for i in range(101)]
    comments[0]["body"] = "<!-- judgestats:judge --> copied by a person"
    for after in ("b.csv", "a.csv"):
        with github(comments) as url:
            page = step(tmp_path, url, BEFORE="a.csv", FILE=after)
        for said in re.findall(r"^\*\*(?:Changed|No change shown)\*\* (.*)", page, re.M):
            assert said.count("judge:") == 1, said
        [own] = [c["body"] for c in comments if c["user"]["type"] == "Bot"]
        assert own.startswith("<!-- judgestats:judge -->\n")
        assert comments[0]["body"].endswith("copied by a person")
        assert own.count("| system changed |") == (3 if after == "b.csv" else 0)
        assert "@me" not in own, "a mention is no mention"
    assert len(comments) == 102


def test_labels_are_decided_on_next_to_an_earlier_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(verdicts(0, ""))
    labels = [f"q{i},{('fail', 'pass')[i % 2]}" for i in range(30)]
    (tmp_path / "labels.csv").write_text("\n".join(["item,label", *labels]) + "\n")
    with github([]) as url:
        page = step(tmp_path, url, BEFORE="a.csv", FILE="a.csv", LABELS="labels.csv")
    assert "| judge | TPR |" in page
    assert "No change shown" in page


def test_a_token_that_only_reads_leaves_the_summary(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(scores())
    with github([], status=403) as url:
        page = step(tmp_path, url, FILE="a.csv", REQUIRE="icc_1_1=.8")
    assert "**PASS** judge: " in page
    assert "No comment: GitHub answered 403." in page
