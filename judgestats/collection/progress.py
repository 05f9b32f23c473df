"""Progress of a collection, and messages at its end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from judgestats.collection.account import Account, Stop, token_parts
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.ledger import Budget
from judgestats.collection.sending import Halt
from judgestats.protocols.replies import READER_VERSION
from judgestats.results.numbers import count_noun
from judgestats.terminal import emit, is_terminal

EVERY_S = 0.2
_LINE_EVERY_S = 10.0


class Reporter:
    """Receives the account of a collection at intervals, and shows nothing."""

    _total: int | None = None

    def start(self, total: int | None) -> None:
        """Begin; `total` judgments are planned (None = unknown)."""
        self._total = total

    def show(self, account: Account, waiting: str = "") -> None:
        """Show the state; `waiting` says which endpoint asks for how long a wait."""

    def end(self, account: Account) -> None:
        """Show the last state and leave the terminal as it was."""


class Calls(Reporter):
    """Hands the account to a function."""

    def __init__(self, function: Callable[[Account], None]) -> None:
        self._function = function

    def show(self, account: Account, waiting: str = "") -> None:
        """Show the state."""
        del waiting
        self._function(account)

    end = show


def _figures(account: Account, seconds: float, waiting: str = "") -> str:
    rate = account.answered / seconds if seconds > 0 else 0.0
    cost = account.total_cost_usd
    price = "cost unknown" if math.isnan(cost) else f"${cost:.4f}"
    tokens = f"{account.tokens_in + account.tokens_out:,.0f} tokens{token_parts(vars(account))}"
    text = f"{rate:,.0f}/s · {tokens} · {price} · {account.failed} failed"
    if account.cached:
        text += f" · {account.cached:,} from the journal"
    return f"{text} · {waiting}" if waiting else text


class Bar(Reporter):
    """A live bar: done / total, rate, tokens, cost, failures."""

    def __init__(self, *, label: str = "judging") -> None:
        self._progress = Progress(
            TextColumn(label),
            BarColumn(bar_width=30),
            TextColumn("{task.completed:,.0f}/{task.fields[planned]}"),
            TextColumn("{task.fields[figures]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._progress.add_task(label, total=None, planned="?", figures="")
        self._began = time.perf_counter()

    def start(self, total: int | None) -> None:
        """Begin."""
        super().start(total)
        planned = "?" if total is None else f"{total:,}"
        self._progress.update(self._task, total=total, planned=planned)
        self._progress.start()

    def show(self, account: Account, waiting: str = "") -> None:
        """Show the state."""
        planned = "?" if self._total is None else f"{max(self._total, account.rows):,}"
        self._progress.update(
            self._task,
            completed=account.rows,
            planned=planned,
            figures=_figures(account, time.perf_counter() - self._began, waiting),
        )
        self._progress.refresh()

    def end(self, account: Account) -> None:
        """Show the last state."""
        self.show(account)
        self._progress.stop()


class Lines(Reporter):
    """A line every ten seconds, and one at the end."""

    def __init__(self, *, label: str = "judging") -> None:
        self._label = label
        self._began = self._last = time.perf_counter()
        self._waiting = ""

    def show(self, account: Account, waiting: str = "") -> None:
        """Show the state, if the last line is old enough, or a wait begins."""
        now = time.perf_counter()
        begins = bool(waiting) and not self._waiting
        self._waiting = waiting
        if begins or now - self._last >= _LINE_EVERY_S:
            self._last = now
            self._line(account, waiting)

    def end(self, account: Account) -> None:
        """Show the last state."""
        self._line(account)

    def _line(self, account: Account, waiting: str = "") -> None:
        total = "" if self._total is None else f"/{max(self._total, account.rows):,}"
        figures = _figures(account, time.perf_counter() - self._began, waiting)
        emit(f"{self._label}: {account.rows:,}{total} · {figures}\n", error=True)


def reporter(progress: bool | str | Callable[[Any], None]) -> Reporter:
    """The reporter for a `progress` argument: a bar or lines on stderr, a function, or silence.

    A text names what is being done and replaces "judging".
    """
    if callable(progress):
        return Calls(progress)
    if not progress:
        return Reporter()
    label = progress if isinstance(progress, str) else "judging"
    kind = Bar if is_terminal(error=True) else Lines
    return kind(label=label)


def journal_note(account: Account, journal: Journal) -> str:
    """What to add to an error that ended a collection: nothing answered is lost."""
    answers = count_noun(account.answered, "answer of this run is", "answers of this run are")
    return f"{answers} kept in {journal.path}; the same command goes on from there."


def message(
    halt: Halt, *, account: Account, budget: Budget, journal: Journal, running: str = ""
) -> str:
    """Why a collection stopped, and how to go on; empty where it is complete.

    Parameters
    ----------
    halt, account, budget, journal
        Of the collection.
    running : str
        A sentence on what goes on elsewhere, and how to fetch it. It replaces how to go on.
    """
    why = _reason(halt, budget, account)
    if not why:
        return ""
    came = count_noun(account.answered, "answer", "answers")
    done = f"Stopped: {why}. {came} came in this run"
    if journal.path is None:
        return f"{done}. Nothing was kept: name a journal to be able to go on."
    done = f"{done}; all are kept in {journal.path}."
    if running:
        return f"{done} {running}"
    more = {
        Stop.MAX_COST: " with a larger max_cost",
        Stop.MAX_REQUESTS: " with a larger max_requests",
        Stop.REFUSED: ", once that is fixed or that judge left out,",
        Stop.FAILING: ", once what the server names is fixed or that judge or condition left out,",
    }.get(halt.why, "")
    return f"{done} Run the same command again{more} to go on: only what is missing is asked."


def reader_notes(before: str, account: Account) -> list[str]:
    """That answers of the journal were read by another version of the reader when they came.

    Examples
    --------
    >>> reader_notes("1", Account(cached=3))
    ['3 answers came when replies were read by version 1 of the rules; all are read by version ... \
now (`judgestats reparse RUN` shows what differs from an earlier run)']
    """
    if not before or not account.cached:
        return []
    answers = count_noun(account.cached, "answer", "answers")
    rules = f"version {before} of the rules; all are read by version {READER_VERSION} now"
    what = "`judgestats reparse RUN` shows what differs from an earlier run"
    return [f"{answers} came when replies were read by {rules} ({what})"]


def money_notes(account: Account, budget: Budget, endpoints: Iterable[Endpoint]) -> list[str]:
    """What a reader should know of the money: an overrun, a limit that is a guess, an old price."""
    notes = []
    limit = budget.max_cost
    priced = [each for each in endpoints if each.price.is_known and not each.price.free]
    if limit is not None and account.requests:
        spent = account.charged_usd + account.earlier_cost_usd
        if spent > limit + 1e-9:
            why = "replies that were in flight cost more than was held back for them"
            notes.append(f"max_cost (${limit:g}) was overrun: ${spent:,.4f} is spent, since {why}")
        if loose := [each.spec.name for each in priced if not each.reserve.bounded]:
            notes.append(
                f"{', '.join(loose)}: no bound on a reply's cost is known (without max_tokens, or "
                "at a server that does not keep to it), so max_cost is held by twice the worst "
                "seen, which is not a promise"
            )
    capped = limit is not None
    faults = [each.usage_faults.note(each.spec.name, capped=capped) for each in priced]
    notes += filter(None, faults)
    if account.requests:
        notes += [f"{each.spec.name}: {age}" for each in priced if (age := each.price.age())]
    return notes


def _reason(halt: Halt, budget: Budget, account: Account) -> str:
    spent = account.charged_usd + account.earlier_cost_usd
    of = f"${spent:,.4f} of it is spent"
    if account.earlier_cost_usd:
        of += f", ${account.earlier_cost_usd:,.4f} by earlier runs kept in the journal"
    if budget.max_cost is not None and spent > budget.max_cost + 1e-9:
        money = f"max_cost (${budget.max_cost:g}) is overrun: {of}"
    else:
        money = f"the next request could exceed max_cost (${budget.max_cost}); {of}"
    return {
        Stop.COMPLETE: "",
        Stop.MAX_COST: money,
        Stop.MAX_REQUESTS: f"max_requests ({budget.max_requests}) is reached",
        Stop.INTERRUPTED: "it was interrupted",
        Stop.NO_QUOTA: f"the quota is used up ({halt.detail})",
    }.get(halt.why, halt.detail)
