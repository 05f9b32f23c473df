"""Kappas of several judges: Fleiss (exchangeable replications), Conger (fixed judges)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.agreement.attainable_minimum import (
    least_conger_kappa,
    least_fleiss_kappa,
)
from judgestats.stats.agreement.category_weights import WeightName, weights_for
from judgestats.stats.agreement.chance_corrected import (
    ONE_VERDICT,
    agreement_terms,
    chance_corrected,
    chance_fleiss,
)
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
