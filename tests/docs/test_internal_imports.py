"""Tests import public names, so that a moved file breaks no test; the rest is listed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = TESTS.parent / "judgestats"
PARTS = ("judgestats.reporting.sections", "judgestats.reporting.plots", "judgestats.studies")
"""Packages whose modules are named in users' documents, or are one per study."""


def is_public(module: str) -> bool:
    """Whether names may be imported from it: a folder, a module of the top, an experiment."""
    parts = module.split(".")
    experiment = parts[:2] == ["judgestats", "analysis"] and len(parts) == 3
    is_folder = PACKAGE.parent.joinpath(*parts, "__init__.py").exists()
    return (
        len(parts) < 3
        or is_folder
        or module.startswith(PARTS)
        or (experiment and (TESTS.parent / "experiments" / f"{parts[2]}.py").exists())
    )


def internal_imports() -> Iterator[str]:
    """Modules that are not public, and what tests import from them."""
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("judge"):
                continue
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                is_module = PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py").exists()
                if not is_public(name if is_module else str(node.module)):
                    yield name


def test_internal_imports_are_listed() -> None:
    listed = (TESTS / "internal_imports.txt").read_text(encoding="utf-8").split()
    assert sorted(set(internal_imports())) == listed
    assert len(listed) <= 60
