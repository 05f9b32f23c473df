"""The ratio of pooled variances: values, intervals, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import variance_ratio


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_ratio_and_standard_error_by_hand(rng: np.random.Generator) -> None:
    x = rng.normal(size=(15, 2, 4))
    v = x.var(axis=2, ddof=1)
    row = variance_ratio(x).rows[0]
    a, b = v[:, 1], v[:, 0]
    log = math.log(a.mean() / b.mean())
    left = np.array([math.log(np.delete(a, i).mean() / np.delete(b, i).mean()) for i in range(15)])
    se = math.sqrt(14 / 15 * np.sum((left - log) ** 2))
    df = min(a.sum() ** 2 / np.sum(a**2), b.sum() ** 2 / np.sum(b**2)) - 1
    half = stats.t.ppf(0.975, df) * se
    assert row.estimate == pytest.approx(math.exp(log), rel=1e-12)
    assert row.df == pytest.approx(df, rel=1e-12)
    assert row.interval is not None
    assert row.interval.low == pytest.approx(math.exp(log - half), rel=1e-10)
    assert row.interval.high == pytest.approx(math.exp(log + half), rel=1e-10)
    assert row.p_value == pytest.approx(2 * stats.t.sf(abs(log / se), df), rel=1e-10)


def test_what_one_item_decides_has_no_interval_unless_it_excludes_no_difference(
    rng: np.random.Generator,
) -> None:
    x = rng.normal(size=(40, 2, 5))
    x[:2] *= 30
    out = variance_ratio(x)
    assert not out.notes
    assert out.rows[0].interval is None
    assert [n.code for n in out.rows[0].notes] == ["not_estimable"]
    assert "not estimable at this size" in str(out)
    x[:, 1] *= 1000
    wide = variance_ratio(x).rows[0]
    assert wide.interval.low > 1
    assert wide.interval.high > 25 * wide.estimate


def test_interval_covers_where_the_plain_bootstrap_does_not() -> None:
    """The committed study in small: unequal items, N = 30, R = 4, truth 2.25."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(300):
        scale = np.sqrt(rng.gamma(0.5, 2, size=(30, 1, 1))) * np.array([1, 1.5])[:, None]
        interval = variance_ratio(rng.normal(size=(30, 2, 4)) * scale).rows[0].interval
        hits += interval is not None and interval.low <= 2.25 <= interval.high
    assert hits / 300 > 0.93


def test_one_condition_and_negative_variances_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="at least 2 conditions"):
        variance_ratio(rng.normal(size=(5, 1, 3)))
    with pytest.raises(InputError, match="cannot be negative"):
        variance_ratio(np.array([[1.0, -1.0], [1.0, 2.0]]))


def test_a_row_names_the_item_that_it_hangs_on(rng):
    scores = 8 + 0.1 * rng.normal(size=(30, 2, 5))
    scores[6, 1] += [-4, 4, -4, 4, 0]
    out = variance_ratio(scores, conditions=["T=0.2", "T=1"])
    [row] = out.rows
    assert row.details["largest_item"] == 7
    assert row.details["largest_share"] > 0.9
    assert row.details["effective_clusters"] < 2
    assert "effective clusters; item 7 carries" in out.sentence()
    even = variance_ratio(8 + rng.normal(size=(60, 2, 5)), conditions=["T=0.2", "T=1"])
    assert "carries" not in even.sentence()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"level": 95}, r"level must be between 0 and 1, got 95"),
        ({"reference": "x"}, "reference must be one of"),
    ],
)
def test_unusable_options_are_refused(arguments, match: str, rng) -> None:
    with pytest.raises(InputError, match=match):
        variance_ratio(rng.normal(size=(5, 2, 3)), **arguments)
