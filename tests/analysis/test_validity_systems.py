"""Systems compared as people would: a judge's liking is corrected, a difference is found."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis import plan_for, system_results


def judged(seed, *, rates=(0.7, 0.7), n=300, n_labels=100, scores=False):
    """Two systems' answers; the judge passes what is long, and the second system writes longer."""
    rng = np.random.default_rng(seed)
    good = rng.random((n, 2)) < rates
    long = rng.random((n, 2)) < (0.2, 0.8)
    passed = (long & (rng.random((n, 2)) < 0.6)) | (good ^ (rng.random((n, 2)) < 0.1))
    if scores:
        shown, told = 5 + 2 * good + 2 * long + rng.normal(size=(n, 2)), 5 + 2 * good
    else:
        shown, told = (np.where(v, "pass", "fail") for v in (passed, good))
    rows = [
        {
            "question_id": i, "system": "AB"[s], ("score" if scores else "verdict"): shown[i, s],
            "label": str(told[i, s]) if i < n_labels else "",
        }
        for i in range(n)
        for s in (0, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows), passed


def compared(frame):
    read = js.read_judgments(frame)
    declared = plan_for(read, n_resamples=0, labels_drawn="random")
    return next(r.result for r in system_results(read, declared) if r.id.startswith("systems."))


@pytest.mark.parametrize("scores", [False, True])
def test_an_audit_claims_the_difference_that_people_would_see(scores):
    frame, _ = judged(1, rates=(0.85, 0.5), scores=scores)
    found = js.audit(frame, n_resamples=99, labels_drawn="random").analysis
    [claim] = [h for h in found.headlines if h.rests_on[0].startswith("systems.")]
    assert claim.claim == "differs"
    [pairs] = [r.result for r in found.results if r.id.startswith("systems.")]
    assert pairs.rows[0].estimate > 0
    assert "A - B" in pairs.details["judge_differences"]
    [better] = [r.result for r in found.results if r.id.startswith("superior.")]
    assert better.interval.low > 0.5
