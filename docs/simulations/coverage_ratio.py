"""Coverage of intervals for the ratio of pooled within-cell variances.

Writes coverage_ratio.csv next to this file; about four minutes on one core:

    python docs/simulations/coverage_ratio.py [population ...]

Two conditions, nominal level .95. Populations (true ratio):

- ``normal`` (2.25); ``unequal_items``: an item's variance gamma, shape .5, shared by both
  conditions (2.25); ``unequal_cells``: the same, drawn for every cell by itself (2.25).
- ``ties_89``: scores 8 or 9, the chance of 9 beta(.3, .7), halved under the first condition (1.19).
- ``clusters``: unequal_items with the item factor shared by the four items of a question (2.25);
  N counts items.
- three published judges (T = 1 over T = .3): items drawn with replacement from 30, scores from the
  item's 100; read from ../shared/data next to the repository, left out where absent. In two of them
  one or two of the 30 items hold most of the variance.

Methods: ``jackknife`` (default: effective degrees of freedom), ``jackknife_g`` (G - 1 degrees of
freedom), ``percentile`` and ``bca`` bootstrap over clusters (499 resamples). ``distances``: the
jackknife for the ratio of mean distances from the cell mean (its own true value from 400,000
items). Samples without an interval count as not covered; their share is given.
"""

from __future__ import annotations

import math
import sys
import zlib
from pathlib import Path

import numpy as np
from scipy import stats
from tables import write_rows

from judgestats.stats.designs.cells import cell_statistics
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.inference.jackknife import cluster_sums, log_ratio_of_sums

HERE = Path(__file__).resolve().parent
SCORES = HERE.parents[2] / "shared" / "data" / "llmasjudge" / "repeated_scores.csv.gz"
JUDGES = ("gpt-3.5-turbo", "gpt-4o-mini", "gpt-4o")
POPULATIONS = ("normal", "unequal_items", "unequal_cells", "ties_89", "clusters", *JUDGES)
ITEMS = (20, 50, 200)
REPLICATIONS = (3, 10)
SAMPLES = 500
RESAMPLES = 499
SCALE = np.array([1.0, 1.5])[None, :, None]


def published(judge: str) -> np.ndarray:
    """30 items x 2 temperatures (.3 and 1) x 100 scores."""
    import pandas as pd

    frame = pd.read_csv(SCORES)
    frame = frame[frame["judge"] == judge].sort_values(["item", "temperature", "replicate"])
    return frame["score"].to_numpy(dtype=float).reshape(30, 3, 100)[:, [0, 2]]


def draw(
    population: str, n: int, r: int, rng: np.random.Generator, pool: np.ndarray | None
) -> np.ndarray:
    """Scores of n items x 2 conditions x r replications."""
    if pool is not None:
        chosen = pool[rng.integers(30, size=n)]
        return np.take_along_axis(chosen, rng.integers(100, size=(n, 2, r)), axis=2)
    noise = rng.normal(size=(n, 2, r)) * SCALE
    if population == "normal":
        return noise
    if population == "ties_89":
        chance = rng.beta(0.3, 0.7, size=(n, 1, 1)) * np.array([0.5, 1.0])[None, :, None]
        return 8.0 + (rng.random((n, 2, r)) < chance)
    if population == "clusters":
        factor = np.repeat(rng.gamma(0.5, 2, size=(-(-n // 4), 1, 1)), 4, axis=0)[:n]
    else:
        factor = rng.gamma(0.5, 2, size=(n, 2 if population == "unequal_cells" else 1, 1))
    return noise * np.sqrt(factor)


def true_ratio(population: str, pool: np.ndarray | None) -> float:
    """Ratio of the expected cell variances, second condition over first."""
    if pool is not None:
        low, high = pool.var(axis=2).mean(axis=0)
        return float(high / low)
    if population == "ties_89":
        a, b = 0.3, 0.7
        first, second = a / (a + b), a * (a + 1) / ((a + b) * (a + b + 1))
        return (first - second) / (first / 2 - second / 4)
    return 2.25


def true_distance(population: str, r: int, pool: np.ndarray | None) -> float:
    """Ratio of the expected mean distances at r scores, from very many items."""
    rng = np.random.default_rng(99)
    total = np.zeros(2)
    for _ in range(20):
        total += cell_statistics(draw(population, 20_000, r, rng, pool)).from_mean.mean(axis=0)
    return float(total[1] / total[0])


def _ratio(sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    total = weights @ sums
    return np.asarray(total[:, 1] / total[:, 0])


def intervals(x: np.ndarray, codes: np.ndarray, seed: int) -> dict[str, tuple[float, float]]:
    """Both ends of every method's interval, NaN where undefined."""
    cells = cell_statistics(x)
    nothing = (math.nan, math.nan)
    out = {}
    sums = cluster_sums(cells.variance, codes)
    for name, values in (("jackknife", sums), ("distances", cluster_sums(cells.from_mean, codes))):
        found = log_ratio_of_sums(values, (-1.0, 1.0))
        interval = found.interval(0.95)
        out[name] = (interval.low, interval.high) if interval else nothing
        if name == "jackknife":
            half = stats.t.ppf(0.975, sums.shape[0] - 1) * found.std_error
            ends = (math.exp(found.log - half), math.exp(found.log + half))
            out["jackknife_g"] = ends if interval else nothing
    for method in ("percentile", "bca"):
        if math.isnan(out["jackknife"][0]):  # variance_ratio gives no interval at all then
            out[method] = nothing
            continue
        boot = cluster_bootstrap(
            sums,
            _ratio,
            n_resamples=RESAMPLES,
            method=method,
            transform="log",
            seed=seed,
            vectorized=True,
        ).interval
        out[method] = (boot.low, boot.high)
    return out


def study(population: str, n: int, r: int, pool: np.ndarray | None) -> list[dict[str, object]]:
    """Coverage of every method in one design."""
    rng = np.random.default_rng(zlib.crc32(f"{population} {n} {r}".encode()))
    codes = np.arange(n) // 4 if population == "clusters" else np.arange(n)
    found = [
        intervals(draw(population, n, r, rng, pool), codes, int(rng.integers(2**31)))
        for _ in range(SAMPLES)
    ]
    truth = true_ratio(population, pool)
    rows: list[dict[str, object]] = []
    for method in found[0]:
        value = true_distance(population, r, pool) if method == "distances" else truth
        ends = np.array([f[method] for f in found])
        share = float(np.mean((ends[:, 0] <= value) & (value <= ends[:, 1])))
        with np.errstate(divide="ignore", invalid="ignore"):
            width = np.nanmedian(ends[:, 1] / ends[:, 0])
        rows.append(
            {
                "population": population,
                "N": n,
                "R": r,
                "method": method,
                "true": f"{value:.4f}",
                "coverage": f"{share:.3f}",
                "std_error": f"{math.sqrt(share * (1 - share) / SAMPLES):.3f}",
                "median_high_over_low": f"{width:.3g}",
                "undefined": f"{np.mean(np.isnan(ends[:, 0])):.3f}",
                "samples": SAMPLES,
            }
        )
    return rows


def main(populations: list[str]) -> None:
    """Run the populations and write the table."""
    rows: list[dict[str, object]] = []
    for population in populations or POPULATIONS:
        if population in JUDGES and not SCORES.exists():
            print(f"{population}: left out, {SCORES.name} is not there")
            continue
        pool = published(population) if population in JUDGES else None
        for n in ITEMS:
            for r in REPLICATIONS:
                rows += study(population, n, r, pool)
        print(population, "done", flush=True)
    write_rows("coverage_ratio.csv", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
