"""Polychoric correlations of graded scores in two steps, all pairs of columns at once."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from judgestats.arrays import Bools, Floats
from judgestats.errors import InputError
from judgestats.stats.reliability.bivariate_normal import bivariate_normal_cdf, bivariate_normal_pdf

EDGE = 0.9999  # a correlation whose likelihood rises to +-1 is stopped here, and noted


@dataclasses.dataclass(frozen=True, kw_only=True)
class Polychoric:
    """Polychoric correlations with their thresholds.

    Attributes
    ----------
    rho : array of shape (p, p)
        Correlations.
    thresholds : tuple of arrays
        Inner thresholds of each column.
    categories : tuple of arrays
        The grades of each column, in order.
    avar : array of shape (p, p)
        N times the asymptotic variance of each correlation (thresholds' error included), zero on
        the diagonal: the reciprocal weights of diagonally weighted least squares.
    at_edge : tuple of (int, int)
        Pairs whose likelihood has its maximum at +-1 (an empty cell decides it).
    n_items : int
        Rows used.
    """

    rho: Floats
    thresholds: tuple[Floats, ...]
    categories: tuple[Floats, ...]
    avar: Floats
    at_edge: tuple[tuple[int, int], ...]
    n_items: int


def polychoric(scores: ArrayLike, *, correction: float = 0.0) -> Polychoric:
    r"""Two-step polychoric correlations: thresholds from the margins, then each rho by ML.

    Parameters
    ----------
    scores : array-like of shape (N, p)
        Graded scores without missing values; the grades of a column are its distinct values.
    correction : float
        Added to empty cells (psych's default is .5); 0 changes nothing.

    Returns
    -------
    Polychoric

    Raises
    ------
    InputError
        If `scores` is not a complete finite table or a column holds one grade only.

    Notes
    -----
    Newton's method on the exact score, kept inside a shrinking bracket, to 1e-13 in rho; psych,
    polycor and lavaan stop near 1e-5. Cell probabilities come from Owen's T function. `avar`
    follows Muthen (1984) with casewise scores, as lavaan.

    References
    ----------
    Olsson (1979), Psychometrika 44, 443-460. Muthen (1984), Psychometrika 49, 115-132.

    Examples
    --------
    >>> X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 10, 10, 40], axis=0)
    >>> round(float(polychoric(X).rho[0, 1]), 6)  # sin(pi / 2 * .6)
    0.809017
    """
    data = np.asarray(scores, dtype=float)
    if data.ndim != 2 or not np.isfinite(data).all() or data.shape[0] < 2 or not data.size:
        msg = (
            f"polychoric: scores must be a complete table of at least two rows, got shape "
            f"{data.shape}. Drop rows with missing scores first."
        )
        raise InputError(msg)
    codes = np.empty(data.shape, dtype=np.intp)
    categories = []
    for j in range(data.shape[1]):
        grades, codes[:, j] = np.unique(data[:, j], return_inverse=True)
        if grades.size < 2:
            msg = (
                f"polychoric: column {j + 1} holds one grade only ({grades[0]:g}); a correlation "
                "needs two. Leave the column out."
            )
            raise InputError(msg)
        categories.append(grades)
    n, p = data.shape
    width = max(g.size for g in categories)
    limits = np.full((p, width + 1), np.inf)
    limits[:, 0] = -np.inf
    for j, grades in enumerate(categories):
        share = np.cumsum(np.bincount(codes[:, j], minlength=grades.size))[:-1] / n
        limits[j, 1 : grades.size] = ndtri(share)
    first, second = np.triu_indices(p, 1)
    flat = (codes[:, first] * width + codes[:, second]).T
    offset = np.arange(first.size)[:, None] * width * width
    counts = np.bincount((flat + offset).ravel(), minlength=first.size * width * width)
    table = counts.reshape(first.size, width, width).astype(float)
    sizes = np.array([g.size for g in categories])
    real = (np.arange(width)[None, :, None] < sizes[first][:, None, None]) & (
        np.arange(width)[None, None, :] < sizes[second][:, None, None]
    )
    if correction:
        table = np.where(real & (table == 0), correction, table)
    h, k = limits[first], limits[second]
    maximum, edge = _maximise(table, h, k)
    rho = np.eye(p)
    rho[first, second] = rho[second, first] = maximum
    avar = np.zeros((p, p))
    avar[first, second] = avar[second, first] = _asymptotic_variance(table, h, k, maximum)
    return Polychoric(
        rho=rho,
        thresholds=tuple(limits[j, 1 : sizes[j]] for j in range(p)),
        categories=tuple(categories),
        avar=avar,
        at_edge=tuple((int(i), int(j)) for i, j in zip(first[edge], second[edge], strict=True)),
        n_items=n,
    )


def _cells(corner: Floats) -> Floats:
    """Cell values from values at the corners of a grid: a double difference."""
    return np.asarray(np.diff(np.diff(corner, axis=1), axis=2))


def _probabilities(h: Floats, k: Floats, rho: Floats) -> tuple[Floats, Floats, Floats]:
    """Cell probabilities and their first two derivatives in rho."""
    a, b, r = h[:, :, None], k[:, None, :], rho[:, None, None]
    P = _cells(bivariate_normal_cdf(a, b, r))
    density = bivariate_normal_pdf(*np.broadcast_arrays(a, b, r))
    left = 1.0 - r**2
    fa, fb = np.where(np.isfinite(a), a, 0.0), np.where(np.isfinite(b), b, 0.0)
    slope = density * (r / left + (fa * fb * (1.0 + r**2) - r * (fa**2 + fb**2)) / left**2)
    return P, _cells(density), _cells(slope)


def _maximise(table: Floats, h: Floats, k: Floats) -> tuple[Floats, Bools]:
    """Root of the score in rho for each pair, by Newton inside a bracket."""
    size = table.shape[0]
    low, high = np.full(size, -EDGE), np.full(size, EDGE)
    rho = np.zeros(size)
    seen = table > 0
    for _ in range(100):
        P, D, D2 = _probabilities(h, k, rho)
        ratio = np.where(seen, D / np.maximum(P, 1e-300), 0.0)
        score = (table * ratio).sum((1, 2))
        bend = (table * np.where(seen, D2 / np.maximum(P, 1e-300) - ratio**2, 0.0)).sum((1, 2))
        low, high = np.where(score > 0, rho, low), np.where(score < 0, rho, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = rho - score / bend
        inside = (bend < 0) & (newton > low) & (newton < high)
        step = np.where(inside, newton, 0.5 * (low + high))
        moved = np.abs(step - rho)
        rho = np.where(score == 0, rho, step)
        if (np.where(score == 0, 0.0, moved) < 1e-14).all():
            break
    # with a deciding empty cell the likelihood rises towards +-1 and is flat long before it
    flat = -bend < 1e-6 * table.sum((1, 2))
    edge = flat | (np.abs(rho) > EDGE - 1e-6)
    return np.where(edge, np.sign(rho) * EDGE, rho), edge


def _asymptotic_variance(table: Floats, h: Floats, k: Floats, rho: Floats) -> Floats:
    """N times the variance of each two-step rho, from casewise scores summed over cells."""
    n = table.sum((1, 2))
    P, D, _ = _probabilities(h, k, rho)
    P = np.maximum(P, 1e-300)
    score = np.where(table > 0, D / P, 0.0)
    information = (table * score**2).sum((1, 2))
    influence = score.copy()
    for limits, other, axis in ((h, k, 1), (k, h, 2)):
        inner = limits[:, 1:-1]
        usable = np.isfinite(inner)
        t = np.where(usable, inner, 0.0)
        density = np.where(usable, np.exp(-0.5 * t**2) / np.sqrt(2.0 * np.pi), 0.0)
        # derivative of the cells in each inner threshold: the strip along it, gained by the grade
        # below and lost by the grade above
        root = np.sqrt(1.0 - rho**2)[:, None, None]
        z = (other[:, None, :] - rho[:, None, None] * t[:, :, None]) / root
        strip = np.diff(density[:, :, None] * ndtr(z), axis=2)  # (pairs, thresholds, other grades)
        margin = table.sum(3 - axis)
        share = np.maximum(margin / n[:, None], 1e-300)
        grades = margin.shape[1]
        below = np.eye(grades)[:-1]  # threshold c is the upper limit of grade c
        sign = below - np.eye(grades)[1:]  # (+1 for grade c, -1 for grade c + 1)
        uni = density[:, :, None] * sign[None] / share[:, None, :]  # univariate scores by grade
        A11 = np.einsum("ptg,psg,pg->pts", uni, uni, margin)
        pad = ~usable
        index = np.arange(inner.shape[1])
        A11[:, index, index] += np.where(pad, 1.0, 0.0)
        if axis == 1:
            by_cell = np.einsum("tg,ptb->ptgb", sign, strip) / P[:, None]
        else:
            by_cell = np.einsum("tg,pta->ptag", sign, strip) / P[:, None]
        A21 = np.einsum("ptab,pab,pab->pt", by_cell, score, table)
        weights = np.linalg.solve(A11, A21[:, :, None])[:, :, 0]
        by_grade = np.einsum("pt,ptg->pg", weights, uni)
        influence = influence - (by_grade[:, :, None] if axis == 1 else by_grade[:, None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = n * (table * influence**2).sum((1, 2)) / information**2
    return np.asarray(value)
