"""An interval of a deviation that no scale holds is not given."""

import numpy as np

from judgestats import stats


def test_a_deviation_that_one_of_few_items_carries_has_no_interval_but_a_reason():
    x = np.full((12, 1, 3), 8.0)
    x[0, 0] = [1, 5, 10]
    x[1, 0] = [8, 8, 9]
    [row] = stats.condition_summary(x, conditions=["T=1"]).rows
    assert row.sem.estimate > 1
    assert row.sem.interval is None
    assert row.variance.interval is None
    [note] = [n for n in row.sem.notes if n.code == "not_estimable"]
    assert "not estimable at this size" in note.message


def test_an_interval_that_the_data_carry_stays():
    x = np.random.default_rng(1).normal(8, 0.7, (12, 1, 3))
    [row] = stats.condition_summary(x, conditions=["T=1"]).rows
    assert row.sem.interval.high < 5 * row.sem.estimate
