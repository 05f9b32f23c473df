"""The null of agreement with people: nothing of the pairing is left in it, whatever the order."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import relation_null


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def systems(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ten questions answered by six systems; people and judge agree about the systems."""
    question = np.repeat(np.arange(10), 6)
    system = np.tile(np.arange(6.0), 10)
    people, judge = system + rng.normal(size=(2, 60))
    return people, judge, question


@pytest.mark.parametrize("runs", [80, pytest.param(200, marks=pytest.mark.study)])
def test_unrelated_clustered_data_are_rejected_at_the_level(runs) -> None:
    rng = np.random.default_rng(5)
    question = np.repeat(np.arange(15), 4)
    rejected = np.zeros(2)
    for _ in range(runs):
        people, judge = rng.normal(size=(2, 15))[:, question] + 0.7 * rng.normal(size=(2, 60))
        for k, cluster in enumerate((question, None)):
            null = relation_null((people, judge), correlation, cluster=cluster, n_permutations=99)
            rejected[k] += null.p_value <= 0.05
    assert rejected[0] / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert rejected[1] / runs > 0.1  # what shuffling single items would say


def test_what_gives_no_p_says_so() -> None:
    x = np.arange(8.0)
    null = relation_null((x, x), correlation, cluster=np.repeat([0, 1], 4))
    assert np.isnan(null.p_value)
    assert "at least 3 clusters" in null.p_method
    with pytest.raises(InputError, match="share their first axis"):
        relation_null((x, x[:4]), correlation)


def test_arrays_in_a_list_are_arrays_too() -> None:
    x, y = np.arange(8.0), np.arange(8.0)[::-1]
    listed = relation_null([x, y], correlation, n_permutations=19, seed=0)
    assert listed == relation_null((x, y), correlation, n_permutations=19, seed=0)
