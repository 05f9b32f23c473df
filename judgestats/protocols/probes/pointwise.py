"""Pointwise scoring of answers that a probe has changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from judgestats.items.candidates import draw_responses
from judgestats.items.schema import Item
from judgestats.protocols.base import Unit
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.probes.base import (
    ORIGINAL,
    Variant,
    changed_unit,
    check_need,
    judged_in,
)


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
    >>> from judgestats.items.schema import Item, Response
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
            before = judged_in(unit, _of_another_question(units, at))
            after = self.variant.edit(before)
            if after is not None and after != before:
                changed.append(changed_unit(unit, before, after))
        return tuple(changed)


def _of_another_question(units: tuple[Unit, ...], at: int) -> Unit | None:
    """The next first answer of another question, round the list."""
    n = len(units)
    later = (units[(at + step) % n] for step in range(1, n))
    own = units[at]
    return next((u for u in later if u.cluster != own.cluster and u.shown == (0,)), None)
