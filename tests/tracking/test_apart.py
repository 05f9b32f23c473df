"""A run that another process writes: the same as one written here, and no end of either hurts."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from judgestats.errors import StoreError
from judgestats.tracking import writer_process as apart
from judgestats.tracking.runs import artifact_place
from judgestats.tracking.store import Place, open_store
from judgestats.tracking.writer_process import (
    StoreApart,
    asked,
    open_apart,
    write_run,
    writing_apart,
)


@pytest.fixture(scope="module")
def place(tmp_path_factory, store_template):
    """A folder to work in, whose store the other process and MLflow here know."""
    import mlflow

    folder = tmp_path_factory.mktemp("apart")
    shutil.copy(store_template, folder / "mlflow.db")
    uri, before = f"sqlite:///{folder / 'mlflow.db'}", mlflow.get_tracking_uri()
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("MLFLOW_"):
                patch.delenv(name)
        patch.setenv("MLFLOW_TRACKING_URI", uri)
        patch.chdir(folder)
        mlflow.set_tracking_uri(uri)
        yield folder
        mlflow.set_tracking_uri(before)


@pytest.fixture(scope="module")
def process(place):
    """The other process, which takes seconds to start."""
    made = apart._Process()
    yield made
    made.close()


def write(store: Place, folder: Path) -> str:
    """A run with a child and all that a run may hold; the id."""
    frame = pd.DataFrame({"item_id": ["a", "b"], "score": [1.0, float("nan")]})
    with write_run(store, name="parent", tags={"kind": "x"}) as run:
        run.numbers({"sem": 0.5, "gone": None}, params={"n": 3}, curves={"c": [(1, 2.0), (2, 3.0)]})
        run.dataset(frame, name="d", digest="0" * 40, source="d.csv", context="judged")
        with run.child(name="T=1", tags={"kind": "condition"}) as child:
            child.metrics({"sem": 0.4})
            child.params({"temperature": 1})
        run.artifacts(folder)
        (folder / "later.txt").write_text("later")
        run.artifacts(folder)
        assert run.children == [child.run_id]
        assert (asked(store, artifact_place, run.run_id) / "sub" / "a.txt").read_text() == "a"
    return run.run_id


def held(run_id: str) -> SimpleNamespace:
    """All of a run that two runs of the same content share."""
    import mlflow

    client = mlflow.MlflowClient()
    run = client.get_run(run_id)
    own = {k: v for k, v in run.data.tags.items() if not k.startswith("mlflow.parent")}
    return SimpleNamespace(
        tags=own,
        params=run.data.params,
        metrics=run.data.metrics,
        curve=[(m.step, m.value) for m in client.get_metric_history(run_id, "c")],
        status=run.info.status,
        files=sorted(f.path for f in client.list_artifacts(run_id)),
        data=[str(d.dataset) for d in run.inputs.dataset_inputs],
    )


def test_a_run_written_apart_is_the_run_written_here(place, process) -> None:
    for name in ("here", "there"):
        (place / name / "sub").mkdir(parents=True)
        (place / name / "sub" / "a.txt").write_text("a")
    here = write(open_store(), place / "here")
    there = write(store := StoreApart(process, ""), place / "there")
    assert held(there) == held(here)
    assert held(there).status == "FINISHED"
    assert (store.uri, store.experiment_name) == (open_store().uri, "judgestats")
    assert store.experiment_id == open_store().experiment_id


def test_files_told_before_the_store_is_open_are_logged_as_they_were(place, process) -> None:
    folder = place / "files"
    folder.mkdir()
    (folder / "a.txt").write_text("before")
    store = StoreApart(process, "")
    with write_run(store, name="r", tags={}) as run:
        assert not store.is_open
        run.artifacts(folder)
        (folder / "a.txt").write_text("after")
    place = artifact_place(open_store(), run.run_id)
    assert (place / "a.txt").read_text() == "before"


def test_what_fails_is_said_by_whoever_asks_next_and_the_run_is_ended(place, process) -> None:
    store = StoreApart(process, "")
    with (  # noqa: PT012
        pytest.raises(StoreError, match="failed while tags were written"),
        write_run(store, name="r", tags={}) as run,
    ):
        assert run.run_id
        run.tags({"k" * 2000: "longer than MLflow takes"})
        run.params({"after": "the fault"})
        assert run.children
    assert held(run.run_id).status == "FAILED"
    assert held(run.run_id).params == {}


def test_a_run_that_has_ended_keeps_its_status_whatever_follows(place, process) -> None:
    for store in (open_store(), StoreApart(process, "")):
        with (  # noqa: PT012
            pytest.raises(OSError, match="No space"),
            write_run(store, name="r", tags={}) as run,
        ):
            run_id = run.run_id
            run.finish("FINISHED")
            raise OSError(28, "No space left on device")
        assert held(run_id).status == "FINISHED"


def test_a_run_of_which_something_is_missing_is_not_finished(place, process) -> None:
    store = StoreApart(process, "")
    with (  # noqa: PT012
        pytest.raises(StoreError, match="failed while tags were written"),
        write_run(store, name="r", tags={}) as run,
    ):
        assert run.run_id
        assert store.uri
        run.tags({"k" * 2000: "longer than MLflow takes"})
        run.finish("FINISHED")
    assert held(run.run_id).status == "FAILED"


def test_a_store_that_cannot_be_opened_is_named_when_it_is_first_asked(place, monkeypatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "gopher://me:secret-0815@host/runs")
    process = apart._Process()
    try:
        store = StoreApart(process, "")
        with (  # noqa: PT012
            pytest.raises(StoreError, match="gopher://host/runs failed while it was opened"),
            write_run(store, name="r", tags={}) as run,
        ):
            run.params({"a": 1})
            assert run.run_id
    finally:
        process.close()


def test_an_interrupt_ends_the_run_as_killed(place, process) -> None:
    with (  # noqa: PT012
        pytest.raises(KeyboardInterrupt),
        write_run(StoreApart(process, ""), name="r", tags={}) as run,
    ):
        run_id = run.run_id
        raise KeyboardInterrupt
    assert held(run_id).status == "KILLED"


def test_an_interrupt_while_an_answer_is_awaited_ends_the_run_as_killed(place, monkeypatch) -> None:
    own, read, seen = apart._Process(), apart._read, []

    def interrupted(pipe):
        seen.append(pipe)
        if len(seen) == 3:  # the id and the store are known, the files are being logged
            pipe.read(3)
            raise KeyboardInterrupt
        return read(pipe)

    monkeypatch.setattr(apart, "_read", interrupted)
    (place / "some").mkdir()
    with (  # noqa: PT012
        pytest.raises(KeyboardInterrupt),
        write_run(StoreApart(own, ""), name="r", tags={}) as run,
    ):
        run_id = run.run_id
        assert run.store.uri
        run.artifacts(place / "some")
    scratch = Path(own._scratch.name)
    assert scratch.is_dir()
    own.close()
    assert held(run_id).status == "KILLED"
    assert not scratch.exists()


def test_a_run_whose_teller_has_gone_is_killed(place) -> None:
    process = apart._Process()
    run = write_run(StoreApart(process, ""), name="r", tags={})
    run_id = run.run_id
    process.close()
    assert held(run_id).status == "KILLED"


def test_where_mlflow_is_here_no_process_is_started(place, monkeypatch) -> None:
    def none() -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(apart, "_Process", none)
    assert "mlflow" in sys.modules
    with writing_apart():
        assert open_apart().uri == open_store().uri
    monkeypatch.delitem(sys.modules, "mlflow")
    with writing_apart(wanted=False):
        pass


@pytest.mark.skipif(os.name != "posix", reason="process groups are of POSIX")
def test_the_writer_hears_no_interrupt_of_the_terminal(process) -> None:
    assert os.getpgid(process._process.pid) != os.getpgid(0)


def test_a_writer_that_has_gone_is_told_in_one_sentence(place, process) -> None:
    store = StoreApart(process, "")
    assert store.uri
    process._process.kill()
    process._process.wait()
    with pytest.raises(StoreError, match="has ended"):
        _ = write_run(store, name="r", tags={}).run_id
