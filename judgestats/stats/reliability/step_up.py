"""From one judgment to the mean of k, and back (Spearman-Brown)."""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from numpy.typing import NDArray

from judgestats.errors import InputError


@overload
def spearman_brown(reliability: float, *, k: float) -> float: ...
@overload
def spearman_brown(reliability: NDArray[np.float64], *, k: float) -> NDArray[np.float64]: ...
def spearman_brown(
    reliability: float | NDArray[np.float64], *, k: float
) -> float | NDArray[np.float64]:
    r"""Reliability of the mean of `k` judgments from the reliability of one.

    Parameters
    ----------
    reliability : float or ndarray
        Reliability of one judgment (or of a mean, when `k` is a ratio of lengths).
    k : float
        Number of judgments averaged; below 1 steps down.

    Returns
    -------
    float or ndarray
        :math:`k \rho / (1 + (k - 1) \rho)`; NaN where the denominator is 0.

    Raises
    ------
    InputError
        If `k` is not positive.

    Notes
    -----
    Holds for parallel judgments: equal true scores and error variances, as replications of one
    prompt have by design.

    References
    ----------
    Spearman (1910); Brown (1910), British Journal of Psychology 3.

    Examples
    --------
    >>> round(spearman_brown(0.5, k=4), 10), round(spearman_brown(0.8, k=0.25), 10)
    (0.8, 0.5)
    """
    if not k > 0:
        raise InputError(
            f"spearman_brown: k must be positive, got {k}. Give a number of judgments."
        )
    if isinstance(reliability, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore"):
            stepped: NDArray[np.float64] = k * reliability / (1 + (k - 1) * reliability)
        return np.where(np.isfinite(stepped), stepped, np.nan)
    denominator = 1 + (k - 1) * reliability
    return k * reliability / denominator if denominator != 0 else math.nan


def replications_needed(reliability: float, *, target: float) -> float:
    r"""Number of judgments whose mean reaches a target reliability: Spearman-Brown inverted.

    Parameters
    ----------
    reliability : float
        Reliability of one judgment.
    target : float
        Reliability wanted of the mean, in (0, 1).

    Returns
    -------
    float
        :math:`\rho^* (1 - \rho) / (\rho (1 - \rho^*))`, not rounded: take the ceiling. 0 where one
        judgment has reliability 1; NaN where it is 0 or less, because no number is enough.

    Raises
    ------
    InputError
        If `target` is not in (0, 1).

    Examples
    --------
    >>> round(replications_needed(0.5, target=0.8), 10), replications_needed(-0.1, target=0.8)
    (4.0, nan)
    """
    if not 0 < target < 1:
        raise InputError(
            f"replications_needed: target must lie between 0 and 1, got {target}. Use .80 or .90."
        )
    if math.isnan(reliability) or reliability <= 0:
        return math.nan
    return target * (1 - reliability) / (reliability * (1 - target))
