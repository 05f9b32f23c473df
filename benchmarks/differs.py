"""What four packages say of one file: docs/differs.md, from their runs.

    python benchmarks/differs.py PYTHON           # a Python in which the three peers are installed
    python benchmarks/differs.py PYTHON --write   # writes docs/differs.md

The file is the smallest of `audits.py`. Every cell of the table is taken from what a package
printed; a cell that is not found there stops the script, so that no number is typed.
"""

# ruff: noqa: E501 (sentences of the page)

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from audits import FILES, ROOT, commands, make

OUT = ROOT / "docs" / "differs.md"
MOST_LINES = 24
VERSION = "import importlib.metadata as m; print(m.version({!r}))"


def both(what: str) -> str:
    """Where judgestats' screen has both judges' numbers of a row."""
    return what + r"  +(\S.*?)  +(\S.*?)(?:  +\(.+\))?\n"


FULL = "judgestats --all"
ASKED = {
    "How often does asking again change the verdict?": {
        "judgestats": both(r"asked again it changes"),
        "evalstats": r"judge-1 .+?(0\.\d{4}) +\S+ \(\w+\) +highly(?:.*\n)+? +judge-2 .+?(0\.\d{4}) +\S+ \(\w+\) +highly",
        "judgekeeper": r"([\d.]+% of items changed verdict between identical runs)",
    },
    "How reliable is one verdict?": {
        "judgestats": both(r"one verdict's reliability"),
        "evalstats": r"judge-1 .+?0\.\d{4} +(\S+ \(\w+\)) +highly(?:.*\n)+? +judge-2 .+?0\.\d{4} +(\S+ \(\w+\)) +highly",
    },
    "What would chance give?": {
        FULL: r"one verdict's reliability(?:\n.+){2}\n +\((95 % of chance results: below \S+?)\)(?:.*\n)+? +\((always the same .+?\])",
    },
    "How many repeats for .90?": {
        "judgestats": both(r"repeats for \.90"),
    },
    "How often does it agree with people?": {
        "judgestats": both(r"agrees with people"),
        "truescore": r"accuracy +(\S+ \[.+?\])",
    },
    "Beyond chance (kappa)?": {
        "judgestats": both(r"beyond chance"),
        "truescore": r"Cohen κ +(\S+ \[.+?\])",
        "judgekeeper": r"TNR \S+, kappa (\S+) against",
    },
    "Does it pass what people pass, fail what they fail?": {
        FULL: r"passes what people pass\n +judge-1 +(.+)\n.+\n +fails what people fail\n +judge-1 +(.+)",
        "truescore": r"sensitivity (\S+ \[.+?\])\s+specificity (\S+ \[.+?\])",
        "judgekeeper": r"TPR (\S+), TNR (\S+), kappa",
    },
    "What would people say of all of it?": {
        "judgestats": both(r"people would give all"),
        "truescore": r"corrected: +(\S+ \[.+?\])",
    },
    "Do the judges differ?": {
        "judgestats": r"(No difference in agreement with people is shown, nor equality: (?:.|\n)+?p = \S+)",
        "evalstats": r"(judge-2 +judge-1) .+?(\+\S+ +\S+ +\S+) ",
    },
    "What should be used?": {
        "judgestats": r"USE +(By the labels: [^(]+)",
        "evalstats": r"judge-2 +#1 .+ (Tied with judge-1 as best)",
        "judgekeeper": r"(Not trustworthy as a gate)",
    },
}
"""A question, and where a package's answer stands in what it prints (here: two rows that the short screen folds away)."""
HEAD = """# How judgestats differs

<!-- written by benchmarks/differs.py -->

One file, four packages: two judges, 500 items judged four times each as pass or fail, people's labels for half of the items ({rows}
rows, made by a seeded script). Each reads it by its own command, in an environment of its own: {versions}.
Every cell is taken from what it printed. An empty cell: its screen does not say.

"""
TAIL = """
Two numbers in a cell are those of judge-1 and judge-2; truescore and judgekeeper were given both judges' rows together, which is what
their commands take. truescore corrects over items (its `--cluster-column`) and counts agreement over rows; judgestats takes the four
judgments of an item for one cluster throughout, so that its interval of agreement is the wider one.

judgecal 0.1.0 is not in the table: it reads judgments of its own probes only (planned by `judgecal plan`, asked in batches, `judgecal
ingest`), no file of verdicts. What it asks (position, verbosity, padding, self-preference, template, stability) is asked here by
[`bias`](experiments/bias.md) and [`probe`](experiments/probe.md).

judgestats also asks judges itself ([experiments](experiments/index.md)), reads the logs of other tools ([readers](readers.md)), writes a report,
and holds every statistic to R ([validation](validation/index.md)). It is the slowest of the four: [seconds and
memory](benchmarks/audits.md).

## What each printed

"""


def said(command: list[str], folder: str) -> str:
    """What a command prints, wide enough that nothing is cut."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1} or not done.stdout.strip():
        sys.exit(f"{command[0]}: {done.stderr[-300:]}")
    return done.stdout


def answer(text: str, pattern: str, who: str) -> str:
    """The parts of an output that a pattern names."""
    found = re.search(pattern, text)
    if found is None:
        sys.exit(f"{who} no longer prints {pattern!r}:\n{text}")
    return " · ".join(" ".join(part.split()).rstrip(".,:") for part in found.groups())


def page(printed: dict[str, str], full: str, versions: dict[str, str], rows: int) -> str:
    """The table, and the screens below it."""
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines = [HEAD.format(rows=f"{rows:,}", versions=told)]
    lines.append(f"| question | {' | '.join(printed)} |\n|{'---|' * (1 + len(printed))}\n")
    for question, where in ASKED.items():
        cells = [
            answer(text, where[who], who).replace("|", "/") if who in where else ""
            for who, text in printed.items()
        ]
        if FULL in where:
            cells[0] = answer(full, where[FULL], FULL).replace("|", "/")
        lines.append(f"| {question} | {' | '.join(cells)} |\n")
    lines.append(TAIL)
    for who, text in printed.items():
        kept = text.rstrip().splitlines()
        more = [f"... ({len(kept) - MOST_LINES} lines more)"] if len(kept) > MOST_LINES else []
        screen = "\n".join([*kept[:MOST_LINES], *more])
        lines.append(f"**{who} {versions[who]}**\n\n```text\n{screen}\n```\n\n")
    return "".join(lines).rstrip("\n") + "\n"


def main() -> None:
    """Run the four, print the page, and write it where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", type=Path, help="a Python with truescore, evalstats, judgekeeper")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "judgments.csv"
        rows = make(file, *FILES["pass / fail, 4,000 rows"])
        ran = commands(file, given.peers, binary=True)
        printed = {
            who: said(command, folder).replace(f"{folder}/", "") for who, command in ran.items()
        }
        full = said([*ran["judgestats"], "--all"], folder)
    versions = {}
    for who in printed:
        python = sys.executable if who == "judgestats" else str(given.peers)
        versions[who] = subprocess.run(
            [python, "-c", VERSION.format(who)], capture_output=True, text=True, check=True
        ).stdout.strip()
    text = page(printed, full, versions, rows)
    sys.stdout.write(text)
    if given.write:
        OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
