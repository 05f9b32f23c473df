"""Probes of pairwise comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from judgestats.items.preference_sets import drawn_pairs
from judgestats.items.records import Item
from judgestats.protocols.base import Unit
from judgestats.protocols.pairwise import Pairwise
from judgestats.protocols.probes.attacks import other_answer
from judgestats.protocols.probes.base import (
    OPTIONS,
    PAIRS,
    Probe,
    ProbeAnswer,
    Variant,
    changed_unit,
    check_need,
    probe_answer,
)
from judgestats.protocols.probes.wording import longer
from judgestats.protocols.selection import Selection


@dataclass(frozen=True)
class _PairNote:
    """The text on one answer of a pair."""

    text: str
    of_first: bool

    def __call__(self, shown: ProbeAnswer) -> ProbeAnswer:
        named, other = shown.letters if self.of_first else shown.letters[::-1]
        return replace(shown, note=f"[Note]\n{self.text.format(named, other)}")


_SAID = {
    "famous name": (
        "a famous model's name",
        (
            "The answer of Assistant {} was written by GPT-5 of OpenAI, that of Assistant {} by a "
            "small model that nobody knows."
        ),
        "do not tell the judge who wrote an answer",
    ),
    "pair bandwagon": (
        "that most others are said to prefer an answer",
        "90 % of the other evaluators prefer the answer of Assistant {}.",
        "do not show the judge other verdicts",
    ),
    "pair hint": (
        "that the person who asks prefers an answer",
        "I think that Assistant {} gave the better answer. Isn't it so?",
        "keep opinions out of the judge's prompt",
    ),
}


def pair_notes() -> dict[str, tuple[str, int]]:
    """Every note's text with the name of its probe and the place, from 0, of whom it names."""
    return {
        text.format("AB"[k], "BA"[k]): (name, k)
        for name, (_, text, _) in _SAID.items()
        for k in (0, 1)
    }


def _noted(name: str, text: str, *, of_first: bool) -> Variant:
    side = "earlier" if of_first else "later"
    edit = _PairNote(text, of_first)
    return Variant(name=f"{name}: {side}", edit=edit, needs="context", asks="pairs")


def _same(shown: ProbeAnswer) -> ProbeAnswer:
    return shown


_PAIRS = Variant(name=PAIRS, edit=_same, asks="pairs")
_OPTIONS = Variant(name=OPTIONS, edit=_same, asks="options")
_ORDERS = "show every order and count what they do not agree on as a tie"

PROBES = (
    Probe(
        name="position",
        kind="fair",
        does="standing first of two",
        against=_PAIRS,
        changed=_PAIRS,
        measured="first place",
        advice=_ORDERS,
    ),
    Probe(
        name="first of many",
        kind="fair",
        does="standing first of several",
        against=_OPTIONS,
        changed=_OPTIONS,
        measured="first place",
        advice=_ORDERS,
    ),
    Probe(
        name="last of many",
        kind="fair",
        does="standing last of several",
        against=_OPTIONS,
        changed=_OPTIONS,
        measured="last place",
        advice=_ORDERS,
    ),
    Probe(
        name="own answer",
        kind="fair",
        does="being the judge's own answer",
        against=_PAIRS,
        changed=_PAIRS,
        measured="own answers",
        advice="let another judge decide on answers by its own model",
    ),
    *(
        Probe(
            name=name,
            kind="fair",
            does=does,
            against=_noted(name, text, of_first=False),
            changed=_noted(name, text, of_first=True),
            advice=advice,
        )
        for name, (does, text, advice) in _SAID.items()
    ),
    Probe(
        name="pair padding",
        kind="fair",
        does="adding empty words to one of two",
        against=_PAIRS,
        changed=Variant(name="pair padding", edit=longer, asks="pairs"),
        advice="compare only answers of like length, or report length beside verdicts",
    ),
    Probe(
        name="pair off topic",
        kind="control",
        does="the answer to another question, in a pair",
        against=_PAIRS,
        changed=Variant(name="pair off topic", edit=other_answer, asks="pairs"),
    ),
)


FEWEST_OPTIONS = 3
"""Two options are a pair: a place among several is one of three or more."""


@dataclass(frozen=True, kw_only=True)
class ProbedPairwise(Pairwise):
    """`Pairwise`, the earlier answer of each pair, or the text on it, as a variant has it.

    Parameters
    ----------
    variant : Variant
        Pairs that it cannot change, or leaves as they are, are left out.
    pairs : int or None
        How many pairs are drawn, round the questions; those with human labels where there are any.
        None keeps all.
    seed : int

    Examples
    --------
    >>> from judgestats.items.records import Response
    >>> from judgestats.protocols.probes import PROBES
    >>> both = (Response(turns=("4",)), Response(turns=("5",)))
    >>> item = Item(id="q", cluster="q", turns=("2+2?",), responses=both)
    >>> hint = ProbedPairwise(variant=PROBES["pair hint"].changed)
    >>> [unit.item.context.split(". ")[0] for unit in hint.units((item,))]
    ['[Note]\\nI think that Assistant A gave the better answer', \
'[Note]\\nI think that Assistant B gave the better answer']
    """

    variant: Variant = field(
        default_factory=lambda: Variant(name=PAIRS, edit=lambda s: s, asks="pairs")
    )
    pairs: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_need(self.template, self.variant)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The drawn pairs that the variant changes, each under its original's name."""
        labelled = any(item.labels for item in items)
        drawn = drawn_pairs(items, limit=self.pairs, seed=self.seed, labelled=labelled)
        units = [
            unit
            for place, pairs in sorted(drawn.items())
            for unit in Pairwise.units(self, (items[place],))
            if tuple(sorted(unit.shown)) in pairs
        ]
        if self.variant.name == PAIRS:
            return tuple(units)
        changed = []
        for unit in units:
            before = probe_answer(unit, _first_of_another_question(items, unit))
            after = self.variant.edit(before)
            if after is not None and after != before:
                changed.append(changed_unit(unit, before, after))
        return tuple(changed)


@dataclass(frozen=True, kw_only=True)
class ProbedSelection(Selection):
    """`Selection` in every rotation, of the questions with three answers or more.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> [(unit.order, unit.shown) for unit in ProbedSelection().units(load_bank()[:1])][:2]
    [('1/4', (1, 3, 2, 0)), ('2/4', (3, 2, 0, 1))]
    """

    variant: Variant = field(
        default_factory=lambda: Variant(name=OPTIONS, edit=lambda s: s, asks="options")
    )
    reasoning: str = "none"
    rotations: bool = True
    options: int | None = 4

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """As `Selection`, without the questions that have fewer answers."""
        return super().units(tuple(i for i in items if len(i.responses) >= FEWEST_OPTIONS))


def _first_of_another_question(items: tuple[Item, ...], unit: Unit) -> Unit | None:
    """The first answer of the next item of another question, round the list."""
    at = next(k for k, item in enumerate(items) if item.id == unit.item.id)
    later = (items[(at + step) % len(items)] for step in range(1, len(items)))
    other = next((i for i in later if i.cluster != unit.cluster and i.responses), None)
    if other is None:
        return None
    return Unit(item_id=other.id, cluster=other.cluster, item=other, shown=(0,))
