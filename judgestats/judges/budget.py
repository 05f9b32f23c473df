"""What a collection may spend: requests and money, retries and discarded replies included."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from dataclasses import dataclass

from judgestats.errors import BudgetError, InputError

__all__ = ["Budget", "Purse", "unknown_price"]


def unknown_price(names: Iterable[str]) -> BudgetError:
    """What to say of a cost limit for judges whose price is unknown.

    Examples
    --------
    >>> str(unknown_price(["gpt-99"]))[:52]
    'max_cost: the price of gpt-99 is unknown, so the lim'
    """
    return BudgetError(
        f"max_cost: the price of {', '.join(names)} is unknown, so the limit cannot be held. Give "
        "it in a price file (prices=my-prices.yaml), or limit requests (max_requests) instead."
    )


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Declared limits; None means no limit.

    Attributes
    ----------
    max_cost : float or None
        In US dollars. A request is sent only if what is spent, what is held back for requests in
        flight, and its own estimated price stay within it.
    max_requests : int or None
        Requests sent, retries included. Cached answers cost nothing.

    Examples
    --------
    >>> Budget(max_requests=100).max_requests
    100
    """

    max_cost: float | None = None
    max_requests: int | None = None

    def __post_init__(self) -> None:
        if self.max_cost is not None and not (math.isfinite(self.max_cost) and self.max_cost >= 0):
            raise InputError(
                f"max_cost: expected dollars (a number of at least 0), got {self.max_cost!r}."
            )
        if self.max_requests is not None and self.max_requests < 0:
            raise InputError(f"max_requests: must be at least 0, got {self.max_requests!r}.")

    def less(self, *, requests: int, cost: float) -> Budget:
        """What is left after an earlier collection of the same run; never below 0.

        Examples
        --------
        >>> Budget(max_requests=100).less(requests=30, cost=0.0).max_requests
        70
        """
        return Budget(
            max_cost=None if self.max_cost is None else max(0.0, self.max_cost - cost),
            max_requests=None
            if self.max_requests is None
            else max(0, self.max_requests - requests),
        )


class Purse:
    """The running account against a budget.

    Money that may have been spent in vain (a reply that broke off, a time-out), and an answer whose
    tokens the server does not tell, are booked at their estimates, so that the cap holds on the
    safe side.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.requests = 0
        self.spent = 0.0
        self.perhaps_spent = 0.0
        self.untold = 0.0
        self._held = 0.0
        self._in_flight = 0
        self._changed = asyncio.Event()

    async def take(self, estimate: float, *, who: str = "this judge") -> str:
        """Ask to send a request of an estimated price; returns the name of the limit if refused."""
        limits = self.budget
        while True:
            if limits.max_requests is not None and self.requests >= limits.max_requests:
                return "max_requests"
            if limits.max_cost is None:
                break
            if math.isnan(estimate):
                raise unknown_price([who])
            total = self.spent + self.perhaps_spent + self.untold + self._held + estimate
            if total <= limits.max_cost or (estimate == 0 and self._held == 0):
                break
            if self._in_flight == 0:
                return "max_cost"
            self._changed.clear()  # those in flight may cost less than was held back for them
            await self._changed.wait()
        self.requests += 1
        self._in_flight += 1
        self._held += 0.0 if math.isnan(estimate) else estimate
        return ""

    def settle(self, estimate: float, *, cost: float, in_vain: bool = False) -> None:
        """A request ended: book its cost (NaN = unknown) in place of what was held back for it."""
        self._in_flight -= 1
        held = 0.0 if math.isnan(estimate) else estimate
        self._held = max(0.0, self._held - held)
        if in_vain:
            self.perhaps_spent += held if math.isnan(cost) else cost
        elif math.isnan(cost):
            self.untold += held
        else:
            self.spent += cost
        self._changed.set()

    def give_back(self, estimate: float) -> None:
        """A request that was let through is not sent after all."""
        self.requests -= 1
        self.settle(estimate, cost=0.0)
