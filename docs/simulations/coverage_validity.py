"""Coverage of corrected rates and means, size of corrected comparisons.

Run ``python docs/simulations/coverage_validity.py [--processes N]``: it writes
coverage_validity.csv next to this file, a row as soon as its cell is done (about an hour on two
cores); a second run goes on where the first ended. ``--quick`` runs few data sets of every kind of
cell, and prints the table instead (a minute). Of the clustered cells a half fraction is run: every
level of a factor meets every level of every other one.

Each row is a cell: kind, design, truth, runs, coverage, shares refused and warned, mean width.
Coverage is over all runs that are not refused, also with a warning. `below` marks a cell whose
coverage is below .93 minus two Monte Carlo errors (for `size`: false claims above .05 plus two). A
cell below counts as warned only if `warned` is 1, by the design alone.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from judgestats.stats import (
    corrected_by_rates,
    corrected_differences,
    corrected_mean,
    corrected_rate,
)
from judgestats.stats.validity.poststratified import effective_passes

HERE = Path(__file__).resolve().parent
JUDGES = (
    (0.5, 0.5),
    (0.6, 0.6),
    (0.6, 0.9),
    (0.8, 0.8),
    (0.9, 0.7),
    (0.9, 0.9),
    (0.98, 0.98),
    (1, 1),
)
QUIET = {"few_labels", "assumes_random", "unread_class", "assumes_equal_rates", "people_only"}
"""Notes that say what the design is, not that the interval may fail."""


def beta(rng, mean, icc, size):
    """Chances that differ between questions."""
    if icc == 0 or mean in {0, 1}:
        return np.full(size, float(mean))
    return rng.beta(mean * (1 / icc - 1), (1 - mean) * (1 / icc - 1), size)


def sizes(rng, n_questions, shape):
    """Items of each question."""
    if shape == "equal":
        return np.full(n_questions, 4)
    few = np.maximum(1, np.round(20 * 0.6 ** np.arange(n_questions))).astype(int)
    few[8:] = rng.integers(1, 4, max(n_questions - 8, 0))
    return rng.permutation(few)


def independent(rng, n, prevalence, se, sp, drawn, n_items=2000):
    """Independent items, labels drawn at random or by verdict."""
    y = rng.random(n_items) < prevalence
    f = np.where(y, rng.random(n_items) < se, rng.random(n_items) >= sp)
    human = np.full(n_items, np.nan)
    if drawn == "random":
        human[:n] = y[:n]
    else:
        for v in (True, False):
            there = np.flatnonzero(f == v)
            chosen = rng.choice(there, min(n // 2, there.size), replace=False)
            human[chosen] = y[chosen]
    out = corrected_rate(f, human, labels_drawn=drawn)
    return out.corrected, out.notes, prevalence


def clustered(rng, n_questions, shape, prevalence, se, sp, labels, unread):
    """Questions whose chances and whose judge's errors differ; a fifth of the items labelled."""
    m = np.concatenate([sizes(rng, n_questions, shape) for _ in range(5)])
    q = np.repeat(np.arange(m.size), m)
    y = rng.random(q.size) < beta(rng, prevalence, 0.3, m.size)[q]
    se_q, sp_q = beta(rng, se, 0.2, m.size), beta(rng, sp, 0.2, m.size)
    f = np.where(y, rng.random(q.size) < se_q[q], rng.random(q.size) >= sp_q[q]).astype(float)
    f[rng.random(q.size) < unread] = np.nan
    whole = q < n_questions
    chosen = whole if labels == "whole" else rng.permutation(q.size) < whole.sum()
    out = corrected_rate(f, np.where(chosen, y, np.nan), cluster=q, labels_drawn="random")
    return out.corrected, out.notes, prevalence


def elsewhere(rng, n, n_questions, prevalence, se, sp):
    """Rates of n labels of another study, where half pass; judged items in questions, or alone."""
    if n_questions:
        m = sizes(rng, 5 * n_questions, "unequal")
        q = np.repeat(np.arange(m.size), m)
        y = rng.random(q.size) < beta(rng, prevalence, 0.3, m.size)[q]
        se_q, sp_q = beta(rng, se, 0.2, m.size)[q], beta(rng, sp, 0.2, m.size)[q]
    else:
        q = np.arange(500)
        y, se_q, sp_q = rng.random(500) < prevalence, np.full(500, se), np.full(500, sp)
    f = np.where(y, rng.random(q.size) < se_q, rng.random(q.size) >= sp_q).astype(float)
    passes, n_judged = effective_passes(f, q)
    positives = rng.binomial(n, 0.5)
    out = corrected_by_rates(
        passes, n_judged, tp=rng.binomial(positives, se), positives=positives,
        tn=rng.binomial(n - positives, sp), negatives=n - positives,
    )  # fmt: skip
    return out, out.notes, prevalence


def scores(rng, n, rho, shape, n_questions, n_items=1000):
    """Scores, normal or exponential; with `n_questions` labelled whole questions instead of n."""
    if n_questions:
        m = rng.integers(1, 8, 5 * n_questions)
        q = np.repeat(np.arange(m.size), m)
        y = rng.normal(size=m.size)[q] + rng.normal(size=q.size)
        f = y + rng.normal(0, 0.55, m.size)[q] + rng.normal(0, 0.84, q.size)
        human, cluster = np.where(q < n_questions, y, np.nan), q
    else:
        draw = rng.exponential if shape == "exponential" else rng.normal
        e = draw(size=(2, n_items)) if shape == "normal" else rng.exponential(size=(2, n_items)) - 1
        y, f = e[0], rho * e[0] + math.sqrt(1 - rho**2) * e[1]
        human, cluster = np.where(np.arange(n_items) < n, y, np.nan), None
    out = corrected_mean(f, human, cluster=cluster, labels_drawn="random")
    return out.corrected, out.notes, 0.0


def scores_of_questions(rng, n_questions, shape, errors, rho, labels):
    """Scores whose truth and whose judge's errors differ by question; a fifth of them labelled."""
    m = np.concatenate([sizes(rng, n_questions, shape) for _ in range(5)])
    q = np.repeat(np.arange(m.size), m)

    def part():
        draw = rng.exponential if errors == "exponential" else rng.normal
        mean = 1.0 if errors == "exponential" else 0.0
        return (
            math.sqrt(0.3) * (draw(size=m.size)[q] - mean)
            + math.sqrt(0.7) * (draw(size=q.size) - mean)
        )  # fmt: skip

    y = part()
    f = rho * y + math.sqrt(1 - rho**2) * part()
    whole = q < n_questions
    chosen = whole if labels == "whole" else rng.permutation(q.size) < whole.sum()
    out = corrected_mean(f, np.where(chosen, y, np.nan), cluster=q, labels_drawn="random")
    return out.corrected, out.notes, 0.0


def systems(rng, n, k, n_items=600):
    """Equal systems, a judge that prefers long answers, lengths that differ between systems."""
    y = rng.random((n_items, k)) < 0.7
    long = rng.random((n_items, k)) < np.linspace(0.2, 0.8, k)
    f = np.where(
        long & (rng.random((n_items, k)) < 0.6), True, y ^ (rng.random((n_items, k)) < 0.1)
    )
    human = np.where(np.arange(n_items)[:, None] < n, y, np.nan)
    out = corrected_differences(f, human, names=[str(i) for i in range(k)], labels_drawn="random")
    return min(r.p_adjusted for r in out.rows if not math.isnan(r.p_adjusted))


def cells(quick):
    """Every cell: kind, function, arguments, number of data sets."""
    n = (20, 50) if quick else (20, 50, 100, 200, 400)
    prevalence = (0.05, 0.7) if quick else (0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
    judges = JUDGES[::3] if quick else JUDGES
    runs = 60 if quick else 1000
    for a, b, (se, sp) in itertools.product(n, prevalence, judges):
        yield "rate", independent, (a, b, se, sp, "random"), runs
    for a, b, (se, sp) in itertools.product(n[1:], prevalence, judges):
        yield "by-verdict", independent, (a, b, se, sp, "by-verdict"), runs // 2
    questions = (10,) if quick else (5, 10, 20, 40, 60)
    for a, rho, shape in itertools.product(n, (0.0, 0.5, 0.8, 0.95), ("normal", "exponential")):
        yield "scores", scores, (a, rho, shape, 0), runs
    for q in questions:
        yield "score clusters", scores, (0, 0.8, "normal", q), runs
    for a, k in itertools.product(n[1:], (2, 4)):
        yield "size", systems, (a, k), runs
    some = prevalence[::2] if len(prevalence) > 2 else prevalence
    factors = (
        questions,
        ("equal", "unequal"),
        some,
        [j for j in judges if j in {(0.5, 0.5), (0.8, 0.8), (0.9, 0.7), (1, 1)}],
        ("whole", "scattered"),
        (0.0, 0.05),
    )
    for levels in itertools.product(*(enumerate(f) for f in factors)):
        if sum(k for k, _ in levels) % 2 == 0 or quick:
            q, shape, b, (se, sp), *rest = (value for _, value in levels)
            yield "clusters", clustered, (q, shape, b, se, sp, *rest), runs
    apart = [j for j in judges if sum(j) > 1.3]  # others are refused in most data sets
    for a, q, b, (se, sp) in itertools.product(n[1:], (0, 4, 12), some, apart):
        yield "elsewhere", elsewhere, (a, q, b, se, sp), 3 * runs // 4
    for levels in itertools.product(
        questions,
        ("equal", "unequal"),
        ("normal", "exponential"),
        (0.3, 0.8),
        ("whole", "scattered"),
    ):
        yield "score questions", scores_of_questions, levels, runs


def simulate(cell):
    """One row of the table."""
    number, (kind, function, arguments, runs) = cell
    rng = np.random.default_rng([2026, number])
    base = {"kind": kind, "design": " ".join(map(str, arguments)), "runs": runs}
    if kind == "size":
        claims = float(np.mean([function(rng, *arguments) < 0.05 for _ in range(runs)]))
        error = 2 * math.sqrt(0.05 * 0.95 / runs)
        return base | {"coverage": round(1 - claims, 4), "below": int(claims > 0.05 + error)}
    hits, widths, refused, warned = [], [], 0, 0
    for _ in range(runs):
        estimate, notes, truth = function(rng, *arguments)
        if estimate.interval is None:
            refused += 1
            continue
        warned += any(n.code not in QUIET for n in notes)
        low, high = estimate.interval.low, estimate.interval.high
        hits.append(low - 1e-12 <= truth <= high + 1e-12)
        widths.append(high - low)
    cover = float(np.mean(hits)) if hits else math.nan
    error = 2 * math.sqrt(0.93 * 0.07 / max(len(hits), 1))
    return base | {
        "coverage": round(cover, 4),
        "below": int(cover < 0.93 - error),
        "refused": round(refused / runs, 4),
        "warned": round(warned / max(len(hits), 1), 4),
        "width": round(float(np.mean(widths)), 4) if widths else math.nan,
    }


def finished_cells(path):
    """The cells that a table holds already."""
    if not path.exists():
        return set()
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["kind"], row["design"]) for row in csv.DictReader(file)}


def main():
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kind", default="", help="cells of one kind only")
    given = parser.parse_args()
    names = ("kind", "design", "runs", "coverage", "below", "refused", "warned", "width")
    path = HERE / "coverage_validity.csv"
    known = set() if given.quick else finished_cells(path)
    left = [
        (number, cell)
        for number, cell in enumerate(cells(given.quick))
        if (cell[0], " ".join(map(str, cell[2]))) not in known and given.kind in {"", cell[0]}
    ]
    new = given.quick or not path.exists()
    with (
        ProcessPoolExecutor(max_workers=given.processes) as pool,
        sys.stdout if given.quick else path.open("a", newline="", encoding="utf-8") as file,
    ):
        writer = csv.DictWriter(file, fieldnames=names)
        if new:
            writer.writeheader()
        for row in pool.map(simulate, left):
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
