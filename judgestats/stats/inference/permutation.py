"""What a coefficient yields when there is nothing to find: permutation of the right thing.

The null depends on the coefficient (STATISTICS section 3), so the schemes have names, and the
result says what was permuted and which hypothesis that stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints
from judgestats.engine import WORTH_THREADS, map_blocks
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.blas_threads import one_blas_thread
from judgestats.stats.inference.keywords import NULL, ClusterPermutations, with_keywords
from judgestats.stats.inference.permutation_summary import (
    ENOUGH,
    SCHEMES,
    Alternative,
    PermutationResult,
    Scheme,
    permutations_needed,
    summarise_permutations,
)
from judgestats.stats.inference.permuters import AnyArray, draw_permutations
from judgestats.stats.inference.resampling import cluster_codes

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
    drawing: tuple[str, list[Ints], Ints | None, int, tuple[int, ...]],
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
    axis: int = 1,
    together: tuple[int, ...] | None = None,
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
          (the item does not matter);
        - ``questions``: X (items, replications): each item's row over replications
          (replications are independent: the null of the procedure with questions as columns);
        - ``cells``: X (items, conditions, ...): whole cells within items, whatever further axes
          hold moves along (the condition does not matter); a `cluster`'s items share a shuffle;
        - ``positions``: X (items, positions, ...): as ``cells`` (order does not matter);
        - ``labels``: labels (items, ...): over items within `strata` (no relation; where items
          share clusters see `relation_null`);
        - ``levels``: X with one axis per facet: levels of the facet on `axis`, independently for
          every combination of the other facets, axes in `together` moving as a block (the facet's
          component is 0).
    n_permutations : int
        B to begin with.
    n_comparisons : int
        Size of the family that p is adjusted in. While fewer than 20 permutations reached the
        observed value, drawing goes on up to `permutations_needed`, so that a p that matters is
        resolved at the adjusted level.
    strata : array-like, shape (n_items,), optional
    axis : int
        The facet's axis for ``levels`` (not negative).
    together : tuple of int, optional
        Axes that move as one block for ``levels``; default every axis after the first two that is
        not `axis` (replicates stay in their cell).
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
    data: tuple[AnyArray, ...] = (
        tuple(np.asarray(a) for a in arrays) if isinstance(arrays, tuple) else (np.asarray(arrays),)
    )
    x = data[0]
    one_of(where, "scheme", scheme, SCHEMES, advice="Choose what the coefficient's null permutes.")
    one_of(where, "alternative", alternative, ("greater", "less", "two-sided"))
    if inference["n_permutations"] < 1:
        raise InputError(f"{where}: n_permutations must be at least 1, got 0. Use 999.")
    least = 1 if scheme == "labels" else 2
    if x.ndim < least or x.size == 0:
        raise InputError(
            f"{where}: scheme {scheme!r} needs a non-empty array of at least {least} axes, got "
            f"shape {x.shape}. Put items on axis 0 and what is permuted on the next."
        )
    if strata is not None and scheme not in {"replications", "labels"}:
        raise InputError(
            f"{where}: strata has no meaning for scheme {scheme!r}, which permutes within items. "
            "Leave it out."
        )
    if inference["cluster"] is not None and scheme not in {"cells", "positions"}:
        raise InputError(
            f"{where}: cluster has no meaning for scheme {scheme!r}. Use strata to keep a shuffle "
            "within groups, relation_null for labels of clustered items, or leave it out."
        )
    n_items = x.shape[0]
    codes = (
        None
        if inference["cluster"] is None
        else cluster_codes(inference["cluster"], n_items, where=where)
    )
    groups = [np.arange(n_items)]
    if strata is not None:
        stratum = cluster_codes(strata, n_items, where=where)
        groups = [np.flatnonzero(stratum == s) for s in range(int(stratum.max()) + 1)]
    drawing = (
        scheme,
        groups,
        codes,
        _axis(where, scheme, x, axis),
        _together(scheme, x, axis, together),
    )

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
    while distribution.size < most and _reached(observed, distribution, alternative) < ENOUGH:
        added = more(min(distribution.size, most - distribution.size))
        parts += added
        distribution = np.concatenate([distribution, *(values for values, _ in added)])
    refusal = next((why for _, why in parts if why), "")

    return summarise_permutations(
        observed,
        distribution,
        refusal=refusal,
        fixed="every shuffle of the labels over items gives the same value"
        if scheme == "labels"
        else "",
        alternative=alternative,
        scheme=scheme,
        seed=inference["seed"],
    )


def _reached(observed: float, distribution: Floats, alternative: str) -> int:
    """How many permutations are at least as extreme, on the nearer side where both count."""
    above = int(np.sum(~(distribution < observed)))
    below = int(np.sum(~(distribution > observed)))
    return {"greater": above, "less": below, "two-sided": min(above, below)}[alternative]


def _axis(where: str, scheme: str, x: AnyArray, axis: int) -> int:
    """The axis along which a scheme permutes."""
    if scheme != "levels":
        return 1
    if not 0 <= axis < x.ndim:
        raise InputError(
            f"{where}: axis must be one of the array's axes 0 to {x.ndim - 1}, got {axis}. Give "
            "the axis of the facet whose component is tested."
        )
    return axis


def _together(
    scheme: str, x: AnyArray, axis: int, together: tuple[int, ...] | None
) -> tuple[int, ...]:
    """The axes that move as one block."""
    if scheme in {"cells", "positions"}:
        return tuple(range(2, x.ndim))
    if scheme == "levels":
        return tuple(k for k in range(2, x.ndim) if k != axis) if together is None else together
    return ()
