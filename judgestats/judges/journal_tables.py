"""What a journal holds: its tables, an answer as one of their rows, and the statements for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter

__all__ = [
    "COLUMNS",
    "GET",
    "KEY_BYTES",
    "PUT",
    "PUT_NEW",
    "SCHEMA",
    "UNTOLD",
    "Answer",
    "answer_of",
    "values_of",
]

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
    attempts INTEGER NOT NULL, asked_at TEXT NOT NULL
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
KEY_BYTES = 32
"""A key is a SHA-256."""


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
    f"INSERT OR REPLACE INTO answers (key, {COLUMNS}) "  # noqa: S608 - names of this file only
    f"VALUES ({', '.join('?' * (1 + len(_NAMES)))})"
)
PUT_NEW = PUT.replace("INSERT OR REPLACE", "INSERT OR IGNORE", 1)
GET = f"SELECT {COLUMNS} FROM answers WHERE key = ?"  # noqa: S608


def answer_of(row: Sequence[object]) -> Answer:
    """The answer of a row, its key left out."""
    return Answer(**dict(zip(_NAMES, row, strict=True)))  # type: ignore[arg-type]
