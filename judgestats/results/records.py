"""The records: an estimate, a test, a comparison of two, a table, a set of these."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from judgestats.results.parts import (
    NOT_ESTIMABLE,
    About,
    Interval,
    Margin,
    Note,
    Null,
    Part,
    Sample,
    Statistic,
)
from judgestats.results.values import Number, OneOf, Plain, Probability

Role = Literal["primary", "secondary", "descriptive", "replicated"]
"""Of a result in the analysis plan; ``replicated`` is what a published study printed."""


@dataclass(frozen=True, kw_only=True)
class Record(Part):
    """What all records have.

    Attributes
    ----------
    id : str
        Unique in a file. A part's id begins with that of the whole: ``ratio.sim-a/T=1:T=0``.
    hypothesis : str
        Id of the hypothesis of the plan that it answers.
    role : {"primary", "secondary", "descriptive", "replicated"}
    title : str
    about : About
    part_of : str
        Id of the set or test that it belongs to.
    sample : Sample or None
    notes : tuple of Note
    reason : str
        Why the number is undefined.
    details : mapping
        Further named numbers of its method (loadings, a table of counts), plain values.
    """

    id: str
    hypothesis: str
    role: Role
    title: str
    about: About = field(default_factory=About)
    part_of: str = ""
    sample: Sample | None = None
    notes: tuple[Note, ...] = ()
    reason: str = ""
    details: Mapping[str, Plain] = field(default_factory=dict)

    @property
    def not_estimable(self) -> bool:
        """Whether its interval is missing because it would say nothing."""
        return any(note.code == NOT_ESTIMABLE for note in self.notes)


@dataclass(frozen=True, kw_only=True)
class Estimate(Record):
    """One number: what it estimates (a key of the registry of estimands), interval and null.

    `std_error` is NaN where the interval does not use one; `label` says what this number is where
    that is more than the estimand (``Vote-share reliability of 5 judgments``).
    """

    estimand: str
    estimate: Number
    label: str = ""
    interval: Interval | None = None
    std_error: Number = math.nan
    null: Null | None = None
    estimator: str = ""
    kind: Literal["estimate"] = "estimate"


@dataclass(frozen=True, kw_only=True)
class Test(Record):
    """One hypothesis test.

    Attributes
    ----------
    test : str
        A key of the registry of tests.
    method : str
        Title as R would print it.
    statistic : Statistic
    p, p_floor, p_adjusted : float
        `p_floor` is the smallest p that the method can give on these data, NaN where it is not
        known to have one; `p_adjusted` that of the family `family`.
    p_bound : bool
        Whether `p_adjusted` is an upper bound: the p that it is made from stands at its floor.
    null_hypothesis, alternative, why, data_name : str
        In words.
    effects : tuple of str
        Ids of the effect sizes, the main one first.
    groups : mapping of level to number
        Means, mean ranks and the like.
    """

    __test__ = False  # pytest must not collect it

    test: str
    method: str
    statistic: Statistic
    p: Probability
    p_floor: Probability = math.nan
    p_adjusted: Probability = math.nan
    p_bound: bool = False
    family: str = ""
    null_hypothesis: str = ""
    alternative: str = ""
    why: str = ""
    data_name: str = ""
    effects: tuple[str, ...] = ()
    groups: Mapping[str, Number] = field(default_factory=dict)
    kind: Literal["test"] = "test"


@dataclass(frozen=True, kw_only=True)
class Comparison(Record):
    """`a` against `b`: an estimate and its test, one row of a set.

    `margin` makes it a test of equivalence: p is then the larger one-sided p, and the interval lies
    inside the margin exactly when p is at most the margin's alpha. `held_to` is the id of the claim
    about all conditions (a test or a headline) below whose adjusted p that of a pair cannot lie.
    """

    a: str
    b: str
    estimand: str
    estimate: Number
    method: str
    statistic: Statistic
    p: Probability
    p_floor: Probability = math.nan
    p_adjusted: Probability = math.nan
    p_bound: bool = False
    family: str = ""
    held_to: str = ""
    interval: Interval | None = None
    margin: Margin | None = None
    effects: tuple[str, ...] = ()
    kind: Literal["comparison"] = "comparison"


@dataclass(frozen=True, kw_only=True)
class Column(Part):
    """A table's column: `unit` is a unit of the registry, or empty for text."""

    key: str
    label: str
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Table(Record):
    """What is neither estimate nor test: a printed table of a paper, statistics of items.

    `text` is what it says in a sentence, written by the analysis.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Plain, ...], ...]
    text: str = ""
    kind: Literal["table"] = "table"


@dataclass(frozen=True, kw_only=True)
class ResultSet(Record):
    """Results that are read together: the pairs of a comparison, the forms of a coefficient.

    Attributes
    ----------
    name, method : str
        Machine name and title of what made them.
    members : tuple of str
        Ids, in order.
    family : str
        Id of the family that all of them are adjusted in, where there is one.
    text : str
        What it says, where more is to be said than the members do.
    """

    name: str
    method: str
    members: tuple[str, ...]
    family: str = ""
    text: str = ""
    kind: Literal["set"] = "set"


AnyRecord = Annotated[
    Estimate | Test | Comparison | Table | ResultSet,
    OneOf(estimate=Estimate, test=Test, comparison=Comparison, table=Table, set=ResultSet),
]
