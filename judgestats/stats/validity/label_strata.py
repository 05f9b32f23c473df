"""Strata of judged items for labelling: bounds on what they save, and the stratified rate."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from judgestats.arrays import Floats, Ints

SMALLEST = 0.05
"""Share of the items below which a stratum is merged with its neighbour."""


def label_strata(verdicts: Floats, confidence: Floats, parts: int = 3) -> Ints:
    """Strata: the judge's verdict times parts of its confidence inside the verdict, by rank.

    Parameters
    ----------
    verdicts : ndarray, shape (N,)
        1 pass, 0 fail; NaN (unparsed) is a separate stratum.
    confidence : ndarray, shape (N,)
    parts : int

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> label_strata(np.repeat([0.0, 1.0], 30), np.tile(np.arange(30.0), 2)).tolist()[::10]
    [0, 1, 2, 3, 4, 5]
    """
    out = np.zeros(verdicts.size, dtype=np.int64)
    codes = np.where(np.isnan(verdicts), 2.0, verdicts)
    first = 0
    for value in np.unique(codes):
        here = np.flatnonzero(codes == value)
        own = np.nan_to_num(confidence[here], nan=-math.inf)
        group = np.zeros(here.size, dtype=np.int64)
        if np.unique(own).size > 1 and value != 2:
            cuts = np.unique(np.quantile(own, np.arange(1, parts) / parts))
            group = np.searchsorted(cuts, own, "right")
        group = np.unique(group, return_inverse=True)[1]
        sizes = np.bincount(group)
        while sizes.size > 1 and sizes.min() < SMALLEST * verdicts.size:
            j = int(np.argmin(sizes))
            group[group == j] = j - 1 if j else 1
            group = np.unique(group, return_inverse=True)[1]
            sizes = np.bincount(group)
        out[here] = first + group
        first += int(group.max()) + 1
    return out


def label_bounds(shares: Floats, rates: Floats) -> tuple[float, float]:
    """Labels needed as a share of human raters only: random draws with strata, and the best
    allocation.

    Parameters
    ----------
    shares : ndarray
        Of the items in each stratum.
    rates : ndarray
        Human pass rate in each.

    Returns
    -------
    random, best : float
        1 - R squared, and (sum W s) squared over theta (1 - theta): no method that uses this judge
        alone gets below it.

    Examples
    --------
    >>> [round(v, 2) for v in label_bounds(np.array([.5, .5]), np.array([.1, .9]))]
    [0.36, 0.36]
    """
    theta = float(np.sum(shares * rates))
    whole = theta * (1 - theta)
    if whole <= 0:
        return math.nan, math.nan
    inside = rates * (1 - rates)
    return (
        float(np.sum(shares * inside)) / whole, float(np.sum(shares * np.sqrt(inside))) ** 2 / whole
    )  # fmt: skip


def stratified_rate(
    sizes: Ints, labels: Ints, passes: Ints, level: float = 0.95
) -> tuple[float, float, float]:
    """Stratified mean of labels over all items, with limits.

    Parameters
    ----------
    sizes, labels, passes : ndarray of int
        Items, labels and labelled passes of each stratum.
    level : float

    Returns
    -------
    estimate, low, high : float
        NaN where a stratum has no label. Variances take one pass and one fail more; t with
        Satterthwaite's degrees of freedom, and the finite population.

    Examples
    --------
    >>> made = stratified_rate(np.array([50, 50]), np.array([10, 10]), np.array([2, 9]))
    >>> [round(v, 2) for v in made]
    [0.55, 0.38, 0.72]
    """
    if np.any(labels == 0):
        return math.nan, math.nan, math.nan
    weights = sizes / sizes.sum()
    smooth = (passes + 1) / (labels + 2)
    spread = np.where(labels < sizes, smooth * (1 - smooth), 0.0)
    parts = weights**2 * spread / labels * np.maximum(0.0, 1 - labels / sizes)
    variance = float(parts.sum())
    below = float((parts**2 / np.maximum(labels - 1, 1)).sum())
    df = variance**2 / below if below > 0 else 1e9
    half = float(special.stdtrit(max(df, 2.0), (1 + level) / 2)) * math.sqrt(variance)
    estimate = float(np.sum(weights * passes / labels))
    return estimate, estimate - half, estimate + half
