"""Collection of judgments: workers, tasks, and interrupts."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

from judgestats.collection import rows
from judgestats.collection.account import Account, Stop
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.ledger import Purse
from judgestats.collection.request import Ready, Sampling
from judgestats.collection.retry import RetryPolicy
from judgestats.collection.sending import Halt, RequestResult, RequestSender
from judgestats.data.columns import Task
from judgestats.deadlines import handled_by, note_signal
from judgestats.errors import InputError, JudgeError, JudgestatsError
from judgestats.protocols.base import ReplyMode, prompted_in


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
        """Deliver the answers that earlier runs stored for groups that are no longer asked."""
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
