"""Labels in an audit: error rates, corrected averages, the items to read."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.errors import InputError


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


def named(found, start):
    return next(r.result for r in found.analysis.results if r.id.startswith(start))


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
    metrics = next(iter(found.analysis.condition_metrics.values()))
    assert {"validity/bias", "validity/concordance", "people/pearson"} <= set(metrics)


@pytest.fixture(scope="module")
def by_verdict():
    """Truth .92 and .70; as many labels of the rare verdict as of the frequent one."""
    rng = np.random.default_rng(8)
    truth = rng.random(4000) < 0.8
    judge = np.where(truth, rng.random(4000) < 0.92, rng.random(4000) < 0.3)
    chosen = np.concatenate([rng.choice(np.flatnonzero(judge == v), 300, replace=False)
                             for v in (True, False)])  # fmt: skip
    other = np.where(truth, rng.random(4000) < 0.8, rng.random(4000) < 0.2)
    items = [f"i{i}" for i in range(4000)]
    judged = pd.DataFrame({"item": items, "passed": judge})
    shares = np.where(judge, 300 / judge.sum(), 300 / (~judge).sum())
    labels = pd.DataFrame(
        {"item_id": [items[i] for i in chosen], "chance": shares[chosen],
         "label": np.where(truth[chosen], "pass", "fail")}
    )  # fmt: skip
    return judged, labels, other, truth


def rates_of(found, condition=""):
    return [named(found, f"people.{k}{condition}") for k in ("sensitivity", "specificity")]


def test_strata_are_the_categories(by_verdict):
    judged, labels, _, _ = by_verdict
    plain = labels.drop(columns="chance")
    with pytest.raises(InputError, match="category of every item"):
        js.audit(judged, labels=plain, labels_drawn="stratified", n_resamples=99)
    with pytest.raises(InputError, match="one of random"):
        js.audit(judged, labels=plain, labels_drawn="somehow", n_resamples=99)
    strata = judged.assign(category=np.where(judged["passed"], "x", "y"))
    found = js.audit(strata, labels=plain, labels_drawn="stratified", n_resamples=99)
    for rate, true in zip(rates_of(found), (0.92, 0.7), strict=True):
        assert rate.interval.low < true < rate.interval.high


def test_agreement_on_labels_used_for_tuning_is_called_that(passes, tmp_path):
    truth, judge, _ = passes
    judged = pd.DataFrame({"item": [f"i{i}" for i in range(300)], "passed": judge})
    labels = pd.DataFrame(
        {"item_id": judged["item"][:60], "label": np.where(truth[:60], "pass", "fail"),
         "labels_part": "tuning:1f2e"}
    )  # fmt: skip
    found = js.audit(judged, labels=labels, n_resamples=99)
    assert "digest 1f2e" in found.limitations[0]
    assert found.analysis.params == {"labels/tuning": "1f2e"}
    titles = [r.title for r in found.analysis.results if r.id.startswith("people.sensitivity")]
    assert titles[0].endswith("on the labels used for tuning")
    held_out = js.audit(judged, labels=labels.assign(labels_part="validation:9a"), n_resamples=99)
    assert not any("tuning" in text for text in held_out.limitations)


def test_a_stated_mix_weights_the_categories(by_verdict):
    rng = np.random.default_rng(3)
    n = 400
    kind = np.where(np.arange(n) % 4 == 0, "code", "chat")
    truth = rng.random(n) < np.where(kind == "code", 0.3, 0.9)
    frame = pd.DataFrame(
        {
            "item": [f"i{i}" for i in range(n)],
            "category": kind,
            "passed": truth ^ (rng.random(n) < 0.1),
            "label": [("pass" if t else "fail") if i < 160 else "" for i, t in enumerate(truth)],
        }
    )
    given = {"n_resamples": 19, "labels_drawn": "random"}
    plain = named(js.audit(frame, **given), "people.corrected")
    found = js.audit(frame, mix="code=.9,chat=.1", **given)
    mixed = named(found, "people.corrected")
    assert plain.estimate > 0.6
    assert mixed.interval.low < 0.9 * 0.3 + 0.1 * 0.9 < mixed.interval.high
    titles = [r.title for r in found.analysis.results if r.id.startswith("people.corrected")]
    assert "for the mix code 0.9, chat 0.1" in titles[0]
    with pytest.raises(InputError, match="share of each"):
        js.audit(frame, mix="code=1", **given)
    with pytest.raises(InputError, match="CATEGORY=SHARE"):
        js.audit(frame, mix="code", **given)
