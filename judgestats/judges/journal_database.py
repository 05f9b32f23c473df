"""The journal's SQLite connection: what is read and written whole, and what is said of errors."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judgestats.errors import StoreError
from judgestats.judges.journal_file import SQLITE_ERRORS, store_error


def connected(path: Path | None) -> sqlite3.Connection:
    """A connection to a journal's file; None keeps it in memory."""
    try:
        db = sqlite3.connect(
            # absolute, since SQLite takes a file called ":memory:" for no file at all
            ":memory:" if path is None else path.absolute(),
            isolation_level=None,
            timeout=0.2,
            check_same_thread=False,
        )
    except sqlite3.Error as error:
        raise store_error(error, path) from None
    # A flipped bit may leave text that is no UTF-8: its row's checksum tells; it can be dropped.
    db.text_factory = _text
    return db


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


class Database:
    """An open journal's connection, shared by its answers, its batches and its ledger.

    Parameters
    ----------
    db : sqlite3.Connection
    path : path or None
        For the sentences about errors.
    """

    def __init__(self, db: sqlite3.Connection, path: Path | None) -> None:
        self.db = db
        self.path = path

    @contextlib.contextmanager
    def faults(self) -> Iterator[None]:
        """Turn SQLite's errors into the journal's sentence about them."""
        try:
            yield
        except SQLITE_ERRORS as error:
            raise store_error(error, self.path) from None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that the block writes, or nothing of it; committed when it ends."""
        with self.faults():
            try:
                self.db.execute("BEGIN IMMEDIATE")
                yield self.db
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    with contextlib.suppress(sqlite3.Error):  # the first error is the one to report
                        self.db.execute("ROLLBACK")
                raise

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What a query gives, or a statement returns."""
        with self.faults():
            return self.db.execute(query, values).fetchall()

    def one(self, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """The first row; None where there is none."""
        with self.faults():
            row: tuple[Any, ...] | None = self.db.execute(query, values).fetchone()
        return row

    def malformed(self, what: str) -> StoreError:
        """What to say of a row that nothing can be made of, and that `verify` does not take out."""
        return store_error(sqlite3.DatabaseError(f"malformed {what}"), self.path)

    def damaged(self, what: str) -> StoreError:
        """What to say of a row that is not as it was written, and can be taken out."""
        name = "journal (in memory)" if self.path is None else f"journal {self.path}"
        return StoreError(
            f"{name}: {what}. Nothing was changed. `judgestats journal verify FILE` counts what is "
            "damaged, with --drop it takes it out, to be asked again."
        )
