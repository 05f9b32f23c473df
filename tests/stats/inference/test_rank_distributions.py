"""Exact null distributions against brute force."""

import itertools

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats.inference import (
    friedman_null,
    page_null,
    rank_difference_null,
    rank_sum_null,
    signed_rank_null,
)


def test_signed_ranks_with_ties() -> None:
    scores = np.array([3, 3, 6, 8, 10])
    sums = [sum(s for s, sign in zip(scores, signs, strict=True) if sign)
            for signs in itertools.product([0, 1], repeat=5)]  # fmt: skip
    expected = np.bincount(sums, minlength=31) / 32
    assert np.allclose(signed_rank_null(scores), expected, atol=1e-15)


def test_rank_sums_with_ties() -> None:
    scores = np.array([2, 5, 5, 5, 10, 12, 14])
    sums = [sum(c) for c in itertools.combinations(scores.tolist(), 3)]
    null = rank_sum_null(scores, 3)
    expected = np.bincount(sums, minlength=null.size) / len(sums)
    assert np.allclose(null, expected, atol=1e-15)


def test_friedman_with_ties() -> None:
    rows = np.array([[2, 4, 6], [3, 3, 6], [2, 5, 5], [2, 4, 6]])
    values = []
    for arrangement in itertools.product(*[list(itertools.permutations(r)) for r in rows.tolist()]):
        values.append(int(np.sum(np.sum(arrangement, axis=0) ** 2)))
    expected, counts = np.unique(values, return_counts=True)
    got, p = friedman_null(rows)
    assert got.tolist() == expected.tolist()
    assert np.allclose(p, counts / len(values), atol=1e-14)


def test_friedman_published_tails() -> None:
    """P(chi2 >= 7.4) = .033 for k = 4, N = 3; .036 at 7.8 for N = 4 (Friedman's tables)."""
    for n, chi2, tail in ((3, 7.4, 0.033), (4, 7.8, 0.036)):
        values, p = friedman_null(np.tile([2, 4, 6, 8], (n, 1)))
        statistic = 12 / (n * 20) * values / 4 - 3 * n * 5
        assert p[statistic >= chi2 - 1e-9].sum() == pytest.approx(tail, abs=5e-4)


def test_page_with_ties() -> None:
    rows = np.array([[2, 4, 6], [3, 3, 6], [2, 5, 5]])
    values = [
        int(np.sum(np.sum(a, axis=0) * np.array([1, 2, 3])))
        for a in itertools.product(*[list(itertools.permutations(r)) for r in rows.tolist()])
    ]
    null = page_null(rows)
    expected = np.bincount(values, minlength=null.size) / len(values)
    assert np.allclose(null, expected, atol=1e-15)


def test_rank_difference() -> None:
    values = []
    for pair in itertools.product(itertools.permutations([1, 2, 3], 2), repeat=3):
        values.append(sum(a - b for a, b in pair) + 6)
    expected = np.bincount(values, minlength=13) / len(values)
    assert np.allclose(rank_difference_null(3, 3), expected, atol=1e-15)


def test_what_is_out_of_reach_is_refused() -> None:
    with pytest.raises(InputError, match="permutation"):
        friedman_null(np.tile(np.arange(2, 18, 2), (5, 1)))
    with pytest.raises(InputError, match="feasible"):
        signed_rank_null(np.full(3000, 2000))
    with pytest.raises(InputError, match="feasible"):
        page_null(np.tile(np.arange(2, 24, 2), (500, 1)))
