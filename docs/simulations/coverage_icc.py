"""How often intervals of ICC(1,1) miss, each side, where judges' scores are as they are.

Writes coverage_icc.csv: items judged alone (every item its own question), scores mostly 8 and 9,
a share of the items without any variance, the others each with a noise of its own.

    python -m docs.simulations.coverage_icc    400 data sets a row, about a minute
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from judgestats.stats import icc
from tests.null_judge.designs import seeded
from tests.null_judge.doors import JUDGES, true_icc
from tests.null_judge.worlds import World, scored

OUT = Path(__file__).with_suffix(".csv")
SETTINGS = ((10, 3, 0.5), (30, 2, 0.5), (30, 3, 0.5), (30, 10, 0.5), (30, 10, 0.0), (100, 10, 0.5))
DRAWS = 400


def main() -> None:
    """Count, and write the table."""
    rows = []
    for items, repeats, constant in SETTINGS:
        world = World(sizes=(1,) * items, replications=repeats, constant=constant, unread=0.0)
        true = true_icc(world)
        for method in ("f", "jackknife"):
            ends = []
            for seed in range(DRAWS):
                frame = scored(seeded(5, seed), world, JUDGES[:1])
                scores = frame["score"].to_numpy(float).reshape(items, repeats)
                bounds = icc(
                    scores, form="ICC(1,1)", interval=method, n_permutations=0,
                    cluster=np.arange(items),
                ).interval  # fmt: skip
                ends.append((np.nan, np.nan) if bounds is None else (bounds.low, bounds.high))
            low, high = np.array(ends).T
            rows.append(
                {"items": items, "repeats": repeats, "constant": constant, "true": round(true, 3),
                 "method": method, "draws": DRAWS, "above": float((low > true).mean()),
                 "below": float((high < true).mean()), "none": float(np.isnan(low).mean()),
                 "width": round(float(np.nanmean(high - low)), 3)}
            )  # fmt: skip
            print(rows[-1])
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
