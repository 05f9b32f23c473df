"""Collection in batches."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from judgestats.collection.account import Collected, Stop
from judgestats.collection.app_client import AsgiApp
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.batches.client import AnthropicBatches, BatchClient, takes
from judgestats.collection.batches.work import BatchCollection, BatchWork, Wanted
from judgestats.collection.collector import collect_online, first_of, signals
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.prices import UsageFaults
from judgestats.collection.spec import JudgeSpec
from judgestats.data.columns import Task
from judgestats.errors import InputError, JudgeError, JudgestatsError
from judgestats.results.numbers import count_noun
from judgestats.simulated.app import SimulatedServer

_GRACE_S = 2.0


class BatchCollector(BatchCollection):
    """One collection in batches: stages, models, rows."""

    def __init__(self, ask: CollectionRequest, journal: Journal) -> None:
        super().__init__(ask, journal)
        self._app = ask.simulated_app
        self._refused: dict[tuple[str, str], str] = {}
        self._cached: set[bytes] = set()

    # ------------------------------------------------------------------ stages

    async def run(self, tasks: list[Task]) -> None:
        """Work off the plan, and what follows from it, stage by stage."""
        async for _ in self.missing(tasks):
            pass  # not asked, or still on the server
        if self._refused:
            refusals = "; ".join(text.rstrip(".") for text in self._refused.values())
            self.halt.stop(Stop.REFUSED, refusals)

    def is_cached(self, key: bytes) -> bool:
        """Whether a judgment was answered before this run."""
        return key in self._cached

    async def work(self, tasks: list[Task]) -> None:
        """Send the missing requests of a stage."""
        await self._interruptible(self._stage(tasks))
        for why, detail in self.stopped:
            self.halt.stop(why, detail)

    async def _interruptible(self, work: Awaitable[None]) -> None:
        """Do the work; once the collection is to end, it gets two seconds to finish its call."""
        doing = asyncio.ensure_future(work)
        try:
            await first_of(asyncio.wait([doing]), self.halt.called.wait())
            if not doing.done():
                await first_of(asyncio.wait([doing]), self.hurry.wait(), timeout=_GRACE_S)
        finally:
            doing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await doing

    async def _stage(self, tasks: list[Task]) -> None:
        for _, ready in self.groups(tasks):  # what was answered before this run
            for key in ready.keys.values():
                if key not in self.new and self.journal.get(key) is not None:
                    self._cached.add(key)
        for name in dict.fromkeys(t.condition.judge for t in tasks):
            for record in self.journal.batches.open(*self.endpoint(name).spec.address):
                self.held.setdefault(record.name, record.estimate or 0.0)
        async with contextlib.AsyncExitStack() as stack:
            if not await self._probe(tasks):
                return
            clients: dict[tuple[object, ...], BatchClient] = {}
            for name in dict.fromkeys(t.condition.judge for t in tasks):
                spec = self.endpoint(name).spec
                if spec.capability_key in self._refused:
                    continue
                if spec.client_key not in clients:
                    made = AnthropicBatches if takes(spec) else BatchClient
                    client = made(
                        spec, timeout_s=self.ask.timeout_s, retry=self.ask.retry,
                        sleep=self.ask.sleep, app=self._simulated(spec),
                    )  # fmt: skip
                    clients[spec.client_key] = await stack.enter_async_context(client)
            await _all_or_first_error(
                self._work(endpoint, clients[endpoint.spec.client_key], tasks)
                for endpoint in self.endpoints.values()
                if endpoint.spec.client_key in clients  # else it is of an earlier stage
                and endpoint.spec.capability_key not in self._refused
            )
        self._end_if_all_refuse()

    async def _work(self, endpoint: Endpoint, client: BatchClient, tasks: Sequence[Task]) -> None:
        """One model's batches; what ends them ends no other model's."""
        survey = partial(self._wanted, tasks, endpoint)
        try:
            await BatchWork(endpoint, client=client, collection=self, survey=survey).run()
        except JudgeError as error:
            self._refused[endpoint.spec.capability_key] = str(error)

    def _end_if_all_refuse(self) -> None:
        if self._refused and all(endpoint in self._refused for endpoint in self.endpoints):
            raise JudgeError("\n".join(self._refused.values()))

    async def _probe(self, tasks: list[Task]) -> bool:
        """Ask one judgment of each unknown judge and setting online; False to end here."""
        first: dict[str, dict[str, Wanted]] = {}
        for name in dict.fromkeys(t.condition.judge for t in tasks):
            endpoint = self.endpoint(name)
            # A reply mode that is forced says nothing of what else the judge refuses.
            supported = (endpoint.abilities.proven and endpoint.met) or endpoint.spec.in_process
            unmeasured = self.ask.budget.max_cost is not None and endpoint.reserve.alone
            if (supported and not unmeasured) or endpoint.spec.capability_key in self._refused:
                continue
            waiting = self.journal.batches.open_judgments()
            for one in self._wanted(tasks, endpoint):
                if one.drop_judgments(waiting) is one:
                    setting = str(one.tasks[0].condition.request)
                    first.setdefault(name, {}).setdefault(setting, one)
        if not first:
            return True
        asked = {n: [t for one in by.values() for t in one.tasks] for n, by in first.items()}
        count, capped = sum(map(len, asked.values())), self.ask.budget.max_cost is not None
        self.say(f"asking {count} judgments online first, to see what is supported")
        notes: dict[str, None] = {}
        faults: dict[str, UsageFaults] = {}
        for name, mine in asked.items():
            try:
                first_answers = await self._ask_online(name, mine)
            except JudgeError as error:
                self._refused[self.endpoint(name).spec.capability_key] = str(error)
                continue
            faults |= first_answers.usage_faults
            said = {fault.note(judge, capped=capped) for judge, fault in faults.items()}
            notes |= dict.fromkeys(note for note in first_answers.notes if note not in said)
            if not first_answers.complete:
                self.halt.stop(first_answers.stopped_because, first_answers.stopped_detail)
                break
        self._end_if_all_refuse()
        self.endpoints.clear()  # what was learned is in the journal
        for name in dict.fromkeys(t.condition.judge for t in tasks):
            self.endpoint(name).notes.update(notes)
            self.endpoint(name).usage_faults = faults.get(name, UsageFaults())
        return not self.halt.called.is_set()

    async def _ask_online(self, name: str, tasks: list[Task]) -> Collected:
        """Ask a judge at once, within what the others leave of the budget."""
        spec, account = self.endpoint(name).spec, self.account
        own = self.journal.ledger.total_spend(self.ask.experiment, *spec.address).total
        others = max(0.0, account.charged_usd + account.earlier_cost_usd - own)
        others += sum(self.held.values())
        at_once = replace(
            self.ask, mode="online", journal=self.journal, concurrency=len(tasks),
            budget=self.ask.budget.less(requests=self.handed_in, cost=others),
            simulated_app=self._simulated(spec), progress=False, follow_up=None,
            handle_signals=False,
        )  # fmt: skip
        collected = await collect_online(tasks, at_once)
        money = collected.account
        money.earlier_cost_usd = money.earlier_billed_twice = 0
        money.asked = money.answered = money.failed = money.cached = money.invalid = 0
        money.failures = {}  # the rows are counted when they are handed over
        account.add(money)
        self.handed_in += money.requests
        return collected

    # ------------------------------------------------------------------ the plan

    def _simulated(self, spec: JudgeSpec) -> AsgiApp | None:
        """The one server in this process, for a judge that is asked there."""
        if spec.in_process and self._app is None:
            self._app = SimulatedServer()
        return self._app if spec.in_process else None

    def _wanted(self, tasks: Sequence[Task], endpoint: Endpoint) -> Iterator[Wanted]:
        mine = (t for t in tasks if self.endpoint(t.condition.judge) is endpoint)
        for group, ready in self.groups(mine):
            if endpoint.abilities.refuses(group.tasks[0].condition):
                continue
            left = [
                (task, key)
                for task in group.tasks
                if (key := ready.keys[task.replicate]) not in self.failures
                and self.journal.get(key) is None
            ]
            size = self.ask.sampling.choices if endpoint.abilities.several else 1
            for start in range(0, len(left), size):
                part = left[start : start + size]
                yield Wanted.of(part)

    # ------------------------------------------------------------------ the end

    def running_note(self) -> str:
        """Which batches go on on the server, and how to go on."""
        names = ", ".join(sorted(self.running)[:5]) + (" ..." if len(self.running) > 5 else "")
        on = count_noun(len(self.running), "batch goes on", "batches go on")
        return f"{on} on the server ({names}); the same command fetches the answers."


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
        collector = BatchCollector(ask, journal)
        with signals(collector) if ask.handle_signals else contextlib.nullcontext():
            try:
                await collector.run(list(tasks))
            except JudgestatsError as error:
                if collector.running:
                    error.add_note(collector.running_note())
                raise
        return collector.collected(running=collector.running_note() if collector.running else "")
