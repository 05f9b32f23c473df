"""Collection of judgments request by request: workers, tasks, and interrupts."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from judgestats.collection import progress, rows
from judgestats.collection.account import Account, Collected, Stop
from judgestats.collection.app_client import AppClient
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.callable_judge import FunctionClient
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.ledger import Purse, Spend
from judgestats.collection.request import Ready, Sampling
from judgestats.collection.retry import AdaptiveLimit, RetryPolicy
from judgestats.collection.rows import FrameWriter, PartWriter
from judgestats.collection.sending import Halt, RequestResult, RequestSender
from judgestats.collection.spec import JudgeSpec
from judgestats.data.columns import Task
from judgestats.deadlines import handled_by, note_signal
from judgestats.errors import InputError, JudgeError, JudgestatsError
from judgestats.protocols.base import ReplyMode, prompted_in
from judgestats.protocols.replies import READER_VERSION
from judgestats.simulated.app import SimulatedServer

if TYPE_CHECKING:
    from judgestats.collection.client import JudgeClient


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks that differ only in their replicate, with their positions in the plan's order."""

    tasks: tuple[Task, ...]
    places: tuple[tuple[int, ...], ...]


def grouped(tasks: Iterable[tuple[int, Task]], size: int, *, together: bool) -> Iterator[Group]:
    """Bundle numbered tasks for requests of `size` choices.

    With `together`, all tasks that differ only in their replicate are brought together wherever
    they stand (the plan is read to its end first); without, those that follow one another.
    """
    if size == 1:
        for place, task in tasks:
            yield Group((task,), ((place,),))
        return
    if together:
        bundles: dict[tuple[str, str, str, str], list[tuple[int, Task]]] = {}
        for place, task in tasks:
            bundles.setdefault(task.key[:4], []).append((place, task))
        for bundle in bundles.values():
            for start in range(0, len(bundle), size):
                yield _group(bundle[start : start + size])
        return
    waiting: list[tuple[int, Task]] = []
    for place, task in tasks:
        if waiting and (len(waiting) == size or task.key[:4] != waiting[0][1].key[:4]):
            yield _group(waiting)
            waiting = []
        waiting.append((place, task))
    if waiting:
        yield _group(waiting)


def _group(bundle: list[tuple[int, Task]]) -> Group:
    return Group(tuple(t for _, t in bundle), tuple((p,) for p, _ in bundle))


def refuse_repeated(tasks: Iterable[Task], seen: set[int]) -> None:
    """Refuse a judgment that the plan held before.

    Parameters
    ----------
    tasks : iterable of Task
    seen : set of int
        Marks of those before, to which these are added.

    Raises
    ------
    InputError
        If one is there twice.
    """
    for task in tasks:
        mark = hash(task.key)
        if mark in seen:
            raise InputError(
                "collect: the plan holds the same judgment twice: condition "
                f"{task.condition.label!r}, item {task.item_id!r}, order {task.order!r}, stage "
                f"{task.stage!r}, replicate {task.replicate}. Number the replicates."
            )
        seen.add(mark)


async def following(follow_up: rows.FollowUp | None, row: dict[str, Any]) -> Sequence[Task]:
    """The tasks that follow from a row."""
    if follow_up is None:
        return ()
    more = follow_up(row)
    return tuple(await more if inspect.isawaitable(more) else more)


class Source:
    """The groups of one endpoint: what follows from answers first, then the plan."""

    def __init__(self, planned: Iterator[Group]) -> None:
        self._planned: Iterator[Group] | None = planned
        self._added: deque[Group] = deque()
        self._changed = asyncio.Event()

    def add(self, group: Group) -> None:
        """A group that follows from an answer; it takes precedence over the plan."""
        self._added.append(group)
        self.wake()

    def wake(self) -> None:
        """Let waiting workers look again."""
        self._changed.set()

    def take(self) -> Group | None:
        """The next group, or None if there is none at the moment."""
        if self._added:
            return self._added.popleft()
        if self._planned is not None:
            group = next(self._planned, None)
            if group is not None:
                return group
            self._planned = None
        return None

    async def change(self) -> None:
        """Wait until something may have changed."""
        self._changed.clear()
        await self._changed.wait()


_YIELD_EVERY = 64
"""Cached or left out judgments between two looks at the event loop."""


class Collector:
    """One collection. Built and run by `collect`.

    Attributes
    ----------
    account, halt
        What came of it so far, and whether it is to end.
    hurry : Event
        Set by a second interrupt: do not wait for what is in flight.
    """

    def __init__(
        self,
        *,
        endpoint_of: Callable[[str], Endpoint],
        journal: Journal,
        purse: Purse,
        sampling: Sampling,
        retry: RetryPolicy,
        sink: rows.FrameWriter | rows.PartWriter,
        experiment: str,
        follow_up: rows.FollowUp | None,
        check_duplicates: bool,
    ) -> None:
        self.account = Account()
        self.halt = Halt()
        self.hurry = asyncio.Event()
        self._sender = RequestSender(
            journal=journal,
            purse=purse,
            sampling=sampling,
            retry=retry,
            account=self.account,
            halt=self.halt,
        )
        self._endpoint_of = endpoint_of
        self._journal = journal
        self._sampling = sampling
        self._sink = sink
        self._experiment = experiment
        self._follow_up = follow_up
        self._seen: set[int] | None = set() if check_duplicates else None
        self._sources: list[Source] = []
        self._endpoints: list[Endpoint] = []
        self._unfinished = 0
        self._since_yield = 0

    # ------------------------------------------------------------------ running

    async def run(self, sources: list[tuple[Source, int]], *, grace_s: float) -> None:
        """Work all sources off, with this many workers each; ends when done or stopped."""
        self._sources = [source for source, _ in sources]
        workers = [
            asyncio.create_task(self._worker(source))
            for source, count in sources
            for _ in range(count)
        ]
        stop = asyncio.create_task(self.halt.called.wait())
        finished = asyncio.create_task(_all_done(workers))
        try:
            await asyncio.wait({finished, stop}, return_when=asyncio.FIRST_COMPLETED)
            if not finished.done():
                await self._wind_down(grace_s)
        finally:
            for task in (stop, finished, *workers):
                task.cancel()
            results = await asyncio.gather(*workers, return_exceptions=True)
        for result in results:
            if isinstance(result, JudgestatsError):
                self.halt.abort(result)
        if self.halt.fatal is not None:
            raise self.halt.fatal
        for result in results:
            if isinstance(result, Exception):
                raise result
        refused = [endpoint.refused for endpoint in self._endpoints]
        if all(refused) and refused and not self.account.answered:
            raise JudgeError("\n".join(refused))
        if self.halt.called.is_set() and self.halt.why is not Stop.INTERRUPTED:
            await self._rest_from_journal()
        if given_up := [each for endpoint in self._endpoints for each in endpoint.given_up]:
            self.halt.stop(given_up[0][0], "; ".join(detail for _, detail in given_up))

    async def _rest_from_journal(self) -> None:
        """Deliver the answers that earlier runs stored for groups that stopped."""
        held = len(self._journal)
        for source in self._sources:
            # A journal that holds no more answers than were handed over has none for the rest.
            while held > self.account.cached + self.account.answered:
                group = source.take()
                if group is None:
                    break
                endpoint = self._endpoint_of(group.tasks[0].condition.judge)
                prompted = prompted_in(endpoint.abilities.mode, group.tasks[0].build)
                ready = Ready(endpoint.spec, group.tasks, prompted, self._sampling)
                left = list(zip(group.tasks, group.places, strict=True))
                await self._from_journal(left, ready, source)

    async def _wind_down(self, grace_s: float) -> None:
        """Let requests in flight bring their answers: they are paid for."""
        hurry = self.halt.why is Stop.INTERRUPTED or self.halt.fatal is not None
        limit = grace_s if hurry else None
        # What is still in flight after that stays recorded as such in the journal.
        waits = [asyncio.create_task(e.wait()) for e in (self._sender.idle, self.hurry)]
        try:
            await asyncio.wait(waits, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()

    async def _worker(self, source: Source) -> None:
        while not self.halt.called.is_set():
            group = source.take()
            if group is None:
                if self._unfinished == 0 or self._follow_up is None:
                    return
                await source.change()
                continue
            self._unfinished += 1
            try:
                await self._judge(group, source)
            except JudgestatsError as error:
                self.halt.abort(error)
                return
            except Exception:
                self.halt.called.set()
                raise
            finally:
                self._unfinished -= 1
                if self._unfinished == 0 and self._follow_up is not None:
                    for each in self._sources:
                        each.wake()

    # ------------------------------------------------------------------ one group

    async def _judge(self, group: Group, source: Source) -> None:
        if self._seen is not None:
            refuse_repeated(group.tasks, self._seen)
        condition = group.tasks[0].condition
        endpoint = self._endpoint_of(condition.judge)
        left = list(zip(group.tasks, group.places, strict=True))
        if endpoint not in self._endpoints:
            self._endpoints.append(endpoint)
        probing = await endpoint.probe()
        try:
            await self._work_off(endpoint, left, source)
        finally:
            if probing:
                endpoint.settle()

    async def _work_off(
        self, endpoint: Endpoint, left: list[tuple[Task, tuple[int, ...]]], source: Source
    ) -> None:
        """Ask until every judgment of a group has its row, learning on the way."""
        built_for: ReplyMode | None = None
        ready: Ready | None = None
        while left and not self.halt.called.is_set():
            mode = endpoint.abilities.mode
            if ready is None or built_for is not mode:
                tasks = [t for t, _ in left]
                prompted = prompted_in(mode, tasks[0].build)
                ready = Ready(endpoint.spec, tasks, prompted, self._sampling)
                left = await self._from_journal(left, ready, source)
                built_for = mode
                if not left:
                    return
            if endpoint.asks_no_more(left[0][0].condition.label):
                # What the journal holds was handed over all the same.
                await self._breathe()
                return
            if refused := endpoint.abilities.refuses(left[0][0].condition):
                for task, place in left:
                    self.account.invalid += 1
                    row = rows.invalid_row(task, ready, refused, experiment=self._experiment)
                    await self._finish_row(place, row, source)
                return
            size = self._sampling.choices if endpoint.abilities.several else 1
            left = left[await self._ask(endpoint, left[:size], ready, source) :]

    async def _from_journal(
        self,
        left: list[tuple[Task, tuple[int, ...]]],
        ready: Ready,
        source: Source,
    ) -> list[tuple[Task, tuple[int, ...]]]:
        """Emit what the journal holds; returns what it does not."""
        missing = []
        for task, place in left:
            answer = self._journal.get(ready.keys[task.replicate])
            if answer is None:
                missing.append((task, place))
                continue
            self.account.cached += 1
            row = rows.answer_row(task, ready, answer, cached=True, experiment=self._experiment)
            await self._finish_row(place, row, source)
            await self._breathe()
        return missing

    async def _breathe(self) -> None:
        """Look at the event loop now and then if nothing is waited for."""
        self._since_yield += 1
        if self._since_yield >= _YIELD_EVERY:
            self._since_yield = 0
            await asyncio.sleep(0)

    async def _ask(
        self,
        endpoint: Endpoint,
        part: list[tuple[Task, tuple[int, ...]]],
        ready: Ready,
        source: Source,
    ) -> int:
        """Ask one request; returns how many of `part` have their row."""

        async def deliver(asked: RequestResult) -> int:
            if asked.failure is not None:
                for task, place in part:
                    self.account.failure(asked.failure.kind.value)
                    row = rows.failed_row(task, ready, asked, experiment=self._experiment)
                    await self._finish_row(place, row, source)
                return len(part)
            for (task, place), answer in zip(part, asked.answers, strict=False):
                row = rows.answer_row(
                    task, ready, answer, cached=False, experiment=self._experiment
                )
                await self._finish_row(place, row, source)
            return len(asked.answers)

        return await self._sender.ask(endpoint, [task for task, _ in part], ready, deliver)

    async def _finish_row(
        self, place: tuple[int, ...], row: dict[str, Any], source: Source
    ) -> None:
        """Deliver a row, and add the tasks that follow from it."""
        self._sink.add(place, row)
        for index, task in enumerate(await following(self._follow_up, row)):
            source.add(Group((task,), ((*place, index),)))


async def _all_done(workers: list[asyncio.Task[None]]) -> None:
    if workers:
        await asyncio.wait(workers)


class Interruptible(Protocol):
    """What can be asked to end: `halt` in order, `hurry` at once."""

    halt: Halt
    hurry: asyncio.Event


@contextlib.contextmanager
def signals(collector: Interruptible) -> Iterator[None]:
    """The first SIGINT or SIGTERM winds the collection down, the second ends it at once."""
    loop = asyncio.get_running_loop()

    def wind_down() -> None:
        if collector.halt.called.is_set():
            collector.hurry.set()
        collector.halt.stop(Stop.INTERRUPTED)

    def on_signal(number: int, frame: FrameType | None) -> None:
        del frame
        note_signal(number)
        loop.call_soon_threadsafe(wind_down)

    with handled_by(on_signal):  # not the loop's own handling, which takes the watchdog's wake-up
        yield


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
