"""Changes for the worse: a judge that they do not move reads nothing, and is not called fair."""

from __future__ import annotations

import re
from dataclasses import replace

from judgestats.protocols.probes.attacks import OFF_TOPIC
from judgestats.protocols.probes.base import Edit, Judged, Probe, Variant, sentences

_KEPT = 0.3


def _cut(shown: Judged) -> Judged | None:
    """The first three tenths of an answer's words."""
    words = shown.answer.split(" ")
    kept = round(_KEPT * len(words))
    if len(sentences(shown.answer)) < 2 or kept < 2:
        return None
    return replace(shown, answer=" ".join(words[:kept]))


def _other_reference(shown: Judged) -> Judged | None:
    if not shown.reference or shown.other is None or not shown.other.reference:
        return None
    return replace(shown, reference=shown.other.reference)


_NUMBER = re.compile(r"(?<![\w.,])\d+(?![\w,]|\.\d)")


def _wrong_reference(shown: Judged) -> Judged | None:
    """Its first number is one more; a reference without whole numbers is left out."""
    match = _NUMBER.search(shown.reference)
    if match is None:
        return None
    start, end = match.span()
    more = str(int(match.group()) + 1)
    return replace(shown, reference=f"{shown.reference[:start]}{more}{shown.reference[end:]}")


def _no_reference(shown: Judged) -> Judged | None:
    return replace(shown, reference="") if shown.reference else None


def _tampered(name: str, does: str, edit: Edit) -> Probe:
    changed = Variant(name=name, edit=edit, needs="reference")
    return Probe(name=name, kind="reference", does=does, changed=changed)


PROBES = (
    Probe(
        name="off topic",
        kind="control",
        does="the answer to another question",
        changed=OFF_TOPIC,
    ),
    Probe(
        name="cut off",
        kind="control",
        does="an answer cut off after three tenths",
        changed=Variant(name="cut off", edit=_cut),
    ),
    _tampered("wrong reference", "the reference of another question", _other_reference),
    _tampered("altered reference", "a wrong number in the reference", _wrong_reference),
    _tampered("no reference", "an empty reference", _no_reference),
)
