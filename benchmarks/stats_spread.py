"""Tests of spread: judgestats beside scipy, pandas and statsmodels on the same data.

    python benchmarks/stats_spread.py

Where a peer has no such analysis, the shortest way to it with that peer is timed; the gap of the
answers shows that it is the same analysis (permutation p-values differ by their Monte Carlo error).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats
from timing import Row, compare, print_rows

from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.designs.cells import cell_statistics
from judgestats.stats.dispersion.dispersion_test import spread_test
from judgestats.stats.dispersion.ratios import variance_ratio

ITEMS, CONDITIONS, REPLICATIONS = 80, 11, 10
PERMUTATIONS = 10_000


def scores() -> np.ndarray:
    """Integer scores whose spread grows slightly with the condition."""
    rng = np.random.default_rng(1)
    item = rng.normal(7, 1, size=(ITEMS, 1, 1))
    spread = np.linspace(0.8, 0.88, CONDITIONS)[None, :, None]
    noise = rng.normal(size=(ITEMS, CONDITIONS, REPLICATIONS)) * spread
    return np.clip(np.round(item + noise), 1, 10)


def by_groupby(x: np.ndarray) -> np.ndarray:
    """Mean distance from the cell mean with pandas."""
    n, k, r = x.shape
    frame = pd.DataFrame(
        {
            "item": np.repeat(np.arange(n), k * r),
            "condition": np.tile(np.repeat(np.arange(k), r), n),
            "score": x.ravel(),
        }
    )
    cells = frame.groupby(["item", "condition"])["score"]
    return cells.apply(lambda s: (s - s.mean()).abs().mean()).to_numpy().reshape(n, k)


def by_scipy_permutation(y: np.ndarray) -> float:
    """Cells exchanged within items with scipy.stats.permutation_test."""

    def share(*columns: np.ndarray, axis: int) -> np.ndarray:
        return np.sum([c.mean(axis=axis) ** 2 for c in columns], axis=0)

    found = stats.permutation_test(
        tuple(y.T),
        share,
        permutation_type="samples",
        vectorized=True,
        n_resamples=PERMUTATIONS,
        batch=500,
        alternative="greater",
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


def by_statsmodels(y: np.ndarray) -> float:
    """Two-way analysis of variance with a formula."""
    n, k = y.shape
    frame = pd.DataFrame(
        {"y": y.ravel(), "c": np.tile(np.arange(k), n), "i": np.repeat(np.arange(n), k)}
    )
    table = sm.stats.anova_lm(smf.ols("y ~ C(i) + C(c)", frame).fit())
    return float(table.loc["C(c)", "F"])


def rows() -> list[Row]:
    """Every task beside the shortest way to it with a peer."""
    x = scores()
    y = cell_statistics(x).from_mean
    out = compare(
        "cell statistics (six; the peer one), 80 x 11 x 10",
        lambda: cell_statistics(x),
        {"pandas groupby": lambda: by_groupby(x)},
        gap=lambda a, b: float(np.max(np.abs(a.from_mean - b))),
        budget=2.0,
    )
    out += compare(
        "blocked F, 10,000 cell permutations, 80 x 11 x 10",
        lambda: blocked_f_test(y, n_permutations=PERMUTATIONS),
        {"scipy permutation_test": lambda: by_scipy_permutation(y)},
        gap=lambda a, b: abs(a.p_value - b),
    )
    out += compare(
        "blocked F, F distribution, 80 x 11 x 10",
        lambda: blocked_f_test(y, n_permutations=0),
        {"statsmodels ols + anova_lm": lambda: by_statsmodels(y)},
        gap=lambda a, b: abs(a.statistic - b),
        budget=2.0,
    )
    out += compare(
        "10 variance ratios by jackknife, 80 x 11 x 10",
        lambda: variance_ratio(x, reference="condition 1"),
    )
    out += compare(
        "spread_test: 10,000 permutations, 55 pairs, 80 x 11 x 10",
        lambda: spread_test(x, n_permutations=PERMUTATIONS),
    )
    out += compare(
        "spread_test with Page, Spearman, Kendall, 80 x 11 x 10",
        lambda: spread_test(x, n_permutations=PERMUTATIONS, ordered=True),
    )
    return out


def main() -> None:
    print_rows(rows())


if __name__ == "__main__":
    main()
