"""Collect judgments: ask what is missing, under a budget, and keep every answer."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

from judgestats.errors import InputError, JudgestatsError
from judgestats.judges.account import Account, Collected
from judgestats.judges.budget import Budget, Purse
from judgestats.judges.client import AsgiApp, JudgeClient
from judgestats.judges.collector import Collector, FollowUp
from judgestats.judges.endings import kept, message, money_notes
from judgestats.judges.endpoint import Endpoint
from judgestats.judges.interrupts import signals
from judgestats.judges.journal import Journal
from judgestats.judges.prices import PriceTable
from judgestats.judges.progress import EVERY_S, Reporter, reporter
from judgestats.judges.retry import RetryPolicy
from judgestats.judges.sink import FrameSink, PartSink
from judgestats.judges.source import Source, grouped
from judgestats.judges.spec import JudgeSpec
from judgestats.judges.terms import Terms
from judgestats.judgments.design import Task
from judgestats.protocols.base import ReplyMode

__all__ = ["bundled_app", "collect", "collect_judgments"]


async def collect(
    tasks: Iterable[Task],
    *,
    journal: Journal | str | Path | None = None,
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
    progress: bool | str | Callable[[Account], None] = False,
    follow_up: FollowUp | None = None,
    stream_to: str | Path | None = None,
    simulated_app: AsgiApp | None = None,
    handle_signals: bool = False,
) -> Collected:
    """Ask judges for every judgment of a plan that the journal does not hold yet.

    Parameters
    ----------
    tasks : iterable of Task
        The plan. A sequence is worked off judge by judge at once; a one-shot iterable is read
        lazily.
    journal : Journal, path or None
        Where answers are kept. None keeps none: a rehearsal.
    base_url : str, optional
        Endpoint of judges that do not name their own.
    judges : mapping of str to JudgeSpec, optional
        Judges by name; others are read with `parse_judge`.
    experiment : str
        Goes into the frame.
    concurrency : int
        The most requests in flight, per endpoint and model.
    choices_per_request : int
        Choices one request asks for (``n``): cheaper, and not as independent as requests.
    seed : int, optional
        Sent as ``seed + replicate`` where the endpoint accepts a seed.
    settings : mapping of field to value, optional
        Further fields of every request (``{"max_tokens": 300, "top_p": 0.9}``), by their names in
        `judgestats.judgments.settings.FIELDS`; one that the endpoint refuses is left out.
    reply_mode : ReplyMode, optional
        Forces a reply mode instead of finding the best the judge supports.
    budget : Budget, optional
    prices : PriceTable, optional
        Default: the bundled table.
    timeout_s : float
        Limit of one request, in seconds.
    retry : RetryPolicy, optional
    progress : bool, str or function of Account
        True shows a bar (a terminal) or lines (elsewhere) on stderr; a text is its label.
    follow_up : function, optional
        Called with each row that is done; gives (or awaits) the tasks that follow from it.
    stream_to : path, optional
        Write rows to Parquet parts in this folder instead of one frame: memory stays flat.
    simulated_app : ASGI application, optional
        Answers in place of the bundled simulated server.
    handle_signals : bool
        Whether SIGINT and SIGTERM end the collection in order (a second one at once).

    Returns
    -------
    Collected
        Rows, account, and why it stopped if it is not complete.

    Raises
    ------
    InputError
        A parameter out of range, an unknown judge, the same judgment twice in a plan.
    JudgeError
        Refused key, unknown model, or an endpoint that was never reached.
    BudgetError
        A cost limit for a judge whose price is unknown.
    StoreError
        The journal cannot be used. What was stored is kept.
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
    if isinstance(tasks, Sequence):
        for name in {t.condition.judge for t in tasks}:
            terms.judge(name)  # a wrong name is found before anything is opened or sent
    sink = FrameSink() if stream_to is None else PartSink(Path(stream_to))
    show = reporter(progress)
    async with contextlib.AsyncExitStack() as stack:
        book = journal if isinstance(journal, Journal) else stack.enter_context(Journal(journal))
        endpoints: dict[tuple[str, str], Endpoint] = {}
        clients: dict[tuple[object, ...], JudgeClient] = {}
        purse = Purse(terms.budget)

        def endpoint_of(name: str) -> Endpoint:
            spec = terms.judge(name)
            if spec.address not in endpoints:
                if spec.client_key not in clients:
                    client = JudgeClient(
                        spec,
                        connections=0,  # the endpoints' limits bound the connections
                        timeout_s=timeout_s,
                        app=(simulated_app or bundled_app()) if spec.in_process else None,
                    )
                    stack.push_async_exit(client)
                    clients[spec.client_key] = client
                endpoint = terms.endpoint(spec, client=clients[spec.client_key], journal=book)
                purse.earlier += endpoint.earlier.total
                endpoints[spec.address] = endpoint
            return endpoints[spec.address]

        collector = Collector(
            endpoint_of=endpoint_of,
            journal=book,
            purse=purse,
            sampling=terms.sampling,
            retry=terms.retry,
            sink=sink,
            experiment=experiment,
            follow_up=follow_up,
            check_duplicates=stream_to is None,
        )
        sources = _sources(tasks, terms)
        if isinstance(tasks, Sequence):  # what earlier runs spent counts before anything is sent
            for name in dict.fromkeys(t.condition.judge for t in tasks):
                endpoint_of(name)
        show.start(len(tasks) if isinstance(tasks, Sized) else None)
        ticker = asyncio.create_task(_tick(show, collector.account, endpoints))
        try:
            with signals(collector) if handle_signals else contextlib.nullcontext(), _calm_gc():
                await collector.run(sources, grace_s=2.0)
        except JudgestatsError as error:
            if collector.account.answered and book.path is not None:
                error.add_note(kept(collector.account, book))
            raise
        finally:
            ticker.cancel()
            show.end(collector.account)
    account = collector.account
    for endpoint in endpoints.values():
        account.earlier_cost_usd += endpoint.earlier.total
        account.earlier_billed_twice += endpoint.earlier.asked_again
    frame, parts = sink.finish()
    return Collected(
        frame=frame,
        parts=parts,
        account=account,
        stopped_because=collector.halt.why,
        message=message(collector.halt, account=account, budget=terms.budget, journal=book),
        reply_modes={
            n: endpoints[s.address].abilities.mode.value
            for n, s in terms.judges.items()
            if s.address in endpoints
        },
        notes=(
            *(note for endpoint in endpoints.values() for note in endpoint.told(terms.sampling)),
            *money_notes(account, terms.budget, endpoints.values()),
        ),
    )


def collect_judgments(tasks: Iterable[Task], **options: Any) -> Collected:
    """`collect` for code that is not asynchronous; takes the same parameters, and ``mode``.

    ``mode="batch"`` hands the plan to the provider's Batch API instead (see
    `judgestats.judges.batches.collect.collect_in_batches`).

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
    run = _way(options.pop("mode", "online"))
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        main_thread = threading.current_thread() is threading.main_thread()
        return asyncio.run(run(tasks, handle_signals=main_thread, **options))
    return _in_thread(run, tasks, options)


_Way = Callable[..., Coroutine[Any, Any, Collected]]


def _way(mode: str) -> _Way:
    if mode == "online":
        return collect
    if mode == "batch":
        from judgestats.judges.batches.collect import collect_in_batches

        return collect_in_batches
    raise InputError(f"mode: expected online or batch, got {mode!r}.")


def _in_thread(run: _Way, tasks: Iterable[Task], options: dict[str, Any]) -> Collected:
    """Run in a thread with a loop of its own; an interrupt here ends the work there."""
    result: list[Collected] = []
    failure: list[BaseException] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Collected]]] = []

    async def main() -> None:
        task = asyncio.create_task(run(tasks, **options))
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


def bundled_app() -> AsgiApp:
    """The simulated server, inside this process."""
    from judgestats.judges.simulated.app import SimulatedServer

    return SimulatedServer()


def _sources(tasks: Iterable[Task], terms: Terms) -> list[tuple[Source, int]]:
    """A source and its number of workers for each model; one for all where the plan is one-shot."""
    choices = terms.sampling.choices
    if not isinstance(tasks, Sequence):
        numbered = enumerate(tasks)
        return [(Source(grouped(numbered, choices, together=False)), 2 * terms.concurrency)]
    plan = tasks
    names: dict[tuple[str, str], set[str]] = {}
    for name in dict.fromkeys(t.condition.judge for t in plan):
        names.setdefault(terms.judge(name).address, set()).add(name)

    def of_endpoint(wanted: set[str]) -> Iterator[tuple[int, Task]]:
        return ((i, t) for i, t in enumerate(plan) if t.condition.judge in wanted)

    return [
        (Source(grouped(of_endpoint(wanted), choices, together=True)), terms.concurrency)
        for wanted in names.values()
    ]


async def _tick(
    show: Reporter, account: Account, endpoints: Mapping[tuple[str, str], Endpoint]
) -> None:
    while True:
        await asyncio.sleep(EVERY_S)
        show.show(
            account, "; ".join(dict.fromkeys(p for e in endpoints.values() if (p := e.pause)))
        )


@contextlib.contextmanager
def _calm_gc() -> Iterator[None]:
    """Keep the cyclic garbage collector from walking all that was imported again and again.

    With hundreds of requests in flight it otherwise takes a tenth of the time, in pauses during
    which no reply is read.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
