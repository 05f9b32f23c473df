"""Audits of scores and verdicts that were asked for once."""

import numpy as np
import pandas as pd
import pytest

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
