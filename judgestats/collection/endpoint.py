"""Endpoints and what they support."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from judgestats.collection.account import Stop
from judgestats.collection.journal import Journal
from judgestats.collection.ledger import Charge, Spend
from judgestats.collection.prices import Charged, CostReservation, Price, UsageFaults
from judgestats.collection.request import Ready, Sampling, seed_step, sent_of
from judgestats.collection.response import Abilities, SentRequest, json_object, next_mode, subject
from judgestats.collection.retry import (
    AdaptiveLimit,
    CircuitBreaker,
    Kind,
    Outcome,
    Parameter,
    one_line,
)
from judgestats.collection.spec import CHAT, JudgeSpec, key_hint
from judgestats.data.columns import Condition, Task, label
from judgestats.protocols.base import ReplyMode

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
        concurrency: int,
        journal: Journal,
        price: Price,
        reply_mode: ReplyMode | None,
        experiment: str = "",
        limit: AdaptiveLimit | None = None,
    ) -> None:
        self.spec = spec
        self.limit = limit or AdaptiveLimit(concurrency)
        self.price = price
        self.contacted = False
        self.answered = 0
        self.unreachable_in_a_row = 0
        self.limited_in_a_row = 0
        self.pages_in_a_row = 0
        self.streaks = CircuitBreaker()
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
        self.earlier: Spend = journal.ledger.total_spend(experiment, *spec.address)
        self.reserve = CostReservation(price, self.earlier)
        learned = journal.abilities(*spec.capability_key)
        self.met = learned is not None
        self._found_out: Abilities | None = None
        if reply_mode is None:
            self.abilities = learned or Abilities()
            for (name, value), words in self.abilities.refused.items():
                self.note(f"{label(name, value)} was refused ({words}); its conditions are invalid")
        else:
            self._found_out = learned or Abilities()
            left_out = self._found_out.left_out
            self.abilities = Abilities(mode=reply_mode, proven=True, left_out=left_out)
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

    def note(self, text: str) -> None:
        """Keep what a reader of the results should know."""
        self.notes[f"{self.spec.name}: {text}"] = None

    def all_notes(self, sampling: Sampling) -> list[str]:
        """The notes, and which settings were left out because they were refused in an earlier run.

        An answer from the journal was asked for without them too.
        """
        notes, settings = list(self.notes), {**sampling.settings, **self.spec.settings}
        without = [name for name in settings if name in self.abilities.left_out]
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
        self._journal.learn(*self.spec.capability_key, abilities)

    def answered_as(self, outcome: Outcome, sent: SentRequest, wanted: int) -> None:
        """Learn from an answered request, of this many choices, what the model does."""
        learned = self.abilities.answered_in(sent.mode)
        choices = outcome.choices[:wanted]
        if sent.mode is ReplyMode.LOGPROBS and not any(c.weighed for c in choices):
            self.note("gives no log-probabilities: there are sampled scores only")
        if len(choices) < wanted:
            learned = replace(learned, several=False)
            self.note(f"answers one choice where {wanted} are asked for; asked one by one")
        self.learn(learned)

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
        """How long the endpoint asks everybody to wait, or that it only refuses, as text."""
        seconds = self.limit.paused_s
        if seconds >= 1:
            return f"{self.spec.base_url} asks to wait {seconds:,.0f} s"
        if self.limited_in_a_row > self.limit.ceiling:
            times = f"{self.limited_in_a_row:,} times in a row (too many requests)"
            return f"{self.spec.base_url} has refused {times}"
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
        """Whether a condition is no longer asked, alone or with the whole model."""
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
        reported, estimated, in_vain = booked
        worst = self.reserve
        return Charge(
            line=self.line, requests=requests,
            reported=reported, estimated=estimated, in_vain=in_vain,
            longest=worst.longest, input_ratio=worst.input_ratio, output_ratio=worst.output_ratio,
        )  # fmt: skip

    def count_fault(self, bill: Charged) -> int:
        """Keep a reply whose reported tokens were not believed; 1 if it is one, else 0."""
        faulty = self.price.is_known and math.isnan(bill.cost) and bill.outcome.usage_fault != ""
        if faulty:
            self.usage_faults.add(bill)
        return int(faulty)

    def build_request(self, tasks: Sequence[Task], ready: Ready, sampling: Sampling) -> SentRequest:
        """What a request for tasks carries, which differ in their replicate only."""
        return sent_of(
            self.spec, tasks[0].condition, ready.prompted.mode, sampling, self.abilities,
            choices=len(tasks), draw=seed_step(tasks[0]),
        )  # fmt: skip

    def bound(self, sampling: Sampling, condition: Condition) -> int | None:
        """The most tokens of a reply that a request asks for, if it does."""
        if "max_tokens" in self.abilities.left_out:
            return None
        return sampling.merge_settings(self.spec, condition).get("max_tokens")

    def hold(self, ready: Ready, choices: int, *, bound: int | None) -> float:
        """Dollars to hold back for a request; NaN where the price is unknown."""
        return self.reserve.hold(ready.encoded, choices, bound=bound)


_ERRS = 3
"""Server errors in a row after which the reply mode is suspected, where none is proven."""
_WHOLE = frozenset({"", "stop", "eos", "end_turn", "tool_calls", "function_call"})
"""Reasons of an end that leave an answer whole."""
_LESSONS: Mapping[str, str] = {
    Parameter.REPLY_FORMAT: "asked in the next reply mode",
    Parameter.UNKNOWN: "asked in the next reply mode",
    Parameter.CHOICES: "asked one by one",
    Parameter.SEED: "asked without a seed",
    "max_tokens": "asked with max_tokens",
}


def mode_ignored(endpoint: Endpoint, sent: SentRequest, outcome: Outcome) -> bool:
    """Whether a first answer shows no trace of the form asked for: the next mode is tried.

    Some servers take ``response_format`` or tools and do as they like.
    """
    if endpoint.abilities.proven or endpoint.spec.in_process or next_mode(sent.mode) is None:
        return False
    whole = [c.text for c in outcome.choices if c.finish_reason in _WHOLE and c.text.strip()]
    if not whole or any(json_object(text) is not None for text in whole):
        return False
    words = f"ignores the reply mode {sent.mode.value}, and answers {one_line(whole[0])[:60]!r}"
    endpoint.note(f"{words} (asked in the next reply mode)")
    endpoint.learn(endpoint.abilities.lower_mode(sent.mode))
    return True


def taught(
    endpoint: Endpoint, sent: SentRequest, outcome: Outcome, condition: str = "", *, tried: int = 1
) -> bool:
    """Whether the outcome is a refusal that teaches something, so that a new attempt may work."""
    if outcome.kind is Kind.SERVER_ERROR and not endpoint.abilities.proven and tried == _ERRS:
        # a server that breaks over a schema says 500 to it again and again
        lower = endpoint.abilities.lower_mode(sent.mode)
        if lower == endpoint.abilities:
            return False
        words = f"HTTP {outcome.status} {_ERRS} times in reply mode {sent.mode.value}"
        endpoint.note(f"{words} (asked in the next reply mode)")
        endpoint.learn(lower)
        return True
    if outcome.kind is not Kind.BAD_REQUEST:
        return False
    about = subject(outcome, sent)
    if about == Parameter.UNKNOWN and endpoint.streaks.mode_is_blameless(condition):
        return False
    lesson = endpoint.abilities.taught_by(outcome, sent=sent)
    if lesson is None:
        endpoint.learn(endpoint.abilities.unsettled())
        return False
    if about in lesson.left_out:
        leads_to = f"asked without {about}"
    elif (about, sent.settings.get(about)) in lesson.refused:
        way = "; temperatures=default leaves it out" if about == "temperature" else ""
        leads_to = f"the condition is invalid; it was not run at another {about}{way}"
    else:
        leads_to = _LESSONS[about]
    endpoint.note(f"{outcome.detail} ({leads_to})")
    endpoint.learn(lesson)
    return True


def why_fatal(spec: JudgeSpec, outcome: Outcome) -> str:
    """Why asking a judge on is of no use; empty where it may be."""
    status = f"(HTTP {outcome.status}: {outcome.detail})"
    head = f"judge {spec.name!r}: {spec.base_url}"
    raw = f"wire={spec.wire} sends raw text; {spec.name} at {spec.base_url} has no {spec.path}"
    named = urlsplit(spec.base_url).path.rstrip("/").endswith("/v1")
    hint = "" if named else f" Most servers want {spec.base_url}/v1."
    chat = f"{head} has no chat completions there {status}. Check the base URL.{hint}"
    model = f"does not know the model {spec.model!r}"
    return {
        Kind.KEY_REFUSED: f"{head} refuses the key {status}. Check {key_hint(spec.base_url)}.",
        Kind.NO_PERMISSION: f"{head} does not permit it {status}. Check what the key may do.",
        Kind.UNKNOWN_MODEL: f"{head} {model} {status}. Check name and base URL.",
        Kind.WRONG_PATH: chat if spec.wire == CHAT else f"{raw} {status}.",
        Kind.NO_QUOTA: f"judge {spec.name!r}: the quota is used up ({outcome.detail}).",
    }.get(outcome.kind, "")
