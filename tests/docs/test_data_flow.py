"""docs/architecture.md follows one judgment: each function it names exists and is called so."""

from __future__ import annotations

import ast
import os
import re
import shlex
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType

import pytest

from judgestats.cli import main

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "architecture.md"
PLACE = re.compile(r"`([\w./]+\.py):([\w.]+)`")
COMMAND = re.compile(r"^judgestats (.+)$", re.MULTILINE)

Place = tuple[str, str]
"""A file from the repository's root, and a function's qualified name in it."""


def places(text: str) -> list[Place]:
    """What a page names, in its order, each once."""
    return list(dict.fromkeys(PLACE.findall(text)))


def defined(source: str) -> set[str]:
    """Qualified names of a module's functions and methods."""
    names: set[str] = set()

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(prefix + child.name)
            elif isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")

    visit(ast.parse(source), "")
    return names


def absent(named: Iterable[Place], root: Path) -> list[Place]:
    """Those that the code does not define."""
    return [
        (file, name)
        for file, name in named
        if not (root / file).is_file()
        or name not in defined((root / file).read_text(encoding="utf-8"))
    ]


def first_calls(run: Callable[[], object], named: Iterable[Place], root: Path) -> list[Place]:
    """Those that `run` calls, in all its threads, in the order of their first calls."""
    wanted = set(named)
    names = {name.rpartition(".")[2] for _, name in named}
    order: dict[Place, None] = {}
    top = str(root) + os.sep

    def trace(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code.co_name in names and code.co_filename.startswith(top):
            place = (Path(code.co_filename[len(top) :]).as_posix(), code.co_qualname)
            if place in wanted:
                order.setdefault(place)

    before, before_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
        threading.settrace(before_threads)  # type: ignore[arg-type]
    return list(order)


def differences(named: Sequence[Place], called: Sequence[Place]) -> list[str]:
    """One line for each place that is not called, and for the first that is called elsewhere."""
    lines = [f"{file}:{name} is not called" for file, name in named if (file, name) not in called]
    left = [place for place in named if place in called]
    for page, code in zip(left, called, strict=True):
        if page != code:
            lines.append(f"{code[0]}:{code[1]} is called before {page[0]}:{page[1]}")
            break
    return lines


def test_every_function_named_exists() -> None:
    named = places(PAGE.read_text(encoding="utf-8"))
    assert named
    assert absent(named, REPOSITORY) == []


def test_its_command_calls_them_in_this_order(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    [words] = COMMAND.findall(text)
    statuses: list[int] = []
    called = first_calls(
        lambda: statuses.append(main(shlex.split(words))), places(text), REPOSITORY
    )
    assert statuses == [0], capsys.readouterr().err
    assert differences(places(text), called) == []


def test_a_name_that_is_gone_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class C:\n    def f(self): ...\n\ndef g(): ...\n")
    text = "`a.py:C.f`, `a.py:f`, again `a.py:C.f`, `a.py:g` and `b.py:g`"
    assert absent(places(text), tmp_path) == [("a.py", "f"), ("b.py", "g")]
