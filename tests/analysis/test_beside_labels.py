"""Both orders, slots and levels beside the pooled agreement, where the data hold what they need."""

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import label_agreement_results, supplemented
from judgestats.analysis.audit import audit
from judgestats.data import parsed_frame

N = 12


def pairs(says):
    return parsed_frame(
        pd.DataFrame(
            {
                "judge": "j", "temperature": 1.0, "item_id": f"p{i}", "cluster": f"q{i // 2}",
                "replicate": 0, "order": order, "status": "ok", "label": "ab"[i % 2],
                "choice": says(i, order),
            }
            for i in range(N)
            for order in ("ab", "ba")
        )
    )  # fmt: skip


def by_id(found):
    return {r.id.rpartition(".")[0]: r.result for r in found}


def test_a_right_judge_is_right_in_both_orders_and_every_run_says_so():
    frame = pairs(lambda i, order: "ab"[i % 2])
    assert by_id(label_agreement_results(frame, level=0.95))["people.both_orders"].estimate == 1
    records = supplemented(audit(frame, n_resamples=99), frame, level=0.95).records()
    assert records["people.both_orders.j, T=1"].estimate == 1


def test_levels_need_several_systems_and_questions():
    rng = np.random.default_rng(1)
    rows = [
        {
            "judge": "j", "temperature": 1.0, "item_id": f"q{q}s{s}", "cluster": f"q{q}",
            "author": f"s{s}", "replicate": 0, "status": "ok",
            "label": str(5 + s + 2 * (q % 2)), "score": 5.0 + s + rng.normal(0, 0.5),
        }
        for q in range(8) for s in range(3)
    ]  # fmt: skip
    frame = parsed_frame(pd.DataFrame(rows))
    frame["author"] = [r["author"] for r in rows]
    levels = by_id(label_agreement_results(frame, level=0.95))["people.levels"]
    assert levels["between_systems"].estimate > 0.95
    assert levels["within_source"].estimate > levels["pooled"].estimate
    assert label_agreement_results(frame.assign(author="one"), level=0.95) == []


def test_a_judge_of_places_is_right_in_both_orders_of_no_pair():
    found = by_id(label_agreement_results(pairs(lambda i, order: order[0]), level=0.95))
    assert found["people.both_orders"].estimate == 0
    assert found["people.both_orders"].details["one_order"] == pytest.approx(0.5)
    assert found["people.slots"].effects[0].estimate == 1  # the right one stands first
    assert found["people.slots"].effects[1].estimate == 0
    assert found["people.slots"].p_value < 0.01
