"""The parts that records are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from judgestats.results.values import Number, Plain, Probability


class Part:
    """Base of all that a results file holds: a field that is not declared is refused."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}


@dataclass(frozen=True, kw_only=True)
class About(Part):
    """What a result is about.

    Attributes
    ----------
    judge : str
        The judge, where it is one.
    stratum : str
        What the conditions compared have in common, in words.
    conditions : tuple of str
        Labels of the conditions it was computed from; their factors stand with the conditions.
    varied : str
        The factor whose levels are compared (``temperature``); empty where nothing is.
    factors : mapping of str to level
        Factors held fixed, and at what.
    slice : str
        The part of the items, where it is not all of them.
    """

    judge: str = ""
    stratum: str = ""
    conditions: tuple[str, ...] = ()
    varied: str = ""
    factors: Mapping[str, str | float | None] = field(default_factory=dict)
    slice: str = ""


@dataclass(frozen=True, kw_only=True)
class Interval(Part):
    """A confidence interval: two numbers, its level and how it was made."""

    low: Number
    high: Number
    level: float = 0.95
    method: str = ""
    n_resamples: int | None = None
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Null(Part):
    """What the same number yields when there is nothing to find.

    Attributes
    ----------
    hypothesis, permuted : str
        In words.
    mean, q95 : float
        Of its distribution.
    p, p_floor : float
        And the smallest p that so many draws can give.
    draws, seed : int or None
    drawn : bool
        Whether `permuted` names what was drawn at random rather than permuted.
    reason : str
        Why it says nothing.
    """

    hypothesis: str
    permuted: str
    mean: Number
    q95: Number
    p: Probability
    draws: int
    p_floor: Probability = math.nan
    seed: int | None = None
    drawn: bool = False
    reason: str = ""


NOT_ESTIMABLE = "not_estimable"
"""The code of the note of a number whose interval would say nothing."""
LOST = "[not estimable]"
"""What stands in its place."""


@dataclass(frozen=True, kw_only=True)
class Note(Part):
    """A warning as data: a stable code, a sentence to read, and the numbers in it."""

    code: str
    message: str
    severity: Literal["info", "warning"] = "warning"
    values: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Sample(Part):
    """What a number was computed from; `excluded` counts what was left out, by reason."""

    n_items: int
    n_clusters: int | None = None
    n_replications: int | None = None
    n_replications_max: int | None = None
    n_excluded: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    repeated: str = "replication"


@dataclass(frozen=True, kw_only=True)
class Statistic(Part):
    """A test statistic: its symbol, value and degrees of freedom by name."""

    symbol: str
    value: Number
    df: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Margin(Part):
    """What counts as equivalent, declared before the data, in the unit of an estimand."""

    low: Number
    high: Number
    estimand: str
    alpha: float = 0.05
