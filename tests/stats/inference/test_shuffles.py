"""Shuffles drawn in parts, in other memory orders and for several coefficients are the same."""

import numpy as np
import pytest
from scipy import stats

from judgestats.stats import icc
from judgestats.stats.comparison import kendall_of_stack
from judgestats.stats.designs import mean_squares
from judgestats.stats.inference import draw_permutations, permutation, permutation_distribution
from judgestats.stats.reliability import icc_value

GROUPS = [np.arange(12)]


def scores(n=12, k=4, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(np.rint(rng.normal(5, 2, (n, 1)) + rng.normal(size=(n, k))), 1, 10)


@pytest.mark.parametrize("groups", [GROUPS, [np.arange(0, 12, 2), np.arange(1, 12, 2)]])
def test_columns_are_shuffled_as_numpy_shuffles_them(groups):
    x = scores()
    drawn = draw_permutations(x, np.random.default_rng(3), 20, "replications", groups, None)
    plain, rng = np.repeat(x[None], 20, axis=0), np.random.default_rng(3)
    for rows in groups:
        plain[:, rows] = rng.permuted(plain[:, rows], axis=1)
    assert np.array_equal(drawn, plain)


@pytest.mark.parametrize("scheme", ["replications", "cells", "labels"])
def test_large_stacks_go_in_parts_with_the_same_draws(monkeypatch, scheme):
    def first(stack):
        return stack[:, 0, 0] * 10 + stack[:, -1, -1]

    def drawn():
        return permutation_distribution(
            scores(), first, scheme=scheme, n_permutations=120, seed=1, vectorized=True
        ).distribution

    whole = drawn()
    monkeypatch.setattr(permutation, "PART", 7 * scores().size)
    assert np.array_equal(drawn(), whole)


@pytest.mark.parametrize("form", ["ICC(1,1)", "ICC(2,1)", "ICC(3,k)"])
@pytest.mark.parametrize("x", [scores(), scores(300, 3) / 7 + np.arange(900).reshape(300, 3)])
def test_the_shared_null_is_that_of_the_coefficient_itself(form, x):
    own = permutation_distribution(
        x,
        lambda stack: icc_value(form, mean_squares(stack)),
        scheme="replications",
        n_permutations=199,
        seed=4,
        vectorized=True,
    ).null
    null = icc(x, form=form, n_permutations=199, seed=4, interval="none").null
    assert (null.mean, null.q95) == pytest.approx((own.mean, own.q95), rel=1e-9, abs=1e-12)
    assert null.p_value == own.p_value


@pytest.mark.parametrize(("k", "m"), [(2, 2), (5, 9), (300, 300)])
def test_kendall_by_counting_is_scipys(k, m):
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, k, (8, 60)).astype(float), rng.integers(0, m, 60).astype(float)
    own = [stats.kendalltau(row, y).statistic for row in x]
    assert kendall_of_stack(x, y).tolist() == pytest.approx(own, abs=1e-15)
    assert np.isnan(kendall_of_stack(np.ones((1, 60)), y)).all()
