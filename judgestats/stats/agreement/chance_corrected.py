"""Chance-corrected agreement: shared forms, Gwet's AC1, attainable minimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats
from judgestats.stats.designs.count_table import CountTable, count_table
from judgestats.stats.inference.estimate import Estimate, Note
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.sum_statistics import CountedCodes, SumStatistic, estimate_from_sums

Chance = Callable[[NDArray[Any]], NDArray[Any]]

ONE_VERDICT = (
    "every verdict is {only}: chance agreement is 1, so chance-corrected agreement is undefined "
    "(raw agreement is 1)"
)
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


_ONE = (
    "every verdict is {only} and no other category is known, so chance agreement is undefined "
    "(raw agreement is 1); pass categories=[...]"
)


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
        ``jackknife`` (default, by docs/simulations/coverage_verdicts.csv) leaves out one
        cluster at a time, t distribution on the scale log((x - L) / (1 - x)) with L the least value
        that such data can give; ``linearised`` uses the influence values (Gwet's variance) on the
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

    with p_a the mean over items of the share of agreeing pairs. Items nobody judged are left out;
    irrCAC returns NaN for them. irrCAC's variance counts items with a single verdict as if they
    had shown no agreement; here they carry their share of p_e only.

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
    message = (
        f"The chance term takes q = {q} categories, those that occur. Pass categories=[...] if "
        "the judge could have chosen others."
    )
    return chance_corrected(
        table,
        name="gwet_ac1",
        label="Gwet's AC1",
        chance=chance_gwet,
        reason_one=_ONE,
        least=least_against_even_chance(table.per_item, n_categories=q),
        notes=() if table.given else (Note(code="categories_from_data", message=message),),
        **inference,
    )
