"""No interval holds what its number cannot be."""

import numpy as np
import pytest

from judgestats.analysis import possible
from judgestats.analysis.audit import audit
from judgestats.results import Estimate as EstimateRecord
from judgestats.stats.inference import Estimate
from tests.null_judge.doors import JUDGES
from tests.null_judge.worlds import World, scored


@pytest.fixture(scope="module")
def few():
    """Five questions of which one holds nearly all of the variance."""
    frame = scored(np.random.default_rng(4), World(sizes=(3, 1, 1), unread=0.0), JUDGES[:1])
    return audit(frame, n_resamples=19)


def _estimates(analysis):
    every = (*analysis.results, *analysis.described)
    return {r.id: r.result for r in every if isinstance(r.result, Estimate)}


def test_records_hold_every_interval_to_its_definition(few):
    lost = 0
    for record in few.records().results:
        if not isinstance(record, EstimateRecord):
            continue
        lost += record.not_estimable
        assert not (record.not_estimable and record.interval)
        if record.interval:
            low, high = possible(record.estimand)
            assert min(low, record.estimate) <= record.interval.low
            assert record.interval.high <= max(high, record.estimate)
    assert lost
