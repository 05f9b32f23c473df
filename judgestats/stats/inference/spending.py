"""Spending of an error rate over looks: bounds for z like O'Brien and Fleming's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import scipy
from scipy import special

from judgestats.arrays import Floats
from judgestats.errors import InputError

_NODES = 1201


def alpha_spent(fraction: float, alpha: float = 0.05) -> float:
    """Two-sided error spent at an information fraction, 4 - 4 Phi(z(1 - alpha / 4) / root t).

    Examples
    --------
    >>> round(alpha_spent(.5), 5), round(alpha_spent(1.0), 5)
    (0.00305, 0.05)
    """
    z = -float(special.ndtri(alpha / 4)) / math.sqrt(min(max(fraction, 1e-12), 1.0))
    return 4 * float(special.ndtr(-z))


def _excess(c: float, *, points: Floats, weights: Floats, sd: float, wanted: float) -> float:
    """Log probability of leaving above c at this look, less the log of what may be spent."""
    tail = float(weights @ special.ndtr(-(c - points) / sd))
    return math.log(max(tail, 1e-300)) - wanted


def spending_bounds(fractions: Sequence[float], alpha: float = 0.05) -> Floats:
    """Bounds for the absolute z at each look.

    Parameters
    ----------
    fractions : sequence of float
        Information at each look as a share of that at the last, rising, at most 1.
    alpha : float
        Two-sided error over all looks.

    Returns
    -------
    ndarray

    Raises
    ------
    InputError
        Fractions do not rise, or are outside 0 to 1.

    Notes
    -----
    Armitage, McPherson and Rowe's recursion, by Simpson's rule on the region in which one goes on.

    References
    ----------
    Lan, K. K. G., & DeMets, D. L. (1983). Discrete sequential boundaries for clinical trials.
    *Biometrika, 70*, 659-663.

    Examples
    --------
    >>> spending_bounds([.2, .4, .6, .8, 1.0]).round(3).tolist()
    [4.877, 3.357, 2.68, 2.29, 2.031]
    """
    t = np.asarray(fractions, dtype=float)
    if not (t.size and np.all(np.diff(t) > 0) and t[0] > 0 and t[-1] <= 1):
        raise InputError("spending_bounds: fractions must rise, from above 0 to at most 1.")
    out: list[float] = []
    points, weights, before, last = np.zeros(1), np.ones(1), 0.0, 0.0
    for ti in t.tolist():
        now = alpha_spent(ti, alpha)
        wanted = math.log((now - last) / 2)
        sd = math.sqrt(ti - before)

        excess = partial(_excess, points=points, weights=weights, sd=sd, wanted=wanted)
        root = math.sqrt(ti)
        c = float(scipy.optimize.brentq(excess, 0.2 * root, 14 * root, xtol=1e-12))
        out.append(c / root)
        y = np.linspace(-c, c, _NODES)
        simpson = np.ones(_NODES)
        simpson[1:-1:2], simpson[2:-1:2] = 4, 2
        gaps = (y[:, None] - points) / sd
        density = np.exp(-0.5 * gaps**2) @ weights / (sd * math.sqrt(2 * math.pi))
        points, weights = y, simpson * (y[1] - y[0]) / 3 * density
        before, last = ti, now
    return np.array(out)
