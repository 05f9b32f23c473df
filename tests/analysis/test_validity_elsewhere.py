"""Rates measured in another study: used where there are no labels, refused otherwise."""

import math

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.errors import InputError
from judgestats.stats import corrected_by_rates

GIVEN = {"sensitivity": "137/149", "specificity": "43/51"}


def judged(n=800, *, questions=0, seed=5, unread=0):
    rng = np.random.default_rng(seed)
    passed = np.where(rng.random(n) < 0.69, "yes", "no").astype(object)
    if questions:
        passed = np.repeat(np.where(rng.random(questions) < 0.69, "yes", "no"), n // questions)
        passed = passed.astype(object)
    passed[:unread] = ""
    frame = pd.DataFrame({"item": [f"i{i}" for i in range(n)], "verdict": passed})
    if questions:
        frame["cluster"] = np.repeat(np.arange(questions), n // questions)
    return frame


def corrected(frame, **given):
    found = js.audit(frame, n_resamples=19, **(given or GIVEN))
    [one] = [r.result for r in found.analysis.results if r.id.startswith("people.corrected")]
    return found, one


def wide(estimate):
    return estimate.interval.high - estimate.interval.low


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sensitivity": "137/149"}, "needs specificity="),
        ({"specificity": "43/51"}, "needs sensitivity="),
        ({**GIVEN, "sensitivity": ".92"}, "on how many labels"),
        ({**GIVEN, "sensitivity": "150/149"}, "on how many labels"),
        ({**GIVEN, "sensitivity": "high/149"}, "on how many labels"),
        ({**GIVEN, "specificity": "0/0"}, "on how many labels"),
        ({**GIVEN, "specificity": "inf/inf"}, "on how many labels"),
        ({**GIVEN, "specificity": "-1/20"}, "on how many labels"),
        ({**GIVEN, "specificity": "nan/20"}, "on how many labels"),
    ],
)
def test_what_is_no_rate_with_its_labels_is_refused(given, told):
    with pytest.raises(InputError, match=told):
        js.audit(judged(), n_resamples=19, **given)


def test_labels_several_judges_and_scores_are_refused():
    frame = judged()
    with pytest.raises(InputError, match="without labels"):
        js.audit(frame.assign(label="yes"), n_resamples=19, **GIVEN)
    two = pd.concat([frame.assign(judge="x"), frame.assign(judge="y")])
    with pytest.raises(InputError, match="one judge's, and 2 judges"):
        js.audit(two, n_resamples=19, **GIVEN)
    scores = pd.DataFrame({"item": range(30), "score": np.arange(30) % 7 + 1})
    with pytest.raises(InputError, match="pass and fail verdicts"):
        js.audit(scores, n_resamples=19, **GIVEN)
    pairs = pd.DataFrame({"item": range(30), "winner": ["a", "b", "tie"] * 10})
    with pytest.raises(InputError, match="pass and fail verdicts"):
        js.audit(pairs, n_resamples=19, **GIVEN)


def test_the_pass_rate_is_corrected_by_them():
    frame = judged()
    found, one = corrected(frame)
    passes = int((frame["verdict"] == "yes").sum())
    same = corrected_by_rates(passes, 800, tp=137, positives=149, tn=43, negatives=51)
    assert one.name == "rogan_gladen"
    assert one.estimate == pytest.approx(same.estimate, abs=1e-9)
    assert one.interval.low == pytest.approx(same.interval.low, abs=1e-9)
    assert one.details["judge_only"] == pytest.approx(passes / 800)
    [row] = [r for r in found.records().rows if r.key == "truth"]
    assert row.estimand == "rogan_gladen"
    assert row.ask == "Corrected rate"
    metrics = next(iter(found.analysis.condition_metrics.values()))
    assert metrics["validity/corrected"] == one.estimate


def test_a_share_with_its_labels_says_the_same_and_more_labels_are_narrower():
    frame = judged()
    _, one = corrected(frame)
    _, share = corrected(frame, sensitivity=f"{137 / 149:.6f}/149", specificity=f"{43 / 51:.6f}/51")
    assert share.interval.low == pytest.approx(one.interval.low, abs=1e-5)
    _, more = corrected(frame, sensitivity="1370/1490", specificity="430/510")
    assert wide(more) < 0.7 * wide(one)


def test_questions_that_repeat_widen_the_interval():
    _, alone = corrected(judged(questions=0))
    _, together = corrected(judged(questions=40))
    assert together.details["effective_n"] < 45
    assert together.sample.n_clusters == 40
    assert wide(together) > 1.5 * wide(alone)


def test_unread_verdicts_are_counted():
    _, one = corrected(judged(unread=30))
    assert one.sample.excluded == {"unread": 30}


def test_a_judge_that_may_be_a_coin_gets_the_reason_instead_of_a_number():
    _, one = corrected(judged(), sensitivity="30/60", specificity="31/60")
    assert math.isnan(one.estimate)
    assert "cannot be corrected" in one.reason
