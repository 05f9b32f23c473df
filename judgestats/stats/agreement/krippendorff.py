"""Krippendorff's alpha for nominal, ordinal, interval and ratio data with missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.attainable_minimum import least_krippendorff_alpha
from judgestats.stats.inference.counted_codes import CountedCodes
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.result import Estimate
from judgestats.stats.inference.sum_statistics import (
    SumStatistic,
    estimate_from_sums,
)
from judgestats.stats.layouts.count_table import (
    CountTable,
    count_table,
    rare_category_notes,
)

Metric = Literal["nominal", "ordinal", "interval", "ratio"]

_METRICS = ("nominal", "ordinal", "interval", "ratio")


def _distance(values: Floats, metric: str) -> Floats:
    """Squared difference between categories (nominal, interval, ratio)."""
    if metric == "nominal":
        return 1.0 - np.eye(values.size)
    gap = np.subtract.outer(values, values)
    if metric == "interval":
        return np.asarray(gap**2)
    total = np.add.outer(values, values)
    return np.divide(gap, total, out=np.zeros_like(gap), where=total != 0) ** 2


def _pairable(counts: Floats) -> tuple[Floats, Floats]:
    """Counts of items judged at least twice (others 0), and their number of judgments."""
    r = (counts @ np.ones(counts.shape[-1]))[..., None]
    return np.where(r >= 2, counts, 0.0), r


def _fixed_metric(distance: Floats) -> SumStatistic:
    """Alpha where the difference between categories is known beforehand: linear in q per item."""

    def per_item(counts: NDArray[Any]) -> Floats:
        paired, r = _pairable(counts)
        spread = np.einsum("...k,...k->...", paired @ distance, paired)[..., None]
        observed = np.divide(spread, r - 1, out=np.zeros_like(spread), where=r >= 2)
        return np.concatenate([observed, paired], axis=-1)

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        margin = s[..., 1:]
        n = margin.sum(axis=-1)
        expected = np.einsum("...k,...k->...", margin @ distance, margin)
        return np.asarray(1.0 - (n - 1.0) * s[..., 0] / expected)

    return SumStatistic(per_item=per_item, combine=combine)


def _ordinal_metric(q: int) -> SumStatistic:
    """Alpha with the ordinal difference, which depends on how often each category occurs."""

    def per_item(counts: NDArray[Any]) -> Floats:
        paired, r = _pairable(counts)
        both = paired[..., :, None] * paired[..., None, :]
        both[..., np.arange(q), np.arange(q)] -= paired
        scale = np.divide(1.0, r - 1, out=np.zeros_like(r), where=r >= 2)
        return np.concatenate(
            [(both * scale[..., None]).reshape(*counts.shape[:-1], q * q), paired], axis=-1
        )

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        coincidence = s[..., : q * q].reshape(*s.shape[:-1], q, q)
        margin = s[..., q * q :]
        # Distance between k and l: judgments between their midpoints.
        middle = np.cumsum(margin, axis=-1) - margin / 2.0
        distance = (middle[..., :, None] - middle[..., None, :]) ** 2
        n = margin.sum(axis=-1)
        expected = np.sum(distance * margin[..., :, None] * margin[..., None, :], axis=(-2, -1))
        return np.asarray(
            1.0 - (n - 1.0) * np.sum(coincidence * distance, axis=(-2, -1)) / expected
        )

    return SumStatistic(per_item=per_item, combine=combine)


@with_keywords(permutations=ON_DEMAND)
def krippendorff_alpha(
    verdicts: ArrayLike | CountTable,
    *,
    metric: Metric = "nominal",
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Krippendorff's alpha: 1 minus observed over expected disagreement.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        None, NaN or empty text where nothing was read; items with fewer than two are left out.
    metric : {"nominal", "ordinal", "interval", "ratio"}
        How far two verdicts are apart. Other than nominal needs numbers, or `categories` in order
        (then ordinal only).
    categories : sequence, optional
        All categories in order. Alpha does not depend on categories that never occur.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        See `judgestats.stats.fleiss_kappa`; L holds for every metric. The items are
        resampled; Krippendorff's own bootstrap resamples pairs as if they were independent, which
        is too short.
    n_permutations : int
        Permutations of the null (verdicts over items within each replication); 0 for none.

    Returns
    -------
    Estimate
        NaN with the reason where every verdict is the same.

    Raises
    ------
    InputError
        If the metric does not fit the verdicts.

    Notes
    -----
    .. math:: \alpha = 1 - (n - 1)
              \frac{\sum_{kl} o_{kl} \delta_{kl}}{\sum_{kl} n_k n_l \delta_{kl}}

    over the coincidence matrix o of pairable verdicts. R's irr::kripp.alpha and
    DescTools::KrippAlpha are wrong for complete data with R > 2 raters (their n is the number of
    ordered pairs, N R (R - 1), instead of N R); krippendorffsalpha keeps items with a single
    verdict and treats ordinal as interval; irrCAC's "ordinal" is another weight. The Python
    package ``krippendorff`` agrees.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> verdicts = [[1, 1, None], [2, 2, 3], [3, 3, 3], [3, None, 3], [None, 1, None]]
    >>> round(krippendorff_alpha(verdicts).estimate, 4)
    0.6786
    >>> krippendorff_alpha([["A", "A"], ["A", "A"]]).reason
    'every verdict is A: nothing can be told apart, expected disagreement is 0 (raw agreement is 1)'
    """
    where = "krippendorff_alpha"
    one_of(where, "metric", metric, _METRICS, advice="Letters and names are nominal.")
    table = count_table(verdicts, categories=categories, where=where)
    numeric = all(isinstance(c, (int, float)) for c in table.categories)
    if (metric == "ordinal" and not table.is_ordered) or (
        metric in {"interval", "ratio"} and not numeric
    ):
        raise InputError(
            f"{where}: metric {metric!r} needs {'ordered' if metric == 'ordinal' else 'numeric'} "
            "verdicts, got text labels. Use metric='nominal'"
            + (", or name the categories in order." if metric == "ordinal" else ".")
        )
    values = table.values()
    if metric != "nominal" and np.any(np.diff(values) <= 0):
        raise InputError(
            f"{where}: categories must increase for metric {metric!r}, got {table.categories}. "
            "Sort them."
        )
    if metric == "ratio" and np.any(values < 0):
        raise InputError(
            f"{where}: metric 'ratio' needs a scale with a zero and no negative values, got "
            f"{values.min():g}. Use metric='interval'."
        )
    q = len(table.categories)
    statistic = (
        _ordinal_metric(q) if metric == "ordinal" else _fixed_metric(_distance(values, metric))
    )
    paired, _ = _pairable(table.counts)
    margin = paired.sum(axis=0)
    seen = [c for c, n in zip(table.categories, margin, strict=True) if n]
    if not seen:
        reason = "no item has two verdicts"
    else:
        reason = (
            f"every verdict is {seen[0]}: nothing can be told apart, expected disagreement is 0 "
            "(raw agreement is 1)"
        )
    return estimate_from_sums(
        statistic,
        table.counts,
        name="krippendorff_alpha" if metric == "nominal" else f"krippendorff_alpha_{metric}",
        label=f"Krippendorff's alpha ({metric})",
        estimator=f"coincidence matrix, {metric} metric; items with two or more verdicts",
        sample=table.sample(least=2),
        reason=reason,
        where=where,
        scale="log_ratio",
        least=least_krippendorff_alpha(table.per_item),
        codes=table.codes,
        from_codes=CountedCodes(q),
        **inference,
        notes=rare_category_notes(paired),
        details={
            "categories": table.categories,
            "pairable_verdicts": float(margin.sum()),
            "metric": metric,
        },
    )
