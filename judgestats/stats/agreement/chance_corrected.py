"""Chance-corrected agreement from the count table: (p_a - p_e) / (1 - p_e).

Fleiss' kappa, Gwet's AC1 and AC2 and Brennan-Prediger share this form and differ in the chance
agreement p_e alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats
from judgestats.stats.agreement.category_weights import WeightName, weights_for
from judgestats.stats.inference.counted_codes import CountedCodes
from judgestats.stats.inference.interval_scales import Scale
from judgestats.stats.inference.keywords import SumInference
from judgestats.stats.inference.result import Estimate, Note
from judgestats.stats.inference.sum_statistics import (
    SumStatistic,
    estimate_from_sums,
)
from judgestats.stats.layouts.count_table import (
    CountTable,
    count_table,
    rare_category_notes,
)

Chance = Callable[[NDArray[Any], Floats], NDArray[Any]]

ONE_VERDICT = (
    "every verdict is {only}: chance agreement is 1, so agreement beyond chance is undefined "
    "(raw agreement is 1)"
)
"""Why a kappa is undefined for a judge that always says the same."""

MISSING = "pairs within items with two or more verdicts; shares from items with one or more"


def agreement_terms(counts: Floats, weights: Floats) -> Floats:
    """Per-item terms: rated once, rated twice, weighted pair agreement, category shares.

    Parameters
    ----------
    counts : ndarray, shape (..., n_items, q)
    weights : ndarray, shape (q, q)

    Returns
    -------
    ndarray, shape (..., n_items, 3 + q)

    Examples
    --------
    >>> agreement_terms(np.array([[2.0, 1.0]]), np.eye(2)).round(3)
    array([[1.   , 1.   , 0.333, 0.667, 0.333]])
    """
    q = counts.shape[-1]
    # Products with a vector of ones: numpy's own sums over a short last axis are much slower.
    r = counts @ np.ones(q)
    pairs = np.einsum("...k,...k->...", counts, counts @ weights - 1.0)
    once, twice = r >= 1, r >= 2
    out = np.zeros((*counts.shape[:-1], 3 + q))
    out[..., 0], out[..., 1] = once, twice
    np.divide(pairs, r * (r - 1), out=out[..., 2], where=twice)
    np.divide(counts, r[..., None], out=out[..., 3:], where=once[..., None])
    return out


def agreement_statistic(weights: Floats, chance: Chance) -> SumStatistic:
    """The coefficient (p_a - p_e) / (1 - p_e) of counts, with a given chance agreement."""

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        pa = s[..., 2] / s[..., 1]
        pe = chance(s[..., 3:] / s[..., :1], weights)
        return np.asarray((pa - pe) / (1.0 - pe))

    return SumStatistic(per_item=lambda counts: agreement_terms(counts, weights), combine=combine)


def chance_gwet(shares: NDArray[Any], weights: Floats) -> NDArray[Any]:
    """Chance agreement of AC1 / AC2: sum(W) * sum p(1 - p) / (q (q - 1))."""
    q = weights.shape[0]
    total = np.einsum("...k,...k->...", shares, 1.0 - shares)
    return np.asarray(weights.sum() * total / (q * (q - 1)) if q > 1 else total * np.nan)


def chance_fleiss(shares: NDArray[Any], weights: Floats) -> NDArray[Any]:
    """Chance agreement of Fleiss' kappa: sum W_kl p_k p_l."""
    return np.asarray(np.einsum("...k,...k->...", shares @ weights, shares))


def chance_uniform(shares: NDArray[Any], weights: Floats) -> NDArray[Any]:
    """Chance agreement of Brennan-Prediger: sum(W) / q^2, whatever the shares."""
    return np.asarray(np.sum(shares, axis=-1) * 0.0 + weights.sum() / weights.shape[0] ** 2)


def chance_corrected(
    verdicts: ArrayLike | CountTable,
    *,
    name: str,
    label: str,
    chance: Chance,
    needs_categories: bool,
    reason_one: str,
    categories: Sequence[Any] | None,
    weights: WeightName | ArrayLike,
    scale: Scale,
    least: Callable[[CountTable], float] | None = None,
    extra: Callable[[CountTable], dict[str, Any]] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    """A chance-corrected coefficient of the count table as an `Estimate` (shared by this family).

    Parameters
    ----------
    verdicts, categories, weights, cluster, level, interval, scale
        As in the public functions.
    n_resamples, n_permutations, seed
        As in the public functions.
    name, label : str
    chance : callable
        Shares and weights to chance agreement.
    needs_categories : bool
        Whether the coefficient depends on how many categories there are.
    reason_one : str
        Why it is undefined where every verdict is the same.
    least : callable, optional
        The least value that a table can give, for unweighted agreement on the scale ``log_ratio``;
        with weights the scale is ``log_complement``.
    extra : callable, optional
        Further details from the table.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> chance_corrected([["A", "A"], ["B", "B"], ["A", "B"]], name="k", label="Kappa",
    ...     chance=chance_fleiss, needs_categories=False, reason_one="", categories=None,
    ...     weights="unweighted", cluster=None, level=0.95, interval="none", scale="identity",
    ...     n_resamples=2, n_permutations=0, seed=0).estimate.__round__(4)
    0.3333
    """
    table = count_table(verdicts, categories=categories, where=name)
    matrix, weight_name = weights_for(table, weights, where=name)
    # The terms are needed here as well: they are made once and handed on as the data.
    statistic = SumStatistic(
        per_item=lambda x: x, combine=agreement_statistic(matrix, chance).combine
    )
    q = len(table.categories)
    terms = agreement_terms(table.counts, matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.ones(table.n_items) @ terms
        shares = s[3:] / s[0]
        pa, pe = float(s[2] / s[1]), float(chance(shares, matrix))
    notes: list[Note] = []
    if not needs_categories:
        notes += rare_category_notes(table.counts)
    elif not table.given:
        message = (
            f"The chance term takes q = {q} categories, those that occur. Pass categories=[...] if "
            "the judge could have chosen others."
        )
        notes.append(Note(code="categories_from_data", message=message))
    seen = [str(c) for c, n in zip(table.categories, table.counts.sum(axis=0), strict=True) if n]
    if s[1] == 0:
        reason = "no item has two verdicts"
    elif len(seen) == 1:
        reason = reason_one.format(only=seen[0])
    else:
        reason = "chance agreement is 1"
    details: dict[str, Any] = {
        "percent_agreement": pa,
        "chance_agreement": pe,
        "categories": table.categories,
        "category_shares": shares,
        "weights": weight_name,
    }
    if extra is not None:
        details |= extra(table)
    return estimate_from_sums(
        statistic,
        terms,
        name=name,
        label=label,
        estimator=f"{weight_name}; {MISSING}",
        sample=table.sample(),
        reason=reason,
        where=name,
        scale=scale,
        least=least(table) if least is not None and weight_name == "unweighted" else math.nan,
        codes=table.codes,
        from_codes=CountedCodes(q, of=lambda counts: agreement_terms(counts, matrix)),
        **inference,
        notes=tuple(notes),
        details=details,
    )
