"""Several judges that choose among several answers, as one panel held to the right answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.inference.result import Note
from judgestats.stats.validity.panels import (
    FOLDS,
    Panel,
    accuracy_over_clusters,
    effective_judges,
    folds_of,
    labelled_panel,
    near_copies,
)


@with_keywords()
def panel_of_choices(
    votes: ArrayLike, human: ArrayLike, *, names: Sequence[str], **inference: Unpack[Seeded]
) -> Panel:
    r"""Do several judges together choose the right answer more often than the best of them?

    Parameters
    ----------
    votes : array-like, shape (N, judges)
        The answer that each judge chose, None where unread.
    human : array-like, shape (N,)
        The right one, None where nobody said.
    names : sequence of str
        Of the judges.
    cluster : array-like, shape (N,), optional
        Folds keep clusters together.
    seed : int or None
        Of the folds.

    Returns
    -------
    Panel
        Of the ``plurality`` and of votes ``weighted`` by accuracy.

    Raises
    ------
    InputError
        If shapes differ, names repeat or are those of a panel, there are fewer than two judges or
        20 labels.

    Notes
    -----
    Answers with equally many votes share the credit. A vote weighs
    :math:`\log\{a (K - 1) / (1 - a)\}`, a the judge's accuracy and K the answers that an item was
    given on average, at least 2; weights and the best member are learnt on four fifths of the
    clusters and judged on the fifth.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> right = rng.integers(0, 4, 300)
    >>> votes = np.where(rng.random((300, 5)) < 0.6, right[:, None], rng.integers(0, 4, (300, 5)))
    >>> out = panel_of_choices(votes, right, names=list("abcde"))
    >>> out.against_best["plurality"].interval.low > 0
    True
    """
    where = "panel_of_choices"
    votes_array = np.asarray(votes, dtype=object)
    labels_array = np.asarray(human, dtype=object)
    if votes_array.ndim != 2 or labels_array.shape != votes_array.shape[:1]:
        raise InputError(
            f"{where}: votes must have one row for each label, got shapes {votes_array.shape} and "
            f"{labels_array.shape}."
        )
    both = np.column_stack([votes_array, labels_array])
    empty = np.array([v is None or v == "" or v != v for v in both.ravel()])  # noqa: PLR0124 (NaN)
    codes_of, _ = pd.factorize(np.array([str(v) for v in both.ravel()], dtype=object))
    coded = np.where(empty, np.nan, codes_of.astype(float)).reshape(both.shape)
    x, y, codes, sample = labelled_panel(
        coded[:, :-1], coded[:, -1], names, inference["cluster"], where=where,
        reserved=("plurality", "weighted"),
    )  # fmt: skip
    right = (x == y[:, None]).astype(float)
    options = max(2.0, float(np.mean([len(set(r[~np.isnan(r)])) for r in np.c_[x, y]])))
    plurality = _credit(x, y, np.ones(x.shape[1]))
    weighted, best = np.empty(y.size), np.empty(y.size)
    fold = folds_of(codes, inference["seed"])
    for k in range(FOLDS):
        out = fold == k
        shares = (right[~out].sum(axis=0) + 0.5) / (np.sum(~out) + 1)
        weighted[out] = _credit(x[out], y[out], np.log(shares * (options - 1) / (1 - shares)))
        best[out] = right[out, int(np.argmax(right[~out].mean(axis=0)))]
    level = inference["level"]
    each = {n: right[:, j] for j, n in enumerate(names)}
    panels = {"plurality": plurality, "weighted": weighted}
    unread = int(np.isnan(x).sum())
    message = f"{unread} unread choices count as wrong, and have no vote."
    return Panel(
        accuracy={
            n: accuracy_over_clusters(c, codes, n, sample, level)
            for n, c in (each | panels).items()
        },
        against_best={
            n: accuracy_over_clusters(c - best, codes, n, sample, level, share=False)
            for n, c in panels.items()
        },
        effective_judges=effective_judges(1 - right),
        copies=near_copies(1 - right, names),
        calls=x.shape[1],
        sample=sample,
        notes=(Note(code="unread_wrong", message=message),) if unread else (),
    )


def _credit(votes: Floats, right: Floats, weights: Floats) -> Floats:
    """Of each item, the share of the answers with most weight that is the right one."""
    out = np.zeros(right.size)
    for i, (row, true) in enumerate(zip(votes, right, strict=True)):
        read = ~np.isnan(row)
        if not read.any():
            continue
        answers, place = np.unique(row[read], return_inverse=True)
        total = np.bincount(place.reshape(-1), weights[read])
        top = answers[total >= total.max() - 1e-12]
        out[i] = float(true in top) / top.size if math.isfinite(total.max()) else 0.0
    return out
