"""CPU seconds from a file to its answer, next to bare imports and to another checkout.

    python benchmarks/answer.py
    python benchmarks/answer.py --before PATH --repeats 5
    python benchmarks/answer.py --peer "truescore=python -m truescore FILE"

All commands take turns in one run, so that their ratios hold on a busy machine. Files are seeded:
4,000 pass / fail rows with 300 labels, and 110,720 scores (6,920 items x 2 judges x 8 repeats, the
shape of rewardbench2-k8). A peer is a command; FILE stands for the pass / fail file.
"""

from __future__ import annotations

import argparse
import compileall
import csv
import random
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from checkout import PROJECT, python, turns

IMPORTS = "import pandas, scipy.special"


def written(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> Path:
    """A table of text."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def verdicts(path: Path) -> Path:
    """4,000 verdicts by one judge, the first 300 with a human label."""
    rng = random.Random(1)
    rows = []
    for i in range(4_000):
        passes = rng.random() < 0.7
        label = "pass" if rng.random() < (0.85 if passes else 0.2) else "fail"
        rows.append((f"q{i}", "gpt-4o", "pass" if passes else "fail", label if i < 300 else ""))
    return written(path, ("item_id", "judge", "verdict", "human_label"), rows)


def scores(path: Path) -> Path:
    """8 scores of each of 6,920 answers to 1,730 questions by two judges."""
    rng = random.Random(2)
    level = [rng.gauss(6, 2) for _ in range(6_920)]
    rows = (
        (f"q{i // 4}", f"q{i // 4}/{i % 4}", judge, run, min(10, max(1, round(rng.gauss(mean, 1)))))
        for judge in ("full", "mini")
        for i, mean in enumerate(level)
        for run in range(8)
    )
    return written(path, ("question_id", "item_id", "judge", "run", "score"), rows)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--peer", action="append", default=[], help="NAME=COMMAND with FILE")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    trees = {"this": PROJECT} | ({"before": given.before.resolve()} if given.before else {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {
            "4,000 verdicts, 300 labels": verdicts(folder / "verdicts.csv"),
            "110,720 scores": scores(folder / "scores.csv"),
        }
        calls: dict[str, Callable[[], object]] = {
            IMPORTS: lambda: python(PROJECT, "-c", IMPORTS, cwd=folder)
        }
        for which, tree in trees.items():
            compileall.compile_dir(tree / "judgestats", quiet=2)
            for what, file in files.items():
                words = ("-m", "judgestats", "analyze", file, "--track", "none", "--report", "none")
                calls[f"{what} ({which})"] = lambda t=tree, w=words: python(t, *w, cwd=folder)
        for peer in given.peer:
            label, _, command = peer.partition("=")
            own = shlex.split(command.replace("FILE", str(folder / "verdicts.csv")))
            calls[label] = lambda own=own: subprocess.run(own, check=True, capture_output=True)
        took = turns(calls, given.repeats)
    base = took[IMPORTS]["cpu"]
    print("| command | wall s | CPU s | ratio of CPU to imports |\n|---|---|---|---|")
    for label, t in took.items():
        print(f"| {label} | {t['wall']:.2f} | {t['cpu']:.2f} | {t['cpu'] / base:.2f} |")


if __name__ == "__main__":
    main()
