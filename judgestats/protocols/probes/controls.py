"""Changes for the worse: a judge that they do not move reads nothing, and is not called fair."""

from __future__ import annotations

from dataclasses import replace

from judgestats.protocols.probes.attacks import OFF_TOPIC
from judgestats.protocols.probes.base import Judged, Probe, Variant, sentences

__all__ = ["PROBES"]

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
    Probe(
        name="wrong reference",
        kind="reference",
        does="the reference of another question",
        changed=Variant(name="wrong reference", edit=_other_reference, needs="reference"),
    ),
)
