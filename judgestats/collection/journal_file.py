"""Journal files: recognition, connection, and tables, also of batches."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judgestats.collection.response import SentRequest
from judgestats.errors import StoreError
from judgestats.files.shared_state import application_id
from judgestats.files.text import clean

APPLICATION_ID = 0x4A535431  # "JST1"
VERSION = 6
"""2: batches, 3: settings as a mapping, 4: spending, 5: checksums."""

SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What a call may raise: of a schema with flipped bits, a message that is not UTF-8."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_ASIDE = "Nothing was changed. Move the file aside to begin a new journal, or name another one."
_RESCUE = "Rescue what is left with `sqlite3 FILE .recover`, or move the file aside to begin anew."
_WRITABLE = "Name a journal in a folder where you may write."
_KEPT = "Everything stored before is kept; the same command goes on from there."
_SENTENCES = (
    (("full",), f"the disk is full. {_KEPT} Free some space first."),
    (("readonly", "read-only"), f"the disk or file is read-only. {_KEPT}"),
    (("unable to open",), f"cannot be opened or made. {_WRITABLE}"),
    (
        ("malformed", "not a database", "corrupt"),
        f"the file is damaged ({{}}). Nothing was deleted. {_RESCUE}",
    ),
    (("",), f"{{}}. {_KEPT}"),
)
"""What to say of an SQLite error, by words in it: the first that fits."""


def check_file(path: Path) -> None:
    """Raise StoreError unless `path` is absent or a whole journal of a version known here.

    Only the file's header is read: what SQLite itself would quietly repair, truncate or delete (a
    file of 0 bytes with a write-ahead log next to it, say) is named and left alone.
    """
    try:
        if fault := _fault(path):
            raise StoreError(f"journal {path}: {fault}")
    except OSError as error:
        raise StoreError(f"journal {path}: cannot be read ({error.strerror}).") from None


def _fault(path: Path) -> str:
    """Why a file cannot be used as a journal; empty where it can."""
    if path.is_dir():
        return "this is a folder. Name a file in it, such as journal.db."
    log = path.with_name(path.name + "-wal")
    log_exists = log.exists() and log.stat().st_size > 0
    if not path.exists():
        gone = f"the file is gone but its write-ahead log {log.name} is there. Nothing was changed."
        return f"{gone} Restore the file, or move the log aside." if log_exists else _lacks(path)
    if not path.is_file():
        return "this is not an ordinary file (a device or a pipe). Name another journal."
    size = path.stat().st_size
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if size == 0:
        return f"the file is empty (0 bytes): truncated? {_ASIDE}"
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        short = size < _HEADER_BYTES and _MAGIC.startswith(header[: len(_MAGIC)])
        what = "is truncated" if short else "is not a journal (not a SQLite file)"
        return f"the file {what}. {_ASIDE}"
    if fault := _header_fault(path, header, size, log_exists=log_exists):
        return fault
    if not os.access(path, os.W_OK):
        return "the file is read-only. Make it writable, or name another journal."
    return ""


def _header_fault(path: Path, header: bytes, size: int, *, log_exists: bool) -> str:
    def number(start: int, length: int = 4) -> int:
        return int.from_bytes(header[start : start + length], "big")

    application, version = number(68), number(60)
    if application != APPLICATION_ID:
        # A process that ended before its first checkpoint leaves no mark in the file itself.
        empty = size <= 4096 and number(28) <= 1 and version == 0
        if application == 0 and (_begun_in_log(path) if log_exists else empty):
            return ""
        return f"this is a SQLite file of another program (no journal of judgestats). {_ASIDE}"
    if version > VERSION:
        what = f"it was written by a newer judgestats (journal version {version}, not {VERSION})"
        return f"{what}. Upgrade judgestats, or name another journal."
    page = number(16, 2)
    whole = (65536 if page == 1 else page) * number(28)
    if number(24) == number(92) and size < whole:
        return f"the file is truncated ({size} bytes of {whole}). Nothing was changed. {_RESCUE}"
    return ""


def _begun_in_log(path: Path) -> bool:
    """Whether file and log together are a journal, or nothing yet; looked at without writing."""
    name = quote(str(path.absolute()))
    try:
        with contextlib.closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True)) as db:
            application = db.execute("PRAGMA application_id").fetchone()[0]
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.Error as error:
        return is_busy(error)  # in use: opening it will say by whom
    return bool(application == APPLICATION_ID or (application == 0 and tables == 0))


def _lacks(path: Path) -> str:
    """Why a journal cannot be made in its folder; empty where it can."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"its folder cannot be made ({error.strerror}). {_WRITABLE}"
    writable = os.access(path.parent, os.W_OK | os.X_OK)
    return "" if writable else f"the folder is read-only. {_WRITABLE}"


def is_laid_out(path: Path) -> bool:
    """Whether a file says in its own header that it is a journal (False: absent, or half made)."""
    return application_id(path) == APPLICATION_ID


def is_busy(error: Exception) -> bool:
    """Whether an SQLite error says that somebody else holds the file."""
    text = str(error).lower()
    return "locked" in text or "busy" in text


def store_error(error: Exception, path: Path | None) -> StoreError:
    """What to say of an SQLite error: what happened, what is kept, what to do."""
    name = journal_name(path)
    text = "malformed text" if isinstance(error, UnicodeDecodeError) else str(error)
    if is_busy(error):
        owner = ""
        with contextlib.suppress(OSError):
            signed = Path(f"{path}.owner").read_text(encoding="utf-8")
            owner = f" ({signed[:80].strip()})"
        sentence = f"in use by another process{owner}. Wait for it to end, or name another journal."
        return StoreError(f"{name}: {sentence}")
    sentence = next(said for words, said in _SENTENCES if any(w in text.lower() for w in words))
    return StoreError(f"{name}: {sentence.format(text)}")


def journal_name(path: Path | None) -> str:
    """What a message calls a journal."""
    return "journal (in memory)" if path is None else f"journal {path}"


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
    db.text_factory = partial(str, encoding="utf-8", errors="replace")
    return db


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
        """Everything that the block writes, or nothing of it; committed when it ends."""
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
        try:  # as `faults`, which takes as long as the query
            row: tuple[Any, ...] | None = self.db.execute(query, values).fetchone()
        except SQLITE_ERRORS as error:
            raise store_error(error, self.path) from None
        return row

    def malformed(self, what: str) -> StoreError:
        """What to say of a row that nothing can be made of, and that `verify` does not take out."""
        return store_error(sqlite3.DatabaseError(f"malformed {what}"), self.path)

    def damaged(self, what: str) -> StoreError:
        """The error about a damaged row, which can be removed."""
        how = "`judgestats doctor FILE` counts what is damaged, with --drop it takes it out."
        return StoreError(f"{journal_name(self.path)}: {what}. Nothing was changed. {how}")


UNTOLD = -1.0
"""A latency that is not reported, as for an answer that came in a batch."""

SCHEMA = """
CREATE TABLE answers (
    key BLOB PRIMARY KEY,
    text TEXT NOT NULL, mode TEXT NOT NULL, finish_reason TEXT NOT NULL,
    model TEXT NOT NULL, fingerprint TEXT NOT NULL,
    sent TEXT NOT NULL,           -- settings beside the prompt, as JSON
    choices INTEGER NOT NULL,
    tokens_in REAL, tokens_out REAL, tokens_cached REAL, tokens_reasoning REAL,
    cost_usd REAL, latency_s REAL NOT NULL,
    attempts INTEGER NOT NULL, asked_at TEXT NOT NULL,
    checksum BLOB NOT NULL        -- of the key and all values
);
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    keys BLOB NOT NULL,           -- 32 bytes a judgment
    started_at REAL NOT NULL,
    outcome TEXT                  -- NULL while in flight; later why it may have been billed in vain
);
CREATE TABLE abilities (
    base_url TEXT NOT NULL, model TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (base_url, model)
);
"""
FACTS_SCHEMA = """
CREATE TABLE facts (
    name TEXT PRIMARY KEY, value TEXT NOT NULL
);
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One answered judgment as it is kept; None where the server did not say.

    `sent` holds the settings that the request carried, as JSON by the fields' names; `latency_s` is
    `UNTOLD` where there is none.
    """

    text: str
    mode: str
    finish_reason: str
    model: str
    fingerprint: str
    sent: str
    choices: int
    tokens_in: float | None
    tokens_out: float | None
    tokens_cached: float | None = None
    tokens_reasoning: float | None = None
    cost_usd: float | None
    latency_s: float
    attempts: int
    asked_at: str


ANSWER_FIELDS = tuple(f.name for f in fields(Answer))
COLUMNS = ", ".join(ANSWER_FIELDS)
values_of = attrgetter(*ANSWER_FIELDS)
"""An answer's values in the order of the columns."""
PUT = (
    f"INSERT OR REPLACE INTO answers (key, {COLUMNS}, checksum) "  # noqa: S608 - names of this file
    f"VALUES ({', '.join('?' * (2 + len(ANSWER_FIELDS)))})"
)
PUT_NEW = PUT.replace("INSERT OR REPLACE", "INSERT OR IGNORE", 1)
ALL = f"SELECT key, {COLUMNS}, checksum FROM answers"  # noqa: S608
GET = f"{ALL} WHERE key = ?"


def checksum(key: bytes, values: Sequence[object]) -> bytes:
    """Eight bytes that change with any bit of a row, whatever type SQLite gives a number back in.

    Examples
    --------
    >>> checksum(b"k", ["text", 1]) == checksum(b"k", ["text", 1.0])
    True
    >>> checksum(b"k", ["text", 1]) == checksum(b"l", ["text", 1])
    False
    """
    plain = (v if isinstance(v, str) or v is None else float(v) for v in values)  # type: ignore[arg-type]
    whole = "".join(f"\0{value!r}" for value in plain).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(key + whole, digest_size=8).digest()


def answer_record(key: bytes, answer: Answer) -> tuple[object, ...]:
    """An answer's values, with their checksum."""
    values = values_of(answer)
    return (*values, checksum(key, values))


def answer_of(row: Sequence[object]) -> Answer | None:
    """The answer of a row of `ALL`; None where the row is damaged."""
    key, *values, check = row
    try:
        if not isinstance(key, bytes) or checksum(key, values) != check:
            return None
    except (TypeError, ValueError):  # a number that has become text or bytes
        return None
    texts = (clean(value) if isinstance(value, str) else value for value in values)
    return Answer(**dict(zip(ANSWER_FIELDS, texts, strict=True)))  # type: ignore[arg-type]


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
        values = (*astuple(record), time.time())
        rows = [
            (record.name, r.custom_id, b"".join(r.keys), r.sent.to_json(), r.tried)
            for r in requests
        ]
        with self._database.transaction() as db:
            db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            db.executemany("INSERT INTO batch_requests VALUES (?, ?, ?, ?, ?)", rows)

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
        names = [f.name for f in fields(BatchRecord)]
        rows = self._database.rows(
            f"SELECT {', '.join(names)} FROM batches "  # noqa: S608 - names of this file
            "WHERE base_url = ? AND model = ? ORDER BY created_at, name",
            (base_url, model),
        )
        return [BatchRecord(**dict(zip(names, row, strict=True))) for row in rows]

    def requests(self, name: str) -> dict[str, BatchRequest]:
        """A batch's requests by custom id."""
        query = "SELECT custom_id, keys, sent, tried FROM batch_requests WHERE batch = ?"
        rows = self._database.rows(query, (name,))
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
        rows = self._database.rows("SELECT keys FROM batch_requests")
        return {key for (keys,) in rows for key in split_keys(keys)}

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
        with self._database.transaction() as db:
            new = frozenset(
                key for key, row in answers.items() if db.execute(put, (key, *row)).rowcount == 1
            )
            charge()
            db.execute("DELETE FROM batch_requests WHERE batch = ?", (name,))
            db.execute("DELETE FROM batches WHERE name = ?", (name,))
        return new


def split_keys(keys: bytes) -> tuple[bytes, ...]:
    """Split concatenated keys of 32 bytes.

    Examples
    --------
    >>> len(split_keys(b"k" * 64))
    2
    """
    return tuple(keys[i : i + _KEY_BYTES] for i in range(0, len(keys), _KEY_BYTES))
