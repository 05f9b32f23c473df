"""Asking again: reliability steps up as it must; a gain is found where there is one."""

import json

import numpy as np
import pytest

from judgestats.results import brief_of
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.stats import spearman_brown
from judgestats.tracking import run_judgments
from tests.runner.report_cells import shown_by, words_of

GIVEN = {"resamples": "199", "report": "none", "pairs": "64", "repeats": "10",
         "crosscheck": "no"}  # fmt: skip


def test_a_noisy_judge_gains_and_a_steady_one_does_not(workplace):
    run = run_experiment(load_design("self_consistency"), GIVEN)
    found = run.analysis
    rows = found.conditions.set_index("condition")
    for judge in ("sim-typical", "sim-noisy"):
        one = rows.loc[f"{judge}, T=1", "icc1"]
        five = rows.loc[f"{judge}, T=1, mean of 5", "reliability"]
        # Two groups of five: the same judgments, so close to the formula.
        assert five == pytest.approx(spearman_brown(one, k=5), abs=0.03)
        # All ten in one: parallel omega, beside its null.
        ten = rows.loc[f"{judge}, T=1, mean of 10"]
        assert ten["reliability"] == pytest.approx(spearman_brown(one, k=10), abs=0.02)
        assert ten["reliability_null_q95"] > rows.loc[f"{judge}, T=1", "reliability_null_q95"]
        assert np.isnan(rows.loc[f"{judge}, T=1, median of 10", "reliability"])
    gains = {r.a: r for r in found["gain"].rows}
    noisy, typical = (gains[f"mean of 10 ({j} at T=1)"] for j in ("sim-noisy", "sim-typical"))
    assert noisy.p_adjusted < 0.05
    assert noisy.estimate > 0.03
    # Whatever a steady judge gains is shown to be small; a noisy one's gain is not.
    small = {r.a: r.p_value < 0.05 for r in found["equivalence.gain"].rows}
    assert small[typical.a]
    assert not small[noisy.a]
    # A verdict on a pair takes what `alignment` counts: the judgments of its two answers.
    asked = run_judgments(run.run_id)
    taken = (asked["tokens_in"] + asked["tokens_out"]).groupby(asked["judge"]).sum() / (64 * 10)
    for k, name in ((1, "sim-typical, T=1"), (10, "sim-typical, T=1, mean of 10")):
        assert rows.loc[name, "tokens_per_pair"] == pytest.approx(k * taken["sim-typical"])
    panel = rows.loc["panel of 2, T=1"]
    assert panel["tokens_per_pair"] == pytest.approx(taken.sum())
    assert panel["k"] == 2
    assert np.isnan(panel["icc1"])  # it is not one judgment
    # Against one judgment of each judge, and against as many of each as the panel asks for.
    assert {r.a for r in found["panel.T=1"].rows} == {
        "one of sim-typical", "mean of 2 of sim-typical", "one of sim-noisy",
        "mean of 2 of sim-noisy",
    }  # fmt: skip
    # Averaging turns ties into decisions, which is said.
    ties = rows["tie_share"]
    assert ties["sim-noisy, T=1"] > ties["sim-noisy, T=1, mean of 10"]
    # Means, medians, modes and the panel are of the same judgments: each counts once.
    records = found.records({})
    assert [c.label for c in records.conditions if not c.derived] == [
        "sim-typical, T=1", "sim-noisy, T=1"
    ]  # fmt: skip
    unread = int((asked["status"] != "ok").sum())
    [judges, lost] = brief_of(records).facts
    assert judges.startswith("2 judges × ")
    assert lost == f"{unread} of {len(asked):,} unparsed"
    assert 0.5 < found["alignment.people"].estimate < 1
    # sim-noisy fails now and then: both policies stand beside each other.
    assert (
        rows.loc["sim-noisy, T=1", "alignment_unread_as_wrong"]
        < rows.loc["sim-noisy, T=1", "alignment"]
    )

    [results] = workplace.glob(f"mlruns/*/{run.run_id}/artifacts/results.json")
    shown = shown_by(results.parent)
    labels = [getattr(s, "label", "") for s in shown]
    assert "fig-equivalence" in labels  # of differences
    assert "People against one another" in words_of(shown)
    content = json.loads(results.read_text())
    ids = [r["id"] for r in content["results"]]
    assert len(ids) == len(set(ids))
    plan = prepare(load_design("self_consistency"), GIVEN).plan
    assert {h.id for h in plan.hypotheses} <= {i.split(".")[0] for i in ids}


def test_unread_replies_do_not_stop_it(workplace):
    given = {**GIVEN, "judges": "sim-unreadable", "repeats": "3", "pairs": "12"}
    found = run_experiment(load_design("self_consistency"), given).analysis
    assert (found.conditions["unread_share"] > 0).all()
    assert found.conditions["alignment"].between(0, 1).all()


def test_two_replications_make_a_panel_and_no_average(workplace):
    given = {**GIVEN, "repeats": "2", "pairs": "12"}
    found = run_experiment(load_design("self_consistency"), given).analysis
    assert len(found.conditions) == 3
    plan = prepare(load_design("self_consistency"), given).plan
    assert {h.id for h in plan.hypotheses} <= {r.id.split(".")[0] for r in found.results}
