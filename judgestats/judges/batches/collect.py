"""Collect judgments in batches: the same plan, journal and frame as online, at half the price."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from judgestats.errors import InputError, JudgestatsError, printable
from judgestats.judges.account import Collected
from judgestats.judges.batches.collector import BatchCollector
from judgestats.judges.batches.shared import Limits
from judgestats.judges.budget import Budget
from judgestats.judges.client import AsgiApp
from judgestats.judges.collector import FollowUp
from judgestats.judges.interrupts import signals
from judgestats.judges.journal import Journal
from judgestats.judges.prices import PriceTable
from judgestats.judges.retry import RetryPolicy
from judgestats.judges.spec import JudgeSpec
from judgestats.judges.terms import Terms
from judgestats.judgments.design import Task
from judgestats.protocols.base import ReplyMode

__all__ = ["collect_in_batches"]


async def collect_in_batches(
    tasks: Iterable[Task],
    *,
    journal: Journal | str | Path,
    base_url: str | None = None,
    judges: Mapping[str, JudgeSpec] | None = None,
    experiment: str = "",
    concurrency: int = 32,
    choices_per_request: int = 1,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    reply_mode: ReplyMode | None = None,
    budget: Budget | None = None,
    prices: PriceTable | None = None,
    timeout_s: float = 120.0,
    retry: RetryPolicy | None = None,
    progress: bool | str | Callable[[str], None] = False,
    follow_up: FollowUp | None = None,
    simulated_app: AsgiApp | None = None,
    handle_signals: bool = False,
    limits: Limits | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Collected:
    """Ask for every judgment of a plan that the journal does not hold yet, through the Batch API.

    One judgment of each judge and temperature is asked online first, where it is not known yet
    what the judge supports: a batch would be refused as a whole hours later. Then requests are
    handed in, looked at until they have ended, and fetched; what failed goes into a next batch.
    Every step is in the journal before the next one is taken, so that the same command goes on
    after a kill.

    Parameters
    ----------
    tasks : iterable of Task
        The plan.
    journal : Journal or path
        Needed: it holds the batches' ids.
    base_url, judges, experiment, choices_per_request, seed, settings, reply_mode, prices
        See `collect`.
    concurrency : int
        Not used: the provider decides.
    budget : Budget, optional
        Requests are handed in as far as it reaches, their estimates held back.
    timeout_s : float
        Limit of a short call, in seconds; files get 15 minutes.
    retry : RetryPolicy, optional
        For the calls that hand in, look and fetch.
    progress : bool, text or function of text
        True writes a line on stderr when a batch moves on.
    follow_up : function, optional
        Called with each row; what follows makes the next stage, in batches of its own.
    simulated_app : ASGI application, optional
        Answers in place of the bundled simulated server.
    handle_signals : bool
        Whether SIGINT and SIGTERM end the waiting; the batches go on on the server.
    limits : Limits, optional
        Sizes, number of rounds, seconds between two looks.
    sleep : function of seconds
        Waits between two looks.

    Returns
    -------
    Collected

    Raises
    ------
    InputError, JudgeError, BudgetError, StoreError
        As `collect` raises them; and a batch that failed validation.
    """
    terms = Terms.of(
        judges=judges,
        base_url=base_url,
        experiment=experiment,
        concurrency=concurrency,
        choices_per_request=choices_per_request,
        seed=seed,
        settings=settings,
        reply_mode=reply_mode,
        budget=budget,
        prices=prices,
        timeout_s=timeout_s,
        retry=retry,
    )
    if journal is None:
        raise InputError("mode=batch: name a journal; it holds the batches' ids until they end.")
    with contextlib.ExitStack() as stack:
        book = journal if isinstance(journal, Journal) else stack.enter_context(Journal(journal))
        collector = BatchCollector(
            terms,
            journal=book,
            say=_sayer(progress),
            follow_up=follow_up,
            app=simulated_app,
            limits=limits or Limits(),
            sleep=sleep,
        )
        with signals(collector) if handle_signals else contextlib.nullcontext():
            try:
                await collector.run(list(tasks))
            except JudgestatsError as error:
                if collector.running:
                    error.add_note(collector.told_of_running())
                raise
        return collector.collected()


def _sayer(progress: bool | str | Callable[[str], None]) -> Callable[[str], None]:
    if callable(progress):
        return progress
    if not progress:
        return lambda _: None

    def say(text: str) -> None:
        sys.stderr.write(f"{printable(text)}\n")
        sys.stderr.flush()

    return say
