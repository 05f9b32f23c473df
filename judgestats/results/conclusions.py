"""What follows from records: families, headlines, the recommendation; conditions and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from judgestats.results.parts import About, Note, Part
from judgestats.results.values import Number, Plain, Probability

Claim = Literal["differs", "equivalent", "open", "undefined", "described"]
"""What a headline says: a difference (or relation) is shown; its absence within the margin is
shown; neither is; nothing could be computed; or it describes and claims nothing."""


@dataclass(frozen=True, kw_only=True)
class Family(Part):
    """Tests that answer one hypothesis and are adjusted together.

    Attributes
    ----------
    id : str
    hypothesis : str
        Id of the hypothesis of the plan.
    label : str
        In words: ``spread across temperatures, one test per judge``.
    method : str
        ``holm``, ``single-step (studentised range)``, ``none``.
    members : tuple of str
        Ids of its tests and comparisons.
    n_undefined : int
        How many of them could not be computed; these do not count in the adjustment.
    smallest_p : float
        The smallest adjusted p that any member can reach, from the floors of their methods; NaN
        where a floor is not known. A family where it lies above `level` cannot reject.
    level : float
    """

    id: str
    hypothesis: str
    label: str
    method: str
    members: tuple[str, ...]
    n_undefined: int = 0
    smallest_p: Probability = math.nan
    level: float = 0.05


@dataclass(frozen=True, kw_only=True)
class Headline(Part):
    """One claim of the analysis, as data; its sentence is made from it.

    Attributes
    ----------
    id, hypothesis : str
    claim : {"differs", "equivalent", "open", "undefined", "described"}
    about : About
        The subject.
    estimand : str
        What differs, is equivalent or is described: a key of the registry.
    direction : {"", "higher", "lower"}
        Of the last of the conditions against the first, where the claim has one.
    rests_on : tuple of str
        Ids of the results that it rests on, the one with the verdict first.
    family : str
    p_adjusted : float
        The p that decides, adjusted in the family.
    p_bound : bool
        Whether it is an upper bound: the p that it is made from stands at the floor of its
        permutations.
    reason : str
        Why it is undefined.
    says : str
        The claim in words without its subject and its numbers (``scores scatter differently across
        temperatures``). A description names numbers in place: ``{0}`` is that of the first result
        it rests on.
    size : str
        Id of the estimate or comparison that tells how large; empty: of what it rests on, the
        member farthest from nothing.
    """

    id: str
    hypothesis: str
    claim: Claim
    about: About
    estimand: str = ""
    direction: Literal["", "higher", "lower"] = ""
    rests_on: tuple[str, ...] = ()
    family: str = ""
    p_adjusted: Probability = math.nan
    p_bound: bool = False
    reason: str = ""
    says: str = ""
    size: str = ""


@dataclass(frozen=True, kw_only=True)
class Row(Part):
    """A question that people ask of every condition, and the result that answers it in each.

    The rows of an analysis are what its screen and the first page of its report show; each
    analysis declares its own.

    Attributes
    ----------
    key : str
        By which a threshold names it (``reliability``).
    ask : str
        As people ask: ``lenient by``.
    short : str
        The same in two words, as the head of a column.
    estimand : str
        What answers: a key of the registry.
    cells : mapping of condition to str
        Ids of estimates or comparisons.
    note : str
        What stands behind the numbers: ``r``.
    beside : mapping of words to str
        Ids of estimates that hold for all conditions: a ceiling, a baseline.
    """

    key: str
    ask: str
    short: str
    estimand: str
    cells: Mapping[str, str]
    note: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Recommendation(Part):
    """What to do.

    Attributes
    ----------
    text : str
    sentences : tuple of str
        The text, sentence by sentence.
    chosen : str
        Label of the condition recommended; empty where none is told from the others.
    tied : tuple of str
        The conditions that hold every best one with the stated probability, `chosen` among them.
    reason : str
        Why this one.
    rests_on : tuple of str
    replicates : int or None
    counted : str
        What is counted where it has no mean: ``choices``; empty: scores are averaged.
    cost_usd : float
        Of an item; NaN where the price is not known.
    """

    text: str
    sentences: tuple[str, ...] = ()
    chosen: str = ""
    tied: tuple[str, ...] = ()
    reason: str = ""
    rests_on: tuple[str, ...] = ()
    replicates: int | None = None
    counted: str = ""
    cost_usd: Number = math.nan


@dataclass(frozen=True, kw_only=True)
class Condition(Part):
    """One condition: a mapping of factors to levels, what came of its judgments, its estimates.

    Attributes
    ----------
    label : str
    judge : str
    factors : mapping of str to level
        Temperature and whatever else was varied or fixed; None is the server's default.
    counts : mapping of status to int
        Judgments by status, ``asked`` in all.
    estimates : mapping of estimand to str
        Ids of the results that describe it, by what they estimate.
    derived : bool
        Made from the judgments of other conditions, such as a mean of them.
    """

    label: str
    judge: str = ""
    factors: Mapping[str, str | float | None] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    estimates: Mapping[str, str] = field(default_factory=dict)
    derived: bool = False


@dataclass(frozen=True, kw_only=True)
class Figure(Part):
    """Numbers that only a figure shows: an array with named axes.

    Attributes
    ----------
    id : str
    estimand : str
        What the numbers are; empty where `values` are names.
    axes : mapping of str to labels
        In order: ``{"item": (...), "condition": (...)}``.
    values : nested list
        Of the axes' lengths.
    notes : tuple of Note
    """

    id: str
    estimand: str
    axes: Mapping[str, tuple[str, ...]]
    values: Plain
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Drawing(Part):
    """The figure that answers, as its experiment declares it: which records are drawn, and how.

    Attributes
    ----------
    kind : {"curve", "dots"}
        Estimands against a factor, a line a judge; or rows of dots, the best first.
    estimands : tuple of str
        A panel each; of those that no condition has an estimate of, none is drawn.
    over : str
        The factor of a curve, or the column of the table of conditions that holds its x.
    by : tuple of str
        What tells one curve from another, judge aside: further factors.
    only : mapping of column to tuple of str
        Conditions that are drawn: those with one of these values in a column of their table.
    rows : tuple of str
        Ids of estimates that are rows of dots, in this order, in place of the conditions.
    lines : tuple of str
        Ids of estimates drawn as references: a ceiling, baselines.
    compared : tuple of str
        Ids of sets of comparisons: rows that they do not tell apart are joined.
    caption : str
        What is to be seen, without numbers.
    """

    kind: Literal["curve", "dots"]
    estimands: tuple[str, ...] = ()
    over: str = ""
    by: tuple[str, ...] = ()
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    caption: str = ""
