"""Strategies of one call: vanilla, a long explanation, sixteen criteria."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from judgestats.protocols.base import Prompted, ReplyMode, Unit
from judgestats.protocols.strategies.base import FINAL, Call, CallKey, Heard, Settled
from judgestats.protocols.strategies.wording import Worded
from judgestats.protocols.template import PromptTemplate

ONE_CALL: Mapping[str, str] = {
    "vanilla": "vanilla",
    "long": "judge_long",
    "criteria": "judge_criteria",
}
"""Strategies of one call, and their prompts."""


@dataclass(frozen=True, kw_only=True)
class OneCall(Worded):
    """One judgment, one verdict; how it is asked for is the prompt's doing.

    Parameters
    ----------
    name : {"vanilla", "long", "criteria"}
    wording : Wording
    """

    name: str = "vanilla"
    k: int = 0

    def calls(self, unit: Unit, heard: Mapping[CallKey, Heard], draw: int = 0) -> tuple[Call, ...]:
        """The one call."""
        del heard, draw
        return (self._final(unit),)

    def _final(self, unit: Unit) -> Call:
        return Call(stage=FINAL, unit=unit, build=partial(self.prompt, unit))

    def settle(self, unit: Unit, heard: Mapping[CallKey, Heard], draw: int = 0) -> Settled:
        """What it said."""
        del draw
        return Settled(verdict=heard[self._final(unit).key].verdict)

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""
        return self.wording.templates(ONE_CALL[self.name])

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt."""
        return self.wording.ask(ONE_CALL[self.name], unit, mode)
