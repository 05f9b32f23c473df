"""The contract of a judging strategy: calls that follow from one another, and one verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from judgestats.items.schema import Item
from judgestats.protocols.base import JudgingProtocol, Prompted, ReplyMode, Status, Unit, Verdict
from judgestats.protocols.template import PromptTemplate

FINAL = "final"
CROWD = "crowd"
"""Pool of judgments of a candidate against a crowd response, and of these without their verdict."""
VOTES = "votes"
"""Pool of repeated vanilla judgments at the raised temperature."""

CallKey = tuple[str, str, str, str]
"""Pool (empty: the strategy's own), thing judged, order, stage."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call that a strategy needs.

    Attributes
    ----------
    stage : str
        ``final``, ``plan``, ``crowd``, ``removal``, ``vote-01`` ..., ``points``.
    unit : Unit
        What is judged by it: the pair itself, or a candidate and a crowd response.
    build : callable
        Makes the prompt for a reply mode.
    pool : str
        Calls of a pool are shared by all strategies of a judge: asked once, used by each.
    raised : bool
        Whether it is asked at the raised temperature.
    """

    stage: str
    unit: Unit
    build: Callable[[ReplyMode], Prompted] = field(compare=False, repr=False)
    pool: str = ""
    raised: bool = False

    @cached_property
    def key(self) -> CallKey:
        """What tells it from other calls of the same judge and replicate."""
        return (self.pool, self.unit.item_id, self.unit.order, self.stage)


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What came back from a call."""

    verdict: Verdict

    @property
    def read(self) -> bool:
        """Whether it could be read."""
        return self.verdict.status is Status.OK

    @property
    def text(self) -> str:
        """Its explanation, or the text that was asked for."""
        return self.verdict.explanation


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What a strategy says in the end about one pair.

    Attributes
    ----------
    verdict : Verdict
        Never made up: where the calls before it failed it has a status and a reason.
    wanted, used : int
        Judgments that were to stand before the verdict, and those that did.
    preferred : int
        Of those used, how many are of the selected kind (losses, wins ...).
    left_out : int
        Calls before the verdict that could not be read and were left out.
    cut : int
        Judgments that were shortened to the bound before they were shown.
    points : float
        Key points counted in its explanation; NaN where they were not.
    """

    verdict: Verdict
    wanted: int = 0
    used: int = 0
    preferred: int = 0
    left_out: int = 0
    cut: int = 0
    points: float = math.nan


class Strategy(Protocol):
    """What every strategy offers (a structural type: no base class is needed).

    `calls` is a pure function of what has been heard so far. It gives every call that the strategy
    is known to need at this point, those already answered included; when all of them are heard and
    it names no further one, `settle` gives the verdict.
    """

    @property
    def name(self) -> str:
        """As in ``cce-criticising@8``."""

    @property
    def k(self) -> int:
        """Judgments before the verdict; 0 where it is one call."""

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to be judged, in a stable order."""

    def calls(self, unit: Unit, heard: Mapping[CallKey, Heard], draw: int = 0) -> tuple[Call, ...]:
        """The calls known to be needed for a pair; `draw` numbers repetitions of the pipeline."""

    def settle(self, unit: Unit, heard: Mapping[CallKey, Heard], draw: int = 0) -> Settled:
        """The verdict on a pair, once all calls are heard."""

    def at_stage(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The final prompt with nothing before it: how the strategy's last call looks."""

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict in a reply to the final prompt."""


def not_asked(reason: str, **extra: Any) -> Verdict:
    """The verdict of a pipeline whose last call was never made, with the reason.

    Examples
    --------
    >>> not_asked("no plan").status.value
    'failed'
    """
    return Verdict(status=Status.FAILED, reason=reason, extra=extra)


def stage_kind(stage: str) -> str:
    """The kind of a stage: its name without a number.

    Examples
    --------
    >>> stage_kind("vote-03"), stage_kind("final")
    ('vote', 'final')
    """
    return stage.partition("-")[0]
