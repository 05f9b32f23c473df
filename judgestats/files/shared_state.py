"""State that several processes change: SQLite files, one transaction per change."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from judgestats.deadlines import announce_wait
from judgestats.errors import InputError, StoreError
from judgestats.files.guarded import plain_file
from judgestats.files.text import clean, short

BUSY_SECONDS = 5.0
"""How long a process waits for another one's transaction."""
_POLL_SECONDS = 0.01
_MAGIC = b"SQLite format 3\0"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Layout:
    """A kind of state: its name in messages, SQLite's application id, and its tables.

    Attributes
    ----------
    name : str
        As in "FILE is no ... ".
    application_id : int
        In the header of its files.
    tables : sequence of str
        One ``CREATE TABLE`` each. A file with other tables, views or triggers is refused.
    """

    name: str
    application_id: int
    tables: tuple[str, ...]

    def layout_error(self, path: Path, why: str) -> InputError:
        """The error about a file that does not hold this state."""
        return InputError(
            f"{path} is no {self.name} ({why}). Name another file, or restore this one."
        )


@contextmanager
def transaction(path: Path, layout: Layout, *, create: bool = True) -> Iterator[sqlite3.Connection]:
    """Change a state: at its end, all writes of the block are on the disk, or none.

    Parameters
    ----------
    path : Path
    layout : Layout
    create : bool
        Make the file where there is none.

    Yields
    ------
    sqlite3.Connection
        Inside ``BEGIN IMMEDIATE``: a second process waits up to `BUSY_SECONDS`.

    Raises
    ------
    InputError
        The file is not there, or is no such state.
    StoreError
        Another process holds it, or the disk refuses it.
    """
    if path.exists():
        _check_head(path, layout)
    elif not create:
        raise InputError(f"{path}: there is no such file.")
    elif not path.parent.is_dir():
        raise StoreError(f"{path}: not written (no such folder). Name another file or folder.")
    try:
        # absolute, since SQLite takes a file called ":memory:" for no file at all
        db = sqlite3.connect(path.absolute(), isolation_level=None, timeout=BUSY_SECONDS)
        with closing(db), announce_wait(str(path)):
            _prepare(db, path)
            db.execute("BEGIN IMMEDIATE")
            try:
                _check_tables(db, path, layout)
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _fault(error, path, layout) from error


def application_id(path: Path) -> int:
    """SQLite's application id in the header of a file; 0 for anything but a database file."""
    try:
        if not path.is_file():  # a pipe would wait for who writes
            return 0
        with path.open("rb") as file:
            head = file.read(100)
    except (OSError, ValueError):
        return 0
    return int.from_bytes(head[68:72], "big") if head.startswith(_MAGIC) else 0


def is_state(path: Path, layout: Layout) -> bool:
    """Whether a file is a state of this kind, by its header."""
    try:
        _check_head(path, layout)
    except (InputError, StoreError):
        return False
    return True


def _is_foreign(path: Path, layout: Layout) -> bool:
    """Whether a database is another program's; it is not changed to find out."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            db.execute("BEGIN")  # one snapshot: another process may be making the tables
            (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (number,) = db.execute("PRAGMA application_id").fetchone()
    except sqlite3.Error as error:
        if "locked" in str(error) or "busy" in str(error):
            return False
        raise _fault(error, path, layout) from None
    return bool(number not in {0, layout.application_id} or (number == 0 and tables))


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    db.text_factory = lambda raw: clean(raw.decode("utf-8"))
    db.execute("PRAGMA trusted_schema=OFF")
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            (mode,) = db.execute("PRAGMA journal_mode=WAL").fetchone()
            break
        except sqlite3.OperationalError as error:  # no busy handler while the mode changes
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_POLL_SECONDS)
    if mode != "wal":
        db.execute("PRAGMA journal_mode=DELETE")
        _log.warning("%s is on a drive without shared memory, so changes are slower.", path)
    db.execute("PRAGMA synchronous=FULL")


def _check_head(path: Path, layout: Layout) -> None:
    plain_file(path)
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}).") from None
    if not head:
        return  # another process is just making it
    if not head.startswith(_MAGIC):
        raise layout.layout_error(path, "not an SQLite file")
    if _is_foreign(path, layout):
        raise layout.layout_error(path, "an SQLite file of something else")


def _check_tables(db: sqlite3.Connection, path: Path, layout: Layout) -> None:
    """Make the tables in an empty file; refuse any other than these."""
    query = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    found = {sql for (sql,) in db.execute(query)}
    (number,) = db.execute("PRAGMA application_id").fetchone()
    if not found and number == 0:
        for table in layout.tables:
            db.execute(table)
        db.execute(f"PRAGMA application_id={layout.application_id}")
    elif found != set(layout.tables) or number != layout.application_id:
        raise layout.layout_error(path, "other tables")


def _fault(error: Exception, path: Path, layout: Layout) -> Exception:
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreError(f"Another process holds {path}. Nothing was changed: repeat this step.")
    if isinstance(error, sqlite3.OperationalError) and any(
        word in text for word in ("full", "readonly", "unable to open", "disk I/O")
    ):
        return StoreError(f"{path}: not written ({text}). Name another file or folder.")
    return layout.layout_error(path, short(text))
