"""Certificates of an error rate above a confidence: exact tests in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Bools, Floats, Ints
from judgestats.stats.validity.cutoffs import clustering, error_limit, least_trials

FEW_DISTINCT, FEW_UNLABELLED = 25, 200
STARTS, SHARES = (2, 4, 8), (0.5, 0.25, 0.25)
"""Multiples of the least number of labels at which a test starts, and the level of each."""
FIXED = (0.99, 0.98, 0.95, 0.90, 0.85, 0.80, 0.75, 0.70, 0.60, 0.50)
"""Candidates where few items are unlabelled."""


def candidates(unlabelled: ArrayLike, labelled_values: ArrayLike = ()) -> Floats:
    """Thresholds to test, the strictest first, from confidences of unlabelled items only.

    Parameters
    ----------
    unlabelled : array-like
        Confidences of items without a label.
    labelled_values : array-like
        Possible confidences where they are few and known beforehand (votes of k): all of them are
        candidates.

    Returns
    -------
    ndarray
        The confidences of rank ceil(i M / 20), i = 1..20. All values, where at most 25 differ.
        Fixed values, where fewer than 200 items are unlabelled.

    Examples
    --------
    >>> candidates(np.arange(400) / 400).round(3).tolist()[:3]
    [0.95, 0.9, 0.85]
    """
    own = np.asarray(unlabelled, float)
    own = np.sort(own[~np.isnan(own)])[::-1]
    known = np.unique(np.asarray(labelled_values, float))
    if known.size:
        return known[::-1]
    if own.size < FEW_UNLABELLED:
        return np.array(FIXED)
    distinct = np.unique(own)
    if distinct.size <= FEW_DISTINCT:
        return distinct[::-1]
    ranks = [math.ceil(i * own.size / 20) - 1 for i in range(1, 21)]
    return np.unique(own[ranks])[::-1]


def error_p(errors: ArrayLike, n: ArrayLike, error: float) -> Floats:
    """Exact p of the hypothesis that the error rate exceeds `error`, for real-valued counts.

    Parameters
    ----------
    errors, n : array-like of float
        Divided by a design effect where items are clustered.
    error : float

    Returns
    -------
    ndarray
        P(Bin(n, error) <= errors) = 1 - BetaCDF(error; errors + 1, n - errors).

    Examples
    --------
    >>> float(error_p(4, 200, .05).round(4))
    0.0264
    """
    x, size = np.broadcast_arrays(np.asarray(errors, float), np.asarray(n, float))
    tail = special.betaincc(x + 1, np.maximum(size - x, 1e-12), error)
    return np.where(x >= size, 1.0, tail)


@dataclass(frozen=True)
class Candidate:
    """One tested threshold: labelled items at or above it, errors, p, and the level it had."""

    threshold: float
    m: int
    x: int
    p: float
    level: float


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What a fallback test certifies.

    Attributes
    ----------
    error, delta : float
    candidates : tuple of Candidate
        The strictest first.
    place : int
        Of the last candidate that passed; -1: none did.
    least : int
        Fewest labelled items that can pass.
    """

    error: float
    delta: float
    candidates: tuple[Candidate, ...]
    place: int
    least: int

    @property
    def passed(self) -> Candidate | None:
        """The least strict threshold that is certified."""
        return self.candidates[self.place] if self.place >= 0 else None

    @property
    def threshold(self) -> float:
        """Infinite if nothing is certified."""
        return self.passed.threshold if self.passed else math.inf

    @property
    def upper(self) -> float:
        """Upper limit of the error rate there, as description."""
        if self.passed is None:
            return math.nan
        return float(error_limit(self.passed.x, self.passed.m, self.delta))


def fallback_test(
    m: Sequence[float], p: Sequence[float], *, least: int, delta: float
) -> list[float]:
    """Levels of nested sets in a fallback test with up to three starts.

    Parameters
    ----------
    m : sequence of float
        Effective labelled items of each set, the strictest set first.
    p : sequence of float
    least : int
        Fewest items that can pass at level `delta`.
    delta : float
        Level of the whole.

    Returns
    -------
    list of float
        Level of each set; 0: it is not tested. A set passes if its p does not exceed its level.

    Notes
    -----
    The first sets with 2, 4 and 8 times `least` items bring a half, a quarter and a quarter of the
    level. With fewer than 8 times as many in all, one start brings it whole. A set that passes
    hands its level on; after a failure it is lost.

    References
    ----------
    Wiens, B. L., & Dmitrienko, A. (2005). The fallback procedure for evaluating a single family of
    hypotheses. *Journal of Biopharmaceutical Statistics, 15*, 929-942. Angelopoulos, A. N., et al.
    (2021). Learn then test. arXiv:2110.01052.

    Examples
    --------
    >>> fallback_test([50, 130, 300, 500], [1, .01, .2, .005], least=59, delta=.05)
    [0.0, 0.025, 0.037500000000000006, 0.0125]
    """
    top = max(m, default=0)
    if top >= STARTS[-1] * least:
        pending = [(k * least, share * delta) for k, share in zip(STARTS, SHARES, strict=True)]
    else:
        pending = [((STARTS[0] if top >= STARTS[0] * least else 1) * least, delta)]
    levels, carried = [], 0.0
    for size, own in zip(m, p, strict=True):
        level = carried + sum(share for start, share in pending if size >= start)
        pending = [one for one in pending if size < one[0]]
        levels.append(level)
        if level > 0:
            carried = level if own <= level else 0.0
    return levels


def certify(
    confidence: Floats,
    wrong: Bools,
    thresholds: Floats,
    *,
    error: float,
    delta: float,
    codes: Ints | None = None,
    correlation: float | None = None,
) -> Certificate:
    """Largest set of confident items whose error rate is established to be at most `error`.

    Parameters
    ----------
    confidence : ndarray, shape (n,)
        Of labelled items; NaN: never decided.
    wrong : ndarray of bool, shape (n,)
    thresholds : ndarray
        Candidates, the strictest first, chosen without labels: see `candidates`.
    error : float
        Largest error rate allowed.
    delta : float
    codes : ndarray of int, optional
        Clusters: counts are divided by the design effect of each set.
    correlation : float, optional
        ICC of the errors; by default of all items given.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> c = np.repeat([.9, .6], 200)
    >>> found = certify(c, np.arange(400) >= 250, np.array([.9, .6]), error=.05, delta=.05)
    >>> found.threshold, found.passed.m
    (0.9, 200)
    """
    usable = ~np.isnan(confidence)
    icc = correlation
    if icc is None:
        icc = clustering(wrong[usable].astype(float), codes[usable]).icc if codes is not None else 0
    counts = []
    for threshold in thresholds.tolist():
        held = usable & (confidence >= threshold)
        m, x, effect = int(held.sum()), int((wrong & held).sum()), 1.0
        if codes is not None and m:
            sizes = np.bincount(np.unique(codes[held], return_inverse=True)[1])
            effect = 1 + (float((sizes**2).sum() / m) - 1) * icc
        counts.append((threshold, m, x, m / effect, float(error_p(x / effect, m / effect, error))))
    least = least_trials(error, delta)
    levels = fallback_test([c[3] for c in counts], [c[4] for c in counts], least=least, delta=delta)
    tested = tuple(
        Candidate(t, m, x, p, level) for (t, m, x, _, p), level in zip(counts, levels, strict=True)
    )
    passed = [i for i, one in enumerate(tested) if one.level > 0 and one.p <= one.level]
    return Certificate(
        error=error, delta=delta, candidates=tested, place=passed[-1] if passed else -1, least=least
    )
