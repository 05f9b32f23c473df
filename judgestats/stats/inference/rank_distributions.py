"""Exact null distributions of rank statistics, given the ties that are there.

Ranks are multiples of one half, so twice the ranks are whole numbers and every distribution is a
sum of whole-number scores: the shift algorithm of Streitberg and Roehmel (1986) adds one score at a
time. Without ties the results are the textbook distributions.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError

MAX_WORK = 400_000_000
"""Elementary steps beyond which an exact distribution is refused (a few seconds)."""


def _refuse_if_heavy(where: str, work: float) -> None:
    if work > MAX_WORK:
        raise InputError(
            f"{where}: the exact distribution is feasible up to about {MAX_WORK:.0e} steps, this "
            f"case needs {work:.0e}. Use exact=False, or a permutation p-value."
        )


def signed_rank_null(scores: Ints) -> Floats:
    """Null distribution of the sum of scores with random signs' positive part.

    Parameters
    ----------
    scores : ndarray of int, shape (n,)
        Non-negative whole scores (twice the ranks of the absolute differences).

    Returns
    -------
    ndarray, shape (sum(scores) + 1,)
        Probability of each sum of the positively signed scores.

    Raises
    ------
    InputError
        If the distribution is too large to compute.

    Examples
    --------
    >>> (8 * signed_rank_null(np.array([1, 2, 3]))).tolist()
    [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]
    """
    total = int(scores.sum())
    _refuse_if_heavy("signed_rank_null", float(total) * scores.size)
    p = np.zeros(total + 1)
    p[0] = 1.0
    top = 0
    for score in np.sort(scores):
        top += int(score)
        shifted = np.zeros(top + 1)
        shifted[score:] = p[: top - score + 1]
        p[: top + 1] = 0.5 * (p[: top + 1] + shifted)
    return p


def rank_sum_null(scores: Ints, size: int) -> Floats:
    """Null distribution of the sum of `size` of the scores drawn without replacement.

    Parameters
    ----------
    scores : ndarray of int, shape (n,)
        Non-negative whole scores (twice the ranks in the pooled sample).
    size : int
        Size of the first sample.

    Returns
    -------
    ndarray
        Probability of each sum.

    Raises
    ------
    InputError
        If the distribution is too large to compute.

    Examples
    --------
    >>> (6 * rank_sum_null(np.array([1, 2, 3, 4]), 2)).round(9).tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0]
    """
    ordered = np.sort(scores)[::-1]
    top = int(ordered[:size].sum())
    _refuse_if_heavy("rank_sum_null", float(top) * size * scores.size)
    n = scores.size
    # State: having looked at the first t scores, the probability of j drawn with sum s, where
    # each of the remaining is drawn with the hypergeometric chance: no overflow for any n.
    p = np.zeros((size + 1, top + 1))
    p[0, 0] = 1.0
    for t, score in enumerate(ordered):
        left = n - t
        drawn = np.arange(size + 1)
        chance = np.clip((size - drawn) / left, 0.0, 1.0)[:, None]
        moved = p * chance
        p = p * (1.0 - chance)
        if score <= top:
            p[1:, score:] += moved[:-1, : top + 1 - score]
    return np.asarray(p[size], dtype=float)


def friedman_null(ranks2: Ints, *, max_states: int = 300_000) -> tuple[Ints, Floats]:
    """Null distribution of the sum of squared column sums, rows permuted independently.

    Parameters
    ----------
    ranks2 : ndarray of int, shape (N, k)
        Twice the within-block ranks (rows of clusters summed).
    max_states : int
        Refuse when more distinct (sorted) column-sum vectors arise.

    Returns
    -------
    values : ndarray of int
        Possible values of sum_j S_j^2, ascending.
    probabilities : ndarray

    Raises
    ------
    InputError
        If there are too many states or k > 7.

    Notes
    -----
    After a uniformly permuted row is added, the vector of column sums is exchangeable, so it is
    enough to keep sorted vectors.

    Examples
    --------
    >>> values, p = friedman_null(np.array([[2, 4], [2, 4]]))
    >>> values.tolist(), p.tolist()
    ([72, 80], [0.5, 0.5])
    """
    k = ranks2.shape[1]
    if k > 7:
        raise InputError(
            f"friedman_null: exact enumeration is feasible for at most 7 conditions, got {k}. "
            "Use a permutation p-value."
        )
    # No column sum exceeds the sum of the rows' largest ranks: a vector packs into one integer.
    base = int(ranks2.max(axis=1).sum()) + 1
    if base**k > 2**62:
        raise InputError(
            f"friedman_null: {ranks2.shape[0]} blocks of {k} conditions are too many to "
            "enumerate. Use a permutation p-value."
        )
    weights_of = base ** np.arange(k, dtype=np.int64)
    states = np.sort(ranks2[:1], axis=1)
    chances = np.array([1.0])
    tables: dict[tuple[int, ...], Ints] = {}
    for row in ranks2[1:]:
        key = tuple(sorted(row.tolist()))
        if key not in tables:
            # Distinct arrangements are equally likely, each standing for the same number.
            tables[key] = np.array(sorted(set(itertools.permutations(key))), dtype=np.int64)
        arrangements = tables[key]
        _refuse_if_heavy("friedman_null", 5.0 * states.shape[0] * arrangements.shape[0] * k)
        grown = (states[:, None, :] + arrangements[None]).reshape(-1, k)
        grown.sort(axis=1)
        packed, index = np.unique(grown @ weights_of, return_inverse=True)
        spread = np.repeat(chances / arrangements.shape[0], arrangements.shape[0])
        chances = np.bincount(index.reshape(-1), weights=spread)
        states = (packed[:, None] // weights_of) % base
        if states.shape[0] > max_states:
            raise InputError(
                f"friedman_null: more than {max_states} arrangements to enumerate. Use a "
                "permutation p-value."
            )
    squares, index = np.unique((states**2).sum(axis=1), return_inverse=True)
    totals: Floats = np.bincount(index.reshape(-1), weights=chances).astype(np.float64)
    return squares.astype(np.int64), totals


def _row_product_null(row: Ints) -> Floats:
    """Distribution of sum_j j * r_pi(j) over all arrangements, built up subset by subset."""
    k = row.size
    top = int(np.sum(np.arange(1, k + 1) * np.sort(row)))
    _refuse_if_heavy("page_null", float(2**k) * k * top)
    layers: dict[int, Floats] = {0: np.zeros(top + 1)}
    layers[0][0] = 1.0
    for j in range(1, k + 1):
        following: dict[int, Floats] = {}
        for subset, p in layers.items():
            for i in range(k):
                bit = 1 << i
                if subset & bit:
                    continue
                shift = j * int(row[i])
                target = following.setdefault(subset | bit, np.zeros(top + 1))
                target[shift:] += p[: top + 1 - shift]
        layers = following
    return np.asarray(layers[(1 << k) - 1] / math.factorial(k), dtype=float)


def page_null(ranks2: Ints) -> Floats:
    """Null distribution of twice Page's L, rows permuted independently, given the ties.

    Parameters
    ----------
    ranks2 : ndarray of int, shape (N, k)
        Twice the within-block ranks.

    Returns
    -------
    ndarray
        Probability of each value of sum_i sum_j j * ranks2[i, j].

    Raises
    ------
    InputError
        If it is too large to compute.

    Examples
    --------
    >>> p = page_null(np.array([[2, 4]]))
    >>> {i: float(v) for i, v in enumerate(p) if v}
    {8: 0.5, 10: 0.5}
    """
    k = ranks2.shape[1]
    kinds, counts = np.unique(np.sort(ranks2, axis=1), axis=0, return_counts=True)
    length = int(np.sum(np.arange(1, k + 1) * np.sort(ranks2, axis=1))) + 1
    _refuse_if_heavy("page_null", float(length) * length)
    out = np.array([1.0])
    for row, count in zip(kinds, counts, strict=True):
        single = _row_product_null(row)
        for _ in range(int(count)):
            out = np.convolve(out, single)
    return out


def rank_difference_null(k: int, n_blocks: int) -> Floats:
    """Null distribution of the difference of two rank sums without ties (Eisinga et al., 2017).

    Parameters
    ----------
    k : int
        Conditions.
    n_blocks : int

    Returns
    -------
    ndarray, shape (2 * n_blocks * (k - 1) + 1,)
        Probability of each difference from -n_blocks (k - 1) up.

    Raises
    ------
    InputError
        If it is too large to compute.

    Examples
    --------
    >>> rank_difference_null(2, 2).tolist()
    [0.25, 0.0, 0.5, 0.0, 0.25]
    """
    reach = k - 1
    _refuse_if_heavy("rank_difference_null", float(n_blocks * reach) ** 2 * reach)
    offset = np.arange(-reach, reach + 1)
    single = (k - np.abs(offset)).astype(float)
    single[reach] = 0.0
    single /= k * (k - 1)
    out = np.array([1.0])
    for _ in range(n_blocks):
        out = np.convolve(out, single)
    return out
