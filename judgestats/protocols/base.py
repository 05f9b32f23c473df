"""Contract of a protocol, and the scale of scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

from judgestats.errors import InputError
from judgestats.items.records import Item


class Status(StrEnum):
    """What became of one judgment. Only ``OK`` carries a verdict; the others are results too."""

    OK = "ok"
    UNPARSEABLE = "unparseable"
    AMBIGUOUS = "ambiguous"
    OUT_OF_SCALE = "out_of_scale"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    FAILED = "failed"
    INVALID = "invalid_condition"
    NOT_APPLICABLE = "not_applicable"
    MISSING = "missing"


NO_REPLY = frozenset({Status.FAILED, Status.INVALID})
"""Of a judgment that was not answered, or never asked: there is nothing that could be read."""
NOT_UNPARSED = (*(s.value for s in NO_REPLY), Status.NOT_APPLICABLE.value)
"""Of judgments without a verdict that are not unparsed replies."""


class ReplyMode(StrEnum):
    """How the verdict is asked for, best first; what a judge does not support falls to the next."""

    JSON_SCHEMA = "json_schema"
    TOOL = "tool"
    TEXT = "text"
    FUNCTION = "function"
    """A tool in the API's legacy fields ``functions`` and ``function_call``; never fallen to."""
    LOGPROBS = "logprobs"
    """Plain text, with the probabilities of its tokens asked for; never fallen to."""


WRITTEN_MODES = (ReplyMode.JSON_SCHEMA, ReplyMode.TOOL, ReplyMode.TEXT)
"""Modes that a protocol has words for; those of the others are the tool's and plain text's."""


@dataclass(frozen=True, kw_only=True)
class ReplySchema:
    """A JSON schema by name; also used as the parameters of a tool (function) of that name."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Unit:
    """The thing judged once per condition and replication: the block of every paired test.

    `shown` are indices into ``item.responses`` in the order in which they are shown; `order` is a
    label of that order (empty where there is only one).
    """

    item_id: str
    cluster: str
    item: Item
    shown: tuple[int, ...]
    order: str = ""
    category: str = ""

    @classmethod
    def of(cls, item: Item, item_id: str, shown: tuple[int, ...], order: str = "") -> Unit:
        """The unit that shows some responses of an item, with its cluster and category."""
        return cls(
            item_id=item_id,
            cluster=item.cluster,
            item=item,
            shown=shown,
            order=order,
            category=item.category,
        )


@dataclass(frozen=True, kw_only=True)
class Prompted:
    """One prompt, ready to be sent.

    `prompt_sha` is the first 12 hex digits of the SHA-256 of the prompt *template's* text;
    `schema` is None in text mode. `instruction` is what the prompt says on the form of the reply,
    for the record; empty where it says nothing. `functions` replace the schema where a study's own
    request is sent to the byte.
    """

    messages: tuple[Mapping[str, str], ...]
    mode: ReplyMode
    prompt_sha: str
    schema: ReplySchema | None = None
    instruction: str = ""
    functions: tuple[Mapping[str, Any], ...] = ()


_ASKED_AS = {ReplyMode.LOGPROBS: ReplyMode.TEXT, ReplyMode.FUNCTION: ReplyMode.TOOL}


def prompted_in(mode: ReplyMode, write: Callable[[ReplyMode], Prompted]) -> Prompted:
    """A prompt in a reply mode; with log-probabilities it is that of plain text."""
    return replace(write(_ASKED_AS[mode]), mode=mode) if mode in _ASKED_AS else write(mode)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a reply says: a score or a choice, or the reason why it says neither."""

    status: Status
    score: float | None = None
    choice: str | None = None
    explanation: str = ""
    reason: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


class JudgingProtocol(Protocol):
    """What every protocol offers (a structural type: no base class is needed)."""

    @property
    def name(self) -> str:
        """What it is called in a run."""

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The units to judge, in a stable order."""

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt for one unit in one of `WRITTEN_MODES` (`prompted_in` knows the other)."""

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict in a reply's text (the tool's arguments, in tool mode)."""


MOST_POINTS = 10_000
"""Points of a scale, at most."""


@dataclass(frozen=True)
class Scale:
    """Whole numbers from `low` to `high`, both included.

    Examples
    --------
    >>> Scale.parse("1-5")
    Scale(low=1, high=5)
    >>> Scale(1, 10).holds(11)
    False
    """

    low: int = 1
    high: int = 10

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise InputError(f"Scale: the lowest score must be below the highest, got {self}.")

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read ``low-high``, such as ``1-10`` or ``0-100``, of at most 10,000 points."""
        parts = text.strip().split("-")
        if len(parts) != 2 or not all(p.strip().isdigit() for p in parts):
            raise InputError(f"scale: expected two whole numbers, e.g. scale=1-10, got {text!r}.")
        scale = cls(int(parts[0]), int(parts[1]))
        if (points := scale.high - scale.low + 1) > MOST_POINTS:
            raise InputError(f"scale={scale} has {points:,} points, more than {MOST_POINTS:,}.")
        return scale

    def holds(self, score: float | Decimal) -> bool:
        """Whether a score is on the scale (range only: averages may have decimals)."""
        return self.low <= score <= self.high

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"
