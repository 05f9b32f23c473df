"""Asking one request until it is answered, given up or refused for something to be learned from."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgestats.collection.account import Account, Stop
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.callable_judge import JUDGED_HEADER, task_inputs
from judgestats.collection.endpoint import Endpoint, mode_ignored, taught, why_fatal
from judgestats.collection.journal import Journal
from judgestats.collection.journal_file import UNTOLD, Answer
from judgestats.collection.ledger import Purse
from judgestats.collection.prices import Charged, charged
from judgestats.collection.request import DRAW_HEADER, Ready, TextSize, draw_header, request_body
from judgestats.collection.response import SentRequest
from judgestats.collection.retry import FailedRequest, Kind, Outcome
from judgestats.collection.spec import JudgeSpec
from judgestats.data.columns import Task
from judgestats.errors import JudgestatsError
from judgestats.protocols.base import ReplyMode

if TYPE_CHECKING:
    from judgestats.collection.app_client import AppClient
    from judgestats.collection.callable_judge import FunctionClient
    from judgestats.collection.client import JudgeClient

    Client = JudgeClient | AppClient | FunctionClient

_OK = 200
_HOLD = 3
"""Judgments in a row that may fail as unreachable before the endpoint is taken to be down."""
_HOPELESS = 20
"""Judgments in a row that may be given up, at least; else twice the concurrency."""


class Halt:
    """Whether, and why, no more may be asked."""

    def __init__(self) -> None:
        self.called = asyncio.Event()
        self.why = Stop.COMPLETE
        self.detail = ""
        self.fatal: JudgestatsError | None = None

    def stop(self, why: Stop, detail: str = "") -> None:
        """Ask for no more; the first reason counts."""
        if not self.called.is_set():
            self.why = why
            self.detail = detail
            self.called.set()

    def abort(self, error: JudgestatsError) -> None:
        """Ask for no more: the collection ends with this error (the first one counts)."""
        if self.fatal is None:
            self.fatal = error
        self.called.set()


@dataclass(slots=True)
class _Try:
    """One try of a request."""

    body: bytes
    sent: SentRequest
    hold: float
    entered: float
    tried: int
    asked_at: str = ""
    number: int = 0


class RequestSender:
    """Sends requests under limit and budget, books them, and stores answers before counting them.

    Parameters
    ----------
    ask, journal, account, halt
        Of the collection.
    client_of : function of JudgeSpec
        Gives the client by which a judge is asked.

    Attributes
    ----------
    idle : Event
        Set while no request is in flight.
    """

    def __init__(
        self,
        ask: CollectionRequest,
        *,
        journal: Journal,
        account: Account,
        halt: Halt,
        client_of: Callable[[JudgeSpec], Client],
    ) -> None:
        self._journal = journal
        self._purse = Purse(ask.budget)
        self._sampling = ask.sampling
        self._retry = ask.retry
        self._account = account
        self._halt = halt
        self._client_of = client_of
        self._sending = 0
        self.idle = asyncio.Event()
        self.idle.set()

    async def ask(
        self,
        endpoint: Endpoint,
        tasks: list[Task],
        ready: Ready,
        deliver: Callable[[FailedRequest | tuple[Answer, ...]], Awaitable[int]],
    ) -> int:
        """Ask one request for the tasks, with retries.

        `deliver` is awaited with the end, before the request counts as no longer in flight.

        Returns
        -------
        int
            What `deliver` returns; 0 where something was learned (build the request again) or no
            more may be asked.
        """
        wanted = [ready.keys[t.replicate] for t in tasks]
        condition = tasks[0].condition.label
        headers = None
        if endpoint.spec.simulated:
            headers = {DRAW_HEADER: draw_header(tasks, self._sampling)}
        elif endpoint.spec.function is not None:
            headers = {JUDGED_HEADER: task_inputs(tasks[0])}
        tried, failed_at = 0, math.nan
        draw: random.Random | None = None
        while True:
            tried += 1
            one = await self._admitted(endpoint, tasks, ready, tried)
            if one is None:
                return 0
            if tried == 1 and (again := self._journal.was_lost(wanted)):
                # in flight when an earlier run was killed
                self._account.possibly_billed_twice += again
                self._journal.ledger.charge_again(endpoint.line, again)
            self._sending += 1
            self.idle.clear()
            try:
                one.number = self._journal.begin(
                    wanted, line=endpoint.line, hold=0.0 if math.isnan(one.hold) else one.hold
                )
                one.asked_at = datetime.now(UTC).isoformat(timespec="milliseconds")
                outcome = await self._send_try(endpoint, one, headers)
                _leave(endpoint, outcome, one.entered)
                endpoint.saw(outcome)
                if outcome.kind is Kind.ANSWERED and mode_ignored(endpoint, one.sent, outcome):
                    self._charge_failure(endpoint, ready, outcome, one)
                    return 0
                if outcome.kind is Kind.ANSWERED:
                    endpoint.streaks.answered(condition)
                    return await deliver(await self._store(endpoint, wanted, ready, outcome, one))
                self._charge_failure(endpoint, ready, outcome, one)
                if taught(endpoint, one.sent, outcome, condition, tried=tried):
                    return 0
                if self._end_if_fatal(endpoint, outcome):
                    return 0
                draw = draw or random.Random(wanted[0])
                now = asyncio.get_running_loop().time()
                failed_at = now if math.isnan(failed_at) else failed_at
                wait = self._retry.wait(
                    outcome, tried=tried, waited_s=now - failed_at, contacted=endpoint.contacted,
                    draw=draw,
                )  # fmt: skip
                if wait is None:
                    self._end_if_hopeless(endpoint, outcome, condition)
                    if self._retry.asks_too_much(outcome):
                        return 0
                    return await deliver(
                        FailedRequest(failure=outcome, tried=tried, asked_at=one.asked_at)
                    )
            finally:
                self._sending -= 1
                if self._sending == 0:
                    self.idle.set()
            self._account.waited_s += wait
            await endpoint.rest(wait, condition)

    async def _send_try(
        self, endpoint: Endpoint, one: _Try, headers: dict[str, str] | None
    ) -> Outcome:
        """Send one try; what is broken off by an interrupt may have been billed all the same."""
        try:
            client = self._client_of(endpoint.spec)
            return await client.ask(one.body, headers=headers)
        except asyncio.CancelledError:
            # In the journal it stays in flight: what is held is charged when that is next opened.
            self._purse.settle(one.hold, cost=math.nan, in_vain=True)
            self._account.discarded += 1
            self._account.cost_in_vain_usd = self._purse.perhaps_spent
            raise

    async def _admitted(
        self, endpoint: Endpoint, tasks: list[Task], ready: Ready, tried: int
    ) -> _Try | None:
        """Wait for a place and for money; None where there will be none."""
        condition = tasks[0].condition
        entered = await endpoint.limit.enter()
        if endpoint.asks_no_more(condition.label):
            endpoint.limit.release_slot()
            return None
        refused, hold = "", 0.0
        bound = endpoint.bound(self._sampling, condition)
        self._purse.earlier = self._account.earlier_cost_usd
        try:
            if not self._halt.called.is_set():
                refused, hold = await self._purse.take(
                    lambda: endpoint.hold(ready, len(tasks), bound=bound),
                    who=endpoint.spec.name,
                    alone=lambda: endpoint.reserve.alone,
                )
        except BaseException:
            endpoint.limit.release_slot()
            raise
        if refused:
            self._halt.stop(Stop(refused))
        if self._halt.called.is_set() or endpoint.asks_no_more(condition.label):
            if not refused:
                self._purse.give_back(hold)
            endpoint.limit.release_slot()
            return None
        sent = endpoint.build_request(tasks, ready, self._sampling)
        self._account.requests += 1
        self._account.retries += tried > 1
        body = request_body(endpoint.spec, ready.encoded, sent)
        return _Try(body=body, sent=sent, hold=hold, entered=entered, tried=tried)

    async def _store(
        self, endpoint: Endpoint, wanted: list[bytes], ready: Ready, outcome: Outcome, one: _Try
    ) -> tuple[Answer, ...]:
        """Store the choices of an answered request, then count them."""
        bill = self._charged(endpoint, ready, outcome, one)
        outcome, cost = bill.outcome, bill.cost
        asked = one.sent.choices
        bound = one.sent.settings.get("max_tokens")
        endpoint.reserve.saw(outcome, asked, size=ready.encoded.size, bound=bound)
        booked = self._purse.settle(one.hold, cost=cost, uncounted=bill.estimate)
        answers = answers_of(
            outcome, len(wanted), mode=one.sent.mode, sent=one.sent.settings_json, cost=cost,
            latency_s=outcome.latency_s, attempts=one.tried, asked_at=one.asked_at,
        )  # fmt: skip
        stored = list(zip(wanted, answers, strict=False))
        await self._journal.answered(one.number, stored, endpoint.charge(booked))
        self._account.add_answers(outcome, len(answers), cost=cost, estimated=booked[1])
        endpoint.answered_as(outcome, one.sent, len(wanted))
        return answers

    def _charged(self, endpoint: Endpoint, ready: Ready, outcome: Outcome, one: _Try) -> Charged:
        """What a reply is charged at; one of which no believable tokens are reported is counted."""
        bill = charged(
            outcome,
            endpoint.price,
            TextSize.from_messages(ready.prompted.messages, sent=ready.encoded.size),
            hold=one.hold,
            bound=one.sent.settings.get("max_tokens"),
        )
        self._account.usage_implausible += endpoint.count_fault(bill)
        return bill

    def _charge_failure(
        self, endpoint: Endpoint, ready: Ready, outcome: Outcome, one: _Try
    ) -> None:
        in_vain = outcome.kind is Kind.ANSWERED or outcome.maybe_billed
        cost = 0.0
        if in_vain:
            bill = self._charged(endpoint, ready, outcome, one)
            cost = bill.estimate if math.isnan(bill.cost) else bill.cost
        booked = self._purse.settle(one.hold, cost=cost, in_vain=in_vain)
        why = outcome.kind.value if in_vain else ""
        self._journal.failed(one.number, endpoint.charge(booked), billed_in_vain=why)
        if in_vain:
            self._account.discarded += 1
            self._account.cost_in_vain_usd = self._purse.perhaps_spent

    def _end_if_fatal(self, endpoint: Endpoint, outcome: Outcome) -> bool:
        """End a judge that every further request would fail alike; the others go on.

        False where only another request ended the judge: this one's own failure is still booked.
        """
        if outcome.kind is Kind.NO_QUOTA and endpoint.answered:
            endpoint.end(Stop.NO_QUOTA, f"{endpoint.spec.name}: {outcome.detail}")
            return True
        why = why_fatal(endpoint.spec, outcome) if outcome.status != _OK else ""
        if why:
            endpoint.refuse(why)
        return bool(why)

    def _end_if_hopeless(self, endpoint: Endpoint, outcome: Outcome, condition: str) -> None:
        """Ask a model, or one of its conditions, no more where that would only collect failures."""
        name, url = endpoint.spec.name, endpoint.spec.base_url
        if self._retry.asks_too_much(outcome):
            seconds = f"{outcome.retry_after_s:,.0f} s"
            endpoint.end(Stop.TOLD_TO_WAIT, f"{name}: {url} asks to wait {seconds}")
            return
        endpoint.gave_up(outcome)
        endpoint.pages_in_a_row += outcome.kind is Kind.WRONG_PATH
        if endpoint.pages_in_a_row >= _HOLD and endpoint.answered == 0:
            endpoint.refuse(why_fatal(endpoint.spec, outcome))
            return
        if outcome.kind is not Kind.UNREACHABLE:
            most = max(_HOPELESS, 2 * endpoint.limit.ceiling)
            endpoint.streaks.gave_up(outcome, condition)
            last = f"{outcome.kind.value} ({outcome.detail})"
            sentence = f"judgments in a row failed, the last one as {last}"
            if count := endpoint.streaks.model_fails(most=most):
                endpoint.end(Stop.FAILING, f"{name}: {count} {sentence}")
            elif count := endpoint.streaks.condition_fails(condition, most=most):
                endpoint.leave_out(condition, f"{condition}: {count} {sentence}")
            return
        if not endpoint.contacted:
            hint = "Is the server running, and is the base URL right?"
            endpoint.refuse(f"judge {name!r}: {url} cannot be reached ({outcome.detail}). {hint}")
            return
        endpoint.unreachable_in_a_row += 1
        if endpoint.unreachable_in_a_row >= _HOLD:
            endpoint.end(Stop.UNREACHABLE, f"{name}: {url} can no longer be reached")


def _leave(endpoint: Endpoint, outcome: Outcome, entered: float) -> None:
    if outcome.kind is Kind.ANSWERED:
        endpoint.limit.answered()
    elif outcome.kind in {Kind.RATE_LIMITED, Kind.OVERLOADED}:
        endpoint.limit.congested(entered)
    else:
        endpoint.limit.release_slot()


def answers_of(
    outcome: Outcome,
    wanted: int,
    *,
    mode: ReplyMode,
    sent: str,
    cost: float = math.nan,
    latency_s: float = UNTOLD,
    attempts: int = 1,
    asked_at: str = "",
) -> tuple[Answer, ...]:
    """The choices of an answered request as answers, each with its share of tokens and cost.

    Parameters
    ----------
    outcome : Outcome
    wanted : int
        Choices that were asked for.
    mode, sent
        What the request carried.
    cost : float
        Of the request; NaN where it is not known.
    latency_s, attempts
    asked_at : str
        Empty: now.
    """
    choices = outcome.choices[:wanted]
    share = 1 / len(choices)

    def part(tokens: int | None) -> float | None:
        return None if tokens is None else tokens * share

    return tuple(
        Answer(
            text=choice.stored_text(mode),
            mode=mode.value,
            finish_reason=choice.finish_reason,
            model=outcome.model,
            fingerprint=outcome.fingerprint,
            sent=sent,
            choices=wanted,
            tokens_in=part(outcome.tokens_in),
            tokens_out=part(outcome.tokens_out),
            tokens_cached=part(outcome.tokens_cached),
            tokens_reasoning=part(outcome.tokens_reasoning),
            cost_usd=None if math.isnan(cost) else cost * share,
            latency_s=latency_s,
            attempts=attempts,
            asked_at=asked_at or datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        for choice in choices
    )
