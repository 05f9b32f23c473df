"""Verdicts that matter through how often an item received each: counted, and their null drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgestats.arrays import Floats, Ints

MOST_STATES = 200
"""Different rows of counts up to which drawing these takes less time than shuffling the items."""


def counts_of_codes(codes: Ints, n_categories: int) -> Floats:
    """Count codes (-1 = missing) per item: shape (..., n_items, n_categories).

    Examples
    --------
    >>> counts_of_codes(np.array([[0, 0, 1], [1, -1, 1]]), 2)
    array([[2., 1.],
           [0., 2.]])
    """
    shape = codes.shape[:-1]
    n = math.prod(shape)
    rows = codes.reshape(n, codes.shape[-1])
    # Column 0 collects the missing verdicts and is dropped.
    index = np.arange(n)[:, None] * (n_categories + 1) + rows + 1
    counts = np.bincount(index.ravel(), minlength=n * (n_categories + 1))
    table = counts.reshape(n, n_categories + 1)[:, 1:].astype(float)
    return table.reshape(*shape, n_categories)


@dataclass(frozen=True)
class CountedCodes:
    """Codes (..., n_items, n_replications) to the data of a statistic, through counts alone.

    Attributes
    ----------
    n_categories : int
    columns : tuple of int
        Replications in each block that is counted apart (orders of presentation); empty: one block
        of all.
    of : callable, optional
        Counts, those of the blocks side by side, to data. An item without a verdict in a block
        must add nothing for it.

    Examples
    --------
    >>> CountedCodes(2, columns=(2, 1))(np.array([[0, 0, 1]]))
    array([[2., 0., 0., 1.]])
    """

    n_categories: int
    columns: tuple[int, ...] = ()
    of: Callable[[Floats], Floats] | None = None

    def __call__(self, codes: Ints) -> Floats:
        """The data of codes."""
        parts = [counts_of_codes(block, self.n_categories) for block in self._blocks(codes)]
        return self._data(np.concatenate(parts, axis=-1))

    def is_drawn_fast(self, codes: Ints) -> bool:
        """Whether few different rows of counts are possible."""
        return all(
            math.comb(block.shape[-1] + self.n_categories, self.n_categories) <= MOST_STATES
            for block in self._blocks(codes)
        )

    def sums(
        self,
        codes: Ints,
        per_item: Callable[[NDArray[Any]], Floats],
        *,
        size: int,
        seed: Any,
    ) -> Iterator[Floats]:
        """Sums over items of what a statistic adds up, each column shuffled over the items.

        Which item has which counts does not matter for a sum: how many have each is drawn, column
        by column, from the multivariate hypergeometric distribution that shuffling gives.

        Parameters
        ----------
        codes : ndarray of int, shape (n_items, n_replications)
        per_item : callable
            Of the statistic.
        size : int
            Shuffles.
        seed : int or SeedSequence
        """
        rng = np.random.default_rng(seed)
        q = self.n_categories
        blocks = [
            [np.bincount(column + 1, minlength=q + 1) for column in block.T]
            for block in self._blocks(codes)
        ]
        for _ in range(size):
            total: Floats | float = 0.0
            for place, columns in enumerate(blocks):
                counts, times = _shuffled(columns, len(codes), rng)
                side_by_side = np.zeros((len(counts), q * len(blocks)))
                side_by_side[:, place * q : (place + 1) * q] = counts
                total = total + times @ per_item(self._data(side_by_side))
            yield np.asarray(total)

    def _data(self, counts: Floats) -> Floats:
        return counts if self.of is None else self.of(counts)

    def _blocks(self, codes: Ints) -> list[Ints]:
        ends = np.cumsum([0, *(self.columns or codes.shape[-1:])]).tolist()
        return [codes[..., a:b] for a, b in pairwise(ends)]


def _shuffled(columns: list[Ints], n_items: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Rows of counts after a shuffle of every column, and how many items have each.

    A column is how often it holds each code, the missing first.
    """
    width = len(columns[0]) - 1
    rows = np.zeros((1, width), dtype=np.int64)
    times = np.array([n_items])
    steps = np.vstack([np.zeros((1, width), dtype=np.int64), np.eye(width, dtype=np.int64)])
    for column in columns:
        left = column.copy()
        drawn = np.empty((len(rows), width + 1), dtype=np.int64)
        for k, n in enumerate(times):
            drawn[k] = rng.multivariate_hypergeometric(left, n, method="marginals")
            left -= drawn[k]
        grown = (rows[:, None, :] + steps[None, :, :]).reshape(-1, width)
        rows, where = np.unique(grown, axis=0, return_inverse=True)
        counted = np.bincount(where.ravel(), weights=drawn.ravel(), minlength=len(rows))
        times = counted.astype(np.int64)
        rows, times = rows[times > 0], times[times > 0]
    return rows, times
