"""How often intervals of ICC(1,1) miss, each side, where judges' scores are as they are.

Writes coverage_icc.csv. Judge-like scores: mostly 8 and 9, a share of the items without any
variance, the others each with a separate noise, alone or sharing questions. Normal scores: an
item's level and the noise have standard deviation 1 everywhere, as F takes them to have.

    python -m docs.simulations.coverage_icc    400 data sets a row, about two minutes
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judgestats.stats import icc
from tests.null_judge.designs import seeded
from tests.null_judge.doors import JUDGES, true_icc
from tests.null_judge.worlds import UNEQUAL, World, scored

OUT = Path(__file__).with_suffix(".csv")
QUESTIONS = {
    "10 x 1": (1,) * 10,
    "30 x 1": (1,) * 30,
    "100 x 1": (1,) * 100,
    "8 x 5": (5,) * 8,
    "unequal": UNEQUAL,
}
JUDGED = (
    ("10 x 1", 2, 0.5), ("10 x 1", 3, 0.5), ("30 x 1", 2, 0.5), ("30 x 1", 3, 0.5),
    ("30 x 1", 10, 0.5), ("30 x 1", 10, 0.0), ("100 x 1", 2, 0.5), ("100 x 1", 10, 0.5),
    ("8 x 5", 2, 0.5), ("8 x 5", 3, 0.0), ("8 x 5", 10, 0.5), ("unequal", 3, 0.5),
    ("unequal", 10, 0.0),
)  # fmt: skip
NORMAL = ((10, 2), (10, 3), (20, 3), (30, 2), (50, 10))
DRAWS = 400


def judge_matrices(
    sizes: tuple[int, ...], repeats: int, constant: float
) -> Callable[[int], NDArray]:
    """Draws of one judge-like matrix by seed."""
    world = World(sizes=sizes, replications=repeats, constant=constant, unread=0.0)

    def draw(seed: int) -> NDArray:
        frame = scored(seeded(5, seed), world, JUDGES[:1])
        return frame["score"].to_numpy(float).reshape(-1, repeats)

    return draw


def normal(items: int, repeats: int) -> Callable[[int], NDArray]:
    """Draws of one matrix of normal scores with a reliability of .5."""

    def draw(seed: int) -> NDArray:
        rng = np.random.default_rng([seed, items, repeats])
        return rng.normal(size=(items, 1)) + rng.normal(size=(items, repeats))

    return draw


def row(
    scores: str, questions: str, sizes: tuple[int, ...], repeats: int, constant: float,
    true: float, method: str, draw: Callable[[int], NDArray],
) -> dict[str, object]:  # fmt: skip
    """Count the misses of one setting."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    ends = []
    for seed in range(DRAWS):
        how = "f" if method == "f" else "auto"
        bounds = icc(draw(seed), interval=how, n_permutations=0, cluster=clusters).interval
        ends.append((np.nan, np.nan) if bounds is None else (bounds.low, bounds.high))
    low, high = np.array(ends).T
    return {
        "scores": scores, "questions": questions, "repeats": repeats, "constant": constant,
        "true": round(true, 3), "method": method, "draws": DRAWS,
        "above": float((low > true).mean()), "below": float((high < true).mean()),
        "none": float(np.isnan(low).mean()), "width": round(float(np.nanmean(high - low)), 3),
    }  # fmt: skip


def main() -> None:
    """Count, and write the table."""
    rows = []
    for questions, repeats, constant in JUDGED:
        sizes = QUESTIONS[questions]
        world = World(sizes=sizes, replications=repeats, constant=constant, unread=0.0)
        draw = judge_matrices(sizes, repeats, constant)
        for method in ("f", "jackknife"):
            what = ("judge-like", questions, sizes, repeats, constant, true_icc(world))
            rows.append(row(*what, method, draw))
            print(rows[-1])
    for items, repeats in NORMAL:
        for method in ("f", "jackknife"):
            what = ("normal", f"{items} x 1", (1,) * items, repeats, 0.0, 0.5)
            rows.append(row(*what, method, normal(items, repeats)))
            print(rows[-1])
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
