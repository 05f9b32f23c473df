"""Correctness: is an answer correct or incorrect, with the true answer in the prompt?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from judgestats.errors import InputError
from judgestats.items.schema import Item
from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Unit, Verdict
from judgestats.protocols.naming import response_names
from judgestats.protocols.own_text import BARE, bare_texts
from judgestats.protocols.pointwise import REASONING
from judgestats.protocols.reading import WordForm, read_reply
from judgestats.protocols.template import PromptTemplate

__all__ = ["VERDICTS", "Correctness"]

VERDICTS = ("correct", "incorrect")

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

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("correctness"))
    reasoning: str = "none"

    def __post_init__(self) -> None:
        if self.reasoning not in REASONING:
            raise InputError(
                f"Correctness: reasoning must be one of {', '.join(REASONING)}, got "
                f"{self.reasoning!r}."
            )
        self.template.require({"question", "response", "reference"}, offered=_OFFERED)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """One unit a response of an item that has a true answer."""
        return tuple(
            Unit(
                item_id=name,
                cluster=item.cluster,
                item=item,
                shown=(index,),
                category=item.category,
            )
            for item in items
            if item.reference
            for index, name in enumerate(response_names(item))
        )

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_verdict``."""
        choice: dict[str, Any] = {
            "type": "string",
            "enum": list(VERDICTS),
            "description": "Whether the answer is correct.",
        }
        explain = {"type": "string", "description": "The reasons for the verdict."}
        fields = {
            "none": {"choice": choice},
            "before": {"explanation": explain, "choice": choice},
            "after": {"choice": choice, "explanation": explain},
        }[self.reasoning]
        return ReplySchema(
            name="submit_verdict",
            description="Submit whether the answer is correct.",
            schema={
                "type": "object",
                "properties": fields,
                "required": list(fields),
                "additionalProperties": False,
            },
        )

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt for one response."""
        item = unit.item
        values = {
            **bare_texts(item),
            "question": item.question,
            "response": item.responses[unit.shown[0]].text,
            "reference": item.reference[-1],
            "context": "\n\n".join(p for p in (*item.turns[:-1], item.context) if p),
            "reply": self._reply_text(mode),
        }
        seal = self.template.seal(
            [*item.turns, item.context, *item.reference, *item.responses[unit.shown[0]].turns]
        )
        return Prompted(
            messages=self.template.ask(values, seal=seal),
            mode=mode,
            prompt_sha=self.template.sha,
            instruction=self.template.instruction(values),
            schema=None if mode is ReplyMode.TEXT else self.schema(),
        )

    def _reply_text(self, mode: ReplyMode) -> str:
        wording = {
            "none": "Reply with the verdict only.",
            "before": "Think step by step: first explain your judgment, then give the verdict.",
            "after": "First give the verdict, then explain it.",
        }[self.reasoning]
        how = {
            ReplyMode.JSON_SCHEMA: 'Reply as a JSON object; the choice is "correct" or '
            '"incorrect".',
            ReplyMode.TOOL: 'Call the tool submit_verdict with "correct" or "incorrect".',
            ReplyMode.TEXT: "Write the verdict as [[correct]] or [[incorrect]].",
        }[mode]
        return f"{wording} {how}"

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """Whether a reply calls the response correct, or the reason why it says neither."""
        del mode  # read the same way in every mode
        found = read_reply(
            text, WordForm(VERDICTS), tool="submit_verdict", finish_reason=finish_reason
        )
        author = unit.item.responses[unit.shown[0]].author
        return replace(found, extra={"author": author}) if author else found
