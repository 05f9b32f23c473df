"""Tests for ordered conditions: Page's L within items, Jonckheere-Terpstra between groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import counted
from judgestats.stats.comparison.wilcoxon import (
    ALTERNATIVES,
    Alternative,
    continuity,
    normal_p,
    tail_p,
)
from judgestats.stats.inference.keywords import Permuted, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.rank_distributions import MAX_WORK, page_null
from judgestats.stats.inference.resampling import cluster_bootstrap
from judgestats.stats.inference.result import Estimate, Note, Sample, TestResult
from judgestats.stats.inference.rounding_noise import level_ranks, noise_free
from judgestats.stats.layouts.blocks import read_blocks
from judgestats.stats.layouts.formula import Missing
from judgestats.stats.layouts.groups import read_groups

_SIDE = {"two-sided": "falls or rises", "greater": "rises", "less": "falls"}


def _ordered(
    conditions: tuple[str, ...], order: Sequence[Any] | None, where: str
) -> tuple[Ints, tuple[str, ...]]:
    """Column indices in the hypothesised order."""
    if order is None:
        return np.arange(len(conditions)), conditions
    wanted = [f"{v:g}" if isinstance(v, float) else str(v) for v in order]
    if sorted(wanted) != sorted(conditions):
        raise InputError(
            f"{where}: order must name every condition once ({', '.join(conditions)}), got "
            f"{', '.join(wanted)}. List the conditions from the least to the greatest."
        )
    return np.array([conditions.index(w) for w in wanted]), tuple(wanted)


def _page_exact_is_cheap(n: int, k: int) -> bool:
    """Whether Page's exact distribution takes about a second at most."""
    length = n * k * (k + 1) * (2 * k + 1) / 3
    rows = min(n, 40) * 2.0**k * k * (k + 1) * (2 * k + 1) / 3
    return k <= 11 and n <= 50 and length**2 + rows < MAX_WORK / 4


@with_keywords()
def page_trend_test(
    scores: object,
    data: object = None,
    *,
    order: Sequence[Any] | None = None,
    alternative: Alternative = "greater",
    exact: bool | None = None,
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Permuted],
) -> TestResult:
    r"""Page's test: do the scores rise with ordered conditions, within items?

    Parameters
    ----------
    scores : array-like of shape (N, k), DataFrame, or str
        Items in rows, conditions in columns; or ``"score ~ temperature | item"``.
    data : DataFrame, optional
        The long frame of the formula.
    order : sequence, optional
        Conditions from least to greatest; default the columns as given (with a formula: numbers
        ascending, categories in their order).
    alternative : {"greater", "less", "two-sided"}
        ``greater``: scores rise along the order.
    exact : bool, optional
        Exact distribution of L given the ties. Default: exact where cheap (up to 11 conditions and
        50 items), else normal with the variance of the ties at hand.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,) or str, optional
        Cluster of each item: p by permuting conditions jointly for the items of a cluster.
    missing : {"drop", "raise"}

    Returns
    -------
    TestResult
        Effect: the mean Spearman correlation of scores with the order over items.

    Raises
    ------
    InputError
        If the data cannot be read as blocks, or `order` does not fit them.

    Notes
    -----
    :math:`L = \sum_j j R_j`, mean :math:`N k (k+1)^2/4`, variance
    :math:`\sum_i \sum_j (j-\bar j)^2 \sum_j (r_{ij}-\bar r)^2/(k-1)`. PMCMRplus subtracts .5 from
    L and ignores ties in the variance; DescTools' exact p is that of untied ranks. scipy's
    ``page_trend_test`` has no tie-aware exact p.

    References
    ----------
    Page (1963), JASA 58, 216-230.

    Examples
    --------
    >>> scores = [[1, 2, 4], [2, 3, 3], [1, 3, 2], [2, 4, 5]]
    >>> result = page_trend_test(scores, names=[0, 0.5, 1])
    >>> result.statistic, round(result.p_value, 6), round(result.effect.estimate, 4)
    (54.5, 0.010802, 0.8415)
    """
    where = "page_trend_test"
    one_of(where, "alternative", alternative, ALTERNATIVES)
    blocks = read_blocks(
        scores,
        data,
        where=where,
        names=names,
        cluster=inference["cluster"],
        missing=missing,
        min_conditions=3,
    )
    columns, ordered = _ordered(blocks.conditions, order, where)
    matrix = blocks.scores[:, columns]
    n, k = matrix.shape
    ranks = level_ranks(matrix, axis=1)
    reason = "there are no complete blocks" if n == 0 else ""
    if n and np.ptp(ranks) == 0:
        reason = "all scores are tied within every block, so there is no order to compare"
    steps = np.arange(1, k + 1)
    slope = steps - steps.mean()
    statistic, p, z = math.nan, math.nan, math.nan
    method = "Page's trend test"
    details: dict[str, Any] = {}
    if not reason:
        statistic = float((ranks * steps).sum())
        per_block = ranks @ slope
        variance = float(np.sum(slope**2) * np.sum((ranks - (k + 1) / 2) ** 2) / (k - 1))
        z = float(per_block.sum()) / math.sqrt(variance)
        if blocks.cluster is not None:
            totals = np.zeros((int(blocks.cluster.max()) + 1, k))
            np.add.at(totals, blocks.cluster, ranks)
            null = permutation_distribution(
                totals,
                lambda x: x.sum(axis=1) @ slope,
                scheme="cells",
                n_permutations=inference["n_permutations"],
                seed=inference["seed"],
                alternative=alternative,
                vectorized=True,
            )
            p = null.null.p_value
            method += f" ({inference['n_permutations']} permutations within clusters)"
            details = {
                "n_permutations": inference["n_permutations"],
                "seed": inference["seed"],
                "p_floor": null.null.p_smallest,
            }
        elif _page_exact_is_cheap(n, k) if exact is None else exact:
            distribution = page_null(np.rint(2 * ranks).astype(np.int64))
            centre = n * k * (k + 1) ** 2 / 2
            p = tail_p(distribution, round(2 * statistic), centre, alternative)
            method = "Exact " + method
        else:
            p = normal_p(z, alternative)
            method += " (normal)"
    return TestResult(
        name=where,
        method=method,
        statistic=statistic,
        statistic_name="L",
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the scores do not depend on the order of the conditions",
        alternative=f"the score {_SIDE[alternative]} along {' < '.join(ordered)}",
        why=(
            "Page's test was used because the conditions are ordered and every item is scored "
            "under each of them."
        ),
        effects=(
            _mean_rank_trend(
                ranks,
                slope,
                blocks.cluster,
                blocks.sample,
                inference["level"],
                inference["seed"],
                reason,
            ),
        ),
        estimates=MappingProxyType(
            {
                f"mean rank {c}": float(m)
                for c, m in zip(ordered, ranks.mean(axis=0) if n else [], strict=bool(n))
            }
        ),
        data_name=blocks.data_name,
        notes=blocks.notes,
        reason=reason,
        details=MappingProxyType({"z": z, **details}),
    )


def _mean_rank_trend(
    ranks: Floats,
    slope: Floats,
    cluster: Ints | None,
    sample: Sample,
    level: float,
    seed: int | None,
    reason: str,
) -> Estimate:
    """Mean over items of the Spearman correlation with the order; tied-out items are left out."""
    notes: list[Note] = []
    estimate, interval = math.nan, None
    if not reason:
        spread = np.sqrt(np.sum((ranks - ranks.mean(axis=1, keepdims=True)) ** 2, axis=1))
        some = spread > 0
        rho = (ranks[some] @ slope) / (spread[some] * math.sqrt(float(np.sum(slope**2))))
        estimate = float(rho.mean())
        if not some.all():
            flat = counted(int((~some).sum()), "item has", "items have")
            message = (
                f"{flat} the same score under every condition and no correlation; left out of "
                "the mean."
            )
            notes.append(Note(code="flat_items", message=message))
        if rho.size > 1:
            boot = cluster_bootstrap(
                rho,
                lambda x, w: w @ x / w.sum(axis=1),
                cluster=None if cluster is None else cluster[some],
                level=level,
                seed=seed,
                vectorized=True,
                names=("mean correlation",),
            )
            notes += boot.notes
            interval = boot.interval if math.isfinite(boot.interval.low) else None
    return Estimate(
        name="mean_rank_trend",
        label="mean Spearman correlation with the order",
        estimator="mean over items",
        estimate=estimate,
        interval=interval,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )


def _jonckheere_moments(values: Floats, sizes: Ints) -> tuple[float, float]:
    """Mean and tie-corrected variance of the Jonckheere statistic (Hollander & Wolfe)."""
    n = float(values.size)
    t = np.unique(noise_free(values), return_counts=True)[1].astype(float)
    m = sizes.astype(float)
    mean = (n**2 - np.sum(m**2)) / 4
    first = (
        n * (n - 1) * (2 * n + 5)
        - np.sum(m * (m - 1) * (2 * m + 5))
        - np.sum(t * (t - 1) * (2 * t + 5))
    ) / 72
    second = third = 0.0
    if n > 2:
        second = (
            np.sum(m * (m - 1) * (m - 2))
            * np.sum(t * (t - 1) * (t - 2))
            / (36 * n * (n - 1) * (n - 2))
        )
    third = np.sum(m * (m - 1)) * np.sum(t * (t - 1)) / (8 * n * (n - 1))
    return float(mean), float(first + second + third)


def _mann_whitney_count(x: Floats, y: Floats) -> float:
    """Number of pairs with x below y, ties half."""
    ordered = np.sort(x)
    below = np.searchsorted(ordered, y, "left") + np.searchsorted(ordered, y, "right")
    return float(below.sum()) / 2


def _jonckheere_exact(sizes: Ints) -> Floats:
    """Exact null distribution of J without ties: convolution of Mann-Whitney distributions.

    J is the sum over groups of U of that group against all earlier ones, which are independent.
    """
    out = np.array([1.0])
    before = int(sizes[0])
    for size in sizes[1:]:
        # Distribution of U(before, size) from its generating function, one factor at a time.
        single = np.array([1.0])
        for i in range(1, int(size) + 1):
            grown = np.zeros(single.size + before + i)
            grown[: single.size] = single
            grown[before + i : before + i + single.size] -= single
            quotient = np.zeros(single.size + before)
            for s in range(quotient.size):
                quotient[s] = grown[s] + (quotient[s - i] if s >= i else 0.0)
            single = quotient
        out = np.convolve(out, single / single.sum())
        before += int(size)
    return out


def jonckheere_test(
    values: object,
    groups: object = None,
    *,
    order: Sequence[Any] | None = None,
    alternative: Alternative = "two-sided",
    exact: bool | None = None,
    correct: bool = False,
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
) -> TestResult:
    r"""Jonckheere-Terpstra test: do the values rise over ordered independent groups?

    Parameters
    ----------
    values : array-like of shape (n,), mapping, list of samples, or str
        Values with their labels in `groups`; or samples; or ``"score ~ group"``.
    groups : array-like of shape (n,) or DataFrame, optional
    order : sequence, optional
        Groups from least to greatest; default numbers ascending, else as they first appear.
    alternative : {"two-sided", "greater", "less"}
        ``greater``: values rise along the order.
    exact : bool, optional
        Exact distribution (no ties). Default: as clinfun, n <= 100 and no ties.
    correct : bool
        Continuity correction of the normal approximation.
    names : sequence, optional
        Names of the samples of a list.
    missing : {"drop", "raise"}

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        If the data cannot be read as groups, or the exact p is asked for with ties.

    Notes
    -----
    :math:`J = \sum_{a<b} U_{ab}`; the variance is corrected for ties in values (PMCMRplus; clinfun
    and DescTools do not correct). The statistic printed is J; ``details["z"]`` is PMCMRplus'.
    On paired items the paired test (`page_trend_test`) is primary.

    References
    ----------
    Jonckheere (1954), Biometrika 41, 133-145; Hollander & Wolfe (1999), sec. 6.2.

    Examples
    --------
    >>> result = jonckheere_test([[1, 2, 3], [2.5, 4, 5], [4.5, 6, 7]])
    >>> result.statistic, round(result.p_value, 5)
    (25.0, 0.00952)
    """
    where = "jonckheere_test"
    one_of(where, "alternative", alternative, ALTERNATIVES)
    data = read_groups(values, groups, where=where, names=names, missing=missing)
    if len(data.names) < 2:
        raise InputError(
            f"{where}: at least 2 groups are required, got {len(data.names)}. Check the labels."
        )
    columns, ordered = _ordered(data.names, order, where)
    samples = data.split()
    samples = [noise_free(samples[int(c)]) for c in columns]
    sizes = np.array([s.size for s in samples])
    pooled = np.concatenate(samples)
    untied = np.unique(pooled).size == pooled.size
    reason = "all values are equal" if np.ptp(pooled) == 0 else ""
    statistic = z = p = math.nan
    method = "Jonckheere-Terpstra test"
    if exact and not untied:
        raise InputError(
            f"{where}: exact=True is for values without ties, and there are ties. Use exact=False "
            "(the variance is corrected for them)."
        )
    if not reason:
        statistic = sum(
            _mann_whitney_count(samples[a], samples[b])
            for a in range(len(samples))
            for b in range(a + 1, len(samples))
        )
        mean, variance = _jonckheere_moments(pooled, sizes)
        centred = statistic - mean
        z = centred / math.sqrt(variance)
        if (untied and pooled.size <= 100) if exact is None else exact:
            null = _jonckheere_exact(sizes)
            p = tail_p(null, round(statistic), mean, alternative)
            method = "Exact " + method
        else:
            step = continuity(centred, alternative, correct)
            p = normal_p((centred - step) / math.sqrt(variance), alternative)
    share = math.nan
    if not reason:
        pairs = (float(pooled.size) ** 2 - float(np.sum(sizes.astype(float) ** 2))) / 2
        share = statistic / pairs
    return TestResult(
        name=where,
        method=method,
        statistic=statistic,
        statistic_name="J",
        p_value=p,
        sample=data.sample,
        null_hypothesis="the values do not depend on the order of the groups",
        alternative=f"the value {_SIDE[alternative]} along {' < '.join(ordered)}",
        why="The Jonckheere-Terpstra test was used because the independent groups are ordered.",
        effects=(
            Estimate(
                name="probability_of_order",
                label="share of pairs from different groups in the order (ties half)",
                estimator="J / number of pairs",
                estimate=share,
                sample=data.sample,
                reason=reason,
                notes=(Note(code="no_interval", message="No interval is defined here."),),
            ),
        ),
        estimates=MappingProxyType(
            {
                f"median {name}": float(np.median(s))
                for name, s in zip(ordered, samples, strict=True)
            }
        ),
        data_name=data.data_name,
        notes=data.notes,
        reason=reason,
        details=MappingProxyType({"z": z}),
    )
