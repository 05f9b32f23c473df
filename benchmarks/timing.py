"""Timing side by side: the calls of one task take turns, so that a busy machine favours nobody.

A row is a dict: ``task``, ``peer``, ``ours`` and ``seconds`` (medians; NaN where there is no peer),
``n_ours`` and ``n`` (runs behind the medians), ``gap`` (largest difference of the answers, where
they are comparable) and ``source``: "measured"; "quoted", a peer's time in
tests/reference/README.md, taken on another machine; why there is no time; or "" where there is no
peer.
"""

from __future__ import annotations

import math
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
Call = Callable[[], Any]


def compare(
    task: str,
    ours: Call,
    peers: Mapping[str, Call] | None = None,
    *,
    scale: Mapping[str, float] | None = None,
    gap: Callable[[Any, Any], float] | None = None,
    quoted: Mapping[str, float] | None = None,
    absent: Mapping[str, str] | None = None,
    repeats: int = 7,
    budget: float = 3.0,
) -> list[Row]:
    """Time our call and its peers in turns.

    `scale` multiplies a peer's time (50 resamples scaled to 1,000); `gap` gets our result and the
    peer's; `quoted` holds times to quote for peers that are not installed, `absent` says why others
    are not timed. A call is repeated until
    `repeats` or until it has used `budget` seconds; the first run warms up and counts only if it
    alone used the budget.
    """
    calls = {"": ours, **(peers or {})}
    runs: dict[str, list[float]] = {}
    results: dict[str, Any] = {}
    done: set[str] = set()
    for name, call in calls.items():
        start = time.perf_counter()
        results[name] = call()
        took = time.perf_counter() - start
        runs[name] = [took] if took > budget else []
        if took > budget:
            done.add(name)
    for _ in range(repeats):
        for name, call in calls.items():
            if name in done:
                continue
            start = time.perf_counter()
            call()
            runs[name].append(time.perf_counter() - start)
            if sum(runs[name]) > budget:
                done.add(name)
    mine = statistics.median(runs[""])
    shared = {"task": task, "ours": mine, "n_ours": len(runs[""])}
    rows = [
        {
            **shared,
            "peer": name,
            "seconds": statistics.median(runs[name]) * (scale or {}).get(name, 1.0),
            "n": len(runs[name]),
            "gap": gap(results[""], results[name]) if gap else math.nan,
            "source": "measured",
        }
        for name in (peers or {})
    ]
    reasons = dict.fromkeys(quoted or {}, "quoted") | dict(absent or {})
    rows += [
        {
            **shared,
            "peer": name,
            "seconds": (quoted or {}).get(name, math.nan),
            "n": 0,
            "gap": math.nan,
            "source": reason,
        }
        for name, reason in reasons.items()
    ]
    if not rows:
        rows = [{**shared, "peer": "", "seconds": math.nan, "n": 0, "gap": math.nan, "source": ""}]
    return rows


def with_r(rows: list[Row], name: str, x: np.ndarray, expression: str, *, quoted: float) -> None:
    """Add R's row: measured where Rscript and its packages are there, else quoted."""
    seconds, runs = r_seconds(x, expression)
    rows.append(
        {
            **rows[0],
            "peer": name,
            "seconds": seconds if runs else quoted,
            "n": runs,
            "gap": math.nan,
            "source": "measured"
            if runs
            else "quoted"
            if math.isfinite(quoted)
            else "not installed",
        }
    )


def r_seconds(x: np.ndarray, expression: str, *, repeats: int = 5) -> tuple[float, int]:
    """Median seconds of an R expression on the data frame `d`, and the number of runs (0: no R)."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return math.nan, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.csv"
        head = ",".join(f"x{i}" for i in range(x.shape[1]))
        np.savetxt(path, x, delimiter=",", header=head, comments="")
        code = (
            f"d <- read.csv('{path.as_posix()}'); f <- function() {expression}; f(); "
            f"cat(median(replicate({repeats}, system.time(f())[['elapsed']])))"
        )
        done = subprocess.run([rscript, "-e", code], capture_output=True, text=True, check=False)
    # The expression may print what it fits; the seconds stand in the last line.
    return (float(done.stdout.split()[-1]), repeats) if done.returncode == 0 else (math.nan, 0)


def peer_text(row: Row) -> str:
    """The peer's cell: its time, or why there is none."""
    if row["source"] == "measured":
        return f"{row['seconds']:.4g} (n = {row['n']})"
    if row["source"] == "quoted":
        return f"not installed; {row['seconds']:.4g} on another machine"
    return row["source"]


def ratio_text(row: Row) -> str:
    """Peer over ours: above 1 we are faster; in brackets where the peer's time is only quoted."""
    if not math.isfinite(row["seconds"]):
        return ""
    text = f"{row['seconds'] / row['ours']:.2g}" if row["seconds"] < 10 * row["ours"] else ""
    text = text or f"{row['seconds'] / row['ours']:,.0f}"
    return f"({text})" if row["source"] == "quoted" else text


def print_rows(rows: list[Row]) -> None:
    """The table in a terminal."""
    print(f"{'task':<58}{'judgestats':>11}   {'peer':<28}{'peer s':>40}{'ratio':>9}{'gap':>9}")
    for row in rows:
        gap = f"{row['gap']:.0e}" if math.isfinite(row["gap"]) else ""
        print(
            f"{row['task']:<58}{row['ours']:>9.4g} s   {row['peer']:<28}"
            f"{peer_text(row):>40}{ratio_text(row):>9}{gap:>9}"
        )
