"""Judges' assessments straight from an MLflow run."""

import json
from pathlib import Path

import mlflow
import pytest

from judgestats.errors import InputError
from judgestats.tracking import is_run_id, stored_assessments
from judgestats.tracking import traces as assessments

TRACES = Path(__file__).parents[1] / "data" / "fixtures" / "mlflow" / "traces.jsonl"


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
    one = json.loads(json.dumps(one).replace(own, run_id))
    asked = []

    def traces(client, experiment, run):
        asked.append(run)
        return one

    monkeypatch.setattr(assessments, "_traces", traces)
    found = stored_assessments([f"runs:/{run_id}"])
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

    several, whole = (
        js.read_judgments(what).sort_values(["item_id", "replicate"], kind="stable")
        for what in (evaluations, "experiments:/evals")
    )
    assert sorted(several["replicate"]) == [0] * 6 + [1] * 6
    assert several["choice"].tolist() == whole["choice"].tolist()
    assert several["choice"].value_counts().to_dict() == {"yes": 8, "no": 4}
    words = ["--report", "none", "--resamples", "99", "--all"]
    assert main(["analyze", *evaluations, *words]) == 0
    said = capsys.readouterr().out
    assert "Read 12 judgments of 6 items" in said
    assert "2 runs were interpreted as repetitions of one another" in said
    assert main(["analyze", "experiments:/evals", *words]) == 0
    assert "Flip rate" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"no experiment .eval.*Did you mean evals"):
        js.read_judgments("experiments:/eval")
    with pytest.raises(InputError, match="other has no traces"):
        js.read_judgments("experiments:/other")


@pytest.fixture
def production(workplace, monkeypatch):
    """Traces of no run: two judgments of each by one judge, and what a person said of most."""
    from mlflow.entities import AssessmentSource

    monkeypatch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
    experiment = mlflow.create_experiment("support bot")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", experiment)
    judge = AssessmentSource(source_type="LLM_JUDGE", source_id="openai:/gpt-x")
    person = AssessmentSource(source_type="HUMAN", source_id="ann")
    ids = []
    for i in range(12):
        with mlflow.start_span("bot") as span:
            span.set_inputs({"question": f"q{i}"})
            span.set_outputs(f"answer {i}")
        ids.append(span.trace_id)
        for said in (i % 3 > 0, i % 4 > 0):
            mlflow.log_feedback(trace_id=ids[-1], name="correct", value=said, source=judge)
        if i < 10:
            mlflow.log_feedback(trace_id=ids[-1], name="correct", value=i % 2 > 0, source=person)
        mlflow.log_feedback(trace_id=ids[-1], name="kind", value="short", source=person)
    yield experiment, ids
    monkeypatch.undo()
    mlflow.tracking.fluent._active_experiment_id = None


@pytest.mark.filterwarnings("ignore")  # of MLflow: one that is an error loses its traces
def test_an_experiments_traces_are_audited_in_place(production, capsys):
    """Human feedback are labels; the audit is a run of the same experiment with its traces."""
    import judgestats as js
    from judgestats.cli import main

    experiment, ids = production
    frame = js.read_judgments("experiments:/support bot")
    assert frame["replicate"].value_counts().to_dict() == {0: 12, 1: 12}
    assert (frame["label"] != "").sum() == 20
    assert set(frame["trace_id"]) == set(ids)
    words = ["--report", "none", "--resamples", "99", "--all"]
    assert main(["analyze", "experiments:/support bot", *words]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Human feedback kind labels no judgment" in said
    assert "TPR" in said
    client = mlflow.MlflowClient()
    [run] = client.search_runs([experiment], "tags.`judgestats.kind` = 'audit'")
    assert run.data.tags["judgestats.traces"] == "12"
    linked = client.search_traces(locations=[experiment], run_id=run.info.run_id)
    assert {t.info.trace_id for t in linked} == set(ids)
    # the audit adds nothing to what is read the next time
    assert len(js.read_judgments("experiments:/support bot")) == 24


@pytest.mark.filterwarnings("ignore")
def test_of_a_run_only_its_own_judgments_are_read(production):
    """Two evaluations of the same traces: each run's judge, and the person, but not the other's."""
    import judgestats as js

    experiment, _ = production
    traces = mlflow.search_traces(locations=[experiment], return_type="list", max_results=3)

    def evaluated(value):
        """As mlflow.genai.evaluate leaves them: the run is linked and named by its feedback."""
        from mlflow.entities import AssessmentSource

        with mlflow.start_run() as run:
            pass
        ids = [t.info.trace_id for t in traces]
        mlflow.MlflowClient().link_traces_to_run(ids, run.info.run_id)
        for trace in ids:
            mlflow.log_feedback(
                trace_id=trace,
                name="correct",
                value=value,
                source=AssessmentSource(source_type="LLM_JUDGE", source_id="openai:/gpt-x"),
                metadata={"mlflow.assessment.sourceRunId": run.info.run_id},
            )
        return run.info.run_id

    first, second = evaluated(True), evaluated(False)
    production_too = js.read_judgments(first)
    assert production_too["choice"].tolist().count("yes") >= 3
    assert len(production_too) == len(js.read_judgments(second)) == 9
    assert len(js.read_judgments([first, second])) == 12


def test_a_run_without_traces_and_a_run_that_is_not_there(run_id):
    with pytest.raises(InputError, match="has no traces"):
        stored_assessments([run_id])
    with pytest.raises(InputError, match="no file and no run"):
        stored_assessments(["0" * 32])


def test_what_a_run_id_is():
    assert is_run_id("0" * 32)
    assert not is_run_id("my.csv")


@pytest.mark.filterwarnings("ignore")  # of MLflow: one that is an error loses its traces
def test_scores_of_items_are_pushed_to_traces_once(evaluations, capsys):
    from judgestats.cli import main

    for ledger in ("first.db", "second.db"):
        assert main(["push", *evaluations, "--to", "mlflow", "--yes", "--ledger", ledger]) == 0
    traces = [
        t
        for run in evaluations
        for t in mlflow.search_traces(
            locations=[mlflow.get_experiment_by_name("evals").experiment_id],
            run_id=run,
            return_type="list",
        )
    ]
    for trace in traces:
        own = [a for a in trace.info.assessments if a.name.startswith("judgestats.")]
        assert sorted(a.name for a in own) == [
            "judgestats.flip_probability",
            "judgestats.vote_share",
        ]
        assert {a.source.source_type for a in own} == {"CODE"}
    flips = {a.value for t in traces for a in t.info.assessments if "flip" in a.name}
    assert flips == {0.0, 1.0}
