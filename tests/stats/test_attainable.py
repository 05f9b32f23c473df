"""No coefficient and no interval lies below what data of the shape can show."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgestats.stats.attainable import (
    least_against_even_chance,
    least_fleiss_kappa,
    least_vote_share,
)
from judgestats.stats.counts import table_from_counts
from judgestats.stats.gwet import brennan_prediger, gwet_ac1
from judgestats.stats.kappa import fleiss_kappa
from judgestats.stats.vote_share import vote_share_reliability

counts = arrays(
    np.int8, st.tuples(st.integers(2, 9), st.integers(2, 4)), elements=st.integers(0, 5)
)
SLACK = 1e-9


@settings(max_examples=150, deadline=None)
@given(counts)
def test_estimates_and_intervals_keep_above_the_least_value(found):
    table = table_from_counts(found.astype(float), categories="abcd"[: found.shape[1]])
    r, q = table.per_item, found.shape[1]
    even = least_against_even_chance(r, n_categories=q)
    for estimate, least in (
        (vote_share_reliability(table), least_vote_share(r, estimator="anova")),
        (
            vote_share_reliability(table, estimator="kappa"),
            least_vote_share(r, estimator="kappa"),
        ),
        (fleiss_kappa(table), least_fleiss_kappa(r)),
        (gwet_ac1(table), even),
        (brennan_prediger(table), even),
    ):
        if math.isfinite(estimate.estimate) and math.isfinite(least):
            assert estimate.estimate >= least - SLACK, estimate.name
            if estimate.interval is not None:
                assert least - SLACK <= estimate.interval.low < estimate.interval.high <= 1


def test_the_least_values_are_reached_where_all_items_are_judged_alike():
    table = table_from_counts(np.full((6, 3), 2.0), categories="abc")
    assert vote_share_reliability(table).estimate == pytest.approx(-1 / 5)
    assert least_vote_share(table.per_item, estimator="anova") == pytest.approx(-1 / 5)
    assert fleiss_kappa(table).estimate == pytest.approx(-1 / 5)
    even = least_against_even_chance(table.per_item, n_categories=3)
    assert gwet_ac1(table).estimate == pytest.approx(even)


def test_one_question_with_all_the_variance_has_no_impossible_interval():
    """As a published judge: 19 questions always A but once, one question always B."""
    verdicts = np.full((20, 10), "A", dtype=object)
    verdicts[0] = "B"
    verdicts[1, 0] = "B"
    one, many = (vote_share_reliability(verdicts, k=k) for k in (1, None))
    assert -1 / 9 <= one.interval.low < one.estimate < one.interval.high < 1
    assert "least possible value" in one.interval.method
    # On -log(1 - x) the bound was below -10; that of all ten judgments did not exist.
    assert 0 <= many.interval.low < many.estimate < many.interval.high < 1


def test_stepping_up_ends_the_interval_at_zero_or_at_the_estimate_and_says_so():
    rng = np.random.default_rng(3)
    noise = rng.integers(4, size=(20, 30))
    many = vote_share_reliability(noise, k=None)
    assert many.interval.low == min(0.0, many.estimate) < many.interval.high
    assert [n.code for n in many.notes].count("interval_cut_at_zero") == 1
    kept = vote_share_reliability(np.where(rng.random((20, 30)) < 0.9, noise[:, :1], noise), k=None)
    assert kept.interval.low > 0
    assert "interval_cut_at_zero" not in {n.code for n in kept.notes}
