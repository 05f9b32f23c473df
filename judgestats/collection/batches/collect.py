"""Collection in batches."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from judgestats.collection.account import Account, Collected, Stop
from judgestats.collection.app_client import AsgiApp
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.batches.client import AnthropicBatches, BatchClient, takes
from judgestats.collection.batches.work import BatchWork, Shared, Wanted
from judgestats.collection.client import JudgeClient
from judgestats.collection.collector import (
    collect_online,
    collected_of,
    following,
    grouped,
    refuse_repeated,
    signals,
)
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.journal_file import Limits
from judgestats.collection.prices import UsageFaults
from judgestats.collection.request import Ready
from judgestats.collection.rows import FrameWriter, answer_row, failed_row, invalid_row
from judgestats.collection.sending import Halt, RequestResult
from judgestats.data.columns import Task
from judgestats.errors import InputError, JudgeError, JudgestatsError, printable
from judgestats.protocols.base import prompted_in
from judgestats.protocols.replies import READER_VERSION
from judgestats.results.numbers import count_noun
from judgestats.simulated.app import SimulatedServer
from judgestats.terminal import emit

_GRACE_S = 2.0


class BatchCollector:
    """One collection in batches: stages, models, rows."""

    def __init__(
        self,
        ask: CollectionRequest,
        *,
        journal: Journal,
        say: Callable[[str], None],
        limits: Limits,
    ) -> None:
        self.halt = Halt()
        self.hurry = asyncio.Event()
        self._ask = ask
        self._journal = journal
        self._app = ask.simulated_app
        self._sink = FrameWriter()
        self._endpoints: dict[tuple[str, str], Endpoint] = {}
        self._counted: set[tuple[str, str]] = set()
        self._refused: dict[tuple[str, str], str] = {}
        self._held: set[bytes] = set()
        self._shared = Shared(
            journal=journal,
            account=Account(),
            halt=self.halt,
            budget=ask.budget,
            sampling=ask.sampling,
            experiment=ask.experiment,
            limits=limits,
            sleep=self._pause,
            say=say,
        )

    @property
    def running(self) -> dict[str, str]:
        """Batches on the server that have not ended: id and judge."""
        return self._shared.running

    # ------------------------------------------------------------------ stages

    async def run(self, tasks: list[Task]) -> None:
        """Work off the plan, and what follows from it, stage by stage."""
        refuse_repeated(tasks, set())
        stage: list[tuple[tuple[int, ...], Task]] = [((i,), t) for i, t in enumerate(tasks)]
        while stage and not self.halt.called.is_set():
            await self._interruptible(self._stage([task for _, task in stage]))
            for why, detail in self._shared.stopped:
                self.halt.stop(why, detail)
            stage = await self._emit(stage)
        if self._refused:
            refusals = "; ".join(text.rstrip(".") for text in self._refused.values())
            self.halt.stop(Stop.REFUSED, refusals)

    async def _interruptible(self, work: Awaitable[None]) -> None:
        """Do the work; once the collection is to end, it gets two seconds to finish its call."""
        doing = asyncio.ensure_future(work)
        halting = asyncio.create_task(self.halt.called.wait())
        try:
            await asyncio.wait({doing, halting}, return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                hurrying = asyncio.create_task(self.hurry.wait())
                await asyncio.wait(
                    {doing, hurrying}, timeout=_GRACE_S, return_when=asyncio.FIRST_COMPLETED
                )
                hurrying.cancel()
        finally:
            halting.cancel()
            doing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await doing

    async def _stage(self, tasks: list[Task]) -> None:
        self._journal_holds(tasks)
        for name in dict.fromkeys(t.condition.judge for t in tasks):
            for record in self._journal.batches.open(*self._endpoint(name).spec.address):
                self._shared.held.setdefault(record.name, record.estimate or 0.0)
        async with contextlib.AsyncExitStack() as stack:
            if not await self._probe(tasks):
                return
            clients: dict[tuple[object, ...], BatchClient] = {}
            for name in dict.fromkeys(t.condition.judge for t in tasks):
                spec = self._endpoint(name).spec
                if spec.capability_key in self._refused:
                    continue
                if spec.client_key not in clients:
                    made = AnthropicBatches if takes(spec) else BatchClient
                    clients[spec.client_key] = await stack.enter_async_context(
                        made(
                            spec,
                            timeout_s=self._ask.timeout_s,
                            retry=self._ask.retry,
                            sleep=self._ask.sleep,
                            app=self._simulated() if spec.in_process else None,
                        )
                    )
            await _all_or_first_error(
                self._work(endpoint, clients[endpoint.spec.client_key], tasks)
                for endpoint in self._endpoints.values()
                if endpoint.spec.client_key in clients  # else it is of an earlier stage
                and endpoint.spec.capability_key not in self._refused
            )
        self._end_if_all_refuse()

    async def _work(self, endpoint: Endpoint, client: BatchClient, tasks: Sequence[Task]) -> None:
        """One model's batches; what ends them ends no other model's."""
        work = BatchWork(
            endpoint,
            client=client,
            shared=self._shared,
            survey=lambda: self._missing(tasks, endpoint),
        )
        try:
            await work.run()
        except JudgeError as error:
            self._refused[endpoint.spec.capability_key] = str(error)

    def _end_if_all_refuse(self) -> None:
        if self._refused and all(endpoint in self._refused for endpoint in self._endpoints):
            raise JudgeError("\n".join(self._refused.values()))

    async def _probe(self, tasks: list[Task]) -> bool:
        """Ask one judgment of each unknown judge and setting online; False to end here."""
        first: dict[str, dict[str, Wanted]] = {}
        for name in dict.fromkeys(t.condition.judge for t in tasks):
            endpoint = self._endpoint(name)
            # A reply mode that is forced says nothing of what else the judge refuses.
            supported = (endpoint.abilities.proven and endpoint.met) or endpoint.spec.in_process
            unmeasured = self._ask.budget.max_cost is not None and endpoint.reserve.alone
            if (supported and not unmeasured) or endpoint.spec.capability_key in self._refused:
                continue
            waiting = self._journal.batches.open_judgments()
            for one in self._missing(tasks, endpoint):
                if one.drop_judgments(waiting) is one:
                    setting = str(one.tasks[0].condition.request)
                    first.setdefault(name, {}).setdefault(setting, one)
        if not first:
            return True
        asked = {n: [t for one in by.values() for t in one.tasks] for n, by in first.items()}
        count, capped = sum(map(len, asked.values())), self._ask.budget.max_cost is not None
        self._shared.say(f"asking {count} judgments online first, to see what is supported")
        notes: dict[str, None] = {}
        faults: dict[str, UsageFaults] = {}
        for name, mine in asked.items():
            try:
                first_answers = await self._ask_online(name, mine)
            except JudgeError as error:
                self._refused[self._endpoint(name).spec.capability_key] = str(error)
                continue
            faults |= first_answers.usage_faults
            said = {fault.note(judge, capped=capped) for judge, fault in faults.items()}
            notes |= dict.fromkeys(note for note in first_answers.notes if note not in said)
            if not first_answers.complete:
                self.halt.stop(first_answers.stopped_because, first_answers.stopped_detail)
                break
        self._end_if_all_refuse()
        self._endpoints.clear()  # what was learned is in the journal
        for name in dict.fromkeys(t.condition.judge for t in tasks):
            self._endpoint(name).notes.update(notes)
            self._endpoint(name).usage_faults = faults.get(name, UsageFaults())
        return not self.halt.called.is_set()

    async def _ask_online(self, name: str, tasks: list[Task]) -> Collected:
        """Ask a judge at once, within what the others leave of the budget."""
        spec, account = self._endpoint(name).spec, self._shared.account
        own = self._journal.ledger.total_spend(self._ask.experiment, *spec.address).total
        others = max(0.0, account.charged_usd + account.earlier_cost_usd - own)
        at_once = replace(
            self._ask,
            mode="online",
            journal=self._journal,
            concurrency=len(tasks),
            budget=self._ask.budget.less(
                requests=self._shared.handed_in, cost=others + sum(self._shared.held.values())
            ),
            simulated_app=self._simulated() if spec.in_process else None,
            progress=False,
            follow_up=None,
            handle_signals=False,
        )
        collected = await collect_online(tasks, at_once)
        money = collected.account
        money.earlier_cost_usd = money.earlier_billed_twice = 0
        money.asked = money.answered = money.failed = money.cached = money.invalid = 0
        money.failures = {}  # the rows are counted when they are handed over
        account.add(money)
        self._shared.handed_in += money.requests
        return collected

    # ------------------------------------------------------------------ the plan

    def _endpoint(self, name: str) -> Endpoint:
        spec = self._ask.judge(name)
        if spec.capability_key not in self._endpoints:
            client = JudgeClient(spec, app=self._simulated() if spec.in_process else None)
            self._endpoints[spec.capability_key] = self._ask.endpoint(
                spec, client=client, journal=self._journal
            )
            if spec.address not in self._counted:  # by a stage before, this run has spent too
                self._counted.add(spec.address)
                earlier = self._endpoints[spec.capability_key].earlier
                self._shared.account.earlier_cost_usd += earlier.total
                self._shared.account.earlier_billed_twice += earlier.asked_again
        return self._endpoints[spec.capability_key]

    def _simulated(self) -> AsgiApp:
        if self._app is None:
            self._app = SimulatedServer()
        return self._app

    def _ready(self, tasks: Iterable[tuple[int, Task]]) -> Iterator[tuple[Endpoint, Any, Ready]]:
        for group in grouped(tasks, self._ask.sampling.choices, together=True):
            first = group.tasks[0]
            endpoint = self._endpoint(first.condition.judge)
            prompted = prompted_in(endpoint.abilities.mode, first.build)
            yield endpoint, group, Ready(endpoint.spec, group.tasks, prompted, self._ask.sampling)

    def _journal_holds(self, tasks: Sequence[Task]) -> None:
        """Note what was answered before this run."""
        for _, _, ready in self._ready(enumerate(tasks)):
            for key in ready.keys.values():
                if key not in self._shared.new and self._journal.get(key) is not None:
                    self._held.add(key)

    def _missing(self, tasks: Sequence[Task], endpoint: Endpoint) -> Iterator[Wanted]:
        mine = (
            (i, t) for i, t in enumerate(tasks) if self._endpoint(t.condition.judge) is endpoint
        )
        for _, group, ready in self._ready(mine):
            if endpoint.abilities.refuses(group.tasks[0].condition):
                continue
            left = [
                (task, key)
                for task in group.tasks
                if (key := ready.keys[task.replicate]) not in self._shared.failures
                and self._journal.get(key) is None
            ]
            size = self._ask.sampling.choices if endpoint.abilities.several else 1
            for start in range(0, len(left), size):
                part = left[start : start + size]
                yield Wanted(tasks=tuple(t for t, _ in part), keys=tuple(k for _, k in part))

    # ------------------------------------------------------------------ rows

    async def _emit(
        self, stage: list[tuple[tuple[int, ...], Task]]
    ) -> list[tuple[tuple[int, ...], Task]]:
        """Deliver a stage's rows; return the next stage."""
        account, experiment = self._shared.account, self._shared.experiment
        stages: list[tuple[tuple[int, ...], Task]] = []
        places = [place for place, _ in stage]
        for endpoint, group, ready in self._ready(enumerate(task for _, task in stage)):
            for task, (number,) in zip(group.tasks, group.places, strict=True):
                key = ready.keys[task.replicate]
                answer, failure = self._journal.get(key), self._shared.failures.get(key)
                if answer is not None:
                    cached = key in self._held
                    row = answer_row(task, ready, answer, cached=cached, experiment=experiment)
                    account.cached += cached
                    account.asked += not cached
                    account.answered += not cached
                elif refused := endpoint.abilities.refuses(task.condition):
                    row = invalid_row(task, ready, refused, experiment=experiment)
                    account.invalid += 1
                elif failure is not None:
                    tried = self._shared.tries.get(key, 1)
                    asked = RequestResult(failure=failure, tried=tried, asked_at="")
                    row = failed_row(task, ready, asked, experiment=experiment)
                    account.failure(failure.kind.value)
                else:
                    continue  # not asked, or still on the server
                self._sink.add(places[number], row)
                more = await following(self._ask.follow_up, row)
                stages += [((*places[number], i), task) for i, task in enumerate(more)]
        return stages

    # ------------------------------------------------------------------ the end

    async def _pause(self, seconds: float) -> None:
        """Wait, but no longer than until the collection is to end."""
        waits = {
            asyncio.ensure_future(self._ask.sleep(seconds)),
            asyncio.create_task(self.halt.called.wait()),
        }
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()

    def running_note(self) -> str:
        """Which batches go on on the server, and how to go on."""
        names = ", ".join(sorted(self.running)[:5]) + (" ..." if len(self.running) > 5 else "")
        on = count_noun(len(self.running), "batch goes on", "batches go on")
        return (
            f"{on} on the server ({names}); the same command fetches the answers, in a minute or "
            "tomorrow."
        )

    def collected(self, reader: str) -> Collected:
        """What it brought; `reader` is the version that the journal was read by before."""
        return collected_of(
            self._ask,
            sink=self._sink,
            account=self._shared.account,
            halt=self.halt,
            journal=self._journal,
            endpoints=self._endpoints,
            reader=reader,
            running=self.running_note() if self.running else "",
        )


async def _all_or_first_error(work: Iterable[Awaitable[None]]) -> None:
    """Do all at once; the first error ends the others."""
    doing = [asyncio.ensure_future(w) for w in work]
    try:
        await asyncio.wait(doing, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in doing:
            task.cancel()
        results = await asyncio.gather(*doing, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


async def collect_in_batches(
    tasks: Iterable[Task], ask: CollectionRequest | None = None, **options: Any
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
        The plan. Tasks that follow from answers (``follow_up``) make the next stage, in their own
        batches.
    ask : CollectionRequest, optional
        Its journal is needed: it holds the batches' ids.
    **options
        Fields of `judgestats.collection.ask.CollectionRequest` that replace those of `ask`.

    Returns
    -------
    Collected

    Raises
    ------
    InputError, JudgeError, BudgetError, StoreError
        As `collect` raises them; and a batch that failed validation.
    """
    ask = CollectionRequest.from_options(ask, **{**options, "mode": "batch"})
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
        return collector.collected(reader)


def _sayer(progress: bool | str | Callable[[Any], None]) -> Callable[[str], None]:
    if callable(progress):
        return progress
    if not progress:
        return lambda _: None

    def say(text: str) -> None:
        emit(f"{printable(text)}\n", error=True)

    return say
