"""Pass and fail: the same numbers however it is written, and the numbers one counts by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis.audit import audit
from judgestats.data import parsed_frame

SPELLINGS = {
    "bits": (1, 0),
    "booleans": (True, False),
    "words": ("yes", "no"),
    "others": ("Correct", "Incorrect"),
}


def rows(good, bad, *, label=None):
    rng = np.random.default_rng(5)
    truth = rng.random(40) < 0.6
    frame = pd.DataFrame(
        [
            {"item": f"i{i}", "trial": t, "passed": good if p else bad, "label": truth[i]}
            for i in range(40)
            for t, p in enumerate(rng.random(4) < (0.85 if truth[i] else 0.3))
        ]
    )
    if label is None:
        return frame.drop(columns="label")
    return frame.assign(label=np.where(frame["label"], *label))


@pytest.fixture(scope="module")
def audits():
    return {
        name: js.audit(rows(*words, label=("pass", "fail")), n_resamples=99)
        for name, words in SPELLINGS.items()
    }


def test_the_rates_are_those_counted_by_hand(audits):
    frame = rows(1, 0, label=("pass", "fail"))
    row = audits["bits"].conditions.iloc[0]
    assert row["pass_rate"] == pytest.approx(frame["passed"].mean())
    table = frame.pivot(index="item", columns="trial", values="passed")
    share, label = table.mean(axis=1), frame.groupby("item")["label"].first()
    majority = (share > 0.5) + (share == 0.5) / 2  # a tie is half of either
    assert row["sensitivity"] == pytest.approx(majority[label == "pass"].mean())
    assert row["specificity"] == pytest.approx((1 - majority)[label == "fail"].mean())
    wide = table.to_numpy()
    pairs = [(a, b) for a in range(4) for b in range(a)]
    flips = np.mean([wide[:, a] != wide[:, b] for a, b in pairs])
    assert row["flip_rate"] == pytest.approx(flips)
    assert row["sensitivity_low"] < row["sensitivity"] < row["sensitivity_high"]


def test_nothing_is_called_a_tie_and_no_order_is_asked_for(audits):
    said = str(audits["bits"])
    assert "tie" not in said
    assert "both orders" not in said


def test_booleans_words_and_bits_give_the_same_results(audits):
    first = audits["bits"].conditions
    for found in audits.values():
        pd.testing.assert_frame_equal(found.conditions, first)


def test_pass_and_fail_asked_for_once():
    found = js.audit(rows("yes", "no").query("trial == 0").drop(columns="trial"), n_resamples=99)
    row = found.conditions.iloc[0]
    assert 0 < row["pass_rate_low"] < row["pass_rate"] < row["pass_rate_high"] < 1


def test_repeated_verdicts_without_labels_have_a_figure() -> None:
    draw = np.random.default_rng(0)
    rows = [
        {
            "judge": judge, "item_id": f"i{i}", "cluster": f"i{i}", "replicate": r, "status": "ok",
            "temperature": np.nan,
            "choice": "pass" if (i % 2 == 0) ^ (draw.random() < wrong) else "fail",
        }
        for judge, wrong in (("steady", 0.05), ("shaky", 0.35))
        for i in range(40)
        for r in range(4)
    ]  # fmt: skip
    found = audit(parsed_frame(pd.DataFrame(rows)), n_resamples=99)
    drawing = found.drawing
    assert drawing is not None
    drawn = found.conditions[[e for e in drawing.estimands if e in found.conditions]]
    assert drawn[["vote_share", "flip_rate"]].notna().sum().sum() == 4


def test_unread_verdicts_are_in_no_rate_in_memory_and_streamed(tmp_path):
    """Sensitivity counted them as wrong beside an agreement that left them out."""
    draw = np.random.default_rng(11)
    n = 200
    truth = draw.random(n) < 0.6
    judge = np.where(truth, draw.random(n) < 0.8, draw.random(n) < 0.1)
    unread = draw.random(n) < 0.3
    items = [f"i{i}" for i in range(n)]
    judged = pd.DataFrame(
        [
            {"item": i, "trial": t, "passed": "" if u else "yes" if p else "no"}
            for t in range(2)
            for i, p, u in zip(items, judge, unread, strict=True)
        ]
    )
    labels = pd.DataFrame({"item_id": items, "label": np.where(truth, "pass", "failed")})
    judged.to_parquet(tmp_path / "judged.parquet")
    labels.to_csv(tmp_path / "labels.csv", index=False)
    tp, fn = (judge & truth & ~unread).sum(), (~judge & truth & ~unread).sum()
    tn, fp = (~judge & ~truth & ~unread).sum(), (judge & ~truth & ~unread).sum()
    right = {
        "sensitivity": tp / (tp + fn),
        "specificity": tn / (tn + fp),
        "precision": tp / (tp + fp),
        "negative_predictive_value": tn / (tn + fn),
        "accuracy": (tp + tn) / (tp + tn + fp + fn),
        "pass_rate": (tp + fp) / (tp + tn + fp + fn),
        "unread_share": unread.mean(),
    }
    read = js.read_judgments(
        tmp_path / "judged.parquet", labels=tmp_path / "labels.csv", stream="yes"
    )
    streamed = js.audit(read, n_resamples=9).analysis
    whole = js.audit(judged, labels=labels, n_resamples=9).analysis
    for found in (whole, streamed):
        row = found.conditions.iloc[0]
        for name, value in right.items():
            assert row[name] == pytest.approx(value), name
        same = next(r.result for r in found.results if r.id.startswith("people.always_same"))
        assert same.estimate == pytest.approx(max(truth[~unread].mean(), (~truth[~unread]).mean()))


def test_failed_words_in_the_labels_give_the_rate_of_all_that_people_would_give():
    """Unknown words left the labels in silence: 1.000 [.961, 1.000] was printed for .69."""
    draw = np.random.default_rng(12)
    truth = draw.random(400) < 0.69
    judge = np.where(draw.random(400) < 0.9, truth, ~truth)
    judged = pd.DataFrame({"item": range(400), "verdict": np.where(judge, "pass", "fail")})
    found = {}
    for fail in ("fail", "failed", "No."):
        said = np.where(truth[:150], "pass", fail)
        labels = pd.DataFrame({"item_id": range(150), "label": said})
        results = js.audit(judged, labels=labels, n_resamples=9).analysis.results
        corrected = next(r.result for r in results if r.id.startswith("people.corrected"))
        found[fail] = corrected.estimate
        assert corrected.interval.low < truth.mean() < corrected.interval.high
    assert len(set(found.values())) == 1
