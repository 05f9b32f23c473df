"""Win rates, places of options and agreement of judges, where the data hold what they need."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.analysis import verdict_results
from judgestats.analysis.audit import audit
from tests.null_judge.designs import seeded

N = 20


def by_id(found):
    return {r.id: r.result for r in found}


def choices(says, orders=("",), label="abcd", kind="choice"):
    return pd.DataFrame(
        {
            "condition": "j", "judge": "j", "item_id": f"i{i}", "cluster": f"i{i // 2}",
            "replicate": 0, "stage": "final", "temperature": 1.0, "status": "ok",
            "verdict_kind": kind, "score": np.nan, "order": order,
            "label": label[i % len(label)] if label else "", "choice": says(i, order),
        }
        for i in range(N) for order in orders
    )  # fmt: skip


def test_an_order_that_lists_the_options_tells_places_within_items():
    """Right wherever it stands but in the last place; then without labels: always the first."""
    orders = ("abc", "bca", "cab")
    frame = choices(
        lambda i, order: order[0] if order[2] == "abc"[i % 3] else "abc"[i % 3], orders, "abc"
    )
    found = by_id(verdict_results(frame, level=0.95))["slots.accuracy.j"]
    assert [found.estimates[f"accuracy at place {s}"] for s in (1, 2, 3)] == [1, 1, 0]
    assert found.p_value < 0.01
    assert not found.notes
    first = choices(lambda i, order: order[0], orders, "")
    shares = by_id(verdict_results(first, level=0.95))["slots.choices.j"]
    assert shares.estimates["position 1"] == 1
    assert shares.p_value < 0.01
    fair = choices(lambda i, order: "abc"[i % 3], orders, "")
    assert by_id(verdict_results(fair, level=0.95))["slots.choices.j"].p_value > 0.5


def _choices(rng, *, leaning: float, labels: bool) -> pd.DataFrame:
    """Choices among m0 to m3, shown in all rotations; some take the first place."""
    rows = []
    for i in range(24):
        good = int(rng.integers(0, 4))
        for s in range(4):
            shown = [f"m{(k + s) % 4}" for k in range(4)]
            place = 0 if rng.random() < leaning else shown.index(f"m{good}")
            if rng.random() < 0.3:
                place = int(rng.integers(0, 4))
            rows.append({"item": f"i{i}", "order": "|".join(shown), "choice": shown[place]}
                        | ({"label": f"m{good}"} if labels else {}))  # fmt: skip
    return read_judgments(rows)


@pytest.mark.parametrize("labels", [True, False])
def test_an_audit_answers_whether_choices_follow_the_place(labels):
    found = audit(_choices(seeded(1), leaning=0.5, labels=labels), n_resamples=199)
    [slots] = [h for h in found.headlines if h.hypothesis == "slots"]
    assert slots.claim == "differs"
    records = found.records()
    share = records[slots.size]
    assert share.estimate > 0.5
    assert slots.estimand in {"choices_place_1", "position_1_share"}
