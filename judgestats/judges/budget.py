"""What a collection may spend: requests and money, retries and discarded replies included."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from judgestats.errors import BudgetError, InputError


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


_UNSEEN = 8
"""Requests in flight under ``max_cost`` until a reply has shown what one costs."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Declared limits; None means no limit.

    Attributes
    ----------
    max_cost : float or None
        In US dollars, for all runs of an experiment with its judges that one journal holds. A
        request is sent only if what is spent, what is held back for requests in flight, and what is
        held back for itself stay within it (`judgestats.judges.reserve.Reserve`): a bound with
        `max_tokens` at a server that heeds it, else a guess.
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

    Money that may have been spent in vain (a reply that broke off, a time-out) is booked at what
    was held back for it, and an answer without believable token counts at its estimate
    (`judgestats.judges.usage.charged`).

    Parameters
    ----------
    budget : Budget

    Attributes
    ----------
    requests : int
        Sent in this run.
    spent, perhaps_spent, uncounted : float
        Of this run: by reported tokens; in vain; of answers without reported tokens.
    earlier : float
        Spent by earlier runs, as the journal's ledger has it.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.requests = 0
        self.spent = 0.0
        self.perhaps_spent = 0.0
        self.uncounted = 0.0
        self.earlier = 0.0
        self._held = 0.0
        self._in_flight = 0
        self._alone = False
        self._answered = False
        self._changed = asyncio.Event()

    @property
    def total(self) -> float:
        """Dollars spent by this run and earlier ones, estimates included."""
        return self.earlier + self.spent + self.perhaps_spent + self.uncounted

    async def take(
        self,
        hold: Callable[[], float],
        *,
        who: str = "this judge",
        alone: Callable[[], bool] = bool,
    ) -> tuple[str, float]:
        """Ask to send a request.

        Parameters
        ----------
        hold : function
            Dollars held back for it, as things stand: they change while it waits.
        who : str
        alone : function
            Whether it is let through only while no other request is in flight.

        Returns
        -------
        (str, float)
            The name of the limit that refuses it (empty: none), and what is held back.
        """
        limits = self.budget
        while True:
            dollars = hold()
            if limits.max_requests is not None and self.requests >= limits.max_requests:
                return "max_requests", 0.0
            if limits.max_cost is None:
                break
            if math.isnan(dollars):
                raise unknown_price([who])
            if dollars == 0 and self._held == 0:
                break
            fits = self.total + self._held + dollars <= limits.max_cost
            fits = fits and (self._answered or self._in_flight < _UNSEEN)
            lonely = alone()
            if fits and not self._alone and not (lonely and self._in_flight):
                self._alone = lonely
                break
            if self._in_flight == 0:
                return "max_cost", 0.0
            self._changed.clear()  # those in flight may cost less than was held back for them
            await self._changed.wait()
        self.requests += 1
        self._in_flight += 1
        self._held += 0.0 if math.isnan(dollars) else dollars
        return "", dollars

    def settle(
        self, hold: float, *, cost: float, in_vain: bool = False, uncounted: float = math.nan
    ) -> tuple[float, float, float]:
        """A request ended: book its cost in place of what was held back for it.

        Parameters
        ----------
        hold : float
        cost : float
            NaN = unknown.
        in_vain : bool
            Whether there is no answer to show for it.
        uncounted : float
            Of an answer whose cost is unknown: its estimate (NaN = what was held back).

        Returns
        -------
        (float, float, float)
            Dollars known, estimated, and spent in vain.
        """
        self._in_flight -= 1
        self._alone = False
        held = 0.0 if math.isnan(hold) else hold
        self._held = max(0.0, self._held - held) if self._in_flight else 0.0
        if in_vain:
            booked = (0.0, 0.0, held if math.isnan(cost) else cost)
        elif not math.isnan(cost):
            booked = (cost, 0.0, 0.0)
        else:
            booked = (0.0, held if math.isnan(uncounted) else uncounted, 0.0)
        self._answered |= not (in_vain or cost == 0)
        self.spent += booked[0]
        self.uncounted += booked[1]
        self.perhaps_spent += booked[2]
        self._changed.set()
        return booked

    def give_back(self, hold: float) -> None:
        """A request that was let through is not sent after all."""
        self.requests -= 1
        self.settle(hold, cost=0.0)
