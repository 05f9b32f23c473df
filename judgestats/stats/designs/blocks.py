"""Complete blocks of items under several conditions, and independent groups of values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints, as_numbers, check_axes, check_lengths
from judgestats.errors import InputError
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Note, Sample


def level_label(value: Any) -> str:
    """A level as text: 0.5 as ``0.5``, 1.0 as ``1``."""
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Groups:
    """Independent samples by name; missing values and empty samples are left out.

    Attributes
    ----------
    samples : tuple of ndarray
    names : tuple of str
    sample : Sample
    notes : tuple of Note
    """

    samples: tuple[Floats, ...]
    names: tuple[str, ...]
    sample: Sample
    notes: tuple[Note, ...] = ()


def read_groups(
    values: object, *, where: str, names: Sequence[Any] | None = None, least: int = 2
) -> Groups:
    """Independent groups from a mapping, or from a list of samples.

    Parameters
    ----------
    values : mapping, or sequence of arrays
        Name -> sample, or one sample per group. Missing values are left out and counted; a group of
        which nothing is left is gone, as in R.
    where : str
        Calling function, for messages.
    names : sequence, optional
        Names of the samples of a list.
    least : int
        Least number of groups with values.

    Returns
    -------
    Groups

    Raises
    ------
    InputError
        If the data cannot be read so.

    Examples
    --------
    >>> found = read_groups([[1.0, 2.0], [3.0, None], [None]], where="f", names=["a", "b", "c"])
    >>> found.names, [s.tolist() for s in found.samples], found.sample.n_excluded
    (('a', 'b'), [[1.0, 2.0], [3.0]], 2)
    """
    if isinstance(values, Mapping):
        levels = tuple(values)
        samples = [as_numbers(v, f"group {k!r}", where) for k, v in values.items()]
    elif isinstance(values, (list, tuple)) and all(np.ndim(v) == 1 for v in values) and values:
        samples = [as_numbers(v, f"group {i + 1}", where) for i, v in enumerate(values)]
        levels = tuple(names or range(1, len(samples) + 1))
    else:
        raise InputError(
            f"{where}: give a mapping from name to sample, or a list of samples; got "
            f"{type(values).__name__}. Call {where}([sample, other])."
        )
    if len(levels) != len(samples) or any(s.ndim != 1 for s in samples):
        raise InputError(
            f"{where}: one name and one one-dimensional sample per group are required, got "
            f"{len(levels)} names for {len(samples)} samples. Check names and shapes."
        )
    read = [(level_label(k), s[~np.isnan(s)]) for k, s in zip(levels, samples, strict=True)]
    kept = [(name, s) for name, s in read if s.size]
    if len(kept) < least:
        raise InputError(
            f"{where}: at least {least} groups with values are required, got {len(kept)}. Check "
            "the samples."
        )
    n_given, n_kept = sum(s.size for s in samples), sum(s.size for _, s in kept)
    n_lost = n_given - n_kept
    notes: tuple[Note, ...] = ()
    if n_lost:
        message = (
            f"{n_lost} of {n_given} values {'is' if n_lost == 1 else 'are'} missing and left out."
        )
        notes = (Note(code="missing_values", message=message),)
    return Groups(
        samples=tuple(s for _, s in kept),
        names=tuple(name for name, _ in kept),
        sample=Sample(n_items=n_kept, excluded={"missing value": n_lost}),
        notes=notes,
    )


def read_two_samples(
    x: ArrayLike, y: ArrayLike, *, where: str, names: Sequence[Any] | None = None
) -> Groups:
    """Two groups from two arrays."""
    parts = [as_numbers(x, "x", where), as_numbers(y, "y", where)]
    if any(part.ndim != 1 for part in parts):
        raise InputError(
            f"{where}: x and y must be one-dimensional, got shapes {parts[0].shape} and "
            f"{parts[1].shape}. Give two samples."
        )
    return read_groups(parts, where=where, names=names or ("x", "y"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blocks:
    """Complete blocks: one row per block (item), one column per condition.

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
    check_axes(where, "scores", matrix, "blocks x conditions")
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
        check_lengths(where, x=first, y=second)
        both = np.column_stack([first, second])
        blocks = read_blocks(both, where=where, names=names or ("x", "y"), cluster=cluster)
    if len(blocks.conditions) != 2:
        raise InputError(
            f"{where}: exactly 2 conditions are required, got {len(blocks.conditions)} "
            f"({', '.join(blocks.conditions)}). Choose two, or use friedman_test."
        )
    return blocks
