"""All benchmarks in one table of ratios: ``make bench``.

Takes about a quarter of an hour on a quiet machine, and makes the peers' environments first.
``--write`` puts the table into docs/benchmarks/index.md; the pages it links are written by
`collect.py --write` (speed of collection), `stats.py --write` (statistics) and `large.py`.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from pathlib import Path
from typing import Any

import collect_peers
import overhead
import stats_omega
import stats_ranks
import stats_spread
import stats_verdicts
from stats import rows as stats_rows

from judgestats.stats.inference.keywords import one_blas_thread

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "index.md"
COUNT = 500
HEAD = [
    "| what | judgestats | peer | peer's | ratio |",
    "|---|---|---|---|---|",
]


def statistics() -> list[dict[str, Any]]:
    """Statistics whose peer was measured in this run, as rows of the table."""
    with one_blas_thread():
        found = stats_rows()
        for script in (stats_omega, stats_verdicts, stats_ranks, stats_spread):
            found += script.rows()
    return [
        {
            "what": r["task"],
            "ours": f"{r['ours']:.3g} s",
            "peer": r["peer"],
            "other": f"{r['seconds']:.3g} s",
            "ratio": r["seconds"] / r["ours"],
        }
        for r in found
        if r["source"] == "measured"
    ]


def collection() -> list[dict[str, Any]]:
    """Seconds and CPU of collecting, beside other tools."""
    found = collect_peers.rows(COUNT)
    ours = found[0]
    lines = []
    for r in found[1:]:
        lost = "" if r["answered"] == COUNT else f" ({r['answered']} of {COUNT} answered)"
        for what, key, unit in (
            ("collecting", "seconds", "s"),
            ("CPU a judgment", "cpu_ms", "ms"),
        ):
            lines.append(
                {
                    "what": f"{what}, {COUNT} judgments, 20 ms latency, 64 at once",
                    "ours": f"{ours[key]:.3g} {unit}",
                    "peer": r["tool"] + lost,
                    "other": f"{r[key]:.3g} {unit}",
                    "ratio": r[key] / ours[key],
                }
            )
    return lines


def costs() -> list[dict[str, Any]]:
    """Start-up, `mlflow run`, logging, reports and memory."""
    lines = []
    for r in overhead.rows():
        unit = "MB" if r["what"].endswith("MB") else "s"
        there = not math.isnan(r["other"])
        lines.append(
            {
                "what": r["what"],
                "ours": f"{r['ours']:.3g} {unit}",
                "peer": r["beside"],
                "other": f"{r['other']:.3g} {unit} ({r['ours'] - r['other']:+.3g})"
                if there
                else "",
                "ratio": r["other"] / r["ours"] if there else math.nan,
            }
        )
    return lines


def lines_of(rows: list[dict[str, Any]]) -> list[str]:
    """Rows as Markdown."""
    return [
        f"| {r['what']} | {r['ours']} | {r['peer']} | {r['other']} "
        f"| {'' if math.isnan(r['ratio']) else format(r['ratio'], '.3g')} |"
        for r in rows
    ]


def page(parts: dict[str, list[dict[str, Any]]], before: float, took: float) -> str:
    """The page as Markdown."""
    body = "\n\n".join(
        f"## {title}\n\n" + "\n".join(HEAD + lines_of(rows)) for title, rows in parts.items()
    )
    return f"""# Benchmarks

`make bench` makes this page: what stands in a row was measured side by side in one run, every
peer in an environment of its own. *Ratio* is the peer's figure over ours: above 1, judgestats
takes less. Load of the machine ({os.cpu_count()} cores, {platform.machine()}) before the run:
{before:.1f}; the run took {took / 60:.0f} minutes; Python {platform.python_version()}.

Further pages: [statistics in detail, R included](stats.md), [collection at two latencies and two
concurrencies](../simulations/speed.md), [1e8 judgments](large.md),
[the house in numbers](house.md), [from a command to its result](seconds.md), [what takes
what](stages.md).

{body}
"""


def main() -> None:
    """Print the table, and write the page where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE}")
    write = parser.parse_args().write
    started, before = time.perf_counter(), os.getloadavg()[0]
    parts: dict[str, list[dict[str, Any]]] = {}
    for title, part in (
        ("Collecting judgments", collection),
        ("Start-up, logging, reports, memory", costs),
        ("Statistics", statistics),
    ):
        parts[title] = part()
        print(f"\n{title}\n" + "\n".join(HEAD + lines_of(parts[title])), flush=True)
    if write:
        PAGE.write_text(page(parts, before, time.perf_counter() - started), encoding="utf-8")


if __name__ == "__main__":
    main()
