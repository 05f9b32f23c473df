"""Judges' own words in a further prompt: framed, bounded, and unable to pass for the frame."""

from __future__ import annotations

import re
from collections.abc import Iterable

from judgestats.protocols.frame import framed_text, seal_of

MAX_INSERTED = 8_000
"""Characters of one judgment that a further prompt shows; what is cut is counted."""

_CUT = "\n[... shortened here ...]"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def bounded(text: str, *, limit: int = MAX_INSERTED) -> tuple[str, bool]:
    """A text of at most so many characters (beginning and end are kept), and whether it was cut.

    Examples
    --------
    >>> bounded("short"), bounded("x" * 100, limit=50)[1]
    (('short', False), True)
    """
    text = text.strip()
    if len(text) <= limit:
        return text, False
    room = max(limit - len(_CUT) - 1, 2)
    head = room * 2 // 3
    return f"{text[:head]}{_CUT}\n{text[len(text) - (room - head) :]}", True


def framed(blocks: Iterable[tuple[str, str, str]], *, limit: int = MAX_INSERTED) -> tuple[str, int]:
    """Blocks of (name, our own line above, a judge's text) for a prompt, and how many were cut.

    Examples
    --------
    >>> print(framed([("Judgment 1", "", "B is shorter.")])[0])
    [The Start of Judgment 1]
    B is shorter.
    [The End of Judgment 1]
    """
    blocks = [(name, above, _CONTROL.sub(" ", text)) for name, above, text in blocks]
    seal = seal_of(text for _, _, text in blocks)
    parts, cut = [], 0
    for name, above, text in blocks:
        shown, shortened = bounded(text, limit=limit)
        cut += shortened
        parts.append("\n".join(filter(None, (above, framed_text(name, shown or "(empty)", seal)))))
    return "\n\n".join(parts), cut
