"""The clustered engine: right where clusters are equal, cautious where one holds most items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judgestats.stats import (
    mean_shift,
)
from judgestats.stats.inference import jackknife_error, mean_over_clusters

SIZES = np.array([20, 8, 4, 3, 2, 1, 1, 1])
UNEQUAL = np.repeat(np.arange(8), SIZES)
TABLE = Path(__file__).resolve().parents[3] / "docs" / "simulations" / "size_clusters.csv"


def test_mean_by_leaving_clusters_out_one_after_the_other() -> None:
    x = np.random.default_rng(2).normal(size=UNEQUAL.size)
    left_out = np.array([x[g != UNEQUAL].mean() for g in range(8)])
    se = np.sqrt(7 / 8 * np.sum((left_out - x.mean()) ** 2))
    m = mean_over_clusters(x, UNEQUAL)
    assert (m.mean, m.std_error) == pytest.approx((x.mean(), se), rel=1e-12)
    assert m.df == pytest.approx(40**2 / np.sum(SIZES**2) - 1)
    assert jackknife_error(left_out, SIZES) == pytest.approx((se, m.df), rel=1e-12)


def test_a_shift_in_unequal_clusters_is_not_found_where_there_is_none() -> None:
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(300):
        x = rng.normal(size=(40, 2)) + rng.normal(size=(8, 2))[UNEQUAL]
        found += mean_shift(x, cluster=UNEQUAL).rows[0].p_value <= 0.05
    assert found / 300 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)
