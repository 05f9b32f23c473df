"""Prompts for text instead of a verdict: plans, analyses, answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from judgestats.items.records import Item
from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Status, Unit, Verdict
from judgestats.protocols.explained import prompted
from judgestats.protocols.replies import (
    MAX_REPLY_CHARS,
    is_cut,
    is_withheld,
    no_verdict,
    reply_object,
    strip_reasoning,
)
from judgestats.protocols.template import PromptTemplate, bare_texts


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Ask for a text. What is read is ``explanation``; there is neither score nor choice.

    Parameters
    ----------
    name : str
        The stage.
    template : PromptTemplate
    what : str
        Name of the reply's field, such as ``plan``.

    Examples
    --------
    >>> w = Writing(name="plan", template=PromptTemplate.bundled("evaluation_plan"), what="plan")
    >>> w.read_text(ReplyMode.JSON_SCHEMA, '{"plan": "Check the sum."}').explanation
    'Check the sum.'
    >>> w.read_text(ReplyMode.TEXT, "  ").status.value
    'unparseable'
    """

    name: str
    template: PromptTemplate
    what: str

    def units(self, items: object) -> tuple[Unit, ...]:
        """None: a text is asked for as a stage of a strategy, which says of what."""
        del items
        return ()

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_<what>``."""
        return ReplySchema(
            name=f"submit_{self.what}",
            description=f"Submit the {self.what}.",
            schema={
                "type": "object",
                "properties": {self.what: {"type": "string", "description": f"The {self.what}."}},
                "required": [self.what],
                "additionalProperties": False,
            },
        )

    def prompt(
        self, unit: Unit, mode: ReplyMode, *, more: Mapping[str, str] | None = None
    ) -> Prompted:
        """The prompt; `more` fills the placeholders that a unit does not."""
        item = unit.item
        how = {
            ReplyMode.JSON_SCHEMA: f'Reply as a JSON object with the field "{self.what}".',
            ReplyMode.TOOL: f"Call the tool submit_{self.what}.",
            ReplyMode.TEXT: f"Reply with the {self.what} only.",
        }[mode]
        values = {
            **bare_texts(item),
            "question": item.question,
            "context": "\n\n".join(p for p in (*item.turns[:-1], item.context) if p),
            "reference": f"[Reference answer]\n{item.reference[-1]}" if item.reference else "",
            "reply": how,
            **(more or {}),
        }
        return prompted(self.template, values, mode=mode, schema=self.schema())

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The text in a reply, or the reason why there is none."""
        del unit  # read the same way for every unit
        return self.read_text(mode, text, finish_reason=finish_reason)

    def read_text(self, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """As `read`, without a unit.

        A reply that was cut, refused or left empty is no text: half an analysis could end just
        before what matters.
        """
        if len(text) > MAX_REPLY_CHARS or is_withheld(finish_reason) or is_cut(finish_reason):
            return no_verdict(text, finish_reason, "the reply is too long")
        if mode is not ReplyMode.TEXT and text.lstrip().startswith("{"):
            reply = reply_object(text, self.what, tool=self.schema().name)
            written = reply.text(self.what).strip() if reply is not None else ""
            missing = f"the reply's JSON has no text {self.what!r}"
        else:
            written, missing = strip_reasoning(text.strip()), "the reply is empty"
        if not written:
            return no_verdict(text, finish_reason, missing)
        return Verdict(status=Status.OK, explanation=written)


_OFFERED = ("question", "context", "passage")


def answer_status(text: str, *, finish_reason: str = "") -> tuple[Status, str]:
    """What became of an answer, and why where it is not whole.

    The answer stays what the model said, also where it is cut off or empty: its status is data.

    Parameters
    ----------
    text : str
    finish_reason : str
        As the server reported it.

    Returns
    -------
    tuple of Status and str

    Examples
    --------
    >>> answer_status("It is 4.")[0].value, answer_status("It is", finish_reason="length")[0].value
    ('ok', 'truncated')
    """
    if is_withheld(finish_reason):
        return Status.REFUSED, f"the server ended the answer with {finish_reason!r}"
    if is_cut(finish_reason):
        return Status.TRUNCATED, "the answer ends at the token limit"
    if not text.strip():
        return Status.UNPARSEABLE, "the answer is empty"
    return Status.OK, ""


@dataclass(frozen=True, kw_only=True)
class AnswerPrompt:
    """Ask a model to answer an item.

    Parameters
    ----------
    template : PromptTemplate
        Must hold ``{question}``; ``{context}`` (or ``{passage}``) is the item's passage, at the
        first turn. Every turn of the question is put with it; earlier turns and their answers
        precede as a conversation.

    Examples
    --------
    >>> item = Item(id="q", cluster="q", turns=("2+2?", "And doubled?"), responses=())
    >>> [m["role"] for m in AnswerPrompt().prompt(item, ("4",), ReplyMode.TEXT).messages]
    ['user', 'assistant', 'user']
    """

    name: ClassVar[str] = "answering"

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("step_by_step"))

    def __post_init__(self) -> None:
        self.template.require({"question"}, offered=_OFFERED)

    def prompt(self, item: Item, answers: tuple[str, ...], mode: ReplyMode) -> Prompted:
        """The request for the next answer.

        Parameters
        ----------
        item : Item
        answers : tuple of str
            The model's own answers to the earlier turns.
        mode : ReplyMode
            Answers are plain text, whatever it says.
        """
        del mode
        messages: list[dict[str, str]] = []
        for place in range(len(answers) + 1):
            context = item.context if place == 0 else ""
            given = {"question": item.turns[place], "context": context, "passage": context}
            asked = self.template.fill(given)
            messages += [m for m in asked if place == 0 or m["role"] != "system"]
            if place < len(answers):
                messages.append({"role": "assistant", "content": answers[place]})
        return Prompted(messages=tuple(messages), mode=ReplyMode.TEXT, prompt_sha=self.template.sha)
