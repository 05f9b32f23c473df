"""No interval holds what its number cannot be."""

import numpy as np
import pytest

from judgestats.analysis import clip_to_scale, possible
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


def test_points_stay_on_the_scale(few):
    held = clip_to_scale(few, (1.0, 10.0))
    before, after = _estimates(few), _estimates(held)
    [name] = held.conditions["condition"]
    mean = f"condition.mean.{name}"
    assert before[mean].interval.high > 10 >= after[mean].interval.high
    assert held.conditions["mean_high"].item() == after[mean].interval.high
    assert held.condition_metrics[name]["ci/score/mean.hi"] == after[mean].interval.high
    for value in after.values():
        if value.interval and value.name in {"mean", "sem", "pooled_within_variance"}:
            low, high = possible(value.name, (1.0, 10.0))
            assert low <= value.interval.low <= value.interval.high <= high


def test_points_without_a_scale_are_left(few):
    mean = f"condition.mean.{few.conditions['condition'].item()}"
    assert _estimates(clip_to_scale(few, None))[mean] == _estimates(few)[mean]


def test_an_interval_of_all_that_is_possible_is_said_to_say_nothing(few):
    narrow = clip_to_scale(few, (7.5, 8.5))
    mean = _estimates(narrow)[f"condition.mean.{few.conditions['condition'].item()}"]
    assert "not_estimable" in {note.code for note in mean.notes}
    assert mean.interval is None
    assert np.isnan(narrow.conditions["mean_high"].item())
    codes = {n.code for e in _estimates(clip_to_scale(few, (-90, 110))).values() for n in e.notes
             if e.name == "mean"}  # fmt: skip
    assert "not_estimable" not in codes


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
