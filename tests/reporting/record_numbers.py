"""Whether every number of a page is a record's: read as a browser would."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from judgestats.reporting import resolve
from judgestats.results import Results

VOID = {"meta", "link", "img", "br", "source", "input", "hr", "wbr", "col"}
EXEMPT = {
    "header.title": "title, question and date of the page",
    "nav": "contents",
    "header-section-number": "numbers of sections",
    "float-number": "numbers of figures and tables",
    "cross-reference": "references to them",
    "citation": "years of sources",
    "references": "the sources",
    "methods": "formulas and names of coefficients in the text on methods",
    "pre": "prompts and commands, quoted",
    "code": "names of files and prompts, quoted",
    "files": "names of files",
    "label": "names of conditions, items, estimands and questions",
    "th": "heads of columns: names of estimands",
    "figcaption": "captions name estimands and levels",
    "heading": "headings",
    "table-note": "notes name levels and files",
    "simulated-banner": "the warning",
    "style": "no text",
}
"""Kinds of elements whose numbers are no record's: they quote, name or count parts of the page."""


_STUDY_TESTS = re.compile(r'<figure id="tbl-study-tests".*?</figure>', re.DOTALL)


@dataclass
class Page(HTMLParser):
    """Numbers of a page's text: those of records, and those that stand for themselves."""

    stack: list[tuple[str, str, str]] = field(default_factory=list)
    marked: list[tuple[str, str]] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        given = {k: v or "" for k, v in attrs}
        kind = _kind(tag, given)
        self.stack.append((tag, kind, given.get("data-record", "")))
        if given.get("data-record"):
            self.marked.append((given["data-record"], ""))
            if any(name == "td" for name, _, _ in self.stack):
                self.cells.append(given["data-record"])

    def handle_endtag(self, tag: str) -> None:
        while self.stack:
            top = self.stack.pop()
            if top[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if any(kind for _, kind, _ in self.stack):
            return
        record = next((r for _, _, r in reversed(self.stack) if r), "")
        if record:
            where, text = self.marked[-1]
            self.marked[-1] = (where, text + data)
        elif re.search(r"\d", data):
            self.bare.append(data)


def _kind(tag: str, given: dict[str, str]) -> str:
    classes = given.get("class", "").split()
    if tag in {"nav", "th", "pre", "code", "figcaption", "style", "title"}:
        return tag if tag != "title" else "style"
    if re.fullmatch(r"h\d", tag):
        return "heading"
    if tag == "header" and "title" in classes:
        return "header.title"
    if given.get("data-kind") == "label":
        return "label"
    return next((c for c in classes if c in EXEMPT), "")


def faults(page: Path, found: Results | Mapping[str, Results]) -> list[str]:
    """Numbers that are no record's, and those that differ from theirs; of one file or several."""
    read = Page()
    read.feed(page.read_text(encoding="utf-8"))
    out = [f"no record: {text.strip()[:60]!r}" for text in read.bare]
    for where, text in read.marked:
        value = resolve(found, where)
        if not _same(" ".join(text.split()), value):
            out.append(f"{where}: shows {text!r}, is {value!r}")
    return out


def said_twice(page: Path) -> list[str]:
    """Numbers that stand in two cells of tables, by their records.

    The table of a study's tests repeats the p of the item-blocked tests, next to which it stands.
    """
    read = Page()
    read.feed(_STUDY_TESTS.sub("", page.read_text(encoding="utf-8")))
    ends = [where for where in read.cells if where.endswith(("#estimate", "#p_adjusted", "#p"))]
    return sorted({where for where in ends if ends.count(where) > 1})


def _same(text: str, value: object) -> bool:
    if isinstance(value, str):
        return text == " ".join(value.split())
    assert isinstance(value, (int, float))
    if text == "not reachable":
        return value == float("inf")
    plain = text.replace("−", "-").replace(",", "").replace("$", "")
    if plain.startswith("≤ "):  # a bound is rounded up
        return 0 <= float(plain[2:]) - value + 1e-9 < 10.0 ** -len(plain.partition(".")[2])
    if plain.startswith("< "):
        return value < float(plain[2:].rstrip(" %")) / (100 if "%" in plain else 1)
    if plain.startswith("> "):
        return value > float(plain[2:])
    share = plain.endswith("%")
    number = plain.rstrip(" %")
    digits = len(number.partition(".")[2])
    shown = float(number)
    return abs(shown - (100 * value if share else value)) <= 0.5000001 * 10.0**-digits
