"""What one pass over many judgments leaves: counts by item x condition; the rest follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOT_ASKED, UNREAD, FIRST_VALUE = 0, 1, 2
"""What a byte of the board says; value v stands as FIRST_VALUE + v."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One condition (in one order of presentation) and what is summed over its judgments.

    `n`, `statuses` count judgments; `cost_usd` and means of tokens are NaN where not told.
    """

    label: str
    order: str
    judge: str
    temperature: float
    factors: Mapping[str, str]
    n: int
    statuses: Mapping[str, int]
    cost_usd: float
    tokens_in_mean: float
    tokens_out_mean: float


@dataclass(frozen=True, kw_only=True)
class ReducedJudgments:
    """Sufficient statistics of a set of judgments.

    Attributes
    ----------
    items : tuple of str
        In order of first appearance.
    cluster : ndarray of int, shape (n_items,)
        Code of each item's cluster.
    n_clusters : int
    columns : tuple of Column
        Conditions, in order of first appearance.
    values : tuple
        The different scores (numbers, ascending) or choices (texts) that occur.
    counts : ndarray of int, shape (n_items, n_columns, n_values)
        Judgments of an item under a condition that gave the value. The counts are exact, and do
        not depend on the order of the rows.
    asked : ndarray of int, shape (n_items, n_columns)
        Judgments asked for, whether they could be read or not.
    board : ndarray of uint8, shape (n_items, n_columns, n_replicates), or None
        One byte a judgment (0 not asked, 1 unread, 2 + the value's place): which replication said
        what, for coefficients of columns. None where it would not fit (`board_reason`).
    n_replicates, n_rows, n_files : int
    columns_read : mapping
        Which column of the files served as which of ours.
    understood : tuple of str
        What the columns were taken for, in sentences.
    notes : tuple of str
        Which scores lie far from all others, in sentences.
    """

    items: tuple[str, ...]
    cluster: NDArray[np.int64]
    n_clusters: int
    columns: tuple[Column, ...]
    values: tuple[Any, ...]
    counts: NDArray[np.unsignedinteger[Any]]
    asked: NDArray[np.int32]
    board: NDArray[np.uint8] | None
    board_reason: str
    n_replicates: int
    n_rows: int
    n_files: int
    columns_read: Mapping[str, str]
    understood: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_scores(self) -> bool:
        """Whether the verdicts are numbers."""
        return not isinstance(self.values[0], str)

    @property
    def clustered(self) -> bool:
        """Whether items share clusters."""
        return self.n_clusters < len(self.items)

    def blocks(self, column: int, *, size: int = 50_000) -> Iterator[tuple[slice, Any]]:
        """Items x replications of one condition as numbers, NaN = missing, a block at a time.

        Parameters
        ----------
        column : int
        size : int
            Items in a block.

        Yields
        ------
        slice
            The items.
        ndarray of float, shape (n, n_replicates)

        Examples
        --------
        >>> import numpy as np
        >>> r = ReducedJudgments(items=("x",), cluster=np.zeros(1, dtype=np.int64), n_clusters=1,
        ...     columns=(), values=(7.0, 8.0), counts=np.array([[[1, 1]]], dtype=np.uint16),
        ...     asked=np.array([[3]], dtype=np.int32),
        ...     board=np.array([[[2, 3, 1]]], dtype=np.uint8), board_reason="",
        ...     n_replicates=3, n_rows=3, n_files=1, columns_read={})
        >>> [x.tolist() for _, x in r.blocks(0)]
        [[[7.0, 8.0, nan]]]
        """
        if self.board is None:
            raise ValueError(f"the judgments are known as counts only: {self.board_reason}")
        meaning = np.array([np.nan, np.nan, *self.values], dtype=float)
        for start in range(0, len(self.items), size):
            here = slice(start, min(start + size, len(self.items)))
            yield here, meaning[self.board[here, column]]
