"""Every parameter is read and checked in one place, whoever hands it on."""

from __future__ import annotations

from inspect import get_annotations

import pytest
from pydantic import ValidationError

from judgestats import runner
from judgestats.cli import main
from judgestats.errors import InputError


def parse(**given):
    return runner.parse_parameters(given, runner.CommonParameters, experiment="temperature")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("repeats", "1", "from 2"),
        ("repeats", "many", "whole number"),
        ("repeats", "2.5", "whole number"),
        ("temperatures", "warm", "is not a number"),
        ("temperatures", "nan", "out of range"),
        ("temperatures", "-0.1", "out of range"),
        ("temperatures", "2.1", "out of range"),
        ("temperatures", "0.5,0.50", "more than once"),
        ("temperatures", "", "at least one"),
        ("judges", "a,a", "more than once"),
        ("judges", ",", "at least one"),
        ("scale", "1", "two whole numbers"),
        ("dry_run", "perhaps", "true or false"),
        ("max_cost", "0", "above 0"),
        ("max_cost", "inf", "above 0"),
        ("report", "html,doc", "not one of"),
        ("map", "question", "ours=theirs"),
        ("reply", "xml", "one of auto"),
        ("preset", "huge", "no preset"),
        ("repeets", "3", "Did you mean (--)?repeats"),
    ],
)
def test_wrong_values_are_told_what_is_right(name, value, said):
    with pytest.raises(InputError, match=said):
        parse(**{name: value})


def test_words_of_the_command_line():
    assert runner.split_arguments(["--base-url", "http://x", "--dry_run=true"]) == {
        "base_url": "http://x",
        "dry_run": "true",
    }
    for words in (["temperature"], ["--seed"], ["--"], ["--seed", "1", "--seed", "2"]):
        with pytest.raises(InputError):
            runner.split_arguments(words)


def test_every_entry_point_of_the_project_is_an_experiment():
    import yaml

    project = yaml.safe_load(
        (runner.project_folder("experiments").parent / "MLproject").read_text()
    )
    points = set(project["entry_points"]) - {"main"}
    assert points == set(runner.experiment_names())
    for name in points:
        assert name in project["entry_points"][name]["command"]


def test_no_experiment_has_a_parameter_twice(capsys):
    for name in runner.experiment_names():
        names = [p.name for p in runner.load_design(name).all_parameters]
        assert len(names) == len(set(names)), name
    assert main(["run", "crowd", "--help"]) == 0
    said = capsys.readouterr().out
    assert said.count("\n  --repeats ") == 1
    said = " ".join(said.split())
    assert "Sets to judge, comma-separated" in said  # an own parameter, not the common one
    assert "Repeats of every pipeline; 2 or more give its reliability (default: 2)" in said


@pytest.mark.parametrize("name", runner.experiment_names())
def test_a_parameter_is_what_the_nearest_class_declares(name):
    """Pydantic takes inherited fields from the first base that has one, declared there or not."""
    model = runner.load_design(name).parameters
    for field in model.model_fields:
        nearest = next(c for c in model.__mro__ if field in get_annotations(c))
        assert said(nearest, field) == said(model, field), field
        assert model.model_fields[field].annotation == nearest.model_fields[field].annotation


def said(model, field) -> runner.Parameter | None:
    return next((p for p in runner.parameters_of(model) if p.name == field), None)


@pytest.mark.parametrize("name", runner.experiment_names())
def test_parameters_are_frozen_typed_and_read_from_their_defaults(name):
    design = runner.load_design(name)
    read = runner.parse_parameters({}, design.parameters, experiment=name, defaults=design.defaults)
    assert design.parameters.model_validate(read.values(), strict=True) == read
    with pytest.raises(ValidationError, match="frozen"):
        read.seed = 1
    for parameter in design.all_parameters:
        assert parameter.help
        assert read[parameter.name] == getattr(read, parameter.name)
    assert "nonsense" not in read
    with pytest.raises(KeyError):
        read["nonsense"]


def test_a_run_logs_what_is_declared_as_logged():
    read = runner.CommonParameters.read({"scale": "1-5", "repeats": "4"})
    assert read.logged()["design/replicates"] == "4"
    assert read.logged()["judge/scale"] == "1-5"
    names = [p.logged for p in runner.parameters_of(runner.CommonParameters) if p.logged]
    assert len(set(names)) == len(names) >= 6


def test_a_wrong_default_is_no_parameter():
    with pytest.raises(InputError, match="limit: must be at least 2, got 1"):
        runner.CommonParameters.read({"limit": "1"})
    with pytest.raises(InputError, match="seed: expected a whole number"):
        runner.CommonParameters.read({"seed": ""})
