"""Scores of one condition in several orders of presentation: one column, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgestats.errors import InputError
from judgestats.judgments.readers.frame import reading_key
from judgestats.judgments.shapes import several_orders


def columns_by_label(
    labels: Sequence[str], asked: NDArray[np.int32], scored: NDArray[np.bool_]
) -> list[list[int]]:
    """Columns of the same condition together, as people read conditions.

    Parameters
    ----------
    labels : sequence of str
        The condition of each column (a condition has one for each order).
    asked : ndarray of int, shape (n_items, n_columns)
    scored : ndarray of bool, shape (n_columns,)
        Whether a column holds a score.

    Returns
    -------
    list of list of int

    Raises
    ------
    InputError
        An item was scored in several orders, as `judgestats.score_array` refuses it.

    Examples
    --------
    >>> asked = np.array([[2, 0, 1], [0, 2, 1]], dtype=np.int32)
    >>> columns_by_label(["a", "a", "b"], asked, np.ones(3, dtype=bool))
    [[0, 1], [2]]
    """
    groups: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        groups.setdefault(label, []).append(place)
    for label, group in groups.items():
        several = int(((asked[:, group] > 0).sum(axis=1) > 1).sum())
        if several and scored[group].any():
            raise InputError(f"audit: {several_orders(label, several)}.")
    return [groups[label] for label in sorted(groups, key=reading_key)]


def joined(
    array: NDArray[Any], groups: Sequence[Sequence[int]], by: np.ufunc = np.add
) -> NDArray[Any]:
    """Columns of each group (second axis) as one.

    Parameters
    ----------
    array : ndarray, shape (n_items, n_columns, ...)
    groups : sequence of sequence of int
    by : ufunc
        How; it only matters for items in several columns of a group, which hold no score.

    Examples
    --------
    >>> joined(np.array([[2, 0, 1], [0, 3, 1]]), [[0, 1], [2]]).tolist()
    [[2, 1], [3, 1]]
    """
    if [list(g) for g in groups] == [[place] for place in range(array.shape[1])]:
        return array
    parts = [by.reduce(array[:, list(g)], axis=1, dtype=array.dtype) for g in groups]
    return np.stack(parts, axis=1)
