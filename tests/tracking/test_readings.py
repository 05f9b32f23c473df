"""What MLflow shows first: the answer."""

from __future__ import annotations

import os

from judgestats.results import Results
from judgestats.tracking import RunWriter, answer_note, open_store

FOUND = Results(
    experiment="x",
    question="Does it?",
    finding="It does.",
    results=(),
    facts={"simulated": True},
)


def test_the_description_begins_with_the_answer() -> None:
    assert answer_note(FOUND).splitlines()[0] == r"**It does\.**"
    assert "SIMULATED" in answer_note(FOUND)


def test_a_run_and_its_experiment_open_on_the_answer(workplace) -> None:
    store = open_store()
    with RunWriter(store, name="r") as run:
        run.answered(FOUND)
        run.numbers({"cost/usd": 1.0})
    kept = store.client.get_run(run.run_id)
    assert kept.data.tags["mlflow.note.content"].startswith(r"**It does\.**")
    assert kept.data.metrics == {"cost_usd": 1.0}  # no number under a name made from prose
    experiment = store.client.get_experiment(store.experiment_id)
    assert experiment.tags["mlflow.experimentKind"] == "custom_model_development"
    store.client.set_experiment_tag(
        store.experiment_id, "mlflow.experimentKind", "genai_development"
    )
    open_store()  # what the user chose stays
    experiment = store.client.get_experiment(store.experiment_id)
    assert experiment.tags["mlflow.experimentKind"] == "genai_development"
    assert os.environ["MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR"] == "false"
