"""Cell statistics: held to direct computation, and to the invariances that must hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judgestats.errors import InputError
from judgestats.stats.designs import cell_statistics

SCORES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 6), st.integers(1, 4), st.integers(2, 5)),
    elements=st.integers(1, 10).map(float),
)


def test_cells_are_what_numpy_says(rng: np.random.Generator) -> None:
    x = rng.integers(1, 11, size=(12, 3, 7)).astype(float)
    c = cell_statistics(x)
    np.testing.assert_allclose(c.mean, x.mean(axis=2), rtol=1e-14)
    np.testing.assert_allclose(c.median, np.median(x, axis=2), rtol=1e-14)
    np.testing.assert_allclose(c.variance, x.var(axis=2, ddof=1), rtol=1e-13)
    centred = np.abs(x - x.mean(axis=2, keepdims=True)).mean(axis=2)
    np.testing.assert_allclose(c.from_mean, centred, rtol=1e-13)
    middle = np.abs(x - np.median(x, axis=2, keepdims=True)).mean(axis=2)
    np.testing.assert_allclose(c.from_median, middle, rtol=1e-13)
    assert c.equal_r
    assert c.common_r == 7


@pytest.mark.parametrize(("n", "m"), [(n, m) for n in (2, 3, 5, 8) for m in (2, 3, 4) if m <= n])
def test_median_distance_is_the_average_over_subsets(n: int, m: int, rng) -> None:
    x = rng.integers(1, 11, size=n).astype(float)
    subsets = [np.array(s) for s in itertools.combinations(x, m)]
    expected = np.mean([np.abs(s - np.median(s)).mean() for s in subsets])
    cells = np.full((1, 2, n), np.nan)
    cells[0, 0], cells[0, 1, :m] = x, 5.0  # the shorter cell states the distance at m
    assert cell_statistics(cells).from_median[0, 0] == pytest.approx(expected, rel=1e-12)


def test_mean_distance_with_unequal_n_is_the_average_over_subsets() -> None:
    x = np.full((1, 2, 6), np.nan)
    x[0, 0] = [7, 8, 8, 9, 9, 10]
    x[0, 1, :4] = [5, 5, 6, 9]
    c = cell_statistics(x)
    subsets = [np.array(s) for s in itertools.combinations(x[0, 0], 4)]
    expected = np.mean([np.abs(s - s.mean()).mean() for s in subsets])
    assert c.common_r == 4
    assert c.from_mean[0, 0] == pytest.approx(expected, rel=1e-12)
    assert c.from_mean[0, 1] == pytest.approx(np.abs(x[0, 1, :4] - 6.25).mean(), rel=1e-12)


def test_random_subsets_do_not_depend_on_order_or_call(rng: np.random.Generator) -> None:
    x = rng.normal(size=(4, 2, 30))
    x[0, 0, 15:] = np.nan
    a = cell_statistics(x)
    b = cell_statistics(x[:, :, rng.permutation(30)])
    np.testing.assert_allclose(a.from_mean, b.from_mean, rtol=1e-13)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def test_names_clusters_and_options_must_fit() -> None:
    x = np.ones((2, 2, 2))
    with pytest.raises(InputError, match="2 different names"):
        cell_statistics(x, conditions=["a", "a"])
    with pytest.raises(InputError, match="cluster"):
        cell_statistics(x, cluster=[1])
    with pytest.raises(InputError, match="center"):
        cell_statistics(x).spread("mode")
