"""One entry of the registry: what a number is, how it is written, and where it is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

UNITS = {
    "probability": "share or probability, from 0 to 1",
    "probability difference": "difference of two shares, from -1 to 1",
    "coefficient": "coefficient",
    "points": "points of the scale",
    "squared points": "squared points of the scale",
    "logits": "logits (log odds)",
    "ratio": "ratio",
    "ranks": "mean ranks",
    "standard deviations": "standard deviations",
    "bits": "bits",
    "count": "count",
    "labels": "labels",
    "place": "rank, 1 is best",
    "tokens": "tokens",
    "USD": "US dollars",
    "seconds": "seconds",
    "number": "number without unit",
}
"""The kinds of unit, as text."""


Direction = Literal["higher", "lower", "nothing", "none"]
"""Of `Quantity.better`."""


Kind = Literal["scores", "verdicts", "pairs", "labels", "pair labels", "tied labels"]
"""Scores or verdicts of items x repeats, or verdicts on pairs in both orders. The others are
verdicts with human labels: of any values, of pairs, and of pairs with ties."""
_GROUPS: Mapping[Kind, str] = {"scores": "reliability", "verdicts": "reliability", "pairs": "order"}


@dataclass(frozen=True, kw_only=True)
class Needs:
    """The data of one condition from which an audit computes a quantity.

    Attributes
    ----------
    kind : str
        Of the data, and so of the first arguments of the quantity's function.
    repeats : int
        Repeats per item and order.
    option : str
        Option of the plan without which the quantity is not computed.
    size : {"any", "memory", "counts"}
        Whether audits in memory, audits of counts, or both compute it.
    """

    kind: Kind
    repeats: int = 1
    option: str = ""


@dataclass(frozen=True)
class Screen:
    """The row of a screen that shows a quantity: its key, wording, short heading, and note."""

    key: str
    ask: str
    short: str
    note: str = ""


@dataclass(frozen=True)
class Quantity:
    """What a number is.

    Attributes
    ----------
    key : str
        Its id everywhere; ``{...}`` stands for a number or word (``position_{place}_share``).
    heading : str
        Its name for a reader, as a column or row of a table bears it. No id is made from it.
    unit : str
        A key of `UNITS`.
    glossary : str
        One line that says what it tells.
    function : str
        The function that computes it: a public name of `judgestats.stats`, or
        ``module:name`` within `judgestats.stats`.
    symbol : str
        As a formula or the APA manual writes it; empty: the heading.
    low, high : float
        The range that it can have.
    nothing : float
        Its value under the null hypothesis, NaN where that is not fixed.
    better : {"higher", "lower", "nothing", "none"}
        Which end speaks for a judge. Of ``nothing`` a departure from `nothing` to either side
        speaks against one, so that a bound from above holds its size; ``none`` has no direction.
    needs : Needs, optional
        The data from which an audit computes it; None: no audit does by this declaration.
    options : mapping
        Arguments of the function; ``{...}`` stands for an option of the plan.
    audited : str
        Function, as `function`, that an audit calls instead; empty: `function`.
    draws : int
        Resamples, and at most this many permutations, where each fits a model again; 0: the plan's.
    name : str
        In ids of records, columns and metrics of an audit; empty: the key.
    record : str
        What the ids of its records begin with; empty: made from `needs` and `name`.
    title : str
        Of an audit's record; empty: the heading.
    primary : bool
        Whether an audit's record is primary, and so described in a headline.
    metric : str
        Of a condition; empty: made from `needs` and `name`.
    metrics : tuple of str
        Further metrics that are this quantity.
    aliases : tuple of str
        Further names that `check` accepts.
    says : str
        Clause of an audit's sentence, ``{}`` for the number.
    screen : Screen, optional
        Its row on the screen of an audit.
    reference : tuple of str
        Data set and entry of ``tests/reference/reference.json`` that it is validated against.
    """

    key: str
    heading: str
    unit: str
    glossary: str
    function: str
    symbol: str = ""
    low: float = -math.inf
    high: float = math.inf
    nothing: float = math.nan
    better: Direction = field(kw_only=True)
    needs: Needs | None = field(default=None, kw_only=True)
    options: Mapping[str, str | bool] = field(default_factory=dict, kw_only=True)
    audited: str = field(default="", kw_only=True)
    draws: int = field(default=0, kw_only=True)
    name: str = field(default="", kw_only=True)
    record: str = field(default="", kw_only=True)
    title: str = field(default="", kw_only=True)
    primary: bool = field(default=False, kw_only=True)
    metric: str = field(default="", kw_only=True)
    metrics: tuple[str, ...] = field(default=(), kw_only=True)
    aliases: tuple[str, ...] = field(default=(), kw_only=True)
    says: str = field(default="", kw_only=True)
    screen: Screen | None = field(default=None, kw_only=True)
    reference: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        name = self.name or self.key
        group = _GROUPS.get(self.needs.kind, "people") if self.needs else ""
        given = {
            "name": name,
            "record": self.record or (f"{group}.{name}" if group else f"condition.{self.key}"),
            "metric": self.metric or (f"{group}/{name}" if group else ""),
        }
        for field_name, value in given.items():
            object.__setattr__(self, field_name, value)

    @property
    def bounded(self) -> bool:
        """Whether it cannot exceed 1, and so is written without a leading zero."""
        return self.high <= 1

    @property
    def is_ratio(self) -> bool:
        """Whether it is compared on the log scale, 1 being no difference."""
        return self.unit == "ratio"


share = partial(Quantity, unit="probability", low=0.0, high=1.0, better="none")
good_share = partial(share, better="higher")
bad_share = partial(share, better="lower")
coefficient = partial(
    Quantity, unit="coefficient", low=-1.0, high=1.0, nothing=0.0, better="higher"
)
change = partial(
    Quantity, unit="probability difference", low=-1.0, high=1.0, nothing=0.0, better="none"
)
points = partial(Quantity, unit="points", better="none")
shift = partial(points, nothing=0.0)
squares = partial(Quantity, unit="squared points", low=0.0, better="none")
ratio = partial(Quantity, unit="ratio", low=0.0, nothing=1.0, better="none")
logits = partial(Quantity, unit="logits", better="none")
number = partial(Quantity, unit="number", better="none")
count = partial(Quantity, unit="count", low=0.0, better="none")
"""Kinds of numbers: each fixes the unit, the range, and the value under the null hypothesis."""


@dataclass(frozen=True)
class TestKind:
    """A test: its machine name, its name for a reader, and the public function that computes it.

    `found` is the word of a report for a subject with a significant result.
    """

    __test__ = False  # pytest must not collect it

    key: str
    heading: str
    function: str
    found: str = "differs"
