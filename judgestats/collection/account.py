"""The account of a collection: what was asked, answered, failed, spent; and what came of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.collection.prices import UsageFaults

if TYPE_CHECKING:
    import pandas as pd

    from judgestats.collection.retry import Outcome


class Stop(StrEnum):
    """Why a collection ended before all was asked; ``COMPLETE`` if it did not."""

    COMPLETE = ""
    MAX_COST = "max_cost"
    MAX_REQUESTS = "max_requests"
    INTERRUPTED = "interrupted"
    UNREACHABLE = "unreachable"
    TOLD_TO_WAIT = "told_to_wait"
    FAILING = "failing"
    CANCELLED = "cancelled"
    NO_QUOTA = "no_quota"
    REFUSED = "refused"
    OFFLINE = "offline"


def token_parts(account: Mapping[str, Any]) -> str:
    """Which of an account's tokens were cached, or reasoning that nobody reads; empty where none.

    Examples
    --------
    >>> token_parts({"tokens_cached": 1024.0, "tokens_reasoning": 60.0})
    ' (1,024 cached, 60 of reasoning)'
    """
    parts = [
        f"{count:,.0f} {what}"
        for name, what in (("tokens_cached", "cached"), ("tokens_reasoning", "of reasoning"))
        if (count := account.get(name))
    ]
    return f" ({', '.join(parts)})" if parts else ""


@dataclass(kw_only=True)
class Account:
    """Running counts. ``asked = answered + failed``; a row of the frame is one of
    answered, failed, cached, invalid.

    Attributes
    ----------
    asked : int
        Judgments asked of a server in this run and ended.
    answered, failed : int
        Of these: answered (whatever the reply says) and given up.
    cached : int
        Judgments found in the journal.
    invalid : int
        Judgments not made because the model refuses the condition's temperature.
    requests, retries : int
        Requests sent, and those of them that were a second or later try.
    discarded : int
        Requests that may have been billed without an answer to show for it.
    possibly_billed_twice : int
        Judgments requested again because an earlier run was killed while they were in flight.
    tokens_in, tokens_out : float
        As servers report them, over answered requests of this run.
    tokens_cached, tokens_reasoning : float
        Of these: input that a server had in its cache, output that is reasoning nobody reads.
    cost_usd : float
        Known cost of this run's answers.
    cost_in_vain_usd : float
        Cost, or its estimate, of discarded requests.
    cost_estimated_usd : float
        Estimate of the cost of answers whose tokens no server reported.
    earlier_cost_usd, earlier_billed_twice : float, int
        Spent, and possibly billed twice, by earlier runs of the experiment with these judges.
    cost_unknown : int
        Answered judgments whose price or token count is unknown.
    usage_implausible : int
        Replies charged by their length: no tokens were reported, or such as cannot be right.
    waited_s : float
        Time judgments waited before retries, summed.
    failures : dict of str to int
        Failed judgments by kind.
    """

    asked: int = 0
    answered: int = 0
    failed: int = 0
    cached: int = 0
    invalid: int = 0
    requests: int = 0
    retries: int = 0
    discarded: int = 0
    possibly_billed_twice: int = 0
    tokens_in: float = 0.0
    tokens_out: float = 0.0
    tokens_cached: float = 0.0
    tokens_reasoning: float = 0.0
    cost_usd: float = 0.0
    cost_in_vain_usd: float = 0.0
    cost_estimated_usd: float = 0.0
    cost_unknown: int = 0
    usage_implausible: int = 0
    earlier_cost_usd: float = 0.0
    earlier_billed_twice: int = 0
    waited_s: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows of the frame."""
        return self.answered + self.failed + self.cached + self.invalid

    @property
    def total_cost_usd(self) -> float:
        """Known cost and cost in vain together; NaN if any answer's cost is unknown."""
        return math.nan if self.cost_unknown else self.cost_usd + self.cost_in_vain_usd

    @property
    def charged_usd(self) -> float:
        """What counts against ``max_cost`` in this run, estimates included."""
        return self.cost_usd + self.cost_in_vain_usd + self.cost_estimated_usd

    def add(self, other: Account) -> None:
        """Take another account's counts in."""
        for name, value in vars(other).items():
            if name != "failures":
                setattr(self, name, getattr(self, name) + value)
        for kind, count in other.failures.items():
            self.failures[kind] = self.failures.get(kind, 0) + count

    def add_answers(self, outcome: Outcome, count: int, *, cost: float, estimated: float) -> None:
        """Add tokens (as reported) and cost of an answered request with `count` choices."""
        self.tokens_in += outcome.tokens_in or 0
        self.tokens_out += outcome.tokens_out or 0
        self.tokens_cached += outcome.tokens_cached or 0
        self.tokens_reasoning += outcome.tokens_reasoning or 0
        self.cost_estimated_usd += estimated
        if math.isnan(cost):
            self.cost_unknown += count
        else:
            self.cost_usd += cost

    def failure(self, kind: str) -> None:
        """Count a failed judgment."""
        self.asked += 1
        self.failed += 1
        self.failures[kind] = self.failures.get(kind, 0) + 1

    def as_dict(self) -> dict[str, Any]:
        """All counts, for a run's record."""
        return {**asdict(self), "rows": self.rows, "total_cost_usd": self.total_cost_usd}

    def __str__(self) -> str:
        cost = self.total_cost_usd
        price = "cost unknown" if math.isnan(cost) else f"${cost:.4f}"
        parts = [
            f"asked {self.asked:,} = answered {self.answered:,} + failed {self.failed:,}",
            f"cached {self.cached:,}",
            f"requests {self.requests:,} (retries {self.retries:,}, discarded {self.discarded:,})",
            f"tokens {self.tokens_in:,.0f} in, {self.tokens_out:,.0f} out{token_parts(vars(self))}",
            price,
        ]
        if self.invalid:
            parts.insert(2, f"invalid condition {self.invalid:,}")
        if self.earlier_cost_usd:
            parts.append(f"earlier runs ${self.earlier_cost_usd:.4f}")
        if twice := self.possibly_billed_twice + self.earlier_billed_twice:
            parts.append(f"possibly billed twice {twice:,} over all runs")
        return "; ".join(parts)


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What a collection brought.

    Attributes
    ----------
    frame : DataFrame or None
        One row per judgment: ``RAW_COLUMNS`` and the conditions' ``factor_<name>`` columns, in the
        order of the tasks. A follow-up comes directly after its judgment. None where the rows were
        streamed.
    parts : tuple of Path
        The Parquet files, where the rows were streamed.
    account : Account
    stopped_because : Stop
    stopped_detail : str
        What is known of the reason, beyond its kind.
    message : str
        Why it stopped and how to go on; empty where it is complete.
    reply_modes : dict of str to str
        The reply mode in use, by judge.
    notes : tuple of str
        What a reader of the results should know (a refused temperature, a refused seed, ...).
    usage_faults : dict of str to UsageFaults
        By judge: replies that were charged by their length.
    """

    frame: pd.DataFrame | None
    parts: tuple[Path, ...] = ()
    account: Account
    stopped_because: Stop = Stop.COMPLETE
    stopped_detail: str = ""
    message: str = ""
    reply_modes: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    usage_faults: dict[str, UsageFaults] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every task has its row."""
        return self.stopped_because is Stop.COMPLETE

    def read(self) -> pd.DataFrame:
        """The rows as one frame, streamed or not."""
        if self.frame is not None:
            return self.frame
        import pandas as pd

        return pd.concat([pd.read_parquet(p) for p in self.parts], ignore_index=True)
