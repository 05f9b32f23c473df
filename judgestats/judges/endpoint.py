"""One judge's model at one address, with all that its requests share."""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from judgestats.judges.account import Stop
from judgestats.judges.app_client import AppClient
from judgestats.judges.concurrency import AdaptiveLimit
from judgestats.judges.function_client import FunctionClient
from judgestats.judges.journal import Journal
from judgestats.judges.ledger import Charge, Spend
from judgestats.judges.negotiation import Abilities
from judgestats.judges.outcomes import Kind, Outcome
from judgestats.judges.prices import Price
from judgestats.judges.request import Ready, Sampling
from judgestats.judges.reserve import Reserve
from judgestats.judges.spec import JudgeSpec
from judgestats.judges.streaks import Streaks
from judgestats.judges.usage import Charged, UsageFaults
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import label
from judgestats.protocols.base import ReplyMode

if TYPE_CHECKING:
    from judgestats.judges.client import JudgeClient

_LONGEST_PAUSE_S = 60.0
"""Servers may name hours; after a minute one asks again, under the retry policy."""

_LONGEST_PROBE_S = 3.0


class Endpoint:
    """State of one judge at its endpoint: limit, abilities, price, how long replies are.

    Judges of one address that differ in their settings have each their own; `limit` is what they
    share, since the server counts their requests together.
    """

    def __init__(
        self,
        spec: JudgeSpec,
        *,
        client: JudgeClient | AppClient | FunctionClient,
        concurrency: int,
        journal: Journal,
        price: Price,
        reply_mode: ReplyMode | None,
        experiment: str = "",
        limit: AdaptiveLimit | None = None,
    ) -> None:
        self.spec = spec
        self.client = client
        self.limit = limit or AdaptiveLimit(concurrency)
        self.price = price
        self.contacted = False
        self.answered = 0
        self.unreachable_in_a_row = 0
        self.limited_in_a_row = 0
        self.pages_in_a_row = 0
        self.streaks = Streaks()
        self.left_out: dict[str, str] = {}
        self.notes: dict[str, None] = {}
        self.usage_faults = UsageFaults()
        self.ended = asyncio.Event()
        self.ended_because = Stop.COMPLETE
        self.ended_detail = ""
        self.refused = ""
        self._resting: dict[str, asyncio.Event] = {}
        self._journal = journal
        self._experiment = experiment
        self.earlier: Spend = journal.ledger.spent(experiment, *spec.address)
        self.reserve = Reserve(price, self.earlier)
        learned = journal.abilities(*spec.asked_as)
        self.met = learned is not None
        self._found_out: Abilities | None = None
        if reply_mode is None:
            self.abilities = learned or Abilities()
            for (name, value), words in self.abilities.refused.items():
                sentence = f"{label(name, value)} was refused ({words}); its conditions are invalid"
                self.notes[f"{spec.name}: {sentence}"] = None
        else:
            self._found_out = learned or Abilities()
            self.abilities = Abilities(
                mode=reply_mode,
                proven=True,
                left_out=self._found_out.left_out,
            )
        self._settled = asyncio.Event()
        self._probing = False
        if self.abilities.proven or spec.in_process:
            self._settled.set()

    async def probe(self) -> bool:
        """Wait until the model's abilities are settled; True for the one request that settles them.

        Without it, as many requests as are allowed in flight would all be refused for the same
        unsupported parameter. A first request that takes long holds the others back for a few
        seconds only.
        """
        if self._settled.is_set():
            return False
        if not self._probing:
            self._probing = True
            asyncio.get_running_loop().call_later(_LONGEST_PROBE_S, self._settled.set)
            return True
        await self._settled.wait()
        return False

    def all_notes(self, sampling: Sampling) -> list[str]:
        """The notes, and which settings were left out because they were refused in an earlier run.

        An answer from the journal was asked for without them too.
        """
        notes = list(self.notes)
        without = [
            name
            for name in {**sampling.settings, **self.spec.settings}
            if name in self.abilities.left_out
        ]
        if sampling.seed is not None and not self.abilities.seed:
            without.append("a seed")
        for what in without:
            end = f"(asked without {what})"
            if not any(n.endswith(end) for n in notes):
                notes.append(f"{self.spec.name}: {what} was refused in an earlier run {end}")
        return notes

    def settle(self) -> None:
        """The first request has ended, one way or the other."""
        self._settled.set()

    def learn(self, abilities: Abilities) -> None:
        """Keep what was learned; a reply mode that was forced is not something learned."""
        if abilities == self.abilities:
            return
        self.abilities = abilities
        if self._found_out is not None:
            abilities = replace(abilities, mode=self._found_out.mode, proven=self._found_out.proven)
        self._journal.learn(*self.spec.asked_as, abilities)

    def saw(self, outcome: Outcome) -> None:
        """Book what an outcome says about the endpoint."""
        if outcome.kind not in {Kind.UNREACHABLE, Kind.TIMED_OUT, Kind.BROKEN}:
            self.contacted = True
            self.unreachable_in_a_row = 0
        if outcome.kind is Kind.ANSWERED:
            self.answered += 1
            self.limited_in_a_row = 0
        pause = outcome.pause_s
        if outcome.kind in {Kind.RATE_LIMITED, Kind.OVERLOADED}:
            self.limited_in_a_row += 1
            pause = max(pause, outcome.retry_after_s or 0.0)  # it is meant for everybody
        if not self.ended.is_set():  # else those who wait are to leave
            self.limit.pause(min(pause, _LONGEST_PAUSE_S))

    def gave_up(self, outcome: Outcome) -> None:
        """Keep the first words that the server had for a judgment that was given up."""
        start = f"{self.spec.name}: failed as {outcome.kind.value}"
        if not any(note.startswith(start) for note in self.notes):
            self.notes[f"{start} ({outcome.detail or 'no words'})"] = None

    def end(self, why: Stop, detail: str) -> None:
        """Ask this model for no more; the other models of the collection go on."""
        if not self.ended.is_set():
            self.ended_because, self.ended_detail = why, detail
            self.ended.set()
            self.limit.reopen()
            for event in self._resting.values():
                event.set()

    @property
    def pause(self) -> str:
        """How long the endpoint asks everybody to wait, or that it only refuses, in words."""
        seconds = self.limit.paused_s
        if seconds >= 1:
            return f"{self.spec.base_url} asks to wait {seconds:,.0f} s"
        if self.limited_in_a_row > self.limit.ceiling:
            return (
                f"{self.spec.base_url} has refused {self.limited_in_a_row:,} times in a row "
                "(too many requests)"
            )
        return ""

    def refuse(self, why: str) -> None:
        """Ask this model for no more: whatever is asked, it would be refused."""
        self.refused = why
        self.end(Stop.REFUSED, why.rstrip("."))

    def leave_out(self, condition: str, detail: str) -> None:
        """Ask for no more of a condition; the model's other conditions go on."""
        self.left_out.setdefault(condition, detail)
        if condition in self._resting:
            self._resting[condition].set()

    def asks_no_more(self, condition: str) -> bool:
        """Whether a condition is to be asked no more, by itself or with all of the model."""
        return self.ended.is_set() or condition in self.left_out

    @property
    def given_up(self) -> list[tuple[Stop, str]]:
        """Why the model, or some of its conditions, were asked no more; empty where all were."""
        if self.ended.is_set():
            return [(self.ended_because, self.ended_detail)]
        return [(Stop.FAILING, detail) for detail in self.left_out.values()]

    async def rest(self, seconds: float, condition: str) -> None:
        """Wait before a retry, but no longer than until the condition is asked no more."""
        if seconds > 0 and not self.asks_no_more(condition):
            no_more = self._resting.setdefault(condition, asyncio.Event())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(no_more.wait(), seconds)
        else:
            await asyncio.sleep(0)

    @property
    def line(self) -> int:
        """The line of the journal's ledger on which this process books the model."""
        return self._journal.ledger.line(self._experiment, *self.spec.address)

    def charge(self, booked: tuple[float, float, float], *, requests: int = 1) -> Charge:
        """A charge on the ledger, with the worst seen so far."""
        booked_amount, estimated, in_vain = booked
        return Charge(
            line=self.line,
            reported=booked_amount,
            estimated=estimated,
            in_vain=in_vain,
            longest=self.reserve.longest,
            input_ratio=self.reserve.input_ratio,
            output_ratio=self.reserve.output_ratio,
            requests=requests,
        )

    def count_fault(self, bill: Charged) -> int:
        """Keep a reply whose reported tokens were not believed; 1 if it is one, else 0."""
        faulty = self.price.is_known and math.isnan(bill.cost) and bill.outcome.usage_fault != ""
        if faulty:
            self.usage_faults.add(bill)
        return int(faulty)

    def bound(self, sampling: Sampling, condition: Condition) -> int | None:
        """The most tokens of a reply that a request asks for, if it does."""
        if "max_tokens" in self.abilities.left_out:
            return None
        return sampling.of(self.spec, condition).get("max_tokens")

    def hold(self, ready: Ready, choices: int, *, bound: int | None) -> float:
        """Dollars to hold back for a request; NaN where the price is unknown."""
        return self.reserve.hold(ready.encoded, choices, bound=bound)
