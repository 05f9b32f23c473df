"""Spearman's rho and Kendall's tau-b, and Page's test of ordered conditions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.results.numbers import count_noun
from judgestats.stats.comparison.matched import cluster_totals
from judgestats.stats.comparison.paired import normal_p, tail_p
from judgestats.stats.designs.score_matrix import Blocks, as_paired, read_blocks
from judgestats.stats.inference import distributions, jackknife_error, permutation_distribution
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.inference.keywords import Inference, Permuted, with_keywords
from judgestats.stats.inference.rank_distributions import MAX_WORK, level_ranks, page_null
from judgestats.stats.inference.result import Estimate, Interval, Note, TestResult

MOST_CELLS = 5_000
"""Cells of the table up to which counting is faster than sorting."""


def kendall_of_stack(drawn: Floats, fixed: Floats) -> Floats:
    """Tau-b of each row of a stack with one array; NaN where one of the two does not vary.

    Parameters
    ----------
    drawn : ndarray, shape (B, n)
    fixed : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (B,)

    Examples
    --------
    >>> x = np.array([[1.0, 2.0, 3.0, 3.0], [3.0, 2.0, 1.0, 3.0]])
    >>> kendall_of_stack(x, np.array([1.0, 2.0, 4.0, 3.0])).round(3).tolist()
    [0.913, -0.548]
    """
    x_levels, x = np.unique(drawn, return_inverse=True)
    y_levels, y = np.unique(fixed, return_inverse=True)
    x, k, m = x.reshape(drawn.shape), len(x_levels), len(y_levels)
    if k * m > MOST_CELLS:
        from scipy.stats import kendalltau

        return np.array([kendalltau(row, fixed).statistic for row in drawn])
    size, n = drawn.shape
    cells = (np.arange(size)[:, None] * k + x) * m + y
    table = np.bincount(cells.ravel(), minlength=size * k * m).reshape(size, k, m)
    # Pairs of which both differ the same way, less those that differ in opposite ways.
    above = table[:, ::-1].cumsum(axis=1)[:, ::-1] - table
    after = above[:, :, ::-1].cumsum(axis=2)[:, :, ::-1] - above
    before = above.cumsum(axis=2) - above
    difference = (table * (after - before)).sum(axis=(1, 2))
    pairs = n * (n - 1) // 2
    rows, columns = table.sum(axis=2), table.sum(axis=1)
    x_tied = (rows * (rows - 1) // 2).sum(axis=1)
    y_tied = (columns * (columns - 1) // 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = difference / np.sqrt(pairs - x_tied) / np.sqrt(pairs - y_tied)
    return np.where((x_tied == pairs) | (y_tied == pairs), np.nan, np.clip(tau, -1.0, 1.0))


def refusal(x: Floats, y: Floats, least: int) -> str:
    """Why no rank correlation can be computed, or nothing."""
    if x.size < least:
        return f"at least {least} complete pairs are required, got {x.size}"
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return f"{'x' if np.ptp(x) == 0 else 'y'} does not vary"
    return ""


def kendall_interval(
    x: Floats, y: Floats, level: float
) -> tuple[Interval | None, tuple[Note, ...]]:
    """Tau-b of two arrays plus and minus its asymptotic standard error, or why there is none."""
    if refusal(x, y, 2):
        return None, ()
    a, b = level_ranks(x), level_ranks(y)
    tau = float(kendall_of_stack(a[None], b)[0])
    error = 0.0 if 1 - abs(tau) < 1e-12 else _tau_b_error(a, b, tau)
    if error == 0:
        return None, Note.no_interval("the ranks agree perfectly")
    half = float(distributions.norm.isf((1 - level) / 2)) * error
    low, high = max(tau - half, -1.0), min(tau + half, 1.0)
    return Interval(low=low, high=high, level=level, method="asymptotic standard error"), ()


def _tau_b_error(x: Floats, y: Floats, tau: float) -> float:
    """Asymptotic standard error of tau-b (Brown and Benedetti, 1977, JASA 72, 309-315).

    DescTools 0.99.59 misplaces a parenthesis in it and differs where the margins are not uniform.
    """
    n = x.size
    xs, ys = np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    table = np.zeros((xs.max() + 1, ys.max() + 1))  # size: distinct values
    np.add.at(table, (xs, ys), 1.0)
    share = table / n
    # Share of cells strictly below-left and above-right (concordant), or crosswise (discordant).
    cumulative = np.zeros((share.shape[0] + 1, share.shape[1] + 1))
    cumulative[1:, 1:] = share.cumsum(0).cumsum(1)
    rows, columns = share.sum(1), share.sum(0)
    below_left = cumulative[:-1, :-1]
    below = cumulative[:-1, -1:] - cumulative[:-1, 1:]
    left = cumulative[-1:, :-1] - cumulative[1:, :-1]
    above_right = 1 - cumulative[1:, -1:] - cumulative[-1:, 1:] + cumulative[1:, 1:]
    concordant, discordant = below_left + above_right, below + left
    row_part = 1 - float(np.sum(rows**2))
    column_part = 1 - float(np.sum(columns**2))
    delta = math.sqrt(row_part * column_part)
    slope = 2 * delta * (concordant - discordant) + tau * (
        rows[:, None] * column_part + columns[None] * row_part
    )
    mean = float(np.sum(share * slope))
    variance = float(np.sum(share * slope**2)) - mean**2
    return math.sqrt(max(variance, 0.0)) / (delta**2 * math.sqrt(n))


def _rho(x: Floats, y: Floats) -> float:
    a, b = level_ranks(x), level_ranks(y)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(np.clip(a @ b / scale, -1.0, 1.0)) if scale > 0 else math.nan


def _exact_p(x: Floats, y: Floats) -> float:
    """P-value over all n! arrangements of y's ranks (n <= 9)."""
    a, b = level_ranks(x), level_ranks(y)
    products = np.array(list(itertools.permutations(b.tolist()))) @ a
    observed = float(a @ b)
    upper = float(np.mean(products >= observed - 1e-9))
    lower = float(np.mean(products <= observed + 1e-9))
    return min(1.0, 2 * min(upper, lower))


def _edgeworth_upper(s: float, n: int) -> float:
    """P(S >= s) for untied ranks by the Edgeworth series of algorithm AS 89, as R's prho."""
    b = 1.0 / n
    x = (6.0 * (s - 1) * b / (n**2 - 1.0) - 1.0) * math.sqrt(n - 1.0)
    y = x * x
    u = (
        x
        * b
        * (
            0.2274
            + b * (0.2531 + 0.1745 * b)
            + y
            * (
                -0.0758
                + b * (0.1033 + 0.3932 * b)
                - y
                * b
                * (0.0879 + 0.0151 * b - y * (0.0072 - 0.0831 * b + y * b * (0.0131 - 4.6e-4 * y)))
            )
        )
    )
    p = u / math.exp(y / 2) + float(distributions.norm.sf(x))
    return min(max(p, 0.0), 1.0)


def _spearman_p(x: Floats, y: Floats, rho: float) -> tuple[float, str]:
    """p-value by R's rules, and how."""
    n = x.size
    untied = all(np.unique(level_ranks(v)).size == n for v in (x, y))
    if untied and n <= 9:
        return _exact_p(x, y), "exact"
    if untied and n < 1290:
        # R rounds S and looks one step (2) beyond it on the other side.
        s = round((n**3 - n) * (1 - rho) / 6)
        small = 1 - _edgeworth_upper(s + 2, n) if s <= (n**3 - n) / 6 else _edgeworth_upper(s, n)
        return min(1.0, 2 * small), "Edgeworth series"
    if abs(rho) >= 1:
        return 0.0, "t approximation"
    t = rho * math.sqrt((n - 2) / (1 - rho**2))
    return float(2 * distributions.t.sf(abs(t), n - 2)), "t approximation"


@with_keywords()
def spearman_correlation(
    x: ArrayLike, y: ArrayLike, *, interval: bool = True, **inference: Unpack[Inference]
) -> TestResult:
    r"""Spearman's rank correlation: do two quantities rise together?

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Paired values; pairs with a missing one are left out and counted.
    interval : bool
        Whether to give an interval: Fisher's z with variance (1 + rho^2 / 2) / (n - 3), as Bonett
        and Wright, or with `cluster` BCa over clusters.
    cluster : array-like of shape (n,), optional
        Cluster of each pair. p: y exchanged within clusters where x varies within them, otherwise a
        jackknife t over clusters.

    Returns
    -------
    TestResult
        Statistic S as R's ``cor.test``; effect rho with its interval.

    Raises
    ------
    InputError
        If the data cannot be interpreted as pairs.

    Notes
    -----
    :math:`S = (n^3 - n)(1 - \rho)/6`. The p-value follows R: exact below 10 pairs and an Edgeworth
    series below 1290, without ties; with ties a t approximation. scipy's ``spearmanr`` always uses
    the t approximation.

    References
    ----------
    Spearman (1904). Best & Roberts (1975), algorithm AS 89. Bonett & Wright (2000),
    Psychometrika 65, 23-28.

    Examples
    --------
    >>> result = spearman_correlation([1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 5, 6])
    >>> round(result.effect.estimate, 4), round(result.p_value, 5)
    (0.8214, 0.03413)
    """
    blocks = as_paired(x, y, where="spearman_correlation", cluster=inference["cluster"])
    first, second = blocks.scores.T
    n, codes = first.size, blocks.cluster
    what = ("pair has a missing value and is", "pairs have a missing value and are")
    message = f"{count_noun(blocks.sample.n_excluded, *what)} left out."
    notes = Note.where(blocks.sample.n_excluded, "missing_values", message)
    reason = refusal(first, second, 3)
    rho = math.nan if reason else _rho(first, second)
    p, how, limits = math.nan, "", None
    effect_notes: tuple[Note, ...] = ()
    details: dict[str, Any] = {}
    if not reason and codes is not None:
        p, how, more, floor = _clustered_p(
            first, second, codes, inference["n_permutations"], inference["seed"]
        )
        notes += more
        details["p_floor"] = floor
        if interval:
            boot = cluster_bootstrap(
                (first, second),
                _rho,
                cluster=codes,
                n_resamples=inference["n_resamples"],
                level=inference["level"],
                seed=inference["seed"],
                names=("rho",),
            )
            limits = boot.interval if math.isfinite(boot.interval.low) else None
            effect_notes = boot.notes
    elif not reason:
        p, how = _spearman_p(first, second, rho)
        if interval:
            limits, effect_notes = spearman_interval(first, second, inference["level"])
    return TestResult(
        name="spearman_correlation",
        method=f"Spearman's rank correlation rho{f' ({how})' if how else ''}",
        statistic=math.nan if reason else (n**3 - n) * (1 - rho) / 6,
        statistic_name="S",
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the two are unrelated",
        alternative="true rho is not equal to 0",
        why="Rank correlation was used because a monotone relation, not a straight one, is asked.",
        effects=(
            Estimate(
                name="spearman_rho",
                label="Spearman's rho",
                estimator="Pearson correlation of average ranks",
                estimate=rho,
                interval=limits,
                sample=blocks.sample,
                notes=effect_notes,
                reason=reason,
            ),
        ),
        data_name="x and y",
        notes=notes,
        reason=reason,
        details=details,
    )


_JACKKNIFE = "jackknife over clusters"


def _clustered_p(
    x: Floats, y: Floats, cluster: Ints, n_permutations: int, seed: int | None
) -> tuple[float, str, tuple[Note, ...], float]:
    """P-value: y exchanged within clusters where x varies there, else a jackknife t.

    With how it was had, notes, and the smallest that it can be.
    """
    order = np.argsort(cluster, kind="stable")
    spans = np.split(x[order], np.flatnonzero(np.diff(cluster[order])) + 1)
    varies = np.array([np.ptp(s) > 0 for s in spans])
    if varies.mean() > 0.5:
        # Exchanging y moves its ranks along: the null needs one product per permutation.
        centred, ranks = level_ranks(x) - (x.size + 1) / 2, level_ranks(y)
        scale = math.sqrt(float(centred @ centred) * float(np.sum((ranks - ranks.mean()) ** 2)))
        null = permutation_distribution(
            ranks,
            lambda rows: np.asarray(rows @ centred / scale, dtype=float),
            scheme="labels",
            strata=cluster,
            n_permutations=n_permutations,
            seed=seed,
            alternative="two-sided",
            vectorized=True,
        )
        how = f"{n_permutations} permutations within clusters"
        return null.null.p_value, how, (), null.null.p_smallest
    n_clusters = int(cluster.max()) + 1
    left_out = np.array([_rho(x[cluster != g], y[cluster != g]) for g in range(n_clusters)])
    if n_clusters < 3 or not np.isfinite(left_out).all():
        message = "No p-value: the jackknife over clusters is undefined."
        return math.nan, _JACKKNIFE, Note.where(True, "no_p_value", message), math.nan
    spread, df = jackknife_error(left_out, np.bincount(cluster))
    t = _rho(x, y) / spread if spread > 0 else math.nan
    message = "x does not vary within most clusters: p is from a jackknife over clusters."
    notes = Note.where(True, "cluster_jackknife", message)
    return float(2 * distributions.t.sf(abs(t), df)), _JACKKNIFE, notes, math.nan


def spearman_interval(
    x: Floats, y: Floats, level: float
) -> tuple[Interval | None, tuple[Note, ...]]:
    """Fisher's z interval of rho with Bonett and Wright's variance, or why there is none."""
    if refusal(x, y, 3):
        return None, ()
    rho, n = _rho(x, y), x.size
    if n < 4 or abs(rho) >= 1:
        why = "at least 4 pairs are required" if n < 4 else "the ranks agree perfectly"
        return None, Note.no_interval(why)
    half = float(distributions.norm.isf((1 - level) / 2)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    low, high = math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half)
    return Interval(low=low, high=high, level=level, method="Fisher z, Bonett-Wright variance"), ()


_SIDE = {"two-sided": "falls or rises", "greater": "rises"}


def _page_exact_is_cheap(n: int, k: int) -> bool:
    """Whether Page's exact distribution takes about a second at most."""
    length = n * k * (k + 1) * (2 * k + 1) / 3
    rows = min(n, 40) * 2.0**k * k * (k + 1) * (2 * k + 1) / 3
    return k <= 11 and n <= 50 and length**2 + rows < MAX_WORK / 4


@with_keywords()
def page_trend_test(
    scores: object,
    *,
    alternative: Literal["greater", "two-sided"] = "greater",
    names: Sequence[Any] | None = None,
    **inference: Unpack[Permuted],
) -> TestResult:
    r"""Page's test: do the scores rise with ordered conditions, within items?

    Parameters
    ----------
    scores : array-like of shape (N, k), or DataFrame
        Items in rows, conditions in columns, from the least to the greatest. Items with a missing
        score are left out and counted.
    alternative : {"greater", "two-sided"}
        ``greater``: scores rise along the order.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,), optional
        Cluster of each item: p by permuting conditions jointly for the items of a cluster.

    Returns
    -------
    TestResult
        Effect: the mean Spearman correlation of scores with the order over items.

    Raises
    ------
    InputError
        If the data cannot be interpreted as blocks.

    Notes
    -----
    :math:`L = \sum_j j R_j`, mean :math:`N k (k+1)^2/4`, variance
    :math:`\sum_i \sum_j (j-\bar j)^2 \sum_j (r_{ij}-\bar r)^2/(k-1)`. The p-value is exact given
    the ties up to 11 conditions and 50 items, else normal. PMCMRplus subtracts .5 from L and
    ignores ties in the variance. DescTools' exact p is that of untied ranks. scipy's
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
    one_of(where, "alternative", alternative, _SIDE)
    blocks = read_blocks(
        scores, where=where, names=names, cluster=inference["cluster"], min_conditions=3
    )
    n, k = blocks.scores.shape
    ranks = level_ranks(blocks.scores, axis=1)
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
            null = permutation_distribution(
                cluster_totals(ranks, blocks.cluster),
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
        elif _page_exact_is_cheap(n, k):
            distribution = page_null(np.rint(2 * ranks).astype(np.int64))
            observed, centre = round(2 * statistic), n * k * (k + 1) ** 2 / 2
            p = tail_p(distribution, observed, centre)
            if alternative == "greater":
                p = float(min(1.0, distribution[observed:].sum()))
            method = "Exact " + method
        else:
            p = normal_p(z) if alternative == "two-sided" else float(distributions.norm.sf(z))
            method += " (normal)"
    means = ranks.mean(axis=0).tolist() if n else []
    return TestResult(
        name=where,
        method=method,
        statistic=statistic,
        statistic_name="L",
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the scores do not depend on the order of the conditions",
        alternative=f"the score {_SIDE[alternative]} along {' < '.join(blocks.conditions)}",
        why="Page's test was used because the conditions are ordered and every item is scored "
        "under each of them.",
        effects=(
            _mean_rank_trend(
                ranks, slope, blocks, reason, level=inference["level"], seed=inference["seed"]
            ),
        ),
        estimates={f"mean rank {c}": m for c, m in zip(blocks.conditions, means, strict=bool(n))},
        data_name=blocks.data_name,
        notes=blocks.notes,
        reason=reason,
        details={"z": z, **details},
    )


def _mean_rank_trend(
    ranks: Floats,
    slope: Floats,
    blocks: Blocks,
    reason: str,
    **draws: Any,
) -> Estimate:
    """Mean over items of the Spearman correlation with the order; tied-out items are left out."""
    notes: tuple[Note, ...] = ()
    estimate, interval = math.nan, None
    if not reason:
        spread = np.sqrt(np.sum((ranks - ranks.mean(axis=1, keepdims=True)) ** 2, axis=1))
        some = spread > 0
        rho = (ranks[some] @ slope) / (spread[some] * math.sqrt(float(np.sum(slope**2))))
        estimate = float(rho.mean())
        flat = count_noun(int((~some).sum()), "item has", "items have")
        message = f"{flat} the same score under every condition and no correlation; left out."
        notes = Note.where(not some.all(), "flat_items", message)
        if rho.size > 1:
            boot = cluster_bootstrap(
                rho,
                lambda x, w: w @ x / w.sum(axis=1),
                cluster=None if blocks.cluster is None else blocks.cluster[some],
                vectorized=True,
                names=("mean correlation",),
                **draws,
            )
            notes += boot.notes
            interval = boot.interval if math.isfinite(boot.interval.low) else None
    return Estimate(
        name="mean_rank_trend",
        label="mean Spearman correlation with the order",
        estimator="mean over items",
        estimate=estimate,
        interval=interval,
        sample=blocks.sample,
        notes=notes,
        reason=reason,
    )
