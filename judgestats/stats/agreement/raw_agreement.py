"""Observed agreement and mean shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, check_lengths
from judgestats.errors import InputError
from judgestats.stats.designs.count_table import CountTable, count_table
from judgestats.stats.inference import sum_statistics
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Estimate, Sample
from judgestats.stats.inference.keywords import ON_DEMAND, Clustered, SumInference, with_keywords


def mean_over_items(
    values: Callable[[NDArray[Any]], Floats], *, least: int
) -> sum_statistics.SumStatistic:
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
        mean_over_items(values, least=2),
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
    """How often repetition changes the verdict: two judgments of an item differ.

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
            f"{where}: shares must be a list of numbers in 0-1, one per item, got shape {x.shape}. "
            "Average within items first."
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
        If the lengths differ, a value is outside 0-1, or a cluster lies in two groups.

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
