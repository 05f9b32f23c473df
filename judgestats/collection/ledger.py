"""Budget of a collection and ledger of its cost."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from judgestats.collection.journal_file import Database, checksum
from judgestats.errors import BudgetError, InputError

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


@dataclass(frozen=True, kw_only=True)
class Spend:
    """What was spent on a model for an experiment.

    Attributes
    ----------
    requests : int
    reported, estimated, in_vain : float
        Dollars by the tokens reported, of answers without reported tokens, and of requests without
        an answer.
    asked_again : int
        Judgments requested again because a run was killed while they were in flight.
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
class Charge(Spend):
    """What one request adds to a line of the ledger, by the line's number."""

    line: int
    requests: int = 1


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

    def total_spend(self, experiment: str, base_url: str, model: str) -> Spend:
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
            self._lines[place] = self._begin((*place, time.time()), Spend())
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
        query = "UPDATE ledger SET asked_again = asked_again + ? WHERE id = ?"
        self._database.rows(query, (count, line))
        self._sign([line])

    def charge_lost(self) -> None:
        """Charge what was held back for requests that were in flight when a run was killed."""
        self._database.rows(
            "UPDATE ledger SET requests = requests + (SELECT count(*) FROM attempts WHERE outcome "
            "IS NULL AND line = ledger.id), in_vain = in_vain + (SELECT coalesce(sum(hold), 0) "
            "FROM attempts WHERE outcome IS NULL AND line = ledger.id) WHERE id IN (SELECT line "
            "FROM attempts WHERE outcome IS NULL)"
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
                experiment=str(experiment), base_url=str(url), model=str(model),
                began=float(began or 0.0), spend=self._spend(figures),
            )
            for experiment, url, model, began, *figures in rows
        ]  # fmt: skip

    def keep(self, lines: Iterable[LedgerLine]) -> None:
        """Take over the lines of another journal."""
        for line in lines:
            self._begin((line.experiment, line.base_url, line.model, line.began), line.spend)

    def _begin(self, place: tuple[str, str, str, float], spend: Spend) -> int:
        rows = self._database.rows(
            f"INSERT INTO ledger (experiment, base_url, model, began, {', '.join(_FIGURES)}) "  # noqa: S608
            f"VALUES ({', '.join('?' * (4 + len(_FIGURES)))}) RETURNING id",
            (*place, *astuple(spend)),
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


def unknown_price(names: Iterable[str]) -> BudgetError:
    """What to say of a cost limit for judges whose price is unknown.

    Examples
    --------
    >>> str(unknown_price(["gpt-99"]))[:52]
    'max_cost: the price of gpt-99 is unknown, so the lim'
    """
    unknown = f"the price of {', '.join(names)} is unknown, so the limit cannot be held"
    give = "Give it in a price file (prices=my-prices.yaml), or limit requests (max_requests)."
    return BudgetError(f"max_cost: {unknown}. {give}")


_UNSEEN = 8
"""Requests in flight under ``max_cost`` until a reply has shown what one costs."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Declared limits; None means no limit.

    Attributes
    ----------
    max_cost : float or None
        In US dollars, for all runs of an experiment with its judges that one journal holds. A
        request is sent only if what is spent, what is held back for requests in flight, and what is
        held back for itself stay within it: a bound with `max_tokens` at a server that heeds it,
        else a guess.
    max_requests : int or None
        Requests sent, retries included. Cached answers cost nothing.

    Examples
    --------
    >>> Budget(max_requests=100).max_requests
    100
    """

    max_cost: float | None = None
    max_requests: int | None = None

    def __post_init__(self) -> None:
        if self.max_cost is not None and not (math.isfinite(self.max_cost) and self.max_cost >= 0):
            raise InputError(f"max_cost: expected a number of at least 0, got {self.max_cost!r}.")
        if self.max_requests is not None and self.max_requests < 0:
            raise InputError(f"max_requests: must be at least 0, got {self.max_requests!r}.")

    def less(self, *, requests: int, cost: float) -> Budget:
        """What is left after an earlier collection of the same run; never below 0.

        Examples
        --------
        >>> Budget(max_requests=100).less(requests=30, cost=0.0).max_requests
        70
        """
        most, dollars = self.max_requests, self.max_cost
        return Budget(
            max_cost=None if dollars is None else max(0.0, dollars - cost),
            max_requests=None if most is None else max(0, most - requests),
        )


class Purse:
    """The running account against a budget.

    Money that may have been spent in vain (a reply that broke off, a time-out) is booked at what
    was held back for it, and an answer without believable token counts at its estimate
    (`judgestats.collection.prices.charged`).

    Parameters
    ----------
    budget : Budget

    Attributes
    ----------
    requests : int
        Sent in this run.
    spent, perhaps_spent, uncounted : float
        Dollars of this run: by reported tokens, in vain, and of answers without reported tokens.
    earlier : float
        Spent by earlier runs, as the journal's ledger has it.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.requests = 0
        self.spent = 0.0
        self.perhaps_spent = 0.0
        self.uncounted = 0.0
        self.earlier = 0.0
        self._held = 0.0
        self._in_flight = 0
        self._alone = False
        self._answered = False
        self._changed = asyncio.Event()

    @property
    def total(self) -> float:
        """Dollars spent by this run and earlier ones, estimates included."""
        return self.earlier + self.spent + self.perhaps_spent + self.uncounted

    async def take(
        self,
        hold: Callable[[], float],
        *,
        who: str = "this judge",
        alone: Callable[[], bool] = bool,
    ) -> tuple[str, float]:
        """Ask to send a request.

        Parameters
        ----------
        hold : function
            Dollars held back for it, as things stand: they change while it waits.
        who : str
        alone : function
            Whether it is let through only while no other request is in flight.

        Returns
        -------
        (str, float)
            The name of the limit that refuses it (empty: none), and what is held back.
        """
        limits = self.budget
        while True:
            dollars = hold()
            if limits.max_requests is not None and self.requests >= limits.max_requests:
                return "max_requests", 0.0
            if limits.max_cost is None:
                break
            if math.isnan(dollars):
                raise unknown_price([who])
            if dollars == 0 and self._held == 0:
                break
            fits = self.total + self._held + dollars <= limits.max_cost
            fits = fits and (self._answered or self._in_flight < _UNSEEN)
            lonely = alone()
            if fits and not self._alone and not (lonely and self._in_flight):
                self._alone = lonely
                break
            if self._in_flight == 0:
                return "max_cost", 0.0
            self._changed.clear()  # those in flight may cost less than was held back for them
            await self._changed.wait()
        self.requests += 1
        self._in_flight += 1
        self._held += 0.0 if math.isnan(dollars) else dollars
        return "", dollars

    def settle(
        self, hold: float, *, cost: float, in_vain: bool = False, uncounted: float = math.nan
    ) -> tuple[float, float, float]:
        """A request ended: book its cost instead of what was held back for it.

        Parameters
        ----------
        hold : float
        cost : float
            NaN = unknown.
        in_vain : bool
            Whether there is no answer to show for it.
        uncounted : float
            Of an answer whose cost is unknown: its estimate (NaN = what was held back).

        Returns
        -------
        (float, float, float)
            Dollars known, estimated, and spent in vain.
        """
        self._in_flight -= 1
        self._alone = False
        held = 0.0 if math.isnan(hold) else hold
        self._held = max(0.0, self._held - held) if self._in_flight else 0.0
        if in_vain:
            booked = (0.0, 0.0, held if math.isnan(cost) else cost)
        elif not math.isnan(cost):
            booked = (cost, 0.0, 0.0)
        else:
            booked = (0.0, held if math.isnan(uncounted) else uncounted, 0.0)
        self._answered |= not (in_vain or cost == 0)
        self.spent += booked[0]
        self.uncounted += booked[1]
        self.perhaps_spent += booked[2]
        self._changed.set()
        return booked

    def give_back(self, hold: float) -> None:
        """A request that was let through is not sent after all."""
        self.requests -= 1
        self.settle(hold, cost=0.0)
