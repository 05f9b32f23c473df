"""Average of shares in 0-1 over items, with an interval over clusters."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.errors import InputError
from judgestats.stats.agreement.alignment import share_of_sums
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.stats.inference.sum_statistics import (
    IntervalMethod,
    SumStatistic,
    estimate_from_sums,
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
