"""Waits that end, signals, exit codes, and what a killed process leaves."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from judgestats import deadlines
from judgestats.deadlines import handled_by, run_program, scratch_folder
from judgestats.errors import RenderError, StoreError
from judgestats.tracking import open_store

STOPPED = """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(str(child.pid))
os.kill(os.getpid(), signal.SIGSTOP)
"""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_deadlines_are_those_that_the_page_states():
    page = (Path(__file__).parents[1] / "docs" / "robustness.md").read_text(encoding="utf-8")
    assert f"with its process group after {deadlines.PROGRAM_SECONDS:g} s" in page
    assert f"named after {deadlines.SAY_SECONDS:g} s" in page
    assert f"ends within a second, or after {deadlines.END_SECONDS:g} s" in page
    assert deadlines.AGAIN_SECONDS < 1


def test_a_stopped_program_is_ended_with_all_that_it_started(tmp_path):
    pid = tmp_path / "pid"
    before = time.monotonic()
    with pytest.raises(RenderError, match="pandoc took longer than 2 seconds and was ended"):
        run_program([sys.executable, "-c", STOPPED, str(pid)], 2.0, "pandoc")
    assert time.monotonic() - before < 20
    child = int(pid.read_text())
    deadline = time.monotonic() + 10
    while is_running(child) and time.monotonic() < deadline:
        os.sched_yield()
    assert not is_running(child)
    assert not deadlines._programs


def test_a_program_gets_its_input_and_gives_its_output_and_code(tmp_path):
    code = "import sys, os; print(sys.stdin.read()[::-1], os.getcwd()); sys.exit(3)"
    done = run_program([sys.executable, "-c", code], 60, "python", given=b"abc", folder=tmp_path)
    assert done.stdout.decode().split() == ["cba", str(tmp_path)]
    assert done.returncode == 3
    with pytest.raises(RenderError, match="quarto cannot be run: "):
        run_program(["/nowhere/quarto"], 60, "quarto")


def test_scratch_of_a_killed_process_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(deadlines, "_swept", [])
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait(30)
    start = f"judgestats-{deadlines._machine()}"
    stale, other = tmp_path / f"{start}-{dead.pid}-files-x", tmp_path / f"{start}-{os.getpid()}-a-y"
    kept = tmp_path / "judgestats-kept-x"
    link = tmp_path / f"{start}-{dead.pid}-files-link"
    for folder in (stale, other, kept):
        folder.mkdir()
    link.symlink_to(kept)
    with scratch_folder() as scratch:
        assert {p.name for p in tmp_path.iterdir()} == {
            p.name for p in (other, kept, link, scratch)
        }
    assert not scratch.exists()


COMMAND = """
import sys
from judgestats import cli, deadlines
deadlines.END_SECONDS = float(sys.argv[1])
{block}
def busy(words, program):
    print("ready", flush=True)
    wait()
cli._run = busy
sys.exit(cli.main())
"""
SLEEPS = "import time\ndef wait(): time.sleep(600)"
FROZEN = """
import ctypes
lock = ctypes.create_string_buffer(64)
take = ctypes.CDLL(None).pthread_mutex_lock
take(lock)
def wait():  # as inside a call on a frozen drive: no signal handler of Python runs
    take(lock)
"""


def wait_until_asleep(process: subprocess.Popen) -> None:
    """Until the main thread is inside its call."""
    stat = Path(f"/proc/{process.pid}/task/{process.pid}/stat")
    seen = 0
    while seen < 20:
        seen = seen + 1 if stat.read_text().split()[2] == "S" else 0
        os.sched_yield()


def start(block: str, end_seconds: float = 10.0, **options) -> subprocess.Popen:
    program = COMMAND.replace("{block}", block)
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(end_seconds)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_a_command_with_its_code_and_one_sentence(name, code):
    number = getattr(signal, name)  # under nohup it is ignored, and a child inherits that
    process = start(SLEEPS, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert said.strip().splitlines() == [
        "judgestats: stopped; run the same command again to go on where it stopped."
    ]


EARLY = """
import os, signal, sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "judgestats.cli":
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupted())
"""


def test_an_interrupt_while_modules_load_is_no_gate_that_failed(tmp_path):
    (tmp_path / "early.py").write_text(EARLY)
    path = f"{tmp_path}:{Path(deadlines.__file__).parents[1]}"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import early, runpy; runpy.run_module('judgestats', None, '__main__')",
        ],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_hang_up_that_was_ignored_at_the_start_stays_ignored():
    process = start(SLEEPS, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143


def test_two_interrupts_end_a_process_that_is_inside_a_frozen_call():
    process = start(FROZEN)
    wait_until_asleep(process)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began < 5  # 0.8 s on a quiet machine


def test_one_interrupt_ends_a_frozen_process_at_the_deadline():
    process = start(FROZEN, end_seconds=0.2)
    wait_until_asleep(process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143


@pytest.fixture
def track():
    """Sets the tracking store's address, whatever another test set."""
    import mlflow

    before = mlflow.get_tracking_uri()
    yield mlflow.set_tracking_uri
    mlflow.set_tracking_uri(before)


def test_a_store_that_another_process_holds_is_named(tmp_path, monkeypatch, capfd, track):
    file = tmp_path / "held.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("CREATE TABLE t (x)")
        other.execute("BEGIN EXCLUSIVE")
        track(f"sqlite:///{file}")
        monkeypatch.setattr("judgestats.tracking.store._BUSY_SECONDS", 0.3)
        monkeypatch.setattr(deadlines, "SAY_SECONDS", 0.05)
        with pytest.raises(StoreError, match=r"^Another process holds .*held\.db"):
            open_store()
    assert "Waiting for" in capfd.readouterr().err


def test_a_pipe_as_a_store_is_refused_at_once(tmp_path, track):
    os.mkfifo(tmp_path / "pipe.db")
    track(f"sqlite:///{tmp_path / 'pipe.db'}")
    with pytest.raises(StoreError, match="is not a plain file"):
        open_store()


def test_a_tracking_server_that_never_answers_ends_with_code_5(
    tmp_path, monkeypatch, capsys, track
):
    import socket

    from judgestats.cli import main

    monkeypatch.chdir(tmp_path)
    rows = [f"q{i},j,{t},{(i + t) % 9 + 1}" for i in range(12) for t in range(2)]
    (tmp_path / "good.csv").write_text("\n".join(["item_id,judge,repeat,score", *rows]) + "\n")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = threading.enumerate()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        track(f"http://127.0.0.1:{port}")
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        code = main(["analyze", "good.csv", "--report", "none", "--resamples", "99"])
    said = capsys.readouterr().err
    assert code == 5, said
    [kept] = tmp_path.glob("judgestats-kept-*")
    assert (kept / "results.json").is_file()
    assert str(kept) in said
    assert not [t for t in threading.enumerate() if "judgestats" in t.name and t not in before]


def test_signals_are_handed_over_and_the_ignored_ones_stay_ignored():
    seen = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    kept = signal.getsignal(signal.SIGTERM)
    try:
        with handled_by(lambda number, _: seen.append(number)):
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGTERM)
        assert seen == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is kept
    finally:
        signal.signal(signal.SIGHUP, before)
