"""Tracking store and its cached schema."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judgestats.deadlines import announce_wait
from judgestats.errors import JudgestatsError, StoreError
from judgestats.redaction import keep_secrets_of
from judgestats.tracking.project_env import EXPERIMENT_NAME

ADOPTED_RUN = "MLFLOW_RUN_ID"
"""The variable by which ``mlflow run`` names the run that it has opened for us."""


def schema_path() -> Path | None:
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
    kept = schema_path()
    if kept is not None and kept.is_file():
        shutil.copyfile(kept, file)
        return
    _make(file)
    if kept is not None:
        _keep(file, kept)


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


_IMPORT_SECONDS = 60.0


class _Import(threading.Thread):
    """Imports MLflow and its SQL store."""

    def __init__(self) -> None:
        super().__init__(name="judgestats-mlflow", daemon=True)
        self.fault: Exception | None = None

    def run(self) -> None:
        try:
            import mlflow.data.pandas_dataset
            import mlflow.store.tracking.sqlalchemy_store  # noqa: F401
        except Exception as error:  # raised by `open_store`
            self.fault = error


_import: list[_Import] = []
"""The thread that imports MLflow, while `open_store` has not joined it."""


def start_import() -> None:
    """Import MLflow in a thread while the program waits for a network or a disk."""
    if not _import and "mlflow.store.tracking.sqlalchemy_store" not in sys.modules:
        _import.append(thread := _Import())
        thread.start()


def _finish_import() -> None:
    """Wait for what `start_import` began, and raise what went wrong there."""
    if _import:
        thread = _import.pop()
        thread.join(_IMPORT_SECONDS)  # after it, the main thread imports MLflow itself
        if thread.fault is not None:
            raise thread.fault


@dataclass(frozen=True, kw_only=True)
class Store:
    """An open tracking store.

    Attributes
    ----------
    client : mlflow.MlflowClient
    uri : str
        The tracking URI, without a user's name or password.
    experiment_id, experiment_name : str
    adopted_run : str
        The run that ``mlflow run`` has opened for us, or empty.
    """

    client: Any
    uri: str
    experiment_id: str
    experiment_name: str
    adopted_run: str = ""


def redact_uri(uri: str) -> str:
    """A URI with the user's name, password and query cut out.

    Examples
    --------
    >>> redact_uri("postgresql://me:secret@db:5432/runs?token=1")
    'postgresql://db:5432/runs'
    """
    scheme, mark, rest = uri.partition("?")[0].partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{mark}{authority.rpartition('@')[2]}{slash}{path}"


@contextmanager
def store_faults(doing: str) -> Iterator[None]:
    """Turn whatever a tracking store throws into one clear sentence.

    MLflow does not wrap the exceptions of the database, the file system, or the network. The catch
    is therefore broad, and the cause stays attached.
    """
    try:
        yield
    except JudgestatsError:
        raise  # a clear sentence already
    except Exception as error:
        import mlflow

        keep_secrets_of()
        text = str(error).strip().splitlines() or [type(error).__name__]
        where = redact_uri(mlflow.get_tracking_uri())
        raise StoreError(
            f"the tracking store {where} failed while {doing}: {text[0][:300]}. Check that it can "
            "be written to, or set MLFLOW_TRACKING_URI to another one."
        ) from None  # MLflow's own words quote the whole address, its password included


_HTTP_LIMITS = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "10", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2"}
"""Of a tracking server, unless the user set them."""


def quiet_mlflow() -> None:
    """MLflow and its database migrations report each step of routine work; results are the news."""
    # a bar for each folder of files would stand between the user and the results
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    for name, value in _HTTP_LIMITS.items():
        os.environ.setdefault(name, value)
    for name in ("alembic", "mlflow.store.db.utils", "mlflow.tracking.fluent"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("mlflow.store.db.utils").addFilter(_not_told_twice)


def _not_told_twice(record: logging.LogRecord) -> bool:
    """MLflow logs a database's fault with its traceback and raises it too; raising is enough."""
    return record.levelno < logging.ERROR


def _sqlite_file(uri: str) -> Path | None:
    """The file of an sqlite store; None for other stores and for sqlite's own forms of address."""
    if not uri.startswith("sqlite:///"):
        return None
    path = uri.removeprefix("sqlite:///").split("?", 1)[0]
    return None if path.startswith((":", "file:")) or not path else Path(path)


def _check_file(uri: str, *, existing: bool) -> None:
    """Find out at once what MLflow would find out in minutes: it tries ten times to open a file."""
    file = _sqlite_file(uri)
    if file is None:
        return
    if file.exists() and not file.is_file():
        raise StoreError(
            f"the tracking store {redact_uri(uri)} is not a plain file. Set MLFLOW_TRACKING_URI to "
            "another store."
        )
    if file.is_file() and file.stat().st_size:
        _check_free(file)
    if existing and not file.is_file():
        raise StoreError(
            f"there is no tracking store {redact_uri(uri)}. Go to the folder where the run "
            "was made, or set MLFLOW_TRACKING_URI to the store that has it."
        )
    folder = next(p for p in (file.absolute().parent, *file.absolute().parents) if p.exists())
    if existing or (os.access(folder, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))):
        return
    raise StoreError(
        f"the tracking store {redact_uri(uri)} cannot be written to. Go to a folder where you "
        "may write, or set MLFLOW_TRACKING_URI to another store."
    )


def _check_free(file: Path) -> None:
    """Wait for another process to release a store; MLflow would retry for minutes."""
    with (
        announce_wait(str(file)),
        contextlib.closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        ) as db,
    ):
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise StoreError(f"Another process holds {file}. Repeat this step.") from None


_BUSY_SECONDS = 5.0


def _store_make(uri: str) -> None:
    """Make the file of a new sqlite store under another name, and move it when complete.

    MLflow makes tables and then alters them for seconds. A file that is interrupted in between can
    be neither opened nor repaired.
    """
    file = _sqlite_file(uri)
    if file is None or file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".judgestats-", dir=file.parent) as beside:
        made = Path(beside) / file.name
        make_blank(made)
        with contextlib.suppress(FileExistsError):  # another process made one meanwhile: it stays
            os.link(made, file)


def _experiment(client: Any, name: str) -> str:
    """The id of the experiment of that name, made where there is none.

    Where several runs begin at once on a fresh server, all see none and one of them makes it.
    """
    from mlflow.exceptions import MlflowException

    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        try:
            return str(client.create_experiment(name))
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
            experiment = client.get_experiment_by_name(name)
            if experiment is None:  # it stands there deleted
                raise
    return str(experiment.experiment_id)


_KIND, _OPENS_ON_RUNS = "mlflow.experimentKind", "custom_model_development"


def _open_on_runs(client: Any, experiment_id: str) -> None:
    """Let MLflow's page of the experiment show its runs, not the traces: there are none.

    What the user chose there stays.
    """
    if _KIND not in client.get_experiment(experiment_id).tags:
        client.set_experiment_tag(experiment_id, _KIND, _OPENS_ON_RUNS)


def open_store(*, existing: bool = False) -> Store:
    """Open the tracking store that MLflow's settings name, and prove that it can be written to.

    The experiment is ``MLFLOW_EXPERIMENT_ID`` or ``_NAME``, otherwise ``judgestats``.

    Parameters
    ----------
    existing : bool
        Only to read: nothing is made or written, and a file that is not there is an error.

    Returns
    -------
    Store

    Raises
    ------
    StoreError
        The store cannot be reached or written to.
    """
    _finish_import()
    import mlflow
    from mlflow import MlflowClient

    quiet_mlflow()
    keep_secrets_of()
    with store_faults("it was opened"):
        _check_file(mlflow.get_tracking_uri(), existing=existing)
        if existing:
            return Store(
                client=MlflowClient(),
                uri=redact_uri(mlflow.get_tracking_uri()),
                experiment_id="",
                experiment_name="",
            )
        _store_make(mlflow.get_tracking_uri())
        client = MlflowClient()
        adopted = os.environ.get(ADOPTED_RUN, "")
        if adopted:
            experiment_id = client.get_run(adopted).info.experiment_id
            name = client.get_experiment(experiment_id).name
        elif os.environ.get("MLFLOW_EXPERIMENT_ID"):
            experiment_id = os.environ["MLFLOW_EXPERIMENT_ID"]
            name = client.get_experiment(experiment_id).name
        else:
            name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT_NAME
            experiment_id = _experiment(client, name)
        client.set_experiment_tag(experiment_id, "judgestats", "true")  # proves it is writable
        _open_on_runs(client, experiment_id)
        return Store(
            client=client,
            uri=redact_uri(mlflow.get_tracking_uri()),
            experiment_id=str(experiment_id),
            experiment_name=name,
            adopted_run=adopted,
        )


def open_audit_store(experiment_id: str) -> Store:
    """The store, opened on the experiment of what is audited, unless MLflow's settings name one.

    Parameters
    ----------
    experiment_id : str
        Empty where what is audited is of no experiment, or of several.

    Returns
    -------
    Store
    """
    named = (ADOPTED_RUN, "MLFLOW_EXPERIMENT_ID", "MLFLOW_EXPERIMENT_NAME")
    if not experiment_id or any(os.environ.get(name) for name in named):
        return open_store()
    there = open_store(existing=True)
    with store_faults("an experiment was looked up"):
        name = there.client.get_experiment(experiment_id).name
    return replace(there, experiment_id=experiment_id, experiment_name=name)
