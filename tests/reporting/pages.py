"""What holds of every page and its screen: bounds, records, the same numbers in every format."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from html import unescape
from pathlib import Path

from judgestats.results import Results
from judgestats.results.brief import brief_of
from judgestats.results.screen import HEIGHT, WIDTH
from tests.reporting.record_numbers import faults, said_twice

__all__ = ["held", "held_screen", "in_order"]

MOST_PAGES = 8
_SHOWN = re.compile(
    r'<span data-record="[^"]*#(?:estimate|interval\.\w+|p_adjusted|rows\.[^"]*)">([^<]+)</span>'
)


def in_order(numbers: Iterable[str], text: str) -> str:
    """The first number that does not follow the one before it, or nothing."""
    at = 0
    for number in numbers:
        found = text.find(number, at)
        if found < 0:
            return f"{number!r} after {text[max(0, at - 80) : at]!r}"
        at = found
    return ""


def held_screen(said: str) -> None:
    """Hold a screen to its bounds: no sentence is cut, and none says that nothing was computed."""
    lines = said.splitlines()
    assert len(lines) <= HEIGHT, said
    assert max(map(len, lines)) <= WIDTH, said
    assert " ..." not in said
    assert said.count("could not be computed") <= 1


def held(page: Path, found: Results | Mapping[str, Results], said: str) -> None:
    """Hold a page, and its PDF and Markdown beside it, to its records and to its screen."""
    held_screen(said)
    assert faults(page, found) == []
    assert said_twice(page) == []
    text = page.read_text("utf-8")
    assert text.count("could not be computed") <= 1
    pages = _words(page.with_suffix(".pdf"), "-layout").split("\f")[:-1]
    assert len(pages) <= MOST_PAGES
    assert any(label in pages[0] for label in ("Figure 1", "Table 1"))
    if isinstance(found, Results):  # the screen's first answer heads page one
        for answer in brief_of(found).answers[:1]:
            first = " ".join(answer.text.split()[:4])
            assert first in " ".join(said.split())
            assert first in " ".join(pages[0].split())
    numbers = [" ".join(unescape(n).split()) for n in _SHOWN.findall(text)]
    assert len(numbers) > 5
    markdown = page.with_suffix(".md").read_text("utf-8").replace("\\", "")
    assert in_order(numbers, " ".join(markdown.split())) == ""
    assert in_order(numbers, " ".join(_words(page.with_suffix(".pdf"), "-raw").split())) == ""


def _words(pdf: Path, order: str) -> str:
    done = subprocess.run(
        ["pdftotext", order, str(pdf), "-"], capture_output=True, check=True, timeout=30
    )
    return done.stdout.decode()
