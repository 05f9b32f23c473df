"""A run records every parameter that its command can set; comparisons name what differs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judgestats as js
from judgestats import runner
from judgestats.cli import main
from judgestats.commands import COMMANDS, Args, Option, argument_texts
from judgestats.errors import InputError
from judgestats.results import differing_parameters, read_results
from judgestats.tracking import open_store

GIVEN = {"study": "schroeder2024"}
"""Parameters that have no default."""


def read(name: str, **given: str):
    """An experiment's parameters."""
    design = runner.load_design(name)
    needed = {k: v for k, v in GIVEN.items() if k in {p.name for p in design.all_parameters}}
    defaults = getattr(design, "defaults", None)
    return runner.parse_parameters(
        {**needed, **given}, design.parameters, experiment=name, defaults=defaults
    )


OTHER = {
    "answer_temperatures": "0.25", "disagreement": "first", "engine": "loky:2", "methods_at": "1",
    "scale": "1-5", "temperatures": "0.25", "timeout": "7", "vary": "top_p:0.5,1",
    "extra_body": "min_p=0.25", "pass_from": "3", "labels_drawn": "random", "resamples": "199",
    "item_options": "ties=drop", "mix": "chat=.8,code=.2", "people": "designed",
    "probes": "padding", "equal_points": "random", "per_benchmark": "squad=20",
    "reasoning": "none,before",
}  # fmt: skip
"""Values of parameters whose type tells none."""


def another(name: str, parameter: runner.Parameter, current: str) -> str:
    """A value that a parameter does not have by default; empty where there is none to be found."""
    tried = [OTHER.get(parameter.name, ""), *parameter.words, "7", "2", "0.5", "7.5", "x", "a=b"]
    for text in filter(None, tried):
        try:
            if read(name, **{parameter.name: text}).as_texts()[parameter.name] != current:
                return text
        except (InputError, ValueError):
            continue
    return ""


def test_every_parameter_is_logged_and_a_difference_in_any_is_named() -> None:
    """Of every experiment; those that experiments share once."""
    checked: set[tuple[str, str, str]] = set()
    for name in runner.experiment_names():
        listed, plain = runner.parameters_of(runner.load_design(name).parameters), read(name)
        texts, logged = plain.as_texts(), plain.logged()
        assert set(texts) == {p.name for p in listed}
        assert len(logged) == len(listed), "two parameters under one name"
        assert all(logged.values())
        assert not any("0x" in text for text in logged.values()), "an address of this process"
        for parameter in listed:
            what = (parameter.name, parameter.default, parameter.help)
            if parameter.name in {"preset", "study"} or what in checked:
                continue
            checked.add(what)
            value = another(name, parameter, texts[parameter.name])
            assert value, f"no other value of {parameter.name} was found"
            changed = read(name, **{parameter.name: value})
            facts = [{"parameters": texts}, {"parameters": changed.as_texts()}]
            assert list(differing_parameters(facts)) == [parameter.name]
            named = {k for k, v in changed.logged().items() if v != logged[k]}
            assert named == {parameter.logged or f"parameter/{parameter.name}"}
    assert len(checked) > 60


def test_every_word_of_analyze_is_recorded() -> None:
    command = COMMANDS["analyze"]
    names = [w.name for w in command.words]

    def given(**changed: object) -> Args:
        values = {
            name: [] if isinstance(w, Option) and w.repeated else getattr(w, "default", "")
            for name, w in zip(names, command.words, strict=True)
        }
        return Args(**{**values, **changed})

    plain = argument_texts(command, given())
    assert len(plain) == len(names)
    for name, word in zip(names, command.words, strict=True):
        repeated = isinstance(word, Option) and word.repeated
        changed = argument_texts(command, given(**{name: ["x"] if repeated else 12345}))
        assert len(differing_parameters([{"parameters": plain}, {"parameters": changed}])) == 1


def test_runs_that_differ_in_a_seed_of_the_judges_are_told_apart(workplace, capsys) -> None:
    """``All other parameters were the same`` was printed of them."""
    words = ["run", "temperature", "--judges", "sim-typical", "--temperatures", "0,1", "--limit",
             "4", "--repeats", "3", "--resamples", "99", "--report", "none"]  # fmt: skip
    ids = []
    for more in (["--request-seed", "7"], ["--request-seed", "8", "--omega-model", "congeneric"]):
        assert main([*words, *more, "--json"]) == 0
        ids.append(json.loads(capsys.readouterr().out)["run_id"])
    store = open_store(existing=True)
    logged = [store.client.get_run(i).data.params for i in ids]
    wanted = {*read("temperature").logged()} | {
        f"parameter/{n}" for n in ("all", "json", "require")
    }
    assert wanted <= set(logged[0])
    assert [own["parameter/request_seed"] for own in logged] == ["7", "8"]
    whole = store.client.get_run(ids[1]).data.metrics
    assert not [name for name in whole if name.startswith("answer/")]
    [file] = Path().glob(f"mlruns/*/{ids[1]}/artifacts/results.json")
    [sem] = [m for m in read_results(file).measures if m.key == "sem"]
    assert sem.subject.label == "sim-typical, T=1"  # the SEM at T = 0 is none of a run
    assert whole["sem"] == pytest.approx(sem.estimate)
    assert {n for n in whole if "sem" in n.lower()} <= {"sem", "sem.lo", "sem.hi"}

    short = "Different: request_seed (7, 8), omega_model (parallel, congeneric). Same: "
    assert main(["report", *ids, "--to", "md", "--out", "page"]) == 0
    assert short in " ".join(capsys.readouterr().out.split())
    page = Path("page/comparison.md").read_text("utf-8")
    table = page.partition("What differed between the runs.")[2].partition("\n\n#")[0]
    assert "All other parameters were the same." in table
    assert "request\\_seed | 7" in table or "request_seed" in table
    assert main(["drift", *ids, "--resamples", "99"]) == 0
    care = "Care The runs differ in request_seed (7 and 8), omega_model (parallel and congeneric)"
    assert care in " ".join(capsys.readouterr().out.split())
    found = js.drift(*ids, n_resamples=99).run.records
    assert any("request_seed (7 and 8)" in note.message for note in found.limitations)


@pytest.mark.parametrize("name", ["api_key", "headers.Authorization", "auth_token", "X-Api-Key"])
def test_a_key_is_no_field_of_a_request(name) -> None:
    """It would stand in the run's parameters."""
    with pytest.raises(InputError, match="a run records") as error:
        read("temperature", extra_body=f"{name}=sk-123456789")
    assert "sk-123456789" not in str(error.value)
    assert read("temperature", extra_body="max_new_tokens=9,thinking.budget_tokens=5").extra_body
