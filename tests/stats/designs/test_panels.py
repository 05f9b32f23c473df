"""Groups of replications made into one, against a plain loop."""

from statistics import mean, median, multimode

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats.designs import AGGREGATES, aggregate_replications


@pytest.mark.parametrize("how", AGGREGATES)
@pytest.mark.parametrize("k", [1, 3, 4])
def test_agrees_with_the_standard_library(how, k):
    x = np.random.default_rng(0).integers(1, 6, size=(9, 13)).astype(float)
    ours = aggregate_replications(x, k=k, how=how)
    assert ours.shape == (9, 13 // k)
    for i in range(9):
        for g in range(13 // k):
            values = x[i, g * k : (g + 1) * k].tolist()
            expected = {"mean": mean, "median": median, "mode": lambda v: mean(multimode(v))}[how]
            assert ours[i, g] == pytest.approx(expected(values))


def test_what_cannot_be_grouped_is_refused():
    with pytest.raises(InputError, match="k a whole number"):
        aggregate_replications([[1.0, 2.0]], k=3)
    with pytest.raises(InputError, match="how must be"):
        aggregate_replications([[1.0, 2.0]], k=1, how="best")
