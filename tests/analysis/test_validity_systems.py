"""Systems compared as people would: a judge's liking is corrected, a difference is found."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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


def test_equal_systems_and_a_judge_that_likes_length():
    """The judge alone makes most of the claims that the correction makes in at most 5%."""
    alone, corrected = [], []
    for seed in range(12):
        frame, passed = judged(seed)
        corrected.append(compared(frame).rows[0].p_adjusted < 0.05)
        d = passed[:, 0].astype(float) - passed[:, 1]
        alone.append(stats.ttest_1samp(d, 0).pvalue < 0.05)
    assert np.mean(alone) > 0.8
    assert sum(corrected) <= 2  # of 12 at a true .05: more in 2 %


@pytest.mark.parametrize("scores", [False, True])
def test_intervals_of_systems_have_the_level_of_the_audit(scores):
    frame, _ = judged(3, n=60, scores=scores)
    found = js.audit(frame, n_resamples=99, level=0.8).analysis
    intervals = [r.result.interval for r in found.results if r.id.startswith("system.")]
    assert [i.level for i in intervals] == [0.8, 0.8]


def test_labels_by_verdict_and_too_few_labels_give_no_comparison():
    frame, _ = judged(2, n_labels=15)
    read = js.read_judgments(frame)
    assert not system_results(read, plan_for(read))
    frame, _ = judged(2)
    read = js.read_judgments(frame)
    assert not system_results(read, plan_for(read, labels_drawn="by-verdict"))


def test_an_id_for_each_answer_and_its_question_name_the_systems_too():
    shared, _ = judged(3, rates=(0.85, 0.5))
    own = shared.rename(columns={"question_id": "question"})
    own["id"] = own["question"].astype(str) + own["system"]
    read = js.read_judgments(own)
    assert any("systems = system" in sentence for sentence in read.attrs["understood"])
    assert compared(own).rows[0].estimate == compared(shared).rows[0].estimate


@pytest.mark.parametrize(
    ("scores", "labelled", "shift", "said"),
    [
        (True, False, 2.0, "B scores higher than A on the same questions: {0} points."),
        (True, False, -2.0, "A scores higher than B on the same questions: {0} points."),
        (True, True, 2.0, "B scores higher than A after correction by human labels: {0} points."),
        (False, True, 0.4,
         "B has a higher pass rate than A after correction by human labels: {0}."),
    ],
)  # fmt: skip
def test_the_finding_names_the_higher_of_two_systems(scores, labelled, shift, said):
    rng = np.random.default_rng(7)
    base = rng.normal(5, 1, 80)
    system = np.repeat([0, 1], 80)
    value = np.tile(base, 2) + shift * system + rng.normal(0, 0.3, 160)
    passes = rng.random(160) < 0.3 + shift * system
    frame = pd.DataFrame({
        "question_id": np.tile(np.arange(80), 2), "system": np.array(["A", "B"])[system],
        "score" if scores else "verdict": value if scores else np.where(passes, "pass", "fail"),
    })  # fmt: skip
    if labelled:
        frame["label"] = value if scores else frame["verdict"]
    found = js.audit(frame, n_resamples=99, labels_drawn="random").records()
    wide = frame.pivot(index="question_id", columns="system", values=frame.columns[2])
    wide = wide if scores else (wide == "pass").astype(float)
    apart = abs((wide["B"] - wide["A"]).mean())
    number = f"{apart:.2f}" if scores else f"{apart:.2f}".lstrip("0")
    sentence, _, bounds = found.finding.partition(" [")
    assert sentence == said.format(number + " [").partition(" [")[0]
    low, high = map(float, bounds.partition("]")[0].split(", "))
    assert 0 < low < apart < high
    assert found.finding.endswith("] points." if scores else "].")


def test_two_alike_systems_are_inconclusive_and_three_have_no_finding():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({
        "question_id": np.tile(np.arange(60), 3), "system": np.repeat(list("ABC"), 60),
        "score": np.tile(rng.normal(5, 1, 60), 3) + rng.normal(0, 1, 180),
    })  # fmt: skip
    two = js.audit(frame[frame["system"] != "C"], n_resamples=99).records().finding
    assert two.startswith("It is inconclusive whether ")
    assert " on the same questions: 0." in two
    assert js.audit(frame, n_resamples=99).records().finding == ""
