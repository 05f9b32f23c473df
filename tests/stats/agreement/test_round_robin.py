"""Round robin: points by hand, and what must not depend on names or order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.stats import round_robin

judgments = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, 3), st.sampled_from(["a", "b", "tie", "", None])
    ).filter(lambda t: t[0] != t[1]),
    min_size=1,
    max_size=40,
)


def standing(rows: list[tuple[int, int, Any]], n: int = 4) -> Any:
    i, j, v = zip(*rows, strict=True)
    return round_robin(i, j, np.array(v, dtype=object), n_candidates=n)


def test_by_hand_with_repetitions() -> None:
    rows = [
        (0, 1, "a"), (0, 1, "a"), (0, 1, "b"),  # 0 wins 2 of 3
        (1, 2, "a"), (2, 1, "a"),  # one each: a tie
        (0, 2, "b"), (0, 2, "tie"), (0, 2, ""),  # 2 wins, one unread
    ]  # fmt: skip
    found = standing(rows, 3)
    assert found.wins.tolist() == [1, 0, 1]
    assert found.ties.tolist() == [0, 1, 1]
    assert found.losses.tolist() == [1, 1, 0]
    assert found.points.tolist() == [1.0, 0.5, 1.5]
    # 0: (2/3 + 1/4) / 2; 1: (1/3 + 1/2) / 2; 2: (1/2 + 3/4) / 2
    assert found.share == pytest.approx([11 / 24, 5 / 12, 5 / 8])
    assert found.leaders() == (2,)
    assert found.complete


@pytest.mark.parametrize(
    ("first", "second", "verdict", "n", "message"),
    [
        ([0], [1, 2], ["a"], 3, "equally long"),
        ([0], [0], ["a"], 3, "different whole numbers"),
        ([0], [5], ["a"], 3, "from 0 to 2"),
        ([0.0], [1.0], ["a"], 3, "whole numbers"),
        ([0], [1], ["A"], 3, "a verdict must be a, b or tie, got 'A'"),
        ([], [], [], 1, "at least two candidates"),
    ],
)
def test_bad_input(first: Any, second: Any, verdict: Any, n: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        round_robin(first, second, verdict, n_candidates=n)
