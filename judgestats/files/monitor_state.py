"""The state of ``judgestats monitor``: raw observations, from which each look is recomputed."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from judgestats.errors import InputError
from judgestats.files.guarded import foreign
from judgestats.files.shared_state import Layout, application_id, transaction
from judgestats.files.text import command_word, decode_json, short

SCHEMA = "judgestats.monitor/2"
LAYOUT = Layout(
    "state of judgestats monitor",
    0x4A534D32,  # "JSM2"
    (
        """CREATE TABLE meta (
  schema TEXT NOT NULL, alpha REAL NOT NULL, tolerance REAL NOT NULL, range TEXT NOT NULL,
  judge_fingerprint TEXT NOT NULL, opened TEXT NOT NULL)""",
        """CREATE TABLE reference (
  item TEXT PRIMARY KEY, cluster TEXT NOT NULL, n INTEGER NOT NULL, sum REAL NOT NULL,
  sumsq REAL NOT NULL)""",
        """CREATE TABLE period (
  id INTEGER PRIMARY KEY, file_sha256 TEXT NOT NULL UNIQUE, added TEXT NOT NULL)""",
        """CREATE TABLE observation (
  period INTEGER NOT NULL REFERENCES period, kind TEXT NOT NULL, item TEXT NOT NULL,
  repeat INTEGER NOT NULL, value REAL, PRIMARY KEY (period, kind, item, repeat))""",
        """CREATE TABLE look (
  period INTEGER NOT NULL REFERENCES period, log_e_judge REAL, log_e_system REAL,
  verdict TEXT NOT NULL)""",
    ),
)


def is_state(path: Path) -> bool:
    """Whether a file is the state of a monitor, by its header."""
    return application_id(path) == LAYOUT.application_id


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What stays the same over all looks at a state.

    Attributes
    ----------
    alpha : float
        Of all looks together.
    tolerance : float
        Smallest change that raises an alarm, as a share of the range.
    low, high : float
        Range of a value.
    judge_fingerprint : str
        The judge's model and settings; empty where they are not known.
    opened : str
        Time in ISO 8601; not compared.
    """

    alpha: float
    tolerance: float = 0.02
    low: float = 0.0
    high: float = 1.0
    judge_fingerprint: str = ""
    opened: str = field(default="", compare=False)


class Reference(NamedTuple):
    """Old judgments of one anchor: their number, sum and sum of squares."""

    item: str
    cluster: str
    n: int
    sum: float
    sumsq: float


class Observation(NamedTuple):
    """One judgment of a period; a value of None is unparsed."""

    period: int
    kind: str
    item: str
    repeat: int
    value: float | None


class Look(NamedTuple):
    """What one look said; the logarithms are None without anchors."""

    period: int
    log_e_judge: float | None
    log_e_system: float | None
    verdict: str


class MonitorState:
    """The tables of a state inside one transaction (see `changed_state`).

    Parameters
    ----------
    db : sqlite3.Connection
    path : Path
        For messages.
    """

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db, self.path = db, path

    def _faulty(self, why: str) -> InputError:
        return LAYOUT.layout_error(self.path, why)

    def terms(self) -> Terms | None:
        """The terms under which the state was opened; None in a new file."""
        rows = self._db.execute("SELECT * FROM meta").fetchall()
        if not rows:
            if self.periods():
                raise self._faulty("periods without their terms")
            return None
        schema, alpha, tolerance, scale, fingerprint, opened = rows[0]
        if len(rows) > 1 or schema != SCHEMA:
            raise self._faulty(f"field schema: {short(schema)}")
        try:
            low, high = decode_json(scale)
        except (ValueError, TypeError):
            raise self._faulty(f"field range: {short(scale)}") from None
        numbers = {"alpha": alpha, "tolerance": tolerance, "range": low, "range ": high}
        for name, value in numbers.items():
            if not isinstance(value, float) or not math.isfinite(value):
                raise self._faulty(f"field {name.strip()}: {short(value)}")
        if not 0 < alpha < 1 or not 0 <= tolerance < 1 or not low < high:
            raise self._faulty(f"alpha {alpha}, tolerance {tolerance}, range {low} to {high}")
        return Terms(
            alpha=alpha, tolerance=tolerance, low=low, high=high,
            judge_fingerprint=fingerprint, opened=opened,
        )  # fmt: skip

    def open(self, terms: Terms) -> None:
        """Begin a new state under these terms, or hold them against those of the one there is.

        Raises
        ------
        InputError
            The state was opened under other terms.
        """
        found = self.terms()
        if found is None:
            scale = json.dumps([float(terms.low), float(terms.high)])
            row = (SCHEMA, float(terms.alpha), float(terms.tolerance), scale)
            self._db.execute(
                "INSERT INTO meta VALUES (?, ?, ?, ?, ?, ?)",
                (*row, terms.judge_fingerprint, _now()),
            )
        elif found != terms:
            names = ("alpha", "tolerance", "low", "high", "judge_fingerprint")
            other = [n for n in names if getattr(found, n) != getattr(terms, n)]
            said = ", ".join(f"{n} {getattr(found, n)!r}, not {getattr(terms, n)!r}" for n in other)
            raise InputError(
                f"{self.path}: the state was opened with {said}. Terms hold for all looks: give "
                "these, or another --state."
            )
        else:
            self._check_values(found)

    def _check_values(self, terms: Terms) -> None:
        """Refuse values that no look can have stored; a damaged state must not hide an alarm."""
        value = self._db.execute(
            "SELECT value FROM observation WHERE typeof(value) NOT IN ('real', 'null') "
            "OR value NOT BETWEEN ? AND ? OR typeof(repeat) != 'integer' LIMIT 1",
            (terms.low, terms.high),
        ).fetchone()
        if value is not None:
            raise self._faulty(f"field value: {short(value[0])}")
        orphan = self._db.execute(
            "SELECT 1 FROM observation WHERE period NOT IN (SELECT id FROM period) LIMIT 1"
        ).fetchone()
        if orphan:
            raise self._faulty("an observation without its period")
        for row in self.reference():
            most = max(abs(terms.low), abs(terms.high)) * row.n
            sums = (row.sum, row.sumsq)
            if (
                type(row.n) is not int
                or row.n < 1
                or not all(isinstance(v, float) and math.isfinite(v) for v in sums)
                or abs(row.sum) > most * (1 + 1e-9)
                or not 0 <= row.sumsq <= most * most / row.n * (1 + 1e-9)
            ):
                raise self._faulty(f"reference of {short(row.item)}: {short(list(row[2:]))}")

    def reference(self) -> list[Reference]:
        """Old judgments of each anchor, in the order given."""
        return [
            Reference(*row) for row in self._db.execute("SELECT * FROM reference ORDER BY rowid")
        ]

    def add_reference(self, rows: Iterable[Reference]) -> None:
        """Store the anchors of a new state."""
        self._db.executemany("INSERT INTO reference VALUES (?, ?, ?, ?, ?)", rows)

    def add_period(self, digest: str) -> int:
        """Begin a period; its number.

        Raises
        ------
        InputError
            The same file was added before.
        """
        try:
            made = self._db.execute(
                "INSERT INTO period (file_sha256, added) VALUES (?, ?)", (digest, _now())
            )
        except sqlite3.IntegrityError:
            raise InputError(
                f"monitor: this file was added to {self.path} before. Give each judgment once."
            ) from None
        return int(made.lastrowid or 0)

    def periods(self) -> list[int]:
        """Numbers of the periods, in order."""
        return [n for (n,) in self._db.execute("SELECT id FROM period ORDER BY id")]

    def add_observations(self, rows: Iterable[Observation]) -> None:
        """Store judgments of a period.

        Raises
        ------
        InputError
            One is outside the range of the state's terms, or occurs twice.
        """
        terms = self.terms()
        if terms is None:
            raise ValueError("add_observations: the state has not been opened")
        try:
            self._db.executemany(
                "INSERT INTO observation VALUES (?, ?, ?, ?, ?)", _checked(rows, terms)
            )
        except sqlite3.IntegrityError:
            raise InputError("monitor: a repeat of an item occurs twice in the file.") from None

    def observations(self, kind: str = "") -> Iterator[Observation]:
        """Judgments of one kind (empty: of all), in the order given."""
        query = "SELECT * FROM observation WHERE ? IN ('', kind) ORDER BY rowid"
        return map(Observation._make, self._db.execute(query, (kind,)))

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a query over the tables gives, e.g. counts and sums per cluster."""
        return self._db.execute(query, values).fetchall()

    def add_look(self, look: Look) -> None:
        """Store what a look said."""
        self._db.execute("INSERT INTO look VALUES (?, ?, ?, ?)", look)

    def looks(self) -> list[Look]:
        """All looks, in order."""
        return [Look(*row) for row in self._db.execute("SELECT * FROM look ORDER BY rowid")]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _checked(rows: Iterable[Observation], terms: Terms) -> Iterator[Observation]:
    for row in rows:
        if row.value is not None and not terms.low <= row.value <= terms.high:  # NaN too
            raise InputError(
                f"monitor: item {short(row.item)} has the value {row.value}; the range is "
                f"{terms.low:g} to {terms.high:g}. A state keeps that of its first --scale."
            )
        yield row


@contextmanager
def changed_state(path: Path, *, create: bool = True) -> Iterator[MonitorState]:
    """Change a state in one transaction: killed at any moment, it is as before or after.

    Parameters
    ----------
    path : Path
    create : bool
        Make the file where there is none.

    Raises
    ------
    InputError
        The file is not a state, such as the JSON of an earlier version.
    StoreError
        Another process holds the state, or the disk refuses it.
    """
    if path.is_file():
        with foreign(path, "a file"), path.open("rb") as file:
            start = file.read(64).lstrip()
        is_json = start.startswith((b"{", b"[")) or path.suffix.lower() == ".json"
        if is_json and not start.startswith(b"SQLite"):
            raise LAYOUT.layout_error(
                path,
                "JSON of an earlier version, which kept sums only; add its files again, each by "
                f"judgestats monitor FILE --state {command_word(path.with_suffix('.db'))} "
                "--rate NAME=COLUMN:WORD",
            )
    with transaction(path, LAYOUT, create=create) as db:
        yield MonitorState(db, path)
