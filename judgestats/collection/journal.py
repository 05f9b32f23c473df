"""Journal of answered calls."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from judgestats.collection import journal_file
from judgestats.collection.journal_file import BATCH_SCHEMA, BatchStore, split_keys
from judgestats.collection.ledger import LEDGER_SCHEMA, Charge, Ledger, sign_lines
from judgestats.collection.response import Abilities, SentRequest
from judgestats.deadlines import scratch_folder
from judgestats.errors import StoreError
from judgestats.protocols.base import ReplyMode


def add_tables(db: sqlite3.Connection, schema: str) -> None:
    """Make the tables of a schema, within the transaction that is open."""
    for statement in schema.split(";\n"):
        if statement.strip():
            db.execute(statement)


def brought_up(db: sqlite3.Connection, *, version: int) -> None:
    """Take a journal of `version` to the present one, within the transaction that is open."""
    if version < 3:
        _answers_of_2(db)
        if version == 2:
            _batches_of_2(db)
        else:
            add_tables(db, BATCH_SCHEMA)
    if version < 4:
        add_tables(db, LEDGER_SCHEMA)
    if version < 5:
        db.execute("ALTER TABLE answers ADD COLUMN checksum BLOB NOT NULL DEFAULT x''")
        db.create_function("row_checksum", -1, lambda key, *row: journal_file.checksum(key, row))
        db.execute(f"UPDATE answers SET checksum = row_checksum(key, {journal_file.COLUMNS})")  # noqa: S608
    if version < 6:
        add_tables(db, journal_file.FACTS_SCHEMA)
        if version < 5:  # 0.1.0 read by its own rules
            db.execute("INSERT INTO facts VALUES ('reader', '1')")
    if version in {4, 5}:
        db.execute("ALTER TABLE ledger ADD COLUMN checksum BLOB NOT NULL DEFAULT x''")
        sign_lines(db)


def _answers_of_2(db: sqlite3.Connection) -> None:
    """0.1.0 kept a column per setting."""

    def settings_of_2(temperature: float | None, seed: int | None) -> str:
        sent = {"temperature": temperature, "seed": seed}
        return json.dumps({k: v for k, v in sent.items() if v is not None}, separators=(",", ":"))

    db.create_function("settings_of_2", 2, settings_of_2, deterministic=True)
    for statement in (
        "ALTER TABLE answers ADD COLUMN sent TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE answers ADD COLUMN tokens_cached REAL",
        "ALTER TABLE answers ADD COLUMN tokens_reasoning REAL",
        "UPDATE answers SET sent = settings_of_2(temperature_sent, seed_sent)",
        "ALTER TABLE answers DROP COLUMN temperature_sent",
        "ALTER TABLE answers DROP COLUMN seed_sent",
    ):
        db.execute(statement)


def _batches_of_2(db: sqlite3.Connection) -> None:
    rows = db.execute(
        "SELECT batch, custom_id, keys, mode, temperature, seed, max_tokens, top_k, tried "
        "FROM batch_requests"
    ).fetchall()
    db.execute("DROP TABLE batch_requests")
    add_tables(db, BATCH_SCHEMA.partition(";\n")[2])
    for batch, custom_id, keys, mode, temperature, seed, max_tokens, top_k, tried in rows:
        settings: dict[str, object] = {} if temperature is None else {"temperature": temperature}
        if top_k:
            settings["top_k"] = None  # its value was not kept
        sent = SentRequest(
            mode=ReplyMode(mode), settings=settings, varied=frozenset({"temperature"}), seed=seed,
            choices=len(split_keys(keys)), max_tokens_name=max_tokens,
        )  # fmt: skip
        values = (batch, custom_id, keys, sent.to_json(), tried)
        db.execute("INSERT INTO batch_requests VALUES (?, ?, ?, ?, ?)", values)


_ALL_ABILITIES = "SELECT base_url, model, value FROM abilities"


class _Batch:
    """What is written in one transaction; those who wait for it wait for one event."""

    __slots__ = ("answers", "charges", "done", "ended", "error", "ruined")

    def __init__(self) -> None:
        self.ended: list[tuple[int]] = []
        self.ruined: list[tuple[str, int]] = []
        self.answers: list[tuple[object, ...]] = []
        self.charges: list[Charge] = []
        self.done = asyncio.Event()
        self.error: StoreError | None = None


class Journal:
    """An open journal.

    Parameters
    ----------
    path : path or None
        The file; made if absent. None keeps the journal in memory, for rehearsals.

    Raises
    ------
    StoreError
        The journal is in use by another process, truncated, foreign, written by a newer judgestats,
        or on a read-only or full disk. The file stays unchanged.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        if self.path is not None:
            journal_file.check_file(self.path)
        self._database = journal_file.Database(self._open(), self.path)
        self._batch: _Batch | None = None
        self._closed = False
        self.batches = BatchStore(self._database)
        self.ledger = Ledger(self._database)
        try:
            self._next_id = self._number("SELECT coalesce(max(id), 0) + 1 FROM attempts")
            self._lost = self._read_lost()
        except StoreError:
            self.close()
            raise

    # ------------------------------------------------------------------ opening and closing

    def _open(self) -> sqlite3.Connection:
        mask = os.umask(0o077)  # what judges said, and what it cost, is for its owner alone
        try:
            return self._opened()
        finally:
            os.umask(mask)

    def _opened(self) -> sqlite3.Connection:
        new = self.path is not None and not self.path.exists()
        db = journal_file.connected(self.path)
        try:
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("BEGIN IMMEDIATE")
            # Read again under the lock: the header of a file with a write-ahead log may be older.
            application = db.execute("PRAGMA application_id").fetchone()[0]
            if application == 0:
                self._lay_out(db)
            elif application != journal_file.APPLICATION_ID:
                raise self._foreign()
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version < journal_file.VERSION:  # brought up to this one; nothing is taken away
                brought_up(db, version=version)
                db.execute(f"PRAGMA user_version={journal_file.VERSION}")
            db.execute("COMMIT")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (*journal_file.SQLITE_ERRORS, StoreError) as error:
            db.close()
            if isinstance(error, StoreError):
                raise
            failure = journal_file.store_error(error, self.path)
            if self.path is not None and new and not journal_file.is_busy(error):
                _remove_half_made(self.path)
            raise failure from None
        if self.path is not None:  # who holds it, so that a second process can name the first
            with contextlib.suppress(OSError):  # a courtesy: the lock itself is SQLite's
                since = time.strftime("%Y-%m-%d %H:%M:%S")
                Path(f"{self.path}.owner").write_text(f"process {os.getpid()} since {since}")
        return db

    def _lay_out(self, db: sqlite3.Connection) -> None:
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise self._foreign()
        for schema in (journal_file.SCHEMA, BATCH_SCHEMA, LEDGER_SCHEMA, journal_file.FACTS_SCHEMA):
            add_tables(db, schema)
        db.execute(f"PRAGMA application_id={journal_file.APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={journal_file.VERSION}")

    def _foreign(self) -> StoreError:
        what = "this is a SQLite file of another program (no journal of judgestats)"
        name = journal_file.journal_name(self.path)
        return StoreError(f"{name}: {what}. Nothing was changed. Name another journal.")

    def close(self) -> None:
        """Write what waits, and release the file; closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        last = self._batch
        if last is not None:
            self._flush(last)
        try:
            with self._database.faults():
                self._database.db.close()
        finally:
            if self.path is not None:
                with contextlib.suppress(OSError):
                    Path(f"{self.path}.owner").unlink()
        if last is not None and last.error is not None:
            raise last.error

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _number(self, query: str) -> int:
        return int(self._database.rows(query)[0][0])

    def _read_lost(self) -> set[bytes]:
        """Judgments in flight when an earlier run ended, and not answered since."""
        lost = set()
        unknown = "SELECT keys FROM attempts WHERE outcome IS NULL OR outcome = 'lost'"
        for (keys,) in self._database.rows(unknown):
            for key in split_keys(keys or b""):
                if self._database.one("SELECT 1 FROM answers WHERE key = ?", (key,)) is None:
                    lost.add(key)
        with self._database.transaction() as db:
            self.ledger.charge_lost()
            db.execute("UPDATE attempts SET outcome = 'lost' WHERE outcome IS NULL")
        # Asked online while they wait in a batch, they are paid for twice.
        return lost | {key for key in self.batches.open_judgments() if self.get(key) is None}

    # ------------------------------------------------------------------ answers

    def get(self, key: bytes) -> journal_file.Answer | None:
        """The stored answer, or None.

        Raises
        ------
        StoreError
            It is damaged: its row differs from what was written.
        """
        row = self._database.one(journal_file.GET, (key,))
        if row is None:
            return None
        answer = journal_file.answer_of(row)
        if answer is None:
            raise self._database.damaged("an answer is damaged (its checksum differs)")
        return answer

    def __len__(self) -> int:
        return self._number("SELECT count(*) FROM answers")

    def unpriced(self) -> int:
        """Answers of unknown cost."""
        return self._number("SELECT count(*) FROM answers WHERE cost_usd IS NULL")

    def was_lost(self, keys: Iterable[bytes]) -> int:
        """How many of the judgments were in flight when an earlier run was killed.

        Each is reported once: the caller asks it again, possibly billed a second time.
        """
        lost_keys = self._lost.intersection(keys)
        self._lost -= lost_keys
        return len(lost_keys)

    def begin(self, keys: Sequence[bytes], *, line: int | None = None, hold: float = 0.0) -> int:
        """Record a request before it is sent; returns its number, the record being committed.

        `hold` dollars are charged to the ledger's `line` if the process ends before the request
        does.

        Committed at once, not in a batch: it takes some 25 microseconds, and waiting for a common
        commit would make requests that start together stay together.
        """
        number = self._next_id
        self._next_id += 1
        self._database.one(
            "INSERT INTO attempts (id, keys, started_at, line, hold) VALUES (?, ?, ?, ?, ?)",
            (number, b"".join(keys), time.time(), line, hold),
        )
        return number

    async def answered(
        self,
        number: int,
        answers: Sequence[tuple[bytes, journal_file.Answer]],
        charge: Charge | None = None,
    ) -> None:
        """Store a request's answers and what they cost; returns once they are committed."""
        batch = self._write_batch(charge)
        batch.ended.append((number,))
        batch.answers.extend(
            (key, *journal_file.answer_record(key, answer)) for key, answer in answers
        )
        await batch.done.wait()
        if batch.error is not None:
            raise batch.error

    def store_batch(
        self, batch: str, answers: Mapping[bytes, journal_file.Answer], charge: Charge | None = None
    ) -> frozenset[bytes]:
        """Store a batch's answers, their cost and its end; gives what was not answered before."""
        values = {key: journal_file.answer_record(key, answer) for key, answer in answers.items()}
        charges = () if charge is None else (charge,)
        return self.batches.end(
            batch, journal_file.PUT_NEW, values, lambda: self.ledger.charge(charges)
        )

    def failed(
        self, number: int, charge: Charge | None = None, *, billed_in_vain: str = ""
    ) -> None:
        """A request ended without an answer; `billed_in_vain` says why it may have cost money."""
        batch = self._write_batch(charge)
        if billed_in_vain:
            batch.ruined.append((billed_in_vain, number))
        else:
            batch.ended.append((number,))

    def _write_batch(self, charge: Charge | None) -> _Batch:
        """The batch that collects writes until the event loop next comes round."""
        if self._batch is None:
            self._batch = _Batch()
            asyncio.get_running_loop().call_soon(self._flush, self._batch)
        if charge is not None:
            self._batch.charges.append(charge)
        return self._batch

    def _flush(self, batch: _Batch) -> None:
        """Write one batch in one transaction (group commit)."""
        if batch.done.is_set():
            return
        self._batch = None
        try:
            with self._database.transaction() as db:
                if batch.answers:
                    db.executemany(journal_file.PUT, batch.answers)
                if batch.ended:
                    db.executemany("DELETE FROM attempts WHERE id = ?", batch.ended)
                if batch.ruined:
                    db.executemany("UPDATE attempts SET outcome = ? WHERE id = ?", batch.ruined)
                self.ledger.charge(batch.charges)
        except StoreError as error:
            batch.error = error
        except Exception as error:  # whatever it is, those who wait must hear of it
            name = journal_file.journal_name(self.path)
            batch.error = StoreError(f"{name}: an answer cannot be stored ({error}).")
        batch.done.set()

    # ------------------------------------------------------------------ from one to another

    def entries(self) -> list[tuple[bytes, journal_file.Answer]]:
        """All answers with their keys; damaged ones are left out."""
        rows = (
            (row[0], journal_file.answer_of(row)) for row in self._database.rows(journal_file.ALL)
        )
        return [(key, answer) for key, answer in rows if answer is not None]

    def damaged(self, *, drop: bool = False) -> list[str]:
        """What is wrong with the file: SQLite's own findings, and rows that are not as written.

        Parameters
        ----------
        drop : bool
            Take the damaged rows out.
        """
        faults = [str(row[0]) for row in self._database.rows("PRAGMA integrity_check")]
        numbered = self._database.rows(journal_file.ALL.replace("SELECT", "SELECT rowid,", 1))
        bad = [row[0] for row in numbered if journal_file.answer_of(row[1:]) is None]
        unread = [
            (url, model)
            for url, model, value in self._database.rows(_ALL_ABILITIES)
            if _abilities(value) is None
        ]
        if drop:
            with self._database.transaction() as db:
                db.executemany("DELETE FROM answers WHERE rowid = ?", [(row_id,) for row_id in bad])
                db.executemany("DELETE FROM abilities WHERE base_url = ? AND model = ?", unread)
        differs = "its checksum differs, so what was spent is not certain"
        return [
            *(fault for fault in faults if fault != "ok"),
            *(f"row {row_id}: its checksum differs" for row_id in bad),
            *(f"what is known of {model} at {url} cannot be read" for url, model in unread),
            *(f"line {line} of the ledger: {differs}" for line in self.ledger.damaged()),
        ]

    def keep(self, answers: Iterable[tuple[bytes, journal_file.Answer]]) -> None:
        """Store answers that another journal holds; committed when it returns."""
        rows = [(key, *journal_file.answer_record(key, answer)) for key, answer in answers]
        with self._database.transaction() as db:
            db.executemany(journal_file.PUT, rows)

    def lost_judgments(self) -> frozenset[bytes]:
        """Judgments in flight when an earlier run ended, not yet requested again."""
        return frozenset(self._lost)

    def all_abilities(self) -> list[tuple[str, str, Abilities]]:
        """What is known of every endpoint and model."""
        rows = self._database.rows(_ALL_ABILITIES)
        return [(url, model, self._parse_abilities(model, value)) for url, model, value in rows]

    def _parse_abilities(self, model: str, value: str) -> Abilities:
        abilities = _abilities(value)
        if abilities is None:
            raise self._database.damaged(f"what is known of {model} is damaged")
        return abilities

    # ------------------------------------------------------------------ who read it

    def read_by(self, version: str) -> str:
        """Note the version of the reader; the one before, where answers were read by another."""
        before = self.noted("reader")
        self.note("reader", version)
        return before if before != version and len(self) else ""

    def noted(self, name: str) -> str:
        """A fact that was noted; empty where none was."""
        row = self._database.one("SELECT value FROM facts WHERE name = ?", (name,))
        return "" if row is None else str(row[0])

    def note(self, name: str, value: str) -> None:
        """Store a fact; it replaces the one of the same name."""
        self._database.one("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    # ------------------------------------------------------------------ abilities

    def abilities(self, base_url: str, model: str) -> Abilities | None:
        """What an earlier run learned of a model, or None."""
        query = "SELECT value FROM abilities WHERE base_url = ? AND model = ?"
        row = self._database.one(query, (base_url, model))
        return None if row is None else self._parse_abilities(model, row[0])

    def learn(self, base_url: str, model: str, abilities: Abilities) -> None:
        """Keep what was learned of a model."""
        values = (base_url, model, abilities.to_json())
        self._database.one("INSERT OR REPLACE INTO abilities VALUES (?, ?, ?)", values)


def _remove_half_made(path: Path) -> None:
    """Take away what was made a moment ago and never held an answer (on a full disk, say)."""
    if not journal_file.is_laid_out(path):
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)


def _abilities(value: str) -> Abilities | None:
    """What was learned of a model; None where the row is damaged."""
    try:
        return Abilities.from_json(value)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


_LOOKS = 5
_LOG_HEADER = 32
"""Bytes of a write-ahead log that change when it begins again."""


@contextlib.contextmanager
def journal_view(journal: Journal | Path | str | None) -> Iterator[Journal]:
    """A copy of a journal as it stands, answers committed a moment ago included.

    Parameters
    ----------
    journal : Journal, path or None
        None, a rehearsal's, or a file that is not there gives an empty journal in memory.

    Raises
    ------
    StoreError
        It is not a journal, or changes faster than it can be copied.
    """
    path = journal.path if isinstance(journal, Journal) else journal
    if path is None or not Path(path).exists():
        with Journal(None) as empty:
            yield empty
        return
    journal_file.check_file(Path(path))
    with scratch_folder() as folder:
        copy = Path(folder) / "journal.sqlite"
        _copy(Path(path), copy)
        with Journal(copy) as copied:
            yield copied


def _copy(path: Path, copy: Path) -> None:
    """Copy file, then log; repeat if the log restarted in between: pages may have moved."""
    log, log_copy = (p.with_name(p.name + "-wal") for p in (path, copy))
    for _ in range(_LOOKS):
        try:
            before = _head(log)
            shutil.copyfile(path, copy)
            log_copy.unlink(missing_ok=True)
            if log.exists():
                shutil.copyfile(log, log_copy)
            if _head(log) == before:
                return
        except FileNotFoundError:
            continue  # the other process has just folded its log in
        except OSError as error:
            raise StoreError(f"journal {path}: cannot be read ({error.strerror}).") from None
    raise StoreError(f"journal {path}: another process writes it too fast to be read. Try again.")


def _head(log: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError), log.open("rb") as file:
        return file.read(_LOG_HEADER)
    return b""
