"""Scores on one scale: intervals held to it, the share at its ends, items' mean deviation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.possible import Ends, held, possible
from judgestats.protocols.scale import Scale
from judgestats.results.numbers import bounds_of
from judgestats.stats.agreement.alignment import share_of_sums
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.stats.inference.sum_statistics import estimate_from_sums


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


def held_to_scale(analysis: Analysis, scale: Ends | None) -> Analysis:
    """An analysis whose intervals in points hold nothing that its scale rules out.

    Parameters
    ----------
    analysis : Analysis
    scale : (float, float) or None
        Ends of the run's scale; conditions that were asked on another name it in the column
        ``scale`` of the table.

    Returns
    -------
    Analysis
        Estimates, the table of conditions and the metrics, cut alike; an interval that would be
        nearly all that is possible is missing, with a note ``not_estimable``.
    """
    scales = _scales(analysis.conditions, scale)
    cut: dict[tuple[str, str], Ends] = {}

    def on_scale(result: NamedResult) -> NamedResult:
        about, value = result.about.conditions, result.result
        own = scales.get(about[0]) if len(about) == 1 else None
        if own is None or not isinstance(value, Estimate) or value.interval is None:
            return result
        ends = possible(value.name, own)
        if ends == possible(value.name):
            return result
        kept, lost = held(value.interval, ends, value.estimate)
        cut[about[0], value.name] = bounds_of(kept)
        return replace(result, result=value.replace(interval=kept, notes=(*value.notes, *lost)))

    results, described = (tuple(map(on_scale, r)) for r in (analysis.results, analysis.described))
    table = analysis.conditions.copy()
    metrics = {name: dict(values) for name, values in analysis.condition_metrics.items()}
    for (condition, estimand), (low, high) in cut.items():
        column, metric = _SHOWN_AS.get(estimand, ("", ""))
        if f"{column}_low" in table:
            table.loc[table["condition"] == condition, [f"{column}_low", f"{column}_high"]] = (
                low, high,
            )  # fmt: skip
        if f"ci/{metric}.lo" in metrics.get(condition, {}):
            metrics[condition] |= {f"ci/{metric}.lo": low, f"ci/{metric}.hi": high}
    return replace(
        analysis, results=results, described=described, conditions=table, condition_metrics=metrics
    )


_SHOWN_AS = {
    "mean": ("mean", "score/mean"),
    "pooled_within_variance": ("within_variance", "spread/variance"),
}
"""Column of the table of conditions, and metric, of the estimates that stand there too."""


def _scales(table: pd.DataFrame, scale: Ends | None) -> Mapping[str, Ends | None]:
    """The scale of every condition."""
    if "condition" not in table:
        return {}
    asked = table["scale"] if "scale" in table else [""] * len(table)
    own = {
        str(name): Scale.parse(text) if isinstance(text, str) and text else None
        for name, text in zip(table["condition"], asked, strict=True)
    }
    return {name: (s.low, s.high) if s else scale for name, s in own.items()}


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
    scored = frame.loc[frame["score"].notna(), ["condition", "score"]]
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
