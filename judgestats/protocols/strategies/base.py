"""Judging strategies: their contract, key points, one call, votes, and plans before verdicts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from typing import Any, ClassVar, Protocol

from judgestats.errors import InputError, one_of
from judgestats.items.records import Item
from judgestats.protocols.base import (
    JudgingProtocol,
    Prompted,
    ReplyMode,
    ReplySchema,
    Status,
    Unit,
    Verdict,
)
from judgestats.protocols.explained import Writing, object_schema, prompted
from judgestats.protocols.pairwise import ORDERS, Pairwise
from judgestats.protocols.replies import no_verdict, reply_object, strip_reasoning
from judgestats.protocols.replies.decision import Object, is_unusable
from judgestats.protocols.template import PromptTemplate, framed_text, seal_of

MAX_INSERTED = 8_000
"""Characters of one judgment that a further prompt shows; what is cut is counted."""

_CUT = "\n[... shortened here ...]"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def bounded(text: str, *, limit: int = MAX_INSERTED) -> tuple[str, bool]:
    """A text of at most this many characters (beginning and end are kept), and whether it was cut.

    Examples
    --------
    >>> bounded("short"), bounded("x" * 100, limit=50)[1]
    (('short', False), True)
    """
    text = text.strip()
    if len(text) <= limit:
        return text, False
    room = max(limit - len(_CUT) - 1, 2)
    head = room * 2 // 3
    return f"{text[:head]}{_CUT}\n{text[len(text) - (room - head) :]}", True


def framed(blocks: Iterable[tuple[str, str, str]], *, limit: int = MAX_INSERTED) -> tuple[str, int]:
    """Blocks of (name, our own line above, a judge's text) for a prompt, and how many were cut.

    Examples
    --------
    >>> print(framed([("Judgment 1", "", "B is shorter.")])[0])
    [The Start of Judgment 1]
    B is shorter.
    [The End of Judgment 1]
    """
    blocks = [(name, above, _CONTROL.sub(" ", text)) for name, above, text in blocks]
    seal = seal_of(text for _, _, text in blocks)
    parts, cut = [], 0
    for name, above, text in blocks:
        shown, shortened = bounded(text, limit=limit)
        cut += shortened
        parts.append("\n".join(filter(None, (above, framed_text(name, shown or "(empty)", seal)))))
    return "\n\n".join(parts), cut


_ASPECT = re.compile(r"^\s{0,3}(?:\d{1,3}[.)]|#{1,4}|\*\*)\s*\S", re.MULTILINE)
_POINT = re.compile(r"^\s*[-*\u2022]\s+\S", re.MULTILINE)
_MOST = 1_000


@dataclass(frozen=True, kw_only=True)
class KeyPoints:
    """Ask a model for the aspects and points of an explanation; the score is the number of points.

    Parameters
    ----------
    template : PromptTemplate

    Examples
    --------
    >>> reply = '{"aspects": [{"aspect": "accuracy", "points": ["A is right", "B is wrong"]}]}'
    >>> found = KeyPoints().read(None, ReplyMode.JSON_SCHEMA, reply)
    >>> found.score, found.extra["aspects"]
    (2.0, 1)
    """

    name: ClassVar[str] = "key_points"

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("key_points"))

    def units(self, items: object) -> tuple[Unit, ...]:
        """None: points are counted in the explanation of a verdict that was given before."""
        del items
        return ()

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_key_points``."""
        points = {"type": "array", "items": {"type": "string"}}
        aspect = object_schema({"aspect": {"type": "string"}, "points": points})
        return ReplySchema(
            name="submit_key_points",
            description="Submit the aspects and their key points.",
            schema=object_schema({"aspects": {"type": "array", "items": aspect}}),
        )

    def build_prompt(self, explanation: str, mode: ReplyMode) -> Prompted:
        """The prompt about one explanation."""
        return self._prompt(mode, framed([("Judgment", "", explanation)])[0])

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt with no explanation in it."""
        del unit  # the explanation says all that is needed
        return self._prompt(mode, "")

    def _prompt(self, mode: ReplyMode, judgments: str) -> Prompted:
        how = {
            ReplyMode.JSON_SCHEMA: 'Reply as a JSON object with the field "aspects".',
            ReplyMode.TOOL: "Call the tool submit_key_points.",
            ReplyMode.TEXT: "Reply with the key points only: each aspect as a numbered line, each "
            "point under it as a line that begins with a dash.",
        }[mode]
        values = {"judgments": judgments, "reply": how}
        return prompted(self.template, values, mode=mode, schema=self.schema())

    def read(
        self, unit: Unit | None, mode: ReplyMode, text: str, *, finish_reason: str = ""
    ) -> Verdict:
        """The number of points, or the reason why there is none."""
        del unit, mode  # read the same way for every unit and in every mode
        if is_unusable(text, finish_reason):
            return no_verdict(text, finish_reason, "the reply is too long")
        reply = reply_object(text, "aspects", tool=self.schema().name)
        text = strip_reasoning(text.strip())
        if reply is not None or text.startswith("{"):
            listed = _only_list(reply, "aspects")
            if listed is None:
                why = "the reply's JSON has no list 'aspects'"
                return no_verdict(text, finish_reason, why)
            points, aspects = sum(map(_points, listed[:_MOST])), len(listed[:_MOST])
        else:
            points, aspects = len(_POINT.findall(text)), len(_ASPECT.findall(text))
            if not points:
                why = "no list of points was found in the reply"
                return no_verdict(text, finish_reason, why)
        extra = {"aspects": aspects}
        return Verdict(status=Status.OK, score=float(points), explanation=text, extra=extra)


def _only_list(whole: Any, key: str) -> list[Any] | None:
    """The list of an object's key; None where there is none, or more than one."""
    values = whole.values(key) if isinstance(whole, Object) else []
    return values[0] if len(values) == 1 and isinstance(values[0], list) else None


def _points(aspect: Any) -> int:
    points = _only_list(aspect, "points") or []
    return len({str(p).strip().lower() for p in points[:_MOST]})


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


Heard = Mapping[CallKey, StageReply]
"""The replies so far."""


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


class Strategy(JudgingProtocol, Protocol):
    """What every strategy offers (a structural type: no base class is needed).

    `calls` is a pure function of what has been heard so far. It gives every call that the strategy
    is known to need at this point, those already answered included; when all of them are heard and
    it names no further one, `settle` gives the verdict.
    """

    @property
    def k(self) -> int:
        """Judgments before the verdict; 0 where it is one call."""

    def calls(self, unit: Unit, heard: Heard, draw: int = 0) -> tuple[Call, ...]:
        """The calls known to be needed for a pair; `draw` numbers repetitions of the pipeline."""

    def settle(self, unit: Unit, heard: Heard, draw: int = 0) -> Settled:
        """The verdict on a pair, once all calls are heard."""

    def stage_protocol(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""


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
ASPECTS: Mapping[str, str] = {
    "helpsteer2": "helpfulness, correctness, coherence, complexity and verbosity"
}
"""What a judge is instructed to consider, by set, where a set has its own aspects."""
ORDER_RULES = ("both", "balanced", "ab")

STAGE_PROMPTS: Mapping[str, str] = {
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
"""What each stage is called where a user gives a prompt for it, and the bundled one."""
_OF_JUDGMENTS = {"planned", "aggregate", "crowd", "removal", "points"}
_STAGE_OF = {bundled: stage for stage, bundled in STAGE_PROMPTS.items()}

_WRITTEN = {"plan": ("evaluation_plan", "plan"), "removal": ("outcome_removal", "analysis")}


_template = cache(PromptTemplate.load)


@dataclass(frozen=True, kw_only=True)
class Wording:
    """How pairs are asked about, whatever the strategy.

    Parameters
    ----------
    ties : bool
        Whether a tie may be named. Sets whose labels have no ties ask without.
    orders : {"both", "balanced", "ab"}
        ``both`` shows a pair in both orders. ``balanced`` shows one order, with the earlier
        response first in half of the pairs. ``ab`` shows the earlier response first. Every judgment
        records its order.
    labelled_only : bool
        Only pairs with a label.
    vanilla : str
        The vanilla prompt: a bundled one by name, or a file of the user's.
    append : bool
        Whether the reply instruction ends a user's prompt that has no place for it.
    own : tuple of (stage, file)
        Prompts of the user's for stages of `STAGE_PROMPTS`.

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

    def __post_init__(self) -> None:
        one_of("Wording", "orders", self.orders, ORDER_RULES)
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
        template, labelled_only = self._prompt(prompt), self.labelled_only
        return Pairwise(
            template=template, reasoning="before", ties=self.ties, labelled_only=labelled_only
        )

    def templates(self, *prompts: str) -> tuple[PromptTemplate, ...]:
        """The texts of some prompts, for the record."""
        return tuple(self._prompt(name) for name in prompts)

    def _prompt(self, name: str) -> PromptTemplate:
        stage = _STAGE_OF.get(name, name)
        given = dict(self.own).get(stage) or (self.vanilla if stage == "vanilla" else name)
        return _template(given, append=self.append)

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
        more = {"aspects": self.aspects_of(unit), "judgments": judgments}
        return self.comparison(prompt).prompt(unit, mode, more=more)

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
        return ASPECTS.get(unit.category.lower(), _USUAL)

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
    """What strategies have in common: their pairs, prompts, and who reads their replies.

    Parameters
    ----------
    wording : Wording
    """

    prompts: ClassVar[tuple[str, ...]] = ("vanilla",)
    """Of their calls, in order: the last is the final one's."""

    wording: Wording = field(default_factory=Wording)

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""
        return self.wording.templates(*self.prompts)

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The final prompt with nothing before it."""
        return self.wording.ask(self.prompts[-1], unit, mode)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to judge."""
        return self.wording.units(items)

    def stage_protocol(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""
        return self.wording.stage_protocol(stage)

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict in a reply to a comparison."""
        return self.wording.read(unit, mode, text, finish_reason=finish_reason)


ONE_CALL = {"vanilla": "vanilla", "long": "judge_long", "criteria": "judge_criteria"}
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

    def calls(self, unit: Unit, heard: Heard, draw: int = 0) -> tuple[Call, ...]:
        """The one call."""
        del heard, draw
        return (self._final(unit),)

    def _final(self, unit: Unit) -> Call:
        return Call(stage=FINAL, unit=unit, build=partial(self.prompt, unit))

    def settle(self, unit: Unit, heard: Heard, draw: int = 0) -> Settled:
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

    def calls(self, unit: Unit, heard: Heard, draw: int = 0) -> tuple[Call, ...]:
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
        build = partial(self.wording.points.build_prompt, explanation)
        return Call(stage="points", unit=unit, build=build)

    def settle(self, unit: Unit, heard: Heard, draw: int = 0) -> Settled:
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

    def calls(self, unit: Unit, heard: Heard, draw: int = 0) -> tuple[Call, ...]:
        """The votes."""
        del heard, draw
        return _votes(self.wording, unit, self.k)

    def settle(self, unit: Unit, heard: Heard, draw: int = 0) -> Settled:
        """The majority of the votes that could be read."""
        replies = [heard[c.key] for c in self.calls(unit, heard, draw)]
        votes = [h.verdict for h in replies if h.read]
        if not votes:
            failed = failed_verdict(f"none of the {self.k} votes could be read")
            return Settled(verdict=failed, wanted=self.k, left_out=len(replies))
        counts = Counter(v.choice for v in votes)
        top = max(counts.values())
        winner = next(v for v in votes if counts[v.choice] == top)
        even = sum(n == top for n in counts.values()) > 1
        extra = {**winner.extra, "votes": top, "even_split": str(even).lower()}
        return Settled(
            verdict=replace(winner, extra=extra),
            wanted=self.k,
            used=len(votes),
            left_out=len(replies) - len(votes),
        )


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

    prompts: ClassVar[tuple[str, ...]] = ("vanilla", "judge_aggregate")

    k: int

    @property
    def name(self) -> str:
        """As in ``aggregate@16``."""
        return f"aggregate@{self.k}"

    def calls(self, unit: Unit, heard: Heard, draw: int = 0) -> tuple[Call, ...]:
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
        shown, _ = framed(blocks)
        return self.wording.ask("judge_aggregate", unit, mode, shown)

    def settle(self, unit: Unit, heard: Heard, draw: int = 0) -> Settled:
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
            cut=sum(bounded(text)[1] for text in texts),
        )


@dataclass(frozen=True, kw_only=True)
class EvalPlan(PairStrategy):
    """Write a plan for the question (once for all its pairs and orders), then follow it.

    A plan that could not be read, or was refused or cut, gives no verdict: without it this would be
    another strategy.

    Parameters
    ----------
    wording : Wording
    """

    prompts: ClassVar[tuple[str, ...]] = ("evaluation_plan", "judge_plan")

    name: str = "plan"
    k: int = 0

    def calls(self, unit: Unit, heard: Heard, draw: int = 0) -> tuple[Call, ...]:
        """The plan; then, if there is one, the verdict."""
        del draw
        plan = self._plan(unit)
        reply = heard.get(plan.key)
        if reply is None or not reply.read:
            return (plan,)
        return (plan, self._final(unit, reply.text))

    def _plan(self, unit: Unit) -> Call:
        item = unit.item
        about = Unit.of(item, item.id, ())
        more = {"aspects": self.wording.aspects_of(unit)}
        build = partial(self.wording.writing("plan").prompt, about, more=more)
        return Call(stage="plan", unit=about, build=build)

    def _final(self, unit: Unit, plan: str) -> Call:
        shown, _ = framed([("Plan", "", plan)])
        build = partial(self.wording.ask, "judge_plan", unit, judgments=shown)
        return Call(stage=FINAL, unit=unit, build=build)

    def settle(self, unit: Unit, heard: Heard, draw: int = 0) -> Settled:
        """What it said, or why it was not asked."""
        del draw
        plan = heard[self._plan(unit).key]
        if not plan.read:
            why = f"there is no plan ({plan.verdict.status.value}), so no verdict was asked for"
            return Settled(verdict=failed_verdict(why), left_out=1)
        final = heard[self._final(unit, "").key]
        return Settled(verdict=final.verdict, cut=int(bounded(plan.text)[1]))
