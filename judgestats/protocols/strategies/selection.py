"""Which crowd judgments of a candidate stand before the final verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from judgestats.protocols.base import Unit
from judgestats.protocols.strategies.base import Call, Heard

SELECTIONS = ("criticising", "praising", "balanced", "random")
"""Judgments in which the candidate loses; wins; both alike; whatever the outcome."""


@dataclass(frozen=True, kw_only=True)
class CrowdJudgment:
    """One judgment of a candidate against a crowd response, as it was heard."""

    call: Call
    candidate: int
    heard: Heard

    @property
    def outcome(self) -> str:
        """``won``, ``lost`` or ``tied`` as the candidate sees it; empty if it could not be read."""
        if not self.heard.read:
            return ""
        choice = self.heard.verdict.choice
        if choice == "tie":
            return "tied"
        shown = self.call.unit.shown
        return "won" if (choice == "a") == (self.candidate == min(shown)) else "lost"


def drawn(calls: Sequence[Call], *, seed: int, draw: int, pair: Unit) -> list[Call]:
    """Calls in a seeded order that hangs on pair, seed and repetition alone.

    The first of it are the draw for a small k, and stay in the draw for a larger one.
    """

    def place(call: Call) -> str:
        text = f"{seed}\0{draw}\0{pair.item_id}\0{call.unit.item_id}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    return sorted(calls, key=place)


def chosen(
    judgments: Sequence[CrowdJudgment], *, selection: str, count: int
) -> tuple[list[CrowdJudgment], int]:
    """The judgments of one candidate to be shown, at most `count`, and how many are of the kind.

    Where there are fewer of the kind than asked for, others fill the places in their drawn order:
    else the number of judgments shown would itself tell the judge who lost more often.

    Parameters
    ----------
    judgments : sequence of CrowdJudgment
        In their drawn order; those that could not be read are passed over.
    selection : {"criticising", "praising", "balanced", "random"}
    count : int

    Returns
    -------
    tuple of list and int
    """
    readable = [j for j in judgments if j.heard.read]
    if selection == "random":
        return readable[:count], len(readable[:count])
    lost = [j for j in readable if j.outcome == "lost"]
    won = [j for j in readable if j.outcome == "won"]
    if selection == "balanced":
        wanted = [*lost[: (count + 1) // 2], *won[: count // 2]]
    else:
        wanted = (lost if selection == "criticising" else won)[:count]
    taken = {id(j) for j in wanted}
    rest = [j for j in readable if id(j) not in taken]
    return [*wanted, *rest][:count], len(wanted)
