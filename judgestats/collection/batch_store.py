"""Batches in the journal, and their limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from judgestats.collection.journal_file import Database
from judgestats.collection.response import SentRequest

MAX_REQUESTS = 50_000
"""Requests in one file, the Batch API's limit."""
MAX_BYTES = 200_000_000
"""Bytes of one file, the Batch API's limit."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes of files, batches that a judgment may fail in, seconds between two looks."""

    requests: int = MAX_REQUESTS
    bytes: int = MAX_BYTES
    rounds: int = 3
    first_s: float = 2.0
    longest_s: float = 60.0


BATCH_SCHEMA = """
CREATE TABLE batches (
    name TEXT PRIMARY KEY,        -- ours, and in the server's metadata too
    base_url TEXT NOT NULL, model TEXT NOT NULL,
    file_id TEXT NOT NULL, batch_id TEXT NOT NULL,  -- empty until the server has told them
    estimate REAL, created_at REAL NOT NULL
);
CREATE TABLE batch_requests (
    batch TEXT NOT NULL, custom_id TEXT NOT NULL,
    keys BLOB NOT NULL,           -- 32 bytes a judgment
    sent TEXT NOT NULL,           -- what the request carried, as JSON
    tried INTEGER NOT NULL,
    PRIMARY KEY (batch, custom_id)
);
"""
_KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class BatchRecord:
    """A batch whose answers are not in the journal yet; ids are empty until they are known."""

    name: str
    base_url: str
    model: str
    file_id: str = ""
    batch_id: str = ""
    estimate: float | None = None


@dataclass(frozen=True, kw_only=True)
class BatchRequest:
    """One request of a batch: the judgments it stands for, and what it carried."""

    custom_id: str
    keys: tuple[bytes, ...]
    sent: SentRequest
    tried: int


class BatchStore:
    """The batches of a journal. Each method is one transaction, committed when it returns.

    Parameters
    ----------
    database : Database
        The journal's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, record: BatchRecord, requests: Sequence[BatchRequest]) -> None:
        """Record a batch before anything of it is sent."""
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    record.name,
                    record.base_url,
                    record.model,
                    record.file_id,
                    record.batch_id,
                    record.estimate,
                    time.time(),
                ),
            )
            db.executemany(
                "INSERT INTO batch_requests VALUES (?, ?, ?, ?, ?)",
                [
                    (
                        record.name,
                        r.custom_id,
                        b"".join(r.keys),
                        r.sent.to_json(),
                        r.tried,
                    )
                    for r in requests
                ],
            )

    def uploaded(self, name: str, file_id: str) -> None:
        """The server has the batch's file."""
        with self._database.transaction() as db:
            db.execute("UPDATE batches SET file_id = ? WHERE name = ?", (file_id, name))

    def created(self, name: str, batch_id: str) -> None:
        """The server has the batch, under this id."""
        with self._database.transaction() as db:
            db.execute("UPDATE batches SET batch_id = ? WHERE name = ?", (batch_id, name))

    def open(self, base_url: str, model: str) -> list[BatchRecord]:
        """The batches of a model that have not ended, oldest first."""
        rows = self._database.rows(
            "SELECT name, base_url, model, file_id, batch_id, estimate FROM batches "
            "WHERE base_url = ? AND model = ? ORDER BY created_at, name",
            (base_url, model),
        )
        names = ("name", "base_url", "model", "file_id", "batch_id", "estimate")
        return [BatchRecord(**dict(zip(names, row, strict=True))) for row in rows]

    def requests(self, name: str) -> dict[str, BatchRequest]:
        """A batch's requests by custom id."""
        rows = self._database.rows(
            "SELECT custom_id, keys, sent, tried FROM batch_requests WHERE batch = ?",
            (name,),
        )
        requests_by_id = {}
        for custom_id, keys, sent, tried in rows:
            try:
                requests_by_id[str(custom_id)] = BatchRequest(
                    custom_id=str(custom_id),
                    keys=split_keys(keys),
                    sent=SentRequest.from_json(str(sent)),
                    tried=int(tried),
                )
            except (ValueError, TypeError, KeyError):
                raise self._database.malformed(f"batch {name}") from None
        return requests_by_id

    def open_judgments(self) -> set[bytes]:
        """Judgments in batches that have not ended."""
        waiting_keys: set[bytes] = set()
        for (keys,) in self._database.rows("SELECT keys FROM batch_requests"):
            waiting_keys.update(split_keys(keys))
        return waiting_keys

    def end(
        self,
        name: str,
        put: str,
        answers: Mapping[bytes, tuple[object, ...]],
        charge: Callable[[], None],
    ) -> frozenset[bytes]:
        """Store a batch's answers and what they cost, and forget the batch, at once.

        Parameters
        ----------
        name : str
        put : str
            The journal's statement that stores an answer where there is none.
        answers : mapping of key to values
        charge : function
            Books the cost.

        Returns
        -------
        frozenset of bytes
            The judgments that had no answer before.
        """
        new = set()
        with self._database.transaction() as db:
            for key, values in answers.items():
                if db.execute(put, (key, *values)).rowcount == 1:
                    new.add(key)
            charge()
            db.execute("DELETE FROM batch_requests WHERE batch = ?", (name,))
            db.execute("DELETE FROM batches WHERE name = ?", (name,))
        return frozenset(new)


def split_keys(keys: bytes) -> tuple[bytes, ...]:
    """Split concatenated keys of 32 bytes.

    Examples
    --------
    >>> len(split_keys(b"k" * 64))
    2
    """
    return tuple(keys[i : i + _KEY_BYTES] for i in range(0, len(keys), _KEY_BYTES))
