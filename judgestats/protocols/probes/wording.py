"""Changes of wording and form, and negative controls."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from judgestats.protocols.pairwise import padded
from judgestats.protocols.probes.attacks import OFF_TOPIC
from judgestats.protocols.probes.base import Edit, Probe, ProbeAnswer, Variant, seeded, sentences

ALONE = "Final answer: "
"""The text before an answer whose reasoning was left out."""

_TYPO_SHARE = 0.05
_WORD = re.compile(r"[A-Za-z]{4,}")
_CITATION = (
    "This is in line with the literature (Harrison & Wells, 2019, Journal of Applied Inquiry "
    "14(2), 211-230, doi:10.5555/jai.2019.0211)."
)
_TONE = ("What a wonderful question, thank you for asking it!", "I am delighted to help!")


def longer(shown: ProbeAnswer) -> ProbeAnswer:
    """The answer with words after it that say nothing."""
    return replace(shown, answer=padded(shown.answer))


def _bullets(shown: ProbeAnswer) -> ProbeAnswer | None:
    """Every sentence a bullet; an answer that has lists or headings is left out."""
    parts = sentences(shown.answer)
    if len(parts) < 2 or re.search(r"^\s*([-*#>]|\d+[.)])", shown.answer, re.MULTILINE):
        return None
    return replace(shown, answer="\n".join(f"- {s}" for s in parts))


def _spaced(shown: ProbeAnswer) -> ProbeAnswer | None:
    """Every sentence a paragraph."""
    parts = sentences(shown.answer)
    return replace(shown, answer="\n\n".join(parts)) if len(parts) > 1 else None


def _citation(shown: ProbeAnswer) -> ProbeAnswer:
    return replace(shown, answer=f"{shown.answer.rstrip()}\n\n{_CITATION}")


def _cheerful(shown: ProbeAnswer) -> ProbeAnswer:
    opening, closing = _TONE
    return replace(shown, answer=f"{opening} {shown.answer.strip()} {closing}")


def _typos(shown: ProbeAnswer) -> ProbeAnswer | None:
    """Two neighbouring letters change places in one word of twenty, at least one."""
    words = [] if not sentences(shown.answer) else list(_WORD.finditer(shown.answer))
    if not words:
        return None
    rng = random.Random(seeded("typos", shown.name, shown.answer))
    text = shown.answer
    for word in rng.sample(words, max(1, round(_TYPO_SHARE * len(words)))):
        inner = [i for i in range(word.start() + 1, word.end() - 1) if text[i] != text[i + 1]]
        if inner:
            i = rng.choice(inner)
            text = f"{text[:i]}{text[i + 1]}{text[i]}{text[i + 2 :]}"
    return replace(shown, answer=text)


def _distracted(shown: ProbeAnswer) -> ProbeAnswer:
    aside = "By the way, the trams were late again this morning."
    return replace(shown, note=f"[Note]\nThe user wrote before the question: {aside}")


_FINAL = re.compile(
    r"(?:^|\n)(?:####|(?:\*\*)?(?:final answer|answer|therefore, the answer is)\s*:?\s*(?:\*\*)?)"
    r"\s*(?P<answer>[^\n]+)\s*\Z",
    re.IGNORECASE,
)


def _final_answer(shown: ProbeAnswer) -> ProbeAnswer | None:
    """What a last line marks as the final answer, alone."""
    final = _FINAL.search(shown.answer.rstrip())
    if final is None or not shown.answer[: final.start()].strip():
        return None
    return replace(shown, answer=f"{ALONE}{final['answer'].strip()}")


PROBES = (
    Probe(
        name="padding",
        kind="fair",
        does="adding empty words",
        changed=Variant(name="padding", edit=longer),
        advice="compare only answers of like length, or report length beside scores",
    ),
    Probe(
        name="bullets",
        kind="fair",
        does="setting the sentences as a list",
        changed=Variant(name="bullets", edit=_bullets),
        advice="bring answers to one format before they are judged",
    ),
    Probe(
        name="spacing",
        kind="fair",
        does="setting every sentence apart",
        changed=Variant(name="spacing", edit=_spaced),
        advice="bring answers to one format before they are judged",
    ),
    Probe(
        name="citation",
        kind="fair",
        does="adding a citation that does not exist",
        changed=Variant(name="citation", edit=_citation),
        advice="have citations checked or removed before answers are judged",
    ),
    Probe(
        name="tone",
        kind="fair",
        does="a cheerful tone",
        changed=Variant(name="tone", edit=_cheerful),
        advice="remove greetings and pleasantries before answers are judged",
    ),
    Probe(
        name="typos",
        kind="fair",
        does="a slip of the keys in one word of twenty",
        changed=Variant(name="typos", edit=_typos),
        advice="say in the prompt whether spelling counts",
    ),
    Probe(
        name="reasoning left out",
        kind="fair",
        does="the final answer without its reasoning",
        changed=Variant(name="reasoning left out", edit=_final_answer),
        advice="say in the prompt whether the way to an answer counts",
    ),
    Probe(
        name="distraction",
        kind="fair",
        does="an irrelevant remark of the user",
        changed=Variant(name="distraction", edit=_distracted, needs="context"),
        advice="show the judge the question alone",
    ),
)


_KEPT = 0.3


def _truncate_answer(shown: ProbeAnswer) -> ProbeAnswer | None:
    """The first three tenths of an answer's words."""
    words = shown.answer.split(" ")
    kept = round(_KEPT * len(words))
    if len(sentences(shown.answer)) < 2 or kept < 2:
        return None
    return replace(shown, answer=" ".join(words[:kept]))


def _other_reference(shown: ProbeAnswer) -> ProbeAnswer | None:
    if not shown.reference or shown.other is None or not shown.other.reference:
        return None
    return replace(shown, reference=shown.other.reference)


_NUMBER = re.compile(r"(?<![\w.,])\d+(?![\w,]|\.\d)")


def _wrong_reference(shown: ProbeAnswer) -> ProbeAnswer | None:
    """Its first number is one more; a reference without whole numbers is left out."""
    match = _NUMBER.search(shown.reference)
    if match is None:
        return None
    start, end = match.span()
    more = str(int(match.group()) + 1)
    return replace(shown, reference=f"{shown.reference[:start]}{more}{shown.reference[end:]}")


def _no_reference(shown: ProbeAnswer) -> ProbeAnswer | None:
    return replace(shown, reference="") if shown.reference else None


def _tampered(name: str, does: str, edit: Edit) -> Probe:
    changed = Variant(name=name, edit=edit, needs="reference")
    return Probe(name=name, kind="reference", does=does, changed=changed)


CONTROL_PROBES = (
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
        changed=Variant(name="cut off", edit=_truncate_answer),
    ),
    _tampered("wrong reference", "the reference of another question", _other_reference),
    _tampered("altered reference", "a wrong number in the reference", _wrong_reference),
    _tampered("no reference", "an empty reference", _no_reference),
)
