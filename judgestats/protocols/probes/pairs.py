"""Probes of comparisons: the place, the judge's own answers, names and opinions that are told.

Who wrote an answer, or which one others prefer, is said of either answer of a pair in turn, in both
orders: what the two differ in is what was said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from judgestats.protocols.probes.attacks import other_answer
from judgestats.protocols.probes.base import OPTIONS, PAIRS, Judged, Probe, Variant
from judgestats.protocols.probes.wording import longer


@dataclass(frozen=True)
class _Said:
    """What is said of one answer of a pair."""

    text: str
    of_first: bool

    def __call__(self, shown: Judged) -> Judged:
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
    edit = _Said(text, of_first)
    return Variant(name=f"{name}: {side}", edit=edit, needs="context", asks="pairs")


def _same(shown: Judged) -> Judged:
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
