"""The bivariate normal distribution function, vectorised and exact to rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, owens_t

from judgestats.arrays import Floats


def bivariate_normal_cdf(h: ArrayLike, k: ArrayLike, rho: ArrayLike) -> Floats:
    r"""Probability that two standard normals of correlation rho lie below h and below k.

    Parameters
    ----------
    h, k : array-like
        Limits; infinite ones are allowed. They broadcast against each other and `rho`.
    rho : array-like
        Correlations in [-1, 1].

    Returns
    -------
    array

    Notes
    -----
    Owen (1956), with T his function:
    :math:`\Phi_2 = \tfrac12\Phi(h) + \tfrac12\Phi(k) - T(h, a_h) - T(k, a_k) - \delta`, where
    :math:`a_h = (k - \rho h)/(h\sqrt{1-\rho^2})` and :math:`\delta = 1/2` where h and k differ in
    sign.

    Examples
    --------
    >>> float(bivariate_normal_cdf(0.0, 0.0, 0.5).round(12))
    0.333333333333
    >>> bivariate_normal_cdf([np.inf, -np.inf], 0.0, 0.3).tolist()
    [0.5, 0.0]
    """
    h, k, rho = np.broadcast_arrays(
        np.asarray(h, dtype=float), np.asarray(k, dtype=float), np.asarray(rho, dtype=float)
    )
    low_h, low_k = ndtr(h), ndtr(k)
    finite = np.isfinite(h) & np.isfinite(k)
    # an infinite limit leaves the other margin (or nothing): the product says both
    value = low_h * low_k
    inside = finite & (np.abs(rho) < 1)
    # 0 is replaced by the smallest step above it: the formula's limits then take care of themselves
    hi = np.where(h == 0, 1e-300, np.where(inside, h, 1.0))
    ki = np.where(k == 0, 1e-300, np.where(inside, k, 1.0))
    r = np.where(inside, rho, 0.0)
    root = np.sqrt((1.0 - r) * (1.0 + r))
    with np.errstate(over="ignore"):
        a_h, a_k = (ki - r * hi) / (hi * root), (hi - r * ki) / (ki * root)
    opposite = np.where((hi > 0) != (ki > 0), 0.5, 0.0)
    owen = 0.5 * (ndtr(hi) + ndtr(ki)) - owens_t(hi, a_h) - owens_t(ki, a_k) - opposite
    value = np.where(inside, np.maximum(owen, 0.0), value)
    value = np.where(finite & (rho >= 1), np.minimum(low_h, low_k), value)
    value = np.where(finite & (rho <= -1), np.maximum(low_h + low_k - 1.0, 0.0), value)
    return np.asarray(value, dtype=float)


def bivariate_normal_pdf(h: Floats, k: Floats, rho: Floats) -> Floats:
    """Density at (h, k), zero where a limit is infinite: the derivative of the cdf in rho.

    Examples
    --------
    >>> round(float(bivariate_normal_pdf(np.array(0.0), np.array(0.0), np.array(0.0))), 6)
    0.159155
    """
    finite = np.isfinite(h) & np.isfinite(k)
    a, b = np.where(finite, h, 0.0), np.where(finite, k, 0.0)
    left = 1.0 - rho**2
    value = np.exp(-(a * a - 2.0 * rho * a * b + b * b) / (2.0 * left)) / (
        2.0 * np.pi * np.sqrt(left)
    )
    return np.asarray(np.where(finite, value, 0.0), dtype=float)
