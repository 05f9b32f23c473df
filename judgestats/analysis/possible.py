"""Intervals held to what a number can be: by the scale of the scores, or by its definition.

A score between the ends of a scale of range r has a standard deviation of at most r / 2, whatever
its distribution, so that cutting an interval there takes nothing from its coverage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.protocols.scale import Scale
from judgestats.results.estimands import estimand_of
from judgestats.results.numbers import bounds_of, format_number
from judgestats.stats.inference.result import Estimate, Note

__all__ = ["held_to_scale", "possible_on"]

Ends = tuple[float, float]
_Z = 1.959963984540054 * math.sqrt(2)
"""A smallest detectable change in standard errors of measurement."""
_ALL = 0.95
"""Share of what is possible from which on an interval says nothing."""


def possible_on(scale: Ends, estimand: str) -> Ends | None:
    """The least and the largest value of a number in points of a scale, None of any other.

    Examples
    --------
    >>> possible_on((1, 10), "sem"), possible_on((1, 10), "pooled_within_variance")
    ((0.0, 4.5), (0.0, 20.25))
    >>> possible_on((1, 10), "mean"), possible_on((1, 10), "icc1")
    ((1, 10), None)
    """
    half = (scale[1] - scale[0]) / 2
    name, _, averaged = estimand.partition("_mean_of_")
    times = math.sqrt(float(averaged)) if averaged else 1.0
    most = {
        "sem": half, "sem_absolute": half, "sdc": _Z * half, "sdc_absolute": _Z * half,
        "pooled_within_variance": half**2,
    }.get(name)  # fmt: skip
    if most is not None:
        return 0.0, most / times
    return scale if name == "mean" else None


def held_to_scale(analysis: Analysis, scale: Ends | None) -> Analysis:
    """An analysis whose intervals hold nothing that the numbers cannot be.

    Parameters
    ----------
    analysis : Analysis
    scale : (float, float) or None
        Ends of the run's scale; conditions that were asked on another name it in the column
        ``scale`` of the table.

    Returns
    -------
    Analysis
        Estimates, the table of conditions and the metrics, cut alike; a note ``not_bounded`` says
        where an interval is all that is possible.
    """
    scales = _scales(analysis.conditions, scale)
    cut: dict[tuple[str, str], Ends] = {}

    def held(result: NamedResult) -> NamedResult:
        about, value = result.about.conditions, result.result
        if not isinstance(value, Estimate):
            return result
        kept = _cut(value, scales.get(about[0]) if len(about) == 1 else scale)
        if kept is value:
            return result
        if len(about) == 1:
            cut[about[0], value.name] = bounds_of(kept.interval)
        return replace(result, result=kept)

    results, described = (tuple(map(held, r)) for r in (analysis.results, analysis.described))
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


def _cut(estimate: Estimate, scale: Ends | None) -> Estimate:
    interval = estimate.interval
    entry = estimand_of(estimate.name)
    possible = (possible_on(scale, estimate.name) if scale else None) or (entry.low, entry.high)
    if interval is None or math.isnan(estimate.estimate):
        return estimate
    # A sample's own value may lie beyond what its distribution can have.
    least, most = min(possible[0], estimate.estimate), max(possible[1], estimate.estimate)
    kept = replace(interval, low=max(interval.low, least), high=min(interval.high, most))
    if kept.high - kept.low >= _ALL * (most - least):
        message = (
            f"The interval is all that is possible ({format_number(least)} to "
            f"{format_number(most)}): these data do not bound it."
        )
        note = Note(code="not_bounded", message=message)
        return estimate.replace(interval=kept, notes=(*estimate.notes, note))
    return estimate if kept == interval else estimate.replace(interval=kept)
