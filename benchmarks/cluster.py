"""A Dask cluster of several worker processes on this machine, one of them killed in mid-run.

    python benchmarks/cluster.py

Prints the table of docs/benchmarks/distributed.md: judgments from a simulated server on loopback
(50 ms a reply, 4 requests at a time in each worker), then 1,000 bootstrap resamples and the reading
of a folder of 10 million judgments in 20 files.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from distributed import LocalCluster
from large import make

from judgestats import read_judgments
from judgestats.collection.cluster import collect_distributed
from judgestats.collection.journal import Journal
from judgestats.collection.spec import parse_judge
from judgestats.data.columns import Condition, Task
from judgestats.engine import Engine, parse_engine
from judgestats.items.records import Item, Response
from judgestats.protocols.pointwise import Pointwise
from judgestats.simulated.app import Faults, SimulatedServer, run_server
from judgestats.stats.inference.bootstrap import cluster_bootstrap

ITEMS, REPLICATES, LATENCY_S = 24, 10, 0.05


def prompt(protocol, unit, flag, home, mode):
    """The prompt; with a flag, the first worker that builds it kills itself."""
    if flag and os.getpid() != home:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return protocol.prompt(unit, mode)
        os.kill(os.getpid(), signal.SIGKILL)
    return protocol.prompt(unit, mode)


def plan(url: str, flag: str = "") -> list[Task]:
    protocol = Pointwise()
    units = protocol.units(
        tuple(
            Item(
                id=f"q{i}",
                cluster=f"q{i}",
                turns=(f"What is {i} plus {i}?",),
                responses=(Response(turns=(f"It is {2 * i}.",)),),
            )
            for i in range(ITEMS)
        )
    )
    condition = Condition(judge=f"sim-typical@{url}", temperature=1.0)
    return [
        Task(
            condition=condition,
            item_id=unit.item_id,
            cluster=unit.cluster,
            replicate=r,
            build=functools.partial(
                prompt, protocol, unit, flag if (u, r) == (13, 5) else "", os.getpid()
            ),
        )
        for u, unit in enumerate(units)
        for r in range(REPLICATES)
    ]


def collect(engine: Engine, tasks: list[Task]):
    names = {t.condition.judge for t in tasks}
    with (
        tempfile.TemporaryDirectory() as folder,
        Journal(Path(folder) / "journal.sqlite") as journal,
    ):
        begun = time.perf_counter()
        found = collect_distributed(
            tasks,
            engine=engine,
            journal=journal,
            judges={n: parse_judge(n) for n in names},
            concurrency=4,
            most=30,
        )
        return found, time.perf_counter() - begun


def slow(x: np.ndarray) -> float:
    """A statistic of some two milliseconds."""
    return float(np.linalg.eigvalsh(np.corrcoef(x.T))[-1])


def bootstrap() -> tuple[np.ndarray, float]:
    x = np.random.default_rng(0).normal(size=(400, 60))
    begun = time.perf_counter()
    out = cluster_bootstrap(x, slow, n_resamples=1000, method="percentile").distribution
    return out, time.perf_counter() - begun


def read(folder: Path) -> tuple[pd.DataFrame, float]:
    begun = time.perf_counter()
    return read_judgments(folder), time.perf_counter() - begun


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), 10_000_000, items=25_000)
        measure(Path(name))


def measure(judged: Path) -> None:
    here, seconds = bootstrap()
    frame, reading = read(judged)
    sys.stdout.write(f"| this process | | | | | | {seconds:.1f} | | {reading:.1f} | |\n")
    with run_server(SimulatedServer(Faults(latency_s=LATENCY_S))) as url:
        first = None
        for workers, killed in ((1, False), (3, False), (3, True)):
            with LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
            ) as cluster:
                engine = parse_engine(f"dask://{cluster.scheduler_address.removeprefix('tcp://')}")
                with tempfile.TemporaryDirectory() as folder:
                    flag = f"{folder}/died" if killed else ""
                    found, took = collect(engine, plan(url, flag))
                    died = bool(flag) and Path(flag).exists()
                with engine.running():
                    there, resampled = bootstrap()
                    other, reading = read(judged)
            rows = found.frame[["item_id", "replicate", "raw_text"]]
            first = rows if first is None else first
            sys.stdout.flush()
            sys.stdout.write(
                f"| {workers}{', one killed' if died else ''} | {took:.1f} | "
                f"{found.account.answered} | {found.account.requests} | "
                f"{found.account.possibly_billed_twice} | {'yes' if rows.equals(first) else 'NO'} "
                f"| {resampled:.1f} | {'yes' if np.array_equal(here, there) else 'NO'} "
                f"| {reading:.1f} | {'yes' if frame.equals(other) else 'NO'} |\n"
            )


if __name__ == "__main__":
    main()
