"""A screen that nobody reads, or that few characters fit on, changes no run and no exit code."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.terminal import emit, is_terminal

RUN = shlex.split(
    "run temperature --judges sim-typical --temperatures 0,1 --repeats 3 --limit 4"
    " --resamples 99 --report none"
)
CLOSED = ("{command} 2>&1 | true; exit ${{PIPESTATUS[0]}}", "{command} <&- >&- 2>&-")
REQUESTS = "n_requests"
NARROW = ("ascii", "cp1252")


class Broken(io.StringIO):
    """A stream on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def scores(path: Path, *, judge: str = "j") -> str:
    rows = [f"q{i},{judge},{t},{(i * (t + 2)) % 9 + 1}" for i in range(6) for t in range(3)]
    path.write_text("\n".join(["item_id,judge,repeat,score", *rows]) + "\n")
    return str(path)


def last_run() -> tuple[str, dict[str, float]]:
    import mlflow

    client = mlflow.MlflowClient()
    ids = [e.experiment_id for e in client.search_experiments()]
    runs = client.search_runs(ids, filter_string="tags.judgestats.kind != 'condition'")
    newest = max(runs, key=lambda r: r.info.start_time)
    # the answers of a second run come from the journal
    return newest.info.status, {k: v for k, v in newest.data.metrics.items() if k != REQUESTS}


def in_bash(template: str, words: list[str], **environ: str) -> subprocess.CompletedProcess[bytes]:

    command = shlex.join([sys.executable, "-m", "judgestats", *words])
    root = str(Path(__file__).parents[1])
    return subprocess.run(
        ["bash", "-c", template.format(command=command)],
        env=os.environ | {"PYTHONPATH": root} | environ,
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_a_run_is_the_same_wherever_its_output_goes(workplace, monkeypatch):
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding="ascii"))
    assert main(RUN) == 0
    text = screen.getvalue().decode("ascii")
    assert "1 judge x 4 items" in text
    assert "?" not in text
    expected = last_run()
    assert expected[0] == "FINISHED"
    for template in CLOSED:
        done = in_bash(template, RUN)
        assert (template, done.returncode) == (template, 0)
        assert done.stderr == b""
        assert last_run() == expected


@pytest.mark.parametrize("stream", [None, Broken()], ids=["no stdout", "full disk"])
def test_commands_end_as_if_they_had_printed(workplace, capsys, monkeypatch, stream):
    file = scores(workplace / "my.csv")
    analyze = ["analyze", file, "--resamples", "99", "--report", "none"]
    assert main(analyze) == 0
    status, metrics = last_run()
    run = main_run_id()
    name = next(iter(sorted(k for k in metrics if "mean" in k or "icc" in k)), "")
    passed = ["check", run, "--require", f"{name}<=100"]
    failed = ["check", run, "--require", f"{name}<=-100"]
    codes = [main(words) for words in (passed, failed)]
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(analyze) == 0
    assert [main(words) for words in (passed, failed)] == codes
    assert last_run() == (status, metrics) == ("FINISHED", metrics)


def main_run_id() -> str:
    import mlflow

    client = mlflow.MlflowClient()
    ids = [e.experiment_id for e in client.search_experiments()]
    return client.search_runs(ids, filter_string="tags.judgestats.kind = 'audit'")[0].info.run_id


@pytest.mark.parametrize("encoding", NARROW)
def test_characters_that_an_encoding_lacks_have_plain_forms(monkeypatch, encoding):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    emit("− ± – × … “x” ‘y’ κ ≤ é\n")
    shown = {
        "ascii": "- +/- - x ... \"x\" 'y' kappa <= e\n",
        "cp1252": "- ± – × … “x” ‘y’ kappa <= é\n",
    }
    assert raw.getvalue().decode(encoding) == shown[encoding]


RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


@pytest.mark.parametrize("runner", [*RUNNERS, ""])
def test_no_name_is_a_command_of_a_ci_runner(capsys, monkeypatch, runner):
    for name in RUNNERS:
        monkeypatch.delenv(name, raising=False)
    if runner:
        monkeypatch.setenv(runner, "true")
    text = "::stop-commands::x\n  ::add-mask::y .5\na ::b\n##[error]c ##vso[t.d]\n##teamcity[e]\n"
    emit(text)
    emit(text, error=True)
    safe = (
        ": :stop-commands::x\n  : :add-mask::y .5\na ::b\n## [error]c ## vso[t.d]\n## teamcity[e]\n"
    )
    assert tuple(capsys.readouterr()) == ((safe, safe) if runner else (text, text))
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    emit(
        "\uff1a\uff1aerror::x \uff03\uff03[error]\n"
    )  # wide signs, whose plain forms are a command
    assert raw.getvalue() == (b": :error::x ## [error]\n" if runner else b"::error::x ##[error]\n")


def test_a_full_disk_is_named(workplace):
    """A write that fails names no file."""
    rows = [
        f"q{i},j{j},{t},{(i * j + t) % 9 + 1}" for i in range(9) for j in range(4) for t in (0, 1)
    ]
    (workplace / "my.csv").write_text("\n".join(["item_id,judge,repeat,score", *rows]) + "\n")
    words = ["analyze", "my.csv", "--report", "none", "--resamples", "99"]
    done = in_bash("ulimit -f 4; {command}", words)
    assert done.returncode == 2
    assert b"judgestats: not written (File too large). Free space" in done.stderr
    (workplace / "l.csv").write_text("item_id,annotator,label\nq1,a,pass\n")
    assert main(["labels", "export", "l.csv"]) == 0
    done = in_bash("ulimit -f 0; {command}", ["labels", "collect", "l.csv", "--out", "l.html"])
    assert (done.returncode, b"l.db: not written" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "environ",
    [
        "env -u HOME -u TERM COLUMNS=1 NO_COLOR=1",
        "HOME=/proc/1/x TMPDIR=/proc COLUMNS=-7 TZ=../../etc LC_ALL=C PYTHONUTF8=0",
        "COLUMNS=99999999999999999999 LANG=tr_TR.UTF-8 PATH=",
    ],
)
def test_a_strange_environment_changes_no_result(workplace, environ):
    file = scores(workplace / "my.csv")
    words = ["analyze", file, "--track", "none", "--report", "none", "--resamples", "99"]
    done = in_bash(f"{environ} {{command}} 2>&1", words)
    text = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, text
    assert "Traceback" not in text
    assert "ICC(1,1)" in text
    assert "\x1b" not in text


def test_each_stream_is_asked_whether_a_person_reads_it(monkeypatch):
    shown = io.StringIO()
    shown.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert is_terminal()
    assert not is_terminal(error=True)


def test_json_in_a_narrow_encoding_loses_no_character(workplace, monkeypatch):
    file = scores(workplace / "my.csv", judge="评委")
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["analyze", file, "--track", "none", "--report", "none", "--json"]) == 0
    assert json.loads(raw.getvalue())["results"]["conditions"][0]["judge"] == "评委"


def test_an_unexpected_error_is_one_line_and_a_log_without_secrets(workplace, capsys, monkeypatch):
    import tempfile

    from judgestats.commands import demo
    from judgestats.redaction import keep_secret

    def broken(_: object) -> int:
        raise KeyError("sk-secret-0815-4711")

    keep_secret("sk-secret-0815-4711")
    monkeypatch.setattr(demo, "demo_command", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(workplace))
    assert main(["demo"]) == 4
    [log] = workplace.glob("judgestats-error-*.log")
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("judgestats: internal error (KeyError")
    assert str(log) in line
    text = log.read_text("utf-8")
    assert "Traceback (most recent call last)" in text
    assert "sk-secret" not in text + line


def test_only_one_module_writes_to_the_standard_streams():
    import ast

    root = Path(__file__).parents[1] / "judgestats"
    found = []
    for path in sorted(root.rglob("*.py")):
        if path.name == "terminal.py":
            continue
        text = path.read_text("utf-8")
        if not any(word in text for word in ("print(", ".echo(", ".write(")):
            continue
        for node in ast.walk(ast.parse(text)):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in {"print", "click.echo", "sys.stdout.write", "sys.stderr.write"}:
                found.append(f"{path.relative_to(root)}:{node.lineno}: {called}")
    assert found == []
