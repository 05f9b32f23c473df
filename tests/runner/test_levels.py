"""A run that compares nothing is refused before the first call; what is not asked is said."""

import json

import pytest

from judgestats.errors import InputError
from judgestats.runner import Design, experiment_names, load_design, run_experiment
from judgestats.runner.prepare import prepare

FEW = {"limit": "4", "dry_run": "true"}
REFUSED = {
    "temperature": {"temperatures": "1"},
    "judges": {"judges": "sim-typical"},
    "guidelines": {"guidelines": "none"},
    "reasoning": {"reasoning": "before"},
    "self_consistency": {"repeats": "2", "judges": "sim-typical"},
}
SAID = {
    "reasoning": [
        ({"judges": "sim-typical"}, "whether reasoning changes all judges alike is not asked"),
        ({"reasoning": "before,after"}, "only ways of reasoning are compared"),
    ],
    "alignment": [
        ({"methods": "pairwise"}, "Methods are not compared"),
        ({"methods": "pairwise"}, "whether temperature matters is not asked"),
        ({"methods": "pointwise", "temperatures": "0.5"}, "whether temperature matters"),
    ],
    "self_consistency": [
        ({"repeats": "2"}, "only panels of judges"),
        ({"judges": "sim-typical"}, "no panel of judges"),
    ],
    "judges": [
        ({"judges": "sim-typical", "vary": "reasoning_effort:low,high"}, "only the levels of vary")
    ],
    "omega": [({"temperatures": "1"}, "One temperature"), ({"judges": "sim-typical"}, "One judge")],
    "grade_score": [
        ({"prompts": "1"}, "what the prompt changes is not asked"),
        ({"distractor": "no"}, "what it changes is not asked"),
    ],
    "crowd": [
        ({"strategies": "cce", "scaling": "none"}, "no gain over it is reported"),
        (
            {"strategies": "vanilla", "scaling": "none", "selections": "none"},
            "One strategy: its accuracy",
        ),
    ],
    "rejection_sampling": [({"strategies": "vanilla"}, "whether the other candidates help")],
}


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_to_compare_is_refused_with_what_to_give(workplace, name):
    parameter = next(iter(REFUSED[name]))
    with pytest.raises(InputError, match=f"^{parameter}: .* leaves nothing to compare. Give at"):
        prepare(load_design(name), {**FEW, **REFUSED[name]})


@pytest.mark.parametrize("name", SAID)
def test_what_is_not_asked_is_said(workplace, name):
    for given, said in SAID[name]:
        assert said in " ".join(prepare(load_design(name), {**FEW, **given}).notices), given


def test_the_defaults_leave_nothing_out(workplace):
    for name in experiment_names():
        design = load_design(name)
        if isinstance(design, Design):
            assert prepare(design, FEW).notices == (), name


def test_what_is_not_asked_stands_in_the_report_and_not_in_the_plan(workplace, capsys):
    given = {
        "methods": "pairwise", "judges": "sim-typical", "pairs": "12", "repeats": "2",
        "resamples": "99", "report": "none",
    }  # fmt: skip
    outcome = run_experiment(load_design("alignment"), given)
    said = capsys.readouterr().out
    assert said.index("Note: One method") < said.index("Account:")
    assert outcome.analysis.limitations[0].startswith("One method: its agreement with human labels")
    [folder] = workplace.glob(f"mlruns/*/{outcome.run_id}/artifacts")
    declared = {h["id"] for h in json.loads((folder / "plan.json").read_text())["hypotheses"]}
    assert declared <= {r.id.split(".")[0] for r in outcome.analysis.results}
    assert not {"methods", "temperature"} & declared


@pytest.mark.parametrize("name", ["judges", "bias", "head_to_tail"])
def test_a_preset_says_that_the_items_are_not_the_studys(workplace, capsys, name):
    given = {"preset": "paper", "limit": "8", "dry_run": "true", "items": "bank"}
    assert run_experiment(load_design(name), given) is None
    said = " ".join(capsys.readouterr().out.split())
    assert "preset=paper on other items" in said.replace("--preset paper", "preset=paper")
    assert load_design(name).study_items in said
