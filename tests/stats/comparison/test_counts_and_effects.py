"""Paired counts, Cochran's Q, proportions and standardised differences."""

import math

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import (
    cochran_q_test,
    cohens_d,
    mcnemar_test,
)
from judgestats.stats.comparison import hedges_correction
from judgestats.stats.inference import proportion_limits


def verdicts(table: list[list[int]]) -> tuple[list[str], list[str]]:
    """The pairs behind a table."""
    pairs = [("ab"[i], "ab"[j]) for (i, j), n in np.ndenumerate(table) for _ in range(int(n))]
    return [a for a, _ in pairs], [b for _, b in pairs]


def test_mcnemar_exact_over_clusters() -> None:
    x, y = [1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0]
    assert mcnemar_test(x, y).p_value == pytest.approx(2 / 2**5)
    together = mcnemar_test(x, y, cluster=["a", "a", "b", "b", "c", "c"])
    assert together.p_value == pytest.approx(2 / 2**3)
    assert together.effects[0].interval is None
    rates = together.effects[1]
    # clusters' means 1, 1 and .5: the mean -5/6 (of category 0), t on two degrees of freedom
    half = stats.t.ppf(0.975, 2) * np.std([1, 1, 0.5], ddof=1) / np.sqrt(3)
    assert rates.estimate == pytest.approx(-5 / 6)
    assert (rates.interval.low, rates.interval.high) == pytest.approx(
        (-5 / 6 - half, -5 / 6 + half)
    )
    assert mcnemar_test(x, y, cluster=range(6)).p_value == pytest.approx(2 / 2**5)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: mcnemar_test(list("abc"), list("bca")), "two categories are required, got 3"),
        (lambda: mcnemar_test([1, 2], [1]), "equally long"),
        (lambda: cochran_q_test([[0, 2], [1, 0]]), "must be 0 or 1"),
        (lambda: proportion_limits(3, 2), "are no counts"),
        (lambda: proportion_limits(1, 2, method="x"), "method must be"),  # type: ignore[arg-type]
        (lambda: hedges_correction(1), "df must exceed 1"),
        (lambda: cohens_d([1.0], [math.nan]), "at least 2 groups"),
    ],
)
def test_bad_input_is_named(call: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()  # type: ignore[operator]
