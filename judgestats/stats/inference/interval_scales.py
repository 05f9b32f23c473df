"""Scales on which the interval of a coefficient is symmetric, and the way back from them."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from scipy.special import expit

Scale = Literal["identity", "logit", "log_complement", "log_ratio"]


BOUNDED = ("logit", "log_ratio")
"""Scales with an end on both sides."""


def forward(x: Any, scale: Scale, least: float = 0.0) -> Any:
    """Move values to the scale on which the interval is symmetric.

    Parameters
    ----------
    x : float or ndarray
    scale : str
    least : float
        Where ``logit`` and ``log_ratio`` begin: log((x - least) / (1 - x)).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if scale in BOUNDED:
            return np.log(np.asarray(x) - least) - np.log1p(-np.asarray(x))
        if scale == "log_complement":
            return -np.log1p(-np.asarray(x))
        return np.asarray(x, dtype=float)


def backward(y: Any, scale: Scale, least: float = 0.0) -> Any:
    """Undo `forward`."""
    if scale in BOUNDED:
        return least + (1.0 - least) * expit(np.asarray(y))
    if scale == "log_complement":
        return -np.expm1(-np.asarray(y))
    return np.asarray(y, dtype=float)


def slope(x: float, scale: Scale, least: float = 0.0) -> float:
    """Derivative of `forward` at x."""
    if scale in BOUNDED:
        return 1.0 / (x - least) + 1.0 / (1.0 - x) if least < x < 1 else math.inf
    if scale == "log_complement":
        return 1.0 / (1.0 - x) if x < 1 else math.inf
    return 1.0
