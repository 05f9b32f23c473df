"""Reliability of choices by benchmark and judge, and accuracy, on verdicts whose truth is known."""

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import AnalysisPlan, best_of_n, omega_of_hits
from judgestats.stats import agreement_across_judges

LETTERS = np.array(list("ABCDE"), dtype=object)


def verdicts(keep, *, seed, temperature=1.0, judge="j", replications=12, benchmarks=("X", "Y")):
    """A judge that repeats each question's letter with its own probability, else draws at random.

    The first benchmark's questions have 4 right answers of 5, the second's 1: m0 is right on all.
    """
    rng = np.random.default_rng(seed)
    rows = []
    n = len(keep)
    best = np.arange(n) % 5  # the same for all judges, every letter equally often
    for i in range(n):
        category = benchmarks[i * len(benchmarks) // n]
        right = ["m0", "m1", "m2", "m3"] if category == benchmarks[0] else ["m0"]
        for r in range(replications):
            k = best[i] if rng.random() < keep[i] else rng.integers(0, 5)
            rows.append(
                {
                    "condition": f"{judge}, T={temperature:g}",
                    "judge": judge,
                    "temperature": temperature,
                    "item_id": f"q{i}",
                    "cluster": f"q{i}",
                    "category": category,
                    "replicate": r,
                    "order": "",
                    "status": "ok",
                    "choice": f"m{k}",
                    "position": str(k + 1),
                    "options": "m0|m1|m2|m3|m4",
                    "preferred": "",
                    "right": "|".join(right),
                    "options_right": str(len(right)),
                    "options_judged": "5",
                    "chosen_right": str(int(f"m{k}" in right)),
                    "cost_usd": 0.0,
                }
            )
    return pd.DataFrame(rows)


def analysed(*frames, resamples=199):
    declared = best_of_n.plan({"resamples": resamples, "seed": 0}, ())
    return best_of_n.analyse(pd.concat(frames, ignore_index=True), declared)


@pytest.fixture(scope="module")
def found():
    # Benchmark X has the more accurate answers and is judged less reliably, as the study claims.
    keep = np.r_[np.full(20, 0.3), np.full(20, 0.8)]
    frames = [
        verdicts(keep, seed=1, judge="one", temperature=0.5),
        verdicts(keep * 0.8, seed=2, judge="one", temperature=0.75),
        verdicts(keep * 0.5, seed=3, judge="one", temperature=1.0),
        verdicts(keep, seed=4, judge="two", temperature=1.0),
    ]
    return analysed(*frames)


def test_more_accurate_answers_judged_less_reliably_are_found_and_chance_is_not(found):
    test = found["accuracy.one, T=0.5"]
    assert test.p_value < 0.001
    assert test.effect.estimate > 0.5
    assert "accuracy.one, T=0.5" in {r.id for r in found.results}
    even = analysed(verdicts(np.full(40, 0.5), seed=5), resamples=99)
    assert even["accuracy.j, T=1"].p_value > 0.05


def test_the_rise_with_temperature_is_tested_as_a_rise(found):
    rise = found["temperature.rise.one"]
    assert rise.p_value < 0.001
    assert found["temperature.one"].p_value == pytest.approx(1 / 200)
    frames = [
        verdicts(np.full(30, 0.6), seed=s, temperature=t)
        for s, t in ((6, 0.25), (7, 0.5), (8, 1.0))
    ]
    assert analysed(*frames, resamples=99)["temperature.rise.j"].p_value > 0.05


def test_small_benchmarks_are_named_and_not_analysed(found):
    few = verdicts(np.full(8, 0.7), seed=1)
    few.loc[few["item_id"].isin(["q4", "q5", "q6"]), "category"] = "X"
    analysis = analysed(few, resamples=99)
    assert any(text.startswith("Y: fewer than 5 questions") for text in analysis.limitations)
    assert not any(r.id.startswith("benchmark.one.Y") for r in analysis.results)


def test_an_omega_of_hits_stands_beside_the_choices():
    """Letters have no covariances; whether the preferred answer was chosen has."""
    rng = np.random.default_rng(2)
    rows = [
        {
            "condition": "j", "item_id": f"i{i}", "cluster": f"i{i}", "replicate": r,
            "choice": "x" if rng.random() < (0.9 if i % 2 else 0.2) else "y", "preferred": "x",
        }
        for i in range(40) for r in range(5)
    ]  # fmt: skip
    asked = pd.DataFrame(rows)
    declared = AnalysisPlan(
        experiment="omega", question="", n_resamples=99, seed=0, blocks="", missing="",
        hypotheses=(), options={"omega_model": "tau-equivalent"},
    )  # fmt: skip
    parallel, other = omega_of_hits("j", asked, declared)
    assert parallel.id == "repetition.omega.j"
    hits = (asked["choice"] == "x").to_numpy(float).reshape(40, 5)
    k, covariance = 5, np.cov(hits, rowvar=False)
    alpha = k / (k - 1) * (1 - np.trace(covariance) / covariance.sum())
    assert parallel.result.estimate == pytest.approx(alpha)
    assert parallel.result.name == "alpha"  # never under the key of omega
    assert parallel.result.null is not None
    assert other.id == "repetition.omega_tau-equivalent.j"
    assert omega_of_hits("j", asked.drop(columns="preferred"), declared) == []


def test_reliability_by_benchmark_is_that_of_its_questions(found):
    # A letter kept with probability p, else uniform on 5: rho_1 = p^2 where letters are balanced.
    for benchmark, p in (("X", 0.3), ("Y", 0.8)):
        one = found[f"benchmark.one.{benchmark}.one, T=0.5"]
        assert one.interval.low < p**2 < one.interval.high
        assert one.estimate == pytest.approx(p**2, abs=0.12)
        many = found[f"benchmark.all.{benchmark}.one, T=0.5"]
        assert many.estimate == pytest.approx(12 * one.estimate / (1 + 11 * one.estimate))
        assert many.null.q95 < many.estimate
        assert abs(many.null.mean) < 0.2


def test_both_estimators_stand_beside_each_other_and_beside_their_null(found):
    one = found["reliability.one.two, T=1"]
    kappa = found["repetition.kappa.one.two, T=1"]
    assert kappa.estimate < one.estimate  # divisor N
    assert kappa.estimate == pytest.approx(one.estimate, abs=0.05)
    for key in ("reliability.all", "repetition.kappa.all", "repetition.ac1", "repetition.unread"):
        assert found[f"{key}.two, T=1"].null is not None


def test_accuracy_of_answers_by_author_and_benchmark(found):
    assert found["right.answers.author.m0"].estimate == 1
    assert found["right.answers.author.m4"].estimate == 0
    assert found["right.answers.author.m2"].estimate == 0.5
    assert found["right.answers.benchmark.X"].estimate == pytest.approx(0.8)
    assert found["right.answers.all"].estimate == pytest.approx(0.5)
    table = found.conditions.set_index("condition")
    assert table.loc["two, T=1", "answers_right in Y"] == pytest.approx(0.2)
    assert table.loc["two, T=1", "chosen_right_by_chance"] == pytest.approx(0.5)
    assert found["right.target.two, T=1"].details["random_choice"] == pytest.approx(0.5)


def test_agreement_across_judges_stands_beside_what_unrelated_judges_share():
    rng = np.random.default_rng(3)
    # Judges that like the letter A for no reason agree by that alone.
    biased = rng.choice(LETTERS, p=[0.6, 0.1, 0.1, 0.1, 0.1], size=(3, 40, 10))
    by_liking = 0.6**2 + 4 * 0.1**2
    out = agreement_across_judges(biased, n_permutations=499)
    assert out.null.mean == pytest.approx(by_liking, abs=0.03)
    assert out.null.p_value > 0.05
    truth = LETTERS[rng.integers(0, 5, 40)]
    shared = np.where(rng.random((3, 40, 10)) < 0.5, truth[None, :, None], biased)
    shared_out = agreement_across_judges(shared, n_permutations=499)
    assert shared_out.null.p_value == pytest.approx(1 / 500)
    assert shared_out.estimate > shared_out.null.q95
    plain = agreement_across_judges(shared)
    assert plain.estimate == shared_out.estimate
    assert plain.null is None


def test_the_null_of_agreement_keeps_each_judges_own_consistency():
    # Two judges, each constant within an item but unrelated: repetition is no evidence.
    rng = np.random.default_rng(0)
    p = []
    for _ in range(60):
        own = LETTERS[rng.integers(0, 3, (2, 15))]
        out = agreement_across_judges(np.repeat(own[..., None], 20, axis=2), n_permutations=99)
        p.append(out.null.p_value)
    assert np.mean(np.array(p) <= 0.1) < 0.22
