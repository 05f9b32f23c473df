"""Equivalence: shown or not shown, never assumed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.weightstats import ttost_paired

from judgestats.errors import InputError
from judgestats.stats import equivalence_of_means, equivalence_of_spread, variance_ratio


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(6)


def test_means_are_statsmodels_paired_tost(rng: np.random.Generator) -> None:
    y = rng.normal(size=(25, 2)) + rng.normal(size=(25, 1))
    p, lower, upper = ttost_paired(y[:, 1], y[:, 0], -0.8, 0.6)
    row = equivalence_of_means(y, margin=(-0.8, 0.6)).rows[0]
    assert row.p_value == pytest.approx(p, rel=1e-10)
    assert row.statistic == pytest.approx(min(lower[0], -upper[0]), rel=1e-10)


# fmt: off
FIRST_15 = {
    "var1": [2.84, 2.51, 2.41, 2.95, 3.14, 3.79, 4.14, 3.85, 3.02, 3.45, 5.37, 3.81, 4.19, 3.16,
             3.84],
    "var2": [4.00, 3.26, 4.14, 3.42, 3.25, 4.34, 4.97, 4.31, 3.11, 3.41, 5.02, 4.21, 4.59, 5.30,
             4.32],
}
LAST_15 = {
    "var1": [2.60, 2.82, 2.18, 3.46, 4.01, 3.04, 3.47, 4.06, 2.91, 3.59, 4.51, 3.16, 3.86, 3.31,
             3.02],
    "var2": [3.76, 3.66, 3.65, 3.60, 3.48, 2.87, 3.24, 3.92, 3.99, 4.21, 4.21, 3.31, 3.61, 2.97,
             2.73],
}
# fmt: on


@pytest.mark.parametrize(
    ("column", "p", "low", "high", "shown"),
    [
        ("var1", 0.003166881489265175, -0.0744336620516462, 0.4037669953849797, True),
        ("var2", 0.4412034046017588, 0.1261653305099018, 0.999168002823431, False),
    ],
)
def test_worked_example_of_r_equivalence(column, p, low, high, shown) -> None:
    """R's equivalence::tost(x, eps = 0.6) on paired clinical readings.

    The numbers are those against which statsmodels tests its own ttost_paired.
    """
    y = np.column_stack([LAST_15[column], FIRST_15[column]])
    out = equivalence_of_means(y, margin=0.6)
    row = out.rows[0]
    assert row.p_value == pytest.approx(p, rel=1e-10)
    assert row.interval.low == pytest.approx(low, rel=1e-10)
    assert row.interval.high == pytest.approx(high, rel=1e-10)
    assert out.shown == (shown,)


def test_every_pair_holm_and_intersection_union(rng: np.random.Generator) -> None:
    x = rng.normal(size=(150, 3, 10))
    x[:, 2] *= 2
    out = equivalence_of_spread(x, margin=1.4)
    assert out.shown == (True, False, False)
    assert out.p_all == max(r.p_value for r in out.rows)
    assert not out.all_shown
    assert "shown for 1 of 3 pairs" in out.sentence()
    same = equivalence_of_spread(rng.normal(size=(150, 3, 10)), margin=1.4)
    assert same.all_shown
    assert same.p_all <= 0.05
    assert "that all pairs are equivalent is shown" in same.sentence()


def test_size_at_the_margin_is_at_most_nominal() -> None:
    rng = np.random.default_rng(2)
    scale = np.array([1.0, math.sqrt(1.5)])[:, None]
    shown = sum(
        equivalence_of_spread(rng.normal(size=(30, 2, 6)) * scale, margin=1.5).shown[0]
        for _ in range(400)
    )
    assert shown / 400 <= 0.075


@pytest.mark.parametrize("margin", [1.0, 0.5, -2, (0.5, 0.9), (1.2, 1.5), (0.5, 1.5, 2), math.inf])
def test_meaningless_margins_of_a_ratio_are_refused(margin) -> None:
    with pytest.raises(InputError, match="margin must be a ratio above 1"):
        equivalence_of_spread(np.ones((3, 2, 2)), margin=margin)


@pytest.mark.parametrize("margin", [0.0, -1, (0.1, 1)])
def test_meaningless_margins_of_a_shift_are_refused(margin) -> None:
    with pytest.raises(InputError, match="margin must be a positive number"):
        equivalence_of_means(np.ones((3, 2)), margin=margin)


def test_spread_interval_and_verdict_are_one(rng: np.random.Generator) -> None:
    for scale in (1.0, 1.1, 1.2, 1.3):
        x = rng.normal(size=(60, 2, 6)) * np.array([1.0, scale])[:, None]
        out = equivalence_of_spread(x, margin=1.5)
        interval = out.rows[0].interval
        assert out.shown[0] == (interval.low > 1 / 1.5 and interval.high < 1.5)
        assert interval.level == pytest.approx(0.9)
        same = variance_ratio(x, level=0.9).rows[0].interval
        assert interval.low == pytest.approx(same.low, rel=1e-12)


def test_not_significant_is_not_equivalent(rng: np.random.Generator) -> None:
    x = rng.normal(size=(8, 2, 3))
    assert variance_ratio(x).rows[0].p_value > 0.05
    out = equivalence_of_spread(x, margin=1.25, conditions=["a", "b"])
    assert out.shown == (False,)
    text = out.sentence()
    assert "is not shown" in text
    assert "leave open" in text
    for word in ("equal ", "same", "no difference"):
        assert word not in text
