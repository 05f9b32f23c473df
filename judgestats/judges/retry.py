"""The one retry policy: what is tried again, how often, and after how long."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from judgestats.judges.outcomes import Kind, Outcome

_LONGEST_FLOOR_S = 1.0
"""The longest wait that a server's own "at once" is stretched to."""


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """Exponential waiting with full jitter; a server's Retry-After goes before it.

    Attributes
    ----------
    attempts : int
        Tries of a request in all, where the server errs or the connection breaks.
    unusable_attempts : int
        Tries in all where the server answered something unusable: each may have been billed.
    patience_s : float
        How long after its first failure one judgment may be tried again, in seconds of wall time; a
        server that asks for more by a single Retry-After ends the collection (see
        `asks_too_much`).
    first_s, longest_s : float
        First and longest wait, in seconds, where the server names none.
    """

    attempts: int = 6
    unusable_attempts: int = 4
    patience_s: float = 900.0
    first_s: float = 0.5
    longest_s: float = 30.0

    def wait(
        self, outcome: Outcome, *, tried: int, waited_s: float, contacted: bool, draw: random.Random
    ) -> float | None:
        """Seconds to wait before the next try, or None to give up.

        Parameters
        ----------
        outcome : Outcome
            A failure.
        tried : int
            Tries so far, this one included.
        waited_s : float
            Wall time since this judgment first failed.
        contacted : bool
            Whether the endpoint has ever replied. One that never has is given up early: its
            address is probably wrong.
        draw : Random
            For the jitter.

        Examples
        --------
        >>> limited = Outcome(kind=Kind.RATE_LIMITED, retry_after_s=0.0)
        >>> RetryPolicy().wait(
        ...     limited, tried=1, waited_s=0.0, contacted=True, draw=random.Random(1)
        ... ) >= 0.25  # not at once, whatever the server says
        True
        >>> refused = Outcome(kind=Kind.BAD_REQUEST)
        >>> RetryPolicy().wait(
        ...     refused, tried=1, waited_s=0.0, contacted=True, draw=random.Random(1)
        ... ) is None
        True
        """
        most = self._most(outcome, contacted=contacted)
        if tried >= most:
            return None
        wait = self._wait(outcome, tried, draw)
        return wait if waited_s + wait <= self.patience_s else None

    def asks_too_much(self, outcome: Outcome) -> bool:
        """Whether the server asks for a longer wait than any judgment may take.

        Examples
        --------
        >>> tomorrow = Outcome(kind=Kind.RATE_LIMITED, retry_after_s=86_400.0)
        >>> RetryPolicy().asks_too_much(tomorrow)
        True
        """
        return (
            outcome.kind in {Kind.RATE_LIMITED, Kind.OVERLOADED}
            and (outcome.retry_after_s or 0.0) > self.patience_s
        )

    def _most(self, outcome: Outcome, *, contacted: bool) -> float:
        """The most tries of a request that ends so; 1 where another try would change nothing."""
        kind = outcome.kind
        if kind is Kind.WRONG_PATH and outcome.status == 200:
            return self.unusable_attempts  # a page in place of JSON: of a gateway, for a moment
        if kind in {Kind.RATE_LIMITED, Kind.OVERLOADED}:
            return math.inf
        if kind in {Kind.MALFORMED, Kind.TOO_LARGE}:
            return self.unusable_attempts
        if kind is Kind.UNREACHABLE and not contacted:
            return min(3, self.attempts)
        if kind in {Kind.SERVER_ERROR, Kind.BROKEN, Kind.TIMED_OUT, Kind.UNREACHABLE}:
            return self.attempts
        return 1

    def _wait(self, outcome: Outcome, tried: int, draw: random.Random) -> float:
        longest = min(self.longest_s, self.first_s * float(2 ** min(tried - 1, 30)))
        backoff = longest * (0.5 + 0.5 * draw.random())
        if outcome.retry_after_s is not None:
            # Up to a tenth more, so that those who wait do not come back all at once; and never at
            # once, however often a server says 0 or names a date that is past.
            floor = min(backoff, _LONGEST_FLOOR_S)
            return max(outcome.retry_after_s * (1 + 0.1 * draw.random()), floor)
        return backoff
