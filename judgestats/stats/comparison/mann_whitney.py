"""The Mann-Whitney (Wilcoxon rank-sum) test of two independent samples, with R's rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.comparison.effects_ranks import dominance
from judgestats.stats.comparison.group_permutation import group_permutation_p
from judgestats.stats.comparison.location_shift import shift_estimate
from judgestats.stats.comparison.wilcoxon import (
    ALTERNATIVES,
    Alternative,
    continuity,
    normal_p,
    tail_p,
)
from judgestats.stats.inference.adjust import Adjustment, with_adjusted
from judgestats.stats.inference.keywords import Permuted, with_keywords
from judgestats.stats.inference.rank_distributions import rank_sum_null
from judgestats.stats.inference.result import Comparison, Comparisons, Note, TestResult
from judgestats.stats.inference.rounding_noise import level_ranks
from judgestats.stats.layouts.formula import Missing
from judgestats.stats.layouts.groups import read_groups, read_two_samples

_WHY = (
    "The Mann-Whitney test was used because the two samples are independent; it asks whether a "
    "value of one tends to exceed a value of the other."
)


def mann_whitney_outcome(
    x: Floats, y: Floats, alternative: Alternative, exact: bool | None, correct: bool
) -> dict[str, Any]:
    """Statistic W (U of x), p-value and method."""
    n, m = x.size, y.size
    method = "Wilcoxon rank sum test"
    undefined = {"statistic": math.nan, "p_value": math.nan, "z": math.nan, "method": method}
    if n == 0 or m == 0:
        return undefined | {"reason": "a sample is empty"}
    ranks = level_ranks(np.concatenate([x, y]))
    if np.ptp(ranks) == 0:
        return undefined | {"reason": "all values are equal"}
    w = float(ranks[:n].sum()) - n * (n + 1) / 2
    centred = w - n * m / 2
    total = n + m
    spread = math.sqrt(
        n * m / (total * (total - 1)) * float(np.sum((ranks - (total + 1) / 2) ** 2))
    )
    untied = np.unique(ranks).size == total
    out = {"statistic": w, "z": centred / spread, "reason": ""}
    if (n < 50 and m < 50 and untied) if exact is None else exact:
        scores = np.arange(1, total + 1) if untied else np.rint(2 * ranks).astype(np.int64)
        null = rank_sum_null(scores, n)
        observed = round(float(ranks[:n].sum()) * (1 if untied else 2))
        centre = n * float(scores.sum()) / total
        p = tail_p(null, observed, centre, alternative)
        return out | {"p_value": p, "method": "Wilcoxon rank sum exact test"}
    z = (centred - continuity(centred, alternative, correct)) / spread
    method += " with continuity correction" if correct else ""
    return out | {"p_value": normal_p(z, alternative), "method": method}


@with_keywords()
def mann_whitney_test(
    x: ArrayLike | str,
    y: object = None,
    *,
    alternative: Alternative = "two-sided",
    exact: bool | None = None,
    correct: bool = True,
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Permuted],
) -> TestResult:
    r"""Mann-Whitney test: do two independent samples differ in location?

    Parameters
    ----------
    x, y : array-like
        Two samples; or ``"score ~ group"`` and a frame with two groups.
    alternative : {"two-sided", "greater", "less"}
        ``greater``: x tends to be larger than y.
    exact : bool, optional
        Default R's rule: exact where both samples are below 50 and nothing is tied. True: exact
        given the ties (shift algorithm, as exactRankTests and coin). False: normal.
    correct : bool
        Continuity correction of the normal approximation, as R's default.
    names : sequence, optional
        Names of the two samples.
    cluster : array-like or str, optional
        Cluster of each value (x first, then y), or the frame's column: p by permutation, of labels
        within clusters that hold both groups, otherwise of whole clusters.
    missing : {"drop", "raise"}
        Missing values are left out and counted, or refused.

    Returns
    -------
    TestResult
        Effects: rank-biserial correlation (Cliff's delta), Hodges-Lehmann shift.

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    Notes
    -----
    :math:`W = \sum_{i \le n} r_i - n(n+1)/2`, the number of pairs with x above y, ties half.
    scipy's ``mannwhitneyu(method="auto")`` is asymptotic with ties and exact up to 8 values
    only; own code, held to R. On paired items `wilcoxon_signed_rank` is primary.

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
    one_of(where, "alternative", alternative, ALTERNATIVES)
    data = read_two_samples(
        x, y, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    first, second = data.split()
    a, b = data.names
    outcome = mann_whitney_outcome(first, second, alternative, exact, correct)
    notes = list(data.notes)
    codes = None
    if data.cluster is not None:
        codes = np.concatenate([data.cluster[data.codes == g] for g in (0, 1)])
        if not outcome["reason"]:
            ranks = level_ranks(data.values)
            p, what = group_permutation_p(
                ranks - ranks.mean(),
                data,
                n_permutations=inference["n_permutations"],
                seed=inference["seed"],
                side=alternative,
            )
            outcome |= {
                "p_value": p,
                "method": "Wilcoxon rank sum test "
                f"({inference['n_permutations']} permutations of labels {what})",
                "p_floor": 1 / (inference["n_permutations"] + 1),
            }
    shift = shift_estimate(
        first,
        second,
        sample=data.sample,
        correct=correct,
        level=inference["level"],
    )
    if data.cluster is not None:
        message = "No interval: the shift's interval takes values as independent."
        shift = shift.replace(interval=None, notes=(Note(code="no_interval", message=message),))
    side = {"two-sided": "differs from", "greater": "tends to exceed", "less": "tends to lie below"}
    return TestResult(
        name=where,
        method=outcome["method"],
        statistic=outcome["statistic"],
        statistic_name="W",
        p_value=outcome["p_value"],
        sample=data.sample,
        null_hypothesis=f"{a} and {b} are alike",
        alternative=f"{a} {side[alternative]} {b}",
        why=_WHY,
        effects=(
            dominance(
                first,
                second,
                sample=data.sample,
                interval=None,
                cluster=codes,
                level=inference["level"],
                seed=inference["seed"],
            ),
            shift,
        ),
        data_name=data.data_name if isinstance(x, str) else f"{a} and {b}",
        notes=tuple(notes),
        reason=outcome["reason"],
        details=MappingProxyType(
            {"z": outcome["z"], "sizes": (first.size, second.size)}
            | {k: v for k, v in outcome.items() if k == "p_floor"}
        ),
    )


def pairwise_mann_whitney(
    values: object,
    groups: object = None,
    *,
    adjust: Adjustment = "holm",
    exact: bool | None = None,
    correct: bool = True,
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    level: float = 0.95,
) -> Comparisons:
    """Mann-Whitney tests of all pairs of groups, adjusted as one family.

    Parameters
    ----------
    values, groups, names, missing
        See `kruskal_test`.
    adjust : str
        See `p_adjust`.
    exact, correct
        See `mann_whitney_test`.
    level : float
        Level of the shifts' intervals (each by itself, not simultaneous).

    Returns
    -------
    Comparisons
        Estimate: Hodges-Lehmann shift a - b; effect: Cliff's delta.

    Raises
    ------
    InputError
        If the data cannot be read as groups.

    Notes
    -----
    As R's ``pairwise.wilcox.test``. Unlike Dunn's test, every pair is ranked by itself.

    Examples
    --------
    >>> family = pairwise_mann_whitney({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8], "c": [2, 9, 10, 11]})
    >>> [round(r.p_adjusted, 4) for r in family.rows]
    [0.0857, 0.293, 0.3429]
    """
    where = "pairwise_mann_whitney"
    data = read_groups(values, groups, where=where, names=names, missing=missing)
    samples = data.split()
    pairs = [(i, j) for i in range(len(samples)) for j in range(i + 1, len(samples))]
    if not pairs:
        raise InputError(
            f"{where}: at least 2 groups are required, got {len(samples)}. Check the labels."
        )
    rows = []
    for i, j in pairs:
        x, y = samples[i], samples[j]
        outcome = mann_whitney_outcome(x, y, "two-sided", exact, correct)
        shift = shift_estimate(x, y, sample=data.sample, correct=correct, level=level)
        delta = dominance(
            x, y, sample=data.sample, interval="none", cluster=None, level=level
        ).estimate
        rows.append(
            Comparison(
                a=data.names[i],
                b=data.names[j],
                estimate=shift.estimate,
                estimate_name="Hodges-Lehmann shift",
                statistic=outcome["statistic"],
                p_value=outcome["p_value"],
                interval=shift.interval,
                effect=delta,
                effect_name="Cliff's delta",
                n=x.size + y.size,
                reason=outcome["reason"],
            )
        )
    return Comparisons(
        symbol="W",
        name=where,
        method="Pairwise Mann-Whitney tests",
        adjust=adjust,
        family=f"pairs of {len(samples)} groups",
        rows=with_adjusted(rows, adjust),
        sample=data.sample,
        notes=data.notes,
    )
