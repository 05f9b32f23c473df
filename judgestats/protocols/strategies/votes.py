"""Votes of several judgments, and plans before verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from judgestats.protocols.base import Prompted, ReplyMode, Unit
from judgestats.protocols.strategies.base import (
    FINAL,
    VOTES,
    Call,
    CallKey,
    PairStrategy,
    Settled,
    StageReply,
    Wording,
    failed_verdict,
)
from judgestats.protocols.strategies.key_points import bounded, framed
from judgestats.protocols.template import PromptTemplate


def _votes(wording: Wording, unit: Unit, k: int) -> tuple[Call, ...]:
    """The first k votes on a pair in one order; strategies and values of k share them."""
    build = partial(wording.ask, "vanilla", unit)
    return tuple(
        Call(stage=f"vote-{i + 1:02d}", unit=unit, build=build, pool=VOTES, raised=True)
        for i in range(k)
    )


def with_verdict(reply: StageReply) -> str:
    """A judgment's text with its verdict, which a structured reply keeps apart from its text."""
    place = str(reply.verdict.extra.get("position", ""))
    letter = {"first": "Assistant A is better", "second": "Assistant B is better", "tie": "a tie"}
    verdict = f"\nVerdict: {letter[place]}." if place in letter else ""
    return f"{reply.text.strip()}{verdict}"


@dataclass(frozen=True, kw_only=True)
class Majority(PairStrategy):
    """The choice that most of k judgments at the raised temperature make.

    Judgments that could not be read have no vote; where none can be read there is no verdict. An
    even split is decided by the first vote, which is as good as any: the votes are exchangeable.

    Parameters
    ----------
    k : int
    wording : Wording
    """

    k: int

    @property
    def name(self) -> str:
        """As in ``majority@16``."""
        return f"majority@{self.k}"

    def calls(
        self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0
    ) -> tuple[Call, ...]:
        """The votes."""
        del heard, draw
        return _votes(self.wording, unit, self.k)

    def settle(self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0) -> Settled:
        """The majority of the votes that could be read."""
        replies = [heard[c.key] for c in self.calls(unit, heard, draw)]
        votes = [h.verdict for h in replies if h.read]
        if not votes:
            return Settled(
                verdict=failed_verdict(f"none of the {self.k} votes could be read"),
                wanted=self.k,
                left_out=len(replies),
            )
        counts = Counter(v.choice for v in votes)
        top = max(counts.values())
        winner = next(v for v in votes if counts[v.choice] == top)
        even = sum(n == top for n in counts.values()) > 1
        return Settled(
            verdict=replace(
                winner, extra={**winner.extra, "votes": top, "even_split": str(even).lower()}
            ),
            wanted=self.k,
            used=len(votes),
            left_out=len(replies) - len(votes),
        )

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""
        return self.wording.templates("vanilla")

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt of a vote: there is no final call."""
        return self.wording.ask("vanilla", unit, mode)


@dataclass(frozen=True, kw_only=True)
class Aggregate(PairStrategy):
    """k judgments at the raised temperature, fed back for one verdict.

    Judgments that could not be read are left out and counted; where none is left no verdict is
    asked for.

    Parameters
    ----------
    k : int
    wording : Wording
    """

    k: int

    @property
    def name(self) -> str:
        """As in ``aggregate@16``."""
        return f"aggregate@{self.k}"

    def calls(
        self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0
    ) -> tuple[Call, ...]:
        """The votes; then, if any could be read, the verdict."""
        del draw
        votes = _votes(self.wording, unit, self.k)
        replies = [heard[c.key] for c in votes if c.key in heard]
        if len(replies) < len(votes) or not any(h.read for h in replies):
            return votes
        return (*votes, self._final(unit, replies))

    def _final(self, unit: Unit, replies: list[StageReply]) -> Call:
        texts = tuple(with_verdict(h) for h in replies if h.read)
        return Call(stage=FINAL, unit=unit, build=partial(self._ask, unit, texts))

    def _ask(self, unit: Unit, texts: tuple[str, ...], mode: ReplyMode) -> Prompted:
        blocks = [(f"Judgment {i}", "", text) for i, text in enumerate(texts, start=1)]
        shown, _ = framed(blocks, limit=self.wording.limit)
        return self.wording.ask("judge_aggregate", unit, mode, shown)

    def settle(self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0) -> Settled:
        """What it said, or why it was not asked."""
        del draw
        replies = [heard[c.key] for c in _votes(self.wording, unit, self.k)]
        texts = [with_verdict(h) for h in replies if h.read]
        left = len(replies) - len(texts)
        if not texts:
            why = f"none of the {self.k} judgments to be aggregated could be read"
            return Settled(verdict=failed_verdict(why), wanted=self.k, left_out=left)
        return Settled(
            verdict=heard[self._final(unit, []).key].verdict,
            wanted=self.k,
            used=len(texts),
            left_out=left,
            cut=sum(bounded(text, limit=self.wording.limit)[1] for text in texts),
        )

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""
        return self.wording.templates("vanilla", "judge_aggregate")

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The final prompt with no judgment in it."""
        return self._ask(unit, (), mode)


@dataclass(frozen=True, kw_only=True)
class EvalPlan(PairStrategy):
    """Write a plan for the question (once for all its pairs and orders), then follow it.

    A plan that could not be read, or was refused or cut, gives no verdict: without it this would be
    another strategy.

    Parameters
    ----------
    wording : Wording
    """

    name: str = "plan"
    k: int = 0

    def calls(
        self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0
    ) -> tuple[Call, ...]:
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

    def settle(self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0) -> Settled:
        """What it said, or why it was not asked."""
        del draw
        plan = heard[self._plan(unit).key]
        if not plan.read:
            why = f"there is no plan ({plan.verdict.status.value}), so no verdict was asked for"
            return Settled(verdict=failed_verdict(why), left_out=1)
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
