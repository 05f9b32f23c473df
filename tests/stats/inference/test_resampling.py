"""The cluster bootstrap: what it resamples, what it repeats, what it refuses to invent."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import cluster_bootstrap

X = np.random.default_rng(5).normal(size=60)
QUESTIONS = np.repeat([f"q{i}" for i in range(15)], 4)


def weighted_mean(x, w):
    return w @ x / w.sum(axis=1)


@pytest.mark.parametrize("method", ["bca", "percentile", "normal"])
def test_vectorised_and_plain_statistics_give_the_same_resamples(method):
    plain = cluster_bootstrap(X, np.mean, cluster=QUESTIONS, n_resamples=300, method=method)
    fast = cluster_bootstrap(
        X, weighted_mean, cluster=QUESTIONS, n_resamples=300, method=method, vectorized=True
    )
    np.testing.assert_allclose(plain.distribution, fast.distribution, rtol=0, atol=1e-12)
    assert plain.interval.low == pytest.approx(fast.interval.low, abs=1e-9)
    assert plain.interval.high == pytest.approx(fast.interval.high, abs=1e-9)


def test_the_number_of_workers_changes_nothing():
    one = cluster_bootstrap(X, np.mean, n_resamples=600, n_jobs=1, seed=3)
    two = cluster_bootstrap(X, np.mean, n_resamples=600, n_jobs=2, seed=3)
    np.testing.assert_array_equal(one.distribution, two.distribution)
    assert one.interval == two.interval


def test_percentile_and_bca_agree_with_scipy():
    from scipy import stats

    for method, name in (("bca", "BCa"), ("percentile", "percentile")):
        ours = cluster_bootstrap(
            X, weighted_mean, n_resamples=20000, method=method, vectorized=True
        ).interval
        theirs = stats.bootstrap(
            (X,), np.mean, n_resamples=20000, method=name, rng=np.random.default_rng(0)
        ).confidence_interval
        assert ours.low == pytest.approx(theirs.low, abs=0.012)
        assert ours.high == pytest.approx(theirs.high, abs=0.012)


def test_whole_clusters_are_resampled():
    # Within a question all items are equal, so clusters make the interval wider, by about 2.
    x = np.repeat(np.random.default_rng(1).normal(size=30), 4)
    q = np.repeat(np.arange(30), 4)
    by_item = cluster_bootstrap(x, weighted_mean, vectorized=True, n_resamples=1000)
    by_question = cluster_bootstrap(x, weighted_mean, cluster=q, vectorized=True, n_resamples=1000)
    assert by_question.n_clusters == 30
    ratio = by_question.std_error / by_item.std_error
    assert 1.7 < ratio < 2.3


def test_a_refusal_in_a_resample_is_undefined_and_named():
    def picky(v):
        if np.ptp(v) == 0:
            raise InputError("picky: no spread")
        return float(np.mean(v))

    out = cluster_bootstrap(np.r_[np.zeros(9), 1.0], picky, n_resamples=200, method="percentile")
    assert out.n_failed > 0
    assert any("picky: no spread" in n.message for n in out.notes)


def test_mostly_undefined_means_no_interval():
    out = cluster_bootstrap(
        np.r_[np.zeros(9), 1.0, 1.0],
        lambda v: 1.0 + v.mean() if v.sum() == 2 else np.nan,
        n_resamples=100,
        method="percentile",
    )
    assert np.isnan(out.interval.low)
    assert "mostly_undefined_resamples" in [n.code for n in out.notes]


def test_one_and_few_clusters():
    one = cluster_bootstrap(X, np.mean, cluster=np.zeros(60))
    assert np.isnan(one.interval.low)
    assert [n.code for n in one.notes] == ["one_cluster"]
    few = cluster_bootstrap(X, np.mean, cluster=np.arange(60) % 5, n_resamples=50)
    assert "few_clusters" in [n.code for n in few.notes]


def test_transforms_keep_intervals_inside_their_range():
    p = np.r_[np.ones(18), np.zeros(2)]
    plain = cluster_bootstrap(p, np.mean, method="normal", n_resamples=400, seed=2)
    logit = cluster_bootstrap(p, np.mean, method="normal", transform="logit", n_resamples=400)
    assert plain.interval.high > 1
    assert 0 < logit.interval.low < logit.interval.high < 1
    assert "outside_transform" in [n.code for n in logit.notes]  # resamples of only ones


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"level": 1.0}, "level must be"),
        ({"n_resamples": 1}, "n_resamples must be"),
        ({"method": "bootstrap-t"}, "method must be one of"),
        ({"transform": "sqrt"}, "transform must be one of"),
        ({"cluster": [1, 2]}, "cluster must hold one label"),
        ({"cluster": [np.nan] + [1.0] * 59}, "cluster has 1 missing"),
        ({"cluster": np.array([None] + ["a"] * 59, dtype=object)}, "cluster has 1 missing"),
    ],
)
def test_unusable_options_are_refused_by_name(change, words):
    with pytest.raises(InputError, match=words):
        cluster_bootstrap(X, np.mean, **change)


def test_unusable_arrays_are_refused():
    with pytest.raises(InputError, match="share their first axis"):
        cluster_bootstrap((X, X[:5]), lambda a, b: 0.0)
    with pytest.raises(InputError, match="at least 1"):
        cluster_bootstrap(np.array([]), np.mean)


def test_a_constant_distribution_has_no_interval_and_says_so():
    out = cluster_bootstrap(np.ones(20), np.mean, n_resamples=50)
    assert np.isnan([out.interval.low, out.interval.high]).all()
    assert [n.code for n in out.notes] == ["constant_distribution"]


def test_undefined_resamples_are_counted_and_noted():
    x = np.r_[np.zeros(9), 1.0]  # a resample without the last item has no variance

    def ratio(v):
        return v.mean() / v.std() if v.std() > 0 else np.nan

    out = cluster_bootstrap(x, ratio, n_resamples=400, method="percentile")
    share = out.n_failed / 400
    assert 0.25 < share < 0.45  # (9/10)^10 = .349
    assert "undefined_resamples" in [n.code for n in out.notes]
    assert np.isnan(out.distribution).sum() == out.n_failed
