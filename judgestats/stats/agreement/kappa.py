"""Chance-corrected agreement: kappas, Gwet's AC1, and Krippendorff's alpha."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from judgestats.arrays import Floats, check_lengths
from judgestats.errors import InputError, one_of
from judgestats.stats.designs.count_table import (
    CountTable,
    count_table,
    encode_verdicts,
    rare_category_notes,
)
from judgestats.stats.inference import distributions, sum_statistics
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.result import Estimate, Note, Sample
from judgestats.stats.inference.sum_statistics import CountedCodes, SumStatistic, estimate_from_sums

Chance = Callable[[NDArray[Any]], NDArray[Any]]

ONE_VERDICT = "every verdict is {only}, so chance agreement is 1 (raw agreement is 1)"
"""Why a kappa is undefined for a judge that always says the same."""

MISSING = "pairs within items with two or more verdicts; shares from items with one or more"


def agreement_terms(counts: Floats) -> Floats:
    """Per-item terms: rated once, rated twice, pair agreement, category shares.

    Parameters
    ----------
    counts : ndarray, shape (..., n_items, q)

    Returns
    -------
    ndarray, shape (..., n_items, 3 + q)

    Examples
    --------
    >>> agreement_terms(np.array([[2.0, 1.0]])).round(3)
    array([[1.   , 1.   , 0.333, 0.667, 0.333]])
    """
    q = counts.shape[-1]
    # Products with a vector of ones: numpy's own sums over a short last axis are much slower.
    r = counts @ np.ones(q)
    pairs = np.einsum("...k,...k->...", counts, counts - 1.0)
    once, twice = r >= 1, r >= 2
    out = np.zeros((*counts.shape[:-1], 3 + q))
    out[..., 0], out[..., 1] = once, twice
    np.divide(pairs, r * (r - 1), out=out[..., 2], where=twice)
    np.divide(counts, r[..., None], out=out[..., 3:], where=once[..., None])
    return out


def agreement_statistic(chance: Chance) -> SumStatistic:
    """The coefficient (p_a - p_e) / (1 - p_e) of counts, with a given chance agreement."""

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        pa = s[..., 2] / s[..., 1]
        pe = chance(s[..., 3:] / s[..., :1])
        return np.asarray((pa - pe) / (1.0 - pe))

    return SumStatistic(per_item=agreement_terms, combine=combine)


def chance_gwet(shares: NDArray[Any]) -> NDArray[Any]:
    """Chance agreement of AC1: sum p(1 - p) / (q - 1)."""
    q = shares.shape[-1]
    total = np.einsum("...k,...k->...", shares, 1.0 - shares)
    return np.asarray(total / (q - 1) if q > 1 else total * np.nan)


def chance_fleiss(shares: NDArray[Any]) -> NDArray[Any]:
    """Chance agreement of Fleiss' kappa: sum p_k^2."""
    return np.asarray(np.einsum("...k,...k->...", shares, shares))


def chance_corrected(
    table: CountTable,
    *,
    name: str,
    label: str,
    chance: Chance,
    reason_one: str,
    least: float,
    notes: tuple[Note, ...],
    details: Mapping[str, Any] = MappingProxyType({}),
    **inference: Unpack[SumInference],
) -> Estimate:
    """A chance-corrected coefficient of the count table as an `Estimate` (shared by this family).

    Parameters
    ----------
    table : CountTable
    name, label : str
    chance : callable
        Shares to chance agreement.
    reason_one : str
        Why it is undefined where every verdict is the same.
    least : float
        The least value that such a table can give, for the scale ``log_ratio``.
    notes : tuple of Note
    details : mapping
        Further details.
    cluster, level, interval, n_resamples, n_permutations, seed
        As in the public functions.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from judgestats.stats.designs.count_table import count_table
    >>> table = count_table([["A", "A"], ["B", "B"], ["A", "B"]])
    >>> chance_corrected(table, name="k", label="Kappa", chance=chance_fleiss, reason_one="",
    ...     least=-1.0, notes=(), cluster=None, level=0.95, interval="none", n_resamples=2,
    ...     n_permutations=0, seed=0).estimate.__round__(4)
    0.3333
    """
    # The terms are needed here as well: they are made once and handed on as the data.
    statistic = SumStatistic(per_item=lambda x: x, combine=agreement_statistic(chance).combine)
    terms = agreement_terms(table.counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.ones(table.n_items) @ terms
        shares = s[3:] / s[0]
        pa, pe = float(s[2] / s[1]), float(chance(shares))
    seen = [str(c) for c, n in zip(table.categories, table.counts.sum(axis=0), strict=True) if n]
    if s[1] == 0:
        reason = "no item has two verdicts"
    elif len(seen) == 1:
        reason = reason_one.format(only=seen[0])
    else:
        reason = "chance agreement is 1"
    return estimate_from_sums(
        statistic,
        terms,
        name=name,
        label=label,
        estimator=f"unweighted; {MISSING}",
        sample=table.sample(),
        reason=reason,
        where=name,
        scale="log_ratio",
        least=least,
        codes=table.codes,
        from_codes=CountedCodes(len(table.categories), of=agreement_terms),
        **inference,
        notes=notes,
        details={
            "percent_agreement": pa,
            "chance_agreement": pe,
            "categories": table.categories,
            "category_shares": shares,
            "weights": "unweighted",
        }
        | dict(details),
    )


FEWEST_FOR_A_PAIR = 2


def least_vote_share(per_item: ArrayLike, *, estimator: str) -> float:
    r"""Least vote-share single-judgment reliability: -1 / (R - 1) where all items have R.

    Parameters
    ----------
    per_item : array-like, shape (n_items,)
        Verdicts read of each item.
    estimator : {"anova", "kappa"}

    Returns
    -------
    float
        NaN where no two verdicts of one item, or of two items, can be compared.

    Notes
    -----
    With pair weights :math:`D_w = \sum r_i^2 d_i / \sum r_i (r_i - 1)`; for ``kappa``
    :math:`D_b \ge \sum r_i d_i / n`, for ``anova``
    :math:`D_b \ge \sum r_i (n - r_i) d_i / \sum r_i (n - r_i)`. The ratio of two such sums is at
    most the largest ratio of their weights.

    Examples
    --------
    >>> [round(least_vote_share([4, 4, 4], estimator=e), 9) for e in ("anova", "kappa")]
    [-0.333333333, -0.333333333]
    """
    r = np.asarray(per_item, dtype=float)
    r = r[r >= 1]
    n, pairs = float(r.sum()), float(np.sum(r * (r - 1)))
    if pairs == 0 or r.size < 2:
        return math.nan
    if estimator == "kappa":
        return float(1 - n * r.max() / pairs)
    return float(1 - np.max(r / (n - r)) * np.sum(r * (n - r)) / pairs)


def least_fleiss_kappa(per_item: ArrayLike) -> float:
    """Least Fleiss' kappa: -1 / (R - 1) where all items have R.

    Parameters
    ----------
    per_item : array-like, shape (n_items,)
        Verdicts read of each item; items weigh equally, those with one verdict count for the
        shares alone.

    Returns
    -------
    float
        NaN where no item has two verdicts.

    Examples
    --------
    >>> least_fleiss_kappa([3, 3, 3]), least_fleiss_kappa([3, 2])
    (-0.5, -1.0)
    """
    r = np.asarray(per_item, dtype=float)
    once, twice = r[r >= 1], r[r >= FEWEST_FOR_A_PAIR]
    if not twice.size:
        return math.nan
    fewest = float(twice.min())
    return float(1 - once.size / twice.size * fewest / (fewest - 1))


def least_against_even_chance(per_item: ArrayLike, *, n_categories: int) -> float:
    """Least AC1: its chance term is 1 / q at most.

    Parameters
    ----------
    per_item : array-like, shape (n_items,)
        Verdicts read of each item.
    n_categories : int
        How many categories there are, q.

    Returns
    -------
    float
        NaN where no item has two verdicts, or there is one category.

    Notes
    -----
    An item's r verdicts differ most where the categories share them as evenly as can be.

    Examples
    --------
    >>> [round(least_against_even_chance([r, r], n_categories=2), 9) for r in (2, 3)]
    [-1.0, -0.333333333]
    """
    r = np.asarray(per_item, dtype=float)
    r = r[r >= FEWEST_FOR_A_PAIR]
    q = n_categories
    if not r.size or q < 2:
        return math.nan
    each, over = np.divmod(r, q)
    agreeing = over * (each + 1) * each + (q - over) * each * (each - 1)
    most = float(np.max(1 - agreeing / (r * (r - 1))))
    return float(1 - most / (1 - 1 / q))


def least_krippendorff_alpha(per_item: ArrayLike) -> float:
    """Least Krippendorff's alpha: -1 / (R - 1), R the fewest verdicts of an item that has two.

    Parameters
    ----------
    per_item : array-like, shape (n_items,)
        Verdicts read of each item.

    Returns
    -------
    float
        NaN where no item has two verdicts.

    Notes
    -----
    That is the end for many items; n verdicts in all reach 1 / n of the way less far.

    Examples
    --------
    >>> least_krippendorff_alpha([3, 3, 1])
    -0.5
    """
    r = np.asarray(per_item, dtype=float)
    r = r[r >= FEWEST_FOR_A_PAIR]
    return float(-1 / (r.min() - 1)) if r.size else math.nan


_ONE = "every verdict is {only} (raw agreement is 1); pass categories=[...]"


@with_keywords(permutations=ON_DEMAND)
def gwet_ac1(
    verdicts: ArrayLike | CountTable,
    *,
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Gwet's AC1: chance-corrected agreement, stable when one category dominates.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        Text or numbers; None, NaN or empty text if nothing was read.
    categories : sequence, optional
        All categories that could be chosen. Those that occur by default, which is noted.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        ``jackknife`` (default, by docs/simulations/coverage_verdicts.csv) leaves out one cluster at
        a time. It uses a t distribution on the scale log((x - L) / (1 - x)), with L the least value
        that such data can give. ``linearised`` uses the influence values (Gwet's variance) on the
        same scale.
    n_permutations : int
        Permutations of the null (verdicts over items within each replication); 0 for none.

    Returns
    -------
    Estimate
        1 for a judge that always says the same if `categories` names at least two.

    Raises
    ------
    InputError
        If a verdict is not a category, or the shape is wrong.

    Notes
    -----
    .. math:: AC_1 = \frac{p_a - p_e}{1 - p_e}, \quad p_e = \frac{\sum_k \pi_k (1 - \pi_k)}{q - 1}

    with p_a the mean over items of the share of agreeing pairs. Items without a verdict are left
    out; irrCAC returns NaN for them. In irrCAC's variance, items with a single verdict count as
    without agreement. Here they contribute only their share of p_e.

    References
    ----------
    Gwet (2008), Computing inter-rater reliability and its variance in the presence of high
    agreement. Br J Math Stat Psychol 61, 29-48.

    Examples
    --------
    >>> verdicts = [["A", "A", "A"], ["A", "A", "B"], ["B", "B", "B"], ["A", "A", "A"]]
    >>> round(gwet_ac1(verdicts, categories=["A", "B"]).estimate, 4)
    0.7
    """
    table = count_table(verdicts, categories=categories, where="gwet_ac1")
    q = len(table.categories)
    more = "Pass categories=[...] if the judge could have chosen others."
    message = f"The chance term takes q = {q} categories, those that occur. {more}"
    return chance_corrected(
        table,
        name="gwet_ac1",
        label="Gwet's AC1",
        chance=chance_gwet,
        reason_one=_ONE,
        least=least_against_even_chance(table.per_item, n_categories=q),
        notes=Note.where(not table.given, "categories_from_data", message),
        **inference,
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
def fleiss_kappa(verdicts: ArrayLike | CountTable, **inference: Unpack[SumInference]) -> Estimate:
    r"""Fleiss' kappa: chance-corrected agreement of exchangeable replications.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        Text or numbers; None, NaN or empty text if nothing was read.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        ``jackknife`` (default, by docs/simulations/coverage_verdicts.csv) leaves out one
        cluster at a time, t distribution on the scale log((x - L) / (1 - x)) with L the least value
        that such data can give (-1 / (R - 1) with equal R); it covers .92 to .98 with even
        categories, and less, like every method, where one is rare (then a note says so).
    n_permutations : int
        Permutations of the null (verdicts over items within each replication); 0 for none.

    Returns
    -------
    Estimate
        NaN with the reason for a judge that always says the same. ``details``: raw and chance
        agreement, category shares; for complete data also z and p of kappa = 0,
        overall and per category.

    Raises
    ------
    InputError
        If a verdict is not a category, or the shape does not fit.

    Notes
    -----
    .. math:: \kappa = \frac{p_a - p_e}{1 - p_e}, \quad p_e = \sum_k \pi_k^2

    Missing verdicts: items weigh equally (Gwet), as irrCAC; irr::kappam.fleiss drops every item
    with a missing verdict. Items without a verdict are left out; irrCAC then returns NaN. The z
    test (details) assumes independent items and a chance-corrected agreement of 0. It is not an
    interval.

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
    table = count_table(verdicts, where="fleiss_kappa")
    return chance_corrected(
        table,
        name="fleiss_kappa",
        label="Fleiss' kappa",
        chance=chance_fleiss,
        reason_one=ONE_VERDICT,
        least=least_fleiss_kappa(table.per_item),
        notes=rare_category_notes(table.counts),
        details=_fleiss_tests(table),
        **inference,
    )


@with_keywords(permutations=ON_DEMAND)
def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Cohen's kappa of two judges (or a judge and a person).

    Parameters
    ----------
    first, second : array-like, shape (n_items,)
        Verdicts on the same items; None, NaN or empty text if nothing was read. Items with one
        missing are left out and counted.
    categories : sequence, optional
        All categories; kappa does not depend on those that never occur.
    cluster, level, interval, n_resamples, n_permutations, seed
        See `fleiss_kappa`; L is -1.

    Returns
    -------
    Estimate
        ``details``: the table of both, raw and chance agreement, the asymptotic standard error
        ``ase`` (as vcd::Kappa), and z and p of kappa = 0 (as irr::kappa2).

    Raises
    ------
    InputError
        If the lengths differ, or a verdict is not a category.

    Notes
    -----
    .. math:: \kappa = \frac{\sum_k p_{kk} - \sum_k p_{k.} p_{.k}}{1 - \sum_k p_{k.} p_{.k}}

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales. Educ Psychol Meas 20, 37-46.
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
    check_lengths(where, first=a, second=b)
    both = np.column_stack([a.astype(object), b.astype(object)])
    codes, named = encode_verdicts(both, categories=categories, where=where)
    q = len(named)
    read = np.all(codes >= 0, axis=1)

    def per_item(c: NDArray[Any]) -> Floats:
        seen = np.all(c >= 0, axis=-1)
        cell = np.where(seen, c[..., 0] * q + c[..., 1], -1)
        return np.asarray(cell[..., None] == np.arange(q * q), dtype=float)

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        p = s.reshape(*s.shape[:-1], q, q) / s.sum(axis=-1)[..., None, None]
        po = np.trace(p, axis1=-2, axis2=-1)
        pe = np.sum(p.sum(axis=-1) * p.sum(axis=-2), axis=-1)
        return np.asarray((po - pe) / (1 - pe))

    statistic = sum_statistics.SumStatistic(per_item=per_item, combine=combine)
    cells = per_item(codes).sum(axis=0).reshape(q, q)
    n = float(cells.sum())
    reason = "no item has both verdicts"
    if n:
        each = zip(named, cells.sum(axis=0) + cells.sum(axis=1), strict=True)
        used = [str(c) for c, k in each if k]
        reason = ONE_VERDICT.format(only=used[0]) if len(used) == 1 else "chance agreement is 1"
    excluded = {"one of the two verdicts is missing": int(np.sum(~read))}
    return sum_statistics.estimate_from_sums(
        statistic,
        codes,
        name=where,
        label="Cohen's kappa",
        estimator="unweighted; items with both verdicts",
        sample=Sample(n_items=int(n), excluded=excluded),
        reason=reason,
        where=where,
        scale="log_ratio",
        least=-1.0,
        codes=codes,
        **inference,
        notes=rare_category_notes(sum_statistics.counts_of_codes(codes[read], q)),
        details={"categories": named, "table": cells, "weights": "unweighted"}
        | (_cohen_details(statistic, per_item(codes), cells / n, n) if n else {}),
    )


def _cohen_details(
    statistic: sum_statistics.SumStatistic, terms: Floats, p: Floats, n: float
) -> dict[str, float]:
    """Raw and chance agreement, the asymptotic standard error and the z test of kappa = 0."""
    row, col = p.sum(axis=1), p.sum(axis=0)
    po, pe = float(np.trace(p)), float(row @ col)
    with np.errstate(divide="ignore", invalid="ignore"):
        ase = float(np.sqrt(np.sum(sum_statistics.influence(statistic, terms) ** 2)))
        mean = np.add.outer(col, row)
        variance = (np.sum(np.outer(row, col) * (np.eye(len(p)) - mean) ** 2) - pe**2) / (
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


Metric = Literal["nominal", "interval"]


def _distance(values: Floats, metric: str) -> Floats:
    """Squared difference between categories."""
    if metric == "nominal":
        return 1.0 - np.eye(values.size)
    return np.asarray(np.subtract.outer(values, values) ** 2)


def _pairable(counts: Floats) -> tuple[Floats, Floats]:
    """Counts of items judged at least twice (others 0), and their number of judgments."""
    r = (counts @ np.ones(counts.shape[-1]))[..., None]
    return np.where(r >= 2, counts, 0.0), r


def _alpha_statistic(distance: Floats) -> sum_statistics.SumStatistic:
    """Alpha of counts, from the squared differences between categories."""

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

    return sum_statistics.SumStatistic(per_item=per_item, combine=combine)


@with_keywords(permutations=ON_DEMAND)
def krippendorff_alpha(
    verdicts: ArrayLike | CountTable,
    *,
    metric: Metric = "nominal",
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Krippendorff's alpha: 1 minus observed over expected disagreement.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        None, NaN or empty text if nothing was read; items with fewer than two are left out.
    metric : {"nominal", "interval"}
        How far two verdicts are apart; interval needs numbers.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        See `judgestats.stats.fleiss_kappa`; L holds for both metrics. The items are
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
    verdict. The Python package ``krippendorff`` agrees; it has further metrics.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> verdicts = [[1, 1, None], [2, 2, 3], [3, 3, 3], [3, None, 3], [None, 1, None]]
    >>> round(krippendorff_alpha(verdicts).estimate, 4)
    0.6786
    >>> krippendorff_alpha([["A", "A"], ["A", "A"]]).reason
    'every verdict is A: nothing can be distinguished (raw agreement is 1)'
    """
    where = "krippendorff_alpha"
    one_of(where, "metric", metric, ("nominal", "interval"), advice="Names are nominal.")
    table = count_table(verdicts, where=where)
    if metric == "interval" and not all(isinstance(v, (int, float)) for v in table.categories):
        raise InputError(f"{where}: metric 'interval' needs numeric verdicts. Use 'nominal'.")
    paired, _ = _pairable(table.counts)
    margin = paired.sum(axis=0)
    seen = [c for c, n in zip(table.categories, margin, strict=True) if n]
    reason = "no item has two verdicts"
    if seen:
        reason = f"every verdict is {seen[0]}: nothing can be distinguished (raw agreement is 1)"
    return sum_statistics.estimate_from_sums(
        _alpha_statistic(_distance(table.values(), metric)),
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
        from_codes=sum_statistics.CountedCodes(len(table.categories)),
        **inference,
        notes=rare_category_notes(paired),
        details={
            "categories": table.categories,
            "pairable_verdicts": float(margin.sum()),
            "metric": metric,
        },
    )
