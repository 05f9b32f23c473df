"""How often an experiment claims a difference where there is none, and finds one where there is.

Writes null_judge.csv next to this file, a row per cell. Cells in the file are not run again.
Every cell gets 50 seeds in its turn, so a run can be stopped and continued:

    python -m docs.simulations.null_judge --processes 2    400 seeds a cell, about two hours
    python -m docs.simulations.null_judge --quick          4 seeds, to null_judge_quick.csv

A cell is an experiment with one level of each factor: sizes of the questions, replications, share
of items that never vary, share unparsed in one condition. Levels are combined by a Latin square, so
that every level of a factor meets every level of the next. Kinds of cells:

``null``
    Nothing differs. `claimed` is the share of runs with any headline "differs", `left_out` that
    whose tie set lacks one of the conditions.
``margin``
    The true difference is the declared margin; `claimed` is the share with a headline
    "equivalent".
``power``
    One condition differs by `effect`; `claimed` is the share of runs whose headline says so,
    `single` the powers of valid tests of that difference alone, unadjusted.
``family``
    As power, with 60 tests in the family.

`seconds` are of the clock, `cpu` those of a processor that one seed takes, of the seeds run last.

`code` names the commits that the seeds were run with; one that ends in + had further changes.

Nothing may be claimed in more than 5%: `error` is the Monte Carlo error of `claimed`. A cell of
the first two kinds above .083 is run once more with fresh seeds, and both rows stand.
"""

from __future__ import annotations

import argparse
import csv
import math
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

from tests.null_judge.designs import NULL, claims, left_out, seeded
from tests.null_judge.powers import FAMILY, MARGIN, POWER
from tests.null_judge.worlds import UNEQUAL, World

HERE = Path(__file__).resolve().parent
SIZES = {"unequal": UNEQUAL, "8 x 5": (5,) * 8, "30 x 1": (1,) * 30, "20 x 1": (1,) * 20,
         "400 x 1": (1,) * 400}  # fmt: skip
REPLICATIONS = (3, 2, 10)
CONSTANT = {"unequal": 0.5, "8 x 5": 0.0, "30 x 1": 0.5, "20 x 1": 0.0, "400 x 1": 0.5}
UNREAD = (0.1, 0.0, 0.1)
AGAIN = 0.083
SHARES = ("crowd", "self_consistency")
"""Shares of 30 pairs are never established to be within .05: their margin takes more."""
HEADER = (
    "kind", "experiment", "sizes", "replications", "constant", "unread", "effect", "first_seed",
    "seeds", "claimed", "error", "left_out", "single", "seconds", "cpu", "code",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One row of the table, before it is run."""

    kind: str
    experiment: str
    sizes: str
    replications: int
    constant: float
    unread: float
    effect: float = 1.0

    @property
    def world(self) -> World:
        """What all conditions have in common; scores at a margin are not rounded."""
        return World(
            sizes=SIZES[self.sizes],
            replications=self.replications,
            constant=self.constant,
            unread=self.unread,
            whole=self.kind != "margin",
        )

    @property
    def key(self) -> tuple[str, ...]:
        """The row's first columns."""
        return tuple(map(str, asdict(self).values()))


def cells() -> list[Cell]:
    """The most important first: unequal questions, then power, then the other levels."""

    def null(i: int, sizes: str) -> list[Cell]:
        return [
            Cell(
                kind="null", experiment=name, sizes=sizes, replications=REPLICATIONS[(e + i) % 3],
                constant=CONSTANT[sizes], unread=UNREAD[(e + i) % 3],
            )
            for e, name in enumerate(NULL)
        ]  # fmt: skip

    def alone(kind: str, sizes: str, effects: dict[str, float]) -> list[Cell]:
        return [
            Cell(
                kind=kind, experiment=name, sizes=sizes, replications=10,
                constant=CONSTANT[sizes], unread=0.0, effect=effect,
            )
            for name, effect in effects.items()
        ]  # fmt: skip

    effects = {name: effect for name, (effect, _) in POWER.items()}
    return [
        *null(0, "unequal"),
        *alone("margin", "30 x 1", {name: 1.0 for name in MARGIN if name not in SHARES}),
        *alone("margin", "400 x 1", dict.fromkeys(SHARES, 1.0)),
        *alone("power", "30 x 1", effects),
        *alone("family", "20 x 1", {name: effect for name, (effect, _) in FAMILY.items()}),
        *null(1, "8 x 5"),
        *null(2, "30 x 1"),
    ]


Seed = tuple[bool, bool, list[float]]
"""Whether it is claimed, whether a condition is left out, p of single tests."""


def timed(cell: Cell, seed: int) -> tuple[Seed, float]:
    """One seed, and the seconds of a processor that it took."""
    started = time.process_time()
    return run(cell, seed), time.process_time() - started


def run(cell: Cell, seed: int) -> Seed:
    """One seed of a cell."""
    rng = seeded(crc32("".join(cell.key).encode()), seed)
    if cell.kind == "margin":
        return MARGIN[cell.experiment](rng, cell.world), False, []
    if cell.kind in {"power", "family"}:
        table = POWER if cell.kind == "power" else FAMILY
        found, single = table[cell.experiment][1](rng, cell.world, cell.effect)
        return found, False, single
    found = NULL[cell.experiment](rng, cell.world)
    if isinstance(found, bool):
        return found, False, []
    return bool(claims(found)), left_out(found), []


@dataclass
class Tally:
    """What the seeds of a cell gave so far; single tests one by one."""

    seeds: int = 0
    claimed: int = 0
    left_out: int = 0
    single: tuple[int, ...] = ()
    seconds: float = 0.0
    cpu: float = math.nan
    code: tuple[str, ...] = ()

    def add(self, cell: Cell, first: int, seeds: int, pool: Executor) -> None:
        """Run this many more seeds of a cell; `first` is its first, seconds are of the clock."""
        started = time.monotonic()
        each = [first + self.seeds + i for i in range(seeds)]
        got, cpu = zip(*pool.map(timed, [cell] * seeds, each), strict=True)
        self.cpu = sum(cpu) / seeds
        rejected = [sum(p < 0.05 for p in ps) for ps in zip(*(g[2] for g in got), strict=True)]
        before = self.single or (0,) * len(rejected)
        self.single = tuple(a + b for a, b in zip(before, rejected, strict=True))
        self.claimed += sum(g[0] for g in got)
        self.left_out += sum(g[1] for g in got)
        self.code = tuple(dict.fromkeys((*self.code, code_now())))
        self.seeds += seeds
        self.seconds += time.monotonic() - started

    def last_columns(self) -> list[str]:
        """The row's last columns."""
        claimed = self.claimed / self.seeds
        error = math.sqrt(claimed * (1 - claimed) / self.seeds)
        return [
            str(self.seeds),
            f"{claimed:.4f}",
            f"{error:.4f}",
            f"{self.left_out / self.seeds:.4f}",
            "/".join(f"{n / self.seeds:.4f}" for n in self.single),
            f"{self.seconds:.0f}",
            "" if math.isnan(self.cpu) else f"{self.cpu:.2f}",
            " ".join(self.code),
        ]


@cache
def code_now() -> str:
    """The commit that runs, with a + where files differ from it."""
    given = ("git", "-C", str(HERE), "describe", "--always", "--dirty=+", "--exclude=*")
    return subprocess.run(given, capture_output=True, text=True, check=True).stdout.strip()


def read(path: Path) -> dict[tuple[str, ...], Tally]:
    """The table by cell and first seed."""
    if not path.exists():
        return {}
    tallies = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            n = int(row["seeds"])
            tallies[tuple(row[name] for name in HEADER[:8])] = Tally(
                seeds=n,
                claimed=round(n * float(row["claimed"])),
                left_out=round(n * float(row["left_out"])),
                single=tuple(round(n * float(v)) for v in row["single"].split("/") if v),
                seconds=float(row["seconds"]),
                cpu=float(row["cpu"] or "nan"),
                code=tuple(row["code"].split()),
            )
    return tallies


def write(path: Path, tallies: Mapping[tuple[str, ...], Tally]) -> None:
    """The whole table again, in the order of the cells."""
    order = {cell.key: i for i, cell in enumerate(cells())}
    beside = path.with_suffix(".part")
    with beside.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEADER)
        for key in sorted(tallies, key=lambda k: (order[k[:-1]], int(k[-1]))):
            out.writerow([*key, *tallies[key].last_columns()])
    beside.replace(path)


def main() -> None:
    """Run the missing seeds of every cell, some of each in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="run the cells of one experiment")
    given = parser.parse_args()
    seeds = given.seeds or (4 if given.quick else 400)
    path = given.out or HERE / ("null_judge_quick.csv" if given.quick else "null_judge.csv")
    tallies = read(path)
    turn = min(seeds, 50)
    turns = [*((n, False) for n in range(turn, seeds + 1, turn)), (seeds, True)]
    chosen = [cell for cell in cells() if given.only in {"", cell.experiment}]
    with ProcessPoolExecutor(given.processes) as pool:
        _run_turns(turns, chosen, seeds, tallies, path, pool)


def _run_turns(
    turns: list[tuple[int, bool]],
    chosen: list[Cell],
    seeds: int,
    tallies: dict[tuple[str, ...], Tally],
    path: Path,
    pool: Executor,
) -> None:
    """Give every cell its seeds in turn; the last turn runs what lies too high once more."""
    for upto, again in turns:
        for cell in chosen:
            # A power needs fewer seeds than a rare false claim.
            known = cell.kind in {"null", "margin"}
            wanted = upto if known else min(upto, max(4, seeds // 4))
            first = (*cell.key, "0")
            if again and not (known and _exceeds_chance(tallies[first])):
                continue
            key = (*cell.key, str(seeds if again else 0))
            tally = tallies.get(key, Tally())
            if tally.seeds >= wanted:
                continue
            tally.add(cell, int(key[-1]), wanted - tally.seeds, pool)
            tallies[key] = tally
            write(path, tallies)
            print(*key, *tally.last_columns(), flush=True)


def _exceeds_chance(first: Tally) -> bool:
    """Whether a cell without effect is above what chance allows."""
    return max(first.claimed, first.left_out) > AGAIN * first.seeds


if __name__ == "__main__":
    main()
