"""Collect judgments: ask what is missing, under a budget, and keep every answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import Any

from judgestats.judges.account import Collected
from judgestats.judges.ask import Ask
from judgestats.judges.online import collect_online
from judgestats.judgments.design import Task


async def collect(tasks: Iterable[Task], ask: Ask | None = None, **options: Any) -> Collected:
    """Ask judges for every judgment of a plan that the journal does not hold yet.

    Parameters
    ----------
    tasks : iterable of Task
        The plan. A sequence is worked off judge by judge at once; a one-shot iterable is read
        lazily.
    ask : Ask, optional
        What is asked, how it may be spent, and where it is kept.
    **options
        Fields of `judgestats.judges.ask.Ask` that replace those of `ask`. ``mode="batch"`` hands
        the plan to the provider's Batch API (see
        `judgestats.judges.batches.collect.collect_in_batches`).

    Returns
    -------
    Collected
        Rows, account, and why it stopped if it is not complete.

    Raises
    ------
    InputError
        An option out of range, an unknown judge, the same judgment twice in a plan.
    JudgeError
        Refused key, unknown model, or an endpoint that was never reached.
    BudgetError
        A cost limit for a judge whose price is unknown.
    StoreError
        The journal cannot be used. What was stored is kept.
    """
    ask = Ask.of(ask, **options)
    if ask.mode == "batch":
        from judgestats.judges.batches.collect import collect_in_batches

        return await collect_in_batches(tasks, ask)
    if ask.mode == "offline":
        from judgestats.judges.offline import collect_offline

        return await collect_offline(tasks, ask)
    return await collect_online(tasks, ask)


def collect_judgments(tasks: Iterable[Task], ask: Ask | None = None, **options: Any) -> Collected:
    """`collect` for code that is not asynchronous; takes the same parameters.

    Ctrl-C (and SIGTERM) end the collection in order within seconds: requests in flight get two
    seconds to bring their answers, all answers are kept, and `Collected.message` says how to go on.
    In a notebook, where an event loop already runs, the work is done in a thread.

    Examples
    --------
    >>> from judgestats.judgments.design import Condition, Task
    >>> from judgestats.protocols.base import Prompted, ReplyMode
    >>> def build(mode):
    ...     text = "Rate from 1 to 10.\\n[The Start of Answer]\\nIt is 4.\\n[The End of Answer]"
    ...     return Prompted(
    ...         messages=({"role": "user", "content": text},), mode=ReplyMode.TEXT, prompt_sha="0"
    ...     )
    >>> task = Task(
    ...     condition=Condition(judge="sim-discerning", temperature=0.0),
    ...     item_id="q1", cluster="q1", replicate=0, build=build,
    ... )
    >>> collected = collect_judgments([task])
    >>> collected.account.answered, collected.complete
    (1, True)
    """
    ask = Ask.of(ask, **options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        main_thread = threading.current_thread() is threading.main_thread()
        return asyncio.run(collect(tasks, ask, handle_signals=main_thread))
    return _in_thread(tasks, ask)


def _in_thread(tasks: Iterable[Task], ask: Ask) -> Collected:
    """Run in a thread with a loop of its own; an interrupt here ends the work there."""
    result: list[Collected] = []
    failure: list[BaseException] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Collected]]] = []

    async def main() -> None:
        task = asyncio.create_task(collect(tasks, ask))
        running.append((asyncio.get_running_loop(), task))
        result.append(await task)

    def work() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # handed to the caller's thread below
            failure.append(error)

    thread = threading.Thread(target=work, name="judgestats-collect")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        for loop, task in running:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if failure:
        raise failure[0]
    return result[0]
