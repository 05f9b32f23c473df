"""Mann-Whitney and Kruskal-Wallis tests with effect sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import one_of
from judgestats.stats.comparison.paired import dominance, normal_p, shift_estimate, tail_p
from judgestats.stats.designs.score_matrix import Groups, read_groups, read_two_samples
from judgestats.stats.inference import distributions, result
from judgestats.stats.inference.distributions import share_interval
from judgestats.stats.inference.multiplicity import Adjustment, with_adjusted
from judgestats.stats.inference.rank_distributions import level_ranks, rank_sum_null


def rank_share_effects(
    data: Groups, h: float, reason: str, level: float
) -> tuple[result.Estimate, result.Estimate]:
    """Rank epsilon squared and rank eta squared with the interval of what both estimate."""
    n, k = data.sample.n_items, len(data.names)
    epsilon = h / (n - 1) if not reason else math.nan
    eta = (h - k + 1) / (n - k) if not reason and n > k else math.nan
    interval: result.Interval | None = None
    notes: tuple[result.Note, ...] = ()
    if not reason and n > k and 0 < epsilon < 1:
        f = (epsilon / (k - 1)) / ((1 - epsilon) / (n - k))
        low, high = share_interval(f, k - 1, n - k, n, level)
        interval = result.Interval(
            low=low, high=max(high, epsilon), level=level, method="noncentral F on ranks"
        )
    elif not reason:
        message = "No interval: the groups' ranks coincide or separate completely."
        notes = result.Note.where(True, "boundary", message)
    first = result.Estimate(
        name="epsilon_squared",
        label="rank epsilon squared",
        estimator="H / (n - 1)",
        estimate=epsilon,
        interval=interval,
        sample=data.sample,
        notes=notes,
        reason=reason,
    )
    second = first.replace(
        name="eta_squared_ranks",
        label="rank eta squared",
        estimator="(H - k + 1) / (n - k), not cut at 0",
        estimate=eta,
        interval=interval if n > k else None,
        reason=reason or ("" if n > k else "every group holds one value, so n - k is 0"),
    )
    return first, second


def mann_whitney_outcome(x: Floats, y: Floats) -> dict[str, Any]:
    """Statistic W (U of x), p-value and method."""
    n, m = x.size, y.size
    method = "Wilcoxon rank sum test"
    undefined = {"statistic": math.nan, "p_value": math.nan, "z": math.nan, "method": method}
    ranks = level_ranks(np.concatenate([x, y]))
    if np.ptp(ranks) == 0:
        return undefined | {"reason": "all values are equal"}
    w = float(ranks[:n].sum()) - n * (n + 1) / 2
    centred = w - n * m / 2
    total = n + m
    squares = float(np.sum((ranks - (total + 1) / 2) ** 2))
    spread = math.sqrt(n * m / (total * (total - 1)) * squares)
    out = {"statistic": w, "z": centred / spread, "reason": ""}
    if n < 50 and m < 50 and np.unique(ranks).size == total:
        null = rank_sum_null(np.arange(1, total + 1), n)
        p = tail_p(null, round(float(ranks[:n].sum())), n * (total + 1) / 2)
        return out | {"p_value": p, "method": "Wilcoxon rank sum exact test"}
    z = (centred - float(np.sign(centred)) * 0.5) / spread
    return out | {"p_value": normal_p(z), "method": method + " with continuity correction"}


def mann_whitney_test(
    x: ArrayLike, y: ArrayLike, *, names: Sequence[Any] | None = None, level: float = 0.95
) -> result.TestResult:
    r"""Mann-Whitney test: do two independent samples differ in location?

    Parameters
    ----------
    x, y : array-like
        Two samples; missing values are left out and counted.
    names : sequence, optional
        Names of the two samples.
    level : float
        Level of the effects' intervals.

    Returns
    -------
    TestResult
        Effects: rank-biserial correlation (Cliff's delta), Hodges-Lehmann shift.

    Raises
    ------
    InputError
        If the data cannot be interpreted as two samples.

    Notes
    -----
    :math:`W = \sum_{i \le n} r_i - n(n+1)/2`, the number of pairs with x above y, ties half.
    Exact where both samples are below 50 and nothing is tied, else normal with continuity
    correction: R's rules. scipy's ``mannwhitneyu(method="auto")`` is asymptotic with ties and exact
    up to 8 values only; own code, validated against R. Values count as independent: on paired or
    clustered items `wilcoxon_signed_rank` is primary.

    References
    ----------
    Mann & Whitney (1947), Ann. Math. Statist. 18, 50-60.

    Examples
    --------
    >>> result = mann_whitney_test([5.1, 6.2, 7.3, 8.4], [4.0, 4.5, 5.0, 6.0])
    >>> result.statistic, round(result.p_value, 6), round(result.effect.estimate, 3)
    (15.0, 0.057143, 0.875)
    """
    where = "mann_whitney_test"
    data = read_two_samples(x, y, where=where, names=names)
    first, second = data.samples
    a, b = data.names
    outcome = mann_whitney_outcome(first, second)
    return result.TestResult(
        name=where,
        method=outcome["method"],
        statistic=outcome["statistic"],
        statistic_name="W",
        p_value=outcome["p_value"],
        sample=data.sample,
        null_hypothesis=f"{a} and {b} are alike",
        alternative=f"{a} differs from {b}",
        why="The Mann-Whitney test was used because the two samples are independent; it asks "
        "whether a value of one tends to exceed a value of the other.",
        effects=(
            dominance(first, second, sample=data.sample, level=level),
            shift_estimate(first, second, sample=data.sample, level=level),
        ),
        data_name=f"{a} and {b}",
        notes=data.notes,
        reason=outcome["reason"],
        details={"z": outcome["z"], "sizes": (first.size, second.size)},
    )


def pairwise_mann_whitney(
    values: object, *, adjust: Adjustment = "holm", names: Sequence[Any] | None = None
) -> result.Comparisons:
    """Mann-Whitney tests of all pairs of groups, adjusted as one family.

    Parameters
    ----------
    values, names
        See `kruskal_test`.
    adjust : str
        See `p_adjust`.

    Returns
    -------
    Comparisons
        Estimate: Hodges-Lehmann shift a - b with its 95% interval (each by itself, not
        simultaneous); effect: Cliff's delta.

    Raises
    ------
    InputError
        If the data cannot be interpreted as groups.

    Notes
    -----
    As R's ``pairwise.wilcox.test``: every pair is ranked by itself.

    Examples
    --------
    >>> family = pairwise_mann_whitney({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8], "c": [2, 9, 10, 11]})
    >>> [round(r.p_adjusted, 4) for r in family.rows]
    [0.0857, 0.293, 0.3429]
    """
    where = "pairwise_mann_whitney"
    data = read_groups(values, where=where, names=names)
    rows = []
    for (a, x), (b, y) in itertools.combinations(zip(data.names, data.samples, strict=True), 2):
        outcome = mann_whitney_outcome(x, y)
        shift = shift_estimate(x, y, sample=data.sample, level=0.95)
        delta = dominance(x, y, sample=data.sample, level=0.95).estimate
        rows.append(
            result.Comparison(
                a=a,
                b=b,
                estimate=shift.estimate,
                estimate_name="location_shift",
                statistic=outcome["statistic"],
                p_value=outcome["p_value"],
                interval=shift.interval,
                effect=delta,
                effect_name="cliffs_delta",
                n=x.size + y.size,
                reason=outcome["reason"],
            )
        )
    return result.Comparisons(
        symbol="W",
        name=where,
        method="Pairwise Mann-Whitney tests",
        adjust=adjust,
        family=f"pairs of {len(data.names)} groups",
        rows=with_adjusted(rows, adjust),
        sample=data.sample,
        notes=data.notes,
    )


def kruskal_test(
    values: object,
    *,
    ties: Literal["rounded", "exact"] = "rounded",
    names: Sequence[Any] | None = None,
    level: float = 0.95,
) -> result.TestResult:
    r"""Kruskal and Wallis' test: do independent groups differ in location?

    Parameters
    ----------
    values : mapping, or list of samples
        Name -> sample, or one sample per group. Missing values are left out and counted.
    ties : {"rounded", "exact"}
        Which values are tied: those equal to 12 digits (0.1 + 0.2 and 0.3 are), or bit for bit, as
        scipy and R rank them and hence the studies that used them: for replications.
    names : sequence, optional
        Names of the samples of a list.
    level : float
        Level of the effects' interval.

    Returns
    -------
    TestResult
        Effects: rank epsilon squared, rank eta squared.

    Raises
    ------
    InputError
        If the data cannot be interpreted as groups.

    Notes
    -----
    :math:`H = (n-1) \sum_j n_j (\bar R_j - \bar R)^2 / \sum_i (r_i - \bar R)^2`, tie-corrected as
    R's ``kruskal.test``. scipy's ``kruskal`` gives the same H; pingouin's has no effect size. Rank
    eta squared may be negative (rstatix); effectsize cuts it at 0. The interval is for the share of
    the variance of the ranks that is between the groups, by inverting the noncentral F of the
    ranks. Values count as independent: on paired or clustered items `friedman_test` is primary.

    References
    ----------
    Kruskal & Wallis (1952), JASA 47, 583-621.

    Examples
    --------
    >>> result = kruskal_test({"a": [1, 2, 3, 4], "b": [3, 5, 6, 7], "c": [6, 8, 9, 9]})
    >>> round(result.statistic, 4), round(result.p_value, 5)
    (8.1723, 0.0168)
    """
    where = "kruskal_test"
    data = read_groups(values, where=where, names=names)
    one_of(where, "ties", ties, ("rounded", "exact"))
    pooled = np.concatenate(data.samples)
    ranks = level_ranks(pooled) if ties == "rounded" else distributions.ranks(pooled)
    n, k = pooled.size, len(data.names)
    variance = float(ranks.var(ddof=1))
    reason = "all values are equal" if variance == 0 else ""
    sizes = np.array([s.size for s in data.samples])
    codes = np.repeat(np.arange(k), sizes)
    means = np.bincount(codes, weights=ranks) / sizes
    h = math.nan if reason else float(np.sum(sizes * (means - (n + 1) / 2) ** 2) / variance)
    return result.TestResult(
        name=where,
        method="Kruskal-Wallis rank sum test",
        statistic=h,
        statistic_name="Kruskal-Wallis chi-squared",
        df={"df": float(k - 1)},
        p_value=math.nan if reason else float(distributions.chi2.sf(h, k - 1)),
        sample=data.sample,
        null_hypothesis="the groups are alike",
        why="The Kruskal-Wallis test was used because the groups are independent and only the "
        "order of the values is compared.",
        effects=rank_share_effects(data, h, reason, level),
        estimates={f"mean rank {g}": float(m) for g, m in zip(data.names, means, strict=True)},
        data_name="samples",
        notes=data.notes,
        reason=reason,
        details={"distribution": "chi2", "ties": ties},
    )
