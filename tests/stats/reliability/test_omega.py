"""Omega total: identities, limits, refusals, intervals, null."""

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.results import plain
from judgestats.stats import icc, omega_total
from judgestats.stats.reliability import weighted_covariances

MODELS = ("parallel", "tau-equivalent", "congeneric")


def scores(seed=0, n=60, p=5, rho=0.4):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, p)) * math.sqrt(1 - rho)
    return 5 + rng.normal(size=(n, 1)) * math.sqrt(rho) + noise


def alpha(X):
    S = np.cov(X, rowvar=False)
    p = S.shape[0]
    return p / (p - 1) * (1 - np.trace(S) / S.sum())


def test_parallel_is_alpha_is_spearman_brown_of_icc3():
    X = scores()
    n, p = X.shape
    result = omega_total(X)
    rows, columns = X.mean(1, keepdims=True), X.mean(0, keepdims=True)
    msr = p * ((rows - X.mean()) ** 2).sum() / (n - 1)
    mse = ((X - rows - columns + X.mean()) ** 2).sum() / ((n - 1) * (p - 1))
    icc3 = (msr - mse) / (msr + (p - 1) * mse)
    assert result.estimate == pytest.approx(alpha(X), abs=1e-12)
    assert result.single == pytest.approx(icc3, abs=1e-12)
    assert result.estimate == pytest.approx(p * icc3 / (1 + (p - 1) * icc3), abs=1e-12)
    assert set(result.omegas.values()) == {result.estimate}


def test_minres_tau_equivalent_is_alpha_too():
    X = scores(3)
    result = omega_total(X, model="tau-equivalent", estimator="minres", interval=None)
    assert result.estimate == pytest.approx(alpha(X), abs=1e-12)


@pytest.mark.parametrize("lower", [np.float32(0.25), np.int64(0)])
def test_a_bound_may_be_a_scalar_of_numpy(lower):
    options = {"model": "congeneric", "estimator": "minres", "interval": None}
    bound = omega_total(scores(4), lower=lower, **options)
    assert bound.estimate == omega_total(scores(4), lower=float(lower), **options).estimate


def test_the_models_are_nested_in_fit():
    X = scores(1, p=6)
    chi2 = [omega_total(X, model=m, interval=None).fit.chi2 for m in MODELS]
    assert chi2[0] >= chi2[1] >= chi2[2] >= 0
    df = [omega_total(X, model=m, interval=None).fit.df for m in MODELS]
    assert df == [19, 14, 9]


def test_a_perfect_parallel_matrix_fits_perfectly():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 4))
    Z -= Z.mean(0)
    Z = Z @ np.linalg.inv(np.linalg.cholesky(np.cov(Z.T))).T
    target = np.full((4, 4), 0.5) + 0.5 * np.eye(4)
    X = Z @ np.linalg.cholesky(target).T
    for model in MODELS:
        result = omega_total(X, model=model, interval=None)
        assert result.estimate == pytest.approx(0.8, abs=1e-9)
        assert result.fit.chi2 == pytest.approx(0, abs=1e-8)
        assert result.fit.srmr == pytest.approx(0, abs=1e-9)


def test_an_interval_holds_the_estimate():
    result = omega_total(scores(4), model="congeneric", n_resamples=200)
    assert result.interval.low < result.estimate < result.interval.high
    assert result.std_error > 0
    assert result.interval.method


def test_same_seed_same_interval_for_any_number_of_workers():
    options = {"model": "congeneric", "n_resamples": 300, "null": True}
    one = omega_total(scores(7), n_permutations=60, **options)
    two = omega_total(scores(7), n_permutations=60, n_jobs=2, **options)
    assert one.interval == two.interval
    assert one.null == two.null
    other = omega_total(scores(7), n_permutations=60, seed=1, **options)
    assert other.interval != one.interval


def test_weighted_covariances_are_those_of_the_resample():
    X = scores(10, n=12)
    rng = np.random.default_rng(0)
    index = rng.integers(12, size=(4, 12))
    weights = np.stack([np.bincount(i, minlength=12) for i in index]).astype(float)
    for S, i in zip(weighted_covariances(X, weights), index, strict=True):
        assert pytest.approx(np.cov(X[i], rowvar=False), abs=1e-12) == S


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((1, 4)), "1 complete item"),
        (np.arange(6.0)[:, None], "1 replication"),
        (np.full((5, 3), np.nan), "0 complete items"),
        (np.ones((5, 3)), "no variance"),
        (np.empty((0, 3)), "0 complete items"),
        (np.column_stack([np.arange(5.0), -np.arange(5.0)]), "sum of the replications"),
    ],
)
def test_nothing_to_estimate_is_nan_with_the_reason(X, words):
    for model in MODELS:
        result = omega_total(X, model=model)
        assert math.isnan(result.estimate)
        assert result.interval is None
        assert result.reason
    assert words in omega_total(X).reason


def test_singular_covariances_are_refused_by_ml_and_parallel_is_offered():
    rng = np.random.default_rng(1)
    few = scores(1, n=8, p=10, rho=0.6)
    for model in ("congeneric", "tau-equivalent"):
        result = omega_total(few, model=model)
        assert math.isnan(result.estimate)
        assert "8 items do not exceed 10 replications" in result.reason
        assert "model='parallel'" in result.reason
        assert result.notes[0].code == "not_fitted"
        assert result.mean_of_all == pytest.approx(alpha(few))
    offered = omega_total(few)
    assert offered.interval is not None
    assert [n.code for n in offered.notes] == ["singular", "few_clusters"]
    assert math.isnan(offered.fit.chi2)
    assert omega_total(few, model="congeneric", estimator="minres", interval=None).estimate > 0
    constant = scores(2)
    constant[:, 2] = 4
    refused = omega_total(constant, model="congeneric", estimator="minres")
    assert "column 3 hold the same score" in refused.reason
    assert omega_total(constant).estimate == pytest.approx(alpha(constant))
    two = omega_total(rng.normal(size=(30, 2)), model="congeneric")
    assert "do not identify" in two.reason


def test_perfect_agreement_is_one_without_a_zero_width_interval():
    X = np.repeat(np.arange(8.0)[:, None], 4, axis=1)
    result = omega_total(X)
    assert result.estimate == 1
    assert result.interval is None
    assert "no_interval" in [n.code for n in result.notes]
    assert result.replications_for == {0.8: 1.0, 0.9: 1.0}
    minres = omega_total(X, model="congeneric", estimator="minres")
    assert minres.estimate == pytest.approx(1, abs=1e-9)
    assert minres.interval is None


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        (np.ones(4), {}, "items x replications"),
        ([["a", "b"]], {}, "must hold numbers"),
        (np.array([[1, np.inf], [2, 3]]), {}, "finite"),
        (scores(), {"model": "bifactor"}, "model must be one of"),
        (scores(), {"estimator": "gls"}, "estimator must be one of"),
        (scores(), {"denominator": "x"}, "denominator must be one of"),
        (scores(), {"interval": "x"}, "interval must be one of"),
        (scores(), {"lower": 1.0}, "lower must be a share"),
        (scores(), {"lower": "none"}, "lower must be a share"),
        (scores(), {"level": 95}, "level must be between"),
        (scores(), {"cluster": [1, 2]}, "cluster must hold one label"),
    ],
)
def test_bad_input_is_refused_in_words(X, options, words):
    with pytest.raises(InputError, match=words):
        omega_total(X, **options)


def test_cases_with_low_coverage_are_noted():
    small = omega_total(scores(1, n=20), model="congeneric", n_resamples=100)
    assert "low_coverage" in [n.code for n in small.notes]
    assert "logit" in small.interval.method
    large = omega_total(scores(1, n=60), model="congeneric", n_resamples=100)
    assert "low_coverage" not in [n.code for n in large.notes]


def test_it_prints_and_tidies():
    result = omega_total(scores(), model="congeneric", null=True, n_permutations=19)
    text = str(result)
    for part in (
        "omega_total =",
        "95 percent",
        "null (the item does not matter)",
        "fit: chi2",
        "one judgment:",
        "judgments needed:",
    ):
        assert part in text
    row = result.tidy().iloc[0]
    assert row["model"] == "congeneric"
    assert row["conf_low"] == result.interval.low
    assert row["k_for_0.8"] == result.replications_for[0.8]
    assert plain(result)["fit"]["df"] == 5
    assert "omega" in result.sentence()


def test_clusters_widen_the_interval():
    rng = np.random.default_rng(5)
    question = np.repeat(np.arange(20), 4)
    X = rng.normal(size=(20, 1))[question] + rng.normal(size=(80, 4)) * 0.8
    flat = omega_total(X, model="congeneric")
    nested = omega_total(X, model="congeneric", cluster=question)
    assert nested.sample.n_clusters == 20
    width = [r.interval.high - r.interval.low for r in (flat, nested)]
    assert width[1] > width[0]
    assert "cluster" in nested.interval.method
    with_unequal_questions = question // 3 * (question < 12) + question * (question >= 12)
    for cluster in (question, with_unequal_questions, None):
        parallel = omega_total(X, cluster=cluster, interval="auto")
        coefficient = icc(X, form="ICC(3,k)", cluster=cluster, n_permutations=0)
        assert parallel.estimate == pytest.approx(coefficient.estimate, rel=1e-12)
        assert parallel.interval.low == pytest.approx(coefficient.interval.low, rel=1e-9)
        assert parallel.interval.high == pytest.approx(coefficient.interval.high, rel=1e-9)


def test_null_of_a_coefficient_is_not_zero():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20, 10))
    congeneric = omega_total(X, model="congeneric", null=True, n_permutations=400, interval=None)
    assert 0.10 < congeneric.null.mean < 0.20
    assert 0.30 < congeneric.null.q95 < 0.55
    parallel = omega_total(X, null=True, n_permutations=400, interval=None)
    assert parallel.null.mean == pytest.approx(-2 / 17, abs=0.05)
    real = omega_total(scores(9), model="congeneric", null=True, n_permutations=99, interval=None)
    assert real.null.p_value == pytest.approx(0.01)


def test_negative_reliability_is_reported_as_it_is():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    X -= 0.8 * X.mean(1, keepdims=True)
    result = omega_total(X)
    assert result.estimate == pytest.approx(alpha(X))
    assert result.estimate < 0
    assert np.isnan(result.loadings).all()
    assert math.isnan(result.replications_for[0.8])
    assert "negative_covariance" in [n.code for n in result.notes]
    assert "no number for 0.8" in str(result)
