"""Chance-corrected agreement: shared forms, Gwet's AC1 and AC2, weights, attainable minimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.designs.count_table import CountTable, count_table, rare_category_notes
from judgestats.stats.inference.bootstrap import Scale
from judgestats.stats.inference.estimate import Estimate, Note
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.sum_statistics import CountedCodes, SumStatistic, estimate_from_sums

WeightName = Literal["unweighted", "linear", "quadratic", "ordinal"]


def agreement_weights(values: ArrayLike, *, kind: WeightName | str = "unweighted") -> Floats:
    r"""Weight matrix over ordered categories, 1 on the diagonal.

    Parameters
    ----------
    values : array-like, shape (q,)
        Numeric values of the categories, increasing.
    kind : {"unweighted", "linear", "quadratic", "ordinal"}
        linear: 1 - |v_k - v_l| / range; quadratic (Fleiss-Cohen): its square; ordinal: by ranks,
        1 - C(|k - l| + 1, 2) / C(q, 2).

    Returns
    -------
    ndarray, shape (q, q)

    Raises
    ------
    InputError
        If the kind is unknown or the values do not increase.

    Notes
    -----
    The range is that of all categories given. irrCAC uses only the categories that occur, which
    changes linear and quadratic coefficients when an end of the scale was never used.

    References
    ----------
    Gwet (2021), Handbook of Inter-Rater Reliability, 5th ed., chapter 3.

    Examples
    --------
    >>> agreement_weights([1, 2, 3], kind="linear")
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    v = np.asarray(values, dtype=float)
    one_of(
        "agreement_weights",
        "kind",
        kind,
        ("unweighted", "linear", "quadratic", "ordinal"),
        advice="Choose one, or give a weight matrix.",
    )
    if v.ndim != 1 or np.any(np.diff(v) <= 0):
        raise InputError(
            "agreement_weights: values must be one increasing number per category, got "
            f"{v.tolist()}. Sort the categories."
        )
    q = v.size
    if kind == "unweighted" or q < 2:
        return np.eye(q)
    if kind == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
        return np.asarray(1.0 - steps * (steps + 1) / (q * (q - 1)))
    distance = np.abs(np.subtract.outer(v, v)) / (v[-1] - v[0])
    return np.asarray(1.0 - (distance if kind == "linear" else distance**2))


def weights_for(
    table: CountTable, weights: WeightName | ArrayLike, *, where: str
) -> tuple[Floats, str]:
    """The weight matrix for a table's categories, and its name.

    Raises
    ------
    InputError
        If weights by order are asked for categories without an order, or the matrix does not fit.

    Examples
    --------
    >>> from judgestats.stats.designs.count_table import count_table
    >>> weights_for(count_table([[1, 2], [2, 2]]), "quadratic", where="f")[1]
    'quadratic'
    """
    q = len(table.categories)
    if isinstance(weights, str):
        if weights != "unweighted" and not table.is_ordered:
            raise InputError(
                f"{where}: {weights} weights need ordered categories, got text labels in no stated "
                "order. Pass categories=[...] in order, or weights='unweighted'."
            )
        return agreement_weights(table.values(), kind=weights), weights
    matrix = np.asarray(weights, dtype=float)
    symmetric = matrix.shape == (q, q) and np.allclose(matrix, matrix.T, rtol=0, atol=1e-12)
    if (
        not symmetric
        or not np.allclose(np.diag(matrix), 1.0)
        or np.any((matrix < 0) | (matrix > 1))
    ):
        raise InputError(
            f"{where}: weights must be a symmetric {q} x {q} matrix with 1 on the diagonal and "
            f"values between 0 and 1, got shape {matrix.shape}. See agreement_weights()."
        )
    return matrix, "custom weights"


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


FEWEST_FOR_A_PAIR = 2


def least_vote_share(per_item: ArrayLike, *, estimator: str) -> float:
    r"""Least vote-share reliability of one judgment: -1 / (R - 1) where all items have R.

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
    """Least Fleiss' kappa, unweighted: -1 / (R - 1) where all items have R.

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
    """Least AC1, or Brennan-Prediger coefficient, unweighted: their chance term is 1 / q at most.

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


def least_conger_kappa(judged: ArrayLike) -> float:
    r"""Least Conger's kappa: -1 / (r - 1) where all r judges judged all items; Cohen's: -1.

    Parameters
    ----------
    judged : array-like of bool, shape (n_items, n_judges)
        Which judge gave a verdict on which item.

    Returns
    -------
    float
        NaN where no item has two verdicts.

    Notes
    -----
    Judges' own shares differ, which makes chance agreement smaller than that of their mean shares:
    :math:`1 - p_e \ge D`. With :math:`n_g` the items of judge g, item i enters D with the weight
    :math:`w_i = \sum_g 1 / (r n_g)`, and a pair of its verdicts with
    :math:`1 / (r^2 n_g n_h w_i)`; in the disagreement that is observed each has
    :math:`1 / (n_2 r_i (r_i - 1))`, over the :math:`n_2` items with two verdicts. The ratio of the
    sums is at most the largest ratio of these weights. With weights the same, see above.

    Examples
    --------
    >>> least_conger_kappa([[True, True, True]] * 4), least_conger_kappa([[True, True]] * 4)
    (-0.5, -1.0)
    """
    given = np.asarray(judged, dtype=bool)
    given = given[:, given.any(axis=0)]
    per_item, per_judge = given.sum(axis=1), given.sum(axis=0).astype(float)
    pairs = per_item >= FEWEST_FOR_A_PAIR
    if not pairs.any():
        return math.nan
    rows, r = given[pairs], per_item[pairs].astype(float)
    two_most = np.sort(np.where(rows, per_judge, 0.0), axis=1)[:, -2:].prod(axis=1)
    ratio = len(per_judge) * (rows @ (1 / per_judge)) * two_most / (pairs.sum() * r * (r - 1))
    return float(1 - ratio.max())


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
