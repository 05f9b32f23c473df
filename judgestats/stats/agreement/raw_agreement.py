"""Observed agreement and mean shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.chance_corrected import WeightName, agreement_terms, weights_for
from judgestats.stats.agreement.human import share_of_sums
from judgestats.stats.designs.count_table import CountTable, count_table
from judgestats.stats.inference.bootstrap import Scale, cluster_codes
from judgestats.stats.inference.estimate import Estimate, Note, Sample
from judgestats.stats.inference.keywords import ON_DEMAND, Clustered, SumInference, with_keywords
from judgestats.stats.inference.sum_statistics import (
    CountedCodes,
    IntervalMethod,
    SumStatistic,
    estimate_from_sums,
)


def mean_over_items(values: Callable[[NDArray[Any]], Floats], *, least: int) -> SumStatistic:
    """Mean of an item value over the items with at least `least` verdicts.

    Examples
    --------
    >>> share = mean_over_items(lambda counts: counts[..., 0] / counts.sum(axis=-1), least=2)
    >>> share.value(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    array(0.75)
    """

    def per_item(counts: NDArray[Any]) -> Floats:
        used = counts.sum(axis=-1) >= least
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(used, values(counts), 0.0)
        return np.stack([used.astype(float), value], axis=-1)

    return SumStatistic(per_item=per_item, combine=lambda s: np.asarray(s[..., 1] / s[..., 0]))


def _mean_estimate(
    verdicts: ArrayLike | CountTable,
    values: Callable[[NDArray[Any]], Floats],
    *,
    name: str,
    label: str,
    estimator: str,
    categories: Sequence[Any] | None,
    scale: Scale = "logit",
    alternative: Literal["greater", "less"] = "greater",
    notes: tuple[Note, ...] = (),
    details: dict[str, Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    """A mean over items with two or more verdicts as an `Estimate`."""
    table = count_table(verdicts, categories=categories, where=name)
    q = len(table.categories)
    return estimate_from_sums(
        mean_over_items(values, least=2),
        table.counts,
        name=name,
        label=label,
        estimator=estimator,
        sample=table.sample(least=2),
        reason="no item has two verdicts",
        where=name,
        scale=scale,
        codes=table.codes,
        from_codes=CountedCodes(q),
        **inference,
        proportion=scale == "logit",
        alternative=alternative,
        notes=notes,
        details={"categories": table.categories} | (details or {}),
    )


@with_keywords(permutations=ON_DEMAND)
def percent_agreement(
    verdicts: ArrayLike | CountTable,
    *,
    categories: Sequence[Any] | None = None,
    weights: WeightName | ArrayLike = "unweighted",
    **inference: Unpack[SumInference],
) -> Estimate:
    """Share of pairs of replications of an item that agree, averaged over items.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
        None, NaN or empty text where nothing was read; items with fewer than two are left out.
    categories : sequence, optional
    weights : {"unweighted", "linear", "quadratic", "ordinal"} or array-like, shape (q, q)
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        The first two are symmetric on the logit scale. Where every pair agrees the bound is
        Clopper-Pearson's on clusters.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If a verdict is no category, or the shape is wrong.

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
    table = count_table(verdicts, categories=categories, where="percent_agreement")
    matrix, weight_name = weights_for(table, weights, where="percent_agreement")
    return _mean_estimate(
        table,
        lambda counts: agreement_terms(counts, matrix)[..., 2],
        name="percent_agreement",
        label="Raw agreement of pairs",
        estimator=f"{weight_name}; pairs of replications, items weigh equally",
        categories=None,
        **inference,
    )


@with_keywords(permutations=ON_DEMAND)
def unanimous_agreement(
    verdicts: ArrayLike | CountTable,
    *,
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    """Share of items on which all replications agree (irr::agree, as a share).

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
    categories
        See `percent_agreement`. It falls as replications are added: compare equal numbers only.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If a verdict is no category, or the shape is wrong.

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
        categories=categories,
        **inference,
    )


@with_keywords(permutations=ON_DEMAND)
def flip_rate(
    verdicts: ArrayLike | CountTable,
    *,
    kind: Literal["pairs", "items", "mode"] = "pairs",
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    """How often asking again changes the verdict.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
    kind : {"pairs", "items", "mode"}
        ``pairs`` (default): probability that two judgments of an item differ, unbiased and
        independent of the number of replications; ``items``: share of items whose replications
        are not unanimous; ``mode``: share of replications off the item's modal verdict. The last
        two change with the number of replications.
    categories
        See `percent_agreement`.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If `kind` is unknown or the verdicts are unusable.

    Notes
    -----
    1 minus `percent_agreement`, `unanimous_agreement` or the mean share of the modal verdict.

    References
    ----------
    STATISTICS section 2 of the project's design.

    Examples
    --------
    >>> verdicts = [["A", "A", "B"], ["B", "B", "B"]]
    >>> [round(flip_rate(verdicts, kind=k).estimate, 4) for k in ("pairs", "items", "mode")]
    [0.3333, 0.5, 0.1667]
    """
    labels = {
        "pairs": "Two judgments of an item differ",
        "items": "Items whose replications are not unanimous",
        "mode": "Replications off the item's modal verdict",
    }
    one_of(
        "flip_rate",
        "kind",
        kind,
        labels,
        advice="'pairs' does not depend on the number of replications.",
    )

    def values(counts: NDArray[Any]) -> Floats:
        r = counts.sum(axis=-1)
        if kind == "pairs":
            return np.asarray(1.0 - np.sum(counts * (counts - 1.0), axis=-1) / (r * (r - 1.0)))
        top = counts.max(axis=-1, initial=0.0)
        return np.asarray((top < r).astype(float) if kind == "items" else 1.0 - top / r)

    return _mean_estimate(
        verdicts,
        values,
        alternative="less",
        name="flip_rate" if kind == "pairs" else f"flip_rate_{kind}",
        label=f"Flip rate: {labels[kind].lower()}",
        estimator=f"{kind}, items weigh equally",
        categories=categories,
        **inference,
    )


@with_keywords(permutations=ON_DEMAND)
def verdict_entropy(
    verdicts: ArrayLike | CountTable,
    *,
    correction: Literal["plugin", "miller-madow"] = "plugin",
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Entropy of an item's verdicts in bits, averaged over items.

    Parameters
    ----------
    verdicts : array-like, shape (n_items, n_replications), or CountTable
    correction : {"plugin", "miller-madow"}
        ``plugin``: entropy of the shares, biased downwards for few replications; ``miller-madow``
        adds (categories seen - 1) / (2 R ln 2).
    categories
        See `percent_agreement`. The interval is symmetric on the natural scale.

    Returns
    -------
    Estimate
        In bits; ``details``: the largest possible value, log2 q.

    Raises
    ------
    InputError
        If `correction` is unknown or the verdicts are unusable.

    Notes
    -----
    .. math:: \bar H = \frac1N \sum_i -\sum_k \hat p_{ik} \log_2 \hat p_{ik}

    References
    ----------
    Miller (1955), Note on the bias of information estimates.

    Examples
    --------
    >>> verdict_entropy([["A", "B"], ["B", "B"]]).estimate
    0.5
    """
    one_of("verdict_entropy", "correction", correction, ("plugin", "miller-madow"))

    def values(counts: NDArray[Any]) -> Floats:
        r = counts.sum(axis=-1)
        p = counts / r[..., None]
        bits = -np.sum(
            np.where(counts > 0, p * np.log2(np.where(counts > 0, p, 1.0)), 0.0), axis=-1
        )
        if correction == "miller-madow":
            bits = bits + (np.sum(counts > 0, axis=-1) - 1) / (2 * r * np.log(2))
        return np.asarray(np.abs(bits))

    table = count_table(verdicts, categories=categories, where="verdict_entropy")
    q = len(table.categories)
    return _mean_estimate(
        table,
        values,
        name="verdict_entropy",
        label="Entropy of an item's verdicts (bits)",
        estimator=f"{correction}, items weigh equally",
        categories=None,
        **inference,
        scale="identity",
        alternative="less",
        details={"largest": float(np.log2(q)) if q else float("nan")},
    )


@with_keywords()
def mean_share(
    shares: ArrayLike,
    *,
    interval: IntervalMethod = "jackknife",
    name: str = "mean_share",
    label: str = "Mean share",
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Mean of one share an item: credit earned, share of judgments with some property.

    Parameters
    ----------
    shares : array-like, shape (N,)
        Numbers in 0-1, NaN = missing.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        The jackknife over clusters works on the logit scale; where every item has 0 (or 1), the
        bound is Clopper-Pearson's on the clusters.
    name, label : str
        Of the result.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If a value lies outside 0-1 or there is none.

    Examples
    --------
    >>> out = mean_share([1, 0.5, 1, 0, 1, 0.5, 1, 1])
    >>> out.estimate, out.interval.low > 0.3, out.interval.high < 1
    (0.75, True, True)
    """
    x = np.asarray(shares, dtype=float)
    if x.ndim != 1 or x.size == 0 or np.any((x < 0) | (x > 1)):
        raise InputError(
            f"{name}: shares must be a list of numbers in 0-1, one an item, got shape {x.shape}. "
            "Average within items first."
        )
    used = ~np.isnan(x)
    codes = cluster_codes(inference["cluster"], x.size, where=name)[used]
    lost = int(np.sum(~used))
    return estimate_from_sums(
        share_of_sums(),
        np.column_stack([np.ones(int(used.sum())), x[used]]),
        name=name,
        label=label,
        estimator="mean over items",
        sample=Sample(
            n_items=int(used.sum()),
            n_clusters=int(np.unique(codes).size),
            excluded={"missing": lost},
        ),
        reason="no item has a value",
        where=name,
        cluster=codes,
        level=inference["level"],
        interval=interval,
        scale="logit",
        proportion=True,
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
        Clusters lie within groups: each must belong to one group.
    name, label : str
        Of the result.

    Returns
    -------
    Estimate
        ``details["groups"]``: each group's mean.

    Raises
    ------
    InputError
        If the lengths differ, a value lies outside 0-1, or a cluster lies in two groups.

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
    x, names = np.asarray(shares, dtype=float), np.asarray(group, dtype=object)
    if x.ndim != 1 or x.shape != names.shape or x.size == 0:
        raise InputError(
            f"{name}: shares and group must be lists of one length, got shapes {x.shape} and "
            f"{names.shape}."
        )
    if np.nanmin(x) < 0 or np.nanmax(x) > 1:
        raise InputError(f"{name}: shares must be numbers in 0-1. Average within items first.")
    used = ~np.isnan(x)
    codes = cluster_codes(inference["cluster"], x.size, where=name)[used]
    kinds, place = np.unique(names[used].astype(str), return_inverse=True)
    pairs = {(int(c), int(g)) for c, g in zip(codes, place, strict=True)}
    if len(pairs) > np.unique(codes).size:
        raise InputError(f"{name}: a cluster lies in two groups. Name clusters within groups.")
    member = place[:, None] == np.arange(kinds.size)[None, :]
    data = np.hstack([member, np.where(member, x[used][:, None], 0.0)])
    means = data[:, kinds.size :].sum(axis=0) / data[:, : kinds.size].sum(axis=0)
    lost = int(np.sum(~used))
    return estimate_from_sums(
        SumStatistic(
            per_item=lambda rows: rows,
            combine=lambda s: np.asarray(
                np.mean(s[..., kinds.size :] / s[..., : kinds.size], axis=-1)
            ),
        ),
        data.astype(float),
        name=name,
        label=label,
        estimator=f"mean of {kinds.size} groups' means",
        sample=Sample(
            n_items=int(used.sum()),
            n_clusters=int(np.unique(codes).size),
            excluded={"missing": lost},
        ),
        reason="no item has a value",
        where=name,
        cluster=codes,
        level=inference["level"],
        scale="logit",
        proportion=True,
        details={"groups": dict(zip(kinds.tolist(), means.tolist(), strict=True))},
    )
