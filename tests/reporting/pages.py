"""What holds of every page and its screen: bounds, records, the same numbers in every format."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgestats.reporting import begin_render
from judgestats.results import HEIGHT, WIDTH, Results
from tests.reporting.record_numbers import faults, said_twice

__all__ = [
    "blank_pages",
    "held",
    "held_screen",
    "in_order",
    "pdf_text",
    "render",
    "stranded_headings",
]

MOST_PAGES = 8
_ITEMS = re.compile(r'data-record="[^"]*\.item_id">[^<]*')
"""Names of items, which a PDF breaks into lines at their hyphens."""
_SHOWN = re.compile(
    r'<span data-record="[^"]*#(?:estimate|interval\.\w+|p_adjusted|rows\.[^"]*)">([^<]+)</span>'
)


def render(path: Path, **given: Any) -> dict[str, Path]:
    """Render a document of one's own."""
    with begin_render(path, **given) as publish:
        return publish()


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
    assert blank_pages(page.with_suffix(".pdf")) == {}
    assert stranded_headings(text, pages) == []
    assert any(label in pages[0] for label in ("Figure 1", "Table 1"))
    if isinstance(found, Results) and found.verdicts:  # the screen's verdict heads page one
        word = found.verdicts[0].outcome.replace("_", " ")
        assert word in said
        assert word in pages[0]
    elif isinstance(found, Results) and found.kind not in {
        "drift",
        "replication",
    }:  # as does its finding
        first = " ".join(found.finding.split()[:4])
        assert first in " ".join(said.split())
        assert first in " ".join(pages[0].split())
    numbers = [" ".join(unescape(n).split()) for n in _SHOWN.findall(_ITEMS.sub("", text))]
    assert len(numbers) > 5
    markdown = page.with_suffix(".md").read_text("utf-8").replace("\\", "")
    assert in_order(numbers, " ".join(markdown.split())) == ""
    assert in_order(numbers, " ".join(_words(page.with_suffix(".pdf"), "-raw").split())) == ""


def blank_pages(pdf: Path) -> dict[int, float]:
    """Pages, but the last, with a gap of more than a third of their body, and its share."""
    found = {}
    for number, ink in enumerate(_inked_rows(pdf), start=1):
        body = ink[round(0.08 * len(ink)) : round(0.93 * len(ink))]
        edges = np.flatnonzero(np.concatenate(([True], body, [True])))
        found[number] = float((np.diff(edges).max() - 1) / len(body))
    found.pop(max(found))
    return {number: share for number, share in found.items() if share > 1 / 3}


def _inked_rows(pdf: Path) -> Iterator[np.ndarray]:
    """For every page whether something stands in each row of its picture."""
    done = subprocess.run(
        ["pdftoppm", "-r", "24", "-gray", str(pdf)], capture_output=True, check=True, timeout=60
    )
    at = 0
    while head := re.compile(rb"P5\s(\d+)\s(\d+)\s255\s").match(done.stdout, at):
        width, height = int(head[1]), int(head[2])
        grey = np.frombuffer(done.stdout, np.uint8, width * height, head.end())
        yield (grey.reshape(height, width) < 215).any(axis=1)
        at = head.end() + width * height


def stranded_headings(html: str, pages: Iterable[str]) -> list[str]:
    """Headings of the document that stand last on a page, above its number."""
    inner = re.findall(r"<h[1-4][^>]*>(.*?)</h[1-4]>", html, re.DOTALL)
    headings = {_letters(unescape(re.sub("<[^>]+>", "", text))) for text in inner}
    found = []
    for page in pages:
        lines = [line.strip() for line in page.splitlines() if line.strip()]
        body = [line for line in lines if not re.fullmatch(r"\d+ ?/ ?\d+", line)]
        if body and _letters(body[-1]) in headings:
            found.append(body[-1])
    return found


def _letters(heading: str) -> str:
    return re.sub(r"^[\d.\s]+", "", " ".join(heading.split()))


def _words(pdf: Path, order: str) -> str:
    done = subprocess.run(
        ["pdftotext", order, str(pdf), "-"], capture_output=True, check=True, timeout=30
    )
    return done.stdout.decode()


def pdf_text(path: Path) -> str:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (apt-get install poppler-utils)")
    done = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True)
    return done.stdout.decode()
