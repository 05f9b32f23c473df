"""What a number can be: by its definition, or by the scale that scores are of.

A score between the ends of a scale of range r has a standard deviation of at most r / 2, whatever
its distribution, so that cutting an interval there takes nothing from its coverage.
"""

from __future__ import annotations

import math
from dataclasses import replace

from judgestats.results.estimands import estimand_of
from judgestats.results.numbers import format_number
from judgestats.stats.inference.estimable import beyond_use, covers_all, not_estimable
from judgestats.stats.inference.result import Interval, Note

Ends = tuple[float, float]
_Z = 1.959963984540054 * math.sqrt(2)
"""A smallest detectable change in standard errors of measurement."""


def possible(estimand: str, scale: Ends | None = None) -> Ends:
    """The least and the largest value of a number.

    Parameters
    ----------
    estimand : str
    scale : (float, float), optional
        Of the scores, for numbers in points.

    Examples
    --------
    >>> possible("sem", (1, 10)), possible("pooled_within_variance", (1, 10))
    ((0.0, 4.5), (0.0, 20.25))
    >>> possible("mean", (1, 10)), possible("mean"), possible("icc_1_1")
    ((1, 10), (-inf, inf), (-inf, 1.0))
    """
    entry = estimand_of(estimand)
    if scale is None:
        return entry.low, entry.high
    half = (scale[1] - scale[0]) / 2
    name, _, averaged = estimand.partition("_mean_of_")
    most = {
        "sem": half, "sem_absolute": half, "sdc": _Z * half, "sdc_absolute": _Z * half,
        "pooled_within_variance": half**2,
    }.get(name)  # fmt: skip
    if most is not None:
        return 0.0, most / (math.sqrt(float(averaged)) if averaged else 1.0)
    return scale if name == "mean" else (entry.low, entry.high)


def held_within(interval: Interval, ends: Ends, estimate: float) -> Interval:
    """An interval without what is not possible; a sample's own value may lie beyond it.

    Examples
    --------
    >>> print(held_within(Interval(low=-0.2, high=1.3), (0.0, 1.0), 0.5))
    [0.000, 1.000]
    """
    if math.isnan(estimate):
        return interval
    least, most = min(ends[0], estimate), max(ends[1], estimate)
    return replace(interval, low=max(interval.low, least), high=min(interval.high, most))


def held(
    interval: Interval | None, ends: Ends, estimate: float, *, ratio: bool = False
) -> tuple[Interval | None, tuple[Note, ...]]:
    """An interval within what is possible; where it says nothing, the note that says so.

    It does where it is nearly all that is possible, or, of a `ratio`, where an end is beyond use.

    Examples
    --------
    >>> whole = Interval(low=-0.2, high=0.97)
    >>> held(whole, (0.0, 1.0), 0.5)[1][0].code, held(whole, (-math.inf, 1.0), 0.5)[1]
    ('not_estimable', ())
    """
    if interval is None or math.isnan(estimate):
        return interval, ()
    kept = held_within(interval, ends, estimate)
    if ratio and beyond_use(estimate, kept.low, kept.high, degree=2, compared=True):
        return None, (not_estimable("An end would be over 25 times the estimate."),)
    if not math.isfinite(sum(ends)) or not covers_all(kept.low, kept.high, ends):
        return kept, ()
    least, most = (format_number(end) for end in ends)
    why = (
        f"The interval would be nearly all that is possible ({least} to {most}). Judge more items."
    )
    return None, (not_estimable(why),)
