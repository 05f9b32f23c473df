"""Complete blocks: every item scored under several conditions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.designs.groups import as_numbers, level_label
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Note, Sample


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blocks:
    """Complete blocks: one row a block (item), one column a condition.

    Attributes
    ----------
    scores : ndarray, shape (N, k)
    conditions : tuple of str
        Column labels.
    cluster : ndarray of int, shape (N,), or None
        Cluster codes 0 .. G-1.
    sample : Sample
    data_name : str
        How the result names the data.
    notes : tuple of Note
    """

    scores: Floats
    conditions: tuple[str, ...]
    cluster: Ints | None
    sample: Sample
    data_name: str
    notes: tuple[Note, ...] = ()


def read_blocks(
    scores: object,
    *,
    where: str,
    names: Sequence[Any] | None = None,
    cluster: object = None,
    min_conditions: int = 2,
) -> Blocks:
    """Complete blocks from an array (N, k) or a wide frame.

    Parameters
    ----------
    scores : array-like of shape (N, k), or DataFrame
        Blocks in rows, conditions in columns. Blocks with a missing score are left out and counted,
        as in R.
    where : str
        Calling function, for messages.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,), optional
        Cluster of each block.
    min_conditions : int
        Least number of conditions.

    Returns
    -------
    Blocks

    Raises
    ------
    InputError
        If the data cannot be read so.

    Examples
    --------
    >>> found = read_blocks([[1.0, 2], [3, 4], [5, None]], where="f", names=["T=0", "T=1"])
    >>> found.scores.tolist(), found.conditions, found.sample.n_excluded
    ([[1.0, 2.0], [3.0, 4.0]], ('T=0', 'T=1'), 1)
    """
    matrix = as_numbers(scores, "scores", where)
    if matrix.ndim != 2:
        raise InputError(
            f"{where}: scores must have blocks in rows and conditions in columns, got shape "
            f"{matrix.shape}. Give a two-dimensional array."
        )
    n_given, k = matrix.shape
    columns = list(scores.columns) if isinstance(scores, pd.DataFrame) else None
    levels = tuple(names or columns or range(1, k + 1))
    if len(levels) != k:
        raise InputError(
            f"{where}: names must have one label for each of the {k} conditions, "
            f"got {len(levels)}. Give as many names as columns."
        )
    if k < min_conditions:
        raise InputError(
            f"{where}: at least {min_conditions} conditions are required, got {k}. "
            "Give one column per condition."
        )
    codes = None
    if cluster is not None:
        codes = cluster_codes(np.asarray(cluster), n_given, where=where)
    whole = ~np.isnan(matrix).any(axis=1)
    n_lost = int(n_given - whole.sum())
    notes: tuple[Note, ...] = ()
    if n_lost:
        matrix = matrix[whole]
        if codes is not None:
            codes = np.unique(codes[whole], return_inverse=True)[1].astype(np.int64)
        message = (
            f"{n_lost} of {n_given} blocks "
            f"{'has a missing score and is' if n_lost == 1 else 'have a missing score and are'} "
            "left out."
        )
        notes = (Note(code="incomplete_blocks", message=message),)
    sample = Sample(
        n_items=matrix.shape[0],
        n_clusters=None if codes is None else int(np.unique(codes).size),
        n_excluded=n_lost,
        excluded=MappingProxyType({"missing score": n_lost} if n_lost else {}),
    )
    return Blocks(
        scores=matrix,
        conditions=tuple(level_label(v) for v in levels),
        cluster=codes,
        sample=sample,
        data_name="scores" if columns is None else "frame",
        notes=notes,
    )


def as_paired(
    x: ArrayLike,
    y: ArrayLike | None,
    *,
    where: str,
    names: Sequence[Any] | None = None,
    cluster: object = None,
) -> Blocks:
    """Two columns of paired values from two arrays, or an (n, 2) array.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Both values of every pair; or an array (n, 2) and None.
    where : str
        Calling function, for messages.
    names : sequence, optional
        Labels of the two columns.
    cluster : array-like, optional
        Cluster of each pair.

    Returns
    -------
    Blocks
        With exactly two conditions.

    Raises
    ------
    InputError
        If there are not two conditions, or lengths differ.

    Examples
    --------
    >>> as_paired([1.0, 2.0], [0.0, 5.0], where="f").scores.tolist()
    [[1.0, 0.0], [2.0, 5.0]]
    """
    if y is None:
        blocks = read_blocks(x, where=where, names=names, cluster=cluster)
    else:
        first, second = as_numbers(x, "x", where), as_numbers(y, "y", where)
        if first.ndim != 1 or first.shape != second.shape:
            raise InputError(
                f"{where}: x and y must be one-dimensional and equally long, got shapes "
                f"{first.shape} and {second.shape}. Give both values of every pair."
            )
        both = np.column_stack([first, second])
        blocks = read_blocks(both, where=where, names=names or ("x", "y"), cluster=cluster)
    if len(blocks.conditions) != 2:
        raise InputError(
            f"{where}: exactly 2 conditions are required, got {len(blocks.conditions)} "
            f"({', '.join(blocks.conditions)}). Choose two, or use friedman_test."
        )
    return blocks
