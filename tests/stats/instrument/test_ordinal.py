"""Differences between sources against R's polr with sandwich errors."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import dif_test

CRITERIA = ("c1", "c2", "c3", "c4")


@pytest.mark.parametrize("name", ["dif300", "dif300_shared"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_dif_is_that_of_polr_with_sandwich_errors(name, criterion, reference):
    d = reference.data(name)
    out = dif_test(d[criterion], d.source, cluster=d.question, quality=d.quality)
    want = reference.value(name, f"{criterion}_quality")
    assert out.details["loglik"] == pytest.approx(want["loglik"], abs=1e-8)
    assert out.details["nagelkerke"] == pytest.approx(want["nagelkerke"], abs=1e-9)
    for kind in ("uniform", "nonuniform"):
        ours = out.details["uniform" if kind == "uniform" else "non_uniform"]
        assert ours["chi2"] == pytest.approx(want[f"chi2_{kind}"], abs=1e-7)
        assert ours["p_likelihood_ratio"] == pytest.approx(want[f"p_{kind}"], abs=1e-8)
    log_odds = out.effects[0]
    assert log_odds.estimate == pytest.approx(want["source_logit"], abs=1e-6)
    assert log_odds.std_error == pytest.approx(want["source_se_cluster"], abs=1e-6)
    assert out.details["std_errors_wald"][0] == pytest.approx(want["source_se"], abs=1e-6)
    assert out.statistic == pytest.approx((log_odds.estimate / log_odds.std_error) ** 2)


def test_a_fair_judge_is_seldom_called_unfair():
    rng, wrong = np.random.default_rng(3), 0
    for _ in range(60):
        question = np.repeat(np.arange(40), 4)
        source = np.tile([0, 0, 1, 1], 40)
        halo = rng.normal(0, 0.7, 40)[question]
        quality = rng.normal(size=160)
        said = np.digitize(quality + halo + rng.logistic(size=160), [-1.5, 0, 1.5])
        wrong += dif_test(said, source, quality=quality, cluster=question).p_value < 0.05
    assert wrong <= 8


def test_what_cannot_be_compared_is_refused():
    rng = np.random.default_rng(4)
    said, source = rng.integers(1, 6, 80), np.repeat(["x", "y"], 40)
    with pytest.raises(InputError, match="quality must be one number an output"):
        dif_test(said, source, quality=rng.normal(size=(80, 2)))
    with pytest.raises(InputError, match=r"correlate at 0\.9"):
        dif_test(said, source, quality=(source == "x") * 10 + rng.normal(0, 0.5, 80))
    with pytest.raises(InputError, match="questions with score and quality by source: x 20, y 20"):
        dif_test(said, source, quality=rng.normal(size=80), cluster=np.arange(80) // 2)
    with pytest.raises(InputError, match="quality of all outputs is equal"):
        dif_test(said, source, quality=np.ones(80))
    with pytest.raises(InputError, match="all scores are equal"):
        dif_test(np.ones(80), source, quality=rng.normal(size=80))
    with pytest.raises(InputError, match="decides the scores without exception"):
        dif_test(np.where(source == "x", 1, 5), source, quality=rng.normal(size=80))
