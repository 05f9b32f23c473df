"""Pass and fail: the same numbers however it is written, and the numbers one counts by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import judgestats as js

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
