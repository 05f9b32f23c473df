"""Split halves, ten Berge's series and the greatest lower bound; jackknife intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.stats.inference.jackknife import cluster_jackknife
from judgestats.stats.reliability.internal_consistency import cronbach_alpha
from judgestats.stats.reliability.lower_bounds import (
    greatest_lower_bound,
    split_halves,
    ten_berge_mu,
)


def noisy(seed=0, n=40, k=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)) + rng.normal(size=(n, k))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2, 4, 6]))
def test_alpha_is_the_mean_of_all_splits(seed, k):
    x = noisy(seed, k=k)
    out = split_halves(x)
    alpha = cronbach_alpha(x, interval="none", n_permutations=0).estimate
    assert out.mean == pytest.approx(alpha, abs=1e-9)
    assert out.smallest <= out.median <= out.largest


def test_many_columns_are_split_at_random_and_repeatably():
    x = noisy(k=20)
    a, b = split_halves(x, n_splits=300), split_halves(x, n_splits=300)
    np.testing.assert_array_equal(a.values, b.values)
    assert not a.exhaustive
    assert "drawn_splits" in [n.code for n in a.notes]
    assert "drawn splits" in a.sentence()
    with pytest.raises(InputError, match="n_splits must be"):
        split_halves(x, n_splits=0)


def test_odd_numbers_use_every_split_once():
    assert split_halves(noisy(k=5)).n_splits == 10
    assert split_halves(noisy(k=6)).n_splits == 10


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_the_bounds_are_ordered(seed):
    x = noisy(seed, k=4)
    bare = {"n_permutations": 0, "standardized": True}
    mu = [ten_berge_mu(x, order=r, **bare).estimate for r in range(4)]
    glb = greatest_lower_bound(x, standardized=True).estimate
    assert mu == sorted(mu)
    assert glb >= mu[-1] - 1e-7
    assert glb <= 1


def test_the_glb_is_the_best_of_a_grid():
    # An independent derivation for 3 columns: the largest feasible diagonal by brute force.
    c = np.cov(noisy(3, k=3), rowvar=False)
    axis = [np.linspace(0, c[j, j], 61) for j in range(3)]
    grid = np.stack(np.meshgrid(*axis, indexing="ij"), axis=-1).reshape(-1, 3)
    feasible = grid[np.linalg.eigvalsh(c - np.einsum("gi,ij->gij", grid, np.eye(3)))[:, 0] >= 0]
    best = 1 - feasible.sum(axis=1).max() / c.sum()
    glb = greatest_lower_bound(noisy(3, k=3))
    assert glb.estimate <= best + 1e-9
    assert glb.estimate == pytest.approx(best, abs=0.02)
    left = c - np.diag(glb.details["error_variances"])
    assert np.linalg.eigvalsh(left)[0] > -1e-8


def test_a_duplicated_column_carries_no_error():
    x = noisy(k=3)
    out = greatest_lower_bound(np.column_stack([x, x[:, 0]]))
    theta = out.details["error_variances"]
    assert theta[0] == theta[3] == 0
    assert theta[1] > 0
    assert greatest_lower_bound(np.repeat(x[:, :1], 3, axis=1)).estimate == pytest.approx(1.0)


def test_a_glb_of_noise_is_far_from_zero():
    rng = np.random.default_rng(0)
    out = greatest_lower_bound(rng.normal(size=(60, 6)), n_permutations=19)
    assert out.null.mean > 0.3


@pytest.mark.parametrize("x", [np.full((5, 3), 2.0), [[1.0, 2.0]], np.full((3, 3), np.nan)])
def test_undefined_bounds_say_why(x):
    assert split_halves(x).reason
    assert np.isnan(split_halves(x).largest)
    assert "undefined" in split_halves(x).sentence()
    assert greatest_lower_bound(x).reason
    assert ten_berge_mu(x).reason


def test_pairwise_matrices_that_are_no_covariances_are_named():
    x = np.array(
        [
            [1.0, 1.0, np.nan],
            [2.0, 2.0, np.nan],
            [3.0, 3.1, np.nan],
            [1.0, np.nan, 1.0],
            [2.0, np.nan, 2.0],
            [3.0, np.nan, 3.1],
            [np.nan, 1.0, 3.0],
            [np.nan, 2.0, 2.0],
            [np.nan, 3.0, 1.0],
        ]
    )
    assert "not positive semidefinite" in greatest_lower_bound(x, missing="pairwise").reason


def test_orders_are_checked():
    with pytest.raises(InputError, match="order must be"):
        ten_berge_mu(noisy(), order=-1)


# ---------------------------------------------------------------- jackknife
def test_the_jackknife_of_a_mean_is_students_t():
    from scipy import stats

    x = np.random.default_rng(0).normal(size=25)
    ours = cluster_jackknife(x, np.mean, transform="identity").interval
    theirs = stats.ttest_1samp(x, 0).confidence_interval()
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_jackknife_vectorised_clusters_and_refusals():
    x = np.random.default_rng(1).normal(size=40)
    q = np.repeat(np.arange(10), 4)
    a = cluster_jackknife(x, np.mean, cluster=q, transform="identity")
    b = cluster_jackknife(
        x, lambda d, w: w @ d / w.sum(1), cluster=q, transform="identity", vectorized=True
    )
    assert (a.interval.low, a.interval.high) == pytest.approx((b.interval.low, b.interval.high))
    assert a.n_clusters == 10
    codes = [
        cluster_jackknife(*arguments, **options).notes[0].code
        for arguments, options in (
            ((x, np.mean), {"cluster": np.zeros(40)}),
            ((np.ones(5), np.mean), {"transform": "identity"}),
            ((np.ones(5), np.mean), {}),
            ((x, lambda v: np.nan), {}),
            ((x[:16], np.mean), {"cluster": q[:16], "transform": "identity"}),
        )
    ]
    assert codes == [
        "one_cluster",
        "constant_distribution",
        "undefined_jackknife",
        "undefined_estimate",
        "few_clusters",
    ]
    with pytest.raises(InputError, match="level must lie"):
        cluster_jackknife(x, np.mean, level=2)
    with pytest.raises(InputError, match="transform must be one of"):
        cluster_jackknife(x, np.mean, transform="sqrt")
    with pytest.raises(InputError, match="share their first axis"):
        cluster_jackknife((x, x[:3]), np.mean)


def test_the_bootstrap_of_a_reliability_warns_where_it_undercovers():
    out = cronbach_alpha(noisy(), interval="bca", n_permutations=0, n_resamples=200)
    assert "bootstrap_undercovers" in [n.code for n in out.notes]
    large = cronbach_alpha(noisy(n=120), interval="bca", n_permutations=0, n_resamples=200)
    assert "bootstrap_undercovers" not in [n.code for n in large.notes]
