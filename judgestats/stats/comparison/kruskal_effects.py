"""Shares of rank variance between groups, with intervals over values or clusters."""

from __future__ import annotations

import math

import numpy as np

from judgestats.arrays import Floats
from judgestats.stats.inference.noncentral import share_interval
from judgestats.stats.inference.resampling import cluster_bootstrap
from judgestats.stats.inference.result import (
    Estimate,
    Interval,
    Note,
)
from judgestats.stats.layouts.groups import Groups


def _rank_share(counts: Floats, sums: Floats, squares: Floats, weights: Floats) -> Floats:
    """Between-group share of the rank variance for rows of cluster counts (B, G).

    `counts`, `sums` (G, k) and `squares` (G,) are the clusters' sums over their values.
    """
    size, total = weights @ counts, weights @ sums
    n = size.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = total.sum(axis=1) ** 2 / n
        between = np.sum(np.where(size > 0, total**2 / size, 0.0), axis=1)
        result: Floats = (between - middle) / (weights @ squares - middle)
    return result


def rank_share_effects(
    data: Groups, ranks: Floats, h: float, reason: str, level: float, seed: int | None
) -> tuple[Estimate, Estimate]:
    """Rank epsilon squared and rank eta squared with the interval of what both estimate."""
    n, k = data.values.size, len(data.names)
    epsilon = h / (n - 1) if not reason else math.nan
    eta = (h - k + 1) / (n - k) if not reason and n > k else math.nan
    interval: Interval | None = None
    notes: list[Note] = []
    if not reason and data.cluster is not None:
        n_clusters = int(data.cluster.max()) + 1
        centred = ranks - ranks.mean()
        counts, sums = np.zeros((2, n_clusters, k))
        np.add.at(counts, (data.cluster, data.codes), 1.0)
        np.add.at(sums, (data.cluster, data.codes), centred)
        boot = cluster_bootstrap(
            (counts, sums, np.bincount(data.cluster, weights=centred**2)),
            _rank_share,
            level=level,
            seed=seed,
            vectorized=True,
            names=("epsilon squared",),
        )
        notes += boot.notes
        interval = boot.interval if math.isfinite(boot.interval.low) else None
    elif not reason and n > k and 0 < epsilon < 1:
        f = (epsilon / (k - 1)) / ((1 - epsilon) / (n - k))
        low, high = share_interval(f, k - 1, n - k, n, level)
        interval = Interval(
            low=low, high=max(high, epsilon), level=level, method="noncentral F on ranks"
        )
    elif not reason:
        message = "No interval: the groups' ranks coincide or separate completely."
        notes.append(Note(code="boundary", message=message))
    first = Estimate(
        name="epsilon_squared",
        label="rank epsilon squared",
        estimator="H / (n - 1)",
        estimate=epsilon,
        interval=interval,
        sample=data.sample,
        notes=tuple(notes),
        reason=reason,
    )
    second = first.replace(
        name="eta_squared_ranks",
        label="rank eta squared",
        estimator="(H - k + 1) / (n - k), not cut at 0",
        estimate=eta,
        interval=interval if n > k else None,
        reason=reason or ("" if n > k else "every group holds one value, so n - k is 0"),
    )
    return first, second
