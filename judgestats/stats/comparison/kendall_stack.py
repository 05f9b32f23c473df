"""Kendall's tau-b of a stack of shuffles with one array, by counting in tables of levels."""

from __future__ import annotations

import numpy as np

from judgestats.arrays import Floats

MOST_CELLS = 5_000
"""Cells of the table up to which counting is faster than sorting."""


def kendall_of_stack(drawn: Floats, fixed: Floats) -> Floats:
    """Tau-b of each row of a stack with one array; NaN where one of the two does not vary.

    Parameters
    ----------
    drawn : ndarray, shape (B, n)
    fixed : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (B,)

    Examples
    --------
    >>> x = np.array([[1.0, 2.0, 3.0, 3.0], [3.0, 2.0, 1.0, 3.0]])
    >>> kendall_of_stack(x, np.array([1.0, 2.0, 4.0, 3.0])).round(3).tolist()
    [0.913, -0.548]
    """
    x_levels, x = np.unique(drawn, return_inverse=True)
    y_levels, y = np.unique(fixed, return_inverse=True)
    x, k, m = x.reshape(drawn.shape), len(x_levels), len(y_levels)
    if k * m > MOST_CELLS:
        from scipy.stats import kendalltau

        return np.array([kendalltau(row, fixed).statistic for row in drawn])
    size, n = drawn.shape
    cells = (np.arange(size)[:, None] * k + x) * m + y
    table = np.bincount(cells.ravel(), minlength=size * k * m).reshape(size, k, m)
    # Pairs of which both differ the same way, less those that differ in opposite ways.
    above = table[:, ::-1].cumsum(axis=1)[:, ::-1] - table
    after = above[:, :, ::-1].cumsum(axis=2)[:, :, ::-1] - above
    before = above.cumsum(axis=2) - above
    difference = (table * (after - before)).sum(axis=(1, 2))
    pairs = n * (n - 1) // 2
    rows, columns = table.sum(axis=2), table.sum(axis=1)
    x_tied = (rows * (rows - 1) // 2).sum(axis=1)
    y_tied = (columns * (columns - 1) // 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = difference / np.sqrt(pairs - x_tied) / np.sqrt(pairs - y_tied)
    return np.where((x_tied == pairs) | (y_tied == pairs), np.nan, np.clip(tau, -1.0, 1.0))
