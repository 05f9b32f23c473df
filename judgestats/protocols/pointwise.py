"""Pointwise prompts: scores on a scale, and correct or incorrect."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from judgestats.errors import one_of
from judgestats.items.records import Item
from judgestats.protocols import explained
from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Scale, Unit, Verdict
from judgestats.protocols.replies import ScoreForm, WordForm, read_reply
from judgestats.protocols.template import (
    BARE,
    PromptTemplate,
    bare_texts,
    conversation,
    joined_texts,
    response_names,
)

REASONING = ("none", "before", "after")
"""Whether the judge explains itself, and whether before or after it gives the score."""

_OFFERED = (
    *BARE, "question", "response", "conversation", "context", "reference", "guideline", "reply",
    "low", "high",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Pointwise:
    """Score one response on a scale; reply by JSON schema, else tool call, else plain text.

    Parameters
    ----------
    template : PromptTemplate
        Must hold ``{response}`` and ``{question}`` (or ``{conversation}``, all turns).
    scale : Scale
        Whole numbers from low to high, both included.
    reasoning : {"none", "before", "after"}
        The order of the schema's fields follows it: the explanation is the first field for
        ``before`` and the last for ``after``.
    guideline : str
        A scoring guideline to put into the prompt (``{guideline}``).

    Examples
    --------
    >>> from judgestats.items.records import Item, Response
    >>> item = Item(id="q1", cluster="q1", turns=("2+2?",), responses=(Response(turns=("4",)),))
    >>> p = Pointwise()
    >>> [unit] = p.units((item,))
    >>> unit.item_id
    'q1'
    >>> p.read(unit, ReplyMode.TEXT, "Score: [[9]]").score
    9.0
    """

    verdict_kind: ClassVar[str] = "score"

    name: ClassVar[str] = "pointwise"

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("pointwise"))
    scale: Scale = field(default_factory=Scale)
    reasoning: str = "none"
    guideline: str = ""

    def __post_init__(self) -> None:
        one_of("Pointwise", "reasoning", self.reasoning, REASONING)
        all_turns = "conversation" in self.template.placeholders
        needed = {"response"} if all_turns else {"response", "question"}
        self.template.require(needed, offered=_OFFERED)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """One unit a response; named ``item`` where there is one, else ``item/author``."""
        return _response_units(items)

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_score``."""
        score: dict[str, Any] = {
            "type": "integer",
            "minimum": self.scale.low,
            "maximum": self.scale.high,
            "description": f"The score, a whole number from {self.scale}.",
        }
        return explained.explained_schema(
            "submit_score",
            "Submit the score of the response.",
            score,
            called="score",
            reasoning=self.reasoning,
        )

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt for one response."""
        item = unit.item
        response = item.responses[unit.shown[0]]
        values = {
            **bare_texts(item),
            "response": response.text,
            "conversation": conversation(item, response.turns),
            "context": joined_texts(_earlier(item, response.turns), item.context),
            "reference": explained.reference_text(item),
            "guideline": self.guideline,
            "reply": self._reply_text(mode),
            "low": str(self.scale.low),
            "high": str(self.scale.high),
        }
        seal = self.template.seal([*item.turns, item.context, *item.reference, *response.turns])
        return explained.prompted(self.template, values, seal=seal, mode=mode, schema=self.schema())

    def _reply_text(self, mode: ReplyMode) -> str:
        return explained.reply_words(
            mode,
            "score",
            self.reasoning,
            schema=f"Reply as a JSON object with {explained.field_names(self.schema())}.",
            tool="Call the tool submit_score.",
            text=f"Write the score as: Score: [[number]] ({self.scale}).",
        )

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The score in a reply, or the reason why there is none."""
        del unit, mode  # read the same way for every unit and in every mode
        return read_reply(
            text, ScoreForm(self.scale), tool="submit_score", finish_reason=finish_reason
        )


def _response_units(items: Iterable[Item]) -> tuple[Unit, ...]:
    """One unit per response."""
    named = ((item, *pair) for item in items for pair in enumerate(response_names(item)))
    return tuple(Unit.of(item, name, (index,)) for item, index, name in named)


def _earlier(item: Item, answers: tuple[str, ...]) -> str:
    """The turns before the last, framed so that a judge reads them as context only."""
    if len(item.turns) < 2:
        return ""
    turns = conversation(item, answers[:-1], turns=item.turns[:-1])
    return f"[Earlier conversation, for context only]\n{turns}"


_CORRECTNESS_OFFERED = (*BARE, "question", "response", "reference", "context", "reply")


def correct_as_counted(text: object) -> float:
    """1 where a text holds correct and not incorrect, as arXiv 2412.12509 counts; NaN if empty.

    Examples
    --------
    >>> [correct_as_counted(t) for t in (" correct", "It is incorrect.", "")]
    [1.0, 0.0, nan]
    """
    words = text.lower() if isinstance(text, str) else ""
    return float("correct" in words and "incorrect" not in words) if words.strip() else math.nan


@dataclass(frozen=True, kw_only=True)
class Correctness:
    """Judge whether a response says what the item's true answer (its last reference) says.

    Parameters
    ----------
    template : PromptTemplate
        Must hold ``{question}``, ``{response}`` and ``{reference}``.
    reasoning : {"none", "before", "after"}

    Examples
    --------
    >>> from judgestats.items.records import Response
    >>> said = (Response(turns=("5",)),)
    >>> item = Item(id="q", cluster="q", turns=("2+2?",), reference=("4",), responses=said)
    >>> p = Correctness()
    >>> [p.read(u, ReplyMode.TEXT, "[[incorrect]]").choice for u in p.units((item,))]
    ['incorrect']
    """

    name: ClassVar[str] = "correctness"
    words: ClassVar[tuple[str, str]] = ("correct", "incorrect")
    asks: ClassVar[str] = "Whether the answer is correct."
    needs: ClassVar[frozenset[str]] = frozenset({"question", "response", "reference"})

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("correctness"))
    reasoning: str = "none"

    def __post_init__(self) -> None:
        one_of(type(self).__name__, "reasoning", self.reasoning, REASONING)
        self.template.require(set(self.needs), offered=_CORRECTNESS_OFFERED)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """One unit a response; where the true answer is needed, of the items that have one."""
        return _response_units(
            item for item in items if item.reference or "reference" not in self.needs
        )

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_verdict``."""
        choice = {"type": "string", "enum": list(self.words), "description": self.asks}
        return explained.explained_schema(
            "submit_verdict",
            f"Submit {self.asks[0].lower()}{self.asks[1:]}",
            choice,
            called="verdict",
            reasoning=self.reasoning,
        )

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt for one response."""
        item = unit.item
        response = item.responses[unit.shown[0]]
        values = {
            **bare_texts(item),
            "response": response.text,
            "reference": self._reference_text(item),
            "context": joined_texts(*item.turns[:-1], item.context),
            "reply": self._reply_text(mode),
        }
        seal = self.template.seal([*item.turns, item.context, *item.reference, *response.turns])
        return explained.prompted(self.template, values, seal=seal, mode=mode, schema=self.schema())

    def _reference_text(self, item: Item) -> str:
        """The true answer as the prompt's place for it takes it."""
        return item.reference[-1] if item.reference else ""

    def _reply_text(self, mode: ReplyMode) -> str:
        yes, no = self.words
        return explained.reply_words(
            mode,
            "verdict",
            self.reasoning,
            schema=f'Reply as a JSON object; the choice is "{yes}" or "{no}".',
            tool=f'Call the tool submit_verdict with "{yes}" or "{no}".',
            text=f"Write the verdict as [[{yes}]] or [[{no}]].",
        )

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """Which of the two words a reply says, or the reason why it says neither."""
        del mode  # read the same way in every mode
        verdict = read_reply(
            text, WordForm(self.words), tool="submit_verdict", finish_reason=finish_reason
        )
        author = unit.item.responses[unit.shown[0]].author
        return replace(verdict, extra={"author": author}) if author else verdict


@dataclass(frozen=True, kw_only=True)
class PassFail(Correctness):
    """Judge whether a response is good enough: pass or fail.

    Parameters
    ----------
    template : PromptTemplate
        Must hold ``{question}`` and ``{response}``.
    reasoning : {"none", "before", "after"}

    Examples
    --------
    >>> from judgestats.items.records import Response
    >>> said = (Response(turns=("5",)),)
    >>> item = Item(id="q", cluster="q", turns=("2+2?",), responses=said)
    >>> p = PassFail()
    >>> [p.read(u, ReplyMode.TEXT, "[[fail]]").choice for u in p.units((item,))]
    ['fail']
    """

    name: ClassVar[str] = "pass_fail"
    words: ClassVar[tuple[str, str]] = ("pass", "fail")
    asks: ClassVar[str] = "Whether the answer passes."
    needs: ClassVar[frozenset[str]] = frozenset({"question", "response"})

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("pass_fail"))

    def _reference_text(self, item: Item) -> str:
        return explained.reference_text(item)
