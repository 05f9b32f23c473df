"""What many tests share: an MLflow store made once, an empty folder to work in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# The suite tries the same examples every time; `make fuzz` others.
settings.register_profile("same examples", derandomize="JUDGESTATS_FUZZ" not in os.environ)
settings.load_profile("same examples")


@pytest.fixture(scope="session")
def store_template(tmp_path_factory) -> Path:
    """A freshly made sqlite store; making one costs seconds, copying it nothing."""
    import mlflow

    from judgestats.tracking.store import quiet_mlflow

    quiet_mlflow()
    folder = tmp_path_factory.mktemp("store")
    path = folder / "mlflow.db"
    client = mlflow.MlflowClient(f"sqlite:///{path}")
    client.search_experiments()
    return path


@pytest.fixture
def workplace(tmp_path, monkeypatch, store_template) -> Path:
    """An empty folder to run commands in, with its own tracking store and no keys."""
    import mlflow

    shutil.copy(store_template, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("MLFLOW_", "OPENAI_", "JUDGESTATS_")):
            monkeypatch.delenv(name)
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(uri)
    yield tmp_path
    mlflow.set_tracking_uri(before)
