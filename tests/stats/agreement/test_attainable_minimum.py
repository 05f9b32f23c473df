"""No coefficient and no interval lies below what data of the shape can show."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgestats import stats
from judgestats.stats import agreement
from judgestats.stats.designs import CountTable

counts = arrays(
    np.int8, st.tuples(st.integers(2, 9), st.integers(2, 4)), elements=st.integers(0, 5)
)
columns = arrays(
    np.int8, st.tuples(st.integers(2, 9), st.integers(2, 4)), elements=st.integers(-1, 3)
)
SLACK = 1e-9


def keeps_above(estimate, least):
    if math.isfinite(estimate.estimate) and math.isfinite(least):
        assert estimate.estimate >= least - SLACK, estimate.name
        if estimate.interval is not None:
            assert least - SLACK <= estimate.interval.low < estimate.interval.high <= 1


@settings(max_examples=150, deadline=None)
@given(counts)
def test_estimates_and_intervals_keep_above_the_least_value(found):
    table = CountTable(
        counts=found.astype(float), categories=tuple("abcd"[: found.shape[1]]), given=True
    )
    r, q = table.per_item, found.shape[1]
    even = agreement.least_against_even_chance(r, n_categories=q)
    for estimate, least in (
        (stats.vote_share_reliability(table), agreement.least_vote_share(r, estimator="anova")),
        (
            stats.vote_share_reliability(table, estimator="kappa"),
            agreement.least_vote_share(r, estimator="kappa"),
        ),
        (stats.fleiss_kappa(table), agreement.least_fleiss_kappa(r)),
        (stats.gwet_ac1(table), even),
    ):
        keeps_above(estimate, least)


def test_stepping_up_ends_the_interval_at_zero_or_at_the_estimate_and_says_so():
    rng = np.random.default_rng(3)
    noise = rng.integers(4, size=(20, 30))
    many = stats.vote_share_reliability(noise, k=None)
    assert many.interval.low == min(0.0, many.estimate) < many.interval.high
    assert [n.code for n in many.notes].count("interval_cut_at_zero") == 1
    kept = stats.vote_share_reliability(
        np.where(rng.random((20, 30)) < 0.9, noise[:, :1], noise), k=None
    )
    assert kept.interval.low > 0
    assert "interval_cut_at_zero" not in {n.code for n in kept.notes}


def test_one_question_with_all_the_variance_has_no_impossible_interval():
    """As a published judge: 19 questions always A but once, one question always B."""
    verdicts = np.full((20, 10), "A", dtype=object)
    verdicts[0] = "B"
    verdicts[1, 0] = "B"
    for k, estimate in ((1, 0.908), (None, 0.990)):
        # From the least to nearly the largest possible value: it says nothing.
        found = stats.vote_share_reliability(verdicts, k=k)
        assert found.estimate == pytest.approx(estimate, abs=1e-3)
        assert found.interval is None
        assert found.notes[-1].code == "not_estimable"
    verdicts[2:6] = "B"
    one, many = (stats.vote_share_reliability(verdicts, k=k) for k in (1, None))
    assert 0 < one.interval.low < one.estimate < one.interval.high < 1
    assert "least possible value" in one.interval.method
    assert one.interval.low < many.interval.low < many.estimate < many.interval.high < 1
