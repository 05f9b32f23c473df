"""Complete and incomplete blocks: every item scored under several conditions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.designs.groups import (
    Missing,
    as_numbers,
    cluster_column,
    factor_codes,
    level_label,
    need_columns,
    parse_formula,
)
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
    levels : tuple
        The conditions as they came (numbers stay numbers).
    cluster : ndarray of int, shape (N,), or None
        Cluster codes 0 .. G-1.
    sample : Sample
    data_name : str
        How the result names the data.
    notes : tuple of Note
    """

    scores: Floats
    conditions: tuple[str, ...]
    levels: tuple[Any, ...]
    cluster: Ints | None
    sample: Sample
    data_name: str
    notes: tuple[Note, ...] = ()


def read_blocks(
    scores: object,
    data: object = None,
    *,
    where: str,
    names: Sequence[Any] | None = None,
    cluster: object = None,
    missing: Missing = "drop",
    min_conditions: int = 2,
) -> Blocks:
    """Complete blocks from an array (N, k), a wide frame, or a formula and a long frame.

    Parameters
    ----------
    scores : array-like of shape (N, k), DataFrame, or str
        Blocks in rows, conditions in columns; or ``"score ~ condition | block"``.
    data : DataFrame, optional
        The long frame of a formula: one row a block and condition.
    where : str
        Calling function, for messages.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,) or str, optional
        Cluster of each block; with a formula a column's name.
    missing : {"drop", "raise"}
        Blocks with a missing score are left out and counted, as in R, or refused.
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
    >>> import pandas as pd
    >>> long = pd.DataFrame({"s": [1.0, 2, 3, 4], "t": [0, 1, 0, 1], "item": ["a", "a", "b", "b"]})
    >>> read_blocks("s ~ t | item", long, where="f").scores.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    matrix, levels, labels, data_name = _block_matrix(
        scores, data, where=where, names=names, cluster=cluster, min_conditions=min_conditions
    )
    return _complete(matrix, levels, labels, data_name, where=where, missing=missing)


def _block_matrix(
    scores: object,
    data: object,
    *,
    where: str,
    names: Sequence[Any] | None,
    cluster: object,
    min_conditions: int,
) -> tuple[Floats, tuple[Any, ...], NDArray[Any] | None, str]:
    """Matrix (NaN where missing), levels, cluster labels and the data's name."""
    labels: NDArray[Any] | None
    if isinstance(scores, str):
        matrix, levels, labels, data_name = _blocks_from_formula(scores, data, cluster, where)
    else:
        if data is not None:
            raise InputError(
                f"{where}: a second argument goes with a formula only, got {type(data).__name__}. "
                "Write the first argument as 'score ~ condition | item'."
            )
        wide = isinstance(scores, pd.DataFrame)
        matrix = as_numbers(scores, "scores", where)
        if matrix.ndim != 2:
            raise InputError(
                f"{where}: scores must have blocks in rows and conditions in columns, got shape "
                f"{matrix.shape}. Give a two-dimensional array or a formula."
            )
        columns = list(scores.columns) if isinstance(scores, pd.DataFrame) else None
        levels = tuple(names or columns or range(1, matrix.shape[1] + 1))
        if len(levels) != matrix.shape[1]:
            raise InputError(
                f"{where}: names must have one label for each of the {matrix.shape[1]} conditions, "
                f"got {len(levels)}. Give as many names as columns."
            )
        labels = None if cluster is None else np.asarray(cluster)
        data_name = "frame" if wide else "scores"
    if matrix.shape[1] < min_conditions:
        raise InputError(
            f"{where}: at least {min_conditions} conditions are required, got {matrix.shape[1]}. "
            "Give one column per condition."
        )
    return matrix, levels, labels, data_name


def _blocks_from_formula(
    formula: str, data: object, cluster: object, where: str
) -> tuple[Floats, tuple[Any, ...], NDArray[Any] | None, str]:
    """Matrix, levels, cluster labels by block and name of the data."""
    terms = parse_formula(formula, where=where)
    if not terms.block:
        raise InputError(
            f"{where}: the formula must name the block, as in 'score ~ condition | item', got "
            f"{formula!r}. Add '| item', or use a test for independent groups."
        )
    frame = need_columns(data, [terms.response, terms.factor, terms.block], where)
    values = as_numbers(frame[terms.response], f"column {terms.response!r}", where)
    codes, levels = factor_codes(frame[terms.factor])
    rows, blocks = pd.factorize(frame[terms.block])
    for part, name in ((codes, terms.factor), (rows, terms.block)):
        if (part < 0).any():
            raise InputError(
                f"{where}: column {name!r} has {int((part < 0).sum())} missing labels. Name every "
                "condition and item, or drop these rows."
            )
    cells = rows * len(levels) + codes
    if np.unique(cells).size < cells.size:
        seen = pd.Series(cells)
        first = int(seen[seen.duplicated()].iloc[0])
        raise InputError(
            f"{where}: one score per {terms.block} and {terms.factor} is required, got several for "
            f"{terms.block} {blocks[first // len(levels)]!r}, {terms.factor} "
            f"{level_label(levels[first % len(levels)])}. Reduce each cell to one "
            f"number first, such as frame.groupby(['{terms.block}', '{terms.factor}'])"
            f"['{terms.response}'].mean()."
        )
    matrix = np.full((len(blocks), len(levels)), np.nan)
    matrix[rows, codes] = values
    by_row = cluster_column(cluster, frame, where)
    labels = None
    if by_row is not None:
        pairs = pd.DataFrame({"block": rows, "cluster": by_row}).drop_duplicates()
        if pairs["block"].duplicated().any():
            raise InputError(
                f"{where}: every {terms.block} must lie in one cluster, got several for one. "
                "Cluster by something that contains whole blocks, such as the question."
            )
        labels = pairs.sort_values("block")["cluster"].to_numpy()
    return matrix, levels, labels, f"{terms.response}, {terms.factor} and {terms.block}"


def _complete(
    matrix: Floats,
    levels: tuple[Any, ...],
    labels: NDArray[Any] | None,
    data_name: str,
    *,
    where: str,
    missing: Missing,
) -> Blocks:
    """Leave incomplete blocks out (counted) or refuse them."""
    n_given = matrix.shape[0]
    codes = None if labels is None else cluster_codes(labels, n_given, where=where)
    whole = ~np.isnan(matrix).any(axis=1)
    n_lost = int(n_given - whole.sum())
    notes: tuple[Note, ...] = ()
    if n_lost:
        if missing == "raise":
            raise InputError(
                f"{where}: {n_lost} of {n_given} items {'has' if n_lost == 1 else 'have'} a "
                "missing score. Leave out such items with missing='drop', which records the loss."
            )
        matrix = matrix[whole]
        if codes is not None:
            codes = np.unique(codes[whole], return_inverse=True)[1].astype(np.int64)
        message = (
            f"{n_lost} of {n_given} blocks "
            f"{'has a missing score and is' if n_lost == 1 else 'have a missing score and are'} "
            "left out."
        )
        notes = (Note(code="incomplete_blocks", message=message),)
    excluded: Mapping[str, int] = {"missing score": n_lost} if n_lost else {}
    sample = Sample(
        n_items=matrix.shape[0],
        n_clusters=None if codes is None else int(np.unique(codes).size),
        n_excluded=n_lost,
        excluded=MappingProxyType(dict(excluded)),
    )
    return Blocks(
        scores=matrix,
        conditions=tuple(level_label(v) for v in levels),
        levels=levels,
        cluster=codes,
        sample=sample,
        data_name=data_name,
        notes=notes,
    )


def as_paired(
    x: ArrayLike | str,
    y: object,
    *,
    where: str,
    names: Sequence[Any] | None = None,
    cluster: object = None,
    missing: Missing = "drop",
) -> Blocks:
    """Two columns of paired values from two arrays, an (n, 2) array, or a formula and a frame.

    Parameters
    ----------
    x, y : array-like of shape (n,); or ``"score ~ condition | item"`` and a frame
    where : str
    names : sequence, optional
    cluster : array-like or str, optional
    missing : {"drop", "raise"}

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
    if isinstance(x, str):
        blocks = read_blocks(x, y, where=where, cluster=cluster, missing=missing)
    elif y is None:
        blocks = read_blocks(x, where=where, names=names, cluster=cluster, missing=missing)
    else:
        first, second = as_numbers(x, "x", where), as_numbers(y, "y", where)
        if first.ndim != 1 or first.shape != second.shape:
            raise InputError(
                f"{where}: x and y must be one-dimensional and equally long, got shapes "
                f"{first.shape} and {second.shape}. Give both values of every pair."
            )
        blocks = read_blocks(
            np.column_stack([first, second]),
            where=where,
            names=names or ("x", "y"),
            cluster=cluster,
            missing=missing,
        )
    if len(blocks.conditions) != 2:
        raise InputError(
            f"{where}: exactly 2 conditions are required, got {len(blocks.conditions)} "
            f"({', '.join(blocks.conditions)}). Choose two, or use friedman_test."
        )
    return blocks
