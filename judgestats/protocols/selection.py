"""Selection: the best of several responses, in one fixed order or in every cyclic rotation."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from judgestats.errors import InputError, one_of
from judgestats.items import Item, Response, best_response, holds_target
from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Status, Unit, Verdict
from judgestats.protocols.explained import explained_schema, field_names, prompted, reply_words
from judgestats.protocols.pointwise import REASONING
from judgestats.protocols.replies import LETTERS, OptionForm, read_reply
from judgestats.protocols.template import (
    BARE,
    PromptTemplate,
    bare_texts,
    framed_text,
    joined_texts,
    put_in,
    response_names,
)

LABELS = ("letters", "numbers")
"""``letters``: ``Best Response: [[B]]``; ``numbers``: ``Selection: Option 2``."""
MOST_OPTIONS = len(LETTERS)

SELECTION_PROMPTS = {
    n: (f"selection_{n}", when)
    for n, when in (("1", "after"), ("2", "before"), ("3", "after"), ("4", "before"))
}
"""The four bundled judge prompts, and whether each asks for an explanation before the selection.

They are plain, "evaluate each option first", a warning against position bias, and points first."""

READINGS = ("judgestats", "study")
"""How a reply is read: by judgestats' grammar, or by the pattern of arXiv 2412.12509 alone."""
_BEST = re.compile(r"Best Response:\W*([A-Ea-e])")

UNRELATED = "unrelated"
"""The author of the option that answers another question."""

_OFFERED = (*BARE, "question", "options", "context", "count", "reply")
_OPTION_OFFERED = ("label", "n", "text")


def best_response_letters(text: str) -> frozenset[str]:
    """The distinct letters behind ``Best Response:``, as arXiv 2412.12509 reads a reply.

    Examples
    --------
    >>> sorted(best_response_letters("Best Response: [[b]] ... Best Response: C"))
    ['B', 'C']
    """
    return frozenset(letter.upper() for letter in _BEST.findall(text))


def option_labels(count: int, labels: str = "letters") -> tuple[str, ...]:
    """What the options are called, in the order shown.

    Examples
    --------
    >>> option_labels(3), option_labels(2, "numbers")
    (('A', 'B', 'C'), ('Option 1', 'Option 2'))
    """
    if labels == "letters":
        return tuple(LETTERS[:count])
    return tuple(f"Option {i + 1}" for i in range(count))


def option_names(item: Item) -> list[str]:
    """What each response is called as a choice: its author, or its number where authors repeat.

    Examples
    --------
    >>> responses = tuple(Response(turns=(t,), author=a) for t, a in (("4", "x"), ("5", "y")))
    >>> option_names(Item(id="q1", cluster="q1", turns=("2+2?",), responses=responses))
    ['x', 'y']
    """
    return [name[len(item.id) + 1 :] for name in response_names(item)]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Select the best of several responses.

    A verdict's ``choice`` names the *response* (`option_names`); ``extra["position"]`` is the place
    at which it was shown, counted from 1. Further extras say what is known of the options: all of
    them (``options``), the one that people prefer (``preferred``), and where the item has a short
    target whether the selected answer names it (``chosen_right``) and which answers do
    (``right``; how many, of how many: ``options_right``, ``options_judged``).

    Parameters
    ----------
    template : PromptTemplate
        Must hold ``{question}`` and ``{options}``.
    labels : {"letters", "numbers"}
        ``Best Response: [[B]]`` or ``Selection: Option 2``.
    reasoning : {"none", "before", "after"}
        Whether the judge explains itself before or after it selects.
    rotations : bool
        False: one order an item, drawn by `seed`, the same in all replications. True: every cyclic
        rotation of that order is a unit; ``order`` is ``"s/N"``, and in rotation s (from 1)
        position p (from 0) shows option (p + s - 1) mod N of the first order.
    options : int or None
        Responses shown, drawn by `seed` where an item has more; None shows all.
    reading : {"judgestats", "study"}
        ``study``: one distinct letter behind ``Best Response:`` is the verdict, none and several
        are non-responses, whatever else the reply says.
    option_template : str
        How an option is written, with ``{text}`` and ``{label}`` (``A``, ``Option 1``) or ``{n}``
        (1); between the marks of the frame where it is empty. Options are separated by an empty
        line, or by the line breaks at the end of the template.
    unrelated : bool
        Add a response to another question, drawn by `seed`, as one more option.
    seed : int

    Examples
    --------
    >>> answers = tuple(Response(turns=(t,), author=a) for t, a in (("4", "x"), ("5", "y")))
    >>> item = Item(id="q1", cluster="q1", turns=("2+2?",), responses=answers)
    >>> p = Selection(labels="numbers", rotations=True)
    >>> units = p.units((item,))
    >>> [(u.item_id, u.order, u.shown) for u in units]
    [('q1', '1/2', (0, 1)), ('q1', '2/2', (1, 0))]
    >>> [p.read(u, ReplyMode.TEXT, "Selection: Option 1").choice for u in units]
    ['x', 'y']
    """

    verdict_kind: ClassVar[str] = "choice"

    name: ClassVar[str] = "selection"

    template: PromptTemplate = field(
        default_factory=lambda: PromptTemplate.bundled("best_response")
    )
    labels: str = "letters"
    reasoning: str = "after"
    rotations: bool = False
    options: int | None = None
    reading: str = "judgestats"
    option_template: str = ""
    unrelated: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for what, value, offered in (
            ("labels", self.labels, LABELS),
            ("reasoning", self.reasoning, REASONING),
            ("reading", self.reading, READINGS),
        ):
            one_of("Selection", what, value, offered)
        if self.options is not None and not 2 <= self.options < MOST_OPTIONS:
            most = MOST_OPTIONS - 1
            raise InputError(f"Selection: options must be from 2 to {most}, got {self.options}.")
        self.template.require({"question", "options"}, offered=_OFFERED)
        if self.option_template:
            own = PromptTemplate(text=self.option_template, name="option_template")
            own.require({"text"}, offered=_OPTION_OFFERED)
            if not own.placeholders & {"label", "n"}:
                raise InputError("option_template: write {label} or {n}, e.g. [{label}]: {text}.")

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """One unit an item, or one for each rotation of its options."""
        units: list[Unit] = []
        for given in items:
            item = given
            if len(item.responses) < 2:
                raise InputError(
                    f"selection: item {item.id!r} has {len(item.responses)} response(s); a "
                    "selection needs at least two. Give items with several responses each "
                    "(omega also takes models' answers as answers=FILE)."
                )
            indices = list(range(len(item.responses)))
            _rng(self.seed, item, "order").shuffle(indices)
            order = tuple(indices[: self.options])
            if self.unrelated:
                item, order = _with_unrelated(item, order, items, self.seed)
            if len(order) > MOST_OPTIONS:
                raise InputError(
                    f"selection: item {item.id!r} has {len(order)} options; at most "
                    f"{MOST_OPTIONS} can be shown. Set options=N to draw N of them."
                )
            for start in range(len(order) if self.rotations else 1):
                name = f"{start + 1}/{len(order)}" if self.rotations else ""
                units.append(Unit.of(item, item.id, (*order[start:], *order[:start]), name))
        return tuple(units)

    def schema(self, count: int = 2) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_choice``."""
        labels = list(option_labels(count, self.labels))
        choice = {"type": "string", "enum": labels, "description": "The best response."}
        return explained_schema(
            "submit_choice",
            "Submit which response is best.",
            choice,
            called="choice",
            reasoning=self.reasoning,
        )

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt for one item in one order."""
        item, count = unit.item, len(unit.shown)
        shown = [item.responses[index].text for index in unit.shown]
        seal = self.template.seal([*item.turns, item.context, *shown])
        earlier = "\n\n".join(item.turns[:-1])
        earlier = f"[Earlier question, for context only]\n{earlier}" if len(item.turns) > 1 else ""
        values = {
            **bare_texts(item),
            "options": self._options_text(shown, seal),
            "count": str(count),
            "context": joined_texts(earlier, item.context),
            "reply": self._reply_text(mode, count),
        }
        return prompted(self.template, values, seal=seal, mode=mode, schema=self.schema(count))

    def _options_text(self, shown: Sequence[str], seal: str) -> str:
        labels = option_labels(len(shown), self.labels)
        own = self.option_template
        between = "" if own.endswith("\n") else "\n\n"
        blocks = []
        for number, (label, text) in enumerate(zip(labels, shown, strict=True), start=1):
            if own:
                blocks.append(put_in(own, {"label": label, "n": str(number), "text": text}))
            elif self.labels == "letters":
                blocks.append(f"[{label}]\n{framed_text(f'Response {label}', text, seal)}")
            else:
                blocks.append(framed_text(label, text, seal))
        joined = between.join(blocks)
        return joined.removesuffix("\n") if own else joined

    def _reply_text(self, mode: ReplyMode, count: int) -> str:
        first, *_, last = option_labels(count, self.labels)
        names = field_names(self.schema(count), ", ")
        letters = self.labels == "letters"
        form = "Best Response: [[letter]]" if letters else "Selection: Option k"
        return reply_words(
            mode,
            "verdict",
            self.reasoning,
            schema=f'Reply as a JSON object with {names}; the choice is one of "{first}" to '
            f'"{last}".',
            tool=f"Call the tool submit_choice with one of {first} to {last}.",
            text=f"Write the verdict in the form {form}, with one of {first} to {last}.",
        )

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The response that a reply selects, or the reason why there is none."""
        del mode  # read the same way in every mode
        if self.reading == "study":
            verdict = _as_the_study_reads(text, len(unit.shown))
        else:
            form = OptionForm(len(unit.shown), self.labels)
            verdict = read_reply(text, form, tool="submit_choice", finish_reason=finish_reason)
        if verdict.status is not Status.OK or verdict.choice is None:
            return verdict
        chosen = unit.shown[int(verdict.choice) - 1]
        return replace(
            verdict,
            choice=option_names(unit.item)[chosen],
            extra={"position": verdict.choice, **self._option_columns(unit, chosen)},
        )

    @staticmethod
    def _option_columns(unit: Unit, chosen: int) -> dict[str, str]:
        """What the data say about the options: columns of the judgments frame."""
        item = unit.item
        names = option_names(item)
        own = sorted(i for i in unit.shown if item.responses[i].author != UNRELATED)
        best = best_response(item, own)
        by_name = {
            "options": "|".join(names[i] for i in sorted(unit.shown)),
            "preferred": "" if best is None else names[best],
        }
        if item.reference:
            right = {i: holds_target(item.responses[i].text, item.reference[-1]) for i in own}
            if None not in right.values():
                by_name["options_right"] = str(sum(map(bool, right.values())))
                by_name["options_judged"] = str(len(right))
                by_name["chosen_right"] = str(int(bool(right.get(chosen, False))))
                by_name["right"] = "|".join(names[i] for i in own if right[i])
        return by_name


def _as_the_study_reads(text: str, count: int) -> Verdict:
    letters = best_response_letters(text)
    places = sorted(LETTERS.index(letter) + 1 for letter in letters)
    if len(places) == 1 and places[0] <= count:
        return Verdict(status=Status.OK, choice=str(places[0]), explanation=text)
    status = Status.AMBIGUOUS if len(places) > 1 else Status.UNPARSEABLE
    named = ", ".join(sorted(letters)) or "no letter"
    return Verdict(status=status, reason=f"{named} behind 'Best Response:'")


def _rng(seed: int, item: Item, what: str) -> random.Random:
    """Draws of one item that further items in the file do not change."""
    return random.Random(f"{seed}\0{what}\0{item.id}")


def _with_unrelated(
    item: Item, order: tuple[int, ...], items: Sequence[Item], seed: int
) -> tuple[Item, tuple[int, ...]]:
    """The item with a response to another question among its options."""
    others = [o for o in items if o.cluster != item.cluster and o.responses]
    if not others:
        why = "is the only question, so no unrelated option can be drawn"
        raise InputError(f"selection: item {item.id!r} {why}. Give more items, or leave it out.")
    rng = _rng(seed, item, "unrelated")
    other = rng.choice(others)
    stranger = replace(rng.choice(other.responses), author=UNRELATED)
    own = tuple(r if r.author != UNRELATED else replace(r, author="") for r in item.responses)
    place = rng.randrange(len(order) + 1)
    return (
        replace(item, responses=(*own, Response(turns=(stranger.text,), author=UNRELATED))),
        (*order[:place], len(own), *order[place:]),
    )
