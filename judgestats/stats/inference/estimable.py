"""When an interval says too little to be given: one rule, by what its estimand can be.

The estimate stays. Its interval is missing, with a note ``not_estimable`` that says why: what
rests on an end of it stays open, and no bound is kept.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgestats.results.numbers import counted
from judgestats.results.parts import NOT_ESTIMABLE
from judgestats.stats.inference.result_parts import Interval, Note

NEARLY_ALL = 0.95
"""Share of what is attainable from which on an interval says nothing."""
BEYOND = 5.0
"""How many times the estimate an end may be, on the scale of scores; of squares the square."""


def covers_all(low: float, high: float, ends: tuple[float, float]) -> bool:
    """Whether an interval holds nearly all that is attainable.

    Examples
    --------
    >>> covers_all(-38.0, 0.999, (0.0, 1.0)), covers_all(0.02, 0.9, (0.0, 1.0))
    (True, False)
    """
    least, most = ends
    return min(high, most) - max(low, least) >= NEARLY_ALL * (most - least)


def beyond_use(value: float, low: float, high: float, *, degree: int, compared: bool) -> bool:
    """Whether an interval on the scale of ratios spans more than is of use.

    Parameters
    ----------
    value, low, high : float
    degree : int
        1 for points of the scale, 2 for their squares.
    compared : bool
        Whether 1 stands for no difference: an interval without it tells something, however wide.

    Examples
    --------
    >>> [beyond_use(0.62, low, 113702.0, degree=2, compared=True) for low in (0.0, 1.4)]
    [True, False]
    """
    if compared and not low <= 1 <= high:
        return False
    return high > BEYOND**degree * value or value > BEYOND**degree * low


def not_estimable(why: str, *, of: str = "") -> Note:
    """The note of an interval that is not given.

    Examples
    --------
    >>> not_estimable("Only 4 items.").message
    'No interval: not estimable at this size. Only 4 items.'
    """
    name = f" for {of}" if of else ""
    message = f"No interval{name}: not estimable at this size. {why}"
    return Note(code=NOT_ESTIMABLE, message=message)


def held_by(sums: NDArray[np.number[Any]], unit: str = "clusters") -> str:
    """By how few clusters the scatter is held.

    Parameters
    ----------
    sums : ndarray, shape (G,)
        Each cluster's part of a sum of squares.
    unit : str

    Examples
    --------
    >>> held_by(np.array([9.0, 1, 0, 0]), "items"), held_by(np.array([1.0, 1, 1]))
    ('One of 4 items holds 90 % of the scatter (1.2 effective items).', 'Only 3 clusters.')
    """
    parts = np.asarray(sums, dtype=float)
    total, g = float(parts.sum()), parts.size
    effective = total**2 / float(np.sum(parts**2)) if total > 0 else math.nan
    if not effective < 0.75 * g:
        return f"Only {counted(g, unit[:-1], unit)}."
    share = 100 * float(parts.max()) / total
    return (
        f"One of {counted(g, unit[:-1], unit)} holds {share:.0f} % of the scatter ({effective:.1f} "
        f"effective {unit})."
    )


def only(n_clusters: int) -> str:
    """What data lack of which no more is known.

    Examples
    --------
    >>> only(4)
    'Only 4 clusters.'
    """
    return f"Only {counted(n_clusters, 'cluster', 'clusters')}."


def useful_reliability(
    interval: Interval | None, why: str, *, squares: float = math.nan
) -> tuple[Interval | None, tuple[Note, ...]]:
    """The interval of a reliability, or the note that it is not estimable.

    Parameters
    ----------
    interval : Interval or None
    why : str
        What the data lack.
    squares : float, optional
        How many times its estimate an end of the ratio of mean squares is.

    Returns
    -------
    interval : Interval or None
        None where it covers nearly all from 0 to 1, or holds 0 and spans more than is of use.
    notes : tuple of Note

    Examples
    --------
    >>> useful_reliability(Interval(low=-38.0, high=0.999), "Only 4 items.")[0] is None
    True
    """
    if interval is None:
        return None, ()
    wide = interval.low <= 0 and squares > BEYOND**2
    if not (wide or covers_all(interval.low, interval.high, (0.0, 1.0))):
        return interval, ()
    text = f"{why} The interval would hold nearly all that a reliability can be. Judge more items."
    return None, (not_estimable(text),)
