"""ICCs, step-up, errors in score points, and the summary of scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import f_oneway

from judgestats.errors import InputError
from judgestats.stats import icc, spearman_brown
from judgestats.stats.reliability import FORMS, exact_replications

BARE = {"interval": "none", "n_permutations": 0}
scores = arrays(np.float64, (9, 3), elements=st.integers(1, 10).map(float))
X = np.random.default_rng(4).normal(size=(25, 1)) + np.random.default_rng(5).normal(size=(25, 4))


@settings(max_examples=20, deadline=None)
@given(scores, st.permutations(range(3)), st.floats(0.1, 9), st.floats(-9, 9))
def test_replication_order_and_scale_do_not_matter(x, columns, scale, shift):
    for form in FORMS:
        a = icc(x, form=form, **BARE).estimate
        b = icc(scale * x[:, columns] + shift, form=form, **BARE).estimate
        if abs(a) < 1e3:
            assert b == pytest.approx(a, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(scores)
def test_averages_are_the_step_up_of_single_judgments(x):
    for single, average in (("ICC(1,1)", "ICC(1,k)"), ("ICC(3,1)", "ICC(3,k)")):
        a, b = (icc(x, form=f, **BARE).estimate for f in (single, average))
        if not np.isnan(b) and abs(b) < 1e6:
            assert spearman_brown(a, k=3) == pytest.approx(b, rel=1e-6, abs=1e-6)


def test_unequal_numbers_recover_the_truth():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 1)) + rng.normal(size=(3000, 6))
    x[rng.random(x.shape) < 0.4] = np.nan
    out = icc(x, n_permutations=0, interval="f")
    assert out.estimate == pytest.approx(0.5, abs=0.03)
    assert out.interval.method == "F with n0, approximate"
    assert "approximate_interval" in [n.code for n in out.notes]
    assert out.interval.low < 0.5 < out.interval.high


def test_two_way_forms_refuse_holes_and_drop_on_request():
    x = X.copy()
    x[0, 0] = np.nan
    out = icc(x, form="ICC(2,1)")
    assert np.isnan(out.estimate)
    assert "needs complete rows" in out.reason
    assert icc(x, form="ICC(2,1)", missing="listwise", n_permutations=0).sample.n_excluded == 1


def test_clusters_get_a_bootstrap_and_f_a_warning():
    question = np.repeat(np.arange(5), 5)
    auto = icc(X, cluster=question, n_permutations=0)
    assert "jackknife over clusters" in auto.interval.method
    f = icc(X, cluster=question, interval="f", n_permutations=0)
    assert "clusters_ignored" in [n.code for n in f.notes]


@pytest.mark.parametrize("form", FORMS)
def test_perfect_and_constant_judges(form):
    perfect = icc(np.repeat([[1.0], [4.0], [9.0]], 3, axis=1), form=form, n_permutations=9)
    assert perfect.estimate == pytest.approx(1.0)
    assert perfect.interval is None
    assert "no_within_item_variance" in [n.code for n in perfect.notes]
    constant = icc(np.full((5, 3), 8.0), form=form)
    assert np.isnan(constant.estimate)
    assert "no score varies" in constant.reason


def test_the_f_test_of_icc_1_is_the_analysis_of_variance_over_items():
    rng = np.random.default_rng(9)
    x = 0.4 * rng.normal(size=(7, 1)) + rng.normal(size=(7, 3))
    known = f_oneway(*x)
    found = icc(x, form="ICC(1,1)").details
    assert (found["df1"], found["df2"]) == (6, 14)
    assert found["F"] == pytest.approx(known.statistic)
    assert found["p_value"] == pytest.approx(known.pvalue)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.05, 0.95))
def test_step_up_and_its_inverse(single, target):
    k = exact_replications(single, target=target)
    assert spearman_brown(single, k=k) == pytest.approx(target)


def test_step_up_edges():
    assert exact_replications(1.0, target=0.8) == 0
    assert np.isnan(exact_replications(0.0, target=0.8))
    assert np.isnan(spearman_brown(-1.0, k=2))
    np.testing.assert_allclose(spearman_brown(np.array([0.5, -1.0]), k=2), [2 / 3, np.nan])
    with pytest.raises(InputError, match="k must be positive"):
        spearman_brown(0.5, k=0)
    with pytest.raises(InputError, match="target must be"):
        exact_replications(0.5, target=1)


def judged(n, times, seed=0):
    """Items x judges x repeats, the judges of unequal level and noise."""
    rng = np.random.default_rng(seed)
    own = rng.normal(6, 1.5, (n, 1)) + np.array([-0.5, 0, 0.7]) + rng.normal(0, 0.5, (n, 3))
    noise = np.array([0.6, 0.9, 1.3])[:, None]
    return own[:, :, None] + noise * rng.normal(size=(n, 3, times))


def test_repeats_may_be_missing_and_clusters_widen():
    x = judged(40, 3)
    x[:6, 0, 1:] = np.nan
    x[39, 2] = np.nan
    alone = icc(x, form="ICC(A,1)", missing="listwise", n_permutations=0)
    assert (alone.sample.n_items, alone.sample.n_excluded) == (39, 1)
    clusters = np.repeat(np.arange(8), 5)
    shared = icc(x, form="ICC(A,1)", missing="listwise", cluster=clusters, n_permutations=0)
    assert shared.estimate == pytest.approx(alone.estimate, rel=1e-12)
    assert "clusters" in shared.interval.method
    with pytest.raises(InputError, match=r"ICC\(2,1\) takes items x judges"):
        icc(x, form="ICC(2,1)")
