"""The tables of a new sqlite store: made by MLflow once a machine, copied from then on.

MLflow makes the tables of its first version and then alters them some sixty times, which takes
seconds at every new store. What it made is kept in the user's cache, under a name that changes with
MLflow's alterations.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import tempfile
from importlib.util import find_spec
from pathlib import Path


def kept_blank() -> Path | None:
    """Where the tables of the installed MLflow are or will be kept; None where it is not known."""
    mlflow = find_spec("mlflow")
    alterations = Path((mlflow and mlflow.origin) or "").parent / "store/db_migrations/versions"
    names = sorted(p.name for p in alterations.glob("*.py"))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    if not names or not cache.is_absolute():
        return None
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
    return cache / "judgestats" / f"mlflow-{digest[:16]}.db"


def make_blank(file: Path) -> None:
    """Make a store of tables without rows at `file`, by a copy where there is one to copy."""
    kept = kept_blank()
    if kept is not None and kept.is_file():
        shutil.copyfile(kept, file)
        return
    _make(file)
    if kept is not None:
        _keep(file, kept)


def keep_missing() -> None:
    """Make the tables for later stores, where this folder is about to get its first store.

    A guess by the settings alone: where it is wrong, the tables are there for the next store.
    """
    kept = kept_blank()
    uri = os.environ.get("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
    if kept is None or kept.exists() or not uri.startswith("sqlite:///"):
        return
    if Path(uri.removeprefix("sqlite:///")).exists():
        return
    with tempfile.TemporaryDirectory(prefix="judgestats-") as folder:
        made = Path(folder) / kept.name
        _make(made)
        _keep(made, kept)


def _make(file: Path) -> None:
    """Let MLflow make the tables in memory, without a write to the disk for each alteration."""
    import sqlalchemy
    from mlflow.store.db import utils

    engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.pool.StaticPool)
    try:
        utils._initialize_tables(engine)  # type: ignore[no-untyped-call]
        with contextlib.closing(sqlite3.connect(file)) as target:
            engine.raw_connection().driver_connection.backup(target)  # type: ignore[union-attr]
    finally:
        engine.dispose()


def _keep(made: Path, kept: Path) -> None:
    """Put a copy where later stores look; a cache that cannot be written costs seconds only."""
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        beside = kept.with_name(f".{kept.name}.{os.getpid()}")
        shutil.copyfile(made, beside)
        beside.replace(kept)  # whole at once, whoever else does the same
