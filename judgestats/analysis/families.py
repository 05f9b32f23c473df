"""Families: comparisons made apart and adjusted together, and what may be claimed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TypeVar

from judgestats.errors import InputError
from judgestats.results import Claim
from judgestats.stats.inference.adjust import Adjustment
from judgestats.stats.inference.result import Comparisons, Note
from judgestats.stats.spread.variance_ratio import with_adjusted

__all__ = ["LEVEL", "claim_of", "one_family"]

LEVEL = 0.05
"""Of every claim."""

SomeComparisons = TypeVar("SomeComparisons", bound=Comparisons)


def one_family(
    parts: Mapping[str, SomeComparisons], *, family: str, adjust: Adjustment = "holm"
) -> SomeComparisons:
    """The rows of several comparisons as one family, adjusted together.

    Parameters
    ----------
    parts : mapping of label to Comparisons
        Made by the same function; the label (a judge and what else it was asked under) goes behind
        the first name of each row.
    family : str
        The hypothesis that all rows answer.
    adjust : str
        See `judgestats.stats.p_adjust`.

    Returns
    -------
    Comparisons
        Of the class of the parts. The sample is that of the part with the most items; every row
        has its own number.

    Raises
    ------
    InputError
        If there is no part.

    Examples
    --------
    >>> from judgestats.stats.spread.mean_shift import mean_shift
    >>> one = mean_shift([[1.0, 2.0], [2.0, 3.5], [4.0, 4.6]], conditions=["plain", "padded"])
    >>> two = mean_shift([[1.0, 1.1], [2.0, 1.8], [4.0, 4.3]], conditions=["plain", "padded"])
    >>> both = one_family({"judge 1": one, "judge 2": two}, family="padding")
    >>> [(r.a, round(r.p_value, 3), round(r.p_adjusted, 3)) for r in both.rows]
    [('padded (judge 1)', 0.058, 0.116), ('padded (judge 2)', 0.691, 0.691)]
    """
    if not parts:
        raise InputError("one_family: parts must hold at least one comparison, got none.")
    rows = [
        dataclasses.replace(row, a=f"{row.a} ({label})", n=row.n or part.sample.n_items)
        for label, part in parts.items()
        for row in part.rows
    ]
    first = next(iter(parts.values()))
    notes = [
        Note(code=note.code, message=f"{label}: {note.message}")
        for label, part in parts.items()
        for note in part.notes
    ]
    return dataclasses.replace(
        first,
        rows=with_adjusted(rows, adjust),
        adjust=adjust,
        family=family,
        sample=max((p.sample for p in parts.values()), key=lambda s: s.n_items),
        notes=tuple(notes),
    )


def claim_of(p: float, p_alike: float) -> Claim:
    """What adjusted p of a difference and of equivalence allow to say.

    Examples
    --------
    >>> claim_of(0.01, 0.5), claim_of(0.4, 0.01), claim_of(0.4, 0.4)
    ('differs', 'equivalent', 'open')
    >>> claim_of(math.nan, math.nan)
    'undefined'
    """
    if p < LEVEL:
        return "differs"
    if p_alike <= LEVEL:
        return "equivalent"
    return "undefined" if math.isnan(p) else "open"
