"""Exact null distributions against brute force."""

import itertools

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import inference


def test_signed_ranks_with_ties() -> None:
    scores = np.array([3, 3, 6, 8, 10])
    sums = [sum(s for s, sign in zip(scores, signs, strict=True) if sign)
            for signs in itertools.product([0, 1], repeat=5)]  # fmt: skip
    expected = np.bincount(sums, minlength=31) / 32
    assert np.allclose(inference.signed_rank_null(scores), expected, atol=1e-15)


def test_rank_sums_with_ties() -> None:
    scores = np.array([2, 5, 5, 5, 10, 12, 14])
    sums = [sum(c) for c in itertools.combinations(scores.tolist(), 3)]
    null = inference.rank_sum_null(scores, 3)
    expected = np.bincount(sums, minlength=null.size) / len(sums)
    assert np.allclose(null, expected, atol=1e-15)


def test_page_with_ties() -> None:
    rows = np.array([[2, 4, 6], [3, 3, 6], [2, 5, 5]])
    values = [
        int(np.sum(np.sum(a, axis=0) * np.array([1, 2, 3])))
        for a in itertools.product(*[list(itertools.permutations(r)) for r in rows.tolist()])
    ]
    null = inference.page_null(rows)
    expected = np.bincount(values, minlength=null.size) / len(values)
    assert np.allclose(null, expected, atol=1e-15)


def test_what_is_out_of_reach_is_refused() -> None:
    with pytest.raises(InputError, match="steps of at most"):
        inference.signed_rank_null(np.full(3000, 2000))
    with pytest.raises(InputError, match="steps of at most"):
        inference.page_null(np.tile(np.arange(2, 24, 2), (500, 1)))
