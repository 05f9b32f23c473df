"""Permutation tests and null distributions of statistics."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, check_least
from judgestats.engine import WORTH_THREADS, map_blocks
from judgestats.errors import InputError, one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_codes, shared_items
from judgestats.stats.inference.jackknife import effective_clusters, jackknife_error, t_of_clusters
from judgestats.stats.inference.keywords import (
    NULL,
    ClusterPermutations,
    one_blas_thread,
    with_keywords,
)
from judgestats.stats.inference.result import Note, NullReference

Scheme = Literal["replications", "questions", "cells", "positions", "labels"]
Alternative = Literal["greater", "less", "two-sided"]

ENOUGH = 20
"""Permutations at least as extreme as the observed value that resolve its p-value."""

SCHEMES: dict[str, tuple[str, str]] = {
    "replications": ("the item does not matter", "each replication's column over items"),
    "questions": ("replications are independent", "each question's judgments over replications"),
    "cells": ("the condition does not matter", "whole item x condition cells within items"),
    "positions": ("order does not matter", "positions within items"),
    "labels": ("no relation", "labels over items within strata"),
}
"""Scheme -> (null hypothesis, what is permuted)."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PermutationResult:
    """The null reference together with the distribution it summarises.

    Attributes
    ----------
    observed : float
        The statistic on the data as given.
    null : NullReference
        Hypothesis, what was permuted, mean, 95th percentile and p-value.
    distribution : ndarray, shape (n_permutations,)
        The statistic on every permutation, NaN where undefined.
    n_failed : int
        Permutations in which the statistic is undefined; they count as at least as extreme as the
        observed value, so that p stays valid.
    notes : tuple of Note
        Warnings as data.
    """

    observed: float
    null: NullReference
    distribution: Floats
    n_failed: int = 0
    notes: tuple[Note, ...] = ()


def permutations_needed(alpha: float = 0.05, n_comparisons: int = 1) -> int:
    r"""Number of permutations that resolve a Bonferroni-adjusted level: 20 reach it by chance.

    Parameters
    ----------
    alpha : float
        Level of the family, in (0, 1).
    n_comparisons : int
        Size of the family.

    Returns
    -------
    int
        20 n_comparisons / alpha, less the arrangement observed. With 1 / (B + 1) just at the
        adjusted level one chance draw decides.

    Raises
    ------
    InputError
        If `alpha` or `n_comparisons` is out of range.

    Examples
    --------
    >>> permutations_needed(0.05, 1), permutations_needed(0.05, 50)
    (399, 19999)
    """
    if not 0 < alpha < 1 or n_comparisons < 1:
        raise InputError(
            "permutations_needed: alpha must lie in (0, 1) and n_comparisons be at least 1, got "
            f"{alpha} and {n_comparisons}."
        )
    # The small slack keeps 200 / 0.05 = 4000.0000000000005 from asking for one more.
    return max(1, math.ceil(ENOUGH * n_comparisons / alpha * (1 - 1e-12)) - 1)


def summarise_permutations(
    observed: float,
    distribution: Floats,
    *,
    scheme: str,
    seed: int | None,
    alternative: str = "greater",
    refusal: str = "",
    fixed: str = "",
) -> PermutationResult:
    """Mean, 95th percentile and p-value of a finished null distribution.

    Parameters
    ----------
    observed : float
    distribution : ndarray, shape (n_permutations,)
        NaN where undefined.
    scheme, seed, alternative
        As `permutation_distribution` takes them.
    refusal : str
        Why the statistic is undefined in some permutations.
    fixed : str
        Why no permutation moves the statistic, should none do. There is no p-value then: one near
        1 would read as a finding of the data.

    Returns
    -------
    PermutationResult

    Examples
    --------
    >>> values = np.linspace(0, 1, 99)
    >>> float(summarise_permutations(2.0, values, scheme="labels", seed=None).null.p_value)
    0.01
    """
    n = distribution.size
    defined = distribution[~np.isnan(distribution)]
    n_failed = n - defined.size
    notes: list[Note] = []
    if n_failed:
        message = f"The statistic is undefined in {n_failed} of {n} permutations"
        message += f" ({refusal})" if refusal else ""
        message += "; they count as at least as extreme as the observed value."
        notes.append(Note(code="undefined_permutations", message=message))
    if math.isnan(observed):
        message = "No p-value: the statistic is undefined."
        notes.append(Note(code="undefined_estimate", message=message))
    slack = 1e-10 * max(1.0, abs(observed)) if math.isfinite(observed) else 0.0
    above = (np.sum(defined >= observed - slack) + n_failed + 1) / (n + 1)
    below = (np.sum(defined <= observed + slack) + n_failed + 1) / (n + 1)
    p = {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]
    hypothesis, permuted = SCHEMES[scheme]
    still = n > n_failed == 0 and bool(np.all(np.abs(defined - observed) <= slack))
    silent = fixed if still else ""
    if silent:
        notes.append(Note(code="uninformative_null", message=f"No p-value: {silent}."))
    null = NullReference(
        hypothesis=hypothesis,
        permuted=permuted,
        mean=float(np.mean(defined)) if defined.size else math.nan,
        q95=float(np.quantile(defined, 0.95)) if defined.size else math.nan,
        p_value=math.nan if math.isnan(observed) or silent else float(p),
        n_permutations=n,
        seed=seed,
        reason=silent,
        sides=2 if alternative == "two-sided" else 1,
    )
    return PermutationResult(
        observed=observed,
        null=null,
        distribution=distribution,
        n_failed=n_failed,
        notes=tuple(notes),
    )


AnyArray = NDArray[Any]


def _shuffle_groups(
    x: AnyArray, rng: np.random.Generator, size: int, groups: list[Ints]
) -> AnyArray:
    """`size` copies of x, each column shuffled over the rows of each group.

    A column lies together in memory while it is shuffled, which takes a sixth of the time.
    """
    out = np.repeat(np.ascontiguousarray(np.moveaxis(x, 0, -1))[None], size, axis=0)
    if len(groups) == 1:
        rng.permuted(out, axis=-1, out=out)
        return np.moveaxis(out, -1, 1)
    for rows in groups:
        out[..., rows] = rng.permuted(out[..., rows], axis=-1)
    return np.moveaxis(out, -1, 1)


def _permute_cells(
    x: AnyArray,
    rng: np.random.Generator,
    size: int,
    cluster: Ints | None,
) -> AnyArray:
    """`size` copies of x, each item's cells (axis 1) permuted; further axes move along.

    Items of one cluster share their permutation.
    """
    shape = [*x.shape[:2], *(1,) * (x.ndim - 2)]
    if cluster is not None:
        shape[0] = int(cluster.max()) + 1
    drawn = rng.random((size, *shape))
    if x.shape[1] == 2:  # two cells are exchanged or not: no sorting
        swap = np.less(*reversed(np.split(drawn, 2, axis=2)))
        if cluster is not None:
            swap = swap[:, cluster]
        return np.where(swap, np.flip(x, 1), x)
    order = np.argsort(drawn, axis=2)
    if cluster is not None:
        order = order[:, cluster]
    full = np.broadcast_to(order, (size, *x.shape))
    return np.take_along_axis(np.broadcast_to(x, (size, *x.shape)), full, axis=2)


def draw_permutations(
    x: AnyArray,
    rng: np.random.Generator,
    size: int,
    scheme: str,
    groups: list[Ints],
    cluster: Ints | None,
) -> AnyArray:
    """`size` permuted copies of x, stacked on a new first axis."""
    if scheme == "replications":
        return _shuffle_groups(x, rng, size, groups)
    if scheme == "labels":
        index = np.tile(np.arange(x.shape[0]), (size, 1))
        for rows in groups:
            index[:, rows] = rng.permuted(index[:, rows], axis=1)
        return x[index]
    return _permute_cells(x, rng, size, cluster)


CHUNK = 50
"""Permutations drawn from one child seed: fixed, so that the number of workers changes nothing."""

PART = 1_000_000
"""Values of the permuted copies that are in memory at a time."""


@one_blas_thread()
def _chunk(
    arrays: tuple[AnyArray, ...],
    statistic: Callable[..., Any],
    size: int,
    seed: np.random.SeedSequence,
    vectorized: bool,
    drawing: tuple[str, list[Ints], Ints | None],
) -> tuple[Floats, str]:
    """The statistic on `size` permutations, and the first refusal's message."""
    rng = np.random.default_rng(seed)
    # A stack that is large goes in parts, which keeps memory small; with one group the draws of a
    # part follow those of the part before.
    most = max(1, PART // max(1, arrays[0].size)) if vectorized and len(drawing[1]) == 1 else size
    if most < size:
        parts = (min(most, size - start) for start in range(0, size, most))
        stacks = (draw_permutations(arrays[0], rng, part, *drawing) for part in parts)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistics = [np.ravel(statistic(stack, *arrays[1:])) for stack in stacks]
        return np.concatenate(statistics).astype(float), ""
    drawn = draw_permutations(arrays[0], rng, size, *drawing)
    with np.errstate(divide="ignore", invalid="ignore"):
        if vectorized:
            return np.asarray(statistic(drawn, *arrays[1:]), dtype=float).reshape(size), ""
        values, refusal = np.full(size, np.nan), ""
        for b in range(size):
            try:
                values[b] = float(statistic(drawn[b], *arrays[1:]))
            except (InputError, np.linalg.LinAlgError, ZeroDivisionError) as error:
                # A permutation the statistic refuses stays NaN: counted and noted by the caller.
                refusal = refusal or str(error)
    return values, refusal


@with_keywords(permutations=NULL)
def permutation_distribution(
    arrays: ArrayLike | tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    *,
    scheme: Scheme,
    n_comparisons: int = 1,
    strata: ArrayLike | None = None,
    n_jobs: int = 1,
    alternative: Alternative = "greater",
    vectorized: bool = False,
    **inference: Unpack[ClusterPermutations],
) -> PermutationResult:
    r"""Permutation null of a statistic, with its distribution.

    Parameters
    ----------
    arrays : array-like, or tuple of arrays
        Items on the first axis. The *first* array is permuted; the others are handed on as given.
    statistic : callable
        ``statistic(*arrays)`` returns a number. With ``vectorized=True`` the first array arrives
        as a stack of permutations, shape (B, ...), and B numbers are returned.
    scheme : str
        What is permuted, and so the null hypothesis:

        - ``replications``: X (items, replications): each column over items, within `strata`
          (the item does not matter).
        - ``questions``: X (items, replications): each item's row over replications
          (replications are independent: the null of the procedure with questions as columns).
        - ``cells``: X (items, conditions, ...): complete cells within items, together with all
          further axes (the condition does not matter). Items of a `cluster` share a shuffle.
        - ``positions``: X (items, positions, ...): as ``cells`` (order does not matter).
        - ``labels``: labels (items, ...): over items within `strata` (no relation; where items
          share clusters see `relation_null`).
    n_permutations : int
        B to begin with.
    n_comparisons : int
        Size of the family that p is adjusted in. While fewer than 20 permutations reached the
        observed value, drawing goes on up to `permutations_needed`, so that a p that matters is
        resolved at the adjusted level.
    strata : array-like, shape (n_items,), optional
    n_jobs : int
        joblib workers; the result does not depend on it.
    alternative : {"greater", "less", "two-sided"}
        Two-sided: twice the smaller one-sided p, at most 1.
    vectorized : bool
        See `statistic`.

    Returns
    -------
    PermutationResult

    Raises
    ------
    InputError
        If the scheme does not fit the data or the options.

    Notes
    -----
    p = (b + 1) / (B + 1) with b the number of permutations at least as extreme as the observed
    value (up to a relative 1e-10, so that equal arrangements count as ties). Undefined permutations
    count as extreme. Where no shuffle of ``labels`` changes the statistic, the null is the estimate
    itself and says nothing: p is NaN and the null's `reason` says why. NaN (missing) moves with the
    values. The null of ``replications`` is that the item matters in nothing: items that differ in
    spread only are rejected more often than the level says (.11-.13 for .05,
    docs/simulations/scores.md), as they are by the F test.

    References
    ----------
    Phipson & Smyth (2010), Permutation p-values should never be zero. SAGMB 9(1), 39.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(30, 1)) + rng.normal(size=(30, 2))
    >>> r = lambda a: np.corrcoef(a, rowvar=False)[0, 1]
    >>> out = permutation_distribution(x, r, scheme="replications", n_permutations=199)
    >>> out.null.hypothesis, bool(out.null.p_value < 0.05)
    ('the item does not matter', True)
    """
    where = "permutation_distribution"
    given = arrays if isinstance(arrays, tuple) else (arrays,)
    data: tuple[AnyArray, ...] = tuple(np.asarray(a) for a in given)
    x = data[0]
    one_of(where, "scheme", scheme, SCHEMES, advice="Choose what the coefficient's null permutes.")
    one_of(where, "alternative", alternative, ("greater", "less", "two-sided"))
    check_least(where, "n_permutations", inference["n_permutations"], 1)
    least = 1 if scheme == "labels" else 2
    if x.ndim < least or x.size == 0:
        raise InputError(
            f"{where}: scheme {scheme!r} needs a non-empty array of at least {least} axes, items "
            f"first, got shape {x.shape}."
        )
    if strata is not None and scheme not in {"replications", "labels"}:
        raise InputError(f"{where}: strata has no meaning for scheme {scheme!r}. Leave it out.")
    n_items, codes = x.shape[0], None
    if inference["cluster"] is not None:
        if scheme not in {"cells", "positions"}:
            raise InputError(
                f"{where}: cluster has no meaning for scheme {scheme!r}. Use strata, or "
                "relation_null for labels of clustered items."
            )
        codes = cluster_codes(inference["cluster"], n_items, where=where)
    groups = [np.arange(n_items)]
    if strata is not None:
        stratum = cluster_codes(strata, n_items, where=where)
        # size: as many as there are strata
        groups = [np.flatnonzero(stratum == s) for s in range(int(stratum.max()) + 1)]
    drawing = (scheme, groups, codes)

    with np.errstate(divide="ignore", invalid="ignore"):
        if vectorized:
            observed = float(np.asarray(statistic(x[None], *data[1:]), dtype=float).reshape(-1)[0])
        else:
            observed = float(statistic(*data))
    seeds = np.random.SeedSequence(inference["seed"])

    def more(count: int) -> list[tuple[Floats, str]]:
        sizes = [min(CHUNK, count - start) for start in range(0, count, CHUNK)]
        jobs = [
            (data, statistic, n, s, vectorized, drawing)
            for n, s in zip(sizes, seeds.spawn(len(sizes)), strict=True)
        ]
        with one_blas_thread():  # once for all threads: each would put back what another set
            large = vectorized and data[0].size * count > WORTH_THREADS
            return map_blocks(_chunk, jobs, n_jobs=n_jobs, threads=large)

    parts = more(inference["n_permutations"])
    distribution = np.concatenate([values for values, _ in parts])
    most = permutations_needed(n_comparisons=n_comparisons) if n_comparisons > 1 else 0
    while distribution.size < most:
        above = int(np.sum(~(distribution < observed)))
        below = int(np.sum(~(distribution > observed)))
        nearer = min(above, below)
        if {"greater": above, "less": below, "two-sided": nearer}[alternative] >= ENOUGH:
            break
        added = more(min(distribution.size, most - distribution.size))
        parts += added
        distribution = np.concatenate([distribution, *(values for values, _ in added)])
    refusal = next((why for _, why in parts if why), "")

    labels = scheme == "labels"
    return summarise_permutations(
        observed,
        distribution,
        refusal=refusal,
        fixed="every shuffle of the labels over items gives the same value" if labels else "",
        alternative=alternative,
        scheme=scheme,
        seed=inference["seed"],
    )


@with_keywords(permutations=NULL)
def relation_null(
    arrays: tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    *,
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
    Rows are sorted into a canonical order before anything is drawn, so the result does not depend
    on their order in the input.

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
    data = shared_items(tuple(arrays), where=where)
    n = len(data[0])
    codes = cluster_codes(inference["cluster"], n, where=where)
    columns = [
        np.unique(column, return_inverse=True)[1]
        for a in data
        for column in (a.astype(str) if a.dtype.kind == "O" else a).reshape(n, -1).T
    ]
    order = np.lexsort(columns[::-1])
    data, codes = tuple(a[order] for a in data), codes[order]
    drawn = permutation_distribution(
        data,
        statistic,
        scheme="labels",
        n_permutations=inference["n_permutations"],
        seed=inference["seed"],
        vectorized=vectorized,
    )
    null, sizes = drawn.null, np.bincount(codes)
    if sizes.size == n or math.isnan(drawn.observed) or null.reason:
        return null
    left_out = np.full(sizes.size, math.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        for g in range(sizes.size):
            labels, *rest = (a[codes != g] for a in data)
            if labels.shape[0]:
                value = statistic(labels[None] if vectorized else labels, *rest)
                left_out[g] = float(np.asarray(value, dtype=float).reshape(-1)[0])
    if sizes.size < 3 or not np.isfinite(left_out).all():
        why = "the statistic is undefined when some cluster is left out"
        if sizes.size < 3:
            why = f"it needs at least 3 clusters, there are {sizes.size}"
        return dataclasses.replace(null, p_value=math.nan, p_method=f"no p-value: {why}")
    error, df = jackknife_error(left_out, sizes)
    method = "the jackknife over clusters"
    if error <= 1e-12:
        # At its limit the statistic does not change: take the null's own spread instead, as if all
        # items of a cluster were one.
        effective = effective_clusters(sizes)
        error = float(np.nanstd(drawn.distribution)) * math.sqrt(n / effective)
        method = f"the null's spread of {effective:.3g} effective clusters"
    p = float(distributions.t.sf((drawn.observed - null.mean) / error, df))
    return dataclasses.replace(null, p_value=p, p_method=f"p by {method}, {t_of_clusters(df)}")
