"""Trend of dispersion along ordered conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import count_noun
from judgestats.stats.comparison.rank_correlation import kendall_of_stack, page_trend_test
from judgestats.stats.designs.cells import check_scores
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_bootstrap, cluster_codes
from judgestats.stats.inference.estimate import Estimate, Note, Sample
from judgestats.stats.inference.keywords import Inference, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.rank_distributions import level_ranks, noise_free
from judgestats.stats.inference.result import TestResult

KENDALL_PERMUTATIONS = 999
"""Kendall's tau over all cells is slow; more permutations are spent on Spearman's rho."""


def _positions(at: Sequence[float] | None, names: tuple[str, ...], *, function: str) -> Floats:
    """Values of the conditions along the order; 1..k where none are given."""
    if at is None:
        return np.arange(1.0, len(names) + 1)
    values = np.asarray(at, dtype=float)
    if values.shape != (len(names),) or not np.all(np.diff(values) > 0):
        raise InputError(
            f"{function}: the ordered conditions need {len(names)} strictly increasing values, got "
            f"{list(at)}. Sort the conditions, and give one value to each."
        )
    return values


def _cell_correlation(y: Floats, at: Floats, kind: str) -> Callable[..., Floats]:
    """Spearman's rho or Kendall's tau-b between condition and value over all cells.

    Parameters
    ----------
    y : ndarray, shape (n, k)
        In increasing order of `at`.
    at : ndarray, shape (k,)
    kind : {"spearman", "kendall"}

    Returns
    -------
    callable
        Of the items (not used: their cells are sorted once) and their weights, shape (B, n), how
        often each is held; gives shape (B,).
    """
    k = y.shape[1]
    values = noise_free(y.ravel())
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(values[order]) > 0])
    item, condition = np.divmod(order, k)
    along = distributions.ranks(at)
    along -= along.mean()

    def level_sums(w: Floats) -> Floats:
        return np.asarray(np.add.reduceat(w, starts, axis=1))

    def spearman(_: Floats, weights: Floats) -> Floats:
        w = weights[:, item]
        counts = level_sums(w)
        cells = counts.sum(axis=1, keepdims=True)
        ranks = np.cumsum(counts, axis=1) - counts / 2 - cells / 2  # ties averaged, less their mean
        crossed = np.sum(level_sums(w * along[condition]) * ranks, axis=1)
        scale = np.sum(counts * ranks**2, axis=1) * cells[:, 0] / k * np.sum(along**2)
        return np.asarray(crossed / np.sqrt(np.where(scale > 0, scale, np.nan)))

    def kendall(_: Floats, weights: Floats) -> Floats:
        w = weights[:, item]
        earlier, score = np.zeros((len(w), starts.size)), np.zeros(len(w))
        for c in range(k):  # against the values under earlier conditions, below it and above it
            here = level_sums(w * (condition == c))
            up_to = np.cumsum(earlier, axis=1)
            score += np.sum(here * (2 * up_to - earlier - up_to[:, -1:]), axis=1)
            earlier += here
        items = weights.sum(axis=1)
        cells = k * items
        pairs, tied_at = cells * (cells - 1) / 2, k * items * (items - 1) / 2
        tied_y = np.sum(earlier * (earlier - 1) / 2, axis=1)
        scale = (pairs - tied_at) * (pairs - tied_y)
        return np.asarray(score / np.sqrt(np.where(scale > 0, scale, np.nan)))

    return spearman if kind == "spearman" else kendall


@with_keywords()
def trend_over_cells(
    Y: ArrayLike,
    *,
    at: Sequence[float] | None = None,
    conditions: Sequence[object] | None = None,
    kind: str = "spearman",
    **inference: Unpack[Inference],
) -> TestResult:
    r"""Rank correlation between condition and cell value over all cells, items kept together.

    Parameters
    ----------
    Y : array-like, shape (N, k)
        One value per cell (a variance, a mean distance); items with a missing cell are left out.
    at : sequence of float, length k, optional
        Increasing values of the conditions (temperatures); default 1..k. Only their order counts.
    conditions : sequence, optional
    cluster : array-like, shape (N,), optional
        Cluster of each item: resampled whole and permuted jointly.
    kind : {"spearman", "kendall"}
        Spearman's rho or Kendall's tau-b.
    n_resamples : int
        Cluster bootstrap of the interval (BCa).
    n_permutations : int
        Exchanges of cells within items for the two-sided p.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError

    Notes
    -----
    The coefficient is the one that published studies print over all N k cells; their p-value takes
    the cells of an item as independent. Here p exchanges cells within items. Because items differ
    in level, the coefficient stays well below 1 even where every item rises: Page's L looks
    within items.

    Examples
    --------
    >>> Y = [[0, 1, 2], [1, 2, 4], [3, 5, 6], [2, 3, 3], [0, 2, 3], [1, 1, 5]]
    >>> out = trend_over_cells(Y, at=[0.1, 0.5, 1.0], n_resamples=199)
    >>> round(out.statistic, 3), out.p_value < 0.01
    (0.667, True)
    """
    function = "trend_over_cells"
    y, names = check_scores(Y, function=function, conditions=conditions, ndims=(2,))
    one_of(function, "kind", kind, ("spearman", "kendall"))
    places = _positions(at, names, function=function)
    codes = cluster_codes(inference["cluster"], y.shape[0], where=function)
    used = ~np.isnan(y).any(axis=1)
    y, codes = y[used], codes[used]
    lost = int(np.sum(~used))
    sample = Sample(
        n_items=y.shape[0],
        n_clusters=int(np.unique(codes).size),
        n_excluded=lost,
        excluded=MappingProxyType({"a missing cell": lost}) if lost else {},
    )
    symbol, label = ("rho", "Spearman's rho") if kind == "spearman" else ("tau", "Kendall's tau-b")
    reason = ""
    if y.shape[0] < 2:
        reason = (
            f"{count_noun(y.shape[0], 'item holds', 'items hold')} all conditions; at least 2 are "
            "required"
        )
    elif np.ptp(y) == 0:
        reason = "all cells are equal"
    elif np.ptp(places) == 0:
        reason = "one condition has no others to be ordered with"
    result = TestResult(
        name=f"{kind}_trend",
        method=f"{label} between condition and cell value over cells",
        statistic=math.nan,
        statistic_name=symbol,
        p_value=math.nan,
        null_hypothesis="the condition does not matter",
        alternative="cell values rise or fall along the conditions",
        why="it is what published studies print; p exchanges cells within items",
        sample=sample,
        reason=reason,
    )
    if reason:
        return result
    coefficient = _cell_correlation(y, places, kind)
    value = float(coefficient(y, np.ones((1, y.shape[0])))[0])
    boot = cluster_bootstrap(
        y,
        coefficient,
        vectorized=True,
        cluster=codes,
        n_resamples=inference["n_resamples"],
        level=inference["level"],
        seed=inference["seed"],
        names=(label,),
    )
    notes: tuple[Note, ...] = boot.notes
    p, n_drawn = math.nan, 0
    if inference["n_permutations"]:
        n_drawn = (
            inference["n_permutations"]
            if kind == "spearman"
            else min(inference["n_permutations"], KENDALL_PERMUTATIONS)
        )
        p = _trend_p(y, places, codes, kind, n_drawn, inference["seed"])
    effect = Estimate(
        name=f"{kind}_{symbol}",
        label=label,
        estimator="over all cells",
        estimate=value,
        interval=boot.interval if math.isfinite(boot.interval.low) else None,
        sample=sample,
    )
    return result.replace(
        statistic=value,
        p_value=p,
        effects=(effect,),
        notes=notes,
        details=MappingProxyType({"n_permutations": n_drawn, "seed": inference["seed"]}),
    )


def _trend_p(
    y: Floats,
    places: Floats,
    codes: Ints,
    kind: str,
    n_permutations: int,
    seed: int | None,
) -> float:
    """Two-sided p with cells exchanged within items, the items of a cluster jointly."""
    if kind == "spearman":
        # Exchanging cells leaves all ranks in place: only the cross product moves. The items of a
        # cluster move together, so that their ranks can be summed first.
        ranks = level_ranks(y.ravel()).reshape(y.shape)
        sums = np.zeros((int(codes.max()) + 1, y.shape[1]))  # size: clusters
        np.add.at(sums, codes, ranks - ranks.mean())
        along = distributions.ranks(places)
        along = (along - along.mean()) / (np.linalg.norm(along - along.mean()) or 1.0)
        sums /= np.linalg.norm(ranks - ranks.mean())
        drawn = permutation_distribution(
            sums,
            lambda stack: np.abs(stack.sum(axis=1) @ along),
            scheme="cells",
            n_permutations=n_permutations,
            seed=seed,
            vectorized=True,
        )
        return drawn.null.p_value
    along = np.tile(places, y.shape[0])
    return permutation_distribution(
        noise_free(y),
        lambda stack: np.abs(kendall_of_stack(stack.reshape(len(stack), -1), along)),
        scheme="cells",
        cluster=codes,
        n_permutations=n_permutations,
        seed=seed,
        vectorized=True,
    ).null.p_value


@with_keywords()
def spread_trend(
    scores: ArrayLike,
    *,
    at: Sequence[float] | None = None,
    conditions: Sequence[object] | None = None,
    **inference: Unpack[Inference],
) -> tuple[TestResult, ...]:
    """Page's L within items, and Spearman's rho and Kendall's tau over cells; all two-sided.

    Parameters
    ----------
    scores, at, conditions
        As in `trend_over_cells`.

    Returns
    -------
    tuple of TestResult
        Page (for three or more conditions), Spearman, Kendall.

    Raises
    ------
    InputError

    Examples
    --------
    >>> Y = [[0, 1, 2], [1, 2, 4], [3, 5, 6], [2, 3, 3], [0, 2, 3], [1, 1, 5]]
    >>> [t.name for t in spread_trend(Y, n_resamples=199, n_permutations=199)]
    ['page_trend_test', 'spearman_trend', 'kendall_trend']
    """
    y, names = check_scores(scores, function="spread_trend", conditions=conditions, ndims=(2,))
    over_cells = tuple(
        trend_over_cells(
            y,
            at=at,
            conditions=names,
            kind=kind,
            **inference,
        )
        for kind in ("spearman", "kendall")
    )
    if len(names) < 3:
        return over_cells
    page = page_trend_test(
        y,
        names=names,
        cluster=inference["cluster"],
        alternative="two-sided",
        n_permutations=inference["n_permutations"] or 9999,
        level=inference["level"],
        seed=inference["seed"],
    )
    return (page, *over_cells)
