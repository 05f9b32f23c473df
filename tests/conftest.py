"""What many tests share: an MLflow store made once, an empty folder to work in."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before numpy is imported: processes that test side by side wait for each other's threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell's background job ignores Ctrl-C, which tests send to themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The suite tries the same examples every time; `make fuzz` others.
settings.register_profile(  # no example fails for the time that a busy machine takes
    "same examples",
    derandomize="JUDGESTATS_FUZZ" not in os.environ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same examples")

gc.disable()  # while tests are collected, which makes no garbage


def pytest_collection_finish() -> None:
    """Spare what was collected from garbage collection: thousands of tests and all imports."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


@contextmanager
def _kept_tracking_uri() -> Iterator[None]:
    """MLflow keeps the last tracking URI of a process in the environment: undo that."""
    before = os.environ.get("MLFLOW_TRACKING_URI")
    yield
    if "mlflow" in sys.modules:
        import mlflow

        mlflow.set_tracking_uri(before)


@pytest.fixture(scope="module", autouse=True)
def _tracking_uri_of_module() -> Iterator[None]:
    with _kept_tracking_uri():
        yield


@pytest.fixture(autouse=True)
def _tracking_uri_of_test() -> Iterator[None]:
    with _kept_tracking_uri():
        yield


@pytest.fixture(scope="session")
def store_template(tmp_path_factory) -> Path:
    """A freshly made sqlite store; making one costs seconds, copying it nothing.

    The first of several processes that test at once lets MLflow make its tables.
    """
    import mlflow
    from sqlalchemy import Engine, event

    from judgestats.tracking import make_blank, quiet_mlflow

    @event.listens_for(Engine, "connect")
    def _(connection, _record) -> None:
        """MLflow commits forty times a run; no test cuts the power."""
        connection.execute("PRAGMA synchronous=OFF")

    quiet_mlflow()
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    with (shared / "store.lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
        make_blank(path)
    client = mlflow.MlflowClient(f"sqlite:///{path}")
    client.search_experiments()
    return path


@contextmanager
def _in_workplace(folder: Path, store_template: Path) -> Iterator[Path]:
    import mlflow

    shutil.copy(store_template, folder / "mlflow.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in list(os.environ):
            if name.startswith(("MLFLOW_", "OPENAI_", "JUDGESTATS_")):
                patch.delenv(name)
        uri = f"sqlite:///{folder / 'mlflow.db'}"
        patch.setenv("MLFLOW_TRACKING_URI", uri)
        mlflow.set_tracking_uri(uri)
        yield folder
        mlflow.set_tracking_uri(None)  # the default of the folder that is then the current one


@pytest.fixture
def workplace(tmp_path, store_template) -> Iterator[Path]:
    """An empty folder to run commands in, with its own tracking store and no keys."""
    with _in_workplace(tmp_path, store_template) as folder:
        yield folder


@pytest.fixture(scope="module")
def module_workplace(tmp_path_factory, store_template) -> Iterator[Path]:
    """The same for a run that several tests of a module look at."""
    with _in_workplace(tmp_path_factory.mktemp("module"), store_template) as folder:
        yield folder


@pytest.fixture
def quick_batches(monkeypatch) -> None:
    """Batches are looked at at once: a test's server needs no time for them."""
    from judgestats.collection import Limits

    quick = partial(Limits, first_s=0.01)
    monkeypatch.setattr("judgestats.collection.batches.work.Limits", quick)
