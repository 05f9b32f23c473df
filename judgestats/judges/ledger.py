"""What judging has cost, kept in the journal: every run, process and resume adds to it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from judgestats.judges.journal_database import Database
from judgestats.judges.journal_tables import checksum

# An attempt in flight has its line of the ledger, and the dollars held back for it.
LEDGER_SCHEMA = """
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY,
    experiment TEXT NOT NULL, base_url TEXT NOT NULL, model TEXT NOT NULL,
    began REAL NOT NULL,
    requests INTEGER NOT NULL DEFAULT 0,
    known REAL NOT NULL DEFAULT 0,       -- dollars, by the tokens that servers report
    estimated REAL NOT NULL DEFAULT 0,   -- of answers whose tokens no server reported
    in_vain REAL NOT NULL DEFAULT 0,     -- of requests with no answer to show, estimated too
    asked_again INTEGER NOT NULL DEFAULT 0,
    longest REAL NOT NULL DEFAULT 0,     -- tokens of the longest reply (one choice)
    input_ratio REAL NOT NULL DEFAULT 0, -- most tokens of a prompt, as a share of those held back
    output_ratio REAL NOT NULL DEFAULT 0, -- most tokens of a reply, as a share of max_tokens
    checksum BLOB NOT NULL DEFAULT x''   -- of all that stands before it
);
ALTER TABLE attempts ADD COLUMN line INTEGER;
ALTER TABLE attempts ADD COLUMN hold REAL;
"""
_SUMS = ("requests", "known", "estimated", "in_vain", "asked_again")
_WORST = ("longest", "input_ratio", "output_ratio")
_COUNTS = ("requests", "asked_again")
_FIGURES = (*_SUMS, *_WORST)
_FIELDS = {"known": "reported"}
"""Columns that are called otherwise in memory: journals of 0.1.0 have them."""
_SIGNED = ", ".join(("id", "experiment", "base_url", "model", "began", *_FIGURES))


def sign_lines(db: sqlite3.Connection, lines: Iterable[int] | None = None) -> None:
    """Give lines of the ledger (all, by default) the checksum of what they hold."""
    db.create_function("ledger_checksum", -1, lambda line, *rest: checksum(b"%d" % line, rest))
    query = f"UPDATE ledger SET checksum = ledger_checksum({_SIGNED})"  # noqa: S608
    if lines is None:
        db.execute(query)
    else:
        db.executemany(f"{query} WHERE id = ?", [(line,) for line in lines])


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """What one request adds to a line of the ledger.

    Attributes
    ----------
    line : int
        The line's number.
    reported, estimated, in_vain : float
        Dollars.
    longest, input_ratio, output_ratio : float
        See `Spend`.
    requests : int
    """

    line: int
    reported: float = 0.0
    estimated: float = 0.0
    in_vain: float = 0.0
    longest: float = 0.0
    input_ratio: float = 0.0
    output_ratio: float = 0.0
    requests: int = 1


@dataclass(frozen=True, kw_only=True)
class Spend:
    """What was spent on a model for an experiment.

    Attributes
    ----------
    requests : int
    reported, estimated, in_vain : float
        Dollars: by the tokens reported; of answers without reported tokens; of requests without an
        answer.
    asked_again : int
        Judgments asked again because a run was killed while they were in flight.
    longest : float
        Tokens of the longest reply (one choice).
    input_ratio : float
        The most tokens of a prompt, as a share of the tokens held back for it.
    output_ratio : float
        The most tokens of a reply, as a share of its ``max_tokens``; 0 where it had none.
    """

    requests: int = 0
    reported: float = 0.0
    estimated: float = 0.0
    in_vain: float = 0.0
    asked_again: int = 0
    longest: float = 0.0
    input_ratio: float = 0.0
    output_ratio: float = 0.0

    @property
    def total(self) -> float:
        """All dollars.

        Examples
        --------
        >>> Spend(reported=1.0, in_vain=0.5).total
        1.5
        """
        return self.reported + self.estimated + self.in_vain


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """One line: a process's spend on a model for an experiment."""

    experiment: str
    base_url: str
    model: str
    began: float
    spend: Spend


class Ledger:
    """The ledger of an open journal.

    Parameters
    ----------
    database : Database
        The journal's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lines: dict[tuple[str, str, str], int] = {}

    def spent(self, experiment: str, base_url: str, model: str) -> Spend:
        """What all runs together have spent on a model for an experiment."""
        sums = ", ".join(f"coalesce(sum({name}), 0)" for name in _SUMS)
        worst = ", ".join(f"coalesce(max({name}), 0)" for name in _WORST)
        rows = self._database.rows(
            f"SELECT {sums}, {worst} FROM ledger "  # noqa: S608 - names of this file only
            "WHERE experiment = ? AND base_url = ? AND model = ?",
            (experiment, base_url, model),
        )
        return self._spend(rows[0])

    def line(self, experiment: str, base_url: str, model: str) -> int:
        """The number of this process's line; begun at its first use."""
        place = (experiment, base_url, model)
        if place not in self._lines:
            self._lines[place] = self._begin(
                LedgerLine(
                    experiment=experiment,
                    base_url=base_url,
                    model=model,
                    began=time.time(),
                    spend=Spend(),
                )
            )
        return self._lines[place]

    def charge(self, charges: Iterable[Charge]) -> None:
        """Add charges; the caller's transaction commits them."""
        totals: dict[int, list[float]] = {}
        for charge in charges:
            line = totals.setdefault(charge.line, [0.0] * 7)
            line[0] += charge.requests
            line[1] += charge.reported
            line[2] += charge.estimated
            line[3] += charge.in_vain
            line[4] = max(line[4], charge.longest)
            line[5] = max(line[5], charge.input_ratio)
            line[6] = max(line[6], charge.output_ratio)
        self._database.db.executemany(
            "UPDATE ledger SET requests = requests + ?, known = known + ?, "
            "estimated = estimated + ?, in_vain = in_vain + ?, longest = max(longest, ?), "
            "input_ratio = max(input_ratio, ?), output_ratio = max(output_ratio, ?) WHERE id = ?",
            [(*figures, line) for line, figures in totals.items()],
        )
        sign_lines(self._database.db, totals)

    def charge_again(self, line: int, count: int) -> None:
        """Note judgments that are asked a second time because a run was killed."""
        self._database.rows(
            "UPDATE ledger SET asked_again = asked_again + ? WHERE id = ?", (count, line)
        )
        self._sign([line])

    def charge_lost(self) -> None:
        """Charge what was held back for requests that were in flight when a run was killed."""
        self._database.rows(
            "UPDATE ledger SET "
            "requests = requests + (SELECT count(*) FROM attempts "
            "WHERE outcome IS NULL AND line = ledger.id), "
            "in_vain = in_vain + (SELECT coalesce(sum(hold), 0) FROM attempts "
            "WHERE outcome IS NULL AND line = ledger.id) "
            "WHERE id IN (SELECT line FROM attempts WHERE outcome IS NULL)"
        )
        lines = self._database.rows("SELECT DISTINCT line FROM attempts WHERE outcome IS NULL")
        self._sign([line for (line,) in lines if line is not None])

    def damaged(self) -> list[object]:
        """The lines that do not hold what was written."""
        bad: list[object] = []
        for row in self._database.rows(f"SELECT {_SIGNED}, checksum FROM ledger"):  # noqa: S608
            try:
                whole = checksum(b"%d" % row[0], row[1:-1]) == row[-1]
            except (TypeError, ValueError):  # a number that has become text or bytes
                whole = False
            if not whole:
                bad.append(row[0])
        return bad

    def _sign(self, lines: Sequence[int]) -> None:
        with self._database.faults():
            sign_lines(self._database.db, lines)

    def lines(self) -> list[LedgerLine]:
        """All lines, oldest first."""
        rows = self._database.rows(
            f"SELECT experiment, base_url, model, began, {', '.join(_FIGURES)} "  # noqa: S608
            "FROM ledger ORDER BY id"
        )
        return [
            LedgerLine(
                experiment=str(row[0]),
                base_url=str(row[1]),
                model=str(row[2]),
                began=float(row[3] or 0.0),
                spend=self._spend(row[4:]),
            )
            for row in rows
        ]

    def keep(self, lines: Iterable[LedgerLine]) -> None:
        """Take over the lines of another journal."""
        for line in lines:
            self._begin(line)

    def _begin(self, line: LedgerLine) -> int:
        values = (line.experiment, line.base_url, line.model, line.began)
        rows = self._database.rows(
            f"INSERT INTO ledger (experiment, base_url, model, began, {', '.join(_FIGURES)}) "  # noqa: S608
            f"VALUES ({', '.join('?' * (4 + len(_FIGURES)))}) RETURNING id",
            (*values, *astuple(line.spend)),
        )
        number = int(rows[0][0])
        self._sign([number])
        return number

    def _spend(self, figures: Sequence[Any]) -> Spend:
        """Figures as they were written: a flipped bit may have made a text of a number."""
        try:
            names = [_FIELDS.get(column, column) for column in _FIGURES]
            named: dict[str, Any] = dict(zip(names, map(float, figures), strict=True))
            return Spend(**named | {name: int(named[name]) for name in _COUNTS})
        except (ValueError, TypeError, OverflowError):
            raise self._database.malformed("ledger") from None
