"""A file of judgments audited by judgestats, truescore, evalstats and judgekeeper, side by side.

    python benchmarks/audits.py PYTHON           # a Python in which the three peers are installed
    python benchmarks/audits.py PYTHON --write   # writes docs/benchmarks/audits.md

All read the same seeded files: two judges, items judged several times, people's labels for some.
Commands take turns; a command that uses more than ten minutes of CPU is stopped, and said to be.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "benchmarks" / "audits.md"
FILES = {
    "pass / fail, 4,000 rows": (500, 4, True, 250),
    "scores, 110,720 rows": (6_920, 8, False, 500),
    "scores, 1,000,000 rows": (62_500, 8, False, 500),
    "pass / fail, 1,000,000 rows": (62_500, 8, True, 500),
}
JUDGES = 2
MOST_CPU = 600
GIVES = {
    "judgestats": "each judge's consistency, reliability, agreement with people and error rates, "
    "corrected averages, the judges compared",
    "truescore": "agreement with people and a corrected average, of all rows together",
    "evalstats": "the judges' means compared, and how much runs vary",
    "judgekeeper": "agreement with people and flips, of all rows as pass / fail",
}
HEAD = """# A file audited, beside other packages

<!-- written by benchmarks/audits.py -->

The same files read by judgestats, truescore 0.7.4, evalstats 0.3.3 and judgekeeper 0.1.3, each by
its own command, in an environment of its own, in turns: {about}
*CPU* is user and system time of the whole command, imports included; *kB a row* is what memory
grows by from the smallest file on.

"""
TAIL = """
*Imports alone*: pandas, scipy.stats and pandera, without which judgestats reads no file. Beyond
these its time goes into null references (999 shuffles) beside reliabilities and correlations,
which the others do not give.
"""


def make(path: Path, items: int, runs: int, binary: bool, labelled: int) -> int:
    """Write a file of judgments; returns its number of rows."""
    rng = np.random.default_rng(5)
    quality = rng.normal(size=items)

    def said(worth):
        if binary:
            return (worth > 0).astype(int)
        return np.clip(np.rint(5.5 + 1.5 * worth), 1, 10).astype(int)

    label = pd.array(said(quality + rng.normal(scale=0.5, size=items)), dtype="Int64")
    label[labelled:] = pd.NA
    names = [f"i{i:06d}" for i in range(items)]
    parts = [
        pd.DataFrame(
            {
                "input": names,
                "prompt": f"judge-{judge}",
                "run": run,
                "score": said(quality + rng.normal(scale=0.7, size=items)),
                "label": label,
                "id": [f"{name}-{judge}" for name in names],
            }
        )
        for judge in range(1, JUDGES + 1)
        for run in range(1, runs + 1)
    ]
    table = pd.concat(parts)
    table.to_csv(path, index=False)
    return len(table)


def commands(file: Path, peers: Path, binary: bool) -> dict[str, list[str]]:
    """What is run of each package."""
    own = peers.parent
    rule = [] if binary else ["--pass-if", "score>=6"]
    return {
        "judgestats": [
            *(sys.executable, "-m", "judgestats", "analyze", str(file), "--track", "none"),
            *("--report", "none", "--map", "judge=prompt,item_id=input"),
        ],
        "truescore": [
            *(str(own / "truescore"), "audit", str(file), "--judge", "score", "--gold", "label"),
            *("--id-column", "id", "--cluster-column", "input"),
        ],
        "evalstats": [str(own / "evalstats"), "analyze", str(file)],
        "judgekeeper": [
            *(str(own / "judgekeeper"), "check", str(file), "--id", "id", "--run", "run"),
            *("--judge", "score", "--human", "label", *rule),
        ],
    }


def cost(command: list[str], environment: Mapping[str, str]) -> dict[str, object]:
    """CPU seconds and peak memory of a command in an empty folder; or why it failed."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "said"
        with said.open("wb") as stream:
            child = subprocess.Popen(
                ["bash", "-c", f'ulimit -t {MOST_CPU}; exec "$@"', "limited", *command],
                cwd=folder,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=dict(environment),
            )
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        found: dict[str, object] = {
            "cpu": used.ru_utime + used.ru_stime,
            "mb": used.ru_maxrss / 1024,
        }
        lines = said.read_text(errors="replace").strip().splitlines()
        failed = child.returncode not in {0, 1} or any("error:" in line for line in lines[-3:])
        if failed:
            stopped = f"stopped after {MOST_CPU} s of CPU"
            found["failed"] = stopped if child.returncode < 0 else (lines or ["?"])[-1][:70]
        return found


def main() -> None:
    """Measure, print the page, and write it where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", type=Path, help="a Python with truescore, evalstats, judgekeeper")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    ours = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    ours["PYTHONPATH"] = str(ROOT)
    theirs = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    rows = []
    base: dict[str, tuple[int, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        # Compiled once, as installed packages are.
        ours["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        imports = [sys.executable, "-c", "import pandas, scipy.stats, pandera.pandas"]
        alone = min(float(str(cost(imports, ours)["cpu"])) for _ in range(given.repeats))
        for name, (items, runs, binary, labelled) in FILES.items():
            file = Path(folder) / "judgments.csv"
            n = make(file, items, runs, binary, labelled)
            turns = given.repeats if n < 500_000 else 1
            found: dict[str, list[dict[str, object]]] = {}
            for _ in range(turns):
                for tool, command in commands(file, given.peers, binary).items():
                    found.setdefault(tool, []).append(
                        cost(command, ours if tool == "judgestats" else theirs)
                    )
            for tool, costs in found.items():
                best = min(costs, key=lambda c: float(str(c["cpu"])))
                mb = float(str(best["mb"]))
                first = base.setdefault(tool, (n, mb))
                grown = f"{(mb - first[1]) * 1024 / (n - first[0]):.2f}" if n > first[0] else ""
                cells = (
                    [str(best["failed"]), "", ""]
                    if "failed" in best
                    else [f"{best['cpu']:.1f}", f"{mb:.0f}", grown]
                )
                rows.append(f"| {name} | {tool} | {' | '.join(cells)} |")
                print(rows[-1], flush=True)
    load = os.getloadavg()[0]
    about = (
        f"the least of {given.repeats} turns (one for the files of 1,000,000 rows), "
        f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, load "
        f"{load:.0f}: read CPU seconds where the load is above the number of cores."
    )
    page = HEAD.format(about=about) + "\n".join(
        [
            "| file | package | CPU s | peak MB | kB a row |",
            "|---|---|---|---|---|",
            *rows,
            f"| none | judgestats, imports alone | {alone:.1f} | | |",
            "",
            "| package | what its answer holds |",
            "|---|---|",
            *(f"| {tool} | {gives} |" for tool, gives in GIVES.items()),
        ]
    )
    page += "\n" + TAIL
    print(page)
    if given.write:
        OUT.write_text(page)


if __name__ == "__main__":
    main()
