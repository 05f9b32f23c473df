"""Cumulative logits with one latent quality an answer: graded response, and random answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import expit

from judgestats.arrays import Bools, Floats
from judgestats.stats.instrument.latent_grid import Grid, Model, integrated


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Different (level, row of the design) pairs, and how often each answer got them.

    Attributes
    ----------
    counts : csr_matrix, shape (n_answers, M)
    above, below : ndarray, shape (M, p)
        Upper and lower threshold of the level, as functions of the parameters.
    top, bottom : ndarray of bool, shape (M,)
        Whether the level is the highest, or the lowest.
    loading : ndarray, shape (M, p)
        What the parameters make of one standard deviation of quality.
    """

    counts: csr_matrix
    above: Floats
    below: Floats
    top: Bools
    bottom: Bools
    loading: Floats


def cumulative_model(columns: Columns) -> Model:
    """The marginal log-likelihood: P(Y <= k) = logistic(threshold_k - loading x), x ~ N(0, 1)."""
    chosen = columns.counts.tocoo()
    answer, at, times = chosen.row, chosen.col, chosen.data
    top, bottom = columns.top[:, None], columns.bottom[:, None]
    answers = csr_matrix(
        (times, (answer, np.arange(times.size))), shape=(columns.counts.shape[0], times.size)
    )

    def model(beta: Floats, grid: Grid) -> tuple[float, Floats, Floats]:
        shift = (columns.loading @ beta)[:, None] * grid.x
        upper = np.where(top, np.inf, (columns.above @ beta)[:, None] - shift)
        lower = np.where(bottom, -np.inf, (columns.below @ beta)[:, None] - shift)
        of_up, of_low = expit(upper), expit(lower)
        p = np.where(of_low > 0.5, expit(-lower) - expit(-upper), of_up - of_low)
        if not np.all(upper[:, 0] > lower[:, 0]):
            n = columns.counts.shape[0]
            empty = np.zeros((n, grid.x.size))
            return -np.inf, np.zeros((n, beta.size)), empty
        p = np.maximum(p, 1e-300)
        marginal, posterior = integrated(np.asarray(columns.counts @ np.log(p)), grid)
        up, low = of_up * expit(-upper) / p, of_low * expit(-lower) / p
        here = posterior[answer]
        u = np.einsum("rq,rq->r", here, up[at])
        v = np.einsum("rq,rq->r", here, low[at])
        w = np.einsum("rq,rq->r", here * grid.x, (low - up)[at])
        rows = (
            u[:, None] * columns.above[at]
            - v[:, None] * columns.below[at]
            + w[:, None] * columns.loading[at]
        )
        return float(marginal.sum()), np.asarray(answers @ rows), posterior

    return model
