"""Every quantity that a bound can name has a direction, or says that it has none."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

import judgestats
from judgestats.errors import InputError
from judgestats.results.metric_names import (
    ALIASES,
    METRICS,
    metric_called,
    quantities_of,
    quantity_of_metric,
)
from judgestats.results.quantities import ESTIMANDS
from judgestats.results.quantities.entry import Direction
from judgestats.results.thresholds import named_bounds, refuse_wrong_side

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
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "asked_row"
    )
    named = (call.args[3] for call in calls if len(call.args) > 3)
    return {arg.value for arg in named if isinstance(arg, ast.Constant)}


def test_every_estimand_metric_and_row_has_a_direction_or_none() -> None:
    assert {entry.better for entry in ESTIMANDS.values()} == set(get_args(Direction))
    metrics = metrics_in_the_sources()
    assert len(metrics) > 40
    assert [m for m in sorted(metrics | {*METRICS}) if quantity_of_metric(m) is None] == []
    assert rows_in_the_sources() <= {*ESTIMANDS}
    for name in ALIASES:
        assert quantities_of(name), name


def test_every_direction_refuses_the_side_that_passes_the_worst_judge() -> None:
    """The right side is taken, the wrong one named with the user's own number."""
    refused = 0
    for key, entry in ESTIMANDS.items():
        if "{" in key or entry.better == "none":
            continue
        number = "1.0" if entry.low == 1 else ".5"
        good, bad = ("min", "max") if entry.better == "higher" else ("max", "min")
        sides = {"min": ([f"{key}={number}"], []), "max": ([], [f"{key}={number}"])}
        refuse_wrong_side(named_bounds(*sides[good]))
        with pytest.raises(InputError, match=re.escape(f"Write --{good} {key}={number}.")):
            refuse_wrong_side(named_bounds(*sides[bad]))
        refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (["sem=.5"], [], "sem: lower is better, so --min sem=.5 would pass the worst judge. Write"),
        (["TPR=.9"], ["tnr=.9"], "Write --min tnr=.9."),
        (["bias=.5"], [], "Write --max bias=.5."),
        ([], ["bias=-.5"], "Write --max bias=.5."),
        ([], ["unread=2"], "unread lies between 0 and 1; 2 is outside. Write --max unread=.02."),
        (["sensitivity=90"], [], "Write --min sensitivity=.9."),
        ([], ["sem=-1"], "sem is at least 0; -1 is outside."),
        (["spread/variance=2"], [], "Write --max spread/variance=2."),
        ([], ["quality/answered=9"], "Write --min quality/answered=9."),
        (["order/unrelated_wins=.3"], [], "Write --max order/unrelated_wins=.3."),
        (["cost/usd=1"], [], "Write --max cost/usd=1."),
    ],
)  # fmt: skip
def test_a_bound_that_the_worst_judge_keeps_is_refused(least, most, words) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        refuse_wrong_side(named_bounds(least, most))


@pytest.mark.parametrize(
    ("least", "most"),
    [
        (["mean=2"], ["mean=8"]),
        (["verdicts/pass_rate=.4"], ["pass_rate=.6"]),
        (["first_position_share=.4"], ["first_position_share=.6"]),
        (["bias=-.5"], ["bias=.5"]),  # one margin
        (["spread/p_value/sim-typical=.05"], ["spread/p_value=.9"]),
    ],
)
def test_both_sides_of_what_has_no_direction_may_be_bounded(least, most) -> None:
    refuse_wrong_side(named_bounds(least, most))


def test_a_metric_is_named_by_its_end_its_estimand_or_an_alias() -> None:
    known = ["quality/unread_share", "validity/sensitivity", "reliability/icc1", "score/mean"]
    names = ("unread", "unparsed_share", "tpr", "icc_1_1", "ICC", "mean score", "ICC(1,1)")
    found = [metric_called(name, known) for name in names]
    assert found == [known[0], known[0], known[1], known[2], known[2], known[3], known[2]]
    assert metric_called("sem", known) == ""
