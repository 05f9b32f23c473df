"""Kill a monitor with SIGKILL inside the transaction that adds a period.

Writes monitor_kills.csv next to this file; under a minute on one core (Linux and macOS):

    python docs/simulations/monitor_kills.py             # 200 kills
    python docs/simulations/monitor_kills.py --kills 20  # a glance

Each child adds a period to a copy of the same state, and reports when its transaction begins and
when it commits. Three quarters of the children are killed at a random moment between the two. The
others are killed at a random moment of the commit, which writes the file. A child that had ended
is restarted. The state must then be that before or that after the period. Every e-value must equal
one from a run without a kill, within 1e-12.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import signal
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from tables import write_rows

from judgestats.decisions import ChangeMonitor

ANCHORS, REPEATS, AGAIN, NEW = 200, 3, 20, 60
BEGINS, COMMITS = b"b", b"c"
Period = tuple[list[tuple[str, int]], list[int]]


def judgments(rng: np.random.Generator, period: int) -> Period:
    """Repeated anchors and new answers of one period."""
    names = rng.choice(ANCHORS, AGAIN, replace=False)
    again = [(f"a{i}", int(rng.random() < 0.7)) for i in names]
    return again, [int(rng.random() < 0.6 - 0.02 * period) for _ in range(NEW)]


def e_values(path: Path) -> tuple[int, np.ndarray]:
    """Period of a state, and log e of judge and system after each."""
    found = ChangeMonitor(path).verdict()
    return found.period, np.array([one[1:] for one in found.series], dtype=float)


def add_in_child(path: Path, period: Period) -> tuple[int, int]:
    """A child that adds a period, and a pipe that tells where its transaction stands."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    connect = sqlite3.connect

    def traced(*place: Any, **options: Any) -> sqlite3.Connection:
        db = connect(*place, **options)
        said = {"BEGIN IMMEDIATE": BEGINS, "COMMIT": COMMITS}
        db.set_trace_callback(lambda text: os.write(write, said.get(text, b"")) and None)
        return db

    sqlite3.connect = traced
    ChangeMonitor(path).add_period(*period)
    os._exit(0)


def durations(path: Path, period: Period) -> tuple[float, float]:
    """Seconds from the begin of a transaction to its commit, and from there to the end."""
    child, pipe = add_in_child(path, period)
    times = []
    while os.read(pipe, 1):
        times.append(time.perf_counter())
    times.append(time.perf_counter())
    os.close(pipe)
    os.waitpid(child, 0)
    return times[1] - times[0], times[2] - times[1]


def killed(path: Path, period: Period, seconds: float, after: bytes) -> str:
    """Kill a child this number of seconds after a mark; return the stage of its transaction."""
    child, pipe = add_in_child(path, period)
    seen = b""
    while not seen.endswith(after):
        seen += os.read(pipe, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while rest := os.read(pipe, 16):
        seen += rest
    os.close(pipe)
    if not os.WIFSIGNALED(status):
        return "ended"
    return "committing" if COMMITS in seen else "open"


def study(kills: int, folder: Path) -> list[dict[str, object]]:
    """Kills of periods 1 to 10, in turn."""
    rng = np.random.default_rng(41)
    path = folder / "monitor.db"
    reference = {f"a{i}": (rng.random(REPEATS) < 0.8).astype(int).tolist() for i in range(ANCHORS)}
    ChangeMonitor(path).open(reference, old=(rng.random(2000) < 0.6).astype(int).tolist())
    rows: list[dict[str, object]] = []
    for number in range(1, 11):
        made, after = judgments(rng, number), folder / "after.db"
        shutil.copy(path, after)
        trial = folder / "trial.db"
        shutil.copy(path, trial)
        open_, commit = durations(trial, made)
        ChangeMonitor(after).add_period(*made)
        whole = dict([e_values(after)]) | (dict([e_values(path)]) if number > 1 else {})
        states = {"before": 0, "after": 0, "neither": 0}
        stood = {"open": 0, "committing": 0}
        largest = 0.0
        for k in range(math.ceil(kills / 10)):
            copy, late, where = folder / f"{number}-{k}.db", k % 4 == 3, ""
            while where not in stood:
                shutil.copy(path, copy)
                wait = (commit if late else open_) * rng.random()
                where = killed(copy, made, wait, COMMITS if late else BEGINS)
            stood[where] += 1
            period, found = e_values(copy)
            known = whole.get(period, np.zeros((0, 2)) if period == 0 else None)
            if known is None or known.shape != found.reshape(-1, 2).shape:
                states["neither"] += 1
                continue
            states["after" if period == number else "before"] += 1
            largest = max(largest, float(np.abs(known - found.reshape(-1, 2)).max(initial=0.0)))
        rows.append({
            "period": number, "kills": math.ceil(kills / 10),
            **{f"transaction_{name}": n for name, n in stood.items()},
            **{f"state_{name}": n for name, n in states.items()},
            "largest_difference_of_log_e": f"{largest:.1e}",
        })  # fmt: skip
        shutil.copy(after, path)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    with tempfile.TemporaryDirectory() as place:
        made_rows = study(parser.parse_args().kills, Path(place))
    for row in made_rows:
        print(*row.values(), sep=" | ")
    write_rows("monitor_kills.csv", made_rows)
