"""Records: estimates, tests, comparisons, tables, and the types of their fields."""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from judgestats.files.text import clean, format_number

if TYPE_CHECKING:
    import numpy as np

    from judgestats.arrays import Bools, Ints

_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def plain(value: Any) -> Any:
    """Plain JSON values: NaN is None, infinity a word, arrays and frames are lists, texts clean.

    Arrays and frames are known by what they can do (``tolist``, ``to_dict``), so that nothing
    heavy is imported here.

    Examples
    --------
    >>> plain({"a": math.nan, "b": (1, math.inf), 0.5: None})
    {'a': None, 'b': [1, 'inf'], '0.5': None}
    """
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value) if math.isfinite(value) else str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = (f.name for f in dataclasses.fields(value) if f.metadata.get("plain", True))
        return {name: plain(getattr(value, name)) for name in shown}
    if isinstance(value, Mapping):
        return {clean(str(k)): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return [plain(row) for row in value.to_dict("records")]
    if hasattr(value, "tolist"):
        numbers = str(getattr(value, "dtype", ""))[:3] in {"int", "uin", "flo"} and value.ndim
        # A sum is finite where every number is; ``x - x`` would be NaN where one is not.
        if numbers and math.isfinite((value - value).sum()):
            return value.tolist()
        return plain(value.tolist())
    return str(value)


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str) and value in _INFINITE:
        return _INFINITE[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, null, 'inf' or '-inf', got {value!r}")  # noqa: TRY004
    return float(value)


def _probability(value: Any) -> float:
    number = _number(value)
    if not math.isnan(number) and not 0 <= number <= 1:
        raise ValueError(f"expected a probability between 0 and 1, or null, got {value!r}")
    return number


def _plain(value: Any) -> Any:
    return value


@dataclasses.dataclass(frozen=True)
class _FieldReader:
    """Tells pydantic how a field is read, and its JSON Schema; writing is `plain` everywhere."""

    read: Callable[[Any], Any]
    schema: tuple[tuple[str, Any], ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return dict(self.schema)


Number = Annotated[
    float,
    _FieldReader(_number, (("anyOf", [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}]),)),
]
"""A number: NaN where it is undefined (``null`` in a file), possibly infinite."""

Probability = Annotated[
    float,
    _FieldReader(_probability, (("type", ["number", "null"]), ("minimum", 0), ("maximum", 1))),
]
"""A p-value: NaN where there is none."""

Plain = Annotated[Any, _FieldReader(_plain, ())]
"""Any JSON value."""


class OneOf:
    """Of several dataclasses the one that the field ``kind`` names."""

    def __init__(self, **classes: type) -> None:
        self.classes = classes

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        choices = {kind: handler.generate_schema(cls) for kind, cls in self.classes.items()}
        return core_schema.tagged_union_schema(choices, discriminator="kind")


class Part:
    """Base of everything that a results file holds: a field that is not declared is refused."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}


@dataclass(frozen=True, kw_only=True)
class About(Part):
    """What a result is about.

    Attributes
    ----------
    judge : str
        The judge, where it is one.
    stratum : str
        What the conditions compared have in common, as text.
    conditions : tuple of str
        Labels of the conditions it was computed from; their factors are with the conditions.
    varied : str
        The factor whose levels are compared (``temperature``); empty if nothing is.
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
    """A confidence interval: two numbers, its level and how it was made.

    `family_level` is that of all intervals of a family together, to which `level` is adjusted.
    """

    low: Number
    high: Number
    level: float = 0.95
    family_level: float | None = None
    method: str = ""
    n_resamples: int | None = None
    seed: int | None = None

    def __str__(self) -> str:
        """Both bounds to the same decimals: four figures of the larger one.

        Examples
        --------
        >>> print(Interval(low=0.79, high=0.86421), Interval(low=1.5, high=31.0))
        [0.7900, 0.8642] [1.50, 31.00]
        """
        largest = max(abs(self.low), abs(self.high))
        if not 1e-4 <= largest < 1e5:  # zero, not finite, or in need of an exponent
            return f"[{format_number(self.low)}, {format_number(self.high)}]"
        decimals = max(0, 3 - math.floor(math.log10(largest)))
        return f"[{self.low:.{decimals}f}, {self.high:.{decimals}f}]"


@dataclass(frozen=True, kw_only=True)
class Null(Part):
    """What the same number yields under the null hypothesis.

    Attributes
    ----------
    hypothesis, permuted : str
        As text.
    mean, q95 : float
        Of its distribution.
    p, p_floor : float
        The p, and the smallest p that the draws can give.
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
LOST = "(no CI)"
"""Text that replaces the interval."""


@dataclass(frozen=True, kw_only=True)
class Note(Part):
    """A warning as data: a stable code, a sentence to read, and the numbers in it."""

    code: str
    message: str
    severity: Literal["info", "warning"] = "warning"
    values: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Sample(Part):
    """What a number was computed from.

    `n_replications` is the number per item, or the smallest where items differ (then
    `n_replications_max` is the largest). `repeated` names what is counted. `excluded` maps a reason
    to a count. Reasons with a count of 0 are dropped, and `n_excluded` defaults to their sum.
    """

    n_items: int
    n_clusters: int | None = None
    n_replications: int | None = None
    n_replications_max: int | None = None
    n_excluded: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    repeated: str = "replication"

    def __post_init__(self) -> None:
        excluded = {reason: n for reason, n in self.excluded.items() if n}
        object.__setattr__(self, "excluded", excluded)
        object.__setattr__(self, "n_excluded", self.n_excluded or sum(excluded.values()))

    @classmethod
    def from_mask(
        cls,
        used: Bools | np.bool_,
        why: str | Mapping[str, int],
        codes: Ints | None = None,
        **more: Any,
    ) -> Sample:
        """The items used, their clusters, and why the others are left out.

        Parameters
        ----------
        used : ndarray of bool, shape (n_items,)
        why : str or mapping of str to int
            Why items are not used, or how many for which reason.
        codes : ndarray of int, shape (n_items,), optional
            Cluster of each item; None where items are independent.
        **more
            Further fields.

        Returns
        -------
        Sample

        Examples
        --------
        >>> import numpy as np
        >>> used = np.array([True, True, False])
        >>> Sample.from_mask(used, "unparsed", np.array([4, 4, 5])).n_clusters
        1
        """
        n = int(used.sum())
        return cls(
            n_items=n,
            n_clusters=None if codes is None else len(set(codes[used].tolist())),
            excluded={why: used.size - n} if isinstance(why, str) else why,
            **more,
        )

    def __str__(self) -> str:
        """``30 items, 10 clusters, 5 replications``, and what was left out.

        Examples
        --------
        >>> print(Sample(n_items=8, excluded={"not read": 2, "no label": 0}))
        8 items, 2 excluded (not read: 2)
        """

        def some(number: int, noun: str) -> str:
            return f"{number} {noun}" + ("" if number == 1 else "s")

        parts = [some(self.n_items, "item")]
        if self.n_clusters is not None and self.n_clusters != self.n_items:
            parts.append(some(self.n_clusters, "cluster"))
        if self.n_replications is not None:
            top = self.n_replications_max
            span = f"{self.n_replications}-{top}" if top and top != self.n_replications else ""
            noun = self.repeated
            parts.append(f"{span} {noun}s" if span else some(self.n_replications, noun))
        if self.n_excluded:
            why = "; ".join(f"{k}: {v}" for k, v in self.excluded.items())
            parts.append(f"{self.n_excluded} excluded" + (f" ({why})" if why else ""))
        return ", ".join(parts)


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
    """One number: what it estimates (the key of a declared quantity), interval and null.

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
        Whether `p_adjusted` is an upper bound: the p that it is made from is at its floor.
    null_hypothesis, alternative, why, data_name : str
        As text.
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

    `margin` makes it a test of equivalence. p is then the larger one-sided p. The interval is
    inside the margin exactly when p is at most the margin's alpha. `held_to` is the id of the claim
    about all conditions (a test or a headline). Its adjusted p is a lower bound of a pair's p.
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
        Text in addition to that of the members.
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


Claim = Literal["differs", "equivalent", "open", "undefined", "described"]
"""Claim of a headline: a significant difference (or relation), equivalence within the margin,
neither (open), nothing computable, or a description without a claim."""


@dataclass(frozen=True, kw_only=True)
class Family(Part):
    """Tests that answer one hypothesis and are adjusted together.

    Attributes
    ----------
    id : str
    hypothesis : str
        Id of the hypothesis of the plan.
    label : str
        As text: ``spread across temperatures, one test per judge``.
    method : str
        ``holm``, ``single-step (studentised range)``, ``none``.
    members : tuple of str
        Ids of its tests and comparisons.
    n_undefined : int
        How many of them could not be computed; these do not count in the adjustment.
    smallest_p : float
        The smallest adjusted p that any member can reach, from the floors of their methods; NaN
        where a floor is not known. A family where it is above `level` cannot reject.
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
        Whether it is an upper bound: the p that it is made from is at the floor of its
        permutations.
    reason : str
        Why it is undefined.
    says : str
        The claim as text without its subject and its numbers
        (``scores scatter differently across temperatures``). A description names numbers in place:
        ``{0}`` is that of the first result it rests on.
    size : str
        Id of the estimate or comparison that gives the effect size. Empty: the member farthest from
        the null among those it rests on.
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
    """A quantity that is reported for every condition, and its result in each.

    The rows of an analysis are what its screen and the first page of its report show; each
    analysis declares its own.

    Attributes
    ----------
    key : str
        By which a threshold names it (``reliability``).
    ask : str
        Plain wording: ``lenient by``.
    short : str
        The same in two words, as the head of a column.
    estimand : str
        The quantity: a key of the registry.
    cells : mapping of condition to str
        Ids of estimates or comparisons.
    note : str
        Text after the numbers, e.g. ``r``.
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


CRITERIA = {
    "criterion",
    "criteria",
    "metric",
    "aspect",
    "dimension",
    "attribute",
    "scorer",
    "rubric",
}
"""Names (folded) of factors whose levels are criteria."""


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

    @property
    def criterion(self) -> str:
        """The criterion of its judgments; empty where there is one for all."""
        named = [k for k in self.factors if _last_word(k) in CRITERIA]
        return str(self.factors[named[0]]) if named else ""


def own_condition(label: str, judge: str, criterion: str) -> str:
    """Return a condition's label without its judge and its criterion, which have their own place.

    Examples
    --------
    >>> own_condition("gpt, T=1, metric=tone", "gpt", "tone"), own_condition("gpt", "gpt", "")
    ('T=1', '')
    """
    parts = label.removeprefix(judge).removeprefix(", ").split(", ")
    named = [p for p in parts if p.endswith(f"={criterion}")
             and _last_word(p.partition("=")[0]) in CRITERIA]  # fmt: skip
    return ", ".join(p for p in parts if p not in named)


def _last_word(factor: str) -> str:
    last = re.split(r"\[\]\.?|\.", factor.removesuffix("[]"))[-1]
    return re.sub(r"[\s_\-]+", "", last).casefold()


@dataclass(frozen=True, kw_only=True)
class Drawing(Part):
    """The figure that answers, as its experiment declares it: which records are drawn, and how.

    Attributes
    ----------
    kind : {"curve", "dots"}
        Estimands against a factor, a line per judge; or rows of dots, the best first.
    estimands : tuple of str
        A panel each; of those that no condition has an estimate of, none is drawn.
    over : str
        The factor of a curve, or the column of the table of conditions that holds its x.
    by : tuple of str
        Factors that distinguish the curves, in addition to the judge.
    only : mapping of column to tuple of str
        Conditions that are drawn: those with one of these values in a column of their table.
    rows : tuple of str
        Ids of estimates that are rows of dots, in this order, instead of the conditions.
    lines : tuple of str
        Ids of estimates drawn as references: a ceiling, baselines.
    compared : tuple of str
        Ids of sets of comparisons: rows that do not differ significantly are joined.
    caption : str
        Description of the figure, without numbers.
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


def rows_of_table(record: Record) -> list[dict[str, Any]]:
    """A table's rows as dicts; none of a result that is not a table."""
    if not isinstance(record, Table):
        return []
    keys = [column.key for column in record.columns]
    return [dict(zip(keys, row, strict=True)) for row in record.rows]
