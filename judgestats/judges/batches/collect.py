"""Collect judgments in batches: the same plan, journal and frame as online, at half the price."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from judgestats.errors import InputError, JudgestatsError, printable
from judgestats.judges.account import Collected
from judgestats.judges.ask import Ask
from judgestats.judges.batch_limits import Limits
from judgestats.judges.batches.collector import BatchCollector
from judgestats.judges.endings import reader_notes
from judgestats.judges.interrupts import signals
from judgestats.judgments.design import Task
from judgestats.protocols.reading import READER_VERSION
from judgestats.terminal import emit


async def collect_in_batches(
    tasks: Iterable[Task], ask: Ask | None = None, **options: Any
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
        The plan. Tasks that follow from answers (``follow_up``) make the next stage, in batches of
        their own.
    ask : Ask, optional
        Its journal is needed: it holds the batches' ids.
    **options
        Fields of `judgestats.judges.ask.Ask` that replace those of `ask`.

    Returns
    -------
    Collected

    Raises
    ------
    InputError, JudgeError, BudgetError, StoreError
        As `collect` raises them; and a batch that failed validation.
    """
    ask = Ask.of(ask, **{**options, "mode": "batch"})
    if ask.journal is None:
        raise InputError("mode=batch: name a journal; it holds the batches' ids until they end.")
    with ask.opened_journal() as journal:
        reader = journal.read_by(READER_VERSION)
        collector = BatchCollector(
            ask, journal=journal, say=_sayer(ask.progress), limits=ask.limits or Limits()
        )
        with signals(collector) if ask.handle_signals else contextlib.nullcontext():
            try:
                await collector.run(list(tasks))
            except JudgestatsError as error:
                if collector.running:
                    error.add_note(collector.running_note())
                raise
        collected = collector.collected()
        notes = (*reader_notes(reader, collected.account), *collected.notes)
        return replace(collected, notes=notes)


def _sayer(progress: bool | str | Callable[[Any], None]) -> Callable[[str], None]:
    if callable(progress):
        return progress
    if not progress:
        return lambda _: None

    def say(text: str) -> None:
        emit(f"{printable(text)}\n", error=True)

    return say
