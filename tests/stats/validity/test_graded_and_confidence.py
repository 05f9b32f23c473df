"""Scores and confidences against people's labels, held to R and to identities."""

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import confidence_calibration, graded_agreement
from judgestats.stats.validity import isotonic_steps


def test_bias_and_correlation_are_those_of_r(reference):
    d = reference.data("scores")
    out = graded_agreement(d.judge, d.human)
    bias = out.estimates["bias"]
    want = reference.value("scores", "bias_paired_t_r")
    assert bias.estimate == pytest.approx(want["mean"], abs=1e-10)
    assert (bias.interval.low, bias.interval.high) == pytest.approx(want["ci"], abs=1e-10)
    r = reference.value("scores", "pearson_r")[0]
    assert out.estimates["pearson_correlation"].estimate == pytest.approx(r, abs=1e-10)
    assert out.curve["n"].sum() == 120


def test_limits_of_agreement_cover():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(300):
        y = rng.normal(size=40)
        iv = graded_agreement(y + rng.normal(0.5, 1, 40), y).estimates["upper_limit"].interval
        hits += iv.low <= 0.5 + 1.96 <= iv.high
    assert hits / 300 >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / 300)


def test_brier_and_its_parts(reference):
    d = reference.data("calibration")
    out = confidence_calibration(d.confidence, d.human)
    assert out.brier.estimate == pytest.approx(reference.value("calibration", "brier_r"), abs=1e-12)
    parts = out.brier.details
    want = reference.value("calibration", "murphy_by_distinct_value_r")
    for k, v in want.items():
        assert parts[k] == pytest.approx(v, abs=1e-10)
    binned = reference.value("calibration", "murphy_10_bins_by_hand")
    for k in ("reliability", "resolution", "within_bin_variance", "within_bin_covariance"):
        assert parts[f"binned_{k}"] == pytest.approx(binned[k], abs=1e-10)
    for p in ("", "binned_"):
        rest = (
            parts["binned_within_bin_variance"] - parts["binned_within_bin_covariance"] if p else 0
        )
        total = parts[f"{p}reliability"] - parts[f"{p}resolution"] + parts["uncertainty"] + rest
        assert total == pytest.approx(out.brier.estimate, abs=1e-9)
    assert out.area == pytest.approx(reference.value("calibration", "auc"), abs=1e-12)
    isotonic = reference.value("calibration", "isotonic_by_hand_r")
    assert parts["after_recalibration"] > isotonic["brier_after"]


def test_calibration_error(reference):
    d = reference.data("calibration")
    out = confidence_calibration(d.confidence, d.human)
    assert out.calibration_error.estimate == pytest.approx(
        reference.value("calibration", "ece")["10"], abs=1e-10
    )


def test_isotonic_levels_are_those_of_r(reference):
    d = reference.data("calibration")
    want = reference.value("calibration", "isotonic_by_hand_r")
    _, fit = isotonic_steps(d.confidence.to_numpy(), d.human.to_numpy(dtype=float))
    assert np.unique(fit.round(12)) == pytest.approx(want["value"], abs=1e-10)


def test_bad_input():
    with pytest.raises(InputError, match="0-1"):
        confidence_calibration([80], [1])
    with pytest.raises(InputError, match="no item has both"):
        graded_agreement([1, 2], [None, None])
    assert "no item has both" in confidence_calibration([None], [1]).sentence()


def test_concordance_is_no_correlation():
    human = np.random.default_rng(0).normal(size=4000)
    out = graded_agreement(human / 2 + 3, human)
    assert out.estimates["pearson_correlation"].estimate == pytest.approx(1)
    assert out.estimates["concordance"].estimate == pytest.approx(0.10, abs=0.01)
    assert out.estimates["slope"].estimate == pytest.approx(2)


def test_a_calibrated_judge_is_within_its_null():
    rng = np.random.default_rng(2)
    p = rng.random(300)
    out = confidence_calibration(p, rng.random(300) < p)
    assert out.calibration_error.estimate > 0.02
    assert out.calibration_error.null.p_value > 0.05
    wrong = confidence_calibration(p, rng.random(300) < 0.5)
    assert wrong.calibration_error.null.p_value < 0.01
