"""Observed agreement, mean shares, and the reliability of vote shares."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, check_lengths
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.kappa import least_vote_share
from judgestats.stats.designs.count_table import CountTable, count_table, rare_category_notes
from judgestats.stats.inference import sum_statistics
from judgestats.stats.inference.bootstrap import cluster_codes, only, useful_reliability
from judgestats.stats.inference.keywords import ON_DEMAND, Clustered, SumInference, with_keywords
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.reliability.intraclass import exact_replications, spearman_brown


def mean_over_items(values: Callable[[NDArray[Any]], Floats]) -> sum_statistics.SumStatistic:
    """Mean of an item value over the items with two verdicts or more.

    Examples
    --------
    >>> share = mean_over_items(lambda counts: counts[..., 0] / counts.sum(axis=-1))
    >>> share.value(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    array(0.75)
    """

    def per_item(counts: NDArray[Any]) -> Floats:
        used = counts.sum(axis=-1) >= 2
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(used, values(counts), 0.0)
        return np.stack([used.astype(float), value], axis=-1)

    return sum_statistics.SumStatistic(per_item=per_item, combine=sum_statistics.SHARE.combine)


def _mean_estimate(
    verdicts: ArrayLike | CountTable,
    values: Callable[[NDArray[Any]], Floats],
    *,
    name: str,
    label: str,
    estimator: str,
    alternative: Literal["greater", "less"] = "greater",
    **inference: Unpack[SumInference],
) -> Estimate:
    """A mean share over items with two or more verdicts as an `Estimate`."""
    table = count_table(verdicts, where=name)
    return sum_statistics.estimate_from_sums(
        mean_over_items(values),
        table.counts,
        name=name,
        label=label,
        estimator=estimator,
        sample=table.sample(least=2),
        reason="no item has two verdicts",
        where=name,
        scale="logit",
        codes=table.codes,
        from_codes=sum_statistics.CountedCodes(len(table.categories)),
        **inference,
        proportion=True,
        alternative=alternative,
        details={"categories": table.categories},
    )


def pairs_that_agree(counts: NDArray[Any]) -> Floats:
    """Share of an item's pairs of verdicts that agree; undefined below two verdicts.

    Examples
    --------
    >>> pairs_that_agree(np.array([[2.0, 1.0]])).round(3)
    array([0.333])
    """
    r = counts @ np.ones(counts.shape[-1])
    same = np.einsum("...k,...k->...", counts, counts - 1.0)
    return np.asarray(same / (r * (r - 1.0)))


@with_keywords(permutations=ON_DEMAND)
def percent_agreement(
    verdicts: ArrayLike | CountTable, **inference: Unpack[SumInference]
) -> Estimate:
    """Share of pairs of replications of an item that agree, averaged over items.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        None, NaN or empty text if nothing was read; items with fewer than two are left out.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        The first two are symmetric on the logit scale. Where every pair agrees the bound is
        Clopper-Pearson's on clusters.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the shape is wrong.

    Notes
    -----
    irrCAC's ``pa.coeff`` gives the same value; with missing verdicts its standard error counts
    items with fewer than two as if all their pairs disagreed.

    References
    ----------
    Gwet (2021), Handbook of Inter-Rater Reliability, 5th ed.

    Examples
    --------
    >>> percent_agreement([["A", "A", "B"], ["B", "B", "B"]]).estimate.__round__(4)
    0.6667
    >>> percent_agreement([["A", "A"]] * 20).interval.low.__round__(4)
    0.8316
    """
    return _mean_estimate(
        verdicts,
        pairs_that_agree,
        name="percent_agreement",
        label="Raw agreement of pairs",
        estimator="unweighted; pairs of replications, items weigh equally",
        **inference,
    )


@with_keywords(permutations=ON_DEMAND)
def unanimous_agreement(
    verdicts: ArrayLike | CountTable, **inference: Unpack[SumInference]
) -> Estimate:
    """Share of items on which all replications agree (irr::agree, as a share).

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        See `percent_agreement`. The share falls as replications are added: compare equal numbers
        only.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the shape is wrong.

    Notes
    -----
    All verdicts *read* count; irr leaves out items with a missing one.

    References
    ----------
    irr::agree.

    Examples
    --------
    >>> unanimous_agreement([["A", "A", "B"], ["B", "B", "B"]]).estimate
    0.5
    """
    return _mean_estimate(
        verdicts,
        lambda counts: (counts.max(axis=-1, initial=0.0) == counts.sum(axis=-1)).astype(float),
        name="unanimous_agreement",
        label="Items on which all replications agree",
        estimator="share of items; all verdicts read",
        **inference,
    )


@with_keywords(permutations=ON_DEMAND)
def flip_rate(verdicts: ArrayLike | CountTable, **inference: Unpack[SumInference]) -> Estimate:
    """Share of pairs of repeats with different verdicts.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        See `percent_agreement`.

    Returns
    -------
    Estimate
        Unbiased and independent of the number of replications.

    Raises
    ------
    InputError
        If the shape is wrong.

    Notes
    -----
    1 minus `percent_agreement`.

    Examples
    --------
    >>> round(flip_rate([["A", "A", "B"], ["B", "B", "B"]]).estimate, 4)
    0.3333
    """
    return _mean_estimate(
        verdicts,
        lambda counts: 1.0 - pairs_that_agree(counts),
        alternative="less",
        name="flip_rate",
        label="Flip rate: two judgments of an item differ",
        estimator="pairs, items weigh equally",
        **inference,
    )


def _shares(shares: ArrayLike, where: str) -> Floats:
    x = np.asarray(shares, dtype=float)
    if x.ndim != 1 or x.size == 0 or np.any((x < 0) | (x > 1)):
        raise InputError(
            f"{where}: shares must be a list of numbers in 0-1, one per item, got shape {x.shape}."
        )
    return x


@with_keywords()
def mean_share(
    shares: ArrayLike,
    *,
    name: str = "mean_share",
    label: str = "Mean share",
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Mean of one share per item: credit earned, share of judgments with some property.

    Parameters
    ----------
    shares : array-like, shape (N,)
        Numbers in 0-1, NaN = missing.
    name, label : str
        Of the result.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If a value is outside 0-1 or there is none.

    Notes
    -----
    The interval is a jackknife over clusters on the logit scale; where every item has 0 (or 1), the
    bound is Clopper-Pearson's on the clusters.

    Examples
    --------
    >>> out = mean_share([1, 0.5, 1, 0, 1, 0.5, 1, 1])
    >>> out.estimate, out.interval.low > 0.3, out.interval.high < 1
    (0.75, True, True)
    """
    x = _shares(shares, name)
    used = ~np.isnan(x)
    codes = cluster_codes(inference["cluster"], x.size, where=name)
    return sum_statistics.share_estimate(
        np.ones(int(used.sum())),
        x[used],
        name=name,
        label=label,
        estimator="mean over items",
        sample=Sample.from_mask(used, "missing", codes),
        reason="no item has a value",
        cluster=codes[used],
        level=inference["level"],
    )


@with_keywords()
def mean_of_groups(
    shares: ArrayLike,
    *,
    group: ArrayLike,
    name: str = "mean_of_groups",
    label: str = "Mean of the groups' means",
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Mean of the groups' means, each group counting alike whatever its size.

    Parameters
    ----------
    shares : array-like, shape (N,)
        Numbers in 0-1, NaN = missing.
    group : array-like, shape (N,)
        Such as the set that an item comes from.
    cluster : array-like, shape (N,), optional
        Clusters are within groups: each must belong to one group.
    name, label : str
        Of the result.

    Returns
    -------
    Estimate
        ``details["groups"]``: each group's mean.

    Raises
    ------
    InputError
        If the lengths differ, a value is outside 0-1, or a cluster belongs to two groups.

    Notes
    -----
    :math:`\frac{1}{G} \sum_g \bar x_g`; the interval is `mean_share`'s jackknife over clusters on
    the logit scale. Published tables of several benchmarks print this average.

    Examples
    --------
    >>> out = mean_of_groups([1, 1, 0, 1, 0, 0], group=["x", "x", "x", "x", "y", "y"])
    >>> out.estimate, sorted(out.details["groups"].items())
    (0.375, [('x', 0.75), ('y', 0.0)])
    """
    x, names = _shares(shares, name), np.asarray(group, dtype=object)
    check_lengths(name, shares=x, group=names)
    used = ~np.isnan(x)
    codes = cluster_codes(inference["cluster"], x.size, where=name)
    kinds, place = np.unique(names[used].astype(str), return_inverse=True)
    pairs = {(int(c), int(g)) for c, g in zip(codes[used], place, strict=True)}
    if len(pairs) > np.unique(codes[used]).size:
        raise InputError(f"{name}: a cluster lies in two groups. Name clusters within groups.")
    member = place[:, None] == np.arange(kinds.size)[None, :]
    data = np.hstack([member, np.where(member, x[used][:, None], 0.0)])
    means = data[:, kinds.size :].sum(axis=0) / data[:, : kinds.size].sum(axis=0)

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.mean(s[..., kinds.size :] / s[..., : kinds.size], axis=-1))

    return sum_statistics.estimate_from_sums(
        sum_statistics.SumStatistic(per_item=lambda rows: rows, combine=combine),
        data.astype(float),
        name=name,
        label=label,
        estimator=f"mean of {kinds.size} groups' means",
        sample=Sample.from_mask(used, "missing", codes),
        reason="no item has a value",
        where=name,
        cluster=codes[used],
        level=inference["level"],
        scale="logit",
        proportion=True,
        details={"groups": dict(zip(kinds.tolist(), means.tolist(), strict=True))},
    )


Estimator = Literal["anova", "kappa"]


def judgments_needed(reliability: float, target: float) -> float:
    """Least whole number of judgments whose vote share reaches a reliability; inf if none does.

    Examples
    --------
    >>> judgments_needed(0.5, 0.8)
    4.0
    """
    if math.isnan(reliability):
        return math.nan
    if reliability <= 0:
        return math.inf
    # The small slack keeps 4.000000000000001 from asking for a fifth judgment.
    exact = exact_replications(reliability, target=target)
    return float(max(1, math.ceil(exact * (1 - 1e-12))))


def pair_terms(counts: NDArray[Any]) -> Floats:
    """Per-item terms of pairs of judgments: pairs, those that differ, both squared, and counts.

    Examples
    --------
    >>> pair_terms(np.array([[2.0, 1.0]]))
    array([[6., 4., 9., 5., 2., 1.]])
    """
    r = counts @ np.ones(counts.shape[-1])
    own = np.einsum("...k,...k->...", counts, counts)
    return np.concatenate(
        [np.stack([r * (r - 1.0), r**2 - own, r**2, own], axis=-1), counts], axis=-1
    )


def disagreements(s: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Share of pairs that differ within items, and between judgments of different items.

    Examples
    --------
    >>> within, between = disagreements(pair_terms(np.array([[2.0, 1.0], [0.0, 3.0]])).sum(axis=0))
    >>> round(float(within), 4), round(float(between), 4)
    (0.3333, 0.6667)
    """
    n = s[..., 4:].sum(axis=-1)
    alike = np.einsum("...k,...k->...", s[..., 4:], s[..., 4:])
    # Pairs of judgments of different items: all ordered pairs less those within items.
    return s[..., 1] / s[..., 0], 1.0 - (alike - s[..., 3]) / (n**2 - s[..., 2])


def pair_statistic(estimator: str) -> sum_statistics.SumStatistic:
    """rho_1 = 1 - disagreement within items / disagreement between (anova) or overall (kappa).

    Examples
    --------
    >>> float(pair_statistic("kappa").value(np.array([[2.0, 0.0], [0.0, 2.0]])))
    1.0
    """

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        within, between = disagreements(s)
        if estimator == "kappa":
            margin = s[..., 4:]
            alike = np.einsum("...k,...k->...", margin, margin)
            return np.asarray(1.0 - within / (1.0 - alike / margin.sum(axis=-1) ** 2))
        return np.asarray(1.0 - within / between)

    return sum_statistics.SumStatistic(per_item=pair_terms, combine=combine)


def _stepped_values(rho: NDArray[Any], k: float) -> NDArray[Any]:
    """Spearman-Brown; NaN at or below its pole -1 / (k - 1), where it would change sign."""
    return np.where(1.0 + (k - 1.0) * rho > 0, spearman_brown(np.asarray(rho), k=k), np.nan)


def _step(
    interval: Interval | None, k: float, value: float
) -> tuple[Interval | None, tuple[Note, ...]]:
    """Interval of the mean of k judgments, cut at 0 with a note."""
    if interval is None:
        return None, ()
    low, high = _stepped_values(np.array([interval.low, interval.high]), k)
    below = -math.inf if math.isnan(low) else float(low)
    # A value below 0 that the data do not show themselves is none that the judge could have.
    least = min(0.0, value)
    stepped = dataclasses.replace(
        interval,
        low=max(below, least),
        high=float(high),
        method=f"{interval.method}, stepped up (Spearman-Brown)",
    )
    end = "0" if least == 0 else "the estimate"
    message = (
        f"The interval ends at {end}: stepping up turns small negative values into large ones."
    )
    return stepped, Note.where(below < least, "interval_cut_at_zero", message)


@with_keywords(permutations=ON_DEMAND)
def vote_share_reliability(
    verdicts: ArrayLike | CountTable,
    *,
    k: int | None = 1,
    estimator: Estimator = "anova",
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Reliability of the vote shares of k judgments, without any order of the verdicts.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        Text or numbers; None, NaN or empty text if nothing was read.
    k : int or None
        Judgments whose vote share is meant: 1 for a single judgment; None for as many as were
        made (their harmonic mean over items where they differ).
    estimator : {"anova", "kappa"}
        ``anova``: unbiased variance components of the option indicators. ``kappa``: divisor N, as
        Fleiss' kappa, which is biased downwards for few items. Each is stepped up from itself.
    n_permutations : int
        Permutations of the null distribution of the stepped-up value; 0 for none.

    Returns
    -------
    Estimate
        ``details``: rho_1, the k asked for, and the number of judgments reaching .80 and .90.

    Raises
    ------
    InputError
        If `k` or `estimator` is unusable.

    Notes
    -----
    .. math:: \rho_k = \frac{\sum_c Var(\pi_c)}{\sum_c Var(\hat p_c)}, \quad
              \rho_1 = 1 - \frac{D_w}{D_b}

    with D_w the probability that two judgments of one item differ, over all such pairs. D_b is the
    probability that two judgments of *different* items differ (``anova``), or two judgments drawn
    with replacement (``kappa``). With equal R the first is the one-way ICC(1) of the option
    indicators summed over options, the second is Fleiss' kappa. With unequal R every pair of
    judgments weighs the same (pair weights). Fleiss' kappa as irrCAC computes it weighs items the
    same, and differs then.

    The jackknife interval of rho_1 is symmetric on the scale log((x - L) / (1 - x)). L is the least
    value that such data can give (-1 / (R - 1) with equal R). This scale is the log of the ratio of
    mean squares, Fisher's z of an intraclass correlation. The interval covers as well as one on
    -log(1 - x) and never leaves the attainable range (docs/simulations/verdicts.md). Stepped up to
    k judgments it ends at 0, or at an estimate below 0, since independent judgments have no
    reliability below 0.

    References
    ----------
    Fleiss & Cuzick (1979), The reliability of dichotomous judgments: unequal numbers of judges
    per subject. Appl Psychol Meas 3, 537-542.

    Examples
    --------
    >>> verdicts = [["A", "A", "A"], ["A", "A", "B"], ["B", "B", "B"], ["A", "A", "A"]]
    >>> one = vote_share_reliability(verdicts)
    >>> round(one.estimate, 4), one.details["k_for_90"]
    (0.7, 4.0)
    >>> round(vote_share_reliability(verdicts, k=None).estimate, 4)
    0.875
    """
    where = "vote_share_reliability"
    n_permutations = inference.pop("n_permutations")
    one_of(where, "estimator", estimator, ("anova", "kappa"), advice="'anova' is unbiased.")
    if k is not None and k < 1:
        raise InputError(f"{where}: k must be at least 1 or None, got {k}. Use 1 for one judgment.")
    table = count_table(verdicts, where=where)
    q = len(table.categories)
    r = table.per_item
    rated = r[r >= 1]
    judgments = 1.0 if k is None else float(k)
    if k is None and rated.size:
        judgments = float(rated.size / np.sum(1 / rated))
    seen = [c for c, n in zip(table.categories, table.counts.sum(axis=0), strict=True) if n]
    if not np.any(r >= 2):
        reason = "no item has two verdicts"
    elif rated.size < 2:
        reason = "differences between items need two items, there is one"
    elif len(seen) == 1:
        reason = f"every verdict is {seen[0]}: items cannot differ (raw agreement is 1)"
    else:
        reason = "judgments of different items never differ"
    single = pair_statistic(estimator)
    one = sum_statistics.estimate_from_sums(
        single,
        table.counts,
        name="vote_share_reliability",
        label="Vote-share reliability",
        estimator=f"{estimator}; pairs of judgments weigh equally",
        sample=table.sample(),
        reason=reason,
        where=where,
        scale="log_ratio",
        least=least_vote_share(r, estimator=estimator),
        notes=rare_category_notes(table.counts),
        **inference,
    )
    if n_permutations and math.isfinite(one.estimate):
        null, notes = sum_statistics.permutation_reference(
            sum_statistics.SumStatistic(
                per_item=single.per_item,
                combine=lambda s: _stepped_values(single.combine(s), judgments),
            ),
            table.codes,
            sum_statistics.CountedCodes(q),
            n_permutations=n_permutations,
            seed=inference["seed"],
            where=where,
        )
        one = one.replace(null=null, notes=(*one.notes, *notes))
    details = {
        "rho_1": one.estimate,
        "k": judgments,
        "k_for_80": judgments_needed(one.estimate, 0.8),
        "k_for_90": judgments_needed(one.estimate, 0.9),
        "categories": table.categories,
    }
    out = one if judgments == 1 else _stepped(one, judgments)
    kept, lost = useful_reliability(out.interval, only(table.sample().n_clusters or 0))
    others = (note for note in out.notes if not lost or note.code != "few_clusters")
    return out.replace(interval=kept, notes=(*others, *lost), details=details)


def _stepped(one: Estimate, k: float) -> Estimate:
    """The estimate for k judgments from that for one."""
    value = float(_stepped_values(np.array(one.estimate), k))
    reason = one.reason
    if math.isnan(value) and not reason:
        reason = f"single-judgment reliability {one.estimate:.4g} is below -1 / (k - 1)"
    interval, notes = _step(one.interval, k, value) if math.isfinite(value) else (None, ())
    return one.replace(
        label=f"Vote-share reliability of {k:.4g} judgments",
        estimate=value,
        estimator=f"{one.estimator}; stepped up from one judgment (Spearman-Brown)",
        interval=interval,
        std_error=math.nan,
        reason=reason,
        notes=(*one.notes, *notes),
    )
