"""Judges, guidelines and reasoning, all the way: known effects are found, null effects are not."""

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import judges, strata_of
from judgestats.data import Condition, parsed_frame
from judgestats.errors import InputError
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.stats import p_adjust
from tests.runner.truths import holds, judged_items, variance_of

SMALL = {
    "resamples": "199",
    "report": "none",
    "temperatures": "1",
    "repeats": "6",
    "crosscheck": "no",
}


def declared_are_answered(name, given, analysis):
    plan = prepare(load_design(name), given).plan
    answered = {r.id.split(".")[0] for r in analysis.results}
    return {h.id for h in plan.hypotheses} <= answered


def test_guidelines_a_known_effect_and_a_null_one(workplace):
    given = {**SMALL, "guidelines": "none,paragraphs"}
    found = run_experiment(load_design("guidelines"), given).analysis
    judged = judged_items("guidelines", given)
    for judge, differs in (("sim-guided", True), ("sim-typical", False)):
        name = f"{judge} at T=1"
        assert (found[f"spread.{name}"].p_value < 0.05) == differs
        [row] = found[f"ratio.{name}"].rows
        truth = variance_of(judge, judged, temperature=1.0, guided=True) / variance_of(
            judge, judged, temperature=1.0
        )
        assert (row.a, row.b) == ("paragraphs", "none")
        assert holds(row, truth), judge
    assert not found["equivalence.sim-guided at T=1"].all_shown
    assert declared_are_answered("guidelines", given, found)


def test_reasoning_changes_one_judge_and_not_the_other(workplace):
    given = {**SMALL, "reasoning": "none,before"}
    found = run_experiment(load_design("reasoning"), given).analysis
    judged = judged_items("reasoning", given)
    truth = {
        judge: variance_of(judge, judged, temperature=1.0, reasoning="before")
        / variance_of(judge, judged, temperature=1.0)
        for judge in ("sim-typical", "sim-null")
    }
    for judge, expected in truth.items():
        [row] = found[f"ratio.{judge} at T=1"].rows
        assert (row.a, row.b) == ("before", "none")
        assert holds(row, expected), judge
    assert found["spread.sim-null at T=1"].p_value > 0.05
    [row] = found["interaction"].rows
    assert (row.a, row.b) == ("sim-null (before at T=1)", "sim-typical")
    assert holds(row, truth["sim-null"] / truth["sim-typical"])
    assert declared_are_answered("reasoning", given, found)


def test_bundled_guidelines_refuse_another_scale(workplace):
    with pytest.raises(InputError, match="written for the scale 1-10"):
        prepare(load_design("guidelines"), {"scale": "1-5"})


def test_a_guideline_of_ones_own_is_a_level(workplace):
    (workplace / "mine.txt").write_text("Only 1 or 5.", encoding="utf-8")
    prepared = prepare(load_design("guidelines"), {"guidelines": "none,mine.txt", "scale": "1-5"})
    assert {c.factors["guideline"] for c in prepared.conditions} == {"none", "mine"}
    hashes = {p.template.sha for p in prepared.protocols.values()}
    assert len(hashes) == 2
    with pytest.raises(InputError, match="no file"):
        prepare(load_design("guidelines"), {"guidelines": "none,absent.txt"})


@pytest.mark.parametrize("name", ["judges", "guidelines", "reasoning"])
def test_the_paper_preset_has_the_studys_size(workplace, name):
    prepared = prepare(
        load_design(name),
        {"preset": "paper", "base_url": "http://localhost:8000/v1", "items": "bank"},
    )
    sizes = {"judges": 33, "guidelines": 15, "reasoning": 27}
    assert len(prepared.conditions) == sizes[name]
    assert prepared.parameters["repeats"] == 10


def test_strata_differ_in_one_thing_only():
    cells = pd.DataFrame(
        [
            {"condition": f"{j}{t}{g}", "judge": j, "temperature": t, "factor_g": g}
            for j in "xy"
            for t in (0.5, 1.0)
            for g in ("n", "m")
        ]
    )
    strata = strata_of(cells, vary="factor_g")
    assert [s.name for s in strata] == ["x at T=0.5", "x at T=1", "y at T=0.5", "y at T=1"]
    assert strata_of(cells, vary="judge")[0].name == "T=0.5 and n"
    assert strata_of(cells[cells["judge"] == "x"], vary="judge") == ()


def test_equality_is_told_only_where_all_pairs_are_shown_equivalent():
    rng = np.random.default_rng(1)
    scores = 5 + rng.normal(size=(200, 3, 20))
    frame = pd.DataFrame(
        {
            "judge": name, "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
            "replicate": r, "score": scores[i, k, r], "status": "ok",
        }
        for i in range(200) for k, name in enumerate("abc") for r in range(20)
    )  # fmt: skip
    conditions = [Condition(judge=name, temperature=1.0) for name in "abc"]
    declared = judges.plan({"resamples": 99, "seed": 0}, conditions)
    found = judges.analyse(parsed_frame(frame), declared)
    [headline] = found.headlines
    assert headline.claim == "equivalent"


def test_reasoning_compares_every_pair_for_equivalence_and_tells_of_the_interaction(workplace):
    given = {**SMALL, "judges": "sim-typical,sim-null", "repeats": "10"}
    found = run_experiment(load_design("reasoning"), given).analysis
    pairs = {(r.a, r.b) for r in found["equivalence.sim-null at T=1"].rows}
    assert pairs == {("before", "none"), ("after", "none"), ("after", "before")}
    # All judges, temperatures and ways in one family: one hypothesis of the plan, one adjustment.
    rows = found["interaction"].rows
    assert [r.a for r in rows] == ["sim-null (before at T=1)", "sim-null (after at T=1)"]
    assert [r.p_adjusted for r in rows] == p_adjust([r.p_value for r in rows]).tolist()
    family = found["interaction_f.family"]
    assert set(family.tests) == {"before at T=1", "after at T=1"}
    plan = prepare(load_design("reasoning"), given).plan
    declared = {h.id: (h.family, h.adjustment) for h in plan.hypotheses}
    assert declared["interaction"] == (found["interaction"].family, "holm")
    assert declared["interaction_f"][1] == family.adjust
