"""Alignment, all the way: credit against the simulated judges' truth, baselines, null effects."""

import json

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import method_pairs
from judgestats.analysis.alignment import analyse
from judgestats.protocols import Pairwise
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.simulated.judges import truth
from judgestats.stats import friedman_test
from judgestats.stats.comparison import blocked_f_test
from tests.runner.report_cells import shown_by, words_of

SMALL = {"resamples": "199", "report": "none", "crosscheck": "no"}


def expected_credit(judge, items, *, temperature):
    """The truth: expected credit of one pointwise verdict on each labelled pair."""
    known = truth(judge)
    table = method_pairs(items).table
    by_id = {i.id: i for i in items}
    out = []
    for name, pair, labels in zip(table.items, table.pairs, table.labels, strict=True):
        item = by_id[name]
        a, b = (
            known.score_probabilities(
                item.question, item.responses[k].text, temperature=temperature
            )
            for k in pair
        )
        chance = {"a": 0.0, "b": 0.0, "tie": 0.0}
        for x, p in a.items():
            for y, q in b.items():
                chance["a" if x > y else "b" if y > x else "tie"] += p * q
        credit = [
            sum(p * (1.0 if v == h else 0.5 if "tie" in {v, h} else 0.0) for v, p in chance.items())
            for h in labels
            if h
        ]
        out.append(np.mean(credit))
    return np.array(out)


@pytest.fixture
def outcome(workplace):
    given = {
        **SMALL,
        "judges": "sim-typical,sim-always-first",
        "methods": "pairwise,pointwise",
        "temperatures": "0.2,1",
        "repeats": "4",
        "pairs": "48",
    }
    return run_experiment(load_design("alignment"), given), given


def test_truth_baselines_and_a_judge_that_only_sees_places(outcome, workplace):
    run, given = outcome
    found = run.analysis
    items = prepare(load_design("alignment"), given).items
    rows = found.conditions.set_index("condition")
    credit = expected_credit("sim-typical", items, temperature=1.0)
    row = rows.loc["sim-typical, T=1, method=pointwise"]
    # The interval is over questions; the truth is the same questions', so it is well inside.
    assert row["alignment_low"] < credit.mean() < row["alignment_high"]
    assert row["alignment"] == pytest.approx(credit.mean(), abs=0.04)
    always = rows.loc["sim-always-first, T=0.5, method=pairwise"]
    floor = found["alignment.always_tie"].estimate
    assert always["alignment"] == pytest.approx(floor)  # both orders disagree: always a tie
    assert always["swap_consistency"] == 0
    assert always["first_preference"] == 1
    assert rows.loc["sim-typical, T=0.5, method=pairwise", "alignment"] > floor + 0.1
    assert found["equivalence.temperature.pointwise by sim-typical"].rows
    assert found["methods.sim-typical"].p_value >= 1 / 200
    assert found["methods.family"].p_adjusted["sim-always-first"] < 0.05
    assert 0.5 < found["alignment.people"].estimate < 1
    kappa = rows.loc["sim-typical, T=0.5, method=pairwise"]
    assert kappa["kappa"] > kappa["kappa_null_q95"] > 0
    # A pair's verdict takes two judgments where both orders are shown, one a response otherwise.
    assert kappa["judgments_per_pair"] == 2
    # Always a tie: the same every time, and wrong where people decide by more than half.
    assert always["same_and_wrong"] == 0
    told = found["ranks_of_credit.pairs.sim-typical"].rows
    apart = {frozenset((r.a, r.b)) for r in told if r.p_adjusted < 0.05}
    assert frozenset(("pairwise", "always tie")) in apart
    # The mean of all replications is a method, made from the judgments of another.
    assert "sim-typical, T=0.5, method=pointwise-mean" in rows.index
    [results] = workplace.glob(f"mlruns/*/{run.run_id}/artifacts/results.json")
    words = words_of(shown_by(results.parent))
    assert "People against one another" in words
    assert "Baseline: always tie" in words
    content = json.loads(results.read_text())
    own = [c["counts"]["asked"] for c in content["conditions"] if not c.get("derived")]
    assert sum(own) == content["facts"]["account"]["rows"]  # each judgment counts once
    plan = json.loads((results.parent / "plan.json").read_text())
    assert plan["options"]["disagreement"] == "tie"
    answered = {r["id"].split(".")[0] for r in content["results"]}
    assert {h["id"] for h in plan["hypotheses"]} <= answered
    assert len({r["id"] for r in content["results"]}) == len(content["results"])
    # Had the second judge refused everything, the first would be told as before.
    frame = pd.read_parquet(results.parent / "data" / "judgments.parquet")
    mute = frame["judge"] == "sim-always-first"
    frame.loc[mute, "status"] = "refused"
    frame.loc[mute, "choice"] = ""
    frame.loc[mute, "score"] = np.nan
    without = analyse(frame, prepare(load_design("alignment"), given).plan, items=items)
    own = without["methods.sim-typical"]
    assert own.statistic == pytest.approx(found["methods.sim-typical"].statistic)


def test_a_temperature_without_effect_is_not_made_one(workplace):
    given = {
        **SMALL,
        "judges": "sim-null",
        "methods": "pointwise",
        "series": "pointwise",
        "temperatures": "0,1",
        "methods_at": "0.5",
        "repeats": "2",
        "pairs": "32",
    }
    found = run_experiment(load_design("alignment"), given).analysis
    assert found["temperature.pointwise by sim-null"].p_value > 0.05
    assert all(r.p_adjusted > 0.05 for r in found["temperature.shift"].rows)


def test_a_mean_of_verdicts_that_agrees_equally_often_is_told_apart_by_ranks_alone():
    """Why Friedman does not decide: a sure method and one averaged over draws, of equal credit."""
    rng = np.random.default_rng(0)
    rejected = {"f": 0, "ranks": 0}
    for _ in range(60):
        sure = rng.choice([0.0, 1.0], p=[0.3, 0.7], size=120)
        averaged = rng.binomial(10, 0.7, size=120) / 10  # expected credit .7 as well
        table = np.column_stack([sure, averaged])
        f = blocked_f_test(table, n_permutations=199, seed=1)
        rejected["f"] += f.p_value < 0.05
        rejected["ranks"] += friedman_test(table).p_value < 0.05
    assert rejected["f"] <= 7  # nominal 3
    assert rejected["ranks"] >= 55


def test_the_paper_preset_has_the_studys_size(workplace):
    given = {"preset": "paper", "base_url": "http://localhost:8000/v1", "pairs": "all"}
    given["items"] = "bank"
    prepared = prepare(load_design("alignment"), given)
    assert len(prepared.conditions) == 4 + 2 * 7
    assert load_design("alignment").presets["paper"]["pairs"] == "1000"
    pairwise = next(p for p in prepared.protocols.values() if isinstance(p, Pairwise))
    assert pairwise.labelled_only
    assert prepared.units[prepared.conditions[0]][0].order == "ab"
