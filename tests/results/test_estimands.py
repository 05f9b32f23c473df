"""Every number that a statistics function names stands in the registry."""

from __future__ import annotations

import ast
import dataclasses
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgestats.errors import InputError
from judgestats.results import QUANTITIES, TESTS, UNITS, kind_of_test, quantity_of
from judgestats.stats.inference import TestResult
from tests.stats.test_bad_input_everywhere import CALLS, MATRICES, estimates_in

PACKAGE = Path(__file__).parents[2] / "judgestats"
ESTIMATES = {
    "Estimate", "OmegaEstimate", "PublishedOmega", "estimate_from_sums", "chance_corrected",
    "dominance", "mean_share", "share_estimate", "mean_of_groups", "_error", "_mean_estimate",
    "_two_sample",
}  # fmt: skip


def calls(*folders: str):
    for folder in folders:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    function = getattr(node.func, "id", getattr(node.func, "attr", ""))
                    yield path.name, function, {k.arg: k.value for k in node.keywords}


def texts(value: ast.expr) -> set[str]:
    """The names that an expression can be: literals, both arms of a condition, f-strings filled."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return {value.value}
    if isinstance(value, ast.IfExp):
        return texts(value.body) | texts(value.orelse)
    if isinstance(value, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else "1" for p in value.values]
        return {"".join(parts)} if any(p != "1" for p in parts) else set()
    return set()


def named(functions: set[str], keyword: str) -> dict[str, str]:
    found = {}
    for path, function, keywords in calls("stats", "analysis"):
        if function in functions and keyword in keywords:
            found |= dict.fromkeys(texts(keywords[keyword]), path)
    return found


FILLED = {
    "1_place_1": "accuracy_place_1",
    "change_of_1": "change_of_scores",
    "1_score": "grade_score",
    "1_with_human": "pearson_with_human",
    "1_1": "spearman_rho",
    "1_of_judges": "pearson_of_judges",
    "accuracy_1_ties": "accuracy_include_ties",
}


def test_every_estimand_that_is_named_in_the_code_is_registered():
    found = named(ESTIMATES, "name") | {
        name: path
        for path, function, keywords in calls("stats", "analysis")
        if function == "replace" and {"label", "name"} <= set(keywords)
        for name in texts(keywords["name"])
    }
    assert len(found) > 55
    missing = {}
    for name, path in found.items():
        try:
            quantity_of(FILLED.get(name, name))
        except InputError:
            missing[name] = path
    assert not missing, f"add to judgestats/results/quantities: {missing}"


def test_every_estimate_and_test_that_a_statistic_gives_is_registered():
    """Also under names that stand in no literal of the code."""
    missing: dict[str, str] = {}
    for function, call in CALLS.items():
        try:
            given = call(MATRICES["good"])
        except InputError:
            continue
        for test in inferences_in(given):
            try:
                kind_of_test(test.name)
            except InputError:
                missing[test.name] = function
        for estimate in estimates_in(given):
            try:
                quantity_of(estimate.name)
            except InputError:
                missing[estimate.name] = function
    assert not missing, f"add to judgestats/results/quantities: {missing}"


def inferences_in(given: object) -> Iterator[TestResult]:
    """Every TestResult inside a result."""
    if isinstance(given, TestResult):
        yield given
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        given = [getattr(given, f.name) for f in dataclasses.fields(given)]
    if isinstance(given, list | tuple):
        for part in given:
            yield from inferences_in(part)


def test_every_comparison_names_a_registered_estimand():
    found = named({"Comparison"}, "estimate_name") | named({"Comparison"}, "effect_name")
    assert len(found) > 9
    for name in found:
        assert quantity_of(name).key in QUANTITIES


def test_every_test_that_is_named_in_the_code_is_registered():
    found = named({"TestResult", "FriedmanResult", "KruskalResult"}, "name")
    assert len(found) > 3
    for name in found:
        assert kind_of_test(name).heading


def test_entries_are_whole():
    defined = set()
    for path in (PACKAGE / "stats").rglob("*.py"):
        defined |= set(re.findall(r"^def (\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE))
    for entry in QUANTITIES.values():
        assert entry.unit in UNITS, entry.key
        assert entry.low < entry.high, entry.key
        assert entry.glossary, entry.key
        assert not entry.glossary.endswith("."), entry.key
        assert not entry.function or entry.function.rpartition(":")[2] in defined, entry.key
        if entry.unit == "probability":
            assert (entry.low, entry.high) == (0, 1), entry.key
        if entry.is_ratio:
            assert entry.low == 0, entry.key
    for entry in TESTS.values():
        assert entry.function.rpartition(":")[2] in defined, entry.key


def test_a_name_that_is_not_registered_says_where_to_add_it():
    with pytest.raises(InputError, match=r"'my_own' is not in the registry. Add one entry"):
        quantity_of("my_own")


def test_importing_results_loads_nothing_heavy():
    code = (
        "import sys, judgestats.results\n"
        "print(sorted({'numpy', 'pandas', 'scipy', 'pydantic', 'mlflow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
