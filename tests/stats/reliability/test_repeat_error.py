"""SEM, its tail, and agreement of judges are those of two other codes; what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.stats import icc
from judgestats.stats.reliability import (
    MeanSquareRatio,
    far_distance,
    repeat_pairs,
)

CLOSE = {"rel": 1e-8, "abs": 1e-12}
SCALE = (1, 10)


@pytest.mark.parametrize("data_set", ["wild40x3", "nofar40x3", "tens60x4"])
def test_every_number_of_the_tail_is_that_of_two_codes(declared, data_set):
    pairs = repeat_pairs(declared.cube(data_set)[0][:, 0], scale=SCALE)
    sem, tail, core, far = pairs.sem(), pairs.sem_tail(), pairs.core_sem(), pairs.far_share()
    plain, bounded = pairs.icc(), pairs.icc(tail=True)
    ours = {
        "d": far_distance(SCALE), "sem": sem.estimate, "sem_ci_plain": [sem.low, sem.high],
        "sem_df": sem.df, "sem_ci": [tail.low, tail.high], "core": core.estimate,
        "core_ci": [core.low, core.high], "far_share": far.estimate,
        "far_ci": [far.low, far.high], "n_effective": far.df, "jump2": pairs.jump2,
        "mode_share": pairs.mode_share, "icc": plain.estimate,
        "icc_ci_plain": [plain.low, plain.high], "icc_ci": [bounded.low, bounded.high],
        "icc_df": plain.df,
    }  # fmt: skip
    expected = declared.value(data_set, "tail")
    assert set(ours) | {"mad"} == set(expected)
    for name, value in ours.items():
        assert value == pytest.approx(expected[name], **CLOSE), name


def test_agreement_of_other_and_of_these_judges_is_that_of_two_codes(declared):
    scores = declared.data("judges40x3")[["j1", "j2", "j3"]].to_numpy(float)
    expected = declared.value("judges40x3", "icc21")
    for form, interval in (("ICC(2,1)", "random"), ("ICC(A,1)", "these")):
        found = icc(scores, form=form, n_permutations=0)
        assert found.estimate == pytest.approx(expected["estimate"], **CLOSE)
        ours = [found.interval.low, found.interval.high]
        assert ours == pytest.approx(expected[f"ci_{interval}_judges"], **CLOSE)
        squares = [found.details[f"ms_{part}"] for part in ("items", "replications", "residual")]
        assert squares == pytest.approx(expected["MS"], **CLOSE)
        mean = icc(scores, form=form.replace(",1", ",k"), n_permutations=0)
        stepped = [3 * v / (1 + 2 * v) for v in ours]
        assert [mean.interval.low, mean.interval.high] == pytest.approx(stepped, **CLOSE)
    ratio = MeanSquareRatio.from_scores(scores, None, residual=True)
    assert ratio.random_judges().df == pytest.approx(expected["df"], **CLOSE)


def test_the_sem_of_other_runs_is_that_of_two_codes(declared):
    scores, _ = declared.cube("runs3x30x5")
    found = MeanSquareRatio.from_scores(scores[:, 0], None, residual=True).sem_limits()
    expected = declared.value("runs3x30x5", "sem_runs_j1")
    ours = {"sem": found.estimate, "ci": [found.low, found.high]}
    assert ours.keys() == expected.keys()
    for name, value in ours.items():
        assert value == pytest.approx(expected[name], **CLOSE), name


def test_two_judges_do_not_tell_of_others(declared):
    scores = declared.data("judges40x3")[["j1", "j2"]].to_numpy(float)
    found = icc(scores, form="ICC(2,1)", n_permutations=0)
    assert found.interval is None
    assert "two judges do not determine the variance of judges; ICC(A,1)" in found.notes[0].message
    assert icc(scores, form="ICC(A,1)", n_permutations=0).interval is not None


def test_what_cannot_be_known_has_a_reason():
    once = repeat_pairs(np.arange(1.0, 9)[:, None], scale=SCALE)
    for found in (once.sem(), once.gmd(), once.far_share(), once.sem_tail()):
        assert np.isnan([found.low, found.high]).all()
        assert "no item has two scores" in found.reason
    constant = repeat_pairs(np.repeat(np.arange(1.0, 9)[:, None], 3, axis=1), scale=SCALE)
    assert (constant.sem().estimate, np.isnan(constant.sem().high)) == (0, True)
    assert "no score varies" in constant.sem().reason
    rng = np.random.default_rng(2)
    x = rng.integers(4, 8, size=(12, 3)).astype(float)
    few = repeat_pairs(x, scale=SCALE, cluster=[0] * 10 + [1, 2])
    assert few.sem().reason == "3 questions, effectively 1.4"
