"""The cells of a report run in this process: what they show, drawn, without pandoc."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

REPORTS = Path(__file__).resolve().parents[2] / "reports"
_CELL = re.compile(r"^```\{python\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`\{python\} (.+?)`")


def shown_by(folder: Path, document: str = "experiment") -> list[Any]:
    """Everything that a document shows of a run's folder; every figure is drawn once."""
    text = (REPORTS / f"{document}.qmd").read_text(encoding="utf-8")
    found: list[Any] = []

    def collect(*things: Any, about: str = "") -> None:
        del about  # the words that go before what is shown
        for thing in things:
            if isinstance(thing, (list, tuple)):
                collect(*thing)
            elif thing is not None:
                found.append(thing)
                if hasattr(thing, "figure"):
                    thing.figure.render()

    names: dict[str, Any] = {}
    for cell in _CELL.findall(text):
        exec(cell, names)
        names["run"], names["show"] = str(folder), collect
    for inline in _INLINE.findall(text):
        collect(eval(inline, names))
    return found


def words_of(shown: list[Any]) -> str:
    """Sentences, captions and cells of tables in one text."""
    parts = []
    for thing in shown:
        for name in ("text", "caption", "note"):
            parts.append(str(getattr(thing, name, "")))
        parts += [str(v) for row in getattr(thing, "rows", ()) for v in row.values()]
    return "\n".join(parts)
