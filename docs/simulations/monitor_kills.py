"""Kill a monitor with SIGKILL at random moments while it adds a period.

Writes monitor_kills.csv next to this file; under a minute on one core (Linux and macOS):

    python docs/simulations/monitor_kills.py             # 200 kills
    python docs/simulations/monitor_kills.py --kills 20  # a glance

Each child adds a period to a copy of the same state, and is killed after a share of the time that a
period takes, drawn from 0 to 3. Then the state must be that before or that after the period, and
every e-value equal to one computed afresh from a state that nobody killed, within 1e-12.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
from tables import write_rows

from judgestats.decisions import ChangeMonitor

ANCHORS, REPEATS, AGAIN, NEW = 200, 3, 20, 60
SHARES = 3.0
"""Latest kill, in durations of one period."""


def judgments(rng: np.random.Generator, period: int) -> tuple[list[tuple[str, int]], list[int]]:
    """Anchors rejudged, and new answers, of one period."""
    names = rng.choice(ANCHORS, AGAIN, replace=False)
    again = [(f"a{i}", int(rng.random() < 0.7)) for i in names]
    return again, [int(rng.random() < 0.6 - 0.02 * period) for _ in range(NEW)]


def e_values(path: Path) -> tuple[int, np.ndarray]:
    """Period of a state, and log e of judge and system after each."""
    found = ChangeMonitor(path).verdict()
    return found.period, np.array([one[1:] for one in found.series], dtype=float)


def killed(path: Path, period: tuple[list[tuple[str, int]], list[int]], seconds: float) -> bool:
    """Add a period in a child that is killed after this many seconds."""
    child = os.fork()
    if not child:
        ChangeMonitor(path).add_period(*period)
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


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
        began = time.perf_counter()
        ChangeMonitor(after).add_period(*made)
        seconds = time.perf_counter() - began
        whole = dict([e_values(after)]) | (dict([e_values(path)]) if number > 1 else {})
        states = {"before": 0, "after": 0, "neither": 0}
        alive, largest = 0, 0.0
        for k in range(math.ceil(kills / 10)):
            copy = folder / f"{number}-{k}.db"
            shutil.copy(path, copy)
            alive += killed(copy, made, SHARES * seconds * rng.random())
            period, found = e_values(copy)
            known = whole.get(period, np.zeros((0, 2)) if period == 0 else None)
            if known is None or known.shape != found.reshape(-1, 2).shape:
                states["neither"] += 1
                continue
            states["after" if period == number else "before"] += 1
            largest = max(largest, float(np.abs(known - found.reshape(-1, 2)).max(initial=0.0)))
        rows.append({
            "period": number, "kills": math.ceil(kills / 10), "killed_while_adding": alive,
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
