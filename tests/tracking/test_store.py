"""The tracking store: names it takes, and faults told at once and in one sentence."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

import pytest

from judgestats.errors import InputError, StoreError
from judgestats.tracking import RunWriter, Store, key, open_store, run_folder, store_faults


@pytest.mark.parametrize(
    "text",
    [
        "spread/p_value/my-model@http://localhost:8000/v1",
        "curve/variance/a@https://host/v1/, T=0.3",
        "judge//model",
        "../spread",
        "/spread/",
        "..",
        "",
    ],
)
def test_every_key_is_a_path_that_names_one_place(text: str) -> None:
    made = key(text)
    assert posixpath.normpath(made) == made
    assert made not in {".", ".."}
    assert not made.startswith("/")


def test_judges_at_different_addresses_keep_different_keys() -> None:
    assert key("a@http://localhost:8000/v1") != key("a@http://localhost:8001/v1")


def test_looking_up_a_run_makes_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    file = tmp_path / "none.db"
    before = mlflow.get_tracking_uri()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{file}")
    mlflow.set_tracking_uri(f"sqlite:///{file}")  # it goes before the variable
    try:
        with pytest.raises(StoreError, match="there is no tracking store"):
            run_folder("0123456789", tmp_path)
    finally:
        mlflow.set_tracking_uri(before)
    assert not file.exists()


def test_a_store_that_cannot_be_written_to_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'runs.db'}")
    monkeypatch.setattr("judgestats.tracking.store.os.access", lambda *_: False)
    with pytest.raises(StoreError, match="cannot be written to"):
        open_store()
    assert not (tmp_path / "runs.db").exists()


def test_an_address_that_is_none_is_a_store_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@[")
    with pytest.raises(
        StoreError, match=r"^the tracking store http://\[ failed while it was opened"
    ):
        open_store()


def test_a_clear_sentence_is_not_wrapped_in_another() -> None:
    with pytest.raises(InputError, match=r"^there is no run$"), store_faults("looked up"):
        raise InputError("there is no run")


def test_runs_that_begin_at_once_share_the_experiment(workplace, monkeypatch) -> None:
    """On a fresh server all of them see no experiment, and one of them makes it."""
    import mlflow

    from judgestats.tracking import open_store

    first = open_store()
    seen = []
    inner = mlflow.MlflowClient.get_experiment_by_name

    def late(self, name):
        seen.append(name)
        return None if len(seen) == 1 else inner(self, name)

    monkeypatch.setattr(mlflow.MlflowClient, "get_experiment_by_name", late)
    assert open_store().experiment_id == first.experiment_id
    assert len(seen) == 2


def test_runs_that_name_one_dataset_at_once_share_it(workplace, monkeypatch) -> None:
    """MLflow looks whether the database has the dataset, then adds it: another may be faster."""
    import mlflow
    import pandas as pd
    from sqlalchemy import event
    from sqlalchemy.orm import Session

    from judgestats.tracking import RunWriter

    store = open_store()
    named = {"name": "items", "digest": "0123", "source": "items", "context": "items"}
    said = []

    def faster(session, *_):
        """The first to add the dataset finds that another run has done so meanwhile."""
        new = [o for o in session.new if type(o).__name__ == "SqlDataset"]
        if new and not said:
            said.append(new[0].dataset_uuid)
            columns = {c.name: getattr(new[0], c.name) for c in new[0].__table__.columns}
            session.execute(new[0].__table__.insert().values({**columns, "dataset_uuid": "faster"}))

    event.listen(Session, "before_flush", faster)
    try:
        with RunWriter(store, name="a", tags={}) as run:
            run.dataset(pd.DataFrame({"x": [1]}), **named)
    finally:
        event.remove(Session, "before_flush", faster)
    assert said
    (entry,) = mlflow.get_run(run.run_id).inputs.dataset_inputs
    assert (entry.dataset.name, entry.dataset.digest) == ("items", "0123")


def test_a_store_whose_making_was_interrupted_is_made_anew(tmp_path, monkeypatch) -> None:
    """MLflow has made its tables and not yet altered them when Ctrl-C comes."""
    import mlflow
    import mlflow.store.db.utils as making

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file, before = tmp_path / "new" / "runs.db", mlflow.get_tracking_uri()

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    mlflow.set_tracking_uri(f"sqlite:///{file}")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(making, "_upgrade_db", interrupted)
            with pytest.raises(KeyboardInterrupt):
                open_store()
        assert list(file.parent.iterdir()) == []
        store = open_store()
        assert store.client.get_experiment(store.experiment_id).name == store.experiment_name
        assert [p.name for p in file.parent.iterdir()] == ["runs.db"]
    finally:
        mlflow.set_tracking_uri(before)


def test_a_store_that_goes_away_in_a_run_loses_nothing(workplace, capsys, monkeypatch) -> None:
    from judgestats.cli import main
    from judgestats.runner import record

    words = ["run", "temperature", "--judges", "sim-typical", "--limit", "3"]
    words += ["--repeats", "2", "--temperatures", "0,1", "--resamples", "99"]
    whole, log_results = (workplace / "mlflow.db").read_bytes(), record.log_results

    def without_store(*given: object) -> object:
        (workplace / "mlflow.db").write_bytes(b"")
        return log_results(*given)

    monkeypatch.setattr(record, "log_results", without_store)
    assert main([*words, "--report", "none"]) == 5
    told = capsys.readouterr().err
    assert re.search(r"failed while \w+ (was|were) written", told)
    assert told.count("failed while") == 1
    assert "Traceback" not in told
    kept = Path(told.split("files are kept in ")[1].split(" ")[0])
    assert (kept / "data" / "judgments.parquet").is_file()
    assert main(["report", str(kept), "--to", "md", "--out", "again"]) == 0

    (workplace / "mlflow.db").write_bytes(whole)
    monkeypatch.undo()
    monkeypatch.chdir(workplace)
    capsys.readouterr()
    assert main([*words, "--report", "none"]) == 0
    assert "12 from the journal" in capsys.readouterr().err


def test_a_server_that_ends_a_run_prints_nothing_amid_our_document(capsys, monkeypatch) -> None:
    from mlflow import MlflowClient
    from mlflow.store.tracking.rest_store import RestStore

    from judgestats.runner import Links

    ended = []
    monkeypatch.setattr(RestStore, "log_batch", lambda *_, **__: None)
    monkeypatch.setattr(RestStore, "update_run_info", lambda *_, **given: ended.append(given))
    before = {k: v for k, v in os.environ.items() if "TELEMETRY" not in k}  # MLflow's own
    uri = "http://mlflow.example:5000"
    client = MlflowClient(uri)
    store = Store(client=client, uri=uri, experiment_id="1", experiment_name="mine")
    with RunWriter(store, name="mine", run_id="0123456789abcdef" * 2) as run:
        pass
    assert ended
    assert capsys.readouterr().out == ""
    assert {k: v for k, v in os.environ.items() if "TELEMETRY" not in k} == before
    command, page = Links(run.run_id, store, reports={"html": "s3://b/report.html"}).short()
    assert command == "judgestats show 01234567 · judgestats view 01234567"
    assert page.startswith(f"{uri}/#/experiments/1/runs/{run.run_id}")
