"""Gwet's AC1 and AC2, and Brennan-Prediger: agreement beyond chance when one category dominates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from numpy.typing import ArrayLike

from judgestats.stats.agreement.attainable_minimum import least_against_even_chance
from judgestats.stats.agreement.category_weights import WeightName
from judgestats.stats.agreement.chance_corrected import (
    chance_corrected,
    chance_gwet,
    chance_uniform,
)
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.result import Estimate
from judgestats.stats.layouts.count_table import CountTable

_ONE = (
    "every verdict is {only} and no other category is known, so chance agreement is undefined "
    "(raw agreement is 1); pass categories=[...]"
)


def _least(table: CountTable) -> float:
    return least_against_even_chance(table.per_item, n_categories=len(table.categories))


@with_keywords(permutations=ON_DEMAND)
def gwet_ac1(
    verdicts: ArrayLike | CountTable,
    *,
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Gwet's AC1: agreement beyond chance, stable when one category dominates.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        Text or numbers; None, NaN or empty text where nothing was read.
    categories : sequence, optional
        All categories that could be chosen. Those that occur by default, which is noted.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        ``jackknife`` (default, by docs/simulations/coverage_verdicts.csv) leaves out one
        cluster at a time, t distribution on the scale log((x - L) / (1 - x)) with L the least value
        that such data can give (with weights: -log(1 - x)); ``linearised`` uses the influence
        values (Gwet's variance) on the same scale.
    n_permutations : int
        Permutations of the null (verdicts over items within each replication); 0 for none.

    Returns
    -------
    Estimate
        1 for a judge that always says the same if `categories` names at least two.

    Raises
    ------
    InputError
        If a verdict is no category, or the shape is wrong.

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
    return chance_corrected(
        verdicts,
        name="gwet_ac1",
        label="Gwet's AC1",
        chance=chance_gwet,
        needs_categories=True,
        reason_one=_ONE,
        categories=categories,
        weights="unweighted",
        scale="log_ratio",
        least=_least,
        **inference,
    )


@with_keywords(permutations=ON_DEMAND)
def gwet_ac2(
    verdicts: ArrayLike | CountTable,
    *,
    weights: WeightName | ArrayLike = "quadratic",
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Gwet's AC2: AC1 with partial credit for near misses on an ordered scale.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
    weights : {"linear", "quadratic", "ordinal", "unweighted"} or array-like, shape (q, q)
    categories : sequence, optional
        All categories in order; needed for text labels.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the weights need an order that the categories do not have.

    Notes
    -----
    .. math:: p_e = \frac{\sum_{kl} W_{kl}}{q(q-1)} \sum_k \pi_k (1 - \pi_k)

    The range of linear and quadratic weights is that of `categories`; irrCAC takes those that
    occur.

    References
    ----------
    Gwet (2021), Handbook of Inter-Rater Reliability, 5th ed.

    Examples
    --------
    >>> scores = [[1, 1, 2], [4, 5, 5], [3, 3, 3], [2, 2, 1]]
    >>> round(gwet_ac2(scores, categories=[1, 2, 3, 4, 5]).estimate, 4)
    0.8846
    """
    return chance_corrected(
        verdicts,
        name="gwet_ac2",
        label="Gwet's AC2",
        chance=chance_gwet,
        needs_categories=True,
        reason_one=_ONE,
        categories=categories,
        weights=weights,
        scale="log_ratio",
        least=_least,
        **inference,
    )


@with_keywords(permutations=ON_DEMAND)
def brennan_prediger(
    verdicts: ArrayLike | CountTable,
    *,
    weights: WeightName | ArrayLike = "unweighted",
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Brennan-Prediger coefficient: chance is a uniform choice among the categories.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
    weights : {"unweighted", "linear", "quadratic", "ordinal"} or array-like, shape (q, q)
    categories : sequence, optional
        All categories that could be chosen; those that occur by default, which is noted.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If a verdict is no category, or the weights do not fit.

    Notes
    -----
    ``(p_a - p_e) / (1 - p_e)`` with ``p_e = sum(W) / q**2`` (1/q unweighted).

    References
    ----------
    Brennan & Prediger (1981), Coefficient kappa. Educ Psychol Meas 41, 687-699.

    Examples
    --------
    >>> verdicts = [["A", "A", "A"], ["A", "A", "B"], ["B", "B", "B"], ["A", "A", "A"]]
    >>> round(brennan_prediger(verdicts, categories=["A", "B"]).estimate, 4)
    0.6667
    """
    return chance_corrected(
        verdicts,
        name="brennan_prediger",
        label="Brennan-Prediger coefficient",
        chance=chance_uniform,
        needs_categories=True,
        reason_one=_ONE,
        categories=categories,
        weights=weights,
        scale="log_ratio",
        least=_least,
        **inference,
    )
