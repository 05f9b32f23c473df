"""Audit of verdicts: repetition, order and people, each with its known answer."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats import audit
from judgestats.analysis import outcomes
from judgestats.data import parsed_frame
from judgestats.errors import InputError

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def verdicts(rows, **more):
    frame = pd.DataFrame(rows)
    frame = frame.assign(
        judge=frame.get("judge", "J"),
        temperature=np.nan,
        cluster=frame["item_id"],
        status=np.where(frame["choice"] == "", "unparseable", "ok"),
        **more,
    )
    return parsed_frame(frame)


def always_first(n=30, replicates=2):
    """Prefers what is shown first: response a in order ab, response b in order ba."""
    return [
        {"item_id": f"i{i}", "order": order, "replicate": r, "choice": choice}
        for i in range(n)
        for order, choice in (("ab", "a"), ("ba", "b"))
        for r in range(replicates)
    ]


def test_a_judge_that_follows_the_place_is_found_out():
    found = audit(verdicts(always_first()), n_resamples=99)
    row = found.conditions.iloc[0]
    assert row["swap_consistency"] == 0
    assert found["order.first_position.J"].p_value < 1e-6
    assert found["order.noise.J"]["repetition_noise"].estimate == 0
    # Within one order it always says the same: kappa has nothing to correct, and says so.
    assert np.isnan(row["fleiss_kappa"])
    assert found["reliability.fleiss_kappa.J"].reason


def test_items_beside_people_are_items_and_agreement_has_a_null():
    rows = [
        {"item_id": f"i{i}", "order": order, "choice": "ab"[i % 2], "label": "ab"[i % 2]}
        for i in range(20)
        for order in ("ab", "ba")
    ]
    rows[0]["choice"] = "no idea"
    found = audit(verdicts(rows), n_resamples=99)
    agreed = found["people.alignment.J"]
    assert (agreed.sample.n_items, agreed.sample.n_replications_max) == (20, 2)
    assert agreed.null is not None
    assert agreed.null.mean == pytest.approx(0.5, abs=0.1)
    assert found["people.kappa.J"].null is not None
    assert found.conditions.iloc[0]["n_ok"] == 39
    assert any("no idea" in text for text in found.limitations)


def test_a_column_of_something_else_is_not_compared_with_labels():
    rows = [{"item_id": f"i{i}", "choice": "perhaps", "label": "a"} for i in range(6)]
    with pytest.raises(InputError, match="most choices are not pairwise outcomes"):
        audit(verdicts(rows))


def test_labels_must_be_outcomes():
    with pytest.raises(InputError, match="not an outcome"):
        outcomes(pd.Series(["a", "perhaps"]), strict=True)
