"""Batches of one model, from requests to account."""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgestats.collection.account import Stop
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.batches.client import (
    BatchCallError,
    BatchClient,
    BatchState,
    read_results,
    request_line,
)
from judgestats.collection.collector import StagedCollection, first_of
from judgestats.collection.endpoint import Endpoint, taught
from judgestats.collection.journal import Journal
from judgestats.collection.journal_file import Answer, BatchRecord, BatchRequest, Limits
from judgestats.collection.ledger import Charge, unknown_price
from judgestats.collection.prices import Charged, charged
from judgestats.collection.request import Encoded, Ready, TextSize, draw_header, request_body
from judgestats.collection.retry import FailedRequest, Kind, Outcome
from judgestats.collection.sending import answers_of
from judgestats.data.columns import Task
from judgestats.errors import JudgeError, printable
from judgestats.protocols.base import Prompted, prompted_in
from judgestats.terminal import emit


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Tasks that one request would answer, and its keys."""

    tasks: tuple[Task, ...]
    keys: tuple[bytes, ...]

    def drop_judgments(self, keys: set[bytes]) -> Wanted | None:
        """What is left of it without some judgments."""
        left = [pair for pair in zip(self.tasks, self.keys, strict=True) if pair[1] not in keys]
        if len(left) == len(self.keys):
            return self
        return Wanted.of(left) if left else None

    @classmethod
    def of(cls, pairs: Iterable[tuple[Task, bytes]]) -> Wanted:
        """The request for some tasks, given with their keys."""
        tasks, keys = zip(*pairs, strict=True)
        return cls(tasks=tasks, keys=keys)


class BatchCollection(StagedCollection):
    """What all models' batches of a collection share.

    Attributes
    ----------
    new : set of bytes
        Judgments that a batch answered in this run.
    running : dict of str to str
        Batches on the server that have not ended: id and judge.
    held : dict of str to float
        Dollars held back for each of them.
    """

    def __init__(self, ask: CollectionRequest, journal: Journal) -> None:
        super().__init__(ask, journal)
        self.limits = ask.limits or Limits()
        self.tries: dict[bytes, int] = {}
        self.new: set[bytes] = set()
        self.running: dict[str, str] = {}
        self.held: dict[str, float] = {}
        self.stopped: list[tuple[Stop, str]] = []
        self.handed_in = 0

    def say(self, text: str) -> None:
        """Report a step."""
        if callable(self.ask.progress):
            tell: Callable[[Any], None] = self.ask.progress
            tell(text)
        elif self.ask.progress:
            emit(f"{printable(text)}\n", error=True)

    async def pause(self, seconds: float) -> None:
        """Wait, but no longer than until the collection is to end."""
        await first_of(self.ask.sleep(seconds), self.halt.called.wait())

    def check_budget(self, who: str, estimate: float, held: float, count: int) -> Stop | None:
        """Why a further request must not be sent, if it must not."""
        limits = self.ask.budget
        if limits.max_requests is not None and self.handed_in + count >= limits.max_requests:
            return Stop.MAX_REQUESTS
        if limits.max_cost is None:
            return None
        if math.isnan(estimate):
            raise unknown_price([who])
        spent = self.account.charged_usd + self.account.earlier_cost_usd
        total = spent + sum(self.held.values()) + held + estimate
        return Stop.MAX_COST if total > limits.max_cost and estimate > 0 else None


_PASSING = {
    Kind.RATE_LIMITED, Kind.OVERLOADED, Kind.SERVER_ERROR, Kind.BROKEN, Kind.TIMED_OUT,
    Kind.MALFORMED,
}  # fmt: skip
_AGAIN = _PASSING | {Kind.TOO_LARGE, Kind.EXPIRED, Kind.MISSING}
"""Kinds of failure for which a request goes into a next batch."""
_FATAL = {Kind.KEY_REFUSED, Kind.NO_PERMISSION, Kind.WRONG_PATH, Kind.UNKNOWN_MODEL}
_SILENT = _PASSING | {Kind.UNREACHABLE}
"""Kinds of failure that say nothing about the state of a batch."""
_MOST_SILENT = 60
"""Looks in a row without news: about an hour, the retry policy's own tries aside."""
_REFUSALS = _FATAL | {Kind.BAD_REQUEST}
_ENDINGS = {"expired": Kind.EXPIRED, "cancelled": Kind.CANCELLED}
"""What became of a request that a batch's files say nothing of, by the batch's status."""
_FILE_LOOKS = 5
"""Looks at an ended batch that names no file yet: some servers name it seconds later."""
_TOO_MANY = "token_limit_exceeded"
"""The code of a batch refused because too many tokens wait already."""


class BatchWork:
    """The batches of one endpoint.

    Parameters
    ----------
    endpoint : Endpoint
        Its abilities and price (already the price in batches).
    client : BatchClient
    collection : BatchCollection
    survey : function
        Gives what is missing at present.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        client: BatchClient,
        collection: BatchCollection,
        survey: Callable[[], Iterable[Wanted]],
    ) -> None:
        self._endpoint = endpoint
        self._client = client
        self._collection = collection
        self._survey = survey
        self._most = collection.limits.requests
        self._one_by_one = False
        self._stopped = False
        self._asked: dict[bytes, TextSize] = {}

    async def run(self) -> None:
        """Work until nothing is missing, or nothing more may be asked."""
        halt, book = self._collection.halt, self._collection.journal.batches
        await self._find_orphans({key for one in self._survey() for key in one.keys})
        while not (halt.called.is_set() or self._stopped):
            wanted = list(self._survey())
            keys = {key for one in wanted for key in one.keys}
            open_ = [
                record
                for record in book.open(*self._endpoint.spec.address)
                if keys & _keys_of(book.requests(record.name).values())
            ]
            self._running(open_)
            waiting = book.open_judgments()
            todo = [rest for one in wanted if (rest := one.drop_judgments(waiting)) is not None]
            refused: Stop | None = None
            if todo and not (self._one_by_one and open_):
                more, refused = await self._hand_in(todo)
                open_ += more
            if not open_:
                if refused is not None:
                    self._stop(refused)
                return
            self._running(open_)
            await self._wait(open_)

    def _running(self, records: Iterable[BatchRecord]) -> None:
        """Note which batches are on the server, and what is held back for them."""
        for record in records:
            self._collection.running[record.batch_id] = self._endpoint.spec.name
            self._collection.held.setdefault(record.name, record.estimate or 0.0)

    # ------------------------------------------------------------------ handing in

    async def _find_orphans(self, keys: set[bytes]) -> None:
        """Look for batches whose id was never stored: the process was killed in between.

        Only those that this judge's judgments wait in: another judge of the same address may be
        handing one in at this moment, or may be known under another key.
        """
        book = self._collection.journal.batches
        for record in book.open(*self._endpoint.spec.address):
            requests = book.requests(record.name)
            if record.batch_id or not keys & _keys_of(requests.values()):
                continue
            state = await self._client.find(record.name, requests)
            if state is not None:
                book.created(record.name, state.id)
                self._collection.say(
                    f"{self._endpoint.spec.name}: found batch {state.id} of an ended run"
                )
                continue
            if record.file_id:
                await self._client.delete(record.file_id)
            self._collection.journal.store_batch(record.name, {})

    async def _hand_in(self, todo: Sequence[Wanted]) -> tuple[list[BatchRecord], Stop | None]:
        """Put requests into files of bounded size, as far as the budget reaches."""
        collection = self._collection
        done: list[BatchRecord] = []
        refused: Stop | None = None
        lines: list[bytes] = []
        requests: list[BatchRequest] = []
        size, held = 0, 0.0
        for one in todo:
            line, request, estimate = self._line(one)
            full = len(lines) >= self._most or size + len(line) > collection.limits.bytes
            if lines and full:
                done.append(await self._create(lines, requests, held))
                lines, requests, size, held = [], [], 0, 0.0
                if self._one_by_one or collection.halt.called.is_set():
                    return done, None
            refused = collection.check_budget(self._endpoint.spec.name, estimate, held, len(lines))
            if refused is not None:
                break
            lines.append(line)
            requests.append(request)
            size += len(line)
            held += 0.0 if math.isnan(estimate) else estimate
        if lines:
            done.append(await self._create(lines, requests, held))
        return done, refused

    def _line(self, one: Wanted) -> tuple[bytes, BatchRequest, float]:
        endpoint, sampling, tasks = self._endpoint, self._collection.ask.sampling, one.tasks
        condition = tasks[0].condition
        prompted = prompted_in(endpoint.abilities.mode, tasks[0].build)
        ready = Ready(endpoint.spec, tasks, prompted, sampling)
        self._asked[one.keys[0]] = _size(prompted)
        sent = endpoint.build_request(tasks, ready, sampling)
        custom_id = f"js-{one.keys[0].hex()[:40]}"
        if endpoint.spec.simulated:
            custom_id += f"|{draw_header(tasks, sampling)}"
        tried = 1 + self._collection.tries.get(one.keys[0], 0)
        request = BatchRequest(custom_id=custom_id, keys=one.keys, sent=sent, tried=tried)
        hold = endpoint.hold(ready, len(tasks), bound=endpoint.bound(sampling, condition))
        body = request_body(endpoint.spec, ready.encoded, sent)
        return request_line(custom_id, body), request, hold

    async def _create(
        self, lines: list[bytes], requests: list[BatchRequest], held: float
    ) -> BatchRecord:
        """Record, upload, create: each step is in the journal before the next one is taken."""
        collection, book = self._collection, self._collection.journal.batches
        base_url, model = self._endpoint.spec.address
        record = BatchRecord(
            name=secrets.token_hex(12), base_url=base_url, model=model, estimate=held
        )
        book.begin(record, requests)
        try:
            file_id = await self._client.upload(record.name, b"".join(lines))
            book.uploaded(record.name, file_id)
            state = await self._client.create(record.name, file_id, collection.ask.experiment)
        except BatchCallError as error:
            if error.outcome.kind in _REFUSALS:
                collection.journal.store_batch(record.name, {})  # refused: there is no such batch
            raise
        book.created(record.name, state.id)
        collection.handed_in += len(requests)
        name = self._endpoint.spec.name
        collection.say(f"{name}: batch {state.id} handed in with {len(requests):,} requests")
        return replace(record, file_id=file_id, batch_id=state.id)

    # ------------------------------------------------------------------ waiting and fetching

    async def _wait(self, records: list[BatchRecord]) -> None:
        """Look at batches, ever more seldom, until all have ended."""
        collection, left = self._collection, list(records)
        name = self._endpoint.spec.name
        # A simulated judge in this process moves on when it is looked at, and at no other time.
        pause = 0.01 if self._endpoint.spec.in_process else collection.limits.first_s
        seen: dict[str, tuple[str, int]] = {}
        without_file: Counter[str] = Counter()
        silent = 0
        while left and not collection.halt.called.is_set():
            await collection.pause(pause)
            pause = min(1.5 * pause, collection.limits.longest_s)
            for record in tuple(left):
                try:
                    state = await self._client.state(record.batch_id)
                except BatchCallError as error:
                    if error.outcome.kind in _SILENT and silent < _MOST_SILENT:
                        silent += 1  # the batch goes on whether or not it can be looked at
                        collection.say(f"{name}: no news ({error.outcome.detail})")
                        continue
                    if error.outcome.status != 404:
                        raise
                    state = None
                silent = 0
                if state is None:
                    self._endpoint.note(f"batch {record.batch_id} is gone from the server")
                    self._end(record, {})
                elif state.ended:
                    if state.ran and not state.files and without_file[record.name] < _FILE_LOOKS:
                        without_file[record.name] += 1
                        continue
                    await self._fetch(record, state)
                else:
                    if seen.get(record.name) != (state.status, state.done):
                        seen[record.name] = (state.status, state.done)
                        done = f"{state.done:,} of {state.total:,} requests done"
                        collection.say(f"{name}: batch {state.id} {state.status}, {done}")
                    continue
                left.remove(record)

    def _end(
        self, record: BatchRecord, answers: dict[bytes, Answer], charge: Charge | None = None
    ) -> frozenset[bytes]:
        collection = self._collection
        new = collection.journal.store_batch(record.name, answers, charge)
        collection.new |= new
        collection.running.pop(record.batch_id, None)
        collection.held.pop(record.name, None)
        return new

    async def _fetch(self, record: BatchRecord, state: BatchState) -> None:
        """Download an ended batch, store its answers, and book what failed."""
        collection, endpoint = self._collection, self._endpoint
        requests = collection.journal.batches.requests(record.name)
        if state.status == "failed":
            self._invalid(record, state)
            return
        contents = [await self._content(file_id) for file_id in state.files]
        gone = state.ran and (not state.has_output or None in contents)
        results = read_results((c for c in contents if c is not None), requests)
        if results.oddities:
            self._endpoint.note(f"batch {state.id}: lines left out: {results.oddities}")
        answers: dict[bytes, Answer] = {}
        bills: dict[str, Charged] = {}
        left: list[tuple[BatchRequest, Charged]] = []
        share = (record.estimate or 0.0) / max(len(requests), 1)
        asked = self._sizes(requests.values())
        for request in requests.values():
            outcome = results.outcomes.get(request.custom_id) or Outcome(
                kind=Kind.MISSING if gone else _ENDINGS.get(state.status, Kind.MISSING),
                detail=f"the batch is {state.status}, without a result",
            )
            bound = request.sent.settings.get("max_tokens")
            size = asked.get(request.keys[0], TextSize())
            bill = charged(outcome, endpoint.price, size, hold=share, bound=bound)
            if outcome.kind is Kind.ANSWERED:
                endpoint.reserve.saw(bill.outcome, len(request.keys), bound=bound)
                bills[request.custom_id] = bill
                answers |= self._answers(request, bill.outcome, bill.cost)
            else:
                left.append((request, bill))
        known = [bill.cost for bill in bills.values() if not math.isnan(bill.cost)]
        unknown = [bill.estimate for bill in bills.values() if math.isnan(bill.cost)]
        ruined = [bill.estimate for _, bill in left if bill.outcome.maybe_billed]
        booked = (sum(known), sum(unknown), sum(ruined))
        new = self._end(record, answers, endpoint.charge(booked, requests=len(requests)))
        collection.account.requests += len(requests)
        collection.account.retries += sum(r.tried > 1 for r in requests.values())
        for request in requests.values():
            if request.custom_id in bills:
                self._answered(request, bills[request.custom_id], new)
        fatal = None
        for request, bill in left:
            fatal = self._failed(request, bill) or fatal
        collection.say(
            f"{endpoint.spec.name}: batch {state.id} {state.status}: "
            f"{len(requests) - len(left):,} of {len(requests):,} requests answered"
        )
        if fatal is not None:
            why = f"{fatal.kind.value} (HTTP {fatal.status}: {fatal.detail})"
            raise JudgeError(
                f"judge {endpoint.spec.name!r}: the batch's requests were refused as {why}. Check "
                "the judge's name and the key; what was answered is in the journal."
            )
        if gone and any(bill.outcome.kind is Kind.MISSING for _, bill in left):
            lost = [f for f, c in zip(state.files, contents, strict=True) if c is None]
            which = f"{' and '.join(lost)}: HTTP 404" if lost else "it names no output file"
            raise JudgeError(
                f"judge {endpoint.spec.name!r}: batch {state.id} is {state.status}, and the server "
                f"has no file of its results ({which}): {len(left):,} of {len(requests):,} "
                "requests are without an answer and were probably billed. Look for the batch on "
                "the provider's page; the same command asks them again, and pays again."
            )

    def _sizes(self, requests: Iterable[BatchRequest]) -> dict[bytes, TextSize]:
        """The sizes of the prompts by the requests' first keys, also of a run before this one."""
        if any(request.keys[0] not in self._asked for request in requests):
            for one in self._survey():
                prompted = prompted_in(self._endpoint.abilities.mode, one.tasks[0].build)
                size = _size(prompted)
                self._asked |= {key: self._asked.get(key, size) for key in one.keys}
        return self._asked

    async def _content(self, file_id: str) -> bytes | None:
        """A file's content; None where the server has no such file."""
        try:
            return await self._client.content(file_id)
        except BatchCallError as error:
            if error.outcome.status != 404:
                raise
        self._endpoint.note(f"file {file_id} is gone from the server")
        return None

    def _invalid(self, record: BatchRecord, state: BatchState) -> None:
        """A batch that failed validation: nothing of it was run, nothing is billed."""
        count = len(self._collection.journal.batches.requests(record.name))
        self._end(record, {})
        if _TOO_MANY in state.codes and count > 1:
            self._most, self._one_by_one = max(1, count // 2), True
            now = f"batches of {self._most:,} requests, one by one"
            self._endpoint.note(f"too many tokens wait; {now}")
            return
        why = "; ".join(state.errors[:3]) or "no reason given"
        raise JudgeError(
            f"judge {self._endpoint.spec.name!r}: batch {state.id} failed validation ({why}). "
            "Nothing of it was run or billed. Fix what is named, or ask online (mode=online)."
        )

    # ------------------------------------------------------------------ booking

    def _answers(self, request: BatchRequest, outcome: Outcome, cost: float) -> dict[bytes, Answer]:
        """A request's choices as answers, with their shares of tokens and cost."""
        answers = answers_of(
            outcome, len(request.keys), mode=request.sent.mode, sent=request.sent.settings_json,
            cost=cost, attempts=request.tried,
        )  # fmt: skip
        return dict(zip(request.keys, answers, strict=False))

    def _answered(self, request: BatchRequest, bill: Charged, new: frozenset[bytes]) -> None:
        """Book an answered request; `new` are the judgments that had no answer before."""
        account, endpoint = self._collection.account, self._endpoint
        outcome, cost, estimate = bill.outcome, bill.cost, bill.estimate
        account.usage_implausible += endpoint.count_fault(bill)
        endpoint.saw(outcome)
        endpoint.answered_as(outcome, request.sent, len(request.keys))
        if not new.intersection(request.keys):  # answered online meanwhile: paid for twice
            account.discarded += 1
            account.cost_in_vain_usd += estimate if math.isnan(cost) else cost
            return
        account.add_answers(
            outcome, len(outcome.choices[: len(request.keys)]), cost=cost,
            estimated=estimate if math.isnan(cost) else 0.0,
        )  # fmt: skip

    def _failed(self, request: BatchRequest, bill: Charged) -> Outcome | None:
        """Book a request without an answer; gives it back if it ends the collection."""
        collection, endpoint, outcome = self._collection, self._endpoint, bill.outcome
        if outcome.maybe_billed:
            collection.account.discarded += 1
            collection.account.cost_in_vain_usd += bill.estimate
        if outcome.kind is Kind.BAD_REQUEST and taught(endpoint, request.sent, outcome):
            return None
        if outcome.kind in _FATAL:
            return outcome
        if outcome.kind is Kind.NO_QUOTA:
            self._stop(Stop.NO_QUOTA, f"{endpoint.spec.name}: {outcome.detail}")
            return None
        if outcome.kind is Kind.CANCELLED:
            self._stop(Stop.CANCELLED, f"a batch of {endpoint.spec.name} was cancelled")
            return None
        final = outcome.kind not in _AGAIN or request.tried >= collection.limits.rounds
        for key in request.keys:
            collection.tries[key] = request.tried
            if final:
                collection.failures[key] = FailedRequest(failure=outcome, tried=request.tried)
        if final:
            endpoint.gave_up(outcome)
        return None

    def _stop(self, why: Stop, detail: str = "") -> None:
        """Submit no more for this model; the others' batches are waited for."""
        self._stopped = True
        self._collection.stopped.append((why, detail))


def _size(prompted: Prompted) -> TextSize:
    return TextSize.from_messages(prompted.messages, sent=Encoded(prompted).size)


def _keys_of(requests: Iterable[BatchRequest]) -> set[bytes]:
    return {key for request in requests for key in request.keys}
