"""Pairwise comparison prompts, names of responses, and length padding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from judgestats.errors import InputError, one_of
from judgestats.items.records import Item
from judgestats.protocols import explained
from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Status, Unit, Verdict
from judgestats.protocols.pointwise import REASONING
from judgestats.protocols.replies import PairForm, read_reply
from judgestats.protocols.template import (
    BARE,
    PromptTemplate,
    bare_texts,
    conversation,
    framed_text,
    joined_texts,
    labelled_pairs_of,
    pair_name,
    pairs_of,
)

ORDERS = ("ab", "ba")
"""``ab`` shows the earlier response of the item first, ``ba`` the later one."""

_OFFERED = (
    *BARE, "question", "response_a", "response_b", "conversation_a", "conversation_b", "context",
    "reference", "examples", "guideline", "aspects", "judgments", "reply",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Pairwise:
    """Compare two responses; reply by JSON schema, else tool call, else ``[[A]]`` in plain text.

    A verdict's ``choice`` names the *response*: ``"a"`` is the earlier of the two in the item,
    ``"b"`` the later one, whatever place they were shown in; ``extra["position"]`` says which
    position was preferred (``first``, ``second``, ``tie``).

    Parameters
    ----------
    template : PromptTemplate
        Must hold ``{response_a}`` and ``{response_b}`` (or ``{conversation_a}`` and
        ``{conversation_b}``, all turns), and ``{question}`` with the former.
    reasoning : {"none", "before", "after"}
        The order of the schema's fields follows it.
    ties : bool
        Whether a tie may be named (``[[C]]``).
    orders : tuple of {"ab", "ba"}
        In which orders a pair is shown; each is a separate unit.
    labelled_only : bool
        Only pairs that a person has compared.
    reference : bool
        Show an item's reference answer where it has one.
    examples : tuple of Example
        Worked examples shown first.

    Examples
    --------
    >>> from judgestats.items.records import Item, Response
    >>> answers = (Response(turns=("4",), author="x"), Response(turns=("5",), author="y"))
    >>> p = Pairwise()
    >>> units = p.units((Item(id="q1", cluster="q1", turns=("2+2?",), responses=answers),))
    >>> [(u.item_id, u.order, u.shown) for u in units]
    [('q1/x|y', 'ab', (0, 1)), ('q1/x|y', 'ba', (1, 0))]
    >>> [p.read(u, ReplyMode.TEXT, "[[A]]").choice for u in units]
    ['a', 'b']
    """

    verdict_kind: ClassVar[str] = "preference"

    name: ClassVar[str] = "pairwise"

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("pairwise"))
    reasoning: str = "none"
    ties: bool = True
    orders: tuple[str, ...] = ORDERS
    labelled_only: bool = False
    reference: bool = True
    examples: tuple[explained.Example, ...] = ()

    def __post_init__(self) -> None:
        one_of("Pairwise", "reasoning", self.reasoning, REASONING)
        if not self.orders or not set(self.orders) <= set(ORDERS):
            raise InputError(f"Pairwise: orders must be among {ORDERS}, got {self.orders!r}.")
        there = self.template.placeholders
        all_turns, last = {"conversation_a", "conversation_b"}, {"response_a", "response_b"}
        needed = all_turns if "conversation_a" in there else {"question", *last}
        needed |= {"examples"} if self.examples else set()
        self.template.require(needed, offered=_OFFERED)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """One unit a pair and order, named ``item/author|author``."""
        units = []
        for item in items:
            for i, j in labelled_pairs_of(item) if self.labelled_only else pairs_of(item):
                unit = Unit.of(item, pair_name(item, (i, j)), (i, j), "ab")
                both = {"ab": unit, "ba": replace(unit, shown=(j, i), order="ba")}
                units += [both[order] for order in self.orders]
        return tuple(units)

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_choice``."""
        choice: dict[str, Any] = {
            "type": "string",
            "enum": ["A", "B", "tie"] if self.ties else ["A", "B"],
            "description": f"The assistant whose answer is better{', or tie' * self.ties}.",
        }
        return explained.explained_schema(
            "submit_choice",
            "Submit which answer is better.",
            choice,
            called="choice",
            reasoning=self.reasoning,
        )

    def prompt(
        self, unit: Unit, mode: ReplyMode, *, more: Mapping[str, str] = MappingProxyType({})
    ) -> Prompted:
        """The prompt for one pair in one order; `more` fills further placeholders."""
        item = unit.item
        first, second = (item.responses[i] for i in unit.shown)
        seal = self.template.seal(
            [*item.turns, item.context, *first.turns, *second.turns, *item.reference]
        )
        values = {
            **bare_texts(item),
            "response_a": first.text,
            "response_b": second.text,
            "conversation_a": conversation(item, first.turns),
            "conversation_b": conversation(item, second.turns),
            "context": joined_texts(
                item.context,
                _earlier("A", item, first.turns, seal),
                _earlier("B", item, second.turns, seal),
            ),
            "reference": explained.reference_text(item) if self.reference else "",
            "examples": explained.examples_text(self.examples, reasoning=self.reasoning),
            "guideline": "",
            "reply": self._reply_text(mode),
            **more,
        }
        return explained.prompted(self.template, values, seal=seal, mode=mode, schema=self.schema())

    def _reply_text(self, mode: ReplyMode) -> str:
        offered = '"A", "B" or "tie"' if self.ties else '"A" or "B"'
        choice = f"the choice is {offered}."
        tie = ", [[C]] if neither is better" if self.ties else ""
        fields = explained.field_names(self.schema())
        return explained.reply_words(
            mode,
            "verdict",
            self.reasoning,
            schema=f"Reply as a JSON object with {fields}; {choice}",
            tool=f"Call the tool submit_choice; {choice}",
            text="Write the verdict as [[A]] if assistant A is better, [[B]] if assistant B is "
            f"better{tie}.",
        )

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The response that a reply prefers, or the reason why there is none."""
        del mode  # read the same way in every mode
        verdict = read_reply(
            text, PairForm(self.ties), tool="submit_choice", finish_reason=finish_reason
        )
        if verdict.status is not Status.OK:
            return verdict
        if verdict.choice == "tie":
            return replace(verdict, extra={"position": "tie"})
        place = 0 if verdict.choice == "A" else 1
        return replace(
            verdict,
            choice="a" if unit.shown[place] == min(unit.shown) else "b",
            extra={"position": ("first", "second")[place]},
        )


def _earlier(letter: str, item: Item, answers: tuple[str, ...], seal: str) -> str:
    """The turns before the last with one assistant, framed so that they are context only."""
    if len(item.turns) < 2:
        return ""
    earlier = conversation(item, answers[:-1], item.turns[:-1])
    return framed_text(f"Context of Assistant {letter}", earlier, seal)


_PADDING = (
    "\n\nI hope that this answer is of help to you. As always, there are many ways in which a "
    "question like this can be approached, and it is worth taking the time to consider it with "
    "care. What has been said above answers the question as it was asked, and it can be read again "
    "from the beginning whenever that should be useful. Please do not hesitate to come back to it. "
    "Should anything in the answer be of further interest, it is there to be looked at once more, "
    "in the same words and in the same order in which it was given above."
)


def padded(answer: str) -> str:
    """An answer with the padding after it.

    Examples
    --------
    >>> unpadded(padded("It is 4."))
    'It is 4.'
    """
    return answer.rstrip() + _PADDING


def unpadded(answer: str) -> str:
    """An answer without the padding, if it has it."""
    text = answer.rstrip()
    return text.removesuffix(_PADDING.rstrip()) if text.endswith(_PADDING.rstrip()) else answer
