"""The words next to a disagreement, and correlations of stacks."""

import numpy as np
import pytest

import judgestats as js
from judgestats.analysis import with_disagreements
from judgestats.analysis.agreement import _pearson
from judgestats.analysis.audit import audit


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(4)
    rows = [
        {"question": i // 2, "item": i, "trial": t,
         "passed": bool(rng.random() < 0.2 + 0.6 * (i % 3 > 0)),
         "label": i % 3 > 0, "explanation": f"said {i} {t}"}
        for i in range(24) for t in range(4)
    ]  # fmt: skip
    return js.read_judgments(rows, mapping={"cluster": "question"})


def test_the_words_beside_a_disagreement_are_those_furthest_from_people(frame):
    found = with_disagreements(audit(frame, n_resamples=99), frame, {}, texts=True)
    table = next(r.result.table for r in found.described if r.id == "disagreements")
    for row in table.head(5).itertuples():
        own = frame[frame["item_id"] == row.item_id]
        gap = (own["choice"].eq("pass").astype(float) - row.people).abs()
        assert row.judge_says == own.loc[gap.idxmax(), "explanation"]


def test_correlations_of_a_stack_are_those_of_its_rows():
    x, y = np.random.default_rng(0).normal(size=(2, 5, 30))
    one = [np.corrcoef(row, y[0])[0, 1] for row in x]
    assert _pearson(x, y[0]) == pytest.approx(np.array(one))
    assert np.isnan(_pearson(np.ones((1, 30)), y[0])).all()
