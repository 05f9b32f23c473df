"""Alpha and lambdas: invariances, bad input, and the relations that hold between them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgestats.errors import InputError
from judgestats.stats import cronbach_alpha, guttman_lambda2, icc
from judgestats.stats.designs import prepare_scores, resampled_covariances
from judgestats.stats.designs.score_matrix import score_matrix

BARE = {"interval": "none", "n_permutations": 0}
COEFFICIENTS = (cronbach_alpha, guttman_lambda2)
scores = arrays(np.float64, (12, 4), elements=st.integers(1, 10).map(float))


def noisy(n=40, k=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)) + rng.normal(size=(n, k))


def same(a, b):
    return a == pytest.approx(b, abs=1e-9, nan_ok=True)


@settings(max_examples=25, deadline=None)
@given(scores, st.permutations(range(4)), st.permutations(range(12)))
def test_order_of_replications_and_items_does_not_matter(x, columns, rows):
    for coefficient in COEFFICIENTS:
        a = coefficient(x, **BARE).estimate
        assert same(coefficient(x[:, columns], **BARE).estimate, a)
        assert same(coefficient(x[rows], **BARE).estimate, a)


@settings(max_examples=25, deadline=None)
@given(scores, st.floats(0.1, 20), st.floats(-30, 30))
def test_linear_rescaling_does_not_matter(x, scale, shift):
    for coefficient in COEFFICIENTS:
        a = coefficient(x, **BARE).estimate
        b = coefficient(scale * x + shift, **BARE).estimate
        assert np.isnan(a) == np.isnan(b) or abs(np.nan_to_num(a)) > 1e6
        if not np.isnan(a) and abs(a) < 1e3:
            assert b == pytest.approx(a, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(scores)
def test_alpha_is_icc3k_and_lambda2_is_not_below(x):
    alpha = cronbach_alpha(x, **BARE).estimate
    assert same(icc(x, form="ICC(3,k)", **BARE).estimate, alpha) or np.isnan(alpha)
    lambda2 = guttman_lambda2(x, **BARE).estimate
    if not np.isnan(alpha):
        assert lambda2 >= alpha - 1e-9


def test_duplicating_every_judge_raises_alpha():
    x = noisy()
    assert cronbach_alpha(np.hstack([x, x]), **BARE).estimate > cronbach_alpha(x, **BARE).estimate


def test_a_reversed_replication_is_not_reversed_in_silence():
    x = noisy()
    x[:, 0] *= -1
    out = cronbach_alpha(np.column_stack([x[:, 0], -x[:, 0], x[:, 1]]), **BARE)
    assert out.estimate < 0
    assert "negative_reliability" in [n.code for n in out.notes]


def test_pure_noise_has_the_null_of_the_theory():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(23, 4))
    null = cronbach_alpha(x, interval="none", n_permutations=1999).null
    assert null.mean == pytest.approx(-2 / (23 - 3), abs=0.03)
    assert null.hypothesis == "the item does not matter"


def test_bootstrap_resamples_questions():
    rng = np.random.default_rng(1)
    question = np.repeat(np.arange(12), 5)
    x = rng.normal(size=12)[question][:, None] + rng.normal(size=(60, 4))
    with_questions = cronbach_alpha(x, cluster=question, n_permutations=0)
    assert "jackknife over clusters" in with_questions.interval.method
    assert with_questions.sample.n_clusters == 12
    without = cronbach_alpha(x, n_permutations=0)
    width = [i.high - i.low for i in (with_questions.interval, without.interval)]
    assert width[0] > 1.3 * width[1]
    feldt = cronbach_alpha(x, cluster=question, interval="feldt", n_permutations=0)
    assert "clusters_ignored" in [n.code for n in feldt.notes]


def test_resampled_covariances_are_those_of_the_repeated_rows():
    x = noisy(9, 3)
    counts = np.array([2, 0, 1, 1, 0, 3, 0, 1, 1])
    expected = np.cov(np.repeat(x, counts, axis=0), rowvar=False)
    got = resampled_covariances(x, counts[None].astype(float))[0]
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_a_perfect_judge_has_no_interval_and_a_warning():
    out = cronbach_alpha(np.repeat([[2.0], [5.0], [7.0]], 4, axis=1), n_permutations=9)
    assert out.estimate == pytest.approx(1.0)
    assert out.interval is None
    codes = [n.code for n in out.notes]
    assert "no_within_item_variance" in codes
    assert "no_interval" in codes


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([[1.0, 2.0, 3.0]], "2 items are needed, 1 given"),
        ([[1.0], [2.0]], "2 replications are needed, 1 given"),
        (np.full((4, 3), np.nan), "no judgment is left"),
        (np.full((4, 3), 8.0), "no replication varies"),
        (np.full((4, 3), 0.1), "no replication varies"),
        ([[1.0, np.nan], [2.0, 3.0], [4.0, 4.0]], "1 of 3 items has a missing judgment"),
        (np.empty((0, 3)), "no judgment is left"),
    ],
)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_what_is_undefined_says_why(coefficient, x, words):
    out = coefficient(x)
    assert np.isnan(out.estimate)
    assert words in out.reason
    assert out.interval is None
    assert "undefined" in str(out)


def test_constant_replications_are_kept_or_named():
    x = noisy(20, 3)
    x[:, 1] = 0.1
    raw = cronbach_alpha(x, **BARE)
    assert not np.isnan(raw.estimate)
    assert "constant_replications" in [n.code for n in raw.notes]
    out = cronbach_alpha(x, standardized=True, **BARE)
    assert np.isnan(out.estimate)
    assert "1 of 3 replications is constant" in out.reason


def test_columns_that_cancel_have_no_reliability():
    a = np.arange(6.0)
    assert np.isnan(cronbach_alpha(np.column_stack([a, -a]), **BARE).estimate)


def test_more_replications_than_items():
    x = noisy(5, 8)
    assert not np.isnan(cronbach_alpha(x, **BARE).estimate)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([[1.0, np.inf], [2.0, 3.0]], "1 of 4 are infinite"),
        ([1.0, 2.0], "matrix with items in rows"),
        ([["a", "b"], ["c", "d"]], "scores must be numbers"),
    ],
)
def test_what_is_no_score_matrix_is_refused(x, words):
    with pytest.raises(InputError, match=words):
        cronbach_alpha(x)
    with pytest.raises(InputError, match=words):
        score_matrix(x, where="f")


def test_unknown_options_are_refused():
    with pytest.raises(InputError, match="interval must be"):
        cronbach_alpha(noisy(), interval="exact")
    with pytest.raises(InputError, match="missing must be"):
        cronbach_alpha(noisy(), missing="impute")


def test_missing_policies_and_what_they_lose():
    x = noisy(50, 4, seed=2)
    x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    x[7] = np.nan
    listwise = cronbach_alpha(x, missing="listwise", n_permutations=0)
    assert listwise.sample.n_excluded == int(np.isnan(x).any(axis=1).sum())
    assert "jackknife over items of log(MSb/MSe)" in listwise.interval.method
    refused = cronbach_alpha(x, n_permutations=0)
    assert "have a missing judgment" in refused.reason
    assert refused.sample.excluded == {"no judgment": 1}


def test_prepared_samples_count_clusters_after_exclusion():
    x = np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, 4.0]])
    out = prepare_scores(x, where="f", missing="listwise", cluster=["a", "b", "a"])
    assert out.sample.n_clusters == 1
    assert out.clustered


def test_results_print_tidy_and_speak():
    out = cronbach_alpha(noisy(), n_permutations=19, interval="feldt")
    assert out.tidy().loc[0, "term"] == "alpha"
    assert "Cronbach's alpha = " in out.sentence()
    assert "Feldt F" in str(out)
