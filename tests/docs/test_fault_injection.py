"""Every fault of docs/robustness.md names tests, and each of these exists."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "robustness.md"


def test_every_fault_has_a_test_that_exists():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    heads = ("| fault |", "| attack |")
    rows = [x for x in lines if x.startswith("| ") and not x.startswith(heads)]
    faults = [row for row in rows if len(re.split(r"(?<!\\)\|", row)) != 5]
    for row in rows:
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", row.rstrip(" |").rpartition(" | ")[2])
        held = [test for file, test in named if test in _tests_of(TESTS / file)]
        if not named or len(held) < len(named):
            faults.append(row)
    assert not faults, "\n".join(faults)
    assert len(rows) > 50


def _tests_of(file: Path) -> set[str]:
    if not file.is_file():
        return set()
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return {d.name for d in body if isinstance(d, ast.FunctionDef | ast.AsyncFunctionDef)}
