"""Copied items: against two codes, and what is no copying."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import copied_items


def of_cube(scores):
    """Items x judges x runs as rows."""
    n, judges, runs = scores.shape
    item, cell, run = (
        a.ravel() for a in np.meshgrid(*map(np.arange, (n, judges, runs)), indexing="ij")
    )
    return copied_items(scores.ravel(), item, run, cell=cell)


def test_copied_items_are_those_of_two_codes(declared):
    scores, _ = declared.cube("copies24x4")
    found, expected = of_cube(scores), declared.value("copies24x4", "copies")
    assert found.statistic == expected["identical_pairs"]
    assert found.estimates["expected"] == pytest.approx(expected["expected"], rel=1e-8)
    assert found.p_value == pytest.approx(expected["p"], rel=1e-8)
    assert [[i + 1 for i in pair] for pair in found.details["groups"]] == expected["pairs"]
    assert found.details["shown"]


def test_identical_rows_of_a_judge_at_the_ceiling_are_no_copies():
    tens = np.where(np.random.default_rng(3).random((60, 2, 4)) < 0.97, 10, 9)
    found = of_cube(tens)
    assert not found.details["shown"]
    once = of_cube(np.arange(40).reshape(20, 2, 1) % 5)
    assert "more than one order" in once.reason
    with pytest.raises(InputError, match="repeat twice"):
        copied_items([1, 2], ["a", "a"], [0, 0])
    with pytest.raises(InputError, match="one length"):
        copied_items([], [], [])


def test_false_alarms_are_rare_and_copies_are_found():
    rng = np.random.default_rng(7)
    false = found = 0
    for _ in range(60):
        x = np.clip(np.round(rng.normal(7, 1.5, (40, 1, 1)) + rng.normal(0, 1, (40, 2, 4))), 1, 10)
        false += of_cube(x).details["shown"]
        x[25:] = x[:15]
        found += of_cube(x).details["shown"]
    assert false <= 1
    assert found >= 58
