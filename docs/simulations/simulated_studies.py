"""What simulated judges show for studies C and D: the default runs of two experiments, row by row.

    python docs/simulations/simulated_studies.py     # half a minute; writes the table next to it

The judges are built so that the answer is known. `sim-positional` prefers the first position and
`sim-typical` hardly does. Other judgments help `sim-crowd` and not `sim-crowd-deaf`. An unrelated
option affects none of them. ``docs/build_studies.py`` puts the table into docs/studies.md.
"""

from __future__ import annotations

import contextlib
import csv
import math
import os
import tempfile
from pathlib import Path

from judgestats.cli import main
from judgestats.results import number_of, read_results

TABLE = Path(__file__).with_suffix(".csv")
STUDIES = {"C": "grade_score", "D": "crowd"}
COLUMNS = ("study", "experiment", "condition", "what", "estimate", "low", "high")


def rows(study: str, experiment: str) -> list[dict[str, object]]:
    """What the rows of a run's screen answer, a line a row and condition."""
    if main(["run", experiment, "--report", "none"]):
        raise SystemExit(f"judgestats run {experiment} failed")
    [file] = Path.cwd().glob("mlruns/*/*/artifacts/results.json")
    results = read_results(file)
    out: list[dict[str, object]] = []
    for row in results.rows:
        for condition, result in row.cells.items():
            number = number_of(results, result)
            ends = number.interval
            figures = (number.estimate, ends.low, ends.high) if ends else (number.estimate,)
            shown = [f"{value:.3f}" if math.isfinite(value) else "" for value in figures]
            out.append(
                dict(zip(COLUMNS, (study, experiment, condition, row.ask, *shown), strict=False))
            )
    return out


if __name__ == "__main__":
    lines: list[dict[str, object]] = []
    for letter, name in STUDIES.items():
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{folder}/mlflow.db"
            lines += rows(letter, name)
    with TABLE.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
