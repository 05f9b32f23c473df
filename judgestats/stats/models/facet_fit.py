"""Design and fit of many-facet rating models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Estimate, Note, Result, Sample
from judgestats.stats.models.ordinal import INFINITE, coded_levels
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
        name: named_codes(_check_values(v, y, name, where)[read], n_read, name=name, where=where)
        for name, v in facets.items()
    }
    _refuse_unlinked(at, of, where=where)
    whose = None
    if system is not None:
        whose = named_codes(
            _check_values(system, y, "system", where)[read], n_read, name="system", where=where
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


def _check_values(values: ArrayLike, y: Floats, name: str, where: str) -> NDArray[Any]:
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


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A fitted rating-scale model: parameters of the design, then log sigma."""

    beta: Floats
    covariance: Floats
    std_errors: Floats
    loglik: float
    tables: Mapping[str, Floats]
    quality: Floats
    quality_sd: Floats
    reliability: float
    change: float
    method: str
    sandwich: str


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


def joint_fit(ratings: Ratings, design: Floats, first: int, *, where: str, runaway: str) -> Fitted:
    """Joint maximum likelihood: a parameter an answer, eliminated in each Newton step.

    Parameters
    ----------
    ratings : Ratings
    design : ndarray, shape (C, K, p)
    first : int
        Where severities begin in p; what stands before is the mean quality.
    where, runaway : str

    Returns
    -------
    Fitted
        Answers at the floor or ceiling throughout have no finite quality (NaN): they are left out.

    Raises
    ------
    InputError
        If there is no finite maximum.
    """
    cells, k, p = design.shape
    x = design[:, :, first:]
    steps = np.arange(k, dtype=float)
    total = np.asarray(ratings.counts @ np.tile(steps, cells))
    number = np.asarray(ratings.cells_of.sum(axis=1)).reshape(-1)
    inside = (total > 0) & (total < number * (k - 1))
    if inside.sum() < 2:
        raise InputError(f"{where}: all answers lie at the floor or ceiling: nothing can be told.")
    counts, times = ratings.counts[inside], ratings.cells_of[inside].toarray()
    total, number = total[inside], number[inside]
    share = (total + 0.5) / (number * (k - 1) + 1)
    theta, beta = np.log(share / (1 - share)), np.zeros(p - first)
    observed = np.asarray(counts.sum(axis=0)).reshape(cells, k)

    for _ in range(200):
        # (C, K, N): every answer is a node of its own.
        prob = level_probability(x @ beta, theta)
        mean = np.einsum("ckn,k->cn", prob, steps)
        variance = np.einsum("ckn,k->cn", prob, steps**2) - mean**2
        column = np.einsum("ckn,ckp->cnp", prob, x)
        crossed = np.einsum("ckn,k,ckp->cnp", prob, steps, x) - mean[:, :, None] * column
        weight = times.T
        g_theta = total - (weight * mean).sum(axis=0)
        expected = np.einsum("cn,ckn->ck", weight, prob)
        g_beta = np.einsum("ck,ckp->p", observed - expected, x)
        h_theta = (weight * variance).sum(axis=0)
        h_cross = np.einsum("cn,cnp->np", weight, crossed)
        h_beta = np.einsum("ck,ckp,ckr->pr", expected, x, x) - np.einsum(
            "cn,cnp,cnr->pr", weight, column, column
        )
        schur = h_beta - h_cross.T @ (h_cross / h_theta[:, None])
        step = np.linalg.solve(schur, g_beta - h_cross.T @ (g_theta / h_theta))
        move = (g_theta - h_cross @ step) / h_theta
        largest = max(float(np.abs(step).max()), float(np.abs(move).max()))
        size = min(1.0, 1.0 / largest) if largest > 0 else 1.0
        beta, theta = beta + size * step, theta + size * move
        if np.abs(beta).max() > INFINITE:
            raise InputError(f"{where}: {runaway}.")
        if largest < 1e-11:
            break
    else:
        if largest > 1e-6:
            raise InputError(f"{where}: the likelihood has no clear maximum. {runaway}.")
    inverse = np.linalg.inv(schur)
    reach = h_cross / h_theta[:, None]
    theta_sd = np.sqrt(1 / h_theta + np.einsum("np,pr,nr->n", reach, inverse, reach))
    logp = np.log(level_probability(x @ beta, theta))
    chosen = counts.tocoo()
    loglik = float(np.sum(logp[chosen.col // k, chosen.col % k, chosen.row] * chosen.data))
    sd = float(np.std(theta, ddof=1))
    whole, covariance = np.zeros(p + 1), np.zeros((p + 1, p + 1))
    whole[:first], whole[first:p], whole[-1] = theta.mean(), beta, math.log(max(sd, 1e-8))
    covariance[first:p, first:p] = inverse
    quality, quality_sd = np.full(inside.size, np.nan), np.full(inside.size, np.nan)
    quality[inside], quality_sd[inside] = theta, theta_sd
    part = Ratings(
        levels=ratings.levels, counts=counts, cells_of=ratings.cells_of[inside],
        facets=ratings.facets, systems=None, cluster=ratings.cluster[inside],
        clustered=ratings.clustered, answers=ratings.answers, extreme=ratings.extreme,
        unread=ratings.unread,
    )  # fmt: skip
    return Fitted(
        beta=whole,
        covariance=covariance,
        std_errors=np.sqrt(np.diag(covariance)),
        loglik=loglik,
        tables=level_fit(part, level_probability(x @ beta, theta), np.eye(theta.size)),
        quality=quality,
        quality_sd=quality_sd,
        reliability=(sd**2 - float(np.mean(theta_sd**2))) / sd**2 if sd > 0 else math.nan,
        change=0.0,
        method="joint maximum likelihood",
        sandwich="model's",
    )


@dataclass(frozen=True, kw_only=True)
class FacetLevel:
    """One judge, prompt or system.

    Attributes
    ----------
    facet, level : str
    severity : Estimate
        In logits, higher is stricter; of a system its quality, higher is better.
    points : Estimate
        Mean score that it gives (or gets) less the mean of its facet, on the same answers.
    infit, outfit : float
        Mean squared residual over its expectation, weighted by information and not.
    n : int
        Ratings.
    """

    facet: str
    level: str
    severity: Estimate
    points: Estimate
    infit: float
    outfit: float
    n: int


@dataclass(frozen=True, kw_only=True)
class ManyFacet(Result):
    """A fitted many-facet model.

    Attributes
    ----------
    facets : mapping of str to tuple of FacetLevel
    systems : tuple of FacetLevel
        The best first; empty without `system`.
    system_ranks : tuple of (int, int)
        Highest and lowest rank of each system, all at once.
    thresholds : tuple of Estimate
        Steps between neighbouring levels, their sum 0 (for each level of the first facet in a
        partial-credit model).
    levels : tuple of float
        The scores used.
    sigma : float
        Standard deviation of quality, in logits.
    reliability : float
        Of the answers' quality: var(EAP) / (var(EAP) + mean posterior variance), by joint maximum
        likelihood (var - mean se^2) / var.
    separation : mapping of str to float
        The same of the levels of each facet: how surely they differ.
    information : mapping of str to tuple of float
        Of one rating by each level of the first facet, at quality -3, -2, ..., 3 logits.
    quality, quality_sd : ndarray, shape (n_answers,)
        Of `answers`, with severity taken out; NaN at the floor or ceiling in a joint fit.
    extreme : int
        Answers at the floor or ceiling throughout.
    change : float
        Largest change of a parameter when the grid of the integral is doubled.
    std_errors_model : mapping of str to list of float
        Of the free parameters by inverse information, as R's ``vcov`` gives them.
    """

    facets: Mapping[str, tuple[FacetLevel, ...]]
    systems: tuple[FacetLevel, ...]
    system_ranks: tuple[tuple[int, int], ...]
    thresholds: tuple[Estimate, ...]
    levels: tuple[float, ...]
    method: str
    mean: float
    sigma: float
    reliability: float
    separation: Mapping[str, float]
    information: Mapping[str, tuple[float, ...]]
    quality: Floats
    quality_sd: Floats
    answers: tuple[str, ...]
    extreme: int
    loglik: float
    change: float
    std_errors_model: Mapping[str, list[float]]
    sample: Sample
    notes: tuple[Note, ...] = ()

    def __getitem__(self, key: tuple[str, str]) -> FacetLevel:
        """A level by facet and name: ``result["judge", "gpt"]``."""
        facet, level = key
        for matching in (*self.facets.get(facet, ()), *self.systems):
            if matching.facet == facet and matching.level == level:
                return matching
        listed = ", ".join(f"{f.facet} {f.level}" for f in self._all())
        raise InputError(f"many_facet: there is no {facet} {level!r}. Choose one of {listed}.")

    def _all(self) -> tuple[FacetLevel, ...]:
        return (*(v for levels in self.facets.values() for v in levels), *self.systems)

    def tidy(self) -> pd.DataFrame:
        """One row a judge, prompt or system, then one a threshold."""
        rows = [
            {
                "facet": v.facet,
                "level": v.level,
                **v.severity.row(),
                "points": v.points.estimate,
                "points_low": v.points.interval.low if v.points.interval else np.nan,
                "points_high": v.points.interval.high if v.points.interval else np.nan,
                "infit": v.infit,
                "outfit": v.outfit,
                "n": v.n,
            }
            for v in self._all()
        ]
        rows += [{"facet": "threshold", "level": t.label, **t.row()} for t in self.thresholds]
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """One row: the fit as a whole."""
        return pd.DataFrame(
            [
                {
                    "term": "many_facet",
                    "method": self.method,
                    "reliability": self.reliability,
                    "sigma": self.sigma,
                    "loglik": self.loglik,
                    "grid_change": self.change,
                    "n": self.sample.n_items,
                    "n_clusters": self.sample.n_clusters,
                    "extreme": self.extreme,
                }
            ]
        )

    def apa(self, *, digits: int = 2) -> str:
        """Every severity with its interval: see `Result.apa`."""
        return "; ".join(
            f"{v.facet} {v.level}: {v.severity.apa(digits=digits)}" for v in self._all()
        )

    def sentence(self) -> str:
        """The strictest and the mildest of the first facet, and the leading system."""
        name, levels = next(iter(self.facets.items()))
        strict = max(levels, key=lambda v: v.severity.estimate)
        mild = min(levels, key=lambda v: v.severity.estimate)
        text = (
            f"the strictest {name} is {strict.level} ({strict.severity.short()} logits, "
            f"{strict.points.short()} points), the mildest {mild.level} ({mild.severity.short()} "
            f"logits, {mild.points.short()} points)"
        )
        if self.systems:
            best, (_, worst) = self.systems[0], self.system_ranks[0]
            text += f"; {best.level} leads the systems (rank 1 to {worst})"
        return f"{text} ({self.sample})."

    def __str__(self) -> str:
        lines = ["", f"\tMany-facet model ({self.method})", ""]
        shown = pd.DataFrame(
            [
                {
                    "facet": v.facet,
                    "level": v.level,
                    "logits": v.severity.short(),
                    "points": v.points.short(),
                    "infit": f"{v.infit:.2f}",
                    "outfit": f"{v.outfit:.2f}",
                    "n": v.n,
                }
                for v in self._all()
            ]
        )
        lines.append(shown.to_string(index=False))
        lines.append("thresholds: " + ", ".join(t.short() for t in self.thresholds))
        lines.append(f"reliability of quality {self.reliability:.3f}; data: {self.sample}")
        return "\n".join([*lines, *(f"warning: {n.message}" for n in self.notes), ""])
