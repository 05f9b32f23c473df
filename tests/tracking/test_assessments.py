"""Judges' assessments straight from an MLflow run."""

from __future__ import annotations

import json
from pathlib import Path

import mlflow
import pytest

from judgestats.errors import InputError
from judgestats.tracking import assessments
from judgestats.tracking.assessments import is_run_id, run_assessments

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


def test_a_run_without_traces_and_a_run_that_is_not_there(run_id):
    with pytest.raises(InputError, match="has no traces"):
        run_assessments(run_id)
    with pytest.raises(InputError, match="no file and no run"):
        run_assessments("0" * 32)


def test_what_a_run_id_is():
    assert is_run_id("0" * 32)
    assert not is_run_id("my.csv")
