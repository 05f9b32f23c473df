"""Pointwise probes, also on other scales."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from judgestats.items.answers import draw_responses
from judgestats.items.records import Item
from judgestats.protocols.base import ReplyMode, ReplySchema, Scale, Status, Unit, Verdict
from judgestats.protocols.explained import explained_schema, explained_words
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.probes.base import (
    ORIGINAL,
    REVERSED,
    WORDS,
    Probe,
    ProbeAnswer,
    Variant,
    changed_unit,
    check_need,
    probe_answer,
)
from judgestats.protocols.replies import WordForm, read_reply
from judgestats.protocols.template import PromptTemplate


@dataclass(frozen=True, kw_only=True)
class ProbedPointwise(Pointwise):
    """`Pointwise` over the answers as a probe's variant shows them.

    Parameters
    ----------
    variant : Variant
        Answers that it cannot change, or leaves as they are, are left out.
    responses : int or None
        How many answers of a question are judged, drawn by `seed` before the variant sees them, so
        that all variants judge the same ones; None keeps all.
    seed : int

    Examples
    --------
    >>> from judgestats.items.records import Item, Response
    >>> from judgestats.protocols.probes import PROBES
    >>> item = Item(id="q", cluster="q", turns=("2+2?",), responses=(Response(turns=("4",)),))
    >>> [unit] = ProbedPointwise(variant=PROBES["padding"].changed).units((item,))
    >>> unit.item_id, len(unit.item.responses[0].text) > 100
    ('q', True)
    >>> ProbedPointwise(variant=PROBES["bullets"].changed).units((item,))
    ()
    """

    variant: Variant = field(default_factory=lambda: Variant(name=ORIGINAL, edit=lambda s: s))
    responses: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_need(self.template, self.variant)

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The units that the variant changes, each under its original's name."""
        units = super().units(draw_responses(items, count=self.responses, seed=self.seed))
        if self.variant.name == ORIGINAL or self.variant.scale:
            return units
        changed = []
        for at, unit in enumerate(units):
            before = probe_answer(unit, _other_question(units, at))
            after = self.variant.edit(before)
            if after is not None and after != before:
                changed.append(changed_unit(unit, before, after))
        return tuple(changed)


def _other_question(units: tuple[Unit, ...], at: int) -> Unit | None:
    """The next first answer of another question, round the list."""
    n = len(units)
    later = (units[(at + step) % n] for step in range(1, n))
    own = units[at]
    return next((u for u in later if u.cluster != own.cluster and u.shown == (0,)), None)


SCALE_WORDS = ("bad", "poor", "fair", "good", "excellent")
"""The five words of absolute category rating (ITU-T P.800)."""
_SAID = "a whole number from {low} (worst) to {high} (best)"
"""How a prompt states its scale where it can be reversed, or written in words."""
_TURNED = "a whole number from {low} (best) to {high} (worst)"
_IN_WORDS = f"one of the words {', '.join(SCALE_WORDS[:-1])} and {SCALE_WORDS[-1]}"


def _same(shown: ProbeAnswer) -> ProbeAnswer:
    return shown


def _probe(name: str, does: str, scale: str) -> Probe:
    return Probe(
        name=name,
        kind="scale",
        does=does,
        changed=Variant(name=name, edit=_same, scale=scale),
        advice="settle on one scale, and compare no scores across scales",
    )


PROBES = (
    *(_probe(f"scale {s}", f"a scale of {s}", s) for s in ("1-5", "1-10", "1-100")),
    _probe("reversed scale", "a scale on which the lowest number is the best", REVERSED),
    _probe("scale of words", "five words in place of numbers", WORDS),
)


def scaled(asked: ProbedPointwise) -> ProbedPointwise | None:
    """How a variant's scale is asked for; None where it is the run's own, or the prompt fixes it.

    Examples
    --------
    >>> five = scaled(ProbedPointwise(variant=PROBES[0].changed))
    >>> str(five.scale), scaled(ProbedPointwise(variant=PROBES[1].changed)) is None
    ('1-5', True)
    >>> turned = scaled(ProbedPointwise(variant=PROBES[3].changed))
    >>> turned.read(None, ReplyMode.TEXT, "Score: [[2]]").score
    9.0
    """
    template, scale = asked.template, asked.variant.scale
    if scale in {REVERSED, WORDS}:
        if _SAID not in template.text:
            return None
        if scale == REVERSED:
            return _copy_protocol(_Reversed, asked, template=_reworded(template, _TURNED))
        words = Scale(1, len(SCALE_WORDS))
        return _copy_protocol(
            _WordScale, asked, template=_reworded(template, _IN_WORDS), scale=words
        )
    if scale == str(asked.scale) or not {"low", "high"} <= template.placeholders:
        return None
    return replace(asked, scale=Scale.parse(scale))


def _reworded(template: PromptTemplate, scale_text: str) -> PromptTemplate:
    return replace(template, text=template.text.replace(_SAID, scale_text))


def _copy_protocol(
    kind: type[ProbedPointwise], asked: ProbedPointwise, **changes: Any
) -> ProbedPointwise:
    return kind(**{**vars(asked), **changes})


@dataclass(frozen=True, kw_only=True)
class _Reversed(ProbedPointwise):
    """The lowest number is the best; scores are turned back, the higher the better."""

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        verdict = super().read(unit, mode, text, finish_reason=finish_reason)
        if verdict.score is None:
            return verdict
        return replace(verdict, score=self.scale.low + self.scale.high - verdict.score)


@dataclass(frozen=True, kw_only=True)
class _WordScale(ProbedPointwise):
    """One of five words; the score is the word's place, the better the higher."""

    def schema(self) -> ReplySchema:
        word = {"type": "string", "enum": list(SCALE_WORDS), "description": "The rating."}
        return explained_schema(
            "submit_rating",
            "Submit the rating of the response.",
            word,
            called="rating",
            reasoning=self.reasoning,
        )

    def _reply_text(self, mode: ReplyMode) -> str:
        fields = " and ".join(f'"{f}"' for f in self.schema().schema["properties"])
        words = f"{', '.join(f'[[{w}]]' for w in SCALE_WORDS[:-1])} or [[{SCALE_WORDS[-1]}]]"
        how = {
            ReplyMode.JSON_SCHEMA: f"Reply as a JSON object with {fields}.",
            ReplyMode.TOOL: "Call the tool submit_rating.",
            ReplyMode.TEXT: f"Write the rating as {words}.",
        }[mode]
        return f"{explained_words('rating', self.reasoning)} {how}"

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        del unit, mode  # read the same way for every unit and in every mode
        verdict = read_reply(
            text, WordForm(SCALE_WORDS), tool="submit_rating", finish_reason=finish_reason
        )
        if verdict.status != Status.OK or verdict.choice is None:
            return verdict
        return replace(verdict, score=float(1 + SCALE_WORDS.index(verdict.choice)), choice=None)
