"""Scores beside pass and fail labels: pairs counted by hand, repeats, ends, clusters."""

import numpy as np
import pytest

from judgestats import stats
from judgestats.errors import InputError


def by_hand(scores, passed):
    above = np.subtract.outer(scores[passed == 1], scores[passed == 0])
    return np.mean((above > 0) + 0.5 * (above == 0))


def drawn(n=80, repeats=4, seed=0):
    rng = np.random.default_rng(seed)
    passed = (rng.random(n) < 0.4).astype(float)
    scores = np.clip(np.round(5 + 2 * passed[:, None] + rng.normal(0, 2, (n, repeats))), 1, 10)
    return scores, passed


def test_pairs_are_counted_and_a_tie_counts_half():
    scores, passed = drawn()
    passed[::7] = np.nan
    area = stats.separation(scores, passed)
    assert area.estimate == pytest.approx(by_hand(scores.mean(axis=1), passed), abs=1e-12)
    assert area.sample.n_items == int(np.isfinite(passed).sum())
    assert area.interval.low < area.estimate < area.interval.high


def test_copies_of_an_item_in_one_cluster_tell_no_more_than_it():
    scores, passed = drawn(n=40, repeats=1)
    once = stats.separation(scores, passed)
    copied = stats.separation(
        np.repeat(scores, 5, axis=0), np.repeat(passed, 5), cluster=np.repeat(np.arange(40), 5)
    )
    assert copied.std_error == pytest.approx(once.std_error, rel=0.05)
    assert np.diff([*vars(copied.interval).values()][:2]) > 0.9 * np.diff(
        [once.interval.low, once.interval.high]
    )


def test_one_kind_of_label_is_undefined_and_other_labels_are_refused():
    area = stats.separation([3.0, 4.0], [1, 1])
    assert np.isnan(area.estimate)
    assert "pass of all items" in area.reason
    with pytest.raises(InputError, match="labels must be 1"):
        stats.separation([3.0, 4.0], [1, 2])


def test_what_scores_are_does_not_matter_but_their_order():
    scores, passed = drawn(repeats=1)
    area = stats.separation(scores, passed)
    stretched = stats.separation(np.exp(scores), passed)
    turned = stats.separation(-scores, 1 - passed)
    for other in (stretched, turned):
        assert other.estimate == pytest.approx(area.estimate)
        assert other.interval.low == pytest.approx(area.interval.low)


def test_no_pair_turned_is_no_certainty():
    area = stats.separation(np.r_[np.arange(5.0), np.arange(10.0, 20.0)], np.r_[[0] * 5, [1] * 10])
    assert area.estimate == 1.0 == area.interval.high
    assert 0.4 < area.interval.low < 0.9
