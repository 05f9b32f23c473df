"""Collect judgments request by request, many at once."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING

from judgestats.collection import progress
from judgestats.collection.account import Account, Collected
from judgestats.collection.app_client import AppClient
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.callable_judge import FunctionClient
from judgestats.collection.collector import Collector, Group, Source, grouped, signals
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.ledger import Purse, Spend
from judgestats.collection.retry import AdaptiveLimit
from judgestats.collection.rows import FrameWriter, PartWriter
from judgestats.collection.sending import Halt
from judgestats.collection.spec import JudgeSpec
from judgestats.data.columns import Task
from judgestats.errors import JudgestatsError
from judgestats.protocols.replies import READER_VERSION
from judgestats.simulated.app import SimulatedServer

if TYPE_CHECKING:
    from judgestats.collection.client import JudgeClient


async def collect_online(tasks: Iterable[Task], ask: CollectionRequest) -> Collected:
    """Ask for every judgment of a plan that the journal does not hold yet; see `collect`."""
    if isinstance(tasks, Sequence):
        for name in {t.condition.judge for t in tasks}:
            ask.judge(name)  # a wrong name is found before anything is opened or sent
    sink = FrameWriter() if ask.stream_to is None else PartWriter(Path(ask.stream_to))
    show = progress.reporter(ask.progress)
    async with contextlib.AsyncExitStack() as stack:
        journal = stack.enter_context(ask.opened_journal())
        reader = journal.read_by(READER_VERSION)
        endpoints: dict[tuple[str, str], Endpoint] = {}
        clients: dict[tuple[object, ...], JudgeClient | AppClient | FunctionClient] = {}
        limits: dict[tuple[str, str], AdaptiveLimit] = {}
        earlier: dict[tuple[str, str], Spend] = {}
        purse = Purse(ask.budget)

        def endpoint_of(name: str) -> Endpoint:
            spec = ask.judge(name)
            if spec.capability_key not in endpoints:
                if spec.client_key not in clients:
                    client = _client(spec, ask)
                    stack.push_async_exit(client)
                    clients[spec.client_key] = client
                shared = limits.get(spec.address) if spec.concurrency is None else None
                endpoint = ask.endpoint(
                    spec, client=clients[spec.client_key], journal=journal, limit=shared
                )
                if spec.concurrency is None:
                    limits[spec.address] = endpoint.limit
                if spec.address not in earlier:  # the ledger knows addresses
                    earlier[spec.address] = endpoint.earlier
                    purse.earlier += endpoint.earlier.total
                endpoints[spec.capability_key] = endpoint
            return endpoints[spec.capability_key]

        collector = Collector(
            endpoint_of=endpoint_of,
            journal=journal,
            purse=purse,
            sampling=ask.sampling,
            retry=ask.retry,
            sink=sink,
            experiment=ask.experiment,
            follow_up=ask.follow_up,
            check_duplicates=ask.stream_to is None,
        )
        sources = _sources(tasks, ask)
        if isinstance(tasks, Sequence):  # what earlier runs spent counts before anything is sent
            for name in dict.fromkeys(t.condition.judge for t in tasks):
                endpoint_of(name)
        show.start(len(tasks) if isinstance(tasks, Sized) else None)
        ticker = asyncio.create_task(_tick(show, collector.account, endpoints))
        try:
            with signals(collector) if ask.handle_signals else contextlib.nullcontext(), _calm_gc():
                await collector.run(sources, grace_s=2.0)
        except JudgestatsError as error:
            if collector.account.answered and journal.path is not None:
                error.add_note(progress.journal_note(collector.account, journal))
            raise
        finally:
            ticker.cancel()
            show.end(collector.account)
    account = collector.account
    for spend in earlier.values():
        account.earlier_cost_usd += spend.total
        account.earlier_billed_twice += spend.asked_again
    return collected_of(
        ask,
        sink=sink,
        account=account,
        halt=collector.halt,
        journal=journal,
        endpoints=endpoints,
        reader=reader,
    )


def collected_of(
    ask: CollectionRequest,
    *,
    sink: FrameWriter | PartWriter,
    account: Account,
    halt: Halt,
    journal: Journal,
    endpoints: Mapping[tuple[str, str], Endpoint],
    reader: str,
    running: str = "",
) -> Collected:
    """What a collection brought, online or in batches.

    Parameters
    ----------
    ask, sink, account, halt, journal, endpoints
        Of the collection.
    reader : str
        The version of the rules that the journal was read by before.
    running : str
        A sentence on what goes on elsewhere; empty if nothing does.
    """
    frame, parts = sink.finish()
    notes = (
        *progress.reader_notes(reader, account),
        *(note for each in endpoints.values() for note in each.all_notes(ask.sampling)),
        *progress.money_notes(account, ask.budget, endpoints.values()),
    )
    return Collected(
        frame=frame,
        parts=parts,
        account=account,
        stopped_because=halt.why,
        stopped_detail=halt.detail,
        message=progress.message(
            halt, account=account, budget=ask.budget, journal=journal, running=running
        ),
        reply_modes=ask.reply_modes(endpoints),
        usage_faults={e.spec.name: e.usage_faults for e in endpoints.values()},
        notes=tuple(dict.fromkeys(notes)),
    )


def _client(spec: JudgeSpec, ask: CollectionRequest) -> JudgeClient | AppClient | FunctionClient:
    if spec.function is not None:
        return FunctionClient(spec.function, timeout_s=ask.timeout_s)
    if spec.in_process and spec.local is None:
        return AppClient(spec, ask.simulated_app or SimulatedServer())
    from judgestats.collection.client import JudgeClient, LocalClient

    if spec.local is not None:
        return LocalClient(spec, timeout_s=ask.timeout_s)
    # the endpoints' limits bound the connections
    return JudgeClient(spec, connections=0, timeout_s=ask.timeout_s)


def _sources(tasks: Iterable[Task], ask: CollectionRequest) -> list[tuple[Source, int]]:
    """A source and its number of workers for each model; one for all where the plan is one-shot."""
    choices = ask.choices_per_request
    if not isinstance(tasks, Sequence):
        numbered = enumerate(tasks)
        return [(Source(grouped(numbered, choices, together=False)), 2 * ask.concurrency)]
    plan = tasks
    names: dict[tuple[str, str], set[str]] = {}
    for name in dict.fromkeys(t.condition.judge for t in plan):
        names.setdefault(ask.judge(name).address, set()).add(name)

    def model_tasks(wanted: set[str]) -> Iterator[tuple[int, Task]]:
        return ((i, t) for i, t in enumerate(plan) if t.condition.judge in wanted)

    sources = []
    for wanted in names.values():
        groups: Iterable[Group] = grouped(model_tasks(wanted), choices, together=True)
        if ask.follow_up is None:
            # A slow change of the server then falls on all repeats alike: none shares a shift.
            groups = list(groups)
            random.Random(ask.seed or 0).shuffle(groups)
        sources.append((Source(iter(groups)), ask.concurrency))
    return sources


async def _tick(
    show: progress.Reporter, account: Account, endpoints: Mapping[tuple[str, str], Endpoint]
) -> None:
    while True:
        await asyncio.sleep(progress.EVERY_S)
        pauses = dict.fromkeys(e.pause for e in endpoints.values())
        show.show(account, "; ".join(filter(None, pauses)))


@contextlib.contextmanager
def _calm_gc() -> Iterator[None]:
    """Keep the cyclic garbage collector from walking everything that was imported again and again.

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
