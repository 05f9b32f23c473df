"""What a journal holds: its tables, an answer as one of their rows, and the statements for it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter

from judgestats.json_text import clean

UNTOLD = -1.0
"""A latency that is not told, as for an answer that came in a batch."""

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


_NAMES = tuple(f.name for f in fields(Answer))
COLUMNS = ", ".join(_NAMES)
values_of = attrgetter(*_NAMES)
"""An answer's values in the order of the columns."""
PUT = (
    f"INSERT OR REPLACE INTO answers (key, {COLUMNS}, checksum) "  # noqa: S608 - names of this file
    f"VALUES ({', '.join('?' * (2 + len(_NAMES)))})"
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
    whole = hashlib.blake2b(key, digest_size=8)
    for value in values:
        plain = value if isinstance(value, str) or value is None else float(value)  # type: ignore[arg-type]
        whole.update(b"\0" + repr(plain).encode("utf-8", "surrogatepass"))
    return whole.digest()


def stored(key: bytes, answer: Answer) -> tuple[object, ...]:
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
    return Answer(**dict(zip(_NAMES, texts, strict=True)))  # type: ignore[arg-type]
