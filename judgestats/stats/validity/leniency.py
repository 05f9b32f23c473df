"""Leniency of each judge against the panel of all, from all repeats."""

from __future__ import annotations

import math
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, as_numbers, check_axes
from judgestats.errors import InputError
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.jackknife import (
    MeanOverClusters,
    cluster_sums,
    effective_clusters,
    few_questions,
    jackknife_error,
)
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimate, Estimates, Note, Sample
from judgestats.stats.inference.runs import RunComponent


@with_keywords()
def leniency(
    scores: ArrayLike,
    *,
    judges: ArrayLike | None = None,
    runs: RunComponent | None = None,
    **inference: Unpack[Clustered],
) -> Estimates:
    r"""How much higher each judge scores than all judges do of the same items.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_judges) or (n_items, n_judges, n_replications)
        NaN where unparsed. Repeats of an item are averaged.
    judges : array-like of str, optional
        Their names; ``1``, ``2`` and so on by default.
    runs : RunComponent, optional
        Of these judges: its variance is added to the errors where runs are random
        (`RunComponent.is_random`).

    Returns
    -------
    Estimates
        ``leniency`` of each judge, in points; they sum to 0. The intervals hold for all judges
        at once, at the level given. ``details``: ``p_values``, of each judge by itself.

    Raises
    ------
    InputError
        There are fewer than two judges, no two of them scored one item, or judges fall into
        groups that share no item.

    Notes
    -----
    Least squares of :math:`m_{ji} = a_i + l_j` over the cells present, m the mean over repeats;
    with complete data the judge's mean minus the mean of all. Error: jackknife over clusters of
    the refit, t with effective df; with random runs plus :math:`s^2_{run} (1/R_j - 2/(J R_j) +
    \sum_k 1/(J^2 R_k))`. Level of each of the J intervals: 1 - (1 - level)/J (Bonferroni). Any of
    them leaves out 0 for equal judges in .005 to .052 of samples.

    References
    ----------
    Linacre (1989), Many-facet Rasch measurement (the additive model in points).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(6, 1, (40, 1, 1)) + np.array([0.5, 0, -0.5])[:, None]
    >>> out = leniency(x + rng.normal(0, 0.5, (40, 3, 2)))
    >>> [round(e.estimate, 1) for e in out.terms], out.terms[0].interval.low > 0
    ([0.5, 0.0, -0.5], True)
    """
    where = "leniency"
    x = as_numbers(scores, "scores", where)
    if x.ndim == 2:
        x = x[:, :, None]
    check_axes(where, "scores", x, "items x judges x replications", (0, 2))
    n_judges = x.shape[1]
    names = [str(n) for n in (range(1, n_judges + 1) if judges is None else np.asarray(judges))]
    read = ~np.isnan(x)
    n_read = read.sum(axis=2)
    means = np.where(n_read > 0, np.where(read, x, 0.0).sum(axis=2) / np.maximum(n_read, 1), np.nan)
    present = n_read > 0
    shared = present.sum(axis=1) > 1
    alone = int((present.sum(axis=1) == 1).sum())
    if not shared.any():
        raise InputError(f"{where}: no item was scored by two judges. Let them score the same.")
    codes = cluster_codes(inference["cluster"], len(x), where=where)[shared]
    normal, right = _equations(means[shared], present[shared])
    normal = cluster_sums(normal.reshape(len(normal), -1), codes).reshape(-1, n_judges, n_judges)
    right = cluster_sums(right, codes)
    whole = normal.sum(axis=0)
    if not _connected(whole[None])[0]:
        raise InputError(
            f"{where}: the judges fall into groups that share no item, so they cannot be compared. "
            "Let them score some of the same items."
        )
    values = _solved(whole[None], right.sum(axis=0)[None])[0]
    sizes = np.bincount(np.unique(codes, return_inverse=True)[1].reshape(-1))
    sample = Sample.from_mask(
        shared, "scored by one judge", None if inference["cluster"] is None
        else cluster_codes(inference["cluster"], len(x), where=where), n_replications=n_judges,
        repeated="judge",
    )  # fmt: skip
    notes: tuple[Note, ...] = ()
    if alone:
        message = f"{alone} items were scored by one judge only, so they do not measure leniency."
        notes = (Note(code="scored_once", message=message),)
    left_out = whole - normal
    why: tuple[Note, ...] = ()
    if effective_clusters(sizes) < 2:
        why = (few_questions(sizes.size, sizes),)
    elif not _connected(left_out).all():
        message = "No interval: without one cluster the judges share no item."
        why = (Note(code="no_interval", message=message),)
    left = _solved(left_out, right.sum(axis=0) - right) if not why else np.empty((0, n_judges))
    level = 1 - (1 - inference["level"]) / n_judges
    widened = runs if runs and any(pair.is_random for pair in runs.pairs) else None
    target = max(pair.target for pair in runs.pairs) if runs else ""
    terms, p_values = [], []
    for j, name in enumerate(names):
        estimate = Estimate(
            name="leniency", label=f"Leniency of {name} vs. panel", estimate=float(values[j]),
            estimator="least squares of item and judge", sample=sample, notes=why,
            details={"target": target} if target else {},
        )  # fmt: skip
        if not why:
            error, df = jackknife_error(left[:, j], sizes)
            mean = MeanOverClusters(mean=float(values[j]), std_error=error, df=df)
            if widened is not None:
                weights = np.full(n_judges, 1 / n_judges**2)
                weights[j] = (1 - 1 / n_judges) ** 2
                mean = widened.widen(mean, widened.share(weights.tolist()))
            constant = mean.std_error <= 1e-12 * max(1.0, float(np.nanmax(np.abs(means))))
            message = "No interval: the judge differs by the same amount on every item."
            estimate = estimate.replace(
                interval=None if constant else mean.interval(level),
                std_error=math.nan if constant else mean.std_error,
                notes=(Note(code="no_interval", message=message),) if constant else (),
            )
            p_values.append(math.nan if constant else mean.p_value())
        terms.append(estimate)
    return Estimates(
        name=where, label="Leniency vs. panel", terms=tuple(terms), sample=sample, notes=notes,
        details={"judges": names, "p_values": p_values},
    )  # fmt: skip


def _equations(means: Floats, present: Bools) -> tuple[Floats, Floats]:
    """Each item's part in the normal equations of the judges, the item's effect taken out."""
    here = present.astype(float)
    n = here.sum(axis=1)
    normal = (
        here[:, :, None] * np.eye(here.shape[1])
        - here[:, :, None] * here[:, None] / (n[:, None, None])
    )
    filled = np.where(present, means, 0.0)
    return normal, here * (filled - (filled.sum(axis=1) / n)[:, None])


def _connected(normal: Floats) -> Bools:
    """Whether all judges can be compared: the equations lack one rank, that of the level."""
    roots = np.linalg.eigvalsh(normal)
    return np.asarray(roots[:, 1] > 1e-9 * np.maximum(roots[:, -1], 1e-300))


def _solved(normal: Floats, right: Floats) -> Floats:
    """Effects of the judges that sum to 0."""
    n = normal.shape[-1]
    return np.asarray(np.linalg.solve(normal + 1.0 / n, right[..., None])[..., 0])
