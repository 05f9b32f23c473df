"""Items that stand in several rows by accident: no repetitions, as in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgestats.judgments.large.reduced import FIRST_VALUE, UNREAD
from judgestats.judgments.readers.mistakes import FEW_REPEATED
from judgestats.protocols.base import Status


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """What was left out.

    Attributes
    ----------
    rows : ndarray of int, shape (n_columns,)
        Rows left out of each condition and order.
    unclear : int
        Items whose rows contradict each other: unread.
    """

    rows: NDArray[np.int64]
    unclear: int


def leave_out_repeated(
    counts: NDArray[np.uint16],
    asked: NDArray[np.int32],
    board: NDArray[np.uint8] | None,
    by_status: NDArray[np.int64],
    statuses: tuple[str, ...],
) -> Repeated | None:
    """Keep one judgment of an item where few items of a condition stand in several rows.

    Parameters
    ----------
    counts : ndarray, shape (n_items, n_columns, n_values)
    asked : ndarray, shape (n_items, n_columns)
    board : ndarray, shape (n_items, n_columns, n_replicates), or None
    by_status : ndarray, shape (n_columns, n_statuses)
        All four are changed in place.
    statuses : tuple of str
        The columns of `by_status`.

    Returns
    -------
    Repeated or None
        None where nothing is left out.

    Notes
    -----
    For rows whose repetitions no column numbers. An item keeps what its rows say, and is ambiguous
    where they contradict each other. Of which kind the unread rows left out were is not known here:
    they are taken from the commonest kinds.

    Examples
    --------
    >>> counts = np.ones((6, 1, 1), dtype=np.uint16)
    >>> counts[0] = 2
    >>> asked = counts[:, :, 0].astype(np.int32)
    >>> by_status = np.array([[7, 0, 0]])
    >>> out = leave_out_repeated(counts, asked, None, by_status, ("ok", "ambiguous", "refused"))
    >>> out.rows.tolist(), counts.sum(), by_status.tolist()
    ([1], np.uint64(6), [[6, 0, 0]])
    """
    several = asked > 1
    many = several.sum(axis=0)
    chance = (many > 0) & (many < FEW_REPEATED * (asked > 0).sum(axis=0))
    item, column = np.nonzero(several & chance)
    if not item.size:
        return None
    counted = counts[item, column]
    ways, read = np.count_nonzero(counted, axis=1), counted.sum(axis=1, dtype=np.int64)
    rows = asked[item, column].astype(np.int64)
    kept, value = ways == 1, counted.argmax(axis=1)
    counts[item, column] = 0
    counts[item[kept], column[kept], value[kept]] = 1
    asked[item, column] = 1
    if board is not None:
        board[item, column] = 0
        board[item, column, 0] = np.where(kept, FIRST_VALUE + value, UNREAD)
    width = asked.shape[1]
    ok, ambiguous = statuses.index("ok"), statuses.index(Status.AMBIGUOUS.value)

    def by_column(n: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(column, n, minlength=width).astype(np.int64)

    by_status[:width, ok] -= by_column(read - kept)
    lost = by_column(rows - read - (ways == 0))  # an item of which nothing was read keeps a row
    for c in np.nonzero(lost)[0].tolist():
        for kind in np.argsort(-by_status[c], kind="stable").tolist():
            if kind != ok:
                fewer = min(int(lost[c]), int(by_status[c, kind]))
                by_status[c, kind] -= fewer
                lost[c] -= fewer
    by_status[:width, ambiguous] += by_column((ways > 1).astype(np.int64))
    return Repeated(rows=by_column(rows - 1), unclear=int((ways > 1).sum()))
