"""Kill a run with SIGKILL at random moments, and give the same command again.

Writes run_kills.csv next to this file; some minutes on one core (Linux):

    python docs/simulations/run_kills.py                    # 20 kills with each of two seeds
    python docs/simulations/run_kills.py --kills 2 --print  # a glance

Each child runs the command `judgestats run temperature` against a judge on loopback that counts
what it is asked, and is killed after a share, drawn from 0 to 1, of the time that a run takes. Then
the command runs again. Answers that were stored must not be asked for again, and those in flight at
most once more. The scores must be those of a run that nobody killed, and nothing may be left.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import mlflow.data.pandas_dataset
import mlflow.store.tracking.sqlalchemy_store  # noqa: F401
import numpy as np
import pandas as pd
from tables import write_rows

from judgestats.analysis import temperature  # noqa: F401
from judgestats.cli import main
from judgestats.collection import Journal
from judgestats.simulated import Faults, SimulatedServer, run_server

IN_FLIGHT = 8


def command(url: str, items: int) -> list[str]:
    """The run that is killed."""
    words = ["run", "temperature", "--judges", f"sim-typical@{url}", "--temperatures", "0.5,1"]
    words += ["--limit", str(items), "--repeats", "5", "--resamples", "99", "--report", "none"]
    return [*words, "--crosscheck", "no", "--concurrency", str(IN_FLIGHT)]


@contextlib.contextmanager
def counting_server(asked: Path) -> Iterator[str]:
    """A judge in a separate process that notes each request in a file; its address."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        app = SimulatedServer(Faults(latency_s=0.1, latency_spread=0.5))
        inner = app._completions.reply

        def reply(*given, identity, **options):
            with asked.open("a") as file:
                file.write(f"{identity.hex()}\n")
            return inner(*given, identity=identity, **options)

        app._completions.reply = reply
        with run_server(app) as url:
            os.write(there, url.encode())
            signal.pause()
    try:
        yield os.read(here, 200).decode()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def start(words: list[str], folder: Path) -> int:
    """Run a command in a child with its own session; return its process id."""
    if child := os.fork():
        return child
    os.setsid()
    os.chdir(folder)
    (folder / "scratch").mkdir(exist_ok=True)
    tempfile.tempdir = str(folder / "scratch")
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    code = 70
    try:
        code = main(words)
        (folder / "modules").write_text("\n".join(sys.modules))
    finally:
        os._exit(code)


def import_modules(names: list[str]) -> None:
    """Import what a run imported, so that later children need not."""
    for name in names:
        if name.startswith(("judgestats.", "mlflow.")):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def members(session: int) -> int:
    """Processes of a session that still run."""
    found = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, of = stat.read_text().rpartition(") ")[2].split()[:4]
            found += state != "Z" and int(of) == session
    return found


def requests_of(asked: Path) -> Counter[str]:
    """How often each request came."""
    return Counter(asked.read_text().split() if asked.exists() else ())


def stored_answers(folder: Path) -> int:
    """Answers in a journal, counted in a copy: opening one settles what was in flight."""
    if not (folder / ".judgestats/journal.sqlite").exists():
        return 0
    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(folder / ".judgestats", Path(place) / "copy")
        with Journal(copy / "journal.sqlite") as journal:
            return len(journal)


def scores(folder: Path) -> list[tuple[object, ...]]:
    """Judgments of the last run of a folder."""
    made = folder.glob("mlruns/*/*/artifacts/data/judgments.parquet")
    last = max(made, key=os.path.getmtime, default=None)
    if last is None:
        return []
    keys = ["item_id", "temperature", "replicate"]
    return sorted(map(tuple, pd.read_parquet(last)[[*keys, "score"]].to_numpy().tolist()))


def statuses(folder: Path) -> Counter[str]:
    """Runs of a folder's store by status."""
    if not (folder / "mlflow.db").exists():
        return Counter()
    with contextlib.closing(sqlite3.connect(folder / "mlflow.db")) as db:
        return Counter(status for (status,) in db.execute("select status from runs"))


def study(kills: int, items: int, seed: int, place: Path) -> list[dict[str, object]]:
    """One row per kill."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    seconds, whole, total = 0.0, [], 0
    while len(rows) < kills:
        folder = place / str(len(list(place.iterdir())))
        folder.mkdir()
        asked = folder / "asked"
        with counting_server(asked) as url:
            words = command(url, items)
            began = time.perf_counter()
            child = start(words, folder)
            if len(list(place.iterdir())) < 3:  # twice: the first one imports
                if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
                    raise SystemExit((folder / "output").read_text())
                seconds, whole = time.perf_counter() - began, scores(folder)
                total = requests_of(asked).total()
                import_modules((folder / "modules").read_text().split())
                continue
            share = rng.random()
            time.sleep(share * seconds)
            os.kill(child, signal.SIGKILL)
            _, ended = os.waitpid(child, 0)
            if not os.WIFSIGNALED(ended):
                if ended:
                    raise SystemExit((folder / "output").read_text())
                continue  # the run had ended
            left = members(child)
            time.sleep(1)  # the server notes what it answers when it is sent
            before, stored = requests_of(asked), stored_answers(folder)
            again = start(words, folder)
            code = os.waitstatus_to_exitcode(os.waitpid(again, 0)[1])
            after = requests_of(asked)
        if code:
            print((folder / "output").read_text(), file=sys.stderr)
        rows.append({
            "kill": len(rows) + 1, "share_of_a_run": f"{share:.2f}",
            "asked_before": before.total(), "stored": stored,
            "asked_after": after.total() - before.total(),
            "asked_twice": sum(n - 1 for n in after.values()),
            "in_flight": before.total() - stored,
            "lost": after.total() - before.total() - (total - stored),
            "exit_code": code, "same_scores": int(scores(folder) == whole),
            "runs_left_running": statuses(folder)["RUNNING"],
            "processes_left": left + members(again),
            "scratch_left": len(list((folder / "scratch").iterdir())),
        })  # fmt: skip
        print(*rows[-1].values(), sep=",", file=sys.stderr)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="for each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[41, 42])
    parser.add_argument("--items", type=int, default=12)
    parser.add_argument("--print", action="store_true", help="print the table, write nothing")
    given = parser.parse_args()
    made_rows: list[dict[str, object]] = []
    for number in given.seeds:
        with tempfile.TemporaryDirectory() as where:
            found = study(given.kills, given.items, number, Path(where))
        made_rows += [{"seed": number} | row for row in found]
    if given.print:
        print(*made_rows[0], sep=",")
        for row in made_rows:
            print(*row.values(), sep=",")
    else:
        write_rows("run_kills.csv", made_rows)
