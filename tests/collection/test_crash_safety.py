"""Killed, interrupted, started twice: what the journal promises, shown with real processes."""

import json
import signal

import pytest

from judgestats.collection import Journal
from tests.collection.forge import online


@pytest.fixture
def start(forge, tmp_path):
    """Starts a collection into one journal, in a process of its own."""

    def started(url, *, items=20, concurrency=8):
        path = str(tmp_path / "j.db")
        return forge.start(online, url=url, journal=path, items=items, concurrency=concurrency)

    return started


def test_killed_in_the_middle_nothing_answered_is_lost_or_asked_again(tmp_path, server, start):
    url, app = server(latency_s=0.02, latency_spread=0.5)
    process = start(url)
    process.until_rows(60)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with Journal(tmp_path / "j.db") as journal:
        stored = len(journal)
    assert 200 > stored >= 60  # counted means stored
    asked_before = app.received
    assert asked_before <= stored + 8  # besides, at most what was in flight

    account = start(url).result()
    assert account["cached"] == stored
    assert account["answered"] == 200 - stored
    assert account["requests"] == 200 - stored
    assert asked_before - stored <= account["possibly_billed_twice"] <= 8
    assert len(account["texts"]) == 200
    with Journal(tmp_path / "j.db") as journal:
        assert not journal._lost  # and it is reported once


def test_an_interrupt_ends_in_order_and_says_how_to_go_on(tmp_path, server, start):
    url, app = server(latency_s=0.05)
    process = start(url)
    process.until_rows(10)
    process.send_signal(signal.SIGTERM)
    account = process.result()
    assert process.returncode == 0
    assert account["why"] == "interrupted"
    assert account["asked"] == account["answered"] == app.answered  # those in flight came home
    assert "Run the same command again" in account["message"]
    with Journal(tmp_path / "j.db") as journal:
        assert len(journal) == account["answered"]
        assert not journal._lost


def test_a_second_interrupt_does_not_wait_and_is_no_traceback(tmp_path, server, start):
    url, _ = server(stalled=0.5, stall_s=600.0)
    process = start(url, concurrency=16)
    process.until_rows(3)
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


def test_an_interrupt_does_not_wait_for_a_slow_server(server, start):
    url, _ = server(stalled=0.5, stall_s=600.0)
    process = start(url, concurrency=16)
    process.until_rows(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)  # two seconds of grace, the rest is slack
    assert '"why": "interrupted"' in out
    assert "Traceback" not in err


def test_two_processes_on_one_journal(server, start):
    url, _ = server(latency_s=0.05)
    first = start(url, items=1000)
    first.until_rows(1)
    second = start(url)
    refused = second.result()
    assert second.returncode == 2
    assert f"in use by another process (process {first.pid}" in refused["error"]
    first.send_signal(signal.SIGINT)
    assert first.result()["failed"] == 0
