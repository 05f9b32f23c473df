"""Rates measured in another study: used where there are no labels, refused otherwise."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.errors import InputError

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
