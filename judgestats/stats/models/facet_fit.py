"""Design and fit of many-facet rating models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import softmax

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.models import ordinal
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
    counts : scipy.sparse.csr_matrix, shape (n_answers, n_cells * K)
    cells_of : scipy.sparse.csr_matrix, shape (n_answers, n_cells)
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
    counts: scipy.sparse.csr_matrix
    cells_of: scipy.sparse.csr_matrix
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


def named_codes(values: ArrayLike, read: Bools, *, name: str, where: str) -> tuple[list[str], Ints]:
    """Names in order (numbers by size) and the place of each value that was read.

    Examples
    --------
    >>> named_codes([10, 2, 10], np.ones(3, bool), name="judge", where="f")[0]
    ['2', '10']
    """
    given = np.asarray(values)
    if given.shape != read.shape:
        raise InputError(
            f"{where}: {name} must have one entry for each of {read.size} scores, got shape "
            f"{given.shape}."
        )
    given = given[read]
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
    levels, coded = ordinal.coded_levels(y, where=where)
    groups = cluster_codes(cluster, y.size, where=where)[read]
    k, coded, n_read = levels.size, coded[read], int(read.sum())
    names, at = named_codes(answer, read, name="answer", where=where)
    of = {name: named_codes(v, read, name=name, where=where) for name, v in facets.items()}
    _refuse_unlinked(at, of, where=where)
    whose = None
    if system is not None:
        whose = named_codes(system, read, name="system", where=where)
        _one_each(at, whose[1], "system", where)
    if cluster is not None:
        _one_each(at, groups, "cluster", where)
    stacked = np.column_stack([c for _, c in [*of.values(), *([whose] if whose else [])]])
    combos, cell = np.unique(stacked, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    shape = (len(names), len(combos))
    ones = np.ones(n_read)
    counts = scipy.sparse.csr_matrix((ones, (at, cell * k + coded)), shape=(shape[0], shape[1] * k))
    total = np.bincount(at, minlength=shape[0])
    sums = np.bincount(at, weights=coded, minlength=shape[0])
    first = np.zeros(shape[0], dtype=np.int64)
    first[at] = groups
    return Ratings(
        levels=levels,
        counts=counts,
        cells_of=scipy.sparse.csr_matrix((ones, (at, cell)), shape=shape),
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


def _one_each(at: Ints, codes: Ints, name: str, where: str) -> None:
    lowest = np.full(int(at.max()) + 1, np.iinfo(np.int64).max)  # size: levels of a facet
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
        graph = scipy.sparse.coo_matrix(
            (np.ones(at.size), (at, n + codes)), shape=(n + len(levels),) * 2
        )
        n_parts, part = scipy.sparse.csgraph.connected_components(graph, directed=False)
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


def design_of(ratings: Ratings) -> tuple[Floats, dict[str, slice]]:
    """What each parameter adds to the logit of each cell and level, quality left out.

    Parameters
    ----------
    ratings : Ratings

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
    add("tau", np.broadcast_to(-summed, (cells, *summed.shape)).copy())
    return np.concatenate(blocks, axis=2), at


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A fitted rating-scale model: parameters of the design, then log sigma."""

    beta: Floats
    covariance: Floats
    std_errors: Floats
    loglik: float
    tables: Mapping[str, Floats]
    reliability: float
    change: float


def level_probability(logits: Floats, nodes: Floats) -> Floats:
    """Probabilities of the levels of each cell at each node: shape (C, K, Q).

    Examples
    --------
    >>> level_probability(np.zeros((1, 2)), np.zeros(1))[0, :, 0].tolist()
    [0.5, 0.5]
    """
    k = np.arange(logits.shape[1], dtype=float)
    return np.asarray(softmax(logits[:, :, None] + k[None, :, None] * nodes, axis=1))


def level_fit(ratings: Ratings, probability: Floats, posterior: Floats) -> dict[str, Floats]:
    """Sums by cell that infit and outfit are made of.

    Parameters
    ----------
    ratings : Ratings
    probability : ndarray, shape (C, K, Q)
    posterior : ndarray, shape (n_answers, Q)
        Weights of the nodes for each answer.

    Returns
    -------
    dict
        ``squares``, ``variance``, ``standardised`` and ``n`` by cell.
    """
    cells, k, _ = probability.shape
    steps = np.arange(k, dtype=float)
    mean = np.einsum("ckq,k->cq", probability, steps)
    variance = np.einsum("ckq,k->cq", probability, steps**2) - mean**2
    squared = (steps[None, :, None] - mean[:, None, :]) ** 2
    standard = squared / np.maximum(variance, 1e-12)[:, None, :]
    counts = ratings.counts.tocoo()
    rows, columns, times = counts.row, counts.col, counts.data

    def total(table: Floats) -> Floats:
        """The posterior mean of each observed (cell, level), summed by cell."""
        values = posterior @ table.reshape(cells * k, -1).T
        sums = np.bincount(columns // k, weights=values[rows, columns] * times, minlength=cells)
        return np.asarray(sums, dtype=float)

    return {
        "squares": total(squared),
        "variance": total(np.repeat(variance[:, None, :], k, axis=1)),
        "standardised": total(standard),
        "n": np.asarray(ratings.cells_of.sum(axis=0), dtype=float).reshape(-1),
    }


def marginal_fit(
    ratings: Ratings, design: Floats, at: Mapping[str, slice], *, where: str, runaway: str
) -> Fitted:
    """Marginal maximum likelihood: qualities are normal, about the mean of their system.

    Parameters
    ----------
    ratings : Ratings
    design : ndarray, shape (C, K, p)
    at : mapping of str to slice
        Blocks of p.
    where, runaway : str
        For messages: the public function, and what it means where a parameter has no bound.

    Returns
    -------
    Fitted
    """
    start = np.zeros(design.shape[2] + 1)
    fitted = ordinal.fit_on_grid(rating_model(ratings, design), start, where=where, runaway=runaway)
    beta = fitted.fit.beta
    nodes = math.exp(beta[-1]) * fitted.grid.x
    tables = level_fit(ratings, level_probability(design @ beta[:-1], nodes), fitted.posterior)
    # Quality of each answer: its system's mean, and the posterior of what is its own.
    mean = fitted.posterior @ nodes
    variance = np.maximum(fitted.posterior @ nodes**2 - mean**2, 0.0)
    of = ratings.systems
    whose = np.asarray(ratings.cells_of.argmax(axis=1)).reshape(-1)
    group = np.zeros_like(whose) if of is None else of.of_cell[whose]
    quality = mean + beta[at["mean"]][group]
    varies = float(np.var(quality, ddof=1))
    return Fitted(
        beta=beta,
        covariance=ordinal.clustered_covariance(fitted.fit, ratings.cluster),
        std_errors=np.sqrt(np.diag(fitted.fit.bread)),
        loglik=fitted.fit.loglik,
        tables=tables,
        reliability=varies / (varies + float(np.mean(variance))),
        change=fitted.change,
    )


def rating_model(
    ratings: Ratings, design: Floats
) -> Callable[[Floats, ordinal.Grid], tuple[float, Floats, Floats]]:
    """The marginal log-likelihood of a rating-scale design: parameters, then log sigma."""
    cells, k, p = design.shape
    flat = design.reshape(cells * k, p)
    steps = np.tile(np.arange(k, dtype=float), cells)
    # Many answers are rated alike, and what follows depends on their ratings alone.
    counts, alike = np.unique(ratings.counts.toarray(), axis=0, return_inverse=True)
    alike = alike.reshape(-1)
    observed, points = counts @ flat, counts @ steps
    times = np.repeat(counts.reshape(-1, cells, k).sum(axis=2), k, axis=1)

    def model(beta: Floats, grid: ordinal.Grid) -> tuple[float, Floats, Floats]:
        sigma = math.exp(min(float(beta[-1]), 20.0))
        prob = level_probability(design @ beta[:-1], sigma * grid.x).reshape(cells * k, -1)
        logp = np.log(np.maximum(prob, 1e-300))
        marginal, posterior = ordinal.integrated(counts @ logp, grid)
        expected = (posterior @ prob.T) * times
        spread = ((posterior * grid.x) @ prob.T) * times
        of_sigma = sigma * (points * (posterior @ grid.x) - spread @ steps)
        scores = np.column_stack([observed - expected @ flat, of_sigma])
        return float(marginal[alike].sum()), scores[alike], posterior[alike]

    return model
