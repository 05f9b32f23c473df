"""Plan, then evaluate: a plan for judging this very question, then a verdict that follows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from judgestats.protocols.base import Prompted, ReplyMode, Unit
from judgestats.protocols.strategies.base import FINAL, Call, CallKey, Heard, Settled, not_asked
from judgestats.protocols.strategies.insert import bounded, framed
from judgestats.protocols.strategies.wording import Worded
from judgestats.protocols.template import PromptTemplate


@dataclass(frozen=True, kw_only=True)
class EvalPlan(Worded):
    """Write a plan for the question (once for all its pairs and orders), then follow it.

    A plan that could not be read, or was refused or cut, gives no verdict: without it this would be
    another strategy.

    Parameters
    ----------
    wording : Wording
    """

    name: str = "plan"
    k: int = 0

    def calls(self, unit: Unit, heard: Mapping[CallKey, Heard], draw: int = 0) -> tuple[Call, ...]:
        """The plan; then, if there is one, the verdict."""
        del draw
        plan = self._plan(unit)
        reply = heard.get(plan.key)
        if reply is None or not reply.read:
            return (plan,)
        return (plan, self._final(unit, reply.text))

    def _plan(self, unit: Unit) -> Call:
        item = unit.item
        about = Unit(
            item_id=item.id, cluster=unit.cluster, item=item, shown=(), category=unit.category
        )
        more = {"aspects": self.wording.aspects_of(unit)}
        build = partial(self.wording.writing("plan").prompt, about, more=more)
        return Call(stage="plan", unit=about, build=build)

    def _final(self, unit: Unit, plan: str) -> Call:
        shown, _ = framed([("Plan", "", plan)], limit=self.wording.limit)
        return Call(stage=FINAL, unit=unit, build=partial(self._ask, unit, shown))

    def _ask(self, unit: Unit, shown: str, mode: ReplyMode) -> Prompted:
        return self.wording.ask("judge_plan", unit, mode, shown)

    def settle(self, unit: Unit, heard: Mapping[CallKey, Heard], draw: int = 0) -> Settled:
        """What it said, or why it was not asked."""
        del draw
        plan = heard[self._plan(unit).key]
        if not plan.read:
            why = f"there is no plan ({plan.verdict.status.value}), so no verdict was asked for"
            return Settled(verdict=not_asked(why), left_out=1)
        cut = bounded(plan.text, limit=self.wording.limit)[1]
        final = heard[self._final(unit, "").key]
        return Settled(verdict=final.verdict, cut=int(cut))

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""
        return self.wording.templates("evaluation_plan", "judge_plan")

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The final prompt without a plan in it."""
        return self._ask(unit, "", mode)
