"""Acceptance of the verdict: reference values, looks, names, runs, cost, and one wording."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import judgestats as js
from judgestats.results import FLAGS, PRECISIONS, Demand, decide, read_requirements, share_measure
from judgestats.results import QUANTITIES as DECLARED
from judgestats.results.purposes import ALIASES, QUANTITIES
from judgestats.stats import run_component
from tests.validation.base import matrix

SOURCE = Path(js.__file__).parent
GATE = (
    Demand(key="tpr", threshold=0.8, direction="min"),
    Demand(key="tnr", threshold=0.8, direction="min"),
)


@pytest.fixture(scope="module")
def records():
    """20 items x 10 repeats, as R has them; items are clusters."""
    scores = matrix("parallel20x10")
    rows = [
        {"item": f"q{i}", "judge": "j", "repeat": r, "score": float(value)}
        for i, row in enumerate(scores) for r, value in enumerate(row)
    ]  # fmt: skip
    return js.audit(rows, n_resamples=99, scale=(1, 10)).run.records


def test_repeats_of_reference_have_the_limits_of_reference(records) -> None:
    own = {m.key: m for m in records.measures}
    icc, sem = own["icc_1_1"], own["sem"]
    assert icc.estimate == pytest.approx(0.755068, abs=5e-7)
    assert sem.estimate == pytest.approx(1.051718, abs=5e-7)
    tail = records.estimate("condition.sem_tail.j")
    assert tail.estimate == pytest.approx(1.574890, abs=5e-6)


def test_two_repeats_differ_by_root_two_sem(records) -> None:
    """SEM is the SD of repeated scores of one item; their RMS difference is root 2 times that."""
    scores = matrix("parallel20x10")
    differences = scores[:, :, None] - scores[:, None, :]
    apart = ~np.eye(10, dtype=bool)
    rms = math.sqrt(float(np.mean(differences[:, apart] ** 2)))
    sem = next(m.estimate for m in records.measures if m.key == "sem")
    assert rms == pytest.approx(math.sqrt(2) * sem, rel=1e-9)


@pytest.mark.parametrize(("judges", "looks"), [(1, 2), (5, 1)])
@pytest.mark.parametrize("at", [(0.8, 0.95), (0.8, 0.8)])
def test_shared_levels_hold_over_looks_and_judges(judges: int, looks: int, at) -> None:
    """A judge at a boundary, on 100 labels and on 200: a wrong outcome at any look is rare."""
    rng = np.random.default_rng(judges + 7 * looks)
    runs, wrong = 600, {"USE": 0, "DO_NOT_USE": 0}
    for _ in range(runs):
        seen: set[str] = set()
        for _ in range(judges):
            right = [rng.random(100 * looks) < rate for rate in at]
            for k in range(1, looks + 1):
                made = [
                    share_measure(d.key, values[: 100 * k].astype(float).tolist(), range(100 * k))
                    for d, values in zip(GATE, right, strict=True)
                ]
                pairs = list(zip(GATE, made, strict=True))
                seen.add(decide(pairs, judges=judges, looks=looks).outcome)
        for outcome in wrong:
            wrong[outcome] += outcome in seen
    most = 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
    assert {outcome: n / runs <= most for outcome, n in wrong.items()} == dict.fromkeys(wrong, True)


@pytest.mark.parametrize("key", sorted({*QUANTITIES, *ALIASES}))
def test_every_name_of_a_quantity_can_be_required(key: str) -> None:
    quantity = QUANTITIES[ALIASES.get(key, key)]
    sign = "<=" if quantity.direction in {"max", "within"} else ">="
    written = key if key in FLAGS else f"{key}{sign}.5"
    [demand] = read_requirements([written]).values()
    assert demand.key == ALIASES.get(key, key)
    assert demand.is_precision == (demand.key in PRECISIONS)


@pytest.mark.parametrize("repeats", [2, 3, 5, 10])
@pytest.mark.parametrize("shift", [0.25, 0.4])
def test_runs_that_shift_raise_a_caveat_or_widen_the_limits(repeats: int, shift: float) -> None:
    """Three equal judges whose runs share a shift, in points of noise SD 1."""
    rng = np.random.default_rng([repeats, int(100 * shift)])
    noted = 0
    for _ in range(60):
        shared = shift * rng.normal(size=(1, 3, repeats))
        x = rng.normal(size=(52, 1, 1)) * 2 + shared + rng.normal(size=(52, 3, repeats))
        found = run_component(x)
        noted += found.target == "these runs" or found.is_random or found.p_value <= 0.05
    assert noted / 60 >= 0.95


WORDED = {"verdict.py", "verdict_screen.py", "gate.py", "change_screen.py", "declarations.py"}
"""Files that may name an outcome: the record, its screens, and the help."""


def test_an_outcome_is_worded_in_one_place() -> None:
    words = ("USE WITH CARE", "DO NOT USE", "CANNOT TELL")
    found = set()
    for path in SOURCE.rglob("*.py"):
        source = path.read_text("utf-8")
        tree = ast.parse(source if any(word in source for word in words) else "")
        told = {
            id(node.value) for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }  # fmt: skip
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if not isinstance(text, str) or id(node) in told or text in words:
                continue  # a docstring, or a word of the record itself
            if any(word in text for word in words):
                found.add(path.name)
    assert found <= WORDED


def test_labels_of_requirements_are_those_of_the_catalogue() -> None:
    """One concept has one label, wherever it is declared."""
    for key, quantity in QUANTITIES.items():
        if key in DECLARED and DECLARED[key].screen is not None:
            assert quantity.label == DECLARED[key].screen.ask
