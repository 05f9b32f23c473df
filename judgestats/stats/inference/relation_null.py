"""What a relation between two sides is worth when there is none: labels shuffled freely over items.

The mean and the 95th percentile of the null come from shuffles that break the pairing altogether.
Where items share clusters the p-value does not: a shuffle of single items rejects unrelated but
clustered data in .15-.22 for .05, and one of whole clusters keeps what it should remove.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import (
    effective_clusters,
    jackknife_error,
    t_of_clusters,
)
from judgestats.stats.inference.keywords import NULL, ClusterPermutations, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.permutation_summary import Alternative
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import NullReference


@with_keywords(permutations=NULL)
def relation_null(
    arrays: tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    *,
    strata: ArrayLike | None = None,
    alternative: Alternative = "greater",
    vectorized: bool = False,
    **inference: Unpack[ClusterPermutations],
) -> NullReference:
    r"""Null reference of a statistic of two sides: no relation between labels and the rest.

    Parameters
    ----------
    arrays : tuple of ndarray
        Items on the first axis of each. The *first* array (the labels) is shuffled over items.
    statistic : callable
        ``statistic(*arrays)`` returns a number; with ``vectorized=True`` the first array arrives as
        a stack (B, items, ...) and B numbers are returned.
    cluster : array-like, shape (n_items,), optional
        The question of each item. None, or every item its own: p is that of the shuffles.
    strata : array-like, shape (n_items,), optional
        Shuffle within these only.
    alternative : {"greater", "less", "two-sided"}
    vectorized : bool

    Returns
    -------
    NullReference
        `mean` and `q95` by free shuffles; `p_value` by them, or, over clusters, by Student's t of
        the estimate's distance from the null's mean with the clustered engine's error.

    Raises
    ------
    InputError
        If the arrays' first axes differ.

    Notes
    -----
    Rows are put into an order of their own before anything is drawn, so that the result does not
    depend on the order in which they came.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people, judge = rng.normal(size=(2, 60))
    >>> r = lambda a, b: np.corrcoef(a, b)[0, 1]
    >>> null = relation_null((people, judge), r, cluster=np.repeat(np.arange(12), 5))
    >>> bool(abs(null.mean) < 0.02), bool(null.p_value > 0.05)
    (True, True)
    """
    where = "relation_null"
    data = tuple(np.asarray(a) for a in arrays)
    n = data[0].shape[0] if data and data[0].ndim else 0
    if n == 0 or any(a.shape[:1] != (n,) for a in data):
        raise InputError(
            f"{where}: arrays must share their first axis (the items), got shapes "
            f"{[a.shape for a in data]}. Give one row per item in every array."
        )
    codes = cluster_codes(inference["cluster"], n, where=where)
    layers = None if strata is None else cluster_codes(strata, n, where=where)
    order = _own_order((*data, *([] if layers is None else [layers])))
    data, codes = tuple(a[order] for a in data), codes[order]
    null = permutation_distribution(
        data,
        statistic,
        scheme="labels",
        strata=None if layers is None else layers[order],
        n_permutations=inference["n_permutations"],
        seed=inference["seed"],
        alternative=alternative,
        vectorized=vectorized,
    )
    sizes = np.bincount(codes)
    if sizes.size == n or math.isnan(null.observed) or null.null.reason:
        return null.null
    spread = float(np.nanstd(null.distribution))
    return _clustered(
        null.null, null.observed, spread, data, statistic, codes, alternative, vectorized
    )


def _clustered(
    null: NullReference,
    observed: float,
    spread: float,
    data: tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    codes: NDArray[np.int64],
    alternative: Alternative,
    vectorized: bool,
) -> NullReference:
    """The same reference with the clustered engine's p-value."""
    sizes = np.bincount(codes)
    left_out = np.full(sizes.size, math.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        for g in range(sizes.size):
            labels, *rest = (a[codes != g] for a in data)
            if labels.shape[0]:
                value = statistic(labels[None] if vectorized else labels, *rest)
                left_out[g] = float(np.asarray(value, dtype=float).reshape(-1)[0])
    if sizes.size < 3 or not np.isfinite(left_out).all():
        why = (
            f"it needs at least 3 clusters, there are {sizes.size}"
            if sizes.size < 3
            else "the statistic is undefined when some cluster is left out"
        )
        return dataclasses.replace(null, p_value=math.nan, p_method=f"no p-value: {why}")
    error, df = jackknife_error(left_out, sizes)
    method = "the jackknife over clusters"
    if error <= 1e-12:
        # At its limit the statistic does not change: take the null's own spread instead, as if all
        # items of a cluster were one.
        effective = effective_clusters(sizes)
        error = spread * math.sqrt(codes.size / effective)
        method = f"the null's spread of {effective:.3g} effective clusters"
    t = (observed - null.mean) / error
    above, below = float(distributions.t.sf(t, df)), float(distributions.t.cdf(t, df))
    p = {"greater": above, "less": below, "two-sided": 2 * min(above, below)}[alternative]
    return dataclasses.replace(null, p_value=p, p_method=f"p by {method}, {t_of_clusters(df)}")


def _own_order(arrays: tuple[NDArray[Any], ...]) -> NDArray[np.int64]:
    """Order of the rows by what they hold."""
    columns = [
        np.unique(column, return_inverse=True)[1]
        for a in arrays
        for column in (a.astype(str) if a.dtype.kind == "O" else a).reshape(a.shape[0], -1).T
    ]
    return np.lexsort(columns[::-1]).astype(np.int64)
