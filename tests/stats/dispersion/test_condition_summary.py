"""Means, reliability and shift beside the spread."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from judgestats.stats import condition_summary, mean_shift


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(8)


def scores(rng: np.random.Generator, n: int = 40, k: int = 2, r: int = 5) -> np.ndarray:
    return 6 + rng.normal(0, 1.5, (n, 1, 1)) + rng.normal(0, 0.7, (n, k, r))


def test_row_by_hand(rng: np.random.Generator) -> None:
    x = scores(rng)
    row = condition_summary(x, conditions=["a", "b"])["a"]
    within = x[:, 0].var(axis=1, ddof=1).mean()
    between = 5 * x[:, 0].mean(axis=1).var(ddof=1)
    assert row.mean.estimate == pytest.approx(x[:, 0].mean(), rel=1e-12)
    assert row.sem.estimate == pytest.approx(math.sqrt(within), rel=1e-12)
    assert row.between_item_variance.estimate == pytest.approx((between - within) / 5, rel=1e-12)
    assert row.icc.estimate == pytest.approx((between - within) / (between + 4 * within), rel=1e-12)
    rho = stats.spearmanr(x[:, 0].mean(axis=1), x[:, 0].var(axis=1)).statistic
    assert row.mean_spread_correlation == pytest.approx(rho, rel=1e-12)
    assert row.constant_share == 0.0


def test_icc_with_unequal_n_matches_one_way_anova(rng: np.random.Generator) -> None:
    x = scores(rng, n=12, k=1, r=6)
    x[:5, 0, 3:] = np.nan
    items = [v[~np.isnan(v)] for v in x[:, 0]]
    n = np.array([v.size for v in items])
    grand = np.concatenate(items).mean()
    ms_b = sum(v.size * (v.mean() - grand) ** 2 for v in items) / 11
    ms_w = sum(((v - v.mean()) ** 2).sum() for v in items) / (n.sum() - 12)
    assert stats.f_oneway(*items).statistic == pytest.approx(ms_b / ms_w, rel=1e-10)
    n0 = (n.sum() - (n**2).sum() / n.sum()) / 11
    icc = condition_summary(x).rows[0].icc
    assert icc.estimate == pytest.approx((ms_b - ms_w) / (ms_b + (n0 - 1) * ms_w), rel=1e-10)
    assert icc.interval.low < icc.estimate < icc.interval.high


def test_tidy_has_two_float_bounds(rng: np.random.Generator) -> None:
    summary = condition_summary(scores(rng))
    tidy = summary.tidy()
    assert len(tidy) == 10
    assert tidy[["conf_low", "conf_high"]].dtypes.map(str).tolist() == ["float64", "float64"]
    assert len(summary.glance()) == 2
    assert "ICC(1)" in summary.sentence()
    with pytest.raises(KeyError, match="no condition"):
        summary["z"]


def test_shift_over_equal_clusters_is_cluster_robust_regression(rng: np.random.Generator) -> None:
    x = scores(rng, n=32)
    cluster = np.repeat(np.arange(8), 4)
    d = np.diff(x.mean(axis=2), axis=1)[:, 0]
    fit = sm.OLS(d, np.ones(32)).fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
    row = mean_shift(x, cluster=cluster).rows[0]
    assert row.statistic == pytest.approx(fit.tvalues[0], rel=1e-10)
    assert row.p_value == pytest.approx(fit.pvalues[0], rel=1e-10)


def test_mean_shift_is_the_paired_t_test(rng: np.random.Generator) -> None:
    x = scores(rng)
    row = mean_shift(x).rows[0]
    means = x.mean(axis=2)
    expected = stats.ttest_rel(means[:, 1], means[:, 0])
    assert row.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert row.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert row.interval.low == pytest.approx(expected.confidence_interval().low, rel=1e-10)
