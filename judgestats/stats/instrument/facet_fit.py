"""How well ratings fit a rating-scale model, and its joint maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.instrument.facet_design import Ratings
from judgestats.stats.instrument.fitting import INFINITE


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
