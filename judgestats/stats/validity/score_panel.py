"""Several judges' scores as one: mean, median and weights learnt from people's scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.stats.inference.cluster_jackknife import mean_over_clusters
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.inference.result import Estimate, Note
from judgestats.stats.validity.inputs import score_values
from judgestats.stats.validity.panels import (
    FOLDS,
    Panel,
    effective_judges,
    folds_of,
    labelled_panel,
    near_copies,
    panel_votes,
)


@with_keywords()
def panel_of_scores(
    scores: ArrayLike, human: ArrayLike, *, names: Sequence[str], **inference: Unpack[Seeded]
) -> Panel:
    r"""Are several judges' scores together nearer to people's than the best judge's?

    Parameters
    ----------
    scores : array-like, shape (N, judges)
        NaN where unread.
    human : array-like, shape (N,)
        People's scores, NaN where there is none.
    names : sequence of str
    cluster : array-like, shape (N,), optional
        Folds keep clusters together.
    seed : int
        Of the folds.

    Returns
    -------
    Panel
        ``measure`` is the mean squared error; ``against_best`` is negative where a panel is better.

    Raises
    ------
    InputError
        If shapes differ, names repeat or are those of a panel, there are fewer than two judges, or
        20 items with all judges' scores and people's.

    Notes
    -----
    ``weighted``: least squares of people's score on the judges' with intercept, shrunk towards the
    plain mean by one label's worth a judge; it and the best member are learnt on four fifths of the
    clusters and judged on the fifth. Mean and median keep the judges' common bias, weights take it
    out. Near copies are judges whose errors correlate above .9.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(6, 1.5, 300)
    >>> scores = people[:, None] + rng.normal(0, 1, (300, 4))
    >>> out = panel_of_scores(scores, people, names=list("abcd"))
    >>> bool(out.against_best["mean"].interval.high < 0), out.effective_judges > 3
    (True, True)
    """
    where = "panel_of_scores"
    x = score_values(scores, where=where, name="scores")
    y = score_values(human, where=where, name="human")
    x, y, codes, sample = labelled_panel(
        x, y, names, inference["cluster"], where=where, complete=True,
        reserved=("mean", "median", "weighted"),
    )  # fmt: skip
    errors = x - y[:, None]
    weighted, best = np.empty(y.size), np.empty(y.size)
    fold = folds_of(codes, inference["seed"])
    for k in range(FOLDS):
        out = fold == k
        weighted[out] = _weighted(x[~out], y[~out], x[out]) - y[out]
        best[out] = errors[out, int(np.argmin((errors[~out] ** 2).mean(axis=0)))]
    panels = {
        "mean": panel_votes(x, rule="mean") - y,
        "median": panel_votes(x, rule="median") - y,
        "weighted": weighted,
    }

    def part(values: Floats, name: str, label: str) -> Estimate:
        over = mean_over_clusters(values, codes)
        iv = over.interval(inference["level"])
        notes = () if iv else (Note(code="no_interval", message=f"No interval: {over.reason}."),)
        return Estimate(
            name=name, label=label, estimate=over.mean, std_error=over.std_error, interval=iv,
            sample=sample, notes=notes,
        )  # fmt: skip

    squared = {name: errors[:, j] ** 2 for j, name in enumerate(names)}
    squared |= {name: e**2 for name, e in panels.items()}
    return Panel(
        accuracy={
            n: part(v, "mean_squared_error", f"Squared error of {n}") for n, v in squared.items()
        },
        against_best={
            n: part(e**2 - best**2, "squared_error_gain", f"Squared error over the best ({n})")
            for n, e in panels.items()
        },
        effective_judges=effective_judges(errors),
        copies=near_copies(errors, names),
        calls=x.shape[1],
        sample=sample,
        measure="mean squared error",
    )


def _weighted(x: Floats, y: Floats, new: Floats) -> Floats:
    """People's score by least squares, the judges' deviations from their mean shrunk to 0."""
    judges = x.shape[1]

    def columns(of: Floats) -> Floats:
        mean = of.mean(axis=1, keepdims=True)
        return np.column_stack([np.ones(len(of)), mean, of - mean])

    design = columns(x)
    penalty = np.diag([0.0, 0.0, *([max(float(np.var(x)), 1e-12) * judges] * judges)])
    solved = np.linalg.lstsq(design.T @ design + penalty, design.T @ y, rcond=None)[0]
    return np.asarray(columns(new) @ solved)
