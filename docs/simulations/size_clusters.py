"""Size and power of a test of a mean where items share clusters, equal and unequal.

Writes size_clusters.csv next to this file; half a minute on one core:

    python docs/simulations/size_clusters.py

``engine`` is `judgestats.stats.inference.jackknife`: the jackknife over clusters, t with effective
degrees of freedom. ``sandwich`` is the usual clustered standard error with t(G - 1). Items have
unit variance, of which `icc` is between clusters; power is at a shift of 3 true standard errors.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats
from tables import write_rows

from judgestats.stats.inference.jackknife import mean_over_clusters

LAYOUTS = {
    "8 x 5": [5] * 8,
    "20, 8, 4, 3, 2, 1, 1, 1": [20, 8, 4, 3, 2, 1, 1, 1],
    "12, 6, 5, 3, 2": [12, 6, 5, 3, 2],
    "15 x 1, 5 x 10": [1] * 15 + [10] * 5,
    "30 x 1, 10 x 3": [1] * 30 + [3] * 10,
    "30, 10 x 2": [30] + [2] * 10,
}
ICCS = (0.0, 0.3, 0.8)
DATA_SETS = 2000


def sandwich_p(values: np.ndarray, codes: np.ndarray) -> float:
    """P of the mean being 0 by the clustered sandwich error and t(G - 1)."""
    g = int(codes.max()) + 1
    sums = np.bincount(codes, weights=values - values.mean())
    error = math.sqrt(g / (g - 1) * float(np.sum(sums**2))) / values.size
    return float(2 * stats.t.sf(abs(values.mean() / error), g - 1))


def cell(name: str, icc: float, rng: np.random.Generator) -> dict[str, object]:
    """Rejection rates at .05 for one layout of clusters."""
    sizes = np.array(LAYOUTS[name])
    codes = np.repeat(np.arange(sizes.size), sizes)
    true_error = math.sqrt(float(np.sum((1 - icc) * sizes + icc * sizes**2))) / codes.size
    rejected = np.zeros(3)
    for _ in range(DATA_SETS):
        between = rng.normal(size=sizes.size)[codes]
        x = math.sqrt(icc) * between + math.sqrt(1 - icc) * rng.normal(size=codes.size)
        p = [
            mean_over_clusters(x, codes).p_value(),
            sandwich_p(x, codes),
            mean_over_clusters(x + 3 * true_error, codes).p_value(),
        ]
        rejected += np.array(p) <= 0.05
    engine, sandwich, power = rejected / DATA_SETS
    return {
        "clusters": name,
        "icc": icc,
        "engine_size": engine,
        "sandwich_size": sandwich,
        "engine_power": power,
        "data_sets": DATA_SETS,
    }


def main() -> None:
    """Simulate every layout and write the table."""
    rng = np.random.default_rng(20261122)
    rows = [cell(name, icc, rng) for name in LAYOUTS for icc in ICCS]
    write_rows("size_clusters.csv", rows)


if __name__ == "__main__":
    main()
