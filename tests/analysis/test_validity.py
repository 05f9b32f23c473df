"""Labels in an audit: error rates, corrected averages, the items to read."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis import people_rows
from judgestats.errors import InputError
from judgestats.results import Estimate, Table, brief_of


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


def test_few_labels_correct_the_pass_rate_of_all(passes):
    truth, judge, found = passes
    corrected = named(found, "people.corrected")
    assert corrected.interval.low < truth.mean() < corrected.interval.high
    assert corrected.details["judge_only"] == pytest.approx(judge.mean())
    gain = named(found, "people.labels_extra")
    assert 0 < gain.interval.low < gain.estimate == corrected.details["labels_extra"]
    assert "assumes_random" in {n.code for n in corrected.notes}
    [row, worth] = [
        r for r in brief_of(found.analysis.records()).lines if r.key in {"truth", "extra"}
    ]
    assert [b.words for b in row.beside] == ["labels alone"]
    assert worth.cells[0].number == f"{gain.estimate:.0f}"
    metrics = next(iter(found.analysis.condition_metrics.values()))
    assert metrics["validity/corrected"] == corrected.estimate
    assert metrics["ci/validity/sensitivity.lo"] < metrics["validity/sensitivity"]


def test_the_items_to_read_are_listed(passes):
    truth, judge, found = passes
    listed = named(found, "people.disagreements")
    wrong = {f"i{i}" for i in range(80) if truth[i] != judge[i]}
    assert listed.n == len(wrong)
    assert set(listed.rows["item_id"]) <= wrong
    assert "Read these first" in listed.sentence()


def test_the_records_hold_them(passes):
    records = passes[2].records()
    kinds = {r.id.rsplit(".", 1)[0]: r for r in records.select(Estimate)}
    assert any(k.startswith("people.corrected") for k in kinds)
    tables = [r for r in records.select(Table) if r.id.startswith("people.disagreements")]
    assert tables[0].text


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
    assert not [r for r in found.analysis.results if r.id.startswith("people.corrected")]


def test_labels_drawn_by_verdict_are_weighted_as_stated_or_as_their_chances_show(by_verdict):
    judged, labels, _, truth = by_verdict
    plain = labels.drop(columns="chance")
    seen = rates_of(js.audit(judged, labels=plain, n_resamples=99))
    stated = js.audit(judged, labels=plain, labels_drawn="by-verdict", n_resamples=99)
    shown = js.audit(judged, labels=labels, n_resamples=99)
    assert seen[0].estimate < 0.85
    assert seen[1].estimate > 0.8
    assert "assumes_random" in {n.code for n in seen[0].notes}
    for rate, same, true in zip(rates_of(stated), rates_of(shown), (0.92, 0.7), strict=True):
        assert rate.estimate == pytest.approx(same.estimate, abs=1e-12)
        assert rate.interval.low < true < rate.interval.high
        assert not rate.notes
    corrected = named(stated, "people.corrected").interval
    assert corrected.low < truth.mean() < corrected.high
    right = named(stated, "people.accuracy").interval
    assert right.low < (truth == judged["passed"]).mean() < right.high


def test_chances_weigh_for_a_judge_that_the_labels_were_not_drawn_by(by_verdict):
    judged, labels, other, _ = by_verdict
    both = pd.concat([judged.assign(judge="drew"), judged.assign(judge="later", passed=other)])
    found = js.audit(both, labels=labels, n_resamples=99)
    for rate in rates_of(found, ".later"):
        assert rate.interval.low < 0.8 < rate.interval.high
    stated = js.audit(
        both, labels=labels.drop(columns="chance"), labels_drawn="by-verdict", n_resamples=99
    )
    assert any("correct only for the judge" in text for text in stated.limitations)


def test_labels_picked_by_hand_are_not_corrected(by_verdict):
    judged, labels, _, _ = by_verdict
    found = js.audit(judged, labels=labels, labels_drawn="convenience", n_resamples=99)
    corrected = named(found, "people.corrected")
    assert np.isnan(corrected.estimate)
    assert "by hand" in corrected.reason
    assert "convenience" in {n.code for n in named(found, "people.sensitivity").notes}
    notes = {row.key: row.note for row in people_rows(["J"], labels_drawn="convenience")}
    assert notes["sensitivity"] == notes["accuracy"] == "(of items picked by hand)"


def test_unstated_labels_that_differ_from_the_rest_are_told(by_verdict):
    judged, labels, _, _ = by_verdict
    found = js.audit(judged, labels=labels.drop(columns="chance"), n_resamples=99)
    corrected = next(r for r in found.analysis.results if r.id.startswith("people.corrected"))
    assert {"assumes_random", "unrepresentative"} <= {n.code for n in corrected.result.notes}
    assert "assumes that the labelled items were drawn at random" in corrected.title


def test_scores_of_items_drawn_unequally_are_not_corrected():
    rng = np.random.default_rng(5)
    people = rng.integers(1, 11, 200)
    judged = pd.DataFrame(
        {"item": [f"i{i}" for i in range(200)], "score": np.clip(people + 1, 1, 10)}
    )
    labels = pd.DataFrame(
        {"item_id": judged["item"][:60], "label": people[:60],
         "chance": np.where(people[:60] > 5, 0.5, 0.1)}
    )  # fmt: skip
    found = js.audit(judged, labels=labels, n_resamples=99)
    assert np.isnan(named(found, "people.corrected").estimate)
    assert "labelled_only" in {n.code for n in named(found, "people.bias").notes}


def test_of_repeats_the_majority_has_the_error_rates():
    rng = np.random.default_rng(3)
    truth = rng.random(100) < 0.5
    rows = [
        {"item": f"i{i}", "trial": t, "passed": bool(truth[i]) ^ bool(rng.random() < 0.25),
         "label": "pass" if truth[i] else "fail"}
        for i in range(100)
        for t in range(5)
    ]  # fmt: skip
    found = js.audit(rows, n_resamples=99)
    wide = pd.DataFrame(rows).pivot(index="item", columns="trial", values="passed")
    passes = wide.astype(float).mean(axis=1) > 0.5
    labels = pd.DataFrame(rows).drop_duplicates("item").set_index("item")["label"]
    of = labels[labels == "pass"].index
    named_ = next(r for r in found.analysis.results if r.id.startswith("people.sensitivity"))
    assert named_.result.estimate == pytest.approx(passes[of].mean())
    assert "majority of its 5 verdicts" in named_.title
    table = found.conditions.iloc[0]
    assert table["sensitivity"] == named_.result.estimate
    assert table["balanced_accuracy"] == pytest.approx(
        (table["sensitivity"] + table["specificity"]) / 2
    )


def test_several_judges_are_one_panel_of_verdicts_and_of_scores():
    rng = np.random.default_rng(4)
    truth = rng.random(300) < 0.5
    rows = [
        {"item": f"i{i}", "judge": j, "passed": bool(truth[i]) ^ bool(rng.random() < 0.25),
         "label": "pass" if truth[i] else "fail"}
        for j in "abc"
        for i in range(300)
    ]  # fmt: skip
    found = js.audit(rows, n_resamples=99)
    panel = named(found, "panel.all")
    assert panel.against_best["majority"].interval.low > 0
    assert panel.calls == 3
    people = rng.integers(2, 10, 120)
    rows = [
        {"item": f"i{i}", "judge": j, "score": float(people[i] + e), "label": str(people[i])}
        for j in "abc"
        for i, e in enumerate(rng.normal(0, 1, 120))
    ]  # fmt: skip
    found = js.audit(rows, n_resamples=99)
    panel = named(found, "panel.all")
    assert panel.against_best["mean"].interval.high < 0


def test_a_panel_of_few_labels_says_so():
    rows = [
        {"item": f"i{i}", "judge": j, "passed": i % 3 > 0, "label": "pass" if i % 2 else "fail"}
        for j in "ab"
        for i in range(15)
    ]
    [gain] = (r for r in js.audit(rows, n_resamples=19).analysis.results if "panel" in r.id)
    assert (gain.id, gain.result.reason) == ("panel.gain", "15 labels are too few")
    grouped = [{**row, "item": f"{row['item']}{k}", "cluster": row["item"][-1]}
               for row in rows if row["item"] in {"i1", "i2", "i3"} for k in range(9)]  # fmt: skip
    [gain] = (r for r in js.audit(grouped, n_resamples=19).analysis.results if "panel" in r.id)
    assert gain.result.reason == "27 labels in 3 clusters are too few"


def test_scores_of_several_answers_of_which_one_is_right_tell_how_often_to_ask():
    rng = np.random.default_rng(6)
    rows = [
        {"item_id": f"q{q}/{r}", "cluster": f"q{q}", "replicate": t, "judge": "J",
         "temperature": 1.0, "category": "x" if q < 60 else "y", "status": "ok",
         "score": float(np.clip(round(6 + (r == 0) + rng.normal(0, 1.2)), 1, 10)),
         "correct": "yes" if r == 0 else "no"}
        for q in range(120)
        for r in range(3)
        for t in range(5)
    ]  # fmt: skip
    from judgestats.data import parsed_frame

    found = js.audit(parsed_frame(pd.DataFrame(rows)), n_resamples=99)
    by_k = named(found, "people.by_k.")
    assert by_k.accuracy[5].estimate > by_k.accuracy[1].estimate + 0.1
    best = named(found, "people.best_scored.")
    assert best.estimate == by_k.accuracy[5].estimate
    assert named(found, "people.random_choice").estimate == pytest.approx(1 / 3)
    once = js.audit(parsed_frame(pd.DataFrame(rows).query("replicate == 0")), n_resamples=99)
    assert named(once, "people.best_scored.").estimate < best.estimate
    asked = next(r for r in once.analysis.rows if r.key == "best")
    assert set(asked.cells.values()) == {"people.best_scored.J, T=1"}
    assert "people.by_k.J, T=1" not in {r.id for r in once.analysis.results}


def test_a_kind_of_item_on_which_the_judge_errs_is_told(passes):
    rng = np.random.default_rng(12)
    kind = np.repeat(["code", "chat"], 150)
    truth = rng.random(300) < 0.5
    wrong = rng.random(300) < np.where(kind == "code", 0.35, 0.05)
    frame = pd.DataFrame(
        {"item": range(300), "category": kind, "passed": truth ^ wrong,
         "label": np.where(truth, "pass", "fail")}
    )  # fmt: skip
    slices = named(js.audit(frame, n_resamples=19), "slices.category.")
    assert min(r.p_adjusted for r in slices.rows) < 0.001


def test_labels_drawn_by_verdict_decide_as_they_are_printed(tmp_path):
    rng = np.random.default_rng(7)
    human = rng.random(600) < 0.6
    judged = np.where(rng.random(600) < np.where(human, 0.9, 0.3), "pass", "fail")
    items = pd.DataFrame({"item": range(600), "cluster": np.arange(600) // 3, "verdict": judged})
    drawn = [np.flatnonzero(judged == word)[:120] for word in ("pass", "fail")]
    labels = items[["item"]].assign(label=np.where(human, "pass", "fail"))
    labels.loc[np.sort(np.concatenate(drawn))].to_csv(tmp_path / "labels.csv", index=False)
    for how in ("random", "by-verdict"):
        found = js.check(items, labels=tmp_path / "labels.csv", labels_drawn=how, for_="gate")
        for required, name in zip(
            found.verdicts[0].requirements, ("sensitivity", "specificity"), strict=False
        ):
            record = found.results.estimate(f"people.{name}.judge")
            assert (required.low, required.high) == pytest.approx(
                (record.interval.low, record.interval.high), abs=1e-12
            )
            assert required.estimate == pytest.approx(record.estimate, abs=1e-12)
