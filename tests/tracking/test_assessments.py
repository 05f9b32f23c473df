"""Judges' assessments straight from an MLflow run."""

from __future__ import annotations

import json
from pathlib import Path

import mlflow
import pytest

from judgestats.errors import InputError
from judgestats.tracking import assessments
from judgestats.tracking.assessments import is_run_id, run_assessments, stored_runs

TRACES = Path(__file__).parents[1] / "judgments" / "fixtures" / "mlflow" / "traces.jsonl"


@pytest.fixture
def run_id(workplace):
    with mlflow.start_run() as run:
        pass
    return run.info.run_id


def test_assessments_of_a_run_are_judgments(run_id, monkeypatch):
    """The traces are those that MLflow wrote for one evaluation, as the store would return them."""
    listed = [json.loads(line) for line in TRACES.read_text().splitlines()]
    own = listed[0]["info"]["trace_metadata"]["mlflow.sourceRun"]
    one = [t for t in listed if t["info"]["trace_metadata"]["mlflow.sourceRun"] == own]
    asked = []

    def traces(client, experiment, run):
        asked.append(run)
        return one

    monkeypatch.setattr(assessments, "_traces", traces)
    found = run_assessments(f"runs:/{run_id}")
    assert asked == [run_id]
    assert len(found) == 24
    assert set(found["replicate"]) == {0}
    assert found.attrs["reader"] == "mlflow"


@pytest.fixture
def evaluations(workplace, monkeypatch):
    """Two runs of one experiment in a local store, each with a judge's verdicts on 6 answers."""
    from mlflow.entities import AssessmentSource

    monkeypatch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
    judge = AssessmentSource(source_type="LLM_JUDGE", source_id="openai:/gpt-x")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", mlflow.create_experiment("evals"))
    mlflow.create_experiment("other")
    ids = []
    for number in range(2):
        with mlflow.start_run() as run:
            for i in range(6):
                with mlflow.start_span("root") as span:
                    span.set_inputs({"question": f"q{i}"})
                    span.set_outputs(f"answer {i}")
                said = "yes" if (i + number) % 3 else "no"
                mlflow.log_feedback(
                    trace_id=span.trace_id, name="correct", value=said, source=judge
                )
        ids.append(run.info.run_id)
    with mlflow.start_run():
        pass  # a run without traces is no evaluation
    monkeypatch.delenv("MLFLOW_EXPERIMENT_ID")
    return ids


@pytest.mark.filterwarnings("ignore")  # of MLflow: one that is an error loses its traces
def test_runs_or_their_experiment_are_repetitions(evaluations, capsys):
    """From a real local store, through the command and in Python."""
    import judgestats as js
    from judgestats.cli import main

    assert stored_runs("experiments:/evals") == evaluations
    several, whole = js.read_judgments(evaluations), js.read_judgments("experiments:/evals")
    assert sorted(several["replicate"]) == [0] * 6 + [1] * 6
    assert several["choice"].tolist() == whole["choice"].tolist()
    assert several["choice"].value_counts().to_dict() == {"yes": 8, "no": 4}
    words = ["--report", "none", "--resamples", "99", "--full"]
    assert main(["analyze", *evaluations, *words]) == 0
    said = capsys.readouterr().out
    assert "Read 12 judgments of 6 items" in said
    assert "2 runs were read as repetitions of one another" in said
    assert main(["analyze", "experiments:/evals", *words]) == 0
    assert "asked again it changes" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"no experiment .eval.*Did you mean evals"):
        stored_runs("experiments:/eval")
    with pytest.raises(InputError, match=r"none of the 0 runs .*has traces"):
        js.read_judgments("experiments:/other")


def test_a_run_without_traces_and_a_run_that_is_not_there(run_id):
    with pytest.raises(InputError, match="has no traces"):
        run_assessments(run_id)
    with pytest.raises(InputError, match="no file and no run"):
        run_assessments("0" * 32)


def test_what_a_run_id_is():
    assert is_run_id("0" * 32)
    assert not is_run_id("my.csv")
