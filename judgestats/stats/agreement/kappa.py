"""Kappas of two and of several raters, and Krippendorff's alpha."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.chance_corrected import (
    ONE_VERDICT,
    WeightName,
    agreement_terms,
    chance_corrected,
    chance_fleiss,
    least_conger_kappa,
    least_fleiss_kappa,
    least_krippendorff_alpha,
    weights_for,
)
from judgestats.stats.designs.count_table import (
    CountTable,
    count_table,
    encode_verdicts,
    rare_category_notes,
)
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.sum_statistics import (
    CountedCodes,
    SumStatistic,
    counts_of_codes,
    estimate_from_sums,
    influence,
)


def _fleiss_tests(table: CountTable) -> dict[str, Any]:
    """Z tests of kappa = 0, overall and per category; complete tables only (Fleiss et al. 1979)."""
    counts = table.counts
    n, r = counts.shape[0], table.per_item
    if n == 0 or np.ptp(r) > 0 or r[0] < 2:
        return {}
    m = float(r[0])
    p = counts.sum(axis=0) / (n * m)
    pq = p * (1 - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = 1 - np.sum(counts * (m - counts), axis=0) / (n * m * (m - 1) * pq)
        overall = 1 - np.sum(counts * (m - counts)) / (n * m * (m - 1) * pq.sum())
        se_each = math.sqrt(2 / (n * m * (m - 1)))
        inside = pq.sum() ** 2 - np.sum(pq * (1 - 2 * p))
        se = se_each * math.sqrt(max(inside, 0.0)) / pq.sum()
        z, z_each = overall / se, each / se_each
    return {
        "z_no_agreement": float(z),
        "p_no_agreement": float(2 * ndtr(-abs(z))),
        "by_category": {
            str(c): {"kappa": float(k), "z": float(v), "p_value": float(2 * ndtr(-abs(v)))}
            for c, k, v in zip(table.categories, each, z_each, strict=True)
        },
    }


@with_keywords(permutations=ON_DEMAND)
def fleiss_kappa(
    verdicts: ArrayLike | CountTable,
    *,
    categories: Sequence[Any] | None = None,
    weights: WeightName | ArrayLike = "unweighted",
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Fleiss' kappa: agreement beyond chance of exchangeable replications.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        Text or numbers; None, NaN or empty text where nothing was read.
    categories : sequence, optional
        All categories; kappa does not depend on those that never occur (unless weighted).
    weights : {"unweighted", "linear", "quadratic", "ordinal"} or array-like, shape (q, q)
        Credit for near misses on ordered categories.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        ``jackknife`` (default, by docs/simulations/coverage_verdicts.csv) leaves out one
        cluster at a time, t distribution on the scale log((x - L) / (1 - x)) with L the least value
        that such data can give (-1 / (R - 1) with equal R; with weights on -log(1 - x)); it covers
        .92 to .98 with even categories, and less, like every method, where one is rare (then a note
        says so).
    n_permutations : int
        Permutations of the null (verdicts over items within each replication); 0 for none.

    Returns
    -------
    Estimate
        NaN with the reason for a judge that always says the same. ``details``: raw and chance
        agreement, category shares; for complete unweighted data also z and p of kappa = 0,
        overall and per category.

    Raises
    ------
    InputError
        If a verdict is no category, or the shape or weights do not fit.

    Notes
    -----
    .. math:: \kappa = \frac{p_a - p_e}{1 - p_e}, \quad p_e = \sum_{kl} W_{kl} \pi_k \pi_l

    Missing verdicts: items weigh equally (Gwet), as irrCAC; irr::kappam.fleiss drops every item
    with a missing verdict. Items nobody judged are left out; irrCAC then returns NaN. The z test
    (details) assumes that no judge agrees beyond chance and independent items; it is no interval.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters. Psychol Bull 76, 378-382.
    Fleiss, Nee & Landis (1979), Psychol Bull 86, 974-977.

    Examples
    --------
    >>> verdicts = [["A", "A", "A"], ["A", "A", "B"], ["B", "B", "B"], ["A", "A", "A"]]
    >>> round(fleiss_kappa(verdicts).estimate, 4)
    0.625
    >>> fleiss_kappa([["A", "A"], ["A", "A"]]).estimate
    nan
    """
    plain = isinstance(weights, str) and weights == "unweighted"
    return chance_corrected(
        verdicts,
        name="fleiss_kappa",
        label="Fleiss' kappa" if plain else "Fleiss' weighted kappa",
        chance=chance_fleiss,
        needs_categories=False,
        reason_one=ONE_VERDICT,
        categories=categories,
        weights=weights,
        scale="log_ratio",
        least=lambda table: least_fleiss_kappa(table.per_item),
        **inference,
        extra=_fleiss_tests if plain else None,
    )


def _with_codes(
    verdicts: ArrayLike | CountTable, categories: Sequence[Any] | None, *, where: str
) -> tuple[CountTable, Ints]:
    """The table and the codes of judges who rated anything; refuses counts alone."""
    table = count_table(verdicts, categories=categories, where=where)
    if table.codes is None:
        raise InputError(
            f"{where}: it needs to know which judge gave which verdict, got a table of counts "
            "alone. Pass the verdicts (items x judges), or use fleiss_kappa."
        )
    return table, table.codes[:, np.any(table.codes >= 0, axis=0)]


def _one_hot(codes: Ints, q: int) -> Floats:
    """Codes (..., r) to indicators (..., r, q); missing is all zero."""
    return np.asarray(codes[..., None] == np.arange(q), dtype=float)


@with_keywords(permutations=ON_DEMAND)
def conger_kappa(
    verdicts: ArrayLike | CountTable,
    *,
    categories: Sequence[Any] | None = None,
    weights: WeightName | ArrayLike = "unweighted",
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Conger's kappa: Cohen's kappa for several judges, each with their own use of categories.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_judges), or CountTable made from verdicts
        Columns are judges (not exchangeable); None, NaN or empty text where nothing was read.
    categories, weights
        See `fleiss_kappa`; L is -1 / (r - 1) with r judges of all items, for every named weight.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the verdicts cannot be told apart by judge, or the weights do not fit.

    Notes
    -----
    Chance agreement is the mean over pairs of judges of ``sum W_kl p_gk p_hl``, with p_gk judge
    g's shares among the items they judged. For two judges it is Cohen's kappa.

    References
    ----------
    Conger (1980), Integration and generalization of kappas for multiple raters. Psychol Bull 88,
    322-328. Gwet (2021) for missing values.

    Examples
    --------
    >>> verdicts = [["A", "A", "A"], ["A", "A", "B"], ["B", "B", "B"], ["A", "A", "A"]]
    >>> round(conger_kappa(verdicts).estimate, 4)
    0.6364
    """
    where = "conger_kappa"
    table, codes = _with_codes(verdicts, categories, where=where)
    matrix, weight_name = weights_for(table, weights, where=where)
    q, r = len(table.categories), codes.shape[1]

    def per_item(c: NDArray[Any]) -> Floats:
        hot = _one_hot(c, q)
        head = agreement_terms(hot.sum(axis=-2), matrix)[..., 1:3]
        return np.concatenate([head, hot.reshape(*c.shape[:-1], r * q)], axis=-1)

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        judged = s[..., 2:].reshape(*s.shape[:-1], r, q)
        shares = judged / judged.sum(axis=-1, keepdims=True)
        # Sum over ordered pairs g != h = (all pairs) - (each judge with themselves).
        total = shares.sum(axis=-2)
        every = np.sum((total @ matrix) * total, axis=-1)
        own = np.sum((shares @ matrix) * shares, axis=(-2, -1))
        pe = (every - own) / (r * (r - 1)) if r > 1 else every * np.nan
        return np.asarray((s[..., 1] / s[..., 0] - pe) / (1 - pe))

    seen = [str(c) for c, n in zip(table.categories, table.counts.sum(axis=0), strict=True) if n]
    if r < 2:
        reason = f"agreement between judges needs two of them, there is {r}"
    elif not np.any(table.per_item >= 2):
        reason = "no item has two verdicts"
    else:
        reason = ONE_VERDICT.format(only=seen[0]) if len(seen) == 1 else "chance agreement is 1"
    return estimate_from_sums(
        SumStatistic(per_item=per_item, combine=combine),
        codes,
        name=where,
        label="Conger's kappa" if weight_name == "unweighted" else "Conger's weighted kappa",
        estimator=f"{weight_name}; chance over pairs of judges with their own category shares",
        sample=table.sample(),
        reason=reason,
        where=where,
        scale="log_ratio",
        least=least_conger_kappa(codes >= 0) if isinstance(weights, str) else math.nan,
        codes=codes,
        **inference,
        notes=rare_category_notes(table.counts),
        details={"categories": table.categories, "n_judges": r, "weights": weight_name},
    )


@with_keywords(permutations=ON_DEMAND)
def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    categories: Sequence[Any] | None = None,
    weights: WeightName | ArrayLike = "unweighted",
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Cohen's kappa of two judges (or a judge and a person), weighted if asked.

    Parameters
    ----------
    first, second : array-like, shape (n_items,)
        Verdicts on the same items; None, NaN or empty text where nothing was read. Items with
        one missing are left out and counted.
    categories : sequence, optional
        All categories, in order for weights.
    weights : {"unweighted", "linear", "quadratic", "ordinal"} or array-like, shape (q, q)
        irr's ``equal`` is linear and ``squared`` quadratic (Fleiss-Cohen).
    cluster, level, interval, n_resamples, n_permutations, seed
        See `fleiss_kappa`; L is -1 (see `judgestats.stats.agreement.chance_corrected`; weights of
        one's own, which may have no such end, are on -log(1 - x)).

    Returns
    -------
    Estimate
        ``details``: the table of both, raw and chance agreement, the asymptotic standard error
        ``ase`` (as vcd::Kappa), and z and p of kappa = 0 (as irr::kappa2).

    Raises
    ------
    InputError
        If the lengths differ, a verdict is no category, or the weights do not fit.

    Notes
    -----
    .. math:: \kappa_w = \frac{\sum W_{kl} p_{kl} - \sum W_{kl} p_{k.} p_{.l}}
              {1 - \sum W_{kl} p_{k.} p_{.l}}

    psych 2.2.9's variance of the weighted kappa is 0, which is wrong.

    References
    ----------
    Cohen (1968), Weighted kappa. Psychol Bull 70, 213-220.
    Fleiss, Cohen & Everitt (1969), Psychol Bull 72, 323-327.

    Examples
    --------
    >>> judge = ["A", "A", "B", "B", "A", "tie"]
    >>> human = ["A", "B", "B", "B", "A", "A"]
    >>> round(cohen_kappa(judge, human).estimate, 4)
    0.4286
    """
    where = "cohen_kappa"
    a, b = np.asarray(first), np.asarray(second)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(
            f"{where}: first and second must be two verdicts on the same items, got shapes "
            f"{a.shape} and {b.shape}. Align them by item."
        )
    both = np.column_stack([a.astype(object), b.astype(object)])
    codes, named = encode_verdicts(both, categories=categories, where=where)
    table = CountTable(
        counts=np.zeros((codes.shape[0], len(named))), categories=named, codes=codes,
        given=categories is not None,
    )  # fmt: skip
    matrix, weight_name = weights_for(table, weights, where=where)
    q = len(named)
    read = np.all(codes >= 0, axis=1)
    n_out = int(np.sum(~read))

    def per_item(c: NDArray[Any]) -> Floats:
        seen = np.all(c >= 0, axis=-1)
        cell = np.where(seen, c[..., 0] * q + c[..., 1], -1)
        return np.asarray(cell[..., None] == np.arange(q * q), dtype=float)

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        p = s.reshape(*s.shape[:-1], q, q) / s.sum(axis=-1)[..., None, None]
        po = np.sum(p * matrix, axis=(-2, -1))
        pe = np.sum((p.sum(axis=-1) @ matrix) * p.sum(axis=-2), axis=-1)
        return np.asarray((po - pe) / (1 - pe))

    statistic = SumStatistic(per_item=per_item, combine=combine)
    cells = per_item(codes).sum(axis=0).reshape(q, q)
    n = float(cells.sum())
    if n == 0:
        reason = "no item has both verdicts"
    else:
        used = [
            str(c) for c, k in zip(named, cells.sum(axis=0) + cells.sum(axis=1), strict=True) if k
        ]
        reason = ONE_VERDICT.format(only=used[0]) if len(used) == 1 else "chance agreement is 1"
    sample = dataclasses.replace(
        table.sample(),
        n_items=int(n),
        n_replications=None,
        n_replications_max=None,
        n_excluded=n_out,
        excluded={"one of the two verdicts is missing": n_out},
    )
    return estimate_from_sums(
        statistic,
        codes,
        name=where if weight_name == "unweighted" else f"{where}_{weight_name.split()[0]}",
        label="Cohen's kappa" if weight_name == "unweighted" else "Cohen's weighted kappa",
        estimator=f"{weight_name}; items with both verdicts",
        sample=sample,
        reason=reason,
        where=where,
        scale="log_ratio",
        least=-1.0 if isinstance(weights, str) else math.nan,
        codes=codes,
        **inference,
        notes=rare_category_notes(counts_of_codes(codes[read], q)),
        details={"categories": named, "table": cells, "weights": weight_name}
        | (_cohen_details(statistic, per_item(codes), cells / n, matrix, n) if n else {}),
    )


def _cohen_details(
    statistic: SumStatistic, terms: Floats, p: Floats, weights: Floats, n: float
) -> dict[str, float]:
    """Raw and chance agreement, the asymptotic standard error and the z test of kappa = 0."""
    row, col = p.sum(axis=1), p.sum(axis=0)
    po, pe = float(np.sum(p * weights)), float(row @ weights @ col)
    with np.errstate(divide="ignore", invalid="ignore"):
        ase = float(np.sqrt(np.sum(influence(statistic, terms) ** 2)))
        mean = (weights @ col)[:, None] + (weights.T @ row)[None, :]
        variance = (np.sum(np.outer(row, col) * (weights - mean) ** 2) - pe**2) / (
            n * np.square(np.float64(1 - pe))
        )
        z = float(np.float64(po - pe) / np.float64(1 - pe) / np.sqrt(variance))
    return {
        "percent_agreement": po,
        "chance_agreement": pe,
        "ase": ase,
        "z_no_agreement": z,
        "p_no_agreement": float(2 * distributions.norm.sf(abs(z))),
    }


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
