"""judgestats beside truescore, evalstats, judgy and ppi-python: writes docs/benchmarks/validity.md.

    python benchmarks/validity.py PYTHON                # a Python in which these four are installed
    python benchmarks/validity.py PYTHON --draws 300    # draws the table of coverage anew as well

Both sides read the same files (tests/reference/data/val_*.csv) in one run; seconds are medians of
three calls in a process that has imported everything. Coverage is counted over the same simulated
data sets on both sides and kept in docs/benchmarks/validity_coverage.csv.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
from peers.validity_peers import ITEMS, JUDGY_RESAMPLES, Estimators, coverage, timed

from judgestats.stats import corrected_mean, corrected_rate
from judgestats.stats.validity.inputs import labelled_items
from judgestats.stats.validity.poststratified import corrected_by_rates
from judgestats.stats.validity.regression import ppi_mean

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "reference" / "data"
OUT = ROOT / "docs" / "benchmarks" / "validity.md"
COVERAGE = OUT.with_name("validity_coverage.csv")
PEERS = ROOT / "benchmarks" / "peers" / "validity_peers.py"
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
"""
COVERED = """
## What the intervals cover

Share of {draws} simulated data sets whose 95 % interval holds the true mean, and the mean width, of
the same draws for every package: {items:,} items, labels drawn at random (two Monte Carlo errors at
.95: {error:.3f}). judgy resamples {resamples:,} times here instead of 20,000. *refused*: the share
without an interval; it counts neither way.
"""
AFTER = """
- **judgestats, default** is the widest of what covers at 20 labels (truescore and evalstats are a
  fifth narrower there and cover too), and holds its level in every column.
- **PPI++ as ppi-python computes it** falls to .88-.89 where one class has a handful of labels: z
  and the sample variance of so few. *truescore* takes Wilson's half-width there (fewer than five
  labels of one class), hence .93-.95; *evalstats*' bootstrap shares the weakness (.90-.92).
- **judgestats' own** *PPI++ as ppi-python* refuses where the labels are all of one kind (no spread:
  an interval of no width), which ppi-python counts as a miss.
- **Rogan-Gladen** covers because it is wide, and is refused by all where the judge is mostly wrong.
- **judgy** resamples the labelled items alone and holds the judge's rate of the others fixed, then
  clips to 0-1: .76 at 20 labels, .85-.91 with more.
- **The judge alone** answers another question (what *it* says), hence its coverage.

Over the whole grid of labels, rates and judges: [the simulations](../simulations/validity.md).
"""


def ours_of(judge: np.ndarray, human: np.ndarray) -> Estimators:
    verdicts = set(np.unique(judge)) <= {0.0, 1.0}
    function = corrected_rate if verdicts else corrected_mean
    items = labelled_items(judge, human, kind="score", where="benchmark")
    labelled = ~np.isnan(human)
    y, f = human[labelled], judge[labelled]

    def of(estimate):
        if np.isnan(estimate.estimate) or estimate.interval is None:
            raise ValueError(estimate.reason)
        return estimate.estimate, estimate.interval.low, estimate.interval.high

    # The default makes the two beside it in the same call: they are read from its last result.
    results = []

    def default():
        results[:] = [function(judge, human, labels_drawn="random")]
        return of(results[0].corrected)

    out: Estimators = {
        "judgestats, default": default,
        "judgestats, labels alone": lambda: of(results[0].people_only),
        "judgestats, judge alone": lambda: of(results[0].judge_only),
        "judgestats, PPI++ as ppi-python": lambda: of(
            ppi_mean(items, estimator="ppi++", convention="ppi-python")
        ),
    }
    if verdicts:
        out["judgestats, Rogan-Gladen"] = lambda: of(
            corrected_by_rates(
                float(judge.sum()), judge.size, tp=float((f * y).sum()),
                positives=float(y.sum()), tn=float(((1 - f) * (1 - y)).sum()),
                negatives=float((1 - y).sum()),
            )
        )  # fmt: skip
    return out


def ours(path: Path) -> dict[str, object]:
    frame = pd.read_csv(path)
    estimators = ours_of(frame["judge"].to_numpy(float), frame["human"].to_numpy(float))
    out: dict[str, object] = {name: timed(function) for name, function in estimators.items()}
    for name in ("judgestats, labels alone", "judgestats, judge alone"):
        value = out[name]
        if isinstance(value, list):  # their seconds are those of the default
            out[name] = [*value[:3], float("nan")]
    return out


def drawn(python: str, draws: int) -> None:
    """Count coverage over the same draws here and in the peers' Python; keep it as a table."""
    with subprocess.Popen(
        [python, str(PEERS), "--draws", str(draws)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        mine = coverage(ours_of, draws)
        answer = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"{PEERS.name} ended with {process.returncode}")
    theirs = json.loads(answer.splitlines()[-1])
    table = [
        {"setting": setting, "estimator": name, "draws": draws, "coverage": values[0],
         "width": values[1], "refused": values[2]}
        for setting in mine
        for name, values in {**mine[setting], **theirs[setting]}.items()
    ]  # fmt: skip
    pd.DataFrame(table).round(4).to_csv(COVERAGE, index=False)


def covered() -> list[str]:
    table = pd.read_csv(COVERAGE)
    draws = int(table["draws"].iloc[0])
    error = 2 * float(np.sqrt(0.95 * 0.05 / draws))
    lines = [COVERED.format(draws=draws, items=ITEMS, error=error, resamples=JUDGY_RESAMPLES)]
    settings = list(dict.fromkeys(table["setting"]))
    for of in (
        [s for s in settings if not s.startswith("scores")],
        [s for s in settings if s.startswith("scores")],
    ):
        lines += [f"| estimator | {' | '.join(of)} |", "|---" * (len(of) + 1) + "|"]
        part = table[table["setting"].isin(of)]
        for name, rows in part.groupby("estimator", sort=False):
            cells = [cell(rows[rows["setting"] == s].iloc[0]) for s in of]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines.append("")
    return [*lines[:-1], AFTER]


def cell(row: pd.Series) -> str:
    if row["refused"] == 1:
        return "refused"
    refused = f", refused {row['refused']:.2f}" if row["refused"] else ""
    return f"{row['coverage']:.3f} ({row['width']:.3f}{refused})"


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="a Python in which the four packages are installed")
    parser.add_argument("--draws", type=int, help="data sets per setting of the coverage")
    options = parser.parse_args()
    if options.draws:
        drawn(options.python, options.draws)
    files = [str(DATA / f"val_{name}.csv") for name in FILES]
    done = subprocess.run(
        [options.python, str(PEERS), *files], check=True, capture_output=True, text=True, cwd=ROOT
    )
    peers = json.loads(done.stdout.splitlines()[-1])
    parts = [HEAD]
    for name, path in zip(FILES, files, strict=True):
        frame = pd.read_csv(path)
        parts += [
            f"\n## {ABOUT[name].capitalize()}\n",
            f"`val_{name}.csv`: {len(frame):,} items, {frame['human'].notna().sum()} labels.\n",
            *rows(ours(Path(path)), peers[path]),
        ]
    OUT.write_text("\n".join([*parts, TAIL, *covered()]), encoding="utf-8")


if __name__ == "__main__":
    main()
