"""Answers that someone, or a model, wrote anew: they come with the items, and stay with the run.

No rule translates or condenses a text. ``written`` of a response in judgestats' own layout of items
holds such texts: ``{"turns": ["..."], "written": {"translated": "..."}}``. Whether they say the
same is for people to check, on a sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from judgestats.protocols.probes.base import Judged, Probe, Variant


@dataclass(frozen=True)
class _Written:
    """The answer as it was written anew."""

    done: str

    def __call__(self, shown: Judged) -> Judged | None:
        text = dict(shown.written).get(self.done)
        return None if text is None else replace(shown, answer=text)


_DONE = {
    "translated": ("the same answer in another language", "judge answers in one language"),
    "condensed": ("the same answer in fewer words", "compare only answers of like length"),
    "expanded": ("the same answer in more words", "compare only answers of like length"),
    "other tone": ("the same answer in another tone", "say in the prompt whether tone counts"),
}

PROBES = tuple(
    Probe(
        name=name,
        kind="fair",
        does=does,
        changed=Variant(name=name, edit=_Written(name), written=True),
        advice=advice,
    )
    for name, (does, advice) in _DONE.items()
)
