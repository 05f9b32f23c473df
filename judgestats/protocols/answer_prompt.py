"""AnswerPrompt: a model answers an item's question, turn by turn, before anybody judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from judgestats.items.schema import Item
from judgestats.protocols.base import Prompted, ReplyMode, Status
from judgestats.protocols.reading import is_cut, is_withheld
from judgestats.protocols.template import PromptTemplate

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
