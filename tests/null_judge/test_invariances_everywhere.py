"""Every analysis gives the same whatever the order of its rows, and beside an empty column."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pandas as pd
import pytest

from judgestats.analysis import (
    alignment,
    best_of_n,
    bias,
    crowd,
    grade_score,
    guidelines,
    head_to_tail,
    judges,
    probe,
    prompts,
    reasoning,
    rejection_sampling,
    self_consistency,
    temperature,
)
from tests.null_judge import doors
from tests.null_judge.designs import NULL, seeded
from tests.null_judge.test_invariances import alike
from tests.null_judge.worlds import World

DOORS = {
    "temperature": (temperature, "analyse"),
    "temperature with T = 0": (temperature, "analyse"),
    "judges": (judges, "analyse"),
    "guidelines": (guidelines, "analyse"),
    "reasoning": (reasoning, "analyse"),
    "alignment": (alignment, "analyse"),
    "self_consistency": (self_consistency, "analyse"),
    "bias": (bias, "analyse"),
    "grade_score": (grade_score, "analyse"),
    "head_to_tail": (head_to_tail, "analyse"),
    "omega": (best_of_n, "analyse"),
    "rejection_sampling": (rejection_sampling, "analyse"),
    "crowd": (crowd, "analyse"),
    "audit, scores": (doors, "audit"),
    "audit, people": (doors, "audit"),
    "probe": (probe, "analyse"),
    "prompts": (prompts, "analyse"),
    "drift, scores": (doors, "drift"),
    "drift, verdicts": (doors, "drift"),
}
"""Where each design hands its judgments over; `check` reads the metrics of an audit."""
SMALL = World(sizes=(4, 3, 2, 2, 1, 1, 1, 1), replications=3)


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    """Its rows in another order, as of part-files read together; conditions keep theirs."""
    place = {c: i for i, c in enumerate(dict.fromkeys(frame["condition"]))}
    mixed = frame.sample(frac=1, random_state=5)
    return mixed.sort_values("condition", key=lambda c: c.map(place), kind="stable").reset_index(
        drop=True
    )


def beside(frame: pd.DataFrame) -> pd.DataFrame:
    """With a column that is the same in every row."""
    return frame.assign(note="x")


def changed(real: Callable, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable:
    """An analysis that gets every frame of judgments changed."""

    def analyse(*given, **named):
        given = [change(g) if isinstance(g, pd.DataFrame) else g for g in given]
        named = {k: change(v) if isinstance(v, pd.DataFrame) else v for k, v in named.items()}
        return real(*given, **named)

    return analyse


def test_every_design_is_held():
    assert set(NULL) - {"check"} == set(DOORS)


@pytest.mark.parametrize("name", DOORS)
def test_order_of_rows_and_an_unrelated_column_change_nothing(name, monkeypatch):
    design = NULL[name]
    few = {"resamples": 19} if "resamples" in inspect.signature(design).parameters else {}
    given = design(seeded(3), SMALL, **few)
    module, door = DOORS[name]
    real = getattr(module, door)
    for change in (shuffled, beside):
        monkeypatch.setattr(module, door, changed(real, change))
        alike(given, design(seeded(3), SMALL, **few))
