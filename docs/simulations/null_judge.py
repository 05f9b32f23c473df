"""How often an experiment claims a difference where there is none, and finds one where there is.

Writes null_judge.csv beside this file, a row a cell; cells that stand there are not run again:

    python -m docs.simulations.null_judge            400 seeds a cell, up to two hours on two cores
    python -m docs.simulations.null_judge --quick    4 seeds a cell, written to null_judge_quick.csv

A cell is an experiment with one level of each factor: sizes of the questions, replications, share
of items that never vary, share unread in one condition, and the effect (1: none). Levels are
combined by a Latin square, so that every level of a factor meets every level of the next. `claimed`
is the share of runs with any headline "differs", `left_out` that whose tie set lacks one of the
conditions. A cell of no effect above .083 is run once
more with fresh seeds, and both rows stand.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.null_judge.designs import DESIGNS, claims, left_out, seeded
from tests.null_judge.worlds import UNEQUAL, World

HERE = Path(__file__).resolve().parent
SIZES = {"unequal": UNEQUAL, "8 x 5": (5,) * 8, "30 x 1": (1,) * 30}
REPLICATIONS = (2, 3, 10)
CONSTANT = (0.5, 0.0, 0.5)
UNREAD = (0.1, 0.0, 0.1)
EFFECT = 2.5
AGAIN = 0.083


def cells() -> list[tuple[str, str, int, float, float, float]]:
    """Experiment, sizes, replications, constant, unread, effect."""
    out = []
    for e, name in enumerate(DESIGNS):
        for i, sizes in enumerate(SIZES):
            j = (e + i) % 3
            out.append((name, sizes, REPLICATIONS[j], CONSTANT[i], UNREAD[j], 1.0))
        out.append((name, "30 x 1", 10, 0.5, 0.0, EFFECT))
    return out


def run(job: tuple[tuple[str, str, int, float, float, float], int, int]) -> tuple[bool, bool]:
    """One seed of a cell: whether any headline claims a difference, and whether one is left out."""
    (name, sizes, replications, constant, unread, effect), number, seed = job
    world = World(sizes=SIZES[sizes], replications=replications, constant=constant, unread=unread)
    found = DESIGNS[name](seeded(number, seed), world, effect=effect)
    return bool(claims(found)), left_out(found)


def main() -> None:
    """Run the cells that are not in the table yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    seeds = given.seeds or (4 if given.quick else 400)
    path = HERE / ("null_judge_quick.csv" if given.quick else "null_judge.csv")
    header = ("experiment", "sizes", "replications", "constant", "unread", "effect", "first_seed",
              "seeds", "claimed", "left_out", "seconds")  # fmt: skip
    done = set()
    if path.exists():
        with path.open(newline="") as file:
            done = {
                tuple(row[: len(header) - 4]) for row in itertools.islice(csv.reader(file), 1, None)
            }
    else:
        path.write_text(",".join(header) + "\n")
    with ProcessPoolExecutor(given.workers) as pool:
        for number, cell in enumerate(cells()):
            for first in (0, seeds):
                if (*map(str, cell), str(first)) in done:
                    continue
                if first and not _above(path, cell):
                    continue
                started = time.monotonic()
                jobs = [(cell, number, seed) for seed in range(first, first + seeds)]
                got = list(pool.map(run, jobs, chunksize=max(1, min(8, seeds // 2))))
                claimed, lacking = (sum(g[k] for g in got) / seeds for k in (0, 1))
                row = (*cell, first, seeds, f"{claimed:.4f}", f"{lacking:.4f}",
                       f"{time.monotonic() - started:.0f}")  # fmt: skip
                with path.open("a", newline="") as file:
                    csv.writer(file).writerow(row)
                print(*row, flush=True)


def _above(path: Path, cell: tuple[str, str, int, float, float, float]) -> bool:
    """Whether the first run of a cell without effect lies above what chance allows."""
    if cell[-1] != 1.0:
        return False
    with path.open(newline="") as file:
        rows = [row for row in csv.reader(file) if tuple(row[:6]) == tuple(map(str, cell))]
    return max(float(rows[0][8]), float(rows[0][9])) > AGAIN


if __name__ == "__main__":
    main()
