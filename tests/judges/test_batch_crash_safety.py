"""Killed between any two steps of a batch: nothing handed in is handed in again or lost."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from judgestats.judges.journal import Journal

ROOT = str(Path(__file__).parents[2])
START = """
import asyncio, json, os, signal, sys, urllib.request
sys.path.insert(0, sys.argv[1])
from judgestats.judges.batches.book import BatchBook
from judgestats.judges.batches.client import BatchClient
from judgestats.judges.collect import collect_judgments
from judgestats.judges.journal import Journal
from judgestats.judgments.design import Condition, Task
from judgestats.items.schema import Item, Response
from judgestats.protocols.pointwise import Pointwise

url, folder = sys.argv[2:4]
protocol = Pointwise()
units = protocol.units(
    tuple(
        Item(id=f"q{i}", cluster=f"q{i}", turns=("?",), responses=(Response(turns=(f"a {i}",)),))
        for i in range(5)
    )
)
tasks = [
    Task(
        condition=Condition(judge=f"sim-typical@{url}", temperature=1.0),
        item_id=u.item_id, cluster=u.cluster, replicate=r,
        build=lambda mode, u=u: protocol.prompt(u, mode),
    )
    for u in units for r in range(4)
]
"""
KILLED = (
    START
    + """
STEPS = {
    "recorded": (BatchClient, "upload"),
    "uploaded": (BatchBook, "uploaded"),
    "file stored": (BatchClient, "create"),
    "created": (BatchBook, "created"),
    "id stored": (BatchClient, "state"),
    "ended": (BatchClient, "content"),
    "downloaded": (Journal, "fetched"),
}

async def at_once(seconds):
    await asyncio.sleep(0)

def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)

def collect(where):
    path = os.path.join(folder, where + ".db")
    return collect_judgments(tasks, mode="batch", journal=path, sleep=at_once)

def batches():
    with urllib.request.urlopen(url + "/batches?limit=100") as reply:
        return len(json.load(reply)["data"])

for where, (owner, name) in STEPS.items():
    before = batches()
    child = os.fork()
    if child == 0:
        setattr(owner, name, die)
        collect(where)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    handed_in = batches() - before
    with Journal(os.path.join(folder, where + ".db")) as journal:
        stored, waiting = len(journal), len(journal.batches.waiting())
    again = collect(where)
    third = collect(where)
    print(json.dumps({
        "where": where, "signal": os.WTERMSIG(status), "handed_in": handed_in,
        "stored": stored, "waiting": waiting, "in_all": batches() - before,
        "again": again.account.as_dict(), "complete": again.complete,
        "third": third.account.as_dict(),
        "same": again.frame["raw_text"].equals(third.frame["raw_text"]),
    }), flush=True)
"""
)
INTERRUPTED = (
    START
    + """
done = collect_judgments(tasks, mode="batch", journal=os.path.join(folder, "j.db"), progress=True)
print(json.dumps({"message": done.message, **done.account.as_dict()}), flush=True)
"""
)


def start(tmp_path, url, code):
    script = tmp_path / "run.py"
    script.write_text(code)
    return subprocess.Popen(
        [sys.executable, str(script), ROOT, url, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_killed_between_two_steps_the_same_command_goes_on(tmp_path, server):
    url, app = server()
    out, err = start(tmp_path, url, KILLED).communicate(timeout=300)
    found = {one["where"]: one for one in map(json.loads, out.splitlines())}
    handed_in = {where: one["handed_in"] for where, one in found.items()}
    assert handed_in == {
        "recorded": 0,
        "uploaded": 0,
        "file stored": 0,
        "created": 1,  # its id was never stored: found again by its metadata
        "id stored": 1,
        "ended": 1,
        "downloaded": 1,
    }, err
    for one in found.values():
        assert one["signal"] == signal.SIGKILL
        assert (one["stored"], one["waiting"]) == (1, 19)  # one was asked online, first of all
        assert one["complete"]
        assert one["in_all"] == 1  # never a second batch
        account = one["again"]
        assert (account["cached"], account["answered"], account["failed"]) == (1, 19, 0)
        assert account["requests"] == 19
        assert (one["third"]["cached"], one["third"]["requests"]) == (20, 0)
        assert one["same"]
    assert app.desk.billed == 7 * 19
    for where in found:
        with Journal(tmp_path / f"{where}.db") as journal:
            assert len(journal) == 20
            assert not journal.batches.waiting()
    uploads = [f for f in app.desk._files.values() if f.purpose == "batch"]
    assert len(uploads) == 7 + 1  # and the one whose id nobody ever knew


def test_a_real_interrupt_leaves_the_batch_on_the_server(tmp_path, server):
    url, app = server(batch_looks=10**9)
    process = start(tmp_path, url, INTERRUPTED)
    assert process.stderr is not None
    for line in process.stderr:
        if "handed in with 19 requests" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    account = json.loads(out.splitlines()[-1])
    assert "1 batches go on on the server (batch_000001)" in account["message"]
    assert account["answered"] == 1
    with Journal(tmp_path / "j.db") as journal:
        (record,) = journal.batches.open(url, "sim-typical")
        assert record.batch_id == "batch_000001"
    assert app.desk.billed == 0
