"""What all strategies share: how a pair is put to a judge, and who reads which stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from types import MappingProxyType

from judgestats.errors import InputError, one_of
from judgestats.items.schema import Item
from judgestats.protocols.base import JudgingProtocol, Prompted, ReplyMode, Unit, Verdict
from judgestats.protocols.pairwise import ORDERS, Pairwise
from judgestats.protocols.strategies.base import stage_kind
from judgestats.protocols.strategies.insert import MAX_INSERTED
from judgestats.protocols.strategies.key_points import KeyPoints
from judgestats.protocols.template import PromptTemplate
from judgestats.protocols.writing import Writing

_USUAL = "helpfulness, relevance, accuracy, depth, creativity and level of detail"
ASPECTS: Mapping[str, str] = MappingProxyType(
    {"helpsteer2": "helpfulness, correctness, coherence, complexity and verbosity"}
)
"""What a judge is told to consider, by set, where a set has aspects of its own."""
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
        Replaces what a judge is told to consider; by the item's category in lower case.
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

    def ask(self, prompt: str, unit: Unit, mode: ReplyMode, judgments: str = "") -> Prompted:
        """A comparison's prompt, with earlier judgments (already framed) in their place."""
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
        """What a judge of a pair is told to consider: the aspects of its set."""
        return self.aspects.get(unit.category.lower(), _USUAL)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to be judged."""
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

    def at_stage(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""
        kind = stage_kind(stage)
        if kind in _WRITTEN:
            return self.writing(kind)
        if kind == "points":
            return self.points
        return self.comparison("vanilla")


@dataclass(frozen=True, kw_only=True)
class Worded:
    """What strategies have in common: their pairs, and who reads their replies.

    Parameters
    ----------
    wording : Wording
    """

    wording: Wording = field(default_factory=Wording)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to be judged."""
        return self.wording.units(items)

    def at_stage(self, stage: str) -> JudgingProtocol:
        """Who reads the replies of a stage."""
        return self.wording.at_stage(stage)

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The verdict in a reply to a comparison."""
        return self.wording.read(unit, mode, text, finish_reason=finish_reason)
