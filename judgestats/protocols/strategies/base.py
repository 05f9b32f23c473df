"""Contract, wording, and one-call judging strategies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Protocol

from judgestats.errors import InputError, one_of
from judgestats.items.records import Item
from judgestats.protocols.base import JudgingProtocol, Prompted, ReplyMode, Status, Unit, Verdict
from judgestats.protocols.explained import Writing
from judgestats.protocols.pairwise import ORDERS, Pairwise
from judgestats.protocols.strategies.key_points import MAX_INSERTED, KeyPoints
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
        Calls of a pool are shared by all strategies of a judge: requested once, used by each.
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
        """What distinguishes it from other calls of the same judge and replicate."""
        return (self.pool, self.unit.item_id, self.unit.order, self.stage)


@dataclass(frozen=True, kw_only=True)
class StageReply:
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
        Judgments planned before the verdict, and those that were used.
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
        """The pairs to judge, in a stable order."""

    def calls(
        self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0
    ) -> tuple[Call, ...]:
        """The calls known to be needed for a pair; `draw` numbers repetitions of the pipeline."""

    def settle(self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0) -> Settled:
        """The verdict on a pair, once all calls are heard."""

    def stage_protocol(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The final prompt with nothing before it: how the strategy's last call looks."""

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict in a reply to the final prompt."""


def failed_verdict(reason: str, **extra: Any) -> Verdict:
    """The verdict of a pipeline whose last call was never made, with the reason.

    Examples
    --------
    >>> failed_verdict("no plan").status.value
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


_USUAL = "helpfulness, relevance, accuracy, depth, creativity and level of detail"
ASPECTS: Mapping[str, str] = MappingProxyType(
    {"helpsteer2": "helpfulness, correctness, coherence, complexity and verbosity"}
)
"""What a judge is instructed to consider, by set, where a set has its own aspects."""
ORDER_RULES = ("both", "balanced", "ab")

STAGE_PROMPTS: Mapping[str, str] = MappingProxyType(
    {
        "vanilla": "judge_vanilla",
        "long": "judge_long",
        "criteria": "judge_criteria",
        "plan": "evaluation_plan",
        "planned": "judge_plan",
        "aggregate": "judge_aggregate",
        "crowd": "judge_crowd",
        "removal": "outcome_removal",
        "points": "key_points",
    }
)
"""What each stage is called where a user gives a prompt for it, and the bundled one."""
_OF_JUDGMENTS = {"planned", "aggregate", "crowd", "removal", "points"}
_STAGE_OF = {bundled: stage for stage, bundled in STAGE_PROMPTS.items()}

_WRITTEN = {"plan": ("evaluation_plan", "plan"), "removal": ("outcome_removal", "analysis")}


@cache
def _template(name: str, append: bool = True) -> PromptTemplate:
    return PromptTemplate.load(name, append=append)


@dataclass(frozen=True, kw_only=True)
class Wording:
    """How pairs are asked about, whatever the strategy.

    Parameters
    ----------
    ties : bool
        Whether a tie may be named. Sets whose labels have no ties ask without.
    orders : {"both", "balanced", "ab"}
        A pair is shown in both orders; in one, the earlier response first in half of the pairs; in
        one, the earlier response always first. The order shown is recorded with every judgment.
    labelled_only : bool
        Only pairs with a label.
    vanilla : str
        The vanilla prompt: a bundled one by name, or a file of the user's.
    append : bool
        Whether the reply instruction ends a user's prompt that has no place for it.
    own : tuple of (stage, file)
        Prompts of the user's for stages of `STAGE_PROMPTS`.
    aspects : mapping of set to text
        Replaces what a judge is instructed to consider; by the item's category in lower case.
    limit : int
        Characters of a judgment that a later prompt shows.

    Examples
    --------
    >>> Wording().comparison("judge_long").template.name
    'judge_long'
    """

    ties: bool = False
    orders: str = "both"
    labelled_only: bool = True
    vanilla: str = "judge_vanilla"
    append: bool = True
    own: tuple[tuple[str, str], ...] = ()
    aspects: Mapping[str, str] = field(default_factory=lambda: ASPECTS, hash=False)
    limit: int = MAX_INSERTED

    def __post_init__(self) -> None:
        one_of("Wording", "orders", self.orders, ORDER_RULES)
        if not 200 <= self.limit <= 100_000:
            raise InputError(
                f"Wording: limit must be 200 to 100,000 characters of a judgment, got {self.limit}."
            )
        for stage, _ in self.own:
            if stage not in STAGE_PROMPTS:
                raise InputError(
                    f"prompts: there is no stage {stage!r}. There are: {', '.join(STAGE_PROMPTS)}."
                )
            template = self._prompt(STAGE_PROMPTS[stage])
            if stage in _OF_JUDGMENTS:
                template.require({"judgments"}, offered={"judgments", "question", "reply"})
            if stage not in {"plan", "removal", "points"}:
                self.comparison(STAGE_PROMPTS[stage])
        self.comparison("vanilla")  # a prompt that lacks a placeholder is told at once

    def comparison(self, prompt: str) -> Pairwise:
        """The comparison that a prompt asks for; explanation first, as the study does."""
        return Pairwise(
            template=self._prompt(prompt),
            reasoning="before",
            ties=self.ties,
            orders=ORDERS,
            labelled_only=self.labelled_only,
        )

    def templates(self, *prompts: str) -> tuple[PromptTemplate, ...]:
        """The texts of some prompts, for the record."""
        return tuple(self._prompt(name) for name in prompts)

    def _prompt(self, name: str) -> PromptTemplate:
        stage = _STAGE_OF.get(name, name)
        given = dict(self.own).get(stage) or (self.vanilla if stage == "vanilla" else name)
        return _template(given, self.append)

    def ask(
        self,
        prompt: str,
        unit: Unit,
        mode: ReplyMode,
        judgments: str = "",
        *,
        pools: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
    ) -> Prompted:
        """A comparison's prompt, with earlier judgments (already framed) inserted."""
        del pools  # a study's own prompt words them itself
        return self.comparison(prompt).prompt(
            unit, mode, more={"aspects": self.aspects_of(unit), "judgments": judgments}
        )

    def stage_of(self, template: PromptTemplate) -> str:
        """The stage that a text is for."""
        return next(s for s, name in STAGE_PROMPTS.items() if self._prompt(name) == template)

    def bare(self, stage: str, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt of a stage with no judgment or plan in it."""
        if stage in _WRITTEN:
            aspects = {"aspects": self.aspects_of(unit)}
            return self.writing(stage).prompt(unit, mode, more=aspects)
        if stage == "points":
            return self.points.prompt(unit, mode)
        return self.ask(STAGE_PROMPTS[stage], unit, mode)

    def aspects_of(self, unit: Unit) -> str:
        """What a judge of a pair is instructed to consider: the aspects of its set."""
        return self.aspects.get(unit.category.lower(), _USUAL)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to judge."""
        units = self.comparison("vanilla").units(items)
        if self.orders == "both":
            return units
        shown = dict.fromkeys((u.item_id for u in units), "ab")
        if self.orders == "balanced":
            # round the pairs in the order of a hash, so that the order says nothing of the pair
            drawn = sorted(shown, key=lambda name: sha256(name.encode("utf-8", "replace")).digest())
            shown = {name: ORDERS[place % 2] for place, name in enumerate(drawn)}
        return tuple(u for u in units if u.order == shown[u.item_id])

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict of any comparison: all are read alike."""
        return self.comparison("vanilla").read(unit, mode, text, finish_reason=finish_reason)

    def writing(self, kind: str) -> Writing:
        """The text that a stage asks for: a plan, or a judgment without its verdict."""
        prompt, what = _WRITTEN[kind]
        return Writing(name=kind, template=self._prompt(prompt), what=what)

    @property
    def points(self) -> KeyPoints:
        """How the key points of an explanation are asked for."""
        return KeyPoints(template=self._prompt("key_points"))

    def stage_protocol(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""
        kind = stage_kind(stage)
        if kind in _WRITTEN:
            return self.writing(kind)
        if kind == "points":
            return self.points
        return self.comparison("vanilla")


@dataclass(frozen=True, kw_only=True)
class PairStrategy:
    """What strategies have in common: their pairs, and who reads their replies.

    Parameters
    ----------
    wording : Wording
    """

    wording: Wording = field(default_factory=Wording)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to judge."""
        return self.wording.units(items)

    def stage_protocol(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""
        return self.wording.stage_protocol(stage)

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict in a reply to a comparison."""
        return self.wording.read(unit, mode, text, finish_reason=finish_reason)


ONE_CALL: Mapping[str, str] = {
    "vanilla": "vanilla",
    "long": "judge_long",
    "criteria": "judge_criteria",
}
"""Strategies of one call, and their prompts."""


@dataclass(frozen=True, kw_only=True)
class OneCall(PairStrategy):
    """One judgment, one verdict; how it is asked for is the prompt's doing.

    Parameters
    ----------
    name : {"vanilla", "long", "criteria"}
    wording : Wording
    """

    name: str = "vanilla"
    k: int = 0

    def calls(
        self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0
    ) -> tuple[Call, ...]:
        """The one call."""
        del heard, draw
        return (self._final(unit),)

    def _final(self, unit: Unit) -> Call:
        return Call(stage=FINAL, unit=unit, build=partial(self.prompt, unit))

    def settle(self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0) -> Settled:
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


@dataclass(frozen=True, kw_only=True)
class KeyPointStrategy:
    """A strategy, and one further call that lists the key points of its explanation.

    The count changes neither verdict nor cost of the strategy. Points are counted in the first
    repetition only, on the same pairs for every strategy.

    Parameters
    ----------
    strategy : Strategy
    one_in : int
        Counts on one in this many pairs and orders, by the hash of its name; 1 counts on all.
    wording : Wording
    """

    strategy: Strategy
    one_in: int
    wording: Wording

    def __post_init__(self) -> None:
        if self.one_in < 1:
            raise InputError(f"KeyPointStrategy: one_in must be at least 1, got {self.one_in}.")

    @property
    def name(self) -> str:
        """The strategy's own."""
        return self.strategy.name

    @property
    def k(self) -> int:
        """The strategy's own."""
        return self.strategy.k

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to judge."""
        return self.strategy.units(items)

    def calls(
        self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0
    ) -> tuple[Call, ...]:
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

    def settle(self, unit: Unit, heard: Mapping[CallKey, StageReply], draw: int = 0) -> Settled:
        """The strategy's verdict, with the number of points."""
        settled = self.strategy.settle(unit, heard, draw)
        reply = heard.get(self._count(unit, "").key)
        score = reply.verdict.score if reply is not None and reply.read else None
        return replace(settled, points=math.nan if score is None else score)

    def stage_protocol(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""
        return self.strategy.stage_protocol(stage)

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
    return points.build_prompt(explanation, limit=limit, mode=mode)
