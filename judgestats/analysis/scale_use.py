"""Scores of conditions on one scale, the share of them at its ends, and items' mean deviation."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.protocols.scale import Scale
from judgestats.results.numbers import bounds_of
from judgestats.stats.agreement.alignment import share_of_sums
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Sample
from judgestats.stats.inference.sum_statistics import estimate_from_sums

__all__ = ["at_the_ends", "mean_deviations", "on_one_scale"]


def on_one_scale(
    frame: pd.DataFrame, conditions: pd.DataFrame, scale: tuple[float, float] | None
) -> pd.DataFrame:
    """The judgments, with the scores of every condition in points of the run's scale.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.
    conditions : DataFrame
        Those asked on another scale say so in the column ``scale`` (``"1-5"``).
    scale : (float, float) or None
        Ends of the run's.

    Returns
    -------
    DataFrame
        `frame` itself where all conditions were asked on one scale.
    """
    if "scale" not in conditions or scale is None or "score" not in frame:
        return frame
    low, high = scale
    scores = frame["score"].astype(float).copy()
    for row in conditions.to_dict("records"):
        if not isinstance(row["scale"], str) or not row["scale"]:
            continue
        asked = Scale.parse(row["scale"])
        own = frame["condition"] == str(row["condition"])
        share = (scores[own] - asked.low) / (asked.high - asked.low)
        scores[own] = low + share * (high - low)
    return frame.assign(score=scores)


def at_the_ends(frame: pd.DataFrame, scale: tuple[float, float] | None) -> pd.DataFrame:
    """The share of each condition's scores that stand at an end of the scale.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "score": [1, 5, 3, 10]})
    >>> at_the_ends(frame, (1, 10)).to_dict("records")
    [{'condition': 'a', 'share': 0.5}]
    """
    if scale is None or "score" not in frame or not frame["score"].notna().any():
        return pd.DataFrame()
    scored = frame[frame["score"].notna()]
    ends = scored["score"].le(scale[0]) | scored["score"].ge(scale[1])
    shares = ends.groupby(scored["condition"].astype(str), sort=False).mean()
    return pd.DataFrame({"condition": shares.index, "share": shares.to_numpy(float)})


def mean_deviations(
    variances: ArrayLike, cluster: ArrayLike, *, level: float = 0.95
) -> dict[str, list[float]]:
    """The mean over items of their repeated scores' standard deviation, by condition.

    Parameters
    ----------
    variances : array-like, shape (n_items, n_conditions)
        NaN where an item has fewer than two scores.
    cluster : array-like, shape (n_items,)
    level : float
        Of the interval: the jackknife over clusters.

    Returns
    -------
    dict
        ``mean``, ``low`` and ``high``, one number a condition.

    Examples
    --------
    >>> mean_deviations([[1.0], [4.0], [9.0]], ["x", "y", "z"])["mean"]
    [2.0]
    """
    deviations = np.sqrt(np.asarray(variances, dtype=float))
    codes = cluster_codes(cluster, len(deviations), where="mean_deviations")
    out: dict[str, list[float]] = {"mean": [], "low": [], "high": []}
    for values in deviations.T:
        used = ~np.isnan(values)
        mean = estimate_from_sums(
            share_of_sums(),
            np.column_stack([np.ones(int(used.sum())), values[used]]),
            name="mean_deviation",
            label="Mean standard deviation of an item's scores",
            estimator="mean over items",
            sample=Sample(n_items=int(used.sum())),
            reason="no item has two scores",
            where="mean_deviations",
            cluster=codes[used],
            level=level,
            interval="jackknife",
            scale="identity",
        )
        low, high = bounds_of(mean.interval)
        for name, value in (("mean", mean.estimate), ("low", low), ("high", high)):
            out[name].append(float(value))
    return out
