"""Polychorics, the bivariate normal and Green & Yang's omega against independent computations."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from judgestats.errors import InputError
from judgestats.stats.reliability.bivariate_normal import bivariate_normal_cdf, bivariate_normal_pdf
from judgestats.stats.reliability.ordinal_omega import (
    green_yang_omega,
    omega_ordinal,
    weighted_loadings,
)
from judgestats.stats.reliability.polychoric import polychoric

REFERENCE = Path(__file__).resolve().parents[2] / "reference"


def grades(seed=0, n=200, p=5, cuts=(-0.5, 0.4, 1.2)):
    rng = np.random.default_rng(seed)
    X = 0.7 * rng.normal(size=(n, 1)) + math.sqrt(0.51) * rng.normal(size=(n, p))
    return np.searchsorted(cuts, X).astype(float)


@settings(max_examples=40, deadline=None)
@given(st.floats(-4, 4), st.floats(-4, 4), st.floats(-0.99, 0.99))
def test_bivariate_normal_is_scipys(h, k, rho):
    theirs = multivariate_normal.cdf([h, k], cov=[[1, rho], [rho, 1]])
    assert float(bivariate_normal_cdf(h, k, rho)) == pytest.approx(theirs, abs=1e-9)


def test_bivariate_normal_at_its_limits():
    inf = np.inf
    assert bivariate_normal_cdf([inf, inf, -inf, 1.0], [inf, 0.5, 2.0, -inf], 0.4).tolist() == [
        1.0,
        norm.cdf(0.5),
        0.0,
        0.0,
    ]
    assert float(bivariate_normal_cdf(0.3, 1.1, 1.0)) == pytest.approx(norm.cdf(0.3))
    assert float(bivariate_normal_cdf(0.3, 1.1, -1.0)) == pytest.approx(
        norm.cdf(0.3) + norm.cdf(1.1) - 1
    )
    for rho in (-0.6, 0.0, 0.9):
        assert float(bivariate_normal_cdf(0, 0, rho)) == pytest.approx(
            0.25 + math.asin(rho) / (2 * math.pi), abs=1e-15
        )
    slope = (
        bivariate_normal_cdf(0.3, -0.8, 0.5 + 1e-6) - bivariate_normal_cdf(0.3, -0.8, 0.5)
    ) / 1e-6
    density = bivariate_normal_pdf(np.array(0.3), np.array(-0.8), np.array(0.5))
    assert float(slope) == pytest.approx(float(density), abs=1e-6)


def test_the_difference_quotient_of_the_reference_gives_its_digits():
    """R's script solves (ll(r+h) - ll(r-h)) / 2h = 0 with h = 1e-4; so done, 1e-10 is reached."""
    d = pd.read_csv(REFERENCE / "data" / "ordinal7.csv").to_numpy()
    value = json.loads((REFERENCE / "reference.json").read_text())["ordinal7"]
    theirs = value["polychoric_twostep_tight"]["value"]["rho"]["matrix"][0][1]
    ours = polychoric(d)
    n = pd.crosstab(d[:, 0], d[:, 1]).to_numpy()
    a = np.concatenate([[-np.inf], ours.thresholds[0], [np.inf]])[:, None]
    b = np.concatenate([[-np.inf], ours.thresholds[1], [np.inf]])[None, :]

    def ll(r):
        P = np.diff(np.diff(bivariate_normal_cdf(a, b, r), axis=0), axis=1)
        return float((n[n > 0] * np.log(P[n > 0])).sum())

    root = brentq(lambda r: ll(r + 1e-4) - ll(r - 1e-4), 0.6, 0.7, xtol=1e-14)
    assert root == pytest.approx(theirs, abs=1e-9)
    exact = brentq(lambda r: ll(r + 1e-6) - ll(r - 1e-6), 0.6, 0.7, xtol=1e-14)
    assert ours.rho[0, 1] == pytest.approx(exact, abs=1e-8)


def test_columns_may_have_different_numbers_of_grades():
    X = grades(1)
    X[:, 1] = X[:, 1] > 1
    X[:, 2] = np.minimum(X[:, 2], 2) * 10
    found = polychoric(X)
    pair = polychoric(X[:, [1, 3]])
    assert found.rho[1, 3] == pytest.approx(pair.rho[0, 1], abs=1e-12)
    assert found.avar[1, 3] == pytest.approx(pair.avar[0, 1], rel=1e-9)
    assert [t.size for t in found.thresholds] == [3, 1, 2, 3, 3]


def test_asymptotic_variance_is_the_sampling_variance():
    rng = np.random.default_rng(3)
    n, rho = 400, 0.5
    draws, claimed = [], []
    for _ in range(150):
        Z = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=n)
        found = polychoric(np.searchsorted([-0.6, 0.3, 1.0], Z))
        draws.append(found.rho[0, 1])
        claimed.append(found.avar[0, 1] / n)
    assert np.mean(claimed) == pytest.approx(np.var(draws), rel=0.25)


def test_an_empty_cell_that_decides_is_noted():
    X = np.repeat([[0, 0], [0, 1], [1, 1]], [10, 5, 10], axis=0)
    found = polychoric(np.column_stack([X, grades(n=25, p=1)]))
    assert (0, 1) in found.at_edge
    corrected = polychoric(X, correction=0.5)
    assert corrected.rho[0, 1] < 0.95


def test_green_yang_is_the_correlation_of_two_parallel_sums():
    lam, cuts = np.array([0.5, 0.7, 0.8]), (np.array([-0.5, 0.8]),) * 3
    R = np.outer(lam, lam)
    np.fill_diagonal(R, 1.0)
    rng = np.random.default_rng(4)
    f = rng.normal(size=(400_000, 1))
    sums = [
        np.searchsorted(cuts[0], f * lam + rng.normal(size=(400_000, 3)) * np.sqrt(1 - lam**2)).sum(
            1
        )
        for _ in range(2)
    ]
    assert green_yang_omega(lam, cuts, R) == pytest.approx(
        np.corrcoef(sums[0], sums[1])[0, 1], abs=0.005
    )


def test_weighted_loadings_with_equal_weights_are_minres():
    from judgestats.stats.reliability.one_factor_solvers import minres_one_factor

    R = polychoric(grades(5)).rho
    ours, converged = weighted_loadings(R, np.ones_like(R))
    assert converged
    assert ours == pytest.approx(minres_one_factor(R[None], lower=None).loadings[0], abs=1e-8)


def test_relabelling_grades_in_order_changes_nothing():
    X = grades(6)
    one, two = omega_ordinal(X), omega_ordinal(np.exp(X))
    assert two.estimate == pytest.approx(one.estimate, abs=1e-12)


def test_latent_scale_flatters():
    result = omega_ordinal(grades(7))
    assert result.latent > result.estimate > 0
    assert "latent" in str(result)
    assert result.row()["latent"] == result.latent


def test_interval():
    result = omega_ordinal(grades(8, n=80, p=4), interval="percentile", n_resamples=60)
    assert result.interval.low < result.estimate < result.interval.high


def test_what_cannot_be_done_says_why():
    X = grades(9)
    X[0, 0] = np.nan
    assert omega_ordinal(X).sample.n_excluded == 1
    assert "do not identify" in omega_ordinal(X[:, :2]).reason
    constant = grades(9)
    constant[:, 1] = 3
    assert "replications 2 hold one grade" in omega_ordinal(constant).reason
    assert "complete items" in omega_ordinal(X[:1]).reason
    with pytest.raises(InputError, match="one grade only"):
        polychoric(constant)
    with pytest.raises(InputError, match="complete table"):
        polychoric(X)
    with pytest.raises(InputError, match="finite grades"):
        omega_ordinal([1, 2, 3])
    with pytest.raises(InputError, match="estimator must be"):
        omega_ordinal(X, estimator="wls")
