"""Audits of scores and verdicts that were asked for once."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as sp

from judgestats.analysis import plan_for
from judgestats.analysis.audit import audit
from judgestats.data import parsed_frame
from judgestats.results import to_plain


def scored(*, judges=("A",), n=30, **columns):
    rng = np.random.default_rng(4)
    quality = rng.normal(6, 2, n)
    rows = [
        {
            "judge": j, "item_id": f"i{i}", "cluster": f"i{i}", "status": "ok",
            "score": float(np.clip(round(quality[i] + k + rng.normal()), 1, 10)),
        }
        for k, j in enumerate(judges)
        for i in range(n)
    ]  # fmt: skip
    return parsed_frame(pd.DataFrame(rows).assign(**columns))


def test_labels_in_words_are_left_out_and_said():
    found = audit(scored(label="helpful"), n_resamples=99)
    assert {r.hypothesis or r.id.partition(".")[0] for r in found.results} == {"instrument"}
    assert any("30 labels are words" in t for t in found.limitations)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_items_or_one_score_are_no_error(n):
    found = audit(scored(n=n, judges=("A", "B"), score=5.0, label="5"), n_resamples=99)
    assert found.conditions["mean"].tolist() == [5.0, 5.0]
    if n > 1:
        assert any("every score is the same" in t for t in found.limitations)


def test_few_repeated_items_are_counted():
    frame = scored()
    again = frame.head(5).assign(replicate=1)
    found = audit(pd.concat([frame, again], ignore_index=True), n_resamples=99)
    assert any("only 5 of 30 items" in t for t in found.limitations)


def test_a_judge_that_repeated_stands_beside_one_that_did_not():
    twice = scored(judges=("A",))
    again = twice.assign(replicate=1, score=(twice["score"] % 10) + 1)
    once = scored(judges=("B",))
    frame = parsed_frame(pd.concat([twice, again, once], ignore_index=True))
    record = audit(frame, n_resamples=99).records()
    to_plain(record)  # every estimate that a condition names is there
    estimates = {c.label: set(c.estimates.values()) for c in record.conditions}
    assert "reliability.icc1.A" in estimates["A"]
    assert "condition.mean.B" in estimates["B"]
    assert not any("icc1" in name for name in estimates["B"])
    assert "B: No item was judged more than once" in " ".join(n.message for n in record.limitations)


def test_one_judge_is_described():
    frame = scored()
    found = audit(frame, n_resamples=99)
    row = found.conditions.iloc[0]
    assert row["mean"] == pytest.approx(frame["score"].mean())
    assert row["sd"] == pytest.approx(frame["score"].std())
    assert row["median"] == frame["score"].median()
    assert "icc1" not in found.conditions
    assert "sem" not in found.conditions


def test_judges_and_people_are_compared_item_by_item():
    frame = scored(judges=("A", "B", "C"))
    people = frame.groupby("item_id")["score"].transform("median")
    labels = people.map(lambda v: f"{v:g}").mask(frame["item_id"].isin(["i0", "i1"]), "")
    found = audit(frame.assign(label=labels), n_resamples=99)
    a, b = (frame.loc[frame["judge"] == j, "score"].to_numpy() for j in "AB")
    assert found["judges.pearson.A and B"].estimate == pytest.approx(sp.pearsonr(a, b).statistic)
    shift = found["judges.shift"].rows[0]
    assert abs(shift.estimate) == pytest.approx(abs((b - a).mean()))
    mine = people[frame["judge"] == "A"].to_numpy()[2:]
    kendall = found["people.kendall.A"]
    assert kendall.estimate == pytest.approx(sp.kendalltau(a[2:], mine).statistic)
    assert kendall.sample.n_items == 28
    assert kendall.null.q95 < kendall.estimate
    assert [h.id for h in plan_for(frame.assign(label=labels)).hypotheses] == [
        "judges",
        "people",
        "panel",
        "instrument",
    ]


def test_verdicts_asked_once_by_two_judges():
    rows = [
        {"judge": j, "item_id": f"i{i}", "cluster": f"i{i}", "status": "ok",
         "choice": "pass" if (i + (j == "B" and i < 3)) % 2 else "fail"}
        for j in "AB" for i in range(20)
    ]  # fmt: skip
    found = audit(parsed_frame(pd.DataFrame(rows)), n_resamples=99)
    assert found["verdicts.pass_rate.A"].estimate == pytest.approx(0.5)
    # 17 of 20 agree, by hand: A is half pass, B 9 of 20 or 11 of 20, so chance agrees in half.
    assert found["judges.kappa.A and B"].estimate == pytest.approx(0.7)


def test_scores_and_verdicts_of_several_judges_each_are_one_record():
    scores = scored(judges=("A", "B"))
    words = scored(judges=("C", "D"))
    verdict = np.where(words["score"] > 5, "correct", "incorrect")
    words = words.assign(choice=verdict, score=np.nan)
    frame = parsed_frame(pd.concat([scores, words], ignore_index=True))
    record = audit(frame, n_resamples=99).records()
    assert {c["label"] for c in to_plain(record)["conditions"]} == {"A", "B", "C", "D"}
    ids = {r.id for r in record.results}
    assert {"judges.alpha", "judges.verdicts.alpha"} <= ids
    assert {"mean", "passes"} <= {row.key for row in record.rows}
    short = [n.values["short"] for n in record.limitations if n.code == "not_repeated"]
    assert short == ["no repeats: consistency cannot be estimated"]
