"""Interaction on the scale of ratios: does a treatment change the spread of groups alike?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.errors import InputError
from judgestats.results.parts import NOT_ESTIMABLE
from judgestats.stats.inference.adjust import Adjustment
from judgestats.stats.inference.cluster_jackknife import (
    cluster_sums,
    log_ratio_of_sums,
    useful_ratio,
)
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Comparison, Comparisons, Sample
from judgestats.stats.layouts.cell_statistics import cell_statistics
from judgestats.stats.spread.variance_ratio import with_adjusted

_SIGNS = (1.0, -1.0, -1.0, 1.0)


@with_keywords()
def ratio_of_ratios(
    treated: ArrayLike,
    control: ArrayLike,
    *,
    groups: Sequence[object] | None = None,
    adjust: Adjustment = "holm",
    **inference: Unpack[Clustered],
) -> Comparisons:
    r"""Ratio of two ratios of pooled within-cell variances, for every pair of groups.

    Parameters
    ----------
    treated, control : array-like, shape (N, g, R) or (N, g)
        Scores (items x groups x replications, NaN = missing) with and without the treatment, or
        the variances of the cells. R may differ between the two.
    groups : sequence, optional
        Names of the g groups (judges).
    adjust : str
        Adjustment of the family of p-values. Intervals are not adjusted.

    Returns
    -------
    Comparisons
        ``estimate`` is (treated / control in a) / (treated / control in b): 1 where the treatment
        multiplies the variance of both groups by the same factor.

    Raises
    ------
    InputError
        If the shapes do not fit, or there are fewer than two groups.

    Notes
    -----
    :math:`(\bar s^2_{a1} / \bar s^2_{a0}) / (\bar s^2_{b1} / \bar s^2_{b0})` over the items with a
    variance in all four cells; log scale, jackknife over clusters with effective degrees of
    freedom as in `variance_ratio`. A difference of differences would call it an interaction when a
    judge of twice the spread is changed by the same factor.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> plain = rng.normal(size=(80, 2, 10))
    >>> explained = rng.normal(size=(80, 2, 10)) * np.sqrt([1.0, 3.0])[:, None]
    >>> row = ratio_of_ratios(explained, plain, groups=["steady", "moved"]).rows[0]
    >>> row.a, row.b, round(row.estimate, 1), row.p_value < 0.001
    ('moved', 'steady', 3.3, True)
    """
    function = "ratio_of_ratios"
    v1, v0 = (_variances(x, function) for x in (treated, control))
    if v1.shape != v0.shape:
        raise InputError(
            f"{function}: treated and control must have the same items and groups, got shapes "
            f"{v1.shape} and {v0.shape}. Give items in the same order, one column a group."
        )
    n_groups = v1.shape[1]
    names = (
        [str(g) for g in groups]
        if groups is not None
        else [f"group {i + 1}" for i in range(n_groups)]
    )
    if n_groups < 2 or len(names) != n_groups:
        raise InputError(
            f"{function}: needs at least 2 groups and one name for each, got {n_groups} groups and "
            f"{len(names)} names."
        )
    codes = cluster_codes(inference["cluster"], v1.shape[0], where=function)
    rows = []
    notes = []
    for first, second in itertools.combinations(range(n_groups), 2):
        a, b = second, first
        columns = np.column_stack([v1[:, a], v0[:, a], v1[:, b], v0[:, b]])
        used = ~np.isnan(columns).any(axis=1)
        sums = cluster_sums(columns[used], codes[used])
        ratio = log_ratio_of_sums(sums, _SIGNS)
        interval, own = useful_ratio(
            ratio, ratio.interval(inference["level"]), ratio.notes, degree=2, compared=True
        )
        missing = tuple(note for note in own if note.code == NOT_ESTIMABLE)
        notes += [] if missing or ratio.reason else list(own)
        defined = not math.isnan(ratio.std_error)
        rows.append(
            Comparison(
                a=names[a],
                b=names[b],
                estimate=math.exp(ratio.log) if defined else math.nan,
                estimate_name="ratio of the two variance ratios",
                statistic=ratio.statistic() if defined else math.nan,
                df=ratio.df,
                p_value=ratio.p_value(),
                p_adjusted=math.nan,
                interval=interval,
                notes=missing,
                n=int(used.sum()),
                reason=ratio.reason if used.any() else "no item has a variance in all four cells",
            )
        )
    complete = ~np.isnan(np.column_stack([v1, v0])).any(axis=1)
    lost = int(np.sum(~complete))
    return Comparisons(
        symbol="t",
        name=function,
        method="Ratio of variance ratios, jackknife t on the log scale",
        adjust=adjust,
        family="pairs of these groups",
        rows=with_adjusted(rows, adjust),
        sample=Sample(
            n_items=int(complete.sum()),
            n_clusters=int(np.unique(codes[complete]).size),
            excluded={"a cell without a variance": lost},
        ),
        notes=tuple({n.message: n for n in notes}.values()),
    )


def _variances(x: ArrayLike, function: str) -> NDArray[np.float64]:
    values = np.asarray(x, dtype=float)
    if values.ndim == 3:
        return cell_statistics(values).variance
    if values.ndim != 2 or np.any(values < 0):
        raise InputError(
            f"{function}: expected scores as a 3-d array or non-negative variances as a 2-d one, "
            f"got shape {values.shape}."
        )
    return values
