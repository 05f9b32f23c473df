"""Asking again: reliability steps up as it must, and a null gain is shown to be one."""

from __future__ import annotations

import json

import pytest

from judgestats.experiment.design import load_design
from judgestats.experiment.run import prepare, run_experiment
from judgestats.stats.step_up import spearman_brown
from tests.experiment.report_cells import shown_by

GIVEN = {"resamples": "199", "report": "none", "pairs": "24", "replicates": "10"}


def test_reliability_steps_up_and_the_panel_stands_beside(workplace):
    run = run_experiment(load_design("self_consistency"), GIVEN)
    found = run.analysis
    rows = found.conditions.set_index("condition")
    for judge in ("sim-typical", "sim-steady"):
        one = rows.loc[f"{judge}, T=1", "icc1"]
        five = rows.loc[f"{judge}, T=1, mean of 5", "icc1"]
        # Two groups of five: the same judgments, so close to the formula.
        assert five == pytest.approx(spearman_brown(one, k=5), abs=0.02)
        assert found[f"gain.{judge}, T=1"].rows[-1].a == "mean of 10"
    assert rows.loc["panel of 2, T=1", "k"] == 2
    assert len(found["panel.T=1"].rows) == 2
    # A steady judge's verdicts hardly move by averaging: no gain is found, and none is claimed.
    assert all(r.p_adjusted > 0.05 for r in found["gain.sim-typical, T=1"].rows)
    assert "neither a gain nor that there is none" in found.sentence
    [results] = workplace.glob(f"mlruns/*/{run.run_id}/artifacts/results.json")
    shown = shown_by(results.parent)
    assert any(getattr(s, "label", "") == "fig-equivalence" for s in shown)  # of differences
    content = json.loads(results.read_text())
    ids = [r["id"] for r in content["results"]]
    assert len(ids) == len(set(ids))
    plan = prepare(load_design("self_consistency"), GIVEN).plan
    assert {h.id for h in plan.hypotheses} <= {i.split(".")[0] for i in ids}


def test_unread_replies_do_not_stop_it(workplace):
    given = {**GIVEN, "judges": "sim-unreadable", "replicates": "3", "pairs": "12"}
    found = run_experiment(load_design("self_consistency"), given).analysis
    assert (found.conditions["unread_share"] > 0).all()
    assert found.conditions["alignment"].between(0, 1).all()
