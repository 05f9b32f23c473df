"""What is wrong with labels is said among the limits of an audit."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js


def warned(change):
    rng = np.random.default_rng(6)
    truth = rng.random(500) < 0.7
    judge = np.where(truth, rng.random(500) < 0.9, rng.random(500) < 0.2)
    label = np.where(truth, "yes", "no").astype(object)
    label[200:] = ""
    label = change(label, judge)
    frame = pd.DataFrame({"item": range(500), "passed": np.where(judge, "yes", "no"),
                          "label": label})  # fmt: skip
    limits = js.audit(frame, n_resamples=19, labels_drawn="random").analysis.limitations
    return {getattr(limit, "code", "") for limit in limits}


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("few_labels", lambda label, judge: np.r_[label[:12], [""] * 488]),
        ("no_class", lambda label, judge: np.where(label == "no", "", label)),
        ("unrepresentative", lambda label, judge: np.where(judge, label, "")),
        (
            "no_better_than_chance",
            lambda label, judge: np.where(
                label == "", "", np.where(label == "yes", "no", "yes")
            ),
        ),
    ],
)  # fmt: skip
def test_it_is_said(code, change):
    assert code in warned(change)


def test_labels_without_fault_are_not_warned_of():
    kept = warned(lambda label, judge: label)
    assert not kept & {"few_labels", "no_class", "unrepresentative", "no_better_than_chance"}
