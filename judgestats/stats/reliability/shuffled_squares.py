"""Mean squares of scores whose columns were shuffled over items: one null for ICCs and omega.

A shuffle leaves every column's mean and the whole sum of squares as they are. What it moves is the
sum over items, so a null needs one number a shuffle, and coefficients of the same scores share it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgestats.arrays import Floats
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.layouts.mean_squares import MeanSquares, mean_squares


def shuffled_mean_squares(
    x: Floats, *, n_permutations: int, seed: int | None, n_jobs: int = 1
) -> MeanSquares:
    """Mean squares of a complete layout under shuffles of each column over the rows.

    Parameters
    ----------
    x : ndarray, shape (n, k)
    n_permutations : int
    seed : int or None
    n_jobs : int

    Returns
    -------
    MeanSquares
        A stack of `n_permutations`.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> shuffled = shuffled_mean_squares(x, n_permutations=99, seed=0)
    >>> len(shuffled.items), float(np.max(shuffled.items)), float(mean_squares(x).items)
    (99, 15.5, 15.5)
    """
    own = mean_squares(x)
    n, k = x.shape
    centred = x - x.mean(axis=0)
    draws = _between if seed is not None else _between.__wrapped__
    between = draws(centred.tobytes(), (n, k), n_permutations, seed, n_jobs)
    left = (n - 1) * float(own.items) + (n - 1) * (k - 1) * float(own.residual) - between
    # Differences of equal sums are rounding errors, not variation.
    tiny = 1e-13 * (left + between)
    between, left = np.where(between > tiny, between, 0.0), np.where(left > tiny, left, 0.0)
    shifts = (k - 1) * float(own.replications)
    return MeanSquares(
        items=between / (n - 1),
        replications=own.replications,
        residual=left / ((n - 1) * (k - 1)),
        within=(left + shifts) / (n * (k - 1)),
        n=float(n),
        k=float(k),
        df_within=float(n * (k - 1)),
    )


@lru_cache(maxsize=1)
def _between(
    centred: bytes, shape: tuple[int, int], n_permutations: int, seed: int | None, n_jobs: int
) -> Floats:
    """Sum of squares between items in each shuffle, columns having mean 0."""
    x = np.frombuffer(centred).reshape(shape)
    values, codes = np.unique(x, return_inverse=True)
    # A byte a score: the stack of shuffles is then an eighth as large.
    small = len(values) <= 256
    shuffled = codes.reshape(shape).astype(np.uint8) if small else x

    def squares(stack: NDArray[Any]) -> Floats:
        total = np.zeros(stack.shape[:-1])
        for column in range(shape[1]):
            own = stack[..., column]
            total += values[own] if small else own
        return np.asarray(np.einsum("bi,bi->b", total, total)) / shape[1]

    return permutation_distribution(
        shuffled, squares, scheme="replications", n_permutations=n_permutations, seed=seed,
        n_jobs=n_jobs, vectorized=True,
    ).distribution  # fmt: skip
