"""Collection of judgments request by request: workers, tasks, and interrupts."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from judgestats.collection import progress
from judgestats.collection.account import Account, Collected, Stop
from judgestats.collection.app_client import AppClient
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.callable_judge import FunctionClient
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.journal_file import Answer
from judgestats.collection.request import Ready
from judgestats.collection.retry import AdaptiveLimit, FailedRequest
from judgestats.collection.rows import FrameWriter, PartWriter, answer_row, failed_row, invalid_row
from judgestats.collection.sending import Halt, RequestSender
from judgestats.collection.spec import JudgeSpec
from judgestats.data.columns import Task
from judgestats.deadlines import handled_by, note_signal
from judgestats.errors import InputError, JudgeError, JudgestatsError
from judgestats.protocols.base import ReplyMode, prompted_in
from judgestats.protocols.replies import READER_VERSION
from judgestats.simulated.app import SimulatedServer

if TYPE_CHECKING:
    from judgestats.collection.sending import Client


Position = tuple[int, ...]
"""Position in the plan's order; what follows from a judgment comes directly after it."""


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks that differ only in their replicate, with their positions in the plan's order."""

    placed: tuple[tuple[Task, Position], ...]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks alone."""
        return tuple(task for task, _ in self.placed)

    def part(self, start: int, count: int | None = None) -> Group:
        """The tasks from one on, or this many of them."""
        end = None if count is None else start + count
        return Group(self.placed[start:end])


def grouped(tasks: Iterable[tuple[int, Task]], size: int) -> Iterator[Group]:
    """Bundle numbered tasks for requests of `size` choices.

    Tasks that differ only in their replicate are brought together wherever they stand: of several
    choices the plan is read to its end first.
    """
    if size == 1:
        for place, task in tasks:
            yield Group(((task, (place,)),))
        return
    bundles: dict[tuple[str, str, str, str], list[tuple[Task, Position]]] = {}
    for place, task in tasks:
        bundles.setdefault(task.key[:4], []).append((task, (place,)))
    for bundle in bundles.values():
        for start in range(0, len(bundle), size):
            yield Group(tuple(bundle[start : start + size]))


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
            which = f"condition {task.condition.label!r}, item {task.item_id!r}"
            which = f"{which}, order {task.order!r}, stage {task.stage!r}"
            raise InputError(
                f"collect: the plan holds the same judgment twice: {which}, replicate "
                f"{task.replicate}. Number the replicates."
            )
        seen.add(mark)


class Source:
    """The groups of one endpoint: what follows from answers first, then the plan."""

    def __init__(self, planned: Iterator[Group]) -> None:
        self._planned = planned
        self._added: deque[Group] = deque()
        self._changed = asyncio.Event()

    def follow(self, tasks: Iterable[tuple[Position, Task]]) -> None:
        """Take tasks that follow from an answer; they take precedence over the plan."""
        for place, task in tasks:
            self._added.append(Group(((task, place),)))
            self.wake()

    def wake(self) -> None:
        """Let waiting workers look again."""
        self._changed.set()

    def take(self) -> Group | None:
        """The next group, or None if there is none at the moment."""
        return self._added.popleft() if self._added else next(self._planned, None)

    async def change(self) -> None:
        """Wait until something may have changed."""
        self._changed.clear()
        await self._changed.wait()


_YIELD_EVERY = 64
"""Cached or left out judgments between two looks at the event loop."""


class Collection:
    """One collection: its endpoints, its account, its rows, and whether it is to end.

    Parameters
    ----------
    ask : CollectionRequest
    journal : Journal
        Open.
    sink : FrameWriter or PartWriter, optional
        Takes the rows; the request's own by default.

    Attributes
    ----------
    account, halt
        What came of it so far, and whether it is to end.
    hurry : Event
        Set by a second interrupt: do not wait for what is in flight.
    endpoints : dict of (str, str) to Endpoint
        By `JudgeSpec.capability_key`, each made when it is first needed.
    failures : dict of bytes to FailedRequest
        Judgments of a stage that failed for good, by their keys.
    """

    def __init__(
        self, ask: CollectionRequest, journal: Journal, sink: FrameWriter | PartWriter | None = None
    ) -> None:
        self.ask = ask
        self.journal = journal
        self.account = Account()
        self.halt = Halt()
        self.hurry = asyncio.Event()
        self.endpoints: dict[tuple[str, str], Endpoint] = {}
        self.failures: dict[bytes, FailedRequest] = {}
        if sink is None:
            sink = FrameWriter() if ask.stream_to is None else PartWriter(Path(ask.stream_to))
        self._sink = sink
        self._reader = journal.read_by(READER_VERSION)
        self._limits: dict[tuple[str, str], AdaptiveLimit] = {}
        self._counted: set[tuple[str, str]] = set()

    def endpoint(self, name: str) -> Endpoint:
        """The endpoint of a judge; those of one address share a limit."""
        spec = self.ask.judge(name)
        if spec.capability_key not in self.endpoints:
            shared = self._limits.get(spec.address) if spec.concurrency is None else None
            made = self.ask.endpoint(spec, journal=self.journal, limit=shared)
            if spec.concurrency is None:
                self._limits[spec.address] = made.limit
            if spec.address not in self._counted:  # the ledger knows addresses
                self._counted.add(spec.address)
                self.account.earlier_cost_usd += made.earlier.total
                self.account.earlier_billed_twice += made.earlier.asked_again
            self.endpoints[spec.capability_key] = made
        return self.endpoints[spec.capability_key]

    def ready(self, group: Group) -> Ready:
        """What a request for a group carries, in the reply mode of its endpoint."""
        tasks = group.tasks
        endpoint = self.endpoint(tasks[0].condition.judge)
        prompted = prompted_in(endpoint.abilities.mode, tasks[0].build)
        return Ready(endpoint.spec, tasks, prompted, self.ask.sampling)

    # ------------------------------------------------------------------ rows

    async def answered(
        self, place: Position, task: Task, ready: Ready, answer: Answer, *, cached: bool
    ) -> list[tuple[Position, Task]]:
        """Deliver the row of an answer; gives the tasks that follow from it."""
        self.account.cached += cached
        self.account.asked += not cached
        self.account.answered += not cached
        row = answer_row(task, ready, answer, cached=cached, experiment=self.ask.experiment)
        return await self._deliver(place, row)

    async def failed(
        self, place: Position, task: Task, ready: Ready, asked: FailedRequest
    ) -> list[tuple[Position, Task]]:
        """Deliver the row of a judgment that was given up; gives the tasks that follow from it."""
        self.account.failure(asked.failure.kind.value)
        row = failed_row(task, ready, asked, experiment=self.ask.experiment)
        return await self._deliver(place, row)

    async def invalid(
        self, place: Position, task: Task, ready: Ready, refused: str
    ) -> list[tuple[Position, Task]]:
        """Deliver the row of a condition that the model refuses."""
        self.account.invalid += 1
        row = invalid_row(task, ready, refused, experiment=self.ask.experiment)
        return await self._deliver(place, row)

    async def _deliver(self, place: Position, row: dict[str, Any]) -> list[tuple[Position, Task]]:
        self._sink.add(place, row)
        if self.ask.follow_up is None:
            return []
        more = self.ask.follow_up(row)
        listed = await more if inspect.isawaitable(more) else more
        return [((*place, index), task) for index, task in enumerate(listed)]

    # ------------------------------------------------------------------ the end

    def collected(self, *, running: str = "") -> Collected:
        """What it brought; `running` is a sentence on what goes on elsewhere."""
        frame, parts = self._sink.finish()
        endpoints = self.endpoints.values()
        notes = (
            *progress.reader_notes(self._reader, self.account),
            *(note for each in endpoints for note in each.all_notes(self.ask.sampling)),
            *progress.money_notes(self.account, self.ask.budget, endpoints),
        )
        return Collected(
            frame=frame,
            parts=parts,
            account=self.account,
            stopped_because=self.halt.why,
            stopped_detail=self.halt.detail,
            message=progress.message(
                self.halt,
                account=self.account,
                budget=self.ask.budget,
                journal=self.journal,
                running=running,
            ),
            reply_modes=self.ask.reply_modes(self.endpoints),
            usage_faults={e.spec.name: e.usage_faults for e in endpoints},
            notes=tuple(dict.fromkeys(notes)),
        )


class StagedCollection(Collection):
    """A collection by stages: the tasks of a plan, then those that follow from its answers."""

    async def work(self, tasks: list[Task]) -> None:
        """Send the missing requests of a stage; none here."""

    def is_cached(self, key: bytes) -> bool:
        """Whether a judgment was answered before this run."""
        del key
        return True

    def groups(self, tasks: Iterable[Task]) -> Iterator[tuple[Group, Ready]]:
        """The tasks of a stage as requests."""
        for group in grouped(enumerate(tasks), self.ask.sampling.choices):
            yield group, self.ready(group)

    async def missing(self, tasks: Iterable[Task]) -> AsyncIterator[tuple[Task, Ready]]:
        """Work off a plan and deliver its rows; yield the judgments that have none yet."""
        stage: list[tuple[Position, Task]] = [((i,), task) for i, task in enumerate(tasks)]
        refuse_repeated((task for _, task in stage), set())
        while stage and not self.halt.called.is_set():
            await self.work([task for _, task in stage])
            following: list[tuple[Position, Task]] = []
            for group, ready in self.groups(task for _, task in stage):
                for task, (number,) in group.placed:
                    place, key = stage[number][0], ready.keys[task.replicate]
                    abilities = self.endpoint(task.condition.judge).abilities
                    if (answer := self.journal.get(key)) is not None:
                        kept = self.is_cached(key)
                        following += await self.answered(place, task, ready, answer, cached=kept)
                    elif refused := abilities.refuses(task.condition):
                        following += await self.invalid(place, task, ready, refused)
                    elif (failed := self.failures.get(key)) is not None:
                        following += await self.failed(place, task, ready, failed)
                    else:
                        yield task, ready
            stage = following


class Collector(Collection):
    """A collection request by request. Built and run by `collect`.

    Parameters
    ----------
    ask, journal
        As in `Collection`.
    client_of : function of JudgeSpec
        Gives the client by which a judge is asked.
    """

    def __init__(
        self, ask: CollectionRequest, journal: Journal, *, client_of: Callable[[JudgeSpec], Client]
    ) -> None:
        super().__init__(ask, journal)
        self._sender = RequestSender(
            ask, journal=journal, account=self.account, halt=self.halt, client_of=client_of
        )
        self._seen: set[int] | None = set() if ask.stream_to is None else None
        self._sources: list[Source] = []
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
        stop: asyncio.Future[Any] = asyncio.create_task(self.halt.called.wait())
        finished: asyncio.Future[Any] = asyncio.gather(*workers, return_exceptions=True)
        try:
            await asyncio.wait({finished, stop}, return_when=asyncio.FIRST_COMPLETED)
            if not finished.done():
                await self._wind_down(grace_s)
        finally:
            for task in (stop, *workers):
                task.cancel()
            results = await finished
        for result in results:
            if isinstance(result, JudgestatsError):
                self.halt.abort(result)
        if self.halt.fatal is not None:
            raise self.halt.fatal
        for result in results:
            if isinstance(result, Exception):
                raise result
        endpoints = self.endpoints.values()
        refused = [endpoint.refused for endpoint in endpoints]
        if all(refused) and refused and not self.account.answered:
            raise JudgeError("\n".join(refused))
        if self.halt.called.is_set() and self.halt.why is not Stop.INTERRUPTED:
            await self._rest_from_journal()
        if given_up := [each for endpoint in endpoints for each in endpoint.given_up]:
            self.halt.stop(given_up[0][0], "; ".join(detail for _, detail in given_up))

    async def _rest_from_journal(self) -> None:
        """Deliver the answers that earlier runs stored for groups that stopped."""
        held = len(self.journal)
        for source in self._sources:
            # A journal that holds no more answers than were handed over has none for the rest.
            while held > self.account.cached + self.account.answered:
                group = source.take()
                if group is None:
                    break
                await self._from_journal(group, self.ready(group), source)

    async def _wind_down(self, grace_s: float) -> None:
        """Let requests in flight bring their answers: they are paid for."""
        hurry = self.halt.why is Stop.INTERRUPTED or self.halt.fatal is not None
        limit = grace_s if hurry else None
        # What is still in flight after that stays recorded as such in the journal.
        await first_of(self._sender.idle.wait(), self.hurry.wait(), timeout=limit)

    async def _worker(self, source: Source) -> None:
        while not self.halt.called.is_set():
            group = source.take()
            if group is None:
                if self._unfinished == 0 or self.ask.follow_up is None:
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
                if self._unfinished == 0 and self.ask.follow_up is not None:
                    for each in self._sources:
                        each.wake()

    # ------------------------------------------------------------------ one group

    async def _judge(self, group: Group, source: Source) -> None:
        if self._seen is not None:
            refuse_repeated(group.tasks, self._seen)
        endpoint = self.endpoint(group.placed[0][0].condition.judge)
        probing = await endpoint.probe()
        try:
            await self._work_off(endpoint, group, source)
        finally:
            if probing:
                endpoint.settle()

    async def _work_off(self, endpoint: Endpoint, left: Group, source: Source) -> None:
        """Ask until every judgment of a group has its row, learning on the way."""
        built_for: ReplyMode | None = None
        ready: Ready | None = None
        condition = left.placed[0][0].condition
        while left.placed and not self.halt.called.is_set():
            mode = endpoint.abilities.mode
            if ready is None or built_for is not mode:
                ready = self.ready(left)
                left = await self._from_journal(left, ready, source)
                built_for = mode
                if not left.placed:
                    return
            if endpoint.asks_no_more(condition.label):
                # What the journal holds was handed over all the same.
                await self._breathe()
                return
            if refused := endpoint.abilities.refuses(condition):
                for task, place in left.placed:
                    source.follow(await self.invalid(place, task, ready, refused))
                return
            size = self.ask.sampling.choices if endpoint.abilities.several else 1
            left = left.part(await self._ask(endpoint, left.part(0, size), ready, source))

    async def _from_journal(self, left: Group, ready: Ready, source: Source) -> Group:
        """Emit what the journal holds; returns what it does not."""
        missing = []
        for task, place in left.placed:
            answer = self.journal.get(ready.keys[task.replicate])
            if answer is None:
                missing.append((task, place))
                continue
            source.follow(await self.answered(place, task, ready, answer, cached=True))
            await self._breathe()
        return Group(tuple(missing))

    async def _breathe(self) -> None:
        """Look at the event loop now and then if nothing is waited for."""
        self._since_yield += 1
        if self._since_yield >= _YIELD_EVERY:
            self._since_yield = 0
            await asyncio.sleep(0)

    async def _ask(self, endpoint: Endpoint, part: Group, ready: Ready, source: Source) -> int:
        """Ask one request; returns how many of `part` have their row."""

        async def deliver(asked: FailedRequest | tuple[Answer, ...]) -> int:
            if isinstance(asked, FailedRequest):
                for task, place in part.placed:
                    source.follow(await self.failed(place, task, ready, asked))
                return len(part.placed)
            for (task, place), answer in zip(part.placed, asked, strict=False):
                source.follow(await self.answered(place, task, ready, answer, cached=False))
            return len(asked)

        return await self._sender.ask(endpoint, list(part.tasks), ready, deliver)


async def first_of(*awaitables: Awaitable[object], timeout: float | None = None) -> None:
    """Wait until one of these is done, or so many seconds; the others are cancelled."""
    waits = [asyncio.ensure_future(each) for each in awaitables]
    try:
        await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()


@contextlib.contextmanager
def signals(collector: Collection) -> Iterator[None]:
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
    show = progress.reporter(ask.progress)
    async with contextlib.AsyncExitStack() as stack:
        journal = stack.enter_context(ask.opened_journal())
        clients: dict[tuple[object, ...], Client] = {}

        def client_of(spec: JudgeSpec) -> Client:
            if spec.client_key not in clients:
                clients[spec.client_key] = client = _client(spec, ask)
                stack.push_async_exit(client)
            return clients[spec.client_key]

        collector = Collector(ask, journal, client_of=client_of)
        sources = _sources(tasks, ask)
        if isinstance(tasks, Sequence):  # what earlier runs spent counts before anything is sent
            for name in dict.fromkeys(t.condition.judge for t in tasks):
                client_of(collector.endpoint(name).spec)
        show.start(len(tasks) if isinstance(tasks, Sized) else None)
        ticker = asyncio.create_task(_tick(show, collector))
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
        return collector.collected()


def _client(spec: JudgeSpec, ask: CollectionRequest) -> Client:
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
        return [(Source(grouped(enumerate(tasks), choices)), 2 * ask.concurrency)]
    by_address: dict[tuple[str, str], list[tuple[int, Task]]] = {}
    for place, task in enumerate(tasks):
        by_address.setdefault(ask.judge(task.condition.judge).address, []).append((place, task))
    sources = []
    for placed in by_address.values():
        groups: Iterable[Group] = grouped(placed, choices)
        if ask.follow_up is None:
            # A slow change of the server then falls on all repeats alike: none shares a shift.
            groups = list(groups)
            random.Random(ask.seed or 0).shuffle(groups)
        sources.append((Source(iter(groups)), ask.concurrency))
    return sources


async def _tick(show: progress.Reporter, collector: Collector) -> None:
    while True:
        await asyncio.sleep(progress.EVERY_S)
        pauses = dict.fromkeys(e.pause for e in collector.endpoints.values())
        show.show(collector.account, "; ".join(filter(None, pauses)))


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
