"""Coverage of the intervals of the Grade Score and of differences between Grade Scores.

Run ``python docs/simulations/coverage_grade_score.py``: it writes coverage_grade_score.csv next to
this file (about a minute on one core).

Model: option o of item i has a worth, normal with standard deviation `content`. The first position
adds `first`. Each selection adds independent Gumbel noise to every option and takes the largest
sum. Every item is shown in all its cyclic rotations. The truth of a cell is the mean over 200,000
other items, so coverage is of the mean of a population of items.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from tables import write_rows

from judgestats.stats.agreement.grade_score import (
    grade_score,
    grade_score_difference,
    grade_score_items,
)

JUDGES = {
    "at random": (0.0, 0.0),
    "content": (2.0, 0.0),
    "content, nearly perfect": (12.0, 0.0),
    "content and place": (2.0, 2.0),
    "place, nearly always": (0.5, 4.0),
}
N_ITEMS = (20, 50, 200)
N_OPTIONS = (2, 4, 5)
N_DATA = 500
N_BOOTSTRAPPED = 100  # of 20 items only: these are slow
TRUTH_ITEMS = 200_000
METHODS = ("jackknife", "bca")


def positions(rng, worth, judge, repetitions=1):
    """Places chosen, shape (items x repetitions, rotations); `worth` is (items, options)."""
    content, first = JUDGES[judge]
    n = worth.shape[1]
    place, rotation = np.arange(n)[None, :], np.arange(n)[:, None]
    shown = np.repeat(content * worth, repetitions, axis=0)[:, (place + rotation) % n]
    shown = shown + rng.gumbel(size=shown.shape)
    shown[..., 0] += first
    return shown.argmax(axis=-1)


@cache
def truth(judge, n_options, other=None):
    """Mean Grade Score and corrected score; with `other`, mean corrected difference."""
    rng = np.random.default_rng([n_options, list(JUDGES).index(judge), 1])
    worth = rng.normal(size=(TRUTH_ITEMS, n_options))
    one = grade_score_items(positions(rng, worth, judge))
    if other is None:
        return float(one["grade_score"].mean()), float(one["corrected"].mean())
    two = grade_score_items(positions(rng, worth, other))
    return float((two["corrected"] - one["corrected"]).mean())


def row(what, judge, n_options, n_items, repetitions, method, true, found):
    """One line of the table."""
    limits = [(f.interval.low, f.interval.high) for f in found if f.interval is not None]
    low, high = np.array(limits).T if limits else (np.array([]), np.array([]))
    return {
        "what": what,
        "judge": judge,
        "n_options": n_options,
        "n_items": n_items,
        "repetitions": repetitions,
        "method": method,
        "truth": round(true, 4),
        "bias": round(float(np.mean([f.estimate for f in found])) - true, 4),
        "coverage": round(float(np.mean((low <= true) & (true <= high))), 4) if limits else "",
        "missed_below": round(float(np.mean(high < true)), 4) if limits else "",
        "missed_above": round(float(np.mean(true < low)), 4) if limits else "",
        "no_interval": round(1 - len(limits) / len(found), 4),
        "mean_width": round(float(np.mean(high - low)), 4) if limits else "",
        "data_sets": len(found),
    }


def one_judge(judge, n_options, n_items, repetitions):
    """Rows of one judge's Grade Score, raw and chance-corrected."""
    rng = np.random.default_rng([n_options, n_items, repetitions, list(JUDGES).index(judge)])
    cluster = np.repeat(np.arange(n_items), repetitions)
    seen = [
        positions(rng, rng.normal(size=(n_items, n_options)), judge, repetitions)
        for _ in range(N_DATA)
    ]
    plain, corrected = truth(judge, n_options)
    asked = [("grade", m, plain) for m in METHODS] + [("corrected", "jackknife", corrected)]
    for score, method, true in asked:
        boot = method == "bca"
        if boot and (n_items > 20 or repetitions > 1):
            continue
        found = [
            grade_score(p, score=score, cluster=cluster, interval=method, n_resamples=500)
            for p in seen[: N_BOOTSTRAPPED if boot else N_DATA]
        ]
        yield row(score, judge, n_options, n_items, repetitions, method, true, found)


def two_judges(judge, other, n_options, n_items):
    """The row of a difference, paired by item."""
    rng = np.random.default_rng([n_options, n_items, 9])
    found = []
    for _ in range(N_DATA):
        worth = rng.normal(size=(n_items, n_options))
        pair = [positions(rng, worth, j) for j in (judge, other)]
        found.append(grade_score_difference(*pair))
    true = truth(judge, n_options, other)
    yield row("difference", f"{judge} - {other}", n_options, n_items, 1, "jackknife", true, found)


def main():
    """The table."""
    rows = []
    for judge, k, n in itertools.product(JUDGES, N_OPTIONS, N_ITEMS):
        rows += one_judge(judge, k, n, 1)
    for judge, n in itertools.product(JUDGES, (20, 50)):
        rows += one_judge(judge, 4, n, 3)
    for k, n in itertools.product(N_OPTIONS, N_ITEMS):
        rows += two_judges("content and place", "content", k, n)
        rows += two_judges("content, nearly perfect", "content", k, n)
    write_rows("coverage_grade_score.csv", rows)
    known = [r["coverage"] for r in rows if r["method"] == "jackknife" and r["coverage"] != ""]
    print(f"coverage of the default: {min(known)} to {max(known)}")


if __name__ == "__main__":
    main()
