"""What cannot be computed is said once, for every condition by its own name."""

from __future__ import annotations

import pandas as pd

from judgestats import read_judgments
from judgestats.analysis.audit import audit
from judgestats.results.answers import answers_of


def test_one_reason_of_several_conditions_is_told_once():
    rows = [
        {"item": i, "source": s, "judge": j, "score": 5}
        for i in range(12)
        for s in "AB"
        for j in "gh"
        for _ in range(2)
    ]
    found = audit(read_judgments(pd.DataFrame(rows), factors=["source"]), n_resamples=99)
    told = [a.text for a in answers_of(found.records()) if a.claim == "undefined"]
    alone = [text for text in told if "ICC(1,1)" in text]
    said = "g, source=A; g, source=B; h, source=A (no score varies, so there is no variance"
    assert len(alone) == 1
    assert said in alone[0]
    assert "for 4 of 4" in alone[0]
    assert len(set(told)) == len(told)
