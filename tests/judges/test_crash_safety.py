"""Killed, interrupted, started twice: what the journal promises, shown with real processes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from judgestats.judges.journal import Journal

SCRIPT = """
import json, sys
from judgestats.errors import JudgestatsError
from judgestats.items.schema import Item, Response
from judgestats.judges.collect import collect_judgments
from judgestats.judgments.design import Condition, Task
from judgestats.protocols.pointwise import Pointwise

url, journal, items, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
protocol = Pointwise()
units = protocol.units(
    tuple(
        Item(id=f"q{i}", cluster=f"q{i}", turns=("?",), responses=(Response(turns=(f"a {i}",)),))
        for i in range(items)
    )
)
tasks = [
    Task(
        condition=Condition(judge=f"sim-typical@{url}", temperature=1.0),
        item_id=u.item_id, cluster=u.cluster, replicate=r,
        build=lambda mode, u=u: protocol.prompt(u, mode),
    )
    for u in units for r in range(10)
]
shown = 0
def progress(account):
    global shown
    if account.rows > shown:
        shown = account.rows
        print("rows", account.rows, flush=True)
try:
    done = collect_judgments(tasks, journal=journal, concurrency=concurrency, progress=progress)
except JudgestatsError as error:
    print(json.dumps({"error": str(error)}), flush=True)
    sys.exit(2)
print(json.dumps({**done.account.as_dict(), "why": done.stopped_because.value,
                  "message": done.message, "texts": done.frame["raw_text"].tolist()}), flush=True)
"""


def start(tmp_path: Path, url: str, *, items: int = 20, concurrency: int = 8):
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(script), url, str(tmp_path / "j.db"), str(items), str(concurrency)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def until_some_rows(process, rows: int) -> None:
    for line in process.stdout:
        if line.startswith("rows") and int(line.split()[1]) >= rows:
            return
    raise AssertionError(f"ended early: {process.stderr.read()}")


def result(process) -> dict:
    out, err = process.communicate(timeout=120)
    assert out.strip(), err
    return json.loads(out.splitlines()[-1])


@pytest.mark.parametrize("after", [1, 60])
def test_killed_in_the_middle_nothing_answered_is_lost_or_asked_again(tmp_path, server, after):
    url, app = server(latency_s=0.05, latency_spread=0.5)
    process = start(tmp_path, url)
    until_some_rows(process, after)
    process.kill()
    process.communicate()
    with Journal(tmp_path / "j.db") as journal:
        stored = len(journal)
    assert stored >= after  # counted means stored
    asked_before = app.received
    assert asked_before <= stored + 8  # besides, at most what was in flight

    account = result(start(tmp_path, url))
    assert account["cached"] == stored
    assert account["answered"] == 200 - stored
    assert account["requests"] == 200 - stored
    assert asked_before - stored <= account["possibly_billed_twice"] <= 8
    assert len(account["texts"]) == 200
    with Journal(tmp_path / "j.db") as journal:
        assert not journal._lost  # and it is reported once


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_in_order_and_says_how_to_go_on(tmp_path, server, how):
    url, app = server(latency_s=0.05)
    process = start(tmp_path, url)
    until_some_rows(process, 10)
    process.send_signal(how)
    account = result(process)
    assert process.returncode == 0
    assert account["why"] == "interrupted"
    assert account["asked"] == account["answered"] == app.answered  # those in flight came home
    assert "Run the same command again" in account["message"]
    with Journal(tmp_path / "j.db") as journal:
        assert len(journal) == account["answered"]
        assert not journal._lost


def test_an_interrupt_does_not_wait_for_a_slow_server(tmp_path, server):
    url, _ = server(stalled=0.5, stall_s=600.0)
    process = start(tmp_path, url, concurrency=16)
    until_some_rows(process, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)  # two seconds of grace, the rest is start-up slack
    account = json.loads(out.splitlines()[-1])
    assert account["why"] == "interrupted"
    assert "Traceback" not in err


def test_two_processes_on_one_journal(tmp_path, server):
    url, _ = server(latency_s=0.05)
    first = start(tmp_path, url, items=1000)
    until_some_rows(first, 1)
    second = start(tmp_path, url)
    refused = result(second)
    assert second.returncode == 2
    assert f"in use by another process (process {first.pid}" in refused["error"]
    first.send_signal(signal.SIGINT)
    assert result(first)["failed"] == 0


def test_a_second_interrupt_does_not_wait_and_is_no_traceback(tmp_path, server):
    url, _ = server(stalled=0.5, stall_s=600.0)
    process = start(tmp_path, url, concurrency=16)
    until_some_rows(process, 3)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    account = json.loads(out.splitlines()[-1])
    assert process.returncode == 0
    assert account["why"] == "interrupted"
    assert "Traceback" not in err
    broken_off = account["requests"] - account["answered"]
    assert account["discarded"] == broken_off > 0  # perhaps billed
    with Journal(tmp_path / "j.db") as journal:
        assert len(journal) == account["answered"]
        assert len(journal._lost) == broken_off  # and asked again, as the next run will say
