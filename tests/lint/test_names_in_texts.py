"""No text holds the name of a function or class where it should hold a word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUDIES = {p.stem for p in (ROOT / "docs" / "findings").glob("*.md")}
LABELS = {"label", "heading", "title", "caption", "x_label", "y_label", "question"}
NAME = re.compile(r"\b(?:[a-z]+(?:_[a-z]+)+|(?:[A-Z][a-z]+){2,})\b")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@cache
def trees() -> dict[Path, ast.Module]:
    return {p: ast.parse(p.read_text("utf-8")) for p in (ROOT / "judgestats").rglob("*.py")}


def defined() -> set[str]:
    nodes = (n for tree in trees().values() for n in ast.walk(tree))
    return {n.name for n in nodes if isinstance(n, DEFINITIONS) and NAME.fullmatch(n.name)}


def labels() -> Iterator[tuple[str, str]]:
    for path, tree in trees().items():
        for node in ast.walk(tree):
            for word in node.keywords if isinstance(node, ast.Call) else ():
                if word.arg in LABELS and isinstance(word.value, ast.Constant):
                    yield path.name, str(word.value.value)


def test_no_label_is_the_name_of_a_function_or_class() -> None:
    known, found = defined(), list(labels())
    assert len(known) > 1000
    assert len(found) > 250
    assert not [(where, text) for where, text in found if text in known]


def test_no_finding_holds_the_name_of_a_function_outside_code() -> None:
    known = defined()
    pages = sorted((ROOT / "docs" / "findings").glob("*.md"))
    assert len(pages) > 5
    wrong = []
    for page in pages:
        prose = re.sub(r"`[^`]*`|\]\([^)]*\)|\[\w+\]|\b\w+\.py\b", "", page.read_text("utf-8"))
        wrong += [(page.name, w) for w in NAME.findall(prose) if w in known - STUDIES and "_" in w]
    assert not wrong
