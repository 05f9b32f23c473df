"""Every quantity that a bound can name has a direction, or says that it has none."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import judgestats
from judgestats import stats
from judgestats.analysis import function_of
from judgestats.errors import InputError
from judgestats.results import (
    ALIASES,
    METRICS,
    QUANTITIES,
    TESTS,
    Direction,
    metric_called,
    quantities_of,
    quantity_of_metric,
    read_requirements,
)

SOURCES = sorted(Path(judgestats.__file__).parent.glob("analysis/*.py"))
GROUPS = (
    "agreement|claims|cost|instrument|length|order|people|quality|reliability|score|spread|"
    "validity|verdicts"
)


def metrics_in_the_sources() -> set[str]:
    """Whatever an analysis calls a metric: the values of its tables of names."""
    found = set()
    for path in [*SOURCES, Path(judgestats.__file__).parent / "runner" / "record.py"]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else ""
            if isinstance(text, str) and re.fullmatch(rf"(?:{GROUPS})/[a-z0-9_]+/?", text):
                found.add(text.rstrip("/"))
    return found


def rows_in_the_sources() -> set[str]:
    """Estimands of the rows that analyses declare."""
    calls = (
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "results_row"
    )
    named = (call.args[3] for call in calls if len(call.args) > 3)
    return {arg.value for arg in named if isinstance(arg, ast.Constant)}


def test_every_estimand_metric_and_row_has_a_direction_or_none() -> None:
    assert {entry.better for entry in QUANTITIES.values()} == set(get_args(Direction))
    metrics = metrics_in_the_sources()
    assert len(metrics) > 40
    assert [m for m in sorted(metrics | {*METRICS}) if quantity_of_metric(m) is None] == []
    assert rows_in_the_sources() <= {*QUANTITIES}
    for name in ALIASES:
        assert quantities_of(name), name


def test_every_direction_refuses_the_side_that_passes_the_worst_judge() -> None:
    """The right side is taken, the wrong one named with the user's own number."""
    refused = 0
    for key, entry in QUANTITIES.items():
        if "{" in key or entry.better == "none":
            continue
        number = "1.0" if entry.low == 1 else ".5"
        number = "1.5" if entry.better == "nothing" and entry.nothing >= 0.5 else number
        good, bad = (">=", "<=") if entry.better == "higher" else ("<=", ">=")
        if not entry.low <= float(number) <= entry.high:
            continue
        read_requirements([f"{key}{good}{number}"])
        with pytest.raises(InputError, match=re.escape(f"Write {key}={number}")):
            read_requirements([f"{key}{bad}{number}"])
        refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("required", "words"),
    [
        ("sem>=.5", "lower is better, so sem>=.5 would pass the worst judge. Write sem=.5"),
        ("tnr<=.9", "Write tnr=.9 (at least .9)."),
        ("bias>=.5", "Write bias=.5."),
        ("bias<=-.5", "Write bias=.5."),
        (
            "unread<=20",
            "unread is between 0 and 1; 20 is outside. Write unread=.2 or unread=20%.",
        ),
        ("sensitivity>=90", "Write sensitivity=.9 or sensitivity=90%."),
        ("sem<=-1", "sem is at least 0; -1 is outside."),
        ("spread/variance>=2", "Write spread/variance=2 (at most 2)."),
        ("quality/answered<=9", "Write quality/answered=9 (at least 9)."),
        ("order/unrelated_wins>=.3", "Write order/unrelated_wins=.3 (at most .3)."),
        ("cost/usd>=1", "Write cost/usd=1 (at most 1)."),
        ("tpr=.9,sensitivity=.8", "tpr is given twice. State one bound."),
    ],
)
def test_a_bound_that_the_worst_judge_keeps_is_refused(required, words) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        read_requirements([required])


@pytest.mark.parametrize(
    "required",
    [
        ("mean>=2", "mean<=8"),
        ("verdicts/pass_rate>=.4", "pass_rate<=.6"),
        ("first_position_share>=.4", "first_position_share<=.6"),
        ("bias>=-.5", "bias<=.5"),  # one margin
        ("spread/p_value/sim-typical>=.05", "spread/p_value<=.9"),
    ],
)
def test_both_sides_of_what_has_no_direction_may_be_bounded(required) -> None:
    assert [d for d in read_requirements(required).values() if d is not None]


def test_a_metric_is_named_by_its_end_its_estimand_or_an_alias() -> None:
    known = ["quality/unread_share", "validity/sensitivity", "reliability/icc1", "score/mean"]
    names = ("unread", "unparsed_share", "tpr", "icc_1_1", "ICC", "mean score", "ICC(1,1)")
    found = [metric_called(name, known) for name in names]
    assert found == [known[0], known[0], known[1], known[2], known[2], known[3], known[2]]
    assert metric_called("sem", known) == ""


PYTHON_ONLY = {"cohens_d", "hedges_g"}
"""Functions of declared quantities that only callers in Python reach so far: the list shrinks."""


def names_in(tree: ast.AST) -> set[str]:
    """Every identifier of a piece of code, also as text."""
    found = set()
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "value"):
            text = getattr(node, field, None)
            if isinstance(text, str) and text.isidentifier():
                found.add(text)
    return found


@cache
def reached() -> set[str]:
    """Definitions of judgestats.stats that commands, experiments or studies come to."""
    package = Path(judgestats.__file__).parent
    needed = {q.audited or q.function for q in QUANTITIES.values() if q.needs}
    used = {path.rpartition(":")[2] for path in needed}
    defined: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts
        tree = ast.parse(path.read_text("utf-8"))
        if room[0] != "stats":
            used |= set() if room[:2] == ("results", "quantities") else names_in(tree)
            continue
        for node in tree.body:
            targets = getattr(node, "targets", [getattr(node, "target", node)])
            for target in targets:
                name = getattr(target, "id", getattr(target, "name", ""))
                defined.setdefault(name, set()).update(names_in(node))
    found: set[str] = set()
    todo = used & set(defined)
    while todo:
        found |= todo
        todo = {n for name in todo for n in defined[name] if n in defined} - found
    return found


def function_names() -> set[str]:
    """The functions that quantities and tests name."""
    named = {q.function.rpartition(":")[2] for q in QUANTITIES.values()}
    return (named | {t.function for t in TESTS.values()}) - {""}


def test_every_quantity_is_produced_by_a_command_an_experiment_or_a_study() -> None:
    assert function_names() - reached() == PYTHON_ONLY


def test_every_public_statistic_has_a_quantity_or_a_caller() -> None:
    assert set(stats.__all__) - function_names() - reached() == set()


def test_every_declared_function_takes_the_data_that_its_quantity_needs() -> None:
    for quantity in QUANTITIES.values():
        if quantity.needs is None:
            continue
        paths = filter(None, (quantity.function, quantity.audited))
        assert all(callable(function_of(path)) for path in paths), quantity.key
        known = inspect.signature(function_of(quantity.audited or quantity.function)).parameters
        assert set(quantity.options) <= set(known), quantity.key
