"""judgestats beside truescore, evalstats, judgy and ppi-python: writes docs/benchmarks/validity.md.

    python benchmarks/validity.py PYTHON     # a Python in which these four are installed

Both sides read the same files (tests/reference/data/val_*.csv) in one run; seconds are medians of
three calls in a process that has imported everything.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from peers.validity_peers import timed

from judgestats.stats import corrected_mean, corrected_rate
from judgestats.stats.validity.inputs import labelled_items
from judgestats.stats.validity.regression import ppi_mean
from judgestats.stats.validity.rogan_gladen import corrected_by_rates

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "reference" / "data"
OUT = ROOT / "docs" / "benchmarks" / "validity.md"
FILES = ("bin1000", "bin_rare", "bin_few20", "bin_inverted", "scores")
ABOUT = {
    "bin1000": "pass / fail, an ordinary judge",
    "bin_rare": "pass / fail, one class rare",
    "bin_few20": "pass / fail, 20 labels",
    "bin_inverted": "pass / fail, a judge that is mostly wrong",
    "scores": "scores",
}
HEAD = """# Is the judge right: beside other packages

<!-- written by benchmarks/validity.py -->

judgestats, truescore 0.7.4, evalstats 0.3.3, judgy 0.1.0 and ppi-python 0.2.3 on the same
files, in one run on two cores that others used too: read ratios, not seconds. All labels were
drawn at random; 95 % intervals. *Seconds / ours* is the call's time over that of judgestats'
default on that file.
"""
TAIL = """
## Why the numbers differ

- **judgestats, default** post-stratifies pass / fail by the verdict, with MOVER limits of two
  Wilson intervals, and corrects scores by regression (GREG) with t. For a two-valued judge GREG
  and post-stratification are one number; PPI++ is the same with the slope shrunk by N_u / (N_u
  + n), hence the estimates agree to a few thousandths.
- **ppi-python, PPI++** divides variances by n, uses z, and keeps lambda within 0 and 1: an
  inverted judge is thrown away (the estimate is the labels' mean), which GREG and
  post-stratification use. Its own default is alpha = .1. *As ppi-python* is the same estimator
  computed by judgestats in its convention: the two rows agree to the last digit shown.
- **ppi-python, PPI** fixes lambda at 1: with a weak judge its interval is wider than that of
  the labels alone.
- **truescore, PPI** is PPI++ with variances over n - 1: the interval is a hair wider than
  ppi-python's.
- **evalstats, PPI** bootstraps: the estimate differs in the third decimal with the seed.
- **Rogan-Gladen** (truescore, judgy) inverts sensitivity and specificity, though the labels are
  of the very items that are estimated; that wastes them, and the interval is wider. Where the
  judge is no better than a coin both refuse, as `corrected_by_rates` does. truescore uses the
  delta method, judgestats Lang and Reiczigel's limits, judgy a bootstrap of 20,000 draws whose
  seed is numpy's global one.
- **Labels alone** are Wilson's interval (pass / fail) and t (scores) in truescore and
  judgestats: the same numbers.
- **Seconds**: judgestats' default makes the table of error rates, the test of
  representativeness and the three estimates that stand beside each other in one call; a single
  estimator takes about as long as in ppi-python and truescore (the rows *as ppi-python* and
  *Rogan-Gladen*). evalstats and judgy resample.

What these conventions cover in the long run stands in the simulations of
`docs/simulations/coverage_validity.py`.
"""


def ours(name: str) -> dict[str, object]:
    frame = pd.read_csv(DATA / f"val_{name}.csv")
    judge, human = frame["judge"].to_numpy(float), frame["human"].to_numpy(float)
    verdicts = name != "scores"

    def of(estimate):
        low, high = (
            (estimate.interval.low, estimate.interval.high) if estimate.interval else (np.nan,) * 2
        )
        if np.isnan(estimate.estimate):
            raise ValueError(estimate.reason)
        return estimate.estimate, low, high

    function = corrected_rate if verdicts else corrected_mean
    whole = function(judge, human, labels_drawn="random")
    items = labelled_items(judge, human, kind="score", where="benchmark")
    out = {
        "judgestats, default": timed(
            lambda: of(function(judge, human, labels_drawn="random").corrected)
        ),
        "judgestats, labels alone": timed(lambda: of(whole.people_only)),
        "judgestats, judge alone": timed(lambda: of(whole.judge_only)),
        "judgestats, PPI++ as ppi-python": timed(
            lambda: of(ppi_mean(items, estimator="ppi++", convention="ppi-python"))
        ),
    }
    # These two were had with all the rest: their seconds are those of the default.
    for key in ("judgestats, labels alone", "judgestats, judge alone"):
        value = out[key]
        if isinstance(value, list):
            out[key] = [*value[:3], float("nan")]
    if verdicts:
        known = ~np.isnan(human)
        y, f = human[known], judge[known]
        out["judgestats, Rogan-Gladen"] = timed(
            lambda: of(
                corrected_by_rates(
                    float(judge.sum()), judge.size, tp=float((f * y).sum()),
                    positives=float(y.sum()), tn=float(((1 - f) * (1 - y)).sum()),
                    negatives=float((1 - y).sum()),
                )
            )
        )  # fmt: skip
    return out


def rows(mine: dict[str, object], theirs: dict[str, object]) -> list[str]:
    base = mine["judgestats, default"]
    lines = [
        "| estimator | estimate | interval | width | seconds / ours |",
        "|---|---|---|---|---|",
    ]
    for name, value in {**mine, **theirs}.items():
        if isinstance(value, str):
            lines.append(f"| {name} | refused: {value.partition(': ')[2][:110]} | | | |")
            continue
        estimate, low, high, seconds = value
        ratio = "" if np.isnan(seconds) else f"{seconds / base[3]:.3g}"
        lines.append(
            f"| {name} | {estimate:.4f} | [{low:.4f}, {high:.4f}] | {high - low:.4f} | {ratio} |"
        )
    return lines


def main(python: str) -> None:
    files = [str(DATA / f"val_{name}.csv") for name in FILES]
    script = Path(__file__).parent / "peers" / "validity_peers.py"
    done = subprocess.run(
        [python, str(script), *files], check=True, capture_output=True, text=True, cwd=ROOT
    )
    peers = json.loads(done.stdout.splitlines()[-1])
    parts = [HEAD]
    for name, path in zip(FILES, files, strict=True):
        frame = pd.read_csv(path)
        parts += [
            f"\n## {ABOUT[name].capitalize()}\n",
            f"`val_{name}.csv`: {len(frame):,} items, {frame['human'].notna().sum()} labels.\n",
            *rows(ours(name), peers[path]),
        ]
    OUT.write_text("\n".join([*parts, TAIL]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
