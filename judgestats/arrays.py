"""The types of arrays that pass between functions, the checks of arguments, and means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Objects = NDArray[np.object_]

LARGEST = 1e50
"""Largest score: sums of its fourth powers still fit into a float."""


def distinct_rows(x: Floats) -> tuple[Ints, Ints]:
    """The first row of each kind, and each row's kind: scores have few levels, many items the same.

    Examples
    --------
    >>> x = np.array([[2.0, 3.0], [1.0, 3.0], [2.0, 3.0]])
    >>> first, same = distinct_rows(x)
    >>> len(first), bool(np.all(x[first][same] == x))
    (2, True)
    """
    if not x.size:
        return np.arange(len(x)), np.arange(len(x))
    rows = np.ascontiguousarray(x).view(f"V{x.shape[1] * x.itemsize}")[:, 0]
    _, first, same = np.unique(rows, return_index=True, return_inverse=True)
    return first, same


def mean_of_present(values: ArrayLike, axis: int) -> Floats:
    """Mean along an axis, without NaN; NaN if all values are NaN.

    Examples
    --------
    >>> mean_of_present([[1.0, float("nan"), 4.0], [float("nan")] * 3], 1).tolist()
    [2.5, nan]
    """
    x = np.asarray(values, dtype=float)
    n = np.sum(~np.isnan(x), axis=axis)
    return np.where(n > 0, np.nansum(x, axis=axis) / np.maximum(n, 1), np.nan)


def too_large(values: ArrayLike) -> Bools:
    """Which numbers are infinite, or too large to compute with.

    Examples
    --------
    >>> too_large([1.0, float("nan"), 1e300, float("-inf")]).tolist()
    [False, False, True, True]
    """
    large: Bools = np.abs(np.asarray(values, dtype=float)) > LARGEST
    return large


def as_numbers(values: object, name: str, where: str) -> Floats:
    """Numbers as floats, NaN for missing; text and infinite values are refused.

    Examples
    --------
    >>> as_numbers([7, None, 8.5], "scores", "icc").tolist()
    [7.0, nan, 8.5]
    """
    plain = getattr(values, "to_numpy", None)
    try:
        given = values if plain is None else plain(dtype=float, na_value=np.nan)
        out: Floats = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{where}: {name} must hold numbers, got something else ({error}). Code verdicts as "
            "numbers first, unparsed ones as NaN. Pad rows of unequal length with NaN."
        ) from error
    check_finite(where, name, out)
    return out


def check_finite(where: str, name: str, *arrays: ArrayLike) -> None:
    """Refuse numbers that are infinite or too large to compute with.

    Examples
    --------
    >>> check_finite("icc", "scores", [1.0, float("inf")])
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: icc: scores must be finite, got 1 infinite or beyond 1e50...
    """
    n = sum(int(too_large(values).sum()) for values in arrays)
    if n:
        raise InputError(
            f"{where}: {name} must be finite, got {n} infinite or beyond 1e50. Mark what does not "
            "exist as NaN."
        )


def check_axes(where: str, name: str, x: ArrayLike, axes: str, least: Sequence[int] = ()) -> None:
    """Refuse an array without these axes, or with too few entries along one.

    Parameters
    ----------
    where, name : str
        The function and its argument.
    x : array-like
    axes : str
        Such as ``items x judges``.
    least : sequence of int
        Least number of entries per axis, in the order of the axes; 0 for axes left out.

    Examples
    --------
    >>> check_axes("leniency", "scores", np.zeros((5, 1)), "items x judges", (1, 2))
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: leniency: scores must be items x judges with at least 1 item ...
    """
    shape, names = np.shape(x), axes.split(" x ")
    if len(shape) != len(names) or any(n < m for n, m in zip(shape, least, strict=False)):
        wanted = [
            f"{m} {n if m > 1 else n.removesuffix('s')}"
            for m, n in zip(least, names, strict=False)
            if m
        ]
        size = f" with at least {' and '.join(wanted)}" if wanted else ""
        raise InputError(
            f"{where}: {name} must be {axes}{size}, got shape {shape}. Put {names[0]} in rows."
        )


def check_lengths(where: str, *, least: int = 0, **lists: ArrayLike) -> None:
    """Refuse arguments that are not lists of one length, with at least `least` entries each.

    Examples
    --------
    >>> check_lengths("cohen_kappa", first=[1, 2], second=[1])
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: cohen_kappa: first and second must be equally long lists...
    """
    shapes = [np.shape(values) for values in lists.values()]
    if len(shapes[0]) != 1 or shapes[0][0] < least or set(shapes) != {shapes[0]}:
        _refuse(where, "be equally long lists" + (", not empty" if least else ""), lists, shapes)


def check_items(where: str, *, least: int = 0, ndim: int = 0, **tables: ArrayLike) -> None:
    """Refuse arguments whose rows are not the same items.

    Parameters
    ----------
    where : str
    least : int
        Items that are needed.
    ndim : int
        Axes of each argument; 0: any number.
    **tables
        The arguments by name.

    Examples
    --------
    >>> check_items("position_preference", first_order=np.zeros((3, 2)), second_order=[[1.0]])
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: position_preference: first_order and second_order must hold ...
    """
    shapes = [np.shape(values) for values in tables.values()]
    rows = {shape[:1] for shape in shapes}
    is_flat = ndim and any(len(shape) != ndim for shape in shapes)
    if len(rows) > 1 or is_flat or not shapes[0] or shapes[0][0] < least:
        axes = f", {ndim} axes each" if ndim else ""
        _refuse(where, f"hold the same items{axes}", tables, shapes)


def check_labels(where: str, table: str, x: NDArray[Any], labels: NDArray[Any]) -> None:
    """Refuse a table without one row for each label.

    Examples
    --------
    >>> check_labels("accuracy_by_k", "scores", np.zeros((3, 2)), np.zeros(4))
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: accuracy_by_k: scores must have one row for each label, got ...
    """
    if x.ndim != 2 or labels.shape != x.shape[:1]:
        raise InputError(
            f"{where}: {table} must have one row for each label, got shapes {x.shape} and "
            f"{labels.shape}. Align them by item."
        )


def check_between(where: str, name: str, value: float) -> None:
    """Refuse a number that is not strictly between 0 and 1.

    Examples
    --------
    >>> check_between("replications_needed", "target", 1.5)
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: replications_needed: target must be between 0 and 1, got 1.5...
    """
    if not 0 < value < 1:
        raise InputError(
            f"{where}: {name} must be between 0 and 1, got {value}. Give a number inside."
        )


def check_least(where: str, name: str, value: float, least: int) -> None:
    """Refuse a number below a minimum.

    Examples
    --------
    >>> check_least("majority_stability", "k", 0, 1)
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: majority_stability: k must be at least 1, got 0...
    """
    if not value >= least:
        raise InputError(
            f"{where}: {name} must be at least {least}, got {value}. Give {least} or more."
        )


def check_distinct(where: str, name: str, names: Sequence[object], n: int) -> None:
    """Refuse names unless there are exactly `n`, all distinct.

    Examples
    --------
    >>> check_distinct("mean_shift", "conditions", ["a", "a"], 2)
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: mean_shift: conditions must be 2 different names, got 2 ...
    """
    if len(names) != n or len(set(names)) != n:
        raise InputError(
            f"{where}: {name} must be {n} different names, got {len(names)} of which "
            f"{len(set(names))} differ. Name each once."
        )


def _refuse(where: str, must: str, named: dict[str, Any], shapes: Sequence[Any]) -> None:
    names, given = (" and ".join(map(str, parts)) for parts in (named, shapes))
    raise InputError(f"{where}: {names} must {must}, got shapes {given}. Align them by item.")
