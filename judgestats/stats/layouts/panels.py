"""Several judgments made into one: mean, median or mode of disjoint groups of replications."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.errors import InputError, one_of

AGGREGATES = ("mean", "median", "mode")


def aggregate_replications(scores: ArrayLike, *, k: int, how: str = "mean") -> NDArray[np.float64]:
    """Aggregate disjoint groups of k replications.

    Parameters
    ----------
    scores : array-like, shape (N, R)
        Items x replications, NaN = missing.
    k : int
        Replications in a group, 1 to R; what is left over at the end is not used.
    how : {"mean", "median", "mode"}
        Of several modes the mean is taken.

    Returns
    -------
    ndarray, shape (N, R // k)
        NaN where a group has no score. A group with some missing scores uses the others.

    Raises
    ------
    InputError
        If the scores are no matrix, or k or the aggregate cannot be used.

    Examples
    --------
    >>> x = [[1, 1, 4, 9, 9, 2]]
    >>> aggregate_replications(x, k=3).tolist()
    [[2.0, 6.666666666666667]]
    >>> aggregate_replications(x, k=3, how="mode").tolist()
    [[1.0, 9.0]]
    """
    where = "aggregate_replications"
    x = np.asarray(scores, dtype=float)
    if x.ndim != 2 or not 1 <= k <= max(x.shape[1], 1):
        raise InputError(
            f"{where}: scores must be items x replications and k a whole number of 1 to R, got "
            f"shape {x.shape} and k = {k}."
        )
    one_of(where, "how", how, AGGREGATES)
    groups = x[:, : x.shape[1] // k * k].reshape(x.shape[0], -1, k)
    reduce: Callable[[NDArray[np.float64]], float] = {
        "mean": lambda v: float(np.mean(v)),
        "median": lambda v: float(np.median(v)),
        "mode": _mode,
    }[how]
    out = np.full(groups.shape[:2], np.nan)
    for i, j in np.ndindex(*out.shape):
        present = groups[i, j][~np.isnan(groups[i, j])]
        if present.size:
            out[i, j] = reduce(present)
    return out


def _mode(values: NDArray[np.float64]) -> float:
    levels, counts = np.unique(values, return_counts=True)
    return float(levels[counts == counts.max()].mean())
