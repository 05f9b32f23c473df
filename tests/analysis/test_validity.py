"""Labels in an audit: error rates, corrected averages, the items to read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.results import Estimate, Table


@pytest.fixture(scope="module")
def passes():
    rng = np.random.default_rng(1)
    truth = rng.random(300) < 0.7
    judge = np.where(truth, rng.random(300) < 0.9, rng.random(300) < 0.3)
    frame = pd.DataFrame(
        {
            "item": [f"i{i}" for i in range(300)],
            "passed": judge,
            "label": [("pass" if t else "fail") if i < 80 else "" for i, t in enumerate(truth)],
        }
    )
    return truth, judge, js.audit(js.read_judgments(frame), n_resamples=99)


def named(analysis, start):
    return next(r.result for r in analysis.results if r.id.startswith(start))


def test_few_labels_correct_the_pass_rate_of_all(passes):
    truth, judge, found = passes
    corrected = named(found, "people.corrected")
    assert corrected.interval.low < truth.mean() < corrected.interval.high
    assert corrected.details["judge_only"] == pytest.approx(judge.mean())
    assert corrected.details["labels_worth"] > 0
    assert "assumes_random" in {n.code for n in corrected.notes}
    metrics = next(iter(found.condition_metrics.values()))
    assert metrics["validity/corrected"] == corrected.estimate
    assert metrics["ci/validity/sensitivity.lo"] < metrics["validity/sensitivity"]


def test_the_items_to_read_are_listed(passes):
    truth, judge, found = passes
    listed = named(found, "people.disagreements")
    wrong = {f"i{i}" for i in range(80) if truth[i] != judge[i]}
    assert listed.n == len(wrong)
    assert set(listed.rows["item_id"]) <= wrong
    assert "read these" in listed.sentence()


def test_the_records_hold_them(passes):
    records = passes[2].records()
    kinds = {r.id.rsplit(".", 1)[0]: r for r in records.select(Estimate)}
    assert any(k.startswith("people.corrected") for k in kinds)
    tables = [r for r in records.select(Table) if r.id.startswith("people.disagreements")]
    assert tables[0].text


def test_scores_have_bias_concordance_and_the_parts_of_their_error():
    rng = np.random.default_rng(2)
    people = np.clip(np.round(rng.normal(6, 1.5, 120)), 1, 10)
    rows = [
        {"item": f"i{i}", "trial": t, "score": int(np.clip(round(people[i] + 1 + e), 1, 10)),
         "label": str(int(people[i])) if i < 60 else ""}
        for i in range(120)
        for t, e in enumerate(rng.normal(0, 0.8, 3))
    ]  # fmt: skip
    found = js.audit(js.read_judgments(pd.DataFrame(rows)), n_resamples=99)
    bias = named(found, "people.bias")
    assert bias.interval.low < 1.0 < bias.interval.high + 0.2
    corrected = named(found, "people.corrected")
    assert corrected.estimate == pytest.approx(people.mean(), abs=0.3)
    parts = [named(found, f"people.{k}").estimate for k in
             ("squared_bias", "between_items", "replicates")]  # fmt: skip
    assert sum(parts) == pytest.approx(named(found, "people.mean_squared_error").estimate)
    metrics = next(iter(found.condition_metrics.values()))
    assert {"validity/bias", "validity/concordance", "people/pearson"} <= set(metrics)


def test_repeats_tell_what_more_verdicts_buy():
    rng = np.random.default_rng(3)
    truth = rng.random(150) < 0.5
    rows = [
        {"item": f"i{i}", "trial": t, "passed": bool(truth[i]) ^ bool(rng.random() < 0.25),
         "label": "pass" if truth[i] else "fail"}
        for i in range(150)
        for t in range(5)
    ]  # fmt: skip
    found = js.audit(js.read_judgments(pd.DataFrame(rows)), n_resamples=99)
    by_k = named(found, "people.by_k")
    assert by_k.accuracy[5].estimate > by_k.accuracy[1].estimate + 0.08
    assert not [r for r in found.results if r.id.startswith("people.corrected")]
