"""The stacked Newton solvers find the optimum that slower, independent searches find."""

import numpy as np
import pytest
from scipy.optimize import minimize

from judgestats.stats import reliability


def sample(seed, n=80, p=5, spread=0.3):
    rng = np.random.default_rng(seed)
    lam = rng.uniform(0.5 - spread, 0.5 + spread, p)
    return rng.normal(size=(n, 1)) * lam + rng.normal(size=(n, p)) * np.sqrt(1 - lam**2)


@pytest.mark.parametrize("seed", range(4))
def test_ml_reaches_what_a_general_optimiser_reaches(seed):
    R = np.corrcoef(sample(seed), rowvar=False)

    def f(t):
        return reliability.ml_discrepancy(R[None], t[None, :5], t[None, 5:])[0]

    start = np.concatenate([np.full(5, 0.5), np.full(5, 0.7)])
    bounds = [(None, None)] * 5 + [(0.005, None)] * 5
    found = minimize(f, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15})
    ours = reliability.ml_one_factor(R[None])
    assert ours.converged[0]
    assert ours.objective[0] <= found.fun + 1e-9


@pytest.mark.parametrize("method", ["ml", "minres"])
def test_factor_analyzer_agrees(method):
    R = np.corrcoef(sample(7, n=200, p=6), rowvar=False)
    theirs, _, _ = reliability.factor_analysis(R, n_factors=1, method=method)
    solver = reliability.ml_one_factor if method == "ml" else reliability.minres_one_factor
    ours = solver(R[None], lower=0.005).loadings[0]
    assert np.abs(theirs.ravel()) == pytest.approx(np.abs(ours), abs=2e-4)


def test_a_stack_gives_what_each_matrix_gives_alone():
    stack = np.stack([np.cov(sample(s), rowvar=False) for s in range(6)])
    for solver in (reliability.ml_one_factor, reliability.minres_one_factor):
        together = solver(stack)
        for b in range(6):
            alone = solver(stack[b : b + 1])
            assert together.loadings[b] == pytest.approx(alone.loadings[0], abs=1e-8)


def test_equal_loadings_are_the_constrained_optimum():
    S = np.cov(sample(3, spread=0.2), rowvar=False)

    def f(t):
        return reliability.ml_discrepancy(S[None], np.full((1, 5), t[0]), t[None, 1:])[0]

    found = minimize(
        f, np.full(6, 0.6), method="L-BFGS-B", bounds=[(None, None)] + [(0.005, None)] * 5
    )
    ours = reliability.ml_one_factor(S[None], equal_loadings=True)
    assert np.ptp(ours.loadings) == 0
    assert ours.objective[0] <= found.fun + 1e-9


def test_heywood_is_held_at_the_bound_and_flagged():
    R = np.array([[1, 0.9, 0.8], [0.9, 1, 0.3], [0.8, 0.3, 1.0]])  # needs l1^2 = 2.4
    bounded = reliability.ml_one_factor(R[None], lower=0.005)
    assert bounded.at_bound[0].tolist() == [True, False, False]
    assert bounded.uniquenesses[0, 0] == pytest.approx(0.005)
    free = reliability.minres_one_factor(R[None], lower=None)
    assert free.loadings[0, 0] ** 2 == pytest.approx(0.9 * 0.8 / 0.3, abs=1e-8)
    assert free.uniquenesses[0, 0] < 0
    assert reliability.minres_one_factor(R[None], lower=0.0).uniquenesses[0, 0] == 0.0


def test_noise_converges_everywhere():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(300, 20, 10))
    X -= X.mean(1, keepdims=True)
    S = X.transpose(0, 2, 1) @ X
    for estimator, lower in (("ml", 0.005), ("minres", 0.0)):
        fit = reliability.fit_stack(S, model="congeneric", estimator=estimator, lower=lower)
        assert fit.converged.mean() > 0.99


def test_unusable_matrices_of_a_stack_are_nan_and_do_not_spoil_the_rest():
    good = np.cov(sample(1), rowvar=False)
    zero = good.copy()
    zero[0] = zero[:, 0] = 0.0
    fit = reliability.fit_stack(
        np.stack([good, zero, good * np.nan]), model="congeneric", estimator="ml", lower=0.005
    )
    assert fit.converged.tolist() == [True, False, False]
    assert np.isnan(fit.loadings[1:]).all()


def test_singular_reason_names_the_cause():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    assert reliability.singular_reason(np.cov(X.T), 40) == ""
    assert "do not exceed" in reliability.singular_reason(np.cov(rng.normal(size=(4, 6)).T), 4)
    twice = np.column_stack([X, 3 * X[:, 1]])
    assert "columns 2 and 5 are the same" in reliability.singular_reason(np.cov(twice.T), 40)
    total = np.column_stack([X, X.sum(1)])
    assert "linear combination" in reliability.singular_reason(np.cov(total.T), 40)
    constant = np.column_stack([X, np.ones(40)])
    assert "column 5 hold the same score" in reliability.singular_reason(np.cov(constant.T), 40)


@pytest.mark.parametrize("lower", [1e-6, 1e-9, 1e-12])
def test_a_bound_next_to_zero_is_reached_without_loss_of_digits(lower: float) -> None:
    """A Heywood case: 1 / psi - a^2 / c would have no digit left at the bound."""
    loadings = np.array([1.02, 0.5, 0.4, 0.45])
    S = np.outer(loadings, loadings)
    np.fill_diagonal(S, 1.0)
    found = reliability.ml_one_factor(S[None], lower=lower)
    assert found.converged.all()
    assert found.at_bound.tolist() == [[True, False, False, False]]
    assert found.loadings[0, 0] ** 2 + found.uniquenesses[0, 0] == pytest.approx(1, abs=1e-9)
