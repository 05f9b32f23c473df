"""Majority stability: would another panel of k judgments reach the same majority verdict?"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.inference.result import Estimate, Note
from judgestats.stats.inference.sum_statistics import (
    IntervalMethod,
    SumStatistic,
    estimate_from_sums,
)
from judgestats.stats.layouts.count_table import CountTable, count_table

StabilityEstimator = Literal["disjoint", "plug-in"]
TieRule = Literal["random", "own"]

EXACT_WORK = 500_000
"""Pairs of panels up to which one item's agreement is enumerated rather than drawn."""


def _panels(q: int, k: int) -> Ints:
    """All ways to split k judgments over q categories: shape (C(k + q - 1, q - 1), q)."""
    bars = np.array(list(itertools.combinations(range(k + q - 1), q - 1)), dtype=np.int64)
    bars = bars.reshape(-1, q - 1)
    n = bars.shape[0]
    ends = np.hstack([np.full((n, 1), -1), bars, np.full((n, 1), k + q - 1)])
    return np.asarray(np.diff(ends, axis=1) - 1)


def _majority(panels: NDArray[Any]) -> Floats:
    """Chance that each category is the panel's verdict: ties are shared evenly."""
    top = panels == panels.max(axis=-1, keepdims=True)
    return np.asarray(top / top.sum(axis=-1, keepdims=True), dtype=float)


def _same(first: NDArray[Any], second: NDArray[Any], ties: str) -> Floats:
    """Chance that two panels' verdicts agree, by the tie rule."""
    a, b = _majority(first), _majority(second)
    if ties == "random":
        return np.asarray(np.sum(a * b, axis=-1))
    alone = (a.max(axis=-1) == 1) & (b.max(axis=-1) == 1)
    both_tied = (a.max(axis=-1) < 1) & (b.max(axis=-1) < 1)
    same = np.sum(a * b, axis=-1)
    return np.asarray(np.where(alone, same, both_tied.astype(float)))


def _log_choose(n: NDArray[Any], k: NDArray[Any]) -> Floats:
    """Log binomial coefficient, -inf where k > n."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(n - k, 0) + 1.0)
    return np.where(k > n, -np.inf, value)


def _exact(counts: Ints, k: int, ties: str) -> float:
    """Two disjoint panels of k drawn without replacement, by enumeration."""
    panels = _panels(counts.size, k)
    first = panels[np.all(panels <= counts, axis=1)]
    r = int(counts.sum())
    log_first = _log_choose(counts, first).sum(axis=1) - _log_choose(np.array(r), np.array(k))
    total = 0.0
    for a, log_a in zip(first, log_first, strict=True):
        rest = counts - a
        second = panels[np.all(panels <= rest, axis=1)]
        log_b = _log_choose(rest, second).sum(axis=1) - _log_choose(np.array(r - k), np.array(k))
        same = _same(np.broadcast_to(a, second.shape), second, ties)
        total += float(np.exp(log_a) * np.sum(np.exp(log_b) * same))
    return total


def _drawn(counts: Ints, k: int, ties: str, n_draws: int, rng: np.random.Generator) -> float:
    """Two disjoint panels of k, by seeded subsampling."""
    labels = np.repeat(np.arange(counts.size), counts)
    shuffled = rng.permuted(np.broadcast_to(labels, (n_draws, labels.size)), axis=1)[:, : 2 * k]
    hot = shuffled[..., None] == np.arange(counts.size)
    return float(np.mean(_same(hot[:, :k].sum(axis=1), hot[:, k:].sum(axis=1), ties)))


def _plug_in(counts: Ints, k: int, ties: str, n_draws: int, rng: np.random.Generator) -> float:
    """Two panels drawn *with* replacement from the observed shares."""
    shares = counts / counts.sum()
    panels = math.comb(k + counts.size - 1, counts.size - 1)
    if panels**2 > EXACT_WORK:
        a = rng.multinomial(k, shares, size=n_draws)
        b = rng.multinomial(k, shares, size=n_draws)
        return float(np.mean(_same(a, b, ties)))
    every = _panels(counts.size, k)
    log_p = np.log(shares)
    weight = np.exp(gammaln(k + 1.0) - gammaln(every + 1.0).sum(axis=1) + every @ log_p)
    top = _majority(every)
    if ties == "random":
        verdict = weight @ top
        return float(np.sum(verdict**2))
    alone = top.max(axis=1) == 1
    verdict = (weight * alone) @ top
    return float(np.sum(verdict**2) + np.sum(weight[~alone]) ** 2)


def panel_agreement(
    counts: ArrayLike,
    *,
    k: int,
    estimator: StabilityEstimator = "disjoint",
    ties: TieRule = "random",
    n_draws: int = 2000,
    seed: int | None = 0,
) -> float:
    """Chance that two panels of k agree on one item's majority verdict.

    Parameters
    ----------
    counts : array-like, shape (q,)
        The item's verdicts by category.
    k : int
        Judgments in a panel.
    estimator : {"disjoint", "plug-in"}
    ties : {"random", "own"}
    n_draws : int
        Draws where enumeration would be too long.
    seed : int or None

    Returns
    -------
    float
        NaN where the item has too few judgments.

    Raises
    ------
    InputError
        If k is below 1.

    Notes
    -----
    See `majority_stability`.

    References
    ----------
    Multivariate hypergeometric distribution.

    Examples
    --------
    >>> [round(panel_agreement([3, 1], k=1, estimator=e), 6) for e in ("disjoint", "plug-in")]
    [0.5, 0.625]
    """
    if k < 1:
        raise InputError(f"panel_agreement: k must be at least 1, got {k}. Use an odd number.")
    votes = np.asarray(counts, dtype=np.int64)
    votes = votes[votes > 0]
    r = int(votes.sum())
    rng = np.random.default_rng(seed)
    if r == 0 or (estimator == "disjoint" and 2 * k > r):
        return math.nan
    if votes.size == 1:
        return 1.0
    if estimator == "plug-in":
        return _plug_in(votes, k, ties, n_draws, rng)
    panels = math.comb(k + votes.size - 1, votes.size - 1)
    if panels**2 <= EXACT_WORK:
        return _exact(votes, k, ties)
    return _drawn(votes, k, ties, n_draws, rng)


@with_keywords()
def majority_stability(
    verdicts: ArrayLike | CountTable,
    *,
    k: int,
    estimator: StabilityEstimator = "disjoint",
    ties: TieRule = "random",
    categories: Sequence[Any] | None = None,
    interval: IntervalMethod = "jackknife",
    n_draws: int = 2000,
    **inference: Unpack[Seeded],
) -> Estimate:
    r"""Share of items on which two independent panels of k judgments reach the same majority.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        None, NaN or empty text where nothing was read.
    k : int
        Judgments in a panel (odd numbers avoid most ties).
    estimator : {"disjoint", "plug-in"}
        ``disjoint``: two panels without a judgment in common, drawn without replacement from the
        R of the item, unbiased; needs 2k <= R. ``plug-in``: panels drawn with replacement from
        the observed shares, any k, biased upwards (noise in the shares counts as conviction).
    ties : {"random", "own"}
        ``random``: a tied panel picks one of its tied verdicts at random. ``own``: a tie is a
        verdict of its own, so two tied panels agree, a tied and a decided one do not.
    categories, interval
        See `judgestats.stats.percent_agreement`.
    n_draws : int
        Draws for items whose panels are too many to enumerate.

    Returns
    -------
    Estimate
        ``details``: the items' values, and how many were enumerated.

    Raises
    ------
    InputError
        If an option is unusable.

    Notes
    -----
    ``disjoint`` sums over panels a and b the multivariate hypergeometric probability
    C(n, a) C(n - a, b) / (C(R, k) C(R - k, k)) times the chance that their majorities agree,
    exactly where at most half a million pairs of panels arise, else by seeded draws. For k = 1 it
    is raw pairwise agreement. Items with R < 2k are left out and counted.

    References
    ----------
    STATISTICS section 2 of the project's design.

    Examples
    --------
    >>> verdicts = [list("AAAAAB"), list("ABABAB"), list("BBBBBB")]
    >>> round(majority_stability(verdicts, k=3).estimate, 4)
    0.6667
    >>> majority_stability(verdicts, k=4).reason[:40]
    'no item has the 8 judgments that two dis'
    """
    where = "majority_stability"
    one_of(where, "estimator", estimator, ("disjoint", "plug-in"))
    one_of(where, "ties", ties, ("random", "own"))
    if k < 1:
        raise InputError(f"{where}: k must be at least 1, got {k}. Use k=3.")
    table = count_table(verdicts, categories=categories, where=where)
    least = 2 * k if estimator == "disjoint" else 1
    counts = table.counts.astype(np.int64)
    # Agreement does not depend on which category is which: equal patterns share one computation.
    patterns, back = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
    each = np.array(
        [
            panel_agreement(
                p, k=k, estimator=estimator, ties=ties, n_draws=n_draws, seed=inference["seed"]
            )
            for p in patterns
        ]
    )
    values = each[back.reshape(-1)]
    present = np.isfinite(values)
    data = np.column_stack([present, np.where(present, values, 0.0)]).astype(float)
    notes = []
    if estimator == "plug-in":
        message = (
            "The plug-in estimate is biased upwards: chance differences between the observed "
            "shares count as the judge's conviction. Use estimator='disjoint' while 2k <= R."
        )
        notes.append(Note(code="plug_in_bias", message=message))
    reason = f"no item has the {2 * k} judgments that two disjoint panels of {k} need"
    sample = table.sample(least=least)
    if estimator == "plug-in":
        reason = "no verdict was read"
    elif sample.n_excluded:
        short = {f"fewer than {least} verdicts for two disjoint panels of {k}": sample.n_excluded}
        sample = dataclasses.replace(sample, excluded=short)
    return estimate_from_sums(
        SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0])),
        data,
        name=f"majority_stability_{k}",
        label=f"Two panels of {k} reach the same majority",
        estimator=f"{estimator}; ties {'broken at random' if ties == 'random' else 'a verdict'}",
        sample=sample,
        reason=reason,
        where=where,
        interval=interval,
        scale="logit",
        **inference,
        proportion=True,
        notes=tuple(notes),
        details={"k": k, "items": values, "ties": ties},
    )
