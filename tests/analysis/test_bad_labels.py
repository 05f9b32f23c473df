"""Labels as people's files hold them: each fault is named, none changes a number in silence."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.errors import InputError

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


def test_labels_that_are_not_understood_are_refused_and_those_without_a_verdict_counted():
    table = labels()
    table.loc[[3, 4], "label"] = ["maybe", "broken"]
    with pytest.raises(InputError, match=r"'broken' \(1\), 'maybe' \(1\).*--values 'broken=WHAT"):
        audited(table)
    table.loc[[3, 4], "label"] = ["N/A", "error: timeout"]
    found, said = audited(table)
    without, _ = audited(labels().drop([3, 4]))
    assert "2 labels are no verdict and left out of every rate: 1 not applicable, 1 error." in said
    assert found["people.sensitivity"].estimate == without["people.sensitivity"].estimate
    with pytest.raises(InputError, match=r"'lovely' \(\d+\), 'awful' \(\d+\)"):
        audited(labels().replace({"pass": "lovely", "fail": "awful"}))
    with pytest.raises(InputError, match="next to pass / fail verdicts"):
        audited(labels().assign(label=RNG.integers(2, 11, 100)))


def test_labels_for_items_that_were_not_judged_are_counted():
    more = pd.DataFrame({"item_id": ["zz", "zy"], "label": ["pass", "fail"]})
    found, said = audited(pd.concat([labels(), more]))
    assert any("2 of 102 labels belong to no judged item" in text for text in said)
    alone, _ = audited(labels())
    assert found["people.specificity"].estimate == alone["people.specificity"].estimate
    with pytest.raises(InputError, match="no label belongs to an item"):
        audited(more)


def test_two_labels_of_one_person_for_one_item_are_refused():
    with pytest.raises(InputError, match="'ann' labelled 'i0' more than once"):
        audited(pd.concat([labels(annotator="ann"), labels(5, annotator="ann")]))
    with pytest.raises(InputError, match="more than one label"):
        audited(pd.concat([labels(), labels(5)]))


def test_without_negatives_there_is_no_specificity():
    found, _ = audited(labels(truth=np.ones(N, bool)))
    assert np.isnan(found["people.specificity"].estimate)
    assert found["people.specificity"].reason == "people never say fail"
    assert "no_class" in codes(found["people.sensitivity"])
    assert found["people.corrected"].interval.low < 1  # not sure of it


def test_few_labels_warn_and_one_is_enough_to_say_that_nothing_is_known():
    found, _ = audited(labels(12))
    assert "few_labels" in codes(found["people.sensitivity"])
    found, _ = audited(labels(1))
    assert found["people.sensitivity"].interval is None  # one label has no variance


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (labels().assign(label=" "), "holds 100 items and no label yet. Fill in the column label"),
        (labels(annotator="ann").assign(label=np.nan), "holds 100 items and no label yet"),
        (labels().assign(label="")[:0], "has no rows. Add one row per labelled item"),
        (
            labels().drop(columns="label").assign(annotator1="", annotator2=None),
            "no label yet. Fill in the column annotator1, annotator2",
        ),
    ],
    ids=["blank", "named", "header", "wide"],
)
def test_labels_that_nobody_gave_are_refused(table, told):
    with pytest.raises(InputError, match=told):
        audited(table)


def test_an_item_still_to_be_labelled_has_no_label():
    table = labels()
    table.loc[60:, "label"] = ""
    found, said = audited(table)
    alone, _ = audited(labels(60))
    assert found["people.specificity"].estimate == alone["people.specificity"].estimate
    assert any("140 of 200 items have no label" in text for text in said)
