"""Coverage by attention: by hand, and how it must move."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.stats.agreement import attention_coverage


def weights(seed: int, heads: int = 3, reading: int = 5, target: int = 7) -> Any:
    return np.random.default_rng(seed).dirichlet(np.ones(target), size=(heads, reading))


def test_by_hand() -> None:
    # heads disagree: their average decides
    heads = [[[0.9, 0.1, 0.0]], [[0.1, 0.1, 0.8]]]  # mean .5 .1 .4
    assert attention_coverage(heads, threshold=0.45) == pytest.approx(1 / 3)
    assert attention_coverage(heads, threshold=0.3) == pytest.approx(2 / 3)
    assert attention_coverage(heads, threshold=0.3, counted=[True, True, False]) == 0.5
    assert math.isnan(attention_coverage(heads, threshold=0.3, counted=[False] * 3))
    assert math.isnan(attention_coverage(np.zeros((2, 0, 3)), threshold=0.3))


@pytest.mark.parametrize(
    ("attention", "options", "message"),
    [
        ([0.5, 0.5], {"threshold": 0.1}, "reading tokens x target"),
        ([[0.5, 0.5]], {"threshold": 1.0}, "threshold must lie in 0-1"),
        ([[0.5, 0.5]], {"threshold": math.nan}, "threshold must lie"),
        ([[5.0, -4.0]], {"threshold": 0.1}, "outside 0-1"),
        ([[math.nan, 1.0]], {"threshold": 0.1}, "outside 0-1"),
        ([[0.5, 0.5]], {"threshold": 0.1, "counted": [True]}, "must have 2 entries"),
    ],
)
def test_bad_input(attention: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        attention_coverage(attention, **options)


@given(st.integers(0, 1000), st.floats(0, 0.9))
def test_more_text_covers_no_less_and_a_higher_threshold_no_more(seed: int, t: float) -> None:
    a = weights(seed)
    covered = attention_coverage(a, threshold=t)
    assert 0 <= covered <= 1
    assert attention_coverage(a[:, :3], threshold=t) <= covered
    assert attention_coverage(a, threshold=min(0.99, t + 0.05)) <= covered
    shuffled = a[::-1, ::-1][:, :, [3, 1, 0, 2, 6, 5, 4]]
    assert attention_coverage(shuffled, threshold=t) == covered
