"""Labels as people's files hold them: each fault is named, none changes a number in silence."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js

N = 200
RNG = np.random.default_rng(0)
TRUTH = RNG.random(N) < 0.7
JUDGE = np.where(RNG.random(N) < 0.85, TRUTH, ~TRUTH)
JUDGED = pd.DataFrame({"item": [f"i{i}" for i in range(N)], "passed": JUDGE})


def labels(n=100, truth=TRUTH, **more):
    said = np.where(truth[:n], "pass", "fail")
    return pd.DataFrame({"item_id": JUDGED["item"][:n], "label": said, **more})


def audited(table):
    found = js.audit(JUDGED, labels=table, n_resamples=99).analysis
    return {r.id.rpartition(".")[0]: r.result for r in found.results}, found.limitations


def codes(result):
    return {n.code for n in result.notes}


def test_a_judge_that_knows_nothing_is_said_to():
    found, _ = audited(labels(truth=~JUDGE))
    assert "no_better_than_chance" in codes(found["people.sensitivity"])
    assert found["people.corrected"].estimate == pytest.approx((~JUDGE).mean(), abs=0.1)
    right, _ = audited(labels())
    assert "no_better_than_chance" not in codes(right["people.sensitivity"])
    useless = js.stats.corrected_by_rates(300, 1000, tp=30, positives=60, tn=30, negatives=60)
    assert np.isnan(useless.estimate)
    assert "cannot be corrected" in useless.reason


def test_a_labelled_part_unlike_the_rest_is_told():
    found, _ = audited(labels()[JUDGE[:100]])
    assert "unrepresentative" in codes(found["people.corrected"])
