r"""The least value that a coefficient of verdicts can take on data of a given shape.

An interval that reaches below it would name values that no data of that shape can show. All bounds
rest on one inequality: with :math:`d_i = 1 - \sum_k p_{ik}^2` of an item's shares and :math:`D`
that of their weighted mean, :math:`D \ge \sum_i w_i d_i` (concavity).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["least_against_even_chance", "least_fleiss_kappa", "least_vote_share"]

FEWEST_FOR_A_PAIR = 2


def least_vote_share(per_item: ArrayLike, *, estimator: str) -> float:
    r"""Least vote-share reliability of one judgment: -1 / (R - 1) where all items have R.

    Parameters
    ----------
    per_item : array-like, shape (n_items,)
        Verdicts read of each item.
    estimator : {"anova", "kappa"}

    Returns
    -------
    float
        NaN where no two verdicts of one item, or of two items, can be compared.

    Notes
    -----
    With pair weights :math:`D_w = \sum r_i^2 d_i / \sum r_i (r_i - 1)`; for ``kappa``
    :math:`D_b \ge \sum r_i d_i / n`, for ``anova``
    :math:`D_b \ge \sum r_i (n - r_i) d_i / \sum r_i (n - r_i)`. The ratio of two such sums is at
    most the largest ratio of their weights.

    Examples
    --------
    >>> [round(least_vote_share([4, 4, 4], estimator=e), 9) for e in ("anova", "kappa")]
    [-0.333333333, -0.333333333]
    """
    r = np.asarray(per_item, dtype=float)
    r = r[r >= 1]
    n, pairs = float(r.sum()), float(np.sum(r * (r - 1)))
    if pairs == 0 or r.size < 2:
        return math.nan
    if estimator == "kappa":
        return float(1 - n * r.max() / pairs)
    return float(1 - np.max(r / (n - r)) * np.sum(r * (n - r)) / pairs)


def least_fleiss_kappa(per_item: ArrayLike) -> float:
    """Least Fleiss' kappa, unweighted: -1 / (R - 1) where all items have R.

    Parameters
    ----------
    per_item : array-like, shape (n_items,)
        Verdicts read of each item; items weigh equally, those with one verdict count for the
        shares alone.

    Returns
    -------
    float
        NaN where no item has two verdicts.

    Examples
    --------
    >>> least_fleiss_kappa([3, 3, 3]), least_fleiss_kappa([3, 2])
    (-0.5, -1.0)
    """
    r = np.asarray(per_item, dtype=float)
    once, twice = r[r >= 1], r[r >= FEWEST_FOR_A_PAIR]
    if not twice.size:
        return math.nan
    fewest = float(twice.min())
    return float(1 - once.size / twice.size * fewest / (fewest - 1))


def least_against_even_chance(per_item: ArrayLike, *, n_categories: int) -> float:
    """Least AC1, or Brennan-Prediger coefficient, unweighted: their chance term is 1 / q at most.

    Parameters
    ----------
    per_item : array-like, shape (n_items,)
        Verdicts read of each item.
    n_categories : int
        How many categories there are, q.

    Returns
    -------
    float
        NaN where no item has two verdicts, or there is one category.

    Notes
    -----
    An item's r verdicts differ most where the categories share them as evenly as can be.

    Examples
    --------
    >>> [round(least_against_even_chance([r, r], n_categories=2), 9) for r in (2, 3)]
    [-1.0, -0.333333333]
    """
    r = np.asarray(per_item, dtype=float)
    r = r[r >= FEWEST_FOR_A_PAIR]
    q = n_categories
    if not r.size or q < 2:
        return math.nan
    each, over = np.divmod(r, q)
    agreeing = over * (each + 1) * each + (q - over) * each * (each - 1)
    most = float(np.max(1 - agreeing / (r * (r - 1))))
    return float(1 - most / (1 - 1 / q))
