"""Our tails and quantiles are those of scipy.stats, which takes long to import."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from judgestats.stats.inference import distributions as ours

X = np.array([-np.inf, -40, -3, -1e-9, 0, 1e-300, 0.3, 1, 2.5, 60, 1e6, np.inf, np.nan])
Q = np.array([0, 1e-300, 1e-12, 0.025, 0.5, 0.975, 1 - 1e-12, 1, np.nan, -0.1, 1.1])
DF = (0.1, 1, 2.5, 7, 1e3, 1e10, 0, -1, np.nan)


@pytest.mark.parametrize("what", ["cdf", "sf", "ppf", "isf"])
def test_normal_and_t_are_those_of_scipy_to_the_last_digit(what: str) -> None:
    at = X if what in {"cdf", "sf"} else Q
    np.testing.assert_array_equal(getattr(ours.norm, what)(at), getattr(stats.norm, what)(at))
    for df in DF:
        got, wanted = getattr(ours.t, what)(at, df), getattr(stats.t, what)(at, df)
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dfn", DF)
def test_f_and_chi_squared_are_those_of_scipy_to_the_last_digit(dfn: float) -> None:
    np.testing.assert_array_equal(ours.chi2.sf(X, dfn), stats.chi2.sf(X, dfn))
    for dfd in DF:
        np.testing.assert_array_equal(ours.f.sf(X, dfn, dfd), stats.f.sf(X, dfn, dfd))
        np.testing.assert_array_equal(ours.f.ppf(Q, dfn, dfd), stats.f.ppf(Q, dfn, dfd))


@given(
    k=st.integers(-2, 60),
    n=st.integers(0, 50),
    p=st.floats(0, 1),
    what=st.sampled_from(("cdf", "sf")),
)
def test_binomial_is_that_of_scipy(k: int, n: int, p: float, what: str) -> None:
    got, wanted = getattr(ours.binom, what)(k, n, p), getattr(stats.binom, what)(k, n, p)
    assert got == pytest.approx(wanted, rel=1e-11, abs=1e-250)
    assert getattr(ours.binom, what)(k, float(n), p) == got


@given(
    hnp.arrays(
        float,
        hnp.array_shapes(min_dims=1, max_dims=3, max_side=6),
        elements=st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.5, np.inf, -np.inf, np.nan]),
    ),
    st.integers(0, 2),
)
def test_ranks_are_those_of_scipy(values: np.ndarray, axis: int) -> None:
    np.testing.assert_array_equal(ours.ranks(values), stats.rankdata(values))
    axis %= values.ndim
    np.testing.assert_array_equal(ours.ranks(values, axis=axis), stats.rankdata(values, axis=axis))
