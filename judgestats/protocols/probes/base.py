"""Contract of a probe, and rewritten texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from judgestats.errors import InputError
from judgestats.items.records import Item
from judgestats.protocols.base import Unit
from judgestats.protocols.template import PromptTemplate, joined_texts

ORIGINAL = "original"
"""The variant in which nothing is changed: the baseline that is repeated."""
PAIRS = "pairs"
"""The same for pairs of answers, in both orders."""
OPTIONS = "options"
"""The same for the best of several answers, in every rotation."""
REVERSED = "reversed"
"""A scale whose lowest number is the best."""
WORDS = "words"
"""A scale of words."""

Asks = Literal["scores", "pairs", "options"]
"""For a score of one answer, for the better of two, or for the best of several."""

Measure = Literal["shift", "first place", "last place", "own answers"]
"""``shift``: changed minus unchanged. The others need only the baseline. They are the share of a
position minus an even share, and the own-answer share of the judge minus that of human raters."""

Kind = Literal["fair", "scale", "attack", "control", "reference"]
"""``fair``: must not move it. ``scale``: must leave the order as it is. ``attack``: must not
succeed. ``control``: must lower its scores. ``reference``: moves a judge that is bound to its
reference; described, nothing is claimed."""


@dataclass(frozen=True, kw_only=True)
class ProbeAnswer:
    """An answer as it is shown, and what stands around it.

    Attributes
    ----------
    name : str
        Of the unit; edits that draw, draw by it.
    place : int
        Of the answer among those of its question.
    letters : tuple of str
        In a comparison: what the answer is called, and what the other one is.
    question, answer, note, reference : str
        `note` precedes the question, apart from it.
    other : ProbeAnswer or None
        An answer to another question.
    written : tuple of (str, str)
        The rewritten answer, by what was done.
    """

    name: str
    place: int
    question: str
    answer: str
    note: str = ""
    reference: str = ""
    other: ProbeAnswer | None = None
    letters: tuple[str, ...] = ()
    written: tuple[tuple[str, str], ...] = ()


Edit = Callable[[ProbeAnswer], ProbeAnswer | None]
"""The changed answer; None where it cannot be made."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way of showing an answer.

    Attributes
    ----------
    name : str
        The level of the factor ``probe``.
    edit : callable
    needs : str
        A place that the prompt must have for the change to be seen.
    asks : {"scores", "pairs", "options"}
        Of a pair the answer that is first in the item is edited.
    scale : str
        Another scale than the run's: ``low-high``, `REVERSED` or `WORDS`.
    written : bool
        Whether its texts come with the items.
    """

    name: str
    edit: Edit
    needs: str = ""
    asks: Asks = "scores"
    scale: str = ""
    written: bool = False


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A manipulation, and what it says of a judge.

    Attributes
    ----------
    name : str
    kind : {"fair", "scale", "attack", "control", "reference"}
    does : str
        The change, as the subject of a sentence: ``adding empty words``.
    changed : Variant
    against : Variant or None
        What it is compared with, where that is not the original.
    success : {"highest", "middle"}
        Of an attack: the lowest score by which it has succeeded.
    measured : {"shift", "first place", "last place", "own answers"}
    """

    name: str
    kind: Kind
    does: str
    changed: Variant
    against: Variant | None = None
    success: Literal["highest", "middle"] = "highest"
    measured: Measure = "shift"

    @property
    def asks(self) -> Asks:
        """What the judge is asked for."""
        return self.changed.asks

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants that it needs, next to the original."""
        both = (self.changed,) if self.against is None else (self.against, self.changed)
        return tuple(dict.fromkeys(both))

    @property
    def baseline(self) -> str:
        """The name of what it is compared with."""
        return ORIGINAL if self.against is None else self.against.name


def probe(
    name: str, does: str, edit: Edit, *, kind: Kind = "fair",
    against: Variant | None = None, needs: str = "", asks: Asks = "scores", scale: str = "",
) -> Probe:  # fmt: skip
    """A probe whose change bears its name."""
    changed = Variant(name=name, edit=edit, needs=needs, asks=asks, scale=scale)
    return Probe(name=name, kind=kind, does=does, changed=changed, against=against)


def probe_answer(unit: Unit, other: Unit | None) -> ProbeAnswer:
    """What a unit shows, with what another unit shows next to it; of a pair the earlier answer."""
    item, place = unit.item, min(unit.shown)
    letters = tuple("AB"[unit.shown.index(k)] for k in sorted(unit.shown))
    return ProbeAnswer(
        name=unit.item_id,
        place=place,
        question=item.question,
        answer=item.responses[place].text,
        reference=item.reference[-1] if item.reference else "",
        other=None if other is None else probe_answer(other, None),
        letters=letters if len(letters) > 1 else (),
        written=item.responses[place].written,
    )


def check_need(template: PromptTemplate, variant: Variant) -> None:
    """Refuse a prompt in which what a variant adds would not be seen."""
    needs = variant.needs
    if needs and needs not in template.placeholders:
        where = f"where the probe {variant.name.partition(':')[0]!r} would stand"
        how = "Put it there, or leave the probe out of probes=."
        raise InputError(f"prompt {template.name!r}: it lacks {{{needs}}}, {where}. {how}")


def changed_unit(unit: Unit, before: ProbeAnswer, after: ProbeAnswer) -> Unit:
    """The unit as an edit left it, under the same name, so that both are paired."""
    item = unit.item
    responses = list(item.responses)
    turns = responses[before.place].turns
    responses[before.place] = replace(responses[before.place], turns=(*turns[:-1], after.answer))
    changed: Item = replace(
        item,
        turns=(*item.turns[:-1], after.question),
        responses=tuple(responses),
        context=joined_texts(item.context, after.note),
        reference=(*item.reference[:-1], after.reference) if item.reference else (),
    )
    return unit if after == before else replace(unit, item=changed)


def changed_units(
    units: Sequence[Unit], others: Sequence[Unit | None], variant: Variant
) -> tuple[Unit, ...]:
    """The units that a variant changes, each with an answer to another question to draw on."""
    changed = []
    for unit, other in zip(units, others, strict=True):
        before = probe_answer(unit, other)
        after = variant.edit(before)
        if after is not None and after != before:
            changed.append(changed_unit(unit, before, after))
    return tuple(changed)


def seeded(*parts: str) -> int:
    """A number fixed by the parts: edits that draw give the same text in every run.

    Examples
    --------
    >>> seeded("a", "b") == seeded("a", "b")
    True
    """
    joined = "\x1f".join(parts).encode("utf-8", "replace")
    return int.from_bytes(hashlib.sha256(joined).digest()[:6])


_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
_CODE = re.compile(r"```|^\s*\||^ {4}\S|^\t", re.MULTILINE)


def sentences(text: str) -> list[str]:
    """The sentences of a text without code or tables; none where it has them.

    Examples
    --------
    >>> sentences("It is 4. Two and two make it."), sentences("```x = 4```")
    (['It is 4.', 'Two and two make it.'], [])
    """
    return [] if _CODE.search(text) else [s for s in _END.split(text.strip()) if s]


@dataclass(frozen=True)
class _Rewrite:
    """The rewritten answer."""

    done: str

    def __call__(self, shown: ProbeAnswer) -> ProbeAnswer | None:
        text = dict(shown.written).get(self.done)
        return None if text is None else replace(shown, answer=text)


WRITTEN_PROBES = tuple(
    Probe(
        name=name,
        kind="fair",
        does=f"the same answer in {how}",
        changed=Variant(name=name, edit=_Rewrite(name), written=True),
    )
    for name, how in (
        ("translated", "another language"),
        ("condensed", "fewer words"),
        ("expanded", "more words"),
        ("other tone", "another tone"),
    )
)
