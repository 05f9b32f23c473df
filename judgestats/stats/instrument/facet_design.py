"""Ratings by facets: what is read, whether it is linked, and the design of a rating-scale model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.instrument.ordinal import coded_levels
from judgestats.stats.validity.inputs import score_values


@dataclass(frozen=True, kw_only=True)
class Facets:
    """The names of a facet's levels and the level of each cell."""

    levels: tuple[str, ...]
    of_cell: Ints


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """Read ratings, counted by answer, cell (combination of facets and system) and level.

    Attributes
    ----------
    levels : ndarray, shape (K,)
        The distinct scores, in order.
    counts : csr_matrix, shape (n_answers, n_cells * K)
    cells_of : csr_matrix, shape (n_answers, n_cells)
        Ratings of each answer in each cell.
    facets : mapping of str to Facets
    systems : Facets or None
    cluster : ndarray of int, shape (n_answers,)
    clustered : bool
    answers : tuple of str
    extreme : int
        Answers with all ratings on the lowest, or all on the highest level.
    unread : int
    """

    levels: Floats
    counts: csr_matrix
    cells_of: csr_matrix
    facets: Mapping[str, Facets]
    systems: Facets | None
    cluster: Ints
    clustered: bool
    answers: tuple[str, ...]
    extreme: int
    unread: int

    @property
    def n_cells(self) -> int:
        """Combinations of facet levels that occur."""
        return int(self.cells_of.shape[1])


def named_codes(values: ArrayLike, n: int, *, name: str, where: str) -> tuple[list[str], Ints]:
    """Names in order (numbers by size) and the place of each value.

    Examples
    --------
    >>> named_codes([10, 2, 10], 3, name="judge", where="f")[0]
    ['2', '10']
    """
    given = np.asarray(values)
    if given.shape != (n,):
        raise InputError(
            f"{where}: {name} must have one entry for each of {n} scores, got shape {given.shape}."
        )
    if given.dtype.kind not in "iufb":
        given = given.astype(str)
    levels, codes = np.unique(given, return_inverse=True)
    return [str(v) for v in levels.tolist()], codes.reshape(-1).astype(np.int64)


def rated(
    scores: ArrayLike,
    answer: ArrayLike,
    facets: Mapping[str, ArrayLike],
    system: ArrayLike | None,
    cluster: ArrayLike | str | None,
    *,
    where: str,
) -> Ratings:
    """Count the ratings, and refuse what leaves severities unknown.

    Raises
    ------
    InputError
        If shapes differ, every answer was rated once, facets are not linked through answers, or two
        facets cannot be told apart.
    """
    y = score_values(scores, where=where, name="scores")
    if y.ndim != 1 or not facets:
        raise InputError(
            f"{where}: give one score a row and at least one facet (judge=...), got shape "
            f"{y.shape}."
        )
    read = ~np.isnan(y)
    levels, coded = coded_levels(y, where=where)
    groups = cluster_codes(cluster, y.size, where=where)[read]
    k, coded, n_read = levels.size, coded[read], int(read.sum())
    names, at = named_codes(np.asarray(answer)[read], n_read, name="answer", where=where)
    of: dict[str, tuple[list[str], Ints]] = {
        name: named_codes(_kept(v, y, name, where)[read], n_read, name=name, where=where)
        for name, v in facets.items()
    }
    _refuse_unlinked(at, of, where=where)
    whose = None
    if system is not None:
        whose = named_codes(
            _kept(system, y, "system", where)[read], n_read, name="system", where=where
        )
        _one_each(at, whose[1], "system", where)
    if cluster is not None:
        _one_each(at, groups, "cluster", where)
    stacked = np.column_stack([c for _, c in [*of.values(), *([whose] if whose else [])]])
    combos, cell = np.unique(stacked, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    shape = (len(names), len(combos))
    ones = np.ones(n_read)
    counts = csr_matrix((ones, (at, cell * k + coded)), shape=(shape[0], shape[1] * k))
    total = np.bincount(at, minlength=shape[0])
    sums = np.bincount(at, weights=coded, minlength=shape[0])
    first = np.zeros(shape[0], dtype=np.int64)
    first[at] = groups
    return Ratings(
        levels=levels,
        counts=counts,
        cells_of=csr_matrix((ones, (at, cell)), shape=shape),
        facets={
            name: Facets(levels=tuple(given), of_cell=combos[:, i])
            for i, (name, (given, _)) in enumerate(of.items())
        },
        systems=Facets(levels=tuple(whose[0]), of_cell=combos[:, -1]) if whose else None,
        cluster=np.arange(shape[0]) if cluster is None else first,
        clustered=cluster is not None,
        answers=tuple(names),
        extreme=int(np.sum((sums == 0) | (sums == total * (k - 1)))),
        unread=int(np.sum(~read)),
    )


def _kept(values: ArrayLike, y: Floats, name: str, where: str) -> NDArray[Any]:
    given = np.asarray(values)
    if given.shape != y.shape:
        raise InputError(
            f"{where}: {name} must have one entry for each of {y.size} scores, got shape "
            f"{given.shape}."
        )
    return given


def _one_each(at: Ints, codes: Ints, name: str, where: str) -> None:
    lowest = np.full(int(at.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, at, codes)
    if np.any(codes != lowest[at]):
        raise InputError(f"{where}: an answer belongs to one {name}, but some have several.")


def _refuse_unlinked(at: Ints, of: Mapping[str, tuple[list[str], Ints]], *, where: str) -> None:
    n = int(at.max()) + 1
    size = np.bincount(at, minlength=n)
    if not np.any(size > 1):
        raise InputError(
            f"{where}: every answer was rated once, so severity and quality cannot be told apart. "
            "Let several judges (or prompts) rate the same answers; compare means otherwise."
        )
    columns = []
    for name, (levels, codes) in of.items():
        if len(levels) < 2:
            raise InputError(f"{where}: {name} has one level, {levels[0]}: leave it out.")
        graph = coo_matrix((np.ones(at.size), (at, n + codes)), shape=(n + len(levels),) * 2)
        n_parts, part = connected_components(graph, directed=False)
        if n_parts > 1:
            of_level = part[n:]
            groups = [
                ", ".join(np.array(levels)[of_level == g][:3]) for g in np.unique(of_level)[:3]
            ]
            raise InputError(
                f"{where}: no answer links {name} {' with '.join(groups)}: a severe {name} cannot "
                "be told from poor answers. Let them rate some of the same answers, or fit each "
                "group alone."
            )
        dummy = (codes[:, None] == np.arange(1, len(levels))).astype(float)
        means = np.stack([np.bincount(at, weights=c, minlength=n) / size for c in dummy.T], axis=1)
        columns.append(dummy - means[at])
    within = np.column_stack(columns)
    gram = within.T @ within
    if np.linalg.matrix_rank(gram) < gram.shape[0]:
        raise InputError(
            f"{where}: {' and '.join(of)} cannot be told apart within answers: each level of one "
            "meets one of the other. Leave one of them out, or cross them."
        )


def contrast(n: int) -> Floats:
    """Effects that sum to zero from the first n - 1 of them.

    Examples
    --------
    >>> contrast(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    """
    return np.vstack([np.eye(n - 1), -np.ones((1, n - 1))])


def design_of(ratings: Ratings, *, own_steps: bool) -> tuple[Floats, dict[str, slice]]:
    """What each parameter adds to the logit of each cell and level, quality left out.

    Parameters
    ----------
    ratings : Ratings
    own_steps : bool
        Whether each level of the first facet has thresholds of its own (partial credit).

    Returns
    -------
    design : ndarray, shape (n_cells, K, p)
        Mean quality (of each system), severities, thresholds.
    at : mapping of str to slice
        Where ``mean``, each facet and ``tau`` stand in p.
    """
    k, cells = ratings.levels.size, ratings.n_cells
    steps = np.arange(k, dtype=float)
    blocks: list[Floats] = []
    at: dict[str, slice] = {}

    def add(name: str, block: Floats) -> None:
        start = sum(b.shape[2] for b in blocks)
        blocks.append(block)
        at[name] = slice(start, start + block.shape[2])

    of = ratings.systems
    means = np.ones((cells, 1)) if of is None else np.eye(len(of.levels))[of.of_cell]
    add("mean", steps[None, :, None] * means[:, None, :])
    for name, facet in ratings.facets.items():
        effect = contrast(len(facet.levels))[facet.of_cell]
        add(name, -steps[None, :, None] * effect[:, None, :])
    # The sum of the first k thresholds, of K - 1 that sum to zero.
    summed = np.tril(np.ones((k, k - 1)), -1) @ contrast(k - 1) if k > 2 else np.zeros((k, 0))
    if not own_steps:
        add("tau", np.broadcast_to(-summed, (cells, *summed.shape)).copy())
    else:
        first = next(iter(ratings.facets.values()))
        whose = np.eye(len(first.levels))[first.of_cell]
        block = -whose[:, None, :, None] * summed[None, :, None, :]
        add("tau", block.reshape(cells, k, -1))
    return np.concatenate(blocks, axis=2), at
