"""What a reply may be asked for, and one reading of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from judgestats.protocols.base import Status
from judgestats.protocols.reading.plain import Plain


class Rank(IntEnum):
    """How much a phrasing says that this is the verdict."""

    DOUBT = -1
    """A label in a clause that takes it back: it decides nothing and can contradict."""
    ASIDE = 0
    """A fraction of some other scale: counts where nothing else does."""
    OTHER = 1
    STATED = 2
    """Prose after "overall" or "therefore"."""
    FINAL = 3
    MARK = 4
    """A closed mark, ``[[8]]``: final, whatever words stand around it."""


class Scope(IntEnum):
    """What a comparison speaks of."""

    OPEN = 0
    PART = 1
    """One respect only: "better in style"."""
    WHOLE = 2


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One place of a reply that gives a value, or that tries to.

    Attributes
    ----------
    status : Status
        ``ok``; or what is wrong with the value.
    value : str
    start, end : int
    rank : Rank
    label : bool
        It follows a label and a separator, so that a negation before it leaves a doubt.
    scope : Scope
    shown : str
        What stands there, for the reason.
    """

    status: Status
    value: str = ""
    start: int = 0
    end: int = 0
    rank: Rank = Rank.OTHER
    label: bool = False
    scope: Scope = Scope.OPEN
    shown: str = ""

    @property
    def says(self) -> tuple[Status, str]:
        """What must be the same for two readings to agree."""
        return (self.status, self.value)


class Form(Protocol):
    """What is asked for: a score, a letter, an option, a word."""

    @property
    def field(self) -> str:
        """The key of the JSON object asked for."""

    def value(self, value: Any) -> Reading:
        """The reading of a JSON value."""

    def mark(self, inside: str) -> Reading | None:
        """The reading of what stands in ``[[...]]`` or a box; None for a placeholder."""

    def bare(self, text: str) -> Reading | None:
        """The reading of a text that is nothing but the verdict."""

    def readings(self, plain: Plain) -> Iterator[Reading]:
        """All other readings of a text."""

    def revised(self, text: str, start: int, end: int) -> Reading | None:
        """Another verdict that corrects the one before `start` ("no, 7"), not past `end`."""
