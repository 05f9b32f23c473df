"""Graded responses against two codes (R by direct maximum, Python by EM)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import graded_response


def parameters(out):
    thresholds = [t.estimate for j in out.judges for t in out.thresholds[j]]
    return [*(t.estimate for t in out.discriminations), *thresholds]


def test_the_maximum_is_that_of_two_codes(reference):
    d = reference.data("grm400x6")
    out = graded_response(d, names=list(d.columns))
    assert out.loglik == pytest.approx(reference.value("grm400x6", "grm_loglik"), abs=1e-6)
    assert parameters(out) == pytest.approx(
        list(reference.value("grm400x6", "grm_par").values()), abs=1e-5
    )
    errors = list(reference.value("grm400x6", "grm_se").values())
    ours = [*out.std_errors_model["discrimination"]]
    ours += [v for j in out.judges for v in out.std_errors_model[j]]
    assert ours == pytest.approx(errors, abs=2e-5)
    assert out.quality[:5] == pytest.approx(reference.value("grm400x6", "eap_first5"), abs=1e-5)
    assert out.quality_sd[:5] == pytest.approx(
        reference.value("grm400x6", "eap_sd_first5"), abs=1e-5
    )
    for kind, key in (("empirical", "empirical"), ("posterior", "1_minus_mean_posterior_var")):
        want = reference.value("grm400x6", f"reliability_{key}")
        assert out.reliability[kind] == pytest.approx(want, abs=1e-6)
    want = reference.value("grm400x6", "reliability_from_information")
    assert out.reliability["information"] == pytest.approx(want, abs=1e-6)
    total = np.sum(list(out.information.values()), axis=0)
    want = reference.value("grm400x6", "information_at_theta_-3..3")
    assert total == pytest.approx(want, abs=1e-4)
    assert out.change < 1e-7


def test_sharp_real_judges_are_called_nearly_copies(reference):
    d = reference.data("rb2_3judges")[["full", "mini", "nano"]]
    out = graded_response(d, names=list(d.columns))
    want = list(reference.value("rb2_3judges", "grm_par").values())
    assert parameters(out)[:3] == pytest.approx(want[:3], abs=0.02)
    assert [n.code for n in out.notes] == ["shared_signal", "just_identified"]
    assert "Discrimination of full is 6.4" in out.notes[0].message


def test_a_level_that_a_judge_never_gives_has_no_threshold():
    rng = np.random.default_rng(1)
    said = np.digitize(rng.normal(size=(250, 1)) + rng.logistic(0, 0.6, (250, 3)), [-1, 0, 1]) + 1
    said[:, 2] = np.minimum(said[:, 2], 3)
    out = graded_response(said)
    assert math.isnan(out.thresholds["j3"][-1].estimate)
    assert out.thresholds["j3"][-1].reason == "j3 never gives 4, or nothing below it"
    assert not math.isnan(out.thresholds["j1"][-1].estimate)


def test_unread_scores_are_left_out_and_too_few_are_refused():
    rng = np.random.default_rng(2)
    said = np.digitize(rng.normal(size=(300, 1)) + rng.logistic(0, 0.6, (300, 4)), [-1, 0, 1.0])
    holes = np.where(rng.random(said.shape) < 0.2, np.nan, said)
    out, whole = graded_response(holes), graded_response(said)
    assert out.sample.n_excluded == int(np.isnan(holes).sum())
    for a, b in zip(out.discriminations, whole.discriminations, strict=True):
        assert a.interval.low < b.estimate < a.interval.high
    with pytest.raises(InputError, match="at least 3 judges and 200 answers"):
        graded_response(said[:100])
    with pytest.raises(InputError, match="without bound: a judge follows the others"):
        graded_response(said[:, [0, 0, 0]])
    with pytest.raises(InputError, match="2 names for 4 judges"):
        graded_response(said, names=["a", "b"])
