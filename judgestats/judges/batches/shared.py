"""What the batches of all models of a collection share: limits, money, what came of judgments."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from judgestats.judges.account import Account, Stop
from judgestats.judges.batch_limits import Limits
from judgestats.judges.budget import Budget, unknown_price
from judgestats.judges.journal import Journal
from judgestats.judges.outcomes import Outcome
from judgestats.judges.request import Sampling
from judgestats.judges.sending import Halt
from judgestats.judgments.design import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Tasks that one request would answer, and its keys."""

    tasks: tuple[Task, ...]
    keys: tuple[bytes, ...]

    def without(self, keys: set[bytes]) -> Wanted | None:
        """What is left of it without some judgments."""
        left = [(t, k) for t, k in zip(self.tasks, self.keys, strict=True) if k not in keys]
        if len(left) == len(self.keys):
            return self
        return (
            Wanted(tasks=tuple(t for t, _ in left), keys=tuple(k for _, k in left))
            if left
            else None
        )


@dataclass(kw_only=True)
class Shared:
    """What all models' batches of a collection share."""

    journal: Journal
    account: Account
    halt: Halt
    budget: Budget
    sampling: Sampling
    experiment: str
    limits: Limits
    sleep: Callable[[float], Awaitable[None]]
    say: Callable[[str], None]
    failures: dict[bytes, Outcome] = field(default_factory=dict)
    tries: dict[bytes, int] = field(default_factory=dict)
    new: set[bytes] = field(default_factory=set)
    running: dict[str, str] = field(default_factory=dict)
    held: dict[str, float] = field(default_factory=dict)
    stopped: list[tuple[Stop, str]] = field(default_factory=list)
    handed_in: int = 0

    def room_for(self, who: str, estimate: float, held: float, count: int) -> Stop | None:
        """Why a further request must not be sent, if it must not."""
        limits = self.budget
        if limits.max_requests is not None and self.handed_in + count >= limits.max_requests:
            return Stop.MAX_REQUESTS
        if limits.max_cost is None:
            return None
        if math.isnan(estimate):
            raise unknown_price([who])
        spent = self.account.charged_usd + self.account.earlier_cost_usd
        total = spent + sum(self.held.values()) + held + estimate
        return Stop.MAX_COST if total > limits.max_cost and estimate > 0 else None
