"""The catalogue of probes: what must not move a judge, must not succeed, and must move it.

A probe is declared once, here; ``probes=`` of the experiment `probe`, its tables, screen and advice
follow from it. They are made by rule from the available items, but for those whose texts come with
the items: no model is asked for any text.
"""

from __future__ import annotations

from judgestats.errors import InputError, nearest
from judgestats.protocols.probes import attacks, base, pairs, pointwise, wording
from judgestats.protocols.probes.base import (
    OPTIONS,
    ORIGINAL,
    PAIRS,
    Asks,
    Kind,
    Probe,
    ProbeAnswer,
    Variant,
)
from judgestats.protocols.probes.pairs import ProbedPairwise, ProbedSelection
from judgestats.protocols.probes.pointwise import ProbedPointwise, scaled

__all__ = [
    "OPTIONS",
    "ORIGINAL",
    "PAIRS",
    "PROBES",
    "Asks",
    "ProbeAnswer",
    "Kind",
    "Probe",
    "ProbedPairwise",
    "ProbedPointwise",
    "ProbedSelection",
    "Variant",
    "probes_named",
    "scaled",
    "variants_of",
]

PROBES: dict[str, Probe] = {
    p.name: p
    for group in (
        wording.PROBES,
        attacks.NOTE_PROBES,
        base.PROBES,
        pairs.PROBES,
        pointwise.PROBES,
        attacks.PROBES,
        wording.CONTROL_PROBES,
    )
    for p in group
}
"""By name, in the order in which they are reported."""


_GROUPS = ("fair", "scale", "attack", "control", "scores", "pairs", "options")


def probes_named(name: str, listed: str) -> tuple[Probe, ...]:
    """The probes of a list: names, ``all``, a kind (``fair``), or what is asked (``pairs``).

    Examples
    --------
    >>> [p.name for p in probes_named("probes", "padding, control")]
    ['padding', 'pair off topic', 'off topic', 'cut off']
    """
    chosen: dict[str, Probe] = {}
    words = [w.strip() for w in listed.split(",") if w.strip()]
    for word in words:
        kinds = {p.name: p for p in PROBES.values() if word in {"all", p.kind, p.asks}}
        if not kinds and word not in PROBES:
            names = ("all", *_GROUPS, *PROBES)
            raise InputError(
                f"{name}: there is no probe {word!r}.{nearest(word, names)} There are: "
                f"{', '.join(names)}."
            )
        chosen |= kinds or {word: PROBES[word]}
    if not chosen:
        raise InputError(f"{name}: give at least one probe, or all.")
    return tuple(p for p in PROBES.values() if p.name in chosen)


def variants_of(probes: tuple[Probe, ...]) -> dict[str, Variant]:
    """What has to be judged for some probes, by name; the original first where scores are asked.

    Examples
    --------
    >>> list(variants_of(probes_named("probes", "order,off topic")))
    ['original', 'off topic', 'order']
    >>> list(variants_of(probes_named("probes", "position,pair hint")))
    ['pairs', 'pair hint: later', 'pair hint: earlier']
    """
    scores = not probes or any(p.asks == "scores" for p in probes)
    variants = {ORIGINAL: Variant(name=ORIGINAL, edit=lambda shown: shown)} if scores else {}
    return variants | {v.name: v for p in probes for v in p.variants}
