"""Cumulative logit against R's clm and statsmodels; DIF against polr with sandwich errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.stats import cumulative_logit, dif_test
from judgestats.stats.robustness import REST_SCORE

CRITERIA = ("c1", "c2", "c3", "c4")


def test_the_maximum_is_that_of_clm(reference):
    d = reference.data("clmm80x5x2")
    out = cumulative_logit(d.score, {"hot": d.hot}, cluster=d.question)
    want = reference.value("clmm80x5x2", "clm_coef")
    assert out["log_odds_hot"].estimate == pytest.approx(want.pop("hot"), abs=1e-8)
    assert out.details["thresholds"] == pytest.approx(list(want.values()), abs=1e-8)
    assert out.details["loglik"] == pytest.approx(
        reference.value("clmm80x5x2", "clm_loglik"), abs=1e-8
    )


def test_random_answers_are_those_of_clmm(reference):
    d = reference.data("clmm80x5x2")
    judge = d.judge.map(lambda j: f"j{j}")
    out = cumulative_logit(
        d.score, {"hot": d.hot, "judge": judge}, answer=d.answer, cluster=d.question
    )
    want = reference.value("clmm80x5x2", "clmm_judge_fixed_aghq25_coef")
    errors = reference.value("clmm80x5x2", "clmm_judge_fixed_aghq25_se")
    for ours, theirs in (("hot", "hot"), *((f"judge_j{i}", f"judge{i}") for i in range(2, 6))):
        assert out[f"log_odds_{ours}"].estimate == pytest.approx(want[theirs], abs=1e-4)
        assert out.details["std_errors_wald"][ours] == pytest.approx(errors[theirs], abs=2e-5)
    cuts = [v for k, v in want.items() if "|" in k]
    assert out.details["thresholds"] == pytest.approx(cuts, abs=1e-4)
    sd = reference.value("clmm80x5x2", "clmm_judge_fixed_aghq25_sd")["answer"]
    assert out["answer_sd"].estimate == pytest.approx(sd, abs=1e-4)
    loglik = reference.value("clmm80x5x2", "clmm_judge_fixed_aghq25_loglik")
    # clmm stops where its gradient is 1e-4; ours is the higher of two likelihoods that agree.
    assert loglik - 1e-9 <= out.details["loglik"] <= loglik + 1e-6
    assert out.details["change"] < 1e-8


def test_repeats_of_an_answer_are_no_new_answers(reference):
    d = reference.data("repeated10")
    warmer = (d.temperature > 0.4).map({True: "warm", False: "cold"})
    out = cumulative_logit(d.score, {"temperature": warmer}, answer=d.item)
    assert (
        out["log_odds_temperature_warm"].std_error
        > out.details["std_errors_wald"]["temperature_warm"]
    )


def test_words_are_differences_from_their_first_level_as_in_statsmodels(reference):
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    d = reference.data("clmm80x5x2")
    judge = d.judge.map(lambda j: f"j{j}")
    out = cumulative_logit(d.score, {"judge": judge, "hot": d.hot})
    x = pd.get_dummies(judge, drop_first=True).astype(float).assign(hot=d.hot)
    score = d.score.astype(pd.CategoricalDtype(ordered=True))
    fit = OrderedModel(score, x, distr="logit").fit(method="bfgs", disp=0, gtol=1e-9, maxiter=500)
    for name, column in (("judge_j2", "j2"), ("judge_j5", "j5"), ("hot", "hot")):
        assert out[f"log_odds_{name}"].estimate == pytest.approx(fit.params[column], abs=1e-6)
        assert out.details["std_errors_wald"][name] == pytest.approx(fit.bse[column], abs=1e-5)


@pytest.mark.parametrize("name", ["dif300", "dif300_shared"])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("conditioner", ["rest", "quality"])
def test_dif_is_that_of_polr_with_sandwich_errors(name, criterion, conditioner, reference):
    d = reference.data(name)
    others = d[[c for c in CRITERIA if c != criterion]]
    given = {"rest": others} if conditioner == "rest" else {"quality": d.quality}
    out = dif_test(d[criterion], d.source, cluster=d.question, reference="0", **given)
    want = reference.value(name, f"{criterion}_{conditioner}")
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
    assert (REST_SCORE in [n.message for n in out.notes]) == (conditioner == "rest")


def test_more_sources_than_two_are_tested_together():
    rng = np.random.default_rng(2)
    source = np.repeat(["a", "b", "c"], 120)
    quality = rng.normal(size=360)
    lift = np.where(source == "c", 1.0, 0.0)
    said = np.digitize(quality + lift + rng.logistic(size=360), [-1, 0, 1])
    out = dif_test(said, source, quality=quality, classes="jodoin-gierl")
    assert [e.label for e in out.effects[:2]] == [
        "Log odds of a higher score, b over a",
        "Log odds of a higher score, c over a",
    ]
    assert out.df["num df"] == 2
    assert out.p_value < 0.01
    assert out.effects[1].interval.low > 0
    assert abs(out.effects[0].estimate) < out.effects[1].estimate
    assert out.effects[-1].details["class"] in {"moderate", "large"}


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
    with pytest.raises(InputError, match="only be compared at equal quality"):
        dif_test(said, source)
    with pytest.raises(InputError, match=r"correlate at 0\.9"):
        dif_test(said, source, quality=(source == "x") * 10 + rng.normal(0, 0.5, 80))
    with pytest.raises(InputError, match="questions with score and quality by source: x 20, y 20"):
        dif_test(said, source, quality=rng.normal(size=80), cluster=np.arange(80) // 2)
    with pytest.raises(InputError, match="quality of all outputs is equal"):
        dif_test(said, source, quality=np.ones(80))
    with pytest.raises(InputError, match="the reference 'z' is none of x, y"):
        dif_test(said, source, quality=rng.normal(size=80), reference="z")
    with pytest.raises(InputError, match="classes must be one of"):
        dif_test(said, source, quality=rng.normal(size=80), classes="cohen")
    with pytest.raises(InputError, match="all scores are equal"):
        cumulative_logit(np.ones(80), {"source": source})
    with pytest.raises(InputError, match="cannot be told apart"):
        cumulative_logit(said, {"source": source, "again": source})
    with pytest.raises(InputError, match="decides the scores without exception"):
        cumulative_logit(np.where(source == "x", 1, 5), {"source": source})
    with pytest.raises(InputError, match="every answer was scored once"):
        cumulative_logit(said, {"source": source}, answer=np.arange(80))
    with pytest.raises(InputError, match="has one cluster"):
        cumulative_logit(
            said, {"source": source}, answer=np.arange(80) // 2, cluster=np.arange(80) % 7
        )
