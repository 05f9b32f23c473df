"""ICC(1) from what items' cells hold: numbers of scores, means and variances are enough."""

from __future__ import annotations

import math

import numpy as np

from judgestats.errors import InputError
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.stats.layouts.cell_statistics import Cells
from judgestats.stats.layouts.mean_squares import MeanSquares
from judgestats.stats.reliability.intraclass import FORMS, icc_value
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio


def icc_of_cells(cells: Cells, condition: str, *, level: float = 0.95) -> Estimate:
    """ICC(1,1) of one condition: `judgestats.stats.icc` without the single scores.

    Parameters
    ----------
    cells : Cells
        With ``ddof=1``.
    condition : str
        One of `cells.conditions`.
    level : float
        Of the interval, by the jackknife over clusters or, where none is shared, items.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If there is no such condition, or the variances have divisor n.

    Examples
    --------
    >>> from judgestats.stats.layouts.cell_statistics import cell_statistics
    >>> x = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> cells = cell_statistics(np.array(x)[:, None, :], conditions=["a"])
    >>> round(icc_of_cells(cells, "a").estimate, 3)
    0.166
    """
    if condition not in cells.conditions or cells.ddof != 1:
        raise InputError(
            f"icc_of_cells: needs one of the conditions {', '.join(cells.conditions)} and ddof=1, "
            f"got {condition!r} and ddof={cells.ddof}."
        )
    c = cells.conditions.index(condition)
    n = cells.n_scores[:, c].astype(float)
    filled = n >= 1
    lost = int(np.sum(~filled))
    own = cells.n_scores[filled, c]
    name, meaning = FORMS["ICC(1,1)"]
    out = Estimate(
        name=name,
        label="ICC(1,1)",
        estimator=f"{meaning}, by ANOVA mean squares",
        estimate=math.nan,
        sample=Sample(
            n_items=int(filled.sum()),
            n_clusters=int(np.unique(cells.cluster[filled]).size),
            n_replications=int(own.min()) if own.size else 0,
            n_replications_max=int(own.max()) if own.size and own.max() != own.min() else None,
            excluded={"no judgment": lost},
        ),
    )
    n = n[filled]
    if n.size < 2:
        return out.replace(reason=f"2 items are needed, {n.size} given")
    if n.max() < 2:
        return out.replace(reason="2 replications of some item are needed, no item has more than 1")
    mean = cells.mean[filled, c]
    variance = np.where(n >= 2, cells.variance[filled, c], 0.0)
    total = float(n.sum())
    grand = float(np.dot(n, mean)) / total
    inside = float(np.dot(variance, n - 1))
    df = total - n.size
    ms = MeanSquares(
        items=float(np.dot(n, (mean - grand) ** 2)) / (n.size - 1),
        replications=math.nan,
        residual=math.nan,
        within=inside / df,
        n=float(n.size),
        k=(total - float(np.dot(n, n)) / total) / (n.size - 1),
        df_within=df,
    )
    value = float(icc_value("ICC(1,1)", ms))
    if math.isnan(value):
        return out.replace(reason="no score varies, so there is no variance to be reliable")
    interval, notes = MeanSquareRatio.one_way(
        n=n, mean=mean, within=variance * (n - 1), codes=cells.cluster[filled]
    ).icc_interval(single=True, level=level)
    details = {"k": ms.k, "ms_items": ms.items, "ms_within": ms.within}
    return out.replace(estimate=value, interval=interval, notes=notes, details=details)
