"""The types of arrays that pass between functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Objects = NDArray[np.object_]

LARGEST = 1e50
"""Largest score: sums of its fourth powers still fit into a float."""


def too_large(values: ArrayLike) -> Bools:
    """Which numbers are infinite, or too large to compute with.

    Examples
    --------
    >>> too_large([1.0, float("nan"), 1e300, float("-inf")]).tolist()
    [False, False, True, True]
    """
    large: Bools = np.abs(np.asarray(values, dtype=float)) > LARGEST
    return large
