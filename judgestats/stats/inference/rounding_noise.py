"""Ties that floating-point arithmetic has broken: 0.1 + 0.2 must rank level with 0.3.

Means and variances of replicated scores are often equal on paper and differ in the last digit in
memory. Ranked as they are, such cells fall in an arbitrary order.
"""

from __future__ import annotations

import math

import numpy as np

from judgestats.arrays import Floats
from judgestats.stats.inference import distributions

DIGITS = 12
"""Significant digits that count."""


def noise_free(x: Floats) -> Floats:
    """Values rounded to 12 significant digits each: for ranking only.

    Examples
    --------
    >>> v = noise_free(np.array([0.1 + 0.2, 0.3, 1e-300]))
    >>> bool(v[0] == v[1]), bool(v[2] > 0)
    (True, True)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(np.abs(x)))
    exponent = np.where(np.isfinite(exponent), np.clip(exponent, -290, 290), 0.0)
    scale = 10.0**exponent
    rounded: Floats = np.round(x / scale, DIGITS - 1) * scale
    return rounded


def noise_free_difference(x: Floats, y: Floats) -> Floats:
    """Differences x - y rounded to 12 significant digits of the operands: 8.3 - 8.1 is 0.2.

    Examples
    --------
    >>> d = noise_free_difference(np.array([8.3, 0.3]), np.array([8.1, 0.1]))
    >>> d.tolist()
    [0.2, 0.2]
    """
    d = x - y
    size = float(max(np.max(np.abs(x), initial=0.0), np.max(np.abs(y), initial=0.0)))
    if size == 0 or not math.isfinite(size):
        return np.asarray(d, dtype=float)
    decimals = DIGITS - 1 - math.floor(math.log10(size))
    if abs(decimals) > 290:
        return np.asarray(d, dtype=float)
    return np.asarray(np.round(d, decimals), dtype=float)


def level_ranks(x: Floats, *, axis: int | None = None) -> Floats:
    """Ranks with ties averaged, 1 the smallest; values equal to 12 digits are tied.

    Examples
    --------
    >>> level_ranks(np.array([0.3, 0.1 + 0.2, 0.1])).tolist()
    [2.5, 2.5, 1.0]
    """
    if x.size == 0:
        return np.asarray(x, dtype=float)
    return np.asarray(distributions.ranks(noise_free(x), axis=axis), dtype=float)
