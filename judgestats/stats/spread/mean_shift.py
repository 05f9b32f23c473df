"""The shift of the mean that stands beside every comparison of spread."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.stats.inference.adjust import Adjustment
from judgestats.stats.inference.cluster_jackknife import mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Comparison, Comparisons, Sample
from judgestats.stats.layouts.cell_statistics import Cells, cell_statistics
from judgestats.stats.spread.condition_summary import need_scores
from judgestats.stats.spread.variance_ratio import (
    chosen_pairs,
    need_two_conditions,
    with_adjusted,
)


@with_keywords()
def mean_shift(
    scores: ArrayLike | Cells,
    *,
    conditions: Sequence[object] | None = None,
    reference: object | None = None,
    adjust: Adjustment = "holm",
    **inference: Unpack[Clustered],
) -> Comparisons:
    r"""Difference of mean scores between conditions, paired by item.

    Parameters
    ----------
    scores : array-like, shape (N, k, R) or (N, k), or Cells
        Scores (NaN = missing), or one mean score a cell.
    conditions
        As in `cell_statistics`; not used with `Cells`.
    reference : optional
        Compare every condition with this one; default every pair, the later minus the earlier.
    adjust : str
        Adjustment of the family of p-values (`p_adjust`). Intervals are not adjusted.

    Returns
    -------
    Comparisons
        ``estimate`` in score points, ``effect`` is d_z (mean over standard deviation of the item
        differences).

    Raises
    ------
    InputError

    Notes
    -----
    Items that have a score under both conditions count alike. Without clusters this is the paired
    t test; with clusters the standard error sums the deviations of each cluster, df = G - 1.

    Examples
    --------
    >>> X = [[[8, 9], [7, 9]], [[5, 6], [4, 6]], [[6, 7], [6, 5]]]
    >>> out = mean_shift(X, conditions=["T=0", "T=1"])
    >>> out.rows[0].a, round(out.rows[0].estimate, 3), round(out.rows[0].p_value, 3)
    ('T=1', -0.667, 0.057)
    """
    function = "mean_shift"
    cells = (
        scores
        if isinstance(scores, Cells)
        else cells_of_means(scores, conditions, inference["cluster"])
    )
    need_scores(cells, function=function)
    need_two_conditions(cells.conditions, function=function)
    rows = []
    for a, b in chosen_pairs(cells.conditions, reference, function=function):
        difference = cells.mean[:, a] - cells.mean[:, b]
        both = ~np.isnan(difference)
        d = difference[both]
        m = mean_over_clusters(d, cells.cluster[both]) if d.size else None
        sd = float(np.std(d, ddof=1)) if d.size > 1 else math.nan
        rows.append(
            Comparison(
                a=cells.conditions[a],
                b=cells.conditions[b],
                estimate=m.mean if m else math.nan,
                estimate_name="difference of means",
                statistic=m.statistic() if m else math.nan,
                df=m.df if m else math.nan,
                p_value=m.p_value() if m else math.nan,
                p_adjusted=math.nan,
                interval=m.interval(inference["level"]) if m else None,
                effect=m.mean / sd if m and not m.reason else math.nan,
                effect_name="d_z",
                n=int(both.sum()),
                reason=m.reason if m else "no item has a score under both conditions",
            )
        )
    used = np.sum(~np.isnan(cells.mean), axis=1) >= 2
    return Comparisons(
        name="mean_shift",
        symbol="t",
        method="Shift of the mean, paired by item",
        adjust=adjust,
        family="mean shifts of these conditions",
        rows=with_adjusted(rows, adjust),
        sample=sample_of(scores, cells, used),
    )


def sample_of(X: ArrayLike | Cells, cells: Cells, used: NDArray[np.bool_]) -> Sample:
    """The items compared; a table of means does not say how many replications stand behind it."""
    sample = cells.sample(used, reason="scored under fewer than 2 conditions")
    if isinstance(X, Cells) or np.ndim(X) != 2:
        return sample
    return dataclasses.replace(sample, n_replications=None, n_replications_max=None)


def cells_of_means(
    X: ArrayLike, conditions: Sequence[object] | None, cluster: ArrayLike | None
) -> Cells:
    """Cells from scores, or from one mean a cell (2-d)."""
    shape = np.shape(X)
    if len(shape) == 2:
        return cell_statistics(
            np.asarray(X, dtype=float)[:, :, None], conditions=conditions, cluster=cluster
        )
    return cell_statistics(X, conditions=conditions, cluster=cluster)
