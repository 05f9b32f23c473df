"""The interval of a deviation is given, on however few items it rests."""

import numpy as np

from judgestats import stats


def test_a_deviation_that_one_of_few_items_carries_has_its_plain_interval():
    x = np.full((12, 1, 3), 8.0)
    x[0, 0] = [1, 5, 10]
    x[1, 0] = [8, 8, 9]
    [row] = stats.condition_summary(x, conditions=["T=1"]).rows
    plain = stats.repeat_pairs(x[:, 0], scale=(1, 10)).sem()
    assert row.sem.estimate > 1
    assert np.isclose(row.sem.estimate, plain.estimate, rtol=1e-12)
    assert row.sem.interval.low == np.sqrt(row.variance.interval.low)
    assert np.isclose(row.sem.interval.low, plain.low, rtol=1e-9)
    assert row.sem.interval.high > plain.high == 4.5
    assert row.sem.notes == ()
