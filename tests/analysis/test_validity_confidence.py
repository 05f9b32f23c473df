"""Confidences held to labels: chances are within the null, boasts are not."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js


def audited(chance, right, *, column="confidence", scale=1):
    n = chance.size
    rng = np.random.default_rng(0)
    passed = rng.random(n) < 0.5
    if column == "pass_probability":
        passed, label = chance > 0.5, right
    else:
        label = np.where(right, passed, ~passed)
    frame = pd.DataFrame(
        {
            "item": range(n), "verdict": np.where(passed, "yes", "no"), column: chance * scale,
            "label": np.where(label, "yes", "no"),
        }
    )  # fmt: skip
    found = js.audit(frame, n_resamples=19).analysis
    return {r.id.split(".")[1]: r.result for r in found.results if r.id.startswith("people.")}


@pytest.mark.parametrize("scale", [1, 100])
@pytest.mark.parametrize("column", ["confidence", "pass_probability"])
def test_chances_are_within_the_null_of_the_calibration_error(column, scale):
    rng = np.random.default_rng(2)
    chance = rng.choice([0.55, 0.7, 0.95], 400)
    found = audited(chance, rng.random(400) < chance, column=column, scale=scale)
    assert found["calibration"].null.p_value > 0.05
    assert found["brier"].estimate < 0.25
    assert "perfectly calibrated" in found["reliability_diagram"].sentence()
    assert found["reliability_diagram"].table.shape[0] == 3


def test_words_are_no_chances():
    frame = pd.DataFrame({"item": range(30), "verdict": ["yes", "no"] * 15,
                          "label": ["yes"] * 30, "confidence": ["high", "low"] * 15})  # fmt: skip
    found = js.audit(frame, n_resamples=19).analysis
    assert not [r for r in found.results if "brier" in r.id]


def test_boasting_is_beyond_the_null():
    rng = np.random.default_rng(3)
    found = audited(np.full(300, 0.99), rng.random(300) < 0.7)
    assert found["calibration"].null.p_value < 0.01
    assert found["calibration"].estimate == pytest.approx(0.29, abs=0.08)
