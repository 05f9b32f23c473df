"""Ctrl-C and SIGTERM while judgments are collected."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from typing import Protocol

from judgestats.judges.account import Stop
from judgestats.judges.sending import Halt


class Interruptible(Protocol):
    """What can be asked to end: `halt` in order, `hurry` at once."""

    halt: Halt
    hurry: asyncio.Event


@contextlib.contextmanager
def signals(collector: Interruptible) -> Iterator[None]:
    """The first SIGINT or SIGTERM winds the collection down, the second ends it at once."""
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if collector.halt.called.is_set():
            collector.hurry.set()
        collector.halt.stop(Stop.INTERRUPTED)

    handled = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: asyncio.run's own handling
            loop.add_signal_handler(number, on_signal)
            handled.append(number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
