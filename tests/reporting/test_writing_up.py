"""What a paper says of a run is what the run holds; what the run does not say is named."""

from __future__ import annotations

import re
import zipfile

import mlflow
import pytest

from judgestats.cli import main
from judgestats.experiment.design import project_folder
from judgestats.reporting.runs import load_run
from judgestats.reporting.writing_up import checklist, methods_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of an experiment without a store."""
    here = tmp_path_factory.mktemp("run")
    before = mlflow.get_tracking_uri()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{here}/m.db")
        mlflow.set_tracking_uri(f"sqlite:///{here}/m.db")
        given = ["--judges", "sim-typical,sim-noisy", "--limit", "6", "--replicates", "3"]
        assert main(["run", "judges", *given, "--resamples", "200", "--report", "none"]) == 0
    mlflow.set_tracking_uri(before)
    [results] = here.rglob("results.json")
    return results.parent


def test_the_paragraph_says_what_the_run_holds(folder):
    run = load_run(folder)
    text = methods_text(run)
    design, [sha] = run.design, run.facts["judges"][0]["prompt_sha"]
    assert f"{design['items']} answers to {design['clusters']} questions" in text
    assert f"judged {design['replicates']} times" in text
    assert f"Of {run.facts['account']['asked']:,} judgments" in text
    assert all(name in text for name in ("sim-typical", "sim-noisy", sha, "[@holm1979]"))
    assert "simulated: no model was asked" in text
    assert run.session["judgestats"] in text
    assert "independent judgments" not in text
    cited = set(re.findall(r"@([a-z]+\d{4})", text))
    known = set(
        re.findall(r"\{([a-z]+\d{4}),", (project_folder("reports") / "references.bib").read_text())
    )
    assert cited <= known


def test_the_checklist_tells_what_is_missing(folder):
    entries = {e.what: e for e in checklist(load_run(folder))}
    assert entries["The prompts, whole"].reported
    assert "icc_1_1" in entries["Reliability with its uncertainty"].where
    assert not entries["Agreement with people, and who they are"].reported
    assert not entries["Where it was served, and which build"].reported, "simulated"


@pytest.mark.parametrize("kind", ["md", "tex", "docx"])
def test_methods_are_written_with_their_references(folder, tmp_path, kind, capsys):
    out = tmp_path / f"m.{kind}"
    assert main(["methods", str(folder), "--out", str(out)]) == 0
    assert "missing" in capsys.readouterr().out
    if kind == "docx":
        text = zipfile.ZipFile(out).read("word/document.xml").decode()
    else:
        text = out.read_text(encoding="utf-8")
    assert "Kottner" in text
    assert "Holm" in text
    assert "[@" not in text


def test_the_screen_shows_the_paragraph_and_refuses_another_format(folder, tmp_path, capsys):
    assert main(["methods", str(folder)]) == 0
    assert "**Design.**" in capsys.readouterr().out
    assert main(["methods", str(folder), "--out", str(tmp_path / "m.pdf")]) == 2
    assert ".md, .tex, .docx" in capsys.readouterr().err
