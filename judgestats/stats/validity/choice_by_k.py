"""How often the best scored of several answers is the right one, by number of scores averaged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Sample
from judgestats.stats.validity.error_parts import AccuracyByK, accuracy_of_credits
from judgestats.stats.validity.inputs import score_values

MOST_SUBSETS = 100


def choice_accuracy_by_k(
    scores: ArrayLike,
    correct: ArrayLike,
    question: ArrayLike,
    *,
    ks: Sequence[int] | None = None,
    margin: float = 0.01,
    level: float = 0.95,
    seed: int = 0,
) -> AccuracyByK:
    r"""Accuracy of taking the answer with the highest mean of k scores.

    Parameters
    ----------
    scores : array-like, shape (N, repeats)
        Of every answer, NaN where unread.
    correct : array-like of bool, shape (N,)
        Whether an answer is the right one of its question.
    question : array-like, shape (N,)
    ks : sequence of int, optional
        Numbers of scores, at most the repeats; 1, 2, 3, 5 and the most otherwise.
    margin : float
        Loss of accuracy that is accepted for fewer scores.
    level : float
    seed : int
        Of the subsets, where there are more than 100.

    Returns
    -------
    AccuracyByK

    Raises
    ------
    InputError
        If shapes differ, a k exceeds the repeats, or no question has one right answer among several
        whose scores were all read.

    Notes
    -----
    Mean over subsets of k replications, the same for all answers of a question; answers that share
    the highest mean share the credit, as a draw among them would.

    Examples
    --------
    >>> scores = [[6, 5, 7], [5, 6, 4], [3, 9, 8], [4, 4, 4]]
    >>> out = choice_accuracy_by_k(scores, [1, 0, 1, 0], ["p", "p", "q", "q"])
    >>> {k: round(e.estimate, 3) for k, e in out.accuracy.items()}
    {1: 0.667, 2: 0.917, 3: 1.0}
    """
    where = "choice_accuracy_by_k"
    x = score_values(scores, where=where, name="scores")
    right = np.asarray(correct, dtype=bool)
    if x.ndim != 2 or right.shape != x.shape[:1]:
        raise InputError(
            f"{where}: scores must have one row for each answer, got shapes {x.shape} and "
            f"{right.shape}."
        )
    codes = cluster_codes(question, right.size, where=where)
    most = x.shape[1]
    chosen = sorted({*(ks or (k for k in (1, 2, 3, 5) if k < most)), most})
    if chosen[0] < 1 or chosen[-1] > most:
        raise InputError(f"{where}: ks must lie within 1 to {most} scores, got {chosen}.")
    whole = np.bincount(codes, np.isnan(x).any(axis=1)) == 0
    usable = whole & (np.bincount(codes, right) == 1) & (np.bincount(codes) > 1)
    kept = usable[codes]
    if not kept.any():
        raise InputError(
            f"{where}: no question has exactly one right answer among several with all {most} "
            "scores read."
        )
    order = np.argsort(codes[kept], kind="stable")
    x, right, codes = x[kept][order], right[kept][order], codes[kept][order]
    start = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    sizes = np.diff(np.r_[start, codes.size])
    by_k = {k: _credit(x, right, start, sizes, k, seed) for k in chosen}
    n_out = int(np.sum(~usable))
    sample = Sample(
        n_items=start.size,
        n_replications=most,
        excluded={"not one right answer, or a score not read": n_out},
    )
    return accuracy_of_credits(by_k, np.arange(start.size), sample, margin=margin, level=level)


def _credit(
    x: Floats,
    right: Bools,
    start: Ints,
    sizes: Ints,
    k: int,
    seed: int,
) -> Floats:
    """Credit of each question, averaged over subsets of k scores."""
    sums = np.round(x @ subset_weights(x.shape[1], k, seed), 9)
    top = np.repeat(np.maximum.reduceat(sums, start, axis=0), sizes, axis=0)
    at_top = sums == top
    shared = np.add.reduceat(at_top.astype(float), start, axis=0)
    credit = np.add.reduceat((at_top & right[:, None]).astype(float), start, axis=0) / shared
    return np.asarray(credit.mean(axis=1))


def subset_weights(most: int, k: int, seed: int) -> Floats:
    """A column for each subset of k of `most`: all, or 100 drawn ones.

    Examples
    --------
    >>> subset_weights(3, 2, seed=0).T.tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    if comb(most, k) <= MOST_SUBSETS:
        subsets = list(combinations(range(most), k))
    else:
        rng = np.random.default_rng(seed)
        subsets = [tuple(rng.permutation(most)[:k]) for _ in range(MOST_SUBSETS)]
    weights = np.zeros((most, len(subsets)))
    for column, subset in enumerate(subsets):
        weights[list(subset), column] = 1.0
    return weights
