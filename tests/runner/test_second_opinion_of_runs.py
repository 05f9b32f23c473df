"""Other packages find the same numbers in runs of the experiments."""

from __future__ import annotations

import pytest

from judgestats.analysis.crosscheck import disagreeing, opinions_table, second_opinion
from judgestats.runner.design import load_design
from judgestats.runner.run import run_experiment
from judgestats.tracking.fetch import results_of_run, run_judgments

SMALL = {"resamples": "99", "report": "none", "repeats": "3", "judges": "sim-typical,sim-null"}


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("temperature", {"temperatures": "0.3,0.7,1"}),
        ("judges", {"temperatures": "0.5"}),
        ("bias", {"pairs": "12"}),
        ("omega", {"limit": "8"}),
        ("alignment", {"limit": "12"}),
        ("guidelines", {"limit": "6"}),
        ("reasoning", {"limit": "6"}),
        ("self_consistency", {"limit": "12"}),
    ],
)
def test_numbers_of_a_run_are_the_same(workplace, name, more):
    run = run_experiment(load_design(name), {**SMALL, **more})
    opinions = second_opinion(run_judgments(run.run_id), results_of_run(run.run_id))
    assert opinions
    assert not disagreeing(opinions), opinions_table(opinions).to_string()
