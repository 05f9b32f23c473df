"""Decisions of kunko-judge-audit, fewhumans, and cje-eval: writes docs/benchmarks/decisions.csv.

    python benchmarks/decisions.py PYTHON    # a Python in which these three are installed

All read the scores and labels of docs/data (2,000 items, 1,000 labels): pass is a score of 6 or
more, confidence the rank of the distance to 6. Each package takes its defaults.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats import __version__
from judgestats.decisions import automation_certificate
from judgestats.stats import corrected_mean, corrected_rate
from judgestats.stats.validity.label_plan import label_strata, pass_variances, stratified_mean

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "benchmarks" / "decisions.csv"
COLUMNS = ("question", "package", "version", "estimate", "low", "high", "threshold", "wrong",
           "decided")  # fmt: skip


def one_file() -> pd.DataFrame:
    """Score, verdict, confidence, stratum, and human label (NaN without one) of each item."""
    data = ROOT / "docs" / "data"
    frame = pd.read_csv(data / "scores.csv")
    labels = pd.read_csv(data / "labels.csv").set_index("item")["label"].map({"pass": 1, "fail": 0})
    distance = (frame["score"] - 6).abs()
    verdict = (frame["score"] >= 6).astype(float)
    return frame.assign(
        verdict=verdict, confidence=distance.rank(pct=True), human=frame["item"].map(labels),
        stratum=label_strata(verdict.to_numpy(), distance.to_numpy()),
    )  # fmt: skip


def own_answers(frame: pd.DataFrame) -> list[dict[str, object]]:
    """What judgestats says, with clusters where it takes them."""
    human = frame["human"].to_numpy(float)
    given = {"cluster": frame["question"].to_numpy(), "labels_drawn": "random"}
    made = automation_certificate(frame["verdict"], frame["confidence"], human, error=0.1, **given)
    rows: list[dict[str, object]] = [{
        "question": "automation", "estimate": made.share, "threshold": made.threshold,
        "wrong": made.wrong, "decided": made.decided,
    }]  # fmt: skip
    for question, found in (
        ("pass rate", corrected_rate(frame["verdict"], human, **given).corrected),
        ("pass rate from scores", corrected_mean(frame["score"], human, **given).corrected),
    ):
        rows.append({"question": question, "estimate": found.estimate, "low": found.interval.low,
                     "high": found.interval.high})  # fmt: skip
    strata, known = frame["stratum"].to_numpy(), ~np.isnan(human)
    sizes = np.bincount(strata)
    have = np.bincount(strata[known], minlength=sizes.size)
    passes = np.bincount(strata[known], human[known], minlength=sizes.size).astype(int)
    estimate, low, high = stratified_mean(sizes, have, passes / have, pass_variances(have, passes))
    rows.append({"question": "pass rate by strata", "estimate": estimate, "low": low, "high": high})
    return [{**row, "package": "judgestats", "version": __version__} for row in rows]


def main(python: str) -> None:
    """Ask both sides, and write the table."""
    frame = one_file()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.csv"
        frame.to_csv(path, index=False)
        script = ROOT / "benchmarks" / "peers" / "decision_peers.py"
        done = subprocess.run(
            [python, str(script), str(path)], check=True, stdout=subprocess.PIPE, text=True
        )
    rows = [*own_answers(frame), *json.loads(done.stdout.splitlines()[-1])]
    table = pd.DataFrame(rows, columns=COLUMNS).sort_values("question", kind="stable")
    table.round(4).to_csv(OUT, index=False)
    print(table.round(4).to_string(index=False))


if __name__ == "__main__":
    main(sys.argv[1])
