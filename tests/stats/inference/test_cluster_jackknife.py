"""The clustered engine: right where clusters are equal, cautious where one holds most items."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from judgestats.stats import (
    condition_summary,
    mean_shift,
    probe_shift,
    run_change,
)
from judgestats.stats.agreement import mean_share
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


def test_committed_simulation_holds_its_level() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 18
    assert all(float(row["engine_size"]) <= 0.05 + 2 * 0.0049 for row in rows)
    assert max(float(row["sandwich_size"]) for row in rows) > 0.15


def test_fewer_than_two_effective_clusters_give_no_interval_and_no_p_of_any_mean():
    rng = np.random.default_rng(3)
    x = rng.normal(7, 1, (40, 2, 4)) + np.array([0, 0.8])[:, None]
    few, two = np.r_[np.zeros(38), 1, 2], np.r_[np.zeros(20), np.ones(20)]
    reason = "3 questions, effectively 1.1"
    [row] = mean_shift(x, cluster=few).rows
    assert row.reason == reason
    drifted = run_change(x[:, 0], x[:, 1], kind="scores", cluster=few)
    same = run_change(x[:, 0], x[:, 0] + 1, kind="scores", cluster=few)
    probe = probe_shift(x[:, 0, 0], x[:, 1, 0], margin=1, reach=9, cluster=few)
    assert np.isnan([row.p_value, drifted.p_value, same.p_value, probe.p_value]).all()
    shown = condition_summary(x, cluster=few).rows[0]
    share = mean_share(rng.integers(0, 2, 40), cluster=few)
    for found in (row, drifted.effects[0], probe.effects[0], shown.mean, shown.sem, share):
        assert found.interval is None
    for found in (drifted.effects[0], shown.mean, share):
        assert reason in found.notes[0].message
    [row] = mean_shift(x, cluster=two).rows
    assert row.interval is not None
    assert not row.reason
