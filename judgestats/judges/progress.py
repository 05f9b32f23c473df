"""Live progress: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from judgestats.judges.account import Account, token_parts
from judgestats.terminal import emit, is_terminal

EVERY_S = 0.2
_LINE_EVERY_S = 10.0


class Reporter:
    """Shown an account now and then."""

    def start(self, total: int | None) -> None:
        """Begin; `total` judgments are planned (None = unknown)."""

    def show(self, account: Account, waiting: str = "") -> None:
        """Show the state; `waiting` says which endpoint asks for how long a wait."""

    def end(self, account: Account) -> None:
        """Show the last state and leave the terminal as it was."""


class Silent(Reporter):
    """Shows nothing."""


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
        self._total: int | None = None

    def start(self, total: int | None) -> None:
        """Begin."""
        self._total = total
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
        self._total: int | None = None

    def start(self, total: int | None) -> None:
        """Begin."""
        self._total = total

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

    A text says what is being done, in place of "judging".
    """
    if callable(progress):
        return Calls(progress)
    if not progress:
        return Silent()
    label = progress if isinstance(progress, str) else "judging"
    kind = Bar if is_terminal(error=True) else Lines
    return kind(label=label)
