"""The reliability diagram of stated confidences, from an audit's records."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

import judgestats as js
from judgestats.reporting import Captioned, confidences


def test_the_diagram_is_drawn_from_the_records(tmp_path):
    rng = np.random.default_rng(1)
    chance = rng.choice([0.6, 0.9], 80)
    said = rng.random(80) < 0.5
    right = rng.random(80) < chance
    frame = pd.DataFrame(
        {
            "item": range(80), "verdict": np.where(said, "pass", "fail"), "confidence": chance,
            "label": np.where(said == right, "pass", "fail"),
        }
    )  # fmt: skip
    shown, told = confidences(SimpleNamespace(records=js.audit(frame, n_resamples=19).records()))
    assert isinstance(shown, Captioned)
    assert shown.figure.alt.startswith("Accuracy by stated confidence. ")
    assert "perfectly calibrated" in told
    assert shown.figure.save(tmp_path / "diagram.svg").stat().st_size > 1000
    none = js.audit(frame.drop(columns="confidence"), n_resamples=19).records()
    assert confidences(SimpleNamespace(records=none)) == []
