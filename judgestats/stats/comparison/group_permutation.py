"""The p-value of a statistic of groups by permutation, of values or of whole clusters."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.stats.inference.keywords import Permutations
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.layouts.groups import Groups


def group_permutation_p(
    centred: Floats, data: Groups, *, side: str, **inference: Unpack[Permutations]
) -> tuple[float, str]:
    """Permutation p of a rank statistic of groups, and what was permuted.

    ``two-sided`` takes sum_j S_j^2 / n_j (for two groups the squared rank sum); ``greater`` and
    ``less`` take the first group's rank sum. Where a cluster holds several groups, labels move
    within clusters; otherwise whole clusters change groups, and group sizes may then vary.
    """
    k = len(data.names)
    codes, cluster = data.codes, data.cluster
    weights, sums = np.ones(codes.size), centred
    strata: Ints | None = None
    what = "over values"
    if cluster is not None:
        n_clusters = int(cluster.max()) + 1
        first = np.zeros(n_clusters, dtype=np.int64)
        first[cluster] = codes
        differs = first[cluster] != codes
        if differs.any():
            mixed = np.unique(cluster[differs]).size
            strata, what = cluster, f"within clusters, {mixed} of {n_clusters} hold several groups"
        else:
            weights = np.bincount(cluster, minlength=n_clusters).astype(float)
            sums = np.bincount(cluster, weights=centred, minlength=n_clusters).astype(float)
            codes, what = first, "over whole clusters"

    def statistic(labels: Ints) -> Floats:
        total: Floats = np.zeros(labels.shape[0])
        if side != "two-sided":
            # The mean centred rank of the first group: group sizes vary when clusters move.
            here = labels == 0
            return np.asarray((here @ sums) / (here @ weights), dtype=float)
        for g in range(k):
            here = labels == g
            total = total + np.asarray((here @ sums) ** 2 / (here @ weights), dtype=float)
        return total

    null = permutation_distribution(
        codes,
        statistic,
        scheme="labels",
        strata=strata,
        **inference,
        alternative="less" if side == "less" else "greater",
        vectorized=True,
    )
    return null.null.p_value, what
