"""One answer, one of two words: correct or incorrect by the true answer, pass or fail."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from judgestats.errors import one_of
from judgestats.items.schema import Item
from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Unit, Verdict
from judgestats.protocols.explained import explained_schema, explained_words, prompted
from judgestats.protocols.naming import response_names
from judgestats.protocols.own_text import BARE, bare_texts
from judgestats.protocols.pointwise import REASONING
from judgestats.protocols.reading import WordForm, read_reply
from judgestats.protocols.template import PromptTemplate

_OFFERED = (*BARE, "question", "response", "reference", "context", "reply")


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
    >>> from judgestats.items.schema import Response
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
        self.template.require(set(self.needs), offered=_OFFERED)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """One unit a response; where the true answer is needed, of the items that have one."""
        return tuple(
            Unit(
                item_id=name,
                cluster=item.cluster,
                item=item,
                shown=(index,),
                category=item.category,
            )
            for item in items
            if item.reference or "reference" not in self.needs
            for index, name in enumerate(response_names(item))
        )

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_verdict``."""
        choice: dict[str, Any] = {
            "type": "string",
            "enum": list(self.words),
            "description": self.asks,
        }
        return explained_schema(
            "submit_verdict",
            f"Submit {self.asks[0].lower()}{self.asks[1:]}",
            choice,
            called="verdict",
            reasoning=self.reasoning,
        )

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt for one response."""
        item = unit.item
        values = {
            **bare_texts(item),
            "question": item.question,
            "response": item.responses[unit.shown[0]].text,
            "reference": self._shown(item.reference[-1]) if item.reference else "",
            "context": "\n\n".join(p for p in (*item.turns[:-1], item.context) if p),
            "reply": self._reply_text(mode),
        }
        seal = self.template.seal(
            [*item.turns, item.context, *item.reference, *item.responses[unit.shown[0]].turns]
        )
        return prompted(self.template, values, seal=seal, mode=mode, schema=self.schema())

    def _shown(self, reference: str) -> str:
        """The true answer as the prompt's place for it takes it."""
        return reference

    def _reply_text(self, mode: ReplyMode) -> str:
        wording = explained_words("verdict", self.reasoning)
        yes, no = self.words
        how = {
            ReplyMode.JSON_SCHEMA: f'Reply as a JSON object; the choice is "{yes}" or "{no}".',
            ReplyMode.TOOL: f'Call the tool submit_verdict with "{yes}" or "{no}".',
            ReplyMode.TEXT: f"Write the verdict as [[{yes}]] or [[{no}]].",
        }[mode]
        return f"{wording} {how}"

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
    >>> from judgestats.items.schema import Response
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

    def _shown(self, reference: str) -> str:
        return f"[Reference answer]\n{reference}"
