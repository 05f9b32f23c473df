"""Bringing a journal of an earlier version up to this one; nothing of it is lost."""

from __future__ import annotations

import json
import sqlite3

from judgestats.judges.batch_store import BATCH_SCHEMA
from judgestats.judges.journal_tables import COLUMNS, FACTS_SCHEMA, checksum
from judgestats.judges.ledger import LEDGER_SCHEMA, sign_lines
from judgestats.judges.negotiation import Sent
from judgestats.protocols.base import ReplyMode

_KEY_BYTES = 32


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
        _checksums(db)
    if version < 6:
        add_tables(db, FACTS_SCHEMA)
        if version < 5:  # 0.1.0 read by its own rules
            db.execute("INSERT INTO facts VALUES ('reader', '1')")
    if version in {4, 5}:
        db.execute("ALTER TABLE ledger ADD COLUMN checksum BLOB NOT NULL DEFAULT x''")
        sign_lines(db)


def _checksums(db: sqlite3.Connection) -> None:
    """Rows of before get theirs as they stand."""
    db.execute("ALTER TABLE answers ADD COLUMN checksum BLOB NOT NULL DEFAULT x''")
    db.create_function("row_checksum", -1, lambda key, *values: checksum(key, values))
    db.execute(f"UPDATE answers SET checksum = row_checksum(key, {COLUMNS})")  # noqa: S608


def _answers_of_2(db: sqlite3.Connection) -> None:
    """0.1.0 kept a column a setting."""
    db.create_function("settings_of_2", 2, _settings_of_2, deterministic=True)
    for statement in (
        "ALTER TABLE answers ADD COLUMN sent TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE answers ADD COLUMN tokens_cached REAL",
        "ALTER TABLE answers ADD COLUMN tokens_reasoning REAL",
        "UPDATE answers SET sent = settings_of_2(temperature_sent, seed_sent)",
        "ALTER TABLE answers DROP COLUMN temperature_sent",
        "ALTER TABLE answers DROP COLUMN seed_sent",
    ):
        db.execute(statement)


def _settings_of_2(temperature: float | None, seed: int | None) -> str:
    sent = {"temperature": temperature, "seed": seed}
    return json.dumps({k: v for k, v in sent.items() if v is not None}, separators=(",", ":"))


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
        sent = Sent(
            mode=ReplyMode(mode),
            settings=settings,
            varied=frozenset({"temperature"}),
            seed=seed,
            choices=len(keys) // _KEY_BYTES,
            max_tokens_name=max_tokens,
        )
        db.execute(
            "INSERT INTO batch_requests VALUES (?, ?, ?, ?, ?)",
            (batch, custom_id, keys, sent.to_json(), tried),
        )
