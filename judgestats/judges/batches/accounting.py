"""Account of what came of a batch's requests: answers, money, failures, what a refusal teaches."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

from judgestats.judges.account import Stop
from judgestats.judges.batch_store import BatchRequest
from judgestats.judges.batches.shared import Shared
from judgestats.judges.endpoint import Endpoint
from judgestats.judges.journal import UNTOLD, Answer
from judgestats.judges.lessons import taught
from judgestats.judges.outcomes import Kind, Outcome
from judgestats.judges.sending import share_of
from judgestats.judges.usage import Charged

_AGAIN = {
    Kind.RATE_LIMITED,
    Kind.OVERLOADED,
    Kind.SERVER_ERROR,
    Kind.BROKEN,
    Kind.TIMED_OUT,
    Kind.MALFORMED,
    Kind.TOO_LARGE,
    Kind.EXPIRED,
    Kind.MISSING,
}
"""Kinds of failure for which a request goes into a next batch."""
_FATAL = {Kind.KEY_REFUSED, Kind.NO_PERMISSION, Kind.WRONG_PATH, Kind.UNKNOWN_MODEL}


class BatchAccounting:
    """Books one model's requests.

    Parameters
    ----------
    endpoint : Endpoint
    shared : Shared

    Attributes
    ----------
    stopped : bool
        Whether no more is to be handed in for this model.
    """

    def __init__(self, endpoint: Endpoint, shared: Shared) -> None:
        self._endpoint = endpoint
        self._shared = shared
        self.stopped = False

    def answers(self, request: BatchRequest, outcome: Outcome, cost: float) -> dict[bytes, Answer]:
        """A request's choices as answers, with their shares of tokens and cost."""
        choices = outcome.choices[: len(request.keys)]
        share = 1 / len(choices)
        return {
            key: Answer(
                text=choice.kept(request.sent.mode),
                mode=request.sent.mode.value,
                finish_reason=choice.finish_reason,
                model=outcome.model,
                fingerprint=outcome.fingerprint,
                sent=request.sent.as_kept,
                choices=len(request.keys),
                tokens_in=share_of(outcome.tokens_in, share),
                tokens_out=share_of(outcome.tokens_out, share),
                tokens_cached=share_of(outcome.tokens_cached, share),
                tokens_reasoning=share_of(outcome.tokens_reasoning, share),
                cost_usd=None if math.isnan(cost) else cost * share,
                latency_s=UNTOLD,
                attempts=request.tried,
                asked_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            )
            for key, choice in zip(request.keys, choices, strict=False)
        }

    def answered(self, request: BatchRequest, bill: Charged, new: frozenset[bytes]) -> None:
        """Book an answered request; `new` are the judgments that had no answer before."""
        account, endpoint = self._shared.account, self._endpoint
        outcome, cost, estimate = bill.outcome, bill.cost, bill.estimate
        account.usage_implausible += endpoint.count_fault(bill)
        endpoint.saw(outcome)
        learned = endpoint.abilities.answered_in(request.sent.mode)
        if len(outcome.choices) < len(request.keys):
            learned = replace(learned, several=False)
            self.note("answers one choice where several are asked for; asked one by one")
        endpoint.learn(learned)
        if not new.intersection(request.keys):  # answered online meanwhile: paid for twice
            account.discarded += 1
            account.cost_in_vain_usd += estimate if math.isnan(cost) else cost
            return
        account.tokens_in += outcome.tokens_in or 0
        account.tokens_out += outcome.tokens_out or 0
        account.tokens_cached += outcome.tokens_cached or 0
        account.tokens_reasoning += outcome.tokens_reasoning or 0
        if math.isnan(cost):
            account.cost_unknown += len(outcome.choices[: len(request.keys)])
            account.cost_estimated_usd += estimate
        else:
            account.cost_usd += cost

    def failed(self, request: BatchRequest, bill: Charged) -> Outcome | None:
        """Book a request without an answer; gives it back if it ends the collection."""
        shared, endpoint, outcome = self._shared, self._endpoint, bill.outcome
        if outcome.maybe_billed:
            shared.account.discarded += 1
            shared.account.cost_in_vain_usd += bill.estimate
        if outcome.kind is Kind.BAD_REQUEST and taught(endpoint, request.sent, outcome):
            return None
        if outcome.kind in _FATAL:
            return outcome
        if outcome.kind is Kind.NO_QUOTA:
            self.stop(Stop.NO_QUOTA, f"{endpoint.spec.name}: {outcome.detail}")
            return None
        if outcome.kind is Kind.CANCELLED:
            self.stop(Stop.CANCELLED, f"a batch of {endpoint.spec.name} was cancelled")
            return None
        final = outcome.kind not in _AGAIN or request.tried >= shared.limits.rounds
        for key in request.keys:
            shared.tries[key] = request.tried
            if final:
                shared.failures[key] = outcome
        if final:
            endpoint.gave_up(outcome)
        return None

    def stop(self, why: Stop, detail: str = "") -> None:
        """Hand in no more for this model; the others' batches are waited for."""
        self.stopped = True
        self._shared.stopped.append((why, detail))

    def note(self, text: str) -> None:
        """Keep what a reader of the results should know."""
        self._endpoint.notes[f"{self._endpoint.spec.name}: {text}"] = None
