r"""The least value that a coefficient of verdicts can take on data of a given shape.

An interval that reaches below it would name values that no data of that shape can show. All bounds
rest on one inequality: with :math:`d_i = 1 - \sum_k p_{ik}^2` of an item's shares and :math:`D`
that of their weighted mean, :math:`D \ge \sum_i w_i d_i` (concavity). It holds for every
disagreement that is a squared distance of some kind, so for linear, quadratic and ordinal weights
and for Krippendorff's four metrics as well.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

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


def least_conger_kappa(judged: ArrayLike) -> float:
    r"""Least Conger's kappa: -1 / (r - 1) where all r judges judged all items; Cohen's: -1.

    Parameters
    ----------
    judged : array-like of bool, shape (n_items, n_judges)
        Which judge gave a verdict on which item.

    Returns
    -------
    float
        NaN where no item has two verdicts.

    Notes
    -----
    Judges' own shares differ, which makes chance agreement smaller than that of their mean shares:
    :math:`1 - p_e \ge D`. With :math:`n_g` the items of judge g, item i enters D with the weight
    :math:`w_i = \sum_g 1 / (r n_g)`, and a pair of its verdicts with
    :math:`1 / (r^2 n_g n_h w_i)`; in the disagreement that is observed each has
    :math:`1 / (n_2 r_i (r_i - 1))`, over the :math:`n_2` items with two verdicts. The ratio of the
    sums is at most the largest ratio of these weights. With weights the same, see above.

    Examples
    --------
    >>> least_conger_kappa([[True, True, True]] * 4), least_conger_kappa([[True, True]] * 4)
    (-0.5, -1.0)
    """
    given = np.asarray(judged, dtype=bool)
    given = given[:, given.any(axis=0)]
    per_item, per_judge = given.sum(axis=1), given.sum(axis=0).astype(float)
    pairs = per_item >= FEWEST_FOR_A_PAIR
    if not pairs.any():
        return math.nan
    rows, r = given[pairs], per_item[pairs].astype(float)
    two_most = np.sort(np.where(rows, per_judge, 0.0), axis=1)[:, -2:].prod(axis=1)
    ratio = len(per_judge) * (rows @ (1 / per_judge)) * two_most / (pairs.sum() * r * (r - 1))
    return float(1 - ratio.max())


def least_krippendorff_alpha(per_item: ArrayLike) -> float:
    """Least Krippendorff's alpha: -1 / (R - 1), R the fewest verdicts of an item that has two.

    Parameters
    ----------
    per_item : array-like, shape (n_items,)
        Verdicts read of each item.

    Returns
    -------
    float
        NaN where no item has two verdicts.

    Notes
    -----
    That is the end for many items; n verdicts in all reach 1 / n of the way less far.

    Examples
    --------
    >>> least_krippendorff_alpha([3, 3, 1])
    -0.5
    """
    r = np.asarray(per_item, dtype=float)
    r = r[r >= FEWEST_FOR_A_PAIR]
    return float(-1 / (r.min() - 1)) if r.size else math.nan
