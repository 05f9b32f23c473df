"""Real processes to be killed and interrupted, forked from one that has imported everything once.

Starting Python and importing pandas and the SDK takes far longer than what such a test looks at. A
fork is a process like any other: it has an id of its own, holds its own locks, and dies of SIGKILL.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judgestats.collection import BatchClient, BatchStore, Journal, collect_judgments
from judgestats.data import Condition, Task
from judgestats.errors import JudgestatsError
from judgestats.items import Item, Response
from judgestats.protocols import Pointwise

ROOT = Path(__file__).parents[2]


# ------------------------------------------------------------------- what a fork does


def tasks_of(url: str, *, items: int, replicates: int) -> list[Task]:
    protocol = Pointwise()
    units = protocol.units(
        tuple(
            Item(id=f"q{i}", cluster=f"q{i}", turns=("?",), responses=(Response(turns=(f"a{i}",)),))
            for i in range(items)
        )
    )
    return [
        Task(
            condition=Condition(judge=f"sim-typical@{url}", temperature=1.0),
            item_id=unit.item_id,
            cluster=unit.cluster,
            replicate=r,
            build=lambda mode, unit=unit: protocol.prompt(unit, mode),
        )
        for unit in units
        for r in range(replicates)
    ]


def tell(value: object) -> None:
    print(json.dumps(value), flush=True)


def online(url: str, journal: str, items: int, concurrency: int) -> int:
    """Collect, telling the number of rows whenever there are more."""
    shown = 0

    def progress(account):
        nonlocal shown
        if account.rows > shown:
            shown = account.rows
            tell({"rows": shown})

    try:
        done = collect_judgments(
            tasks_of(url, items=items, replicates=10),
            journal=journal,
            concurrency=concurrency,
            progress=progress,
        )
    except JudgestatsError as error:
        tell({"error": str(error)})
        return 2
    told = {"why": done.stopped_because.value, "message": done.message}
    tell({**done.account.as_dict(), **told, "texts": done.frame["raw_text"].tolist()})
    return 0


STEPS = {
    "recorded": (BatchClient, "upload"),
    "uploaded": (BatchStore, "uploaded"),
    "file stored": (BatchClient, "create"),
    "created": (BatchStore, "created"),
    "id stored": (BatchClient, "state"),
    "ended": (BatchClient, "content"),
    "downloaded": (Journal, "store_batch"),
}
"""Where a batch's process is killed: before it does this."""


def killed_at_every_step(url: str, folder: str) -> int:
    """Collect in a batch, in a process killed at a step; then twice more."""
    tasks = tasks_of(url, items=5, replicates=4)

    async def at_once(seconds):
        await asyncio.sleep(0)

    def die(*arguments, **options):
        os.kill(os.getpid(), signal.SIGKILL)

    def collect(where):
        path = Path(folder) / f"{where}.db"
        return collect_judgments(tasks, mode="batch", journal=path, sleep=at_once)

    def batches():
        with urllib.request.urlopen(f"{url}/batches?limit=100") as reply:
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
        with Journal(Path(folder) / f"{where}.db") as journal:
            stored, waiting = len(journal), len(journal.batches.open_judgments())
        again = collect(where)
        third = collect(where)
        tell(
            {
                "where": where,
                "signal": os.WTERMSIG(status),
                "handed_in": handed_in,
                "stored": stored,
                "waiting": waiting,
                "in_all": batches() - before,
                "again": again.account.as_dict(),
                "complete": again.complete,
                "third": third.account.as_dict(),
                "same": again.frame["raw_text"].equals(third.frame["raw_text"]),
            }
        )
    return 0


def in_a_batch(url: str, journal: str) -> int:
    """Collect in a batch, waiting as long as it takes."""
    tasks = tasks_of(url, items=5, replicates=4)
    done = collect_judgments(tasks, mode="batch", journal=journal, progress=True)
    tell({"message": done.message, **done.account.as_dict()})
    return 0


DEEDS = {f.__name__: f for f in (online, killed_at_every_step, in_a_batch)}


# ------------------------------------------------------------------- forking


def serve() -> int:
    """Fork whatever is ordered on standard input, a socket, until it is closed."""
    orders = socket.socket(fileno=os.dup(0))
    running = set()
    while True:
        text, pipes, _, _ = socket.recv_fds(orders, 65536, 2)
        if not text:
            break
        order = json.loads(text)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            running.discard(order["wait"])
            orders.sendall(json.dumps(os.waitstatus_to_exitcode(status)).encode())
            continue
        child = os.fork()
        if child == 0:
            orders.close()
            for pipe, place in zip(pipes, (1, 2), strict=True):
                os.dup2(pipe, place)
                os.close(pipe)
            return DEEDS[order["do"]](**order["with"])
        for pipe in pipes:
            os.close(pipe)
        running.add(child)
        orders.sendall(json.dumps(child).encode())
    for child in running:  # of a test that failed
        os.kill(child, signal.SIGKILL)
    return 0


class Forked:
    """A process of the forge's; as far as it goes, what `subprocess.Popen` is."""

    def __init__(self, forge: Forge, pid: int, stdout: Any, stderr: Any) -> None:
        self.pid, self.stdout, self.stderr = pid, stdout, stderr
        self.returncode: int | None = None
        self._forge = forge

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def communicate(self, *, timeout: float = 60.0) -> tuple[str, str]:
        overdue = threading.Timer(timeout, self.send_signal, [signal.SIGKILL])
        overdue.start()
        try:
            with self.stdout, self.stderr:
                out, err = self.stdout.read(), self.stderr.read()
            self.returncode = self._forge.ask({"wait": self.pid})
        finally:
            overdue.cancel()
        return out, err

    def until_rows(self, rows: int) -> None:
        """Read on until it has told of so many rows."""
        for line in self.stdout:
            if json.loads(line).get("rows", 0) >= rows:
                return
        raise AssertionError(f"ended early: {self.stderr.read()}")

    def result(self) -> dict[str, Any]:
        """What it told last."""
        out, err = self.communicate()
        assert out.strip(), err
        return json.loads(out.splitlines()[-1])


class Forge:
    """The process that has imported everything, seen from the tests."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders

    def ask(self, order: dict[str, Any], pipes: tuple[int, ...] = ()) -> int:
        socket.send_fds(self._orders, [json.dumps(order).encode()], pipes)
        return int(json.loads(self._orders.recv(64)))

    def start(self, deed: Any, **arguments: object) -> Forked:
        """Fork a process that does a deed of this module."""
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        pid = self.ask({"do": deed.__name__, "with": arguments}, (to_out, to_err))
        os.close(to_out)
        os.close(to_err)
        return Forked(self, pid, os.fdopen(out), os.fdopen(err))


@contextmanager
def forging() -> Iterator[Forge]:
    """Start the forge; it ends with the context."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.collection.forge"],
        stdin=theirs,
        cwd=ROOT,
        # One thread: a fork has no other.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    theirs.close()
    try:
        yield Forge(ours)
    finally:
        ours.close()
        process.wait(timeout=60)


if __name__ == "__main__":
    sys.exit(serve())
