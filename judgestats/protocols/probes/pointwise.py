"""Pointwise scoring of answers that a probe has changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from judgestats.errors import InputError
from judgestats.items.schema import Item
from judgestats.protocols.base import Unit
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.probes.base import ORIGINAL, Variant, changed_unit, judged_in

__all__ = ["ProbedPointwise"]


@dataclass(frozen=True, kw_only=True)
class ProbedPointwise(Pointwise):
    """`Pointwise` over the answers as a probe's variant shows them.

    Parameters
    ----------
    variant : Variant
        Answers that it cannot change, or leaves as they are, are left out.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        needs = self.variant.needs
        if needs and needs not in self.template.placeholders:
            raise InputError(
                f"prompt {self.template.name!r}: it lacks {{{needs}}}, where the probe "
                f"{self.variant.name.partition(':')[0]!r} would stand. Put it there, or leave the "
                "probe out of probes=."
            )

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The units that the variant changes, each under its original's name."""
        units = super().units(items)
        if self.variant.name == ORIGINAL:
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
