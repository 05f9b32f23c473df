"""A new store's tables: copied from what MLflow made before, the same as it makes anew."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from judgestats.tracking import make_blank, schema_path


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


def tables(file: Path) -> list[tuple[str, list[str]]]:
    """What makes the tables and their indexes, and the version that MLflow asks for.

    Lines are sorted: Alembic writes the constraints of a table that it copies in any order.
    """
    db = sqlite3.connect(file)
    made = db.execute("SELECT name, sql FROM sqlite_master").fetchall()
    made += db.execute("SELECT 'version', version_num FROM alembic_version").fetchall()
    db.close()
    return sorted((name, sorted((sql or "").replace(",", "").split("\n"))) for name, sql in made)


def test_the_first_store_is_kept_and_the_next_is_a_copy_that_mlflow_takes_as_its_own(
    tmp_path, cache, store_template, monkeypatch
) -> None:
    import mlflow
    from mlflow.store.db import utils

    make_blank(tmp_path / "a.db")
    kept = schema_path()
    assert kept is not None
    assert [p.name for p in (cache / "judgestats").iterdir()] == [kept.name]

    def again(_: object) -> None:
        raise AssertionError("the tables were made once more")

    monkeypatch.setattr(utils, "_initialize_tables", again)
    make_blank(tmp_path / "b.db")
    assert tables(tmp_path / "b.db") == tables(store_template)
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path / 'b.db'}")
    assert [e.name for e in client.search_experiments()] == ["Default"]


def test_a_cache_that_cannot_be_written_costs_no_store(tmp_path, cache) -> None:
    cache.write_text("a file, not a folder")
    make_blank(tmp_path / "a.db")
    assert "version" in dict(tables(tmp_path / "a.db"))
    assert not (tmp_path / "cache" / "judgestats").exists()
