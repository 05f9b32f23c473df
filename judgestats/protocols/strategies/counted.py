"""A strategy whose explanation's key points are counted afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from judgestats.errors import InputError
from judgestats.items.schema import Item
from judgestats.protocols.base import JudgingProtocol, Prompted, ReplyMode, Unit, Verdict
from judgestats.protocols.strategies.base import Call, CallKey, Heard, Settled, Strategy
from judgestats.protocols.strategies.key_points import KeyPoints
from judgestats.protocols.strategies.wording import Wording
from judgestats.protocols.template import PromptTemplate


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A strategy, and one further call that lists the key points of its explanation.

    The count changes neither verdict nor cost of the strategy. Points are counted in the first
    repetition only, on the same pairs for every strategy.

    Parameters
    ----------
    strategy : Strategy
    one_in : int
        One pair and order in so many, by the hash of its name; 1 counts on all.
    wording : Wording
    """

    strategy: Strategy
    one_in: int
    wording: Wording

    def __post_init__(self) -> None:
        if self.one_in < 1:
            raise InputError(f"Counted: one_in must be at least 1, got {self.one_in}.")

    @property
    def name(self) -> str:
        """The strategy's own."""
        return self.strategy.name

    @property
    def k(self) -> int:
        """The strategy's own."""
        return self.strategy.k

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to be judged."""
        return self.strategy.units(items)

    def calls(self, unit: Unit, heard: Mapping[CallKey, Heard], draw: int = 0) -> tuple[Call, ...]:
        """The strategy's calls; then the count, where there is an explanation to count in."""
        calls = self.strategy.calls(unit, heard, draw)
        name = f"{unit.item_id}\0{unit.order}".encode("utf-8", "surrogatepass")
        if draw or int.from_bytes(sha256(name).digest()[:8], "big") % self.one_in:
            return calls
        if any(call.key not in heard for call in calls):
            return calls
        verdict = self.strategy.settle(unit, heard, draw).verdict
        if not verdict.explanation.strip() or not (verdict.choice or verdict.score):
            return calls
        return (*calls, self._count(unit, verdict.explanation))

    def _count(self, unit: Unit, explanation: str) -> Call:
        build = partial(_ask, self.wording.points, explanation, self.wording.limit)
        return Call(stage="points", unit=unit, build=build)

    def settle(self, unit: Unit, heard: Mapping[CallKey, Heard], draw: int = 0) -> Settled:
        """The strategy's verdict, with the number of points."""
        settled = self.strategy.settle(unit, heard, draw)
        reply = heard.get(self._count(unit, "").key)
        score = reply.verdict.score if reply is not None and reply.read else None
        return replace(settled, points=math.nan if score is None else score)

    def at_stage(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""
        return self.strategy.at_stage(stage)

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The strategy's prompt texts, and that of the count."""
        return (*self.strategy.templates, *self.wording.templates("key_points"))

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The strategy's final prompt."""
        return self.strategy.prompt(unit, mode)

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict in a reply to the strategy's final prompt."""
        return self.strategy.read(unit, mode, text, finish_reason=finish_reason)


def _ask(points: KeyPoints, explanation: str, limit: int, mode: ReplyMode) -> Prompted:
    return points.of(explanation, limit=limit, mode=mode)
