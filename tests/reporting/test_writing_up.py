"""What a paper says of a run is what the run holds; what the run does not say is named."""

import re
import zipfile
from dataclasses import replace
from pathlib import Path

import mlflow
import numpy as np
import pytest

from judgestats.cli import main
from judgestats.reporting import Run, load_run, methods_text
from judgestats.reporting.sections import closing
from judgestats.results import ResultSet
from judgestats.results import Test as TestRecord
from judgestats.runner import project_folder
from tests.null_judge.selections import SELECTIONS
from tests.null_judge.worlds import World


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of an experiment without a store."""
    here = tmp_path_factory.mktemp("run")
    before = mlflow.get_tracking_uri()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{here}/m.db")
        mlflow.set_tracking_uri(f"sqlite:///{here}/m.db")
        given = ["--judges", "sim-typical,sim-noisy", "--limit", "6", "--repeats", "3"]
        assert main(["run", "judges", *given, "--resamples", "200", "--report", "none"]) == 0
    mlflow.set_tracking_uri(before)
    [results] = here.rglob("results.json")
    return results.parent


def test_the_paragraph_says_what_the_run_holds(folder):
    run = load_run(folder)
    text = methods_text(run)
    design, [sha] = run.design, run.facts["judges"][0]["prompt_sha"]
    assert text.count(f"on {design['items']} items") == 1
    assert text.count(f"with {design['replicates']} repeats per item") == 1
    assert "Every repeat was a new request." in text
    assert f"Of {run.facts['account']['asked']:,} judgments" in text
    assert f", {(run.judgments['status'] != 'ok').sum()} (" in text
    assert f"Bonferroni-adjusted for {len(run.records.verdicts)} verdicts" in text
    together = {**run.facts, "design": {**design, "choices_per_request": 3}}
    text = methods_text(Run(run.folder, replace(run.records, facts=together)))
    assert "A request asked for up to 3 repeats of an item." in text
    assert all(name in text for name in ("sim-typical", "sim-noisy", sha, "[@holm1979]"))
    assert "simulated: no model was asked" in text
    assert run.session["judgestats"] in text
    assert "independent judgments" not in text
    cited = set(re.findall(r"@([a-z]+\d{4})", text))
    known = set(
        re.findall(r"\{([a-z]+\d{4}),", (project_folder("reports") / "references.bib").read_text())
    )
    assert cited <= known


def test_methods_name_what_the_records_name_and_nothing_else(folder):
    run = load_run(folder)
    told = closing.methods(run, write=str).text
    for record in run.records.select(TestRecord):
        said = re.sub(r"\(\d+ permutations", "(permutations", record.method)
        assert said.replace("clusters", "questions") in told
    kinds = {record.test for record in run.records.select(TestRecord)}
    assert "page_trend_test" not in kinds
    for absent in ("Page", "page1963", "Cochran", "McNemar", "gradescore2024", "fleiss1979"):
        assert absent not in told
    paired = {s.name for s in run.records.select(ResultSet)}
    assert ("Two one-sided tests" in told) is ("equivalence_of_spread" in paired)
    assert ("[@shrout1979]" in told) is ("icc1" in run.conditions)


def test_methods_name_a_test_with_its_source_where_it_was_used(folder):
    run = load_run(folder)
    first = next(iter(run.records.select(TestRecord)))
    made = {
        "page_trend_test": ("Page's trend test (999 permutations within clusters)", "page1963"),
        "cochran_q_test": ("Cochran's Q test", "cochran1950"),
        "mcnemar_test": ("McNemar's test, exact", "mcnemar1947"),
    }
    for kind, (method, source) in made.items():
        one = replace(first, test=kind, method=method)
        results = tuple(one if r is first else r for r in run.records.results)
        told = closing.methods(Run(run.folder, replace(run.records, results=results)), write=str)
        said = method.replace("999 permutations within clusters", "permutations within questions")
        assert f"{said} [@{source}]" in told.text
        assert f"@{source}" not in closing.methods(run).text
    roles = closing.methods(run, roles=("secondary",), write=str).text
    assert ("Blocked F test" in roles) is any(
        r.role == "secondary" and r.method.startswith("Blocked F")
        for r in run.records.select(TestRecord)
    )


def test_the_source_of_a_verdict_s_reliability_is_named_where_it_was_estimated():
    runs = {
        name: Run(Path("x"), SELECTIONS[name](np.random.default_rng(0), World()).records({}))
        for name in ("omega", "crowd")
    }
    assert "[@fleiss1979]" in closing.methods(runs["omega"]).text
    assert "fleiss1979" not in closing.methods(runs["crowd"]).text
    assert "[@cochran1950]" in closing.methods(runs["crowd"]).text


@pytest.mark.parametrize("kind", ["md", "tex", "docx"])
def test_methods_are_written_with_their_references(folder, tmp_path, kind, capsys):
    out = tmp_path / f"m.{kind}"
    assert main(["report", str(folder), "--methods", str(out)]) == 0
    assert "missing" in capsys.readouterr().out
    if kind == "docx":
        text = zipfile.ZipFile(out).read("word/document.xml").decode()
    else:
        text = out.read_text(encoding="utf-8")
    assert "Kottner" in text
    assert "Holm" in text
    assert "[@" not in text


def test_the_screen_shows_the_paragraph_and_refuses_another_format(folder, tmp_path, capsys):
    assert main(["report", str(folder), "--methods"]) == 0
    assert "**Design.**" in capsys.readouterr().out
    assert main(["report", str(folder), "--methods", str(tmp_path / "m.pdf")]) == 2
    assert ".md, .tex, .docx" in capsys.readouterr().err
