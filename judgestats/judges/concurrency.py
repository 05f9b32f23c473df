"""How many requests may be in flight at an endpoint: additive increase, multiplicative decrease."""

from __future__ import annotations

import asyncio
from collections import deque

_DECREASE = 0.7


class AdaptiveLimit:
    """A limit of requests in flight that a rate-limited or overloaded server lowers.

    It starts at the ceiling; a refusal takes three tenths off (once for all requests that were in
    flight together), every answered window of requests raises it by one. Cached answers do not pass
    through it.

    Parameters
    ----------
    ceiling : int
        The most requests ever in flight.
    """

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.limit = float(ceiling)
        self.in_flight = 0
        self.decreases = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open_at = 0.0
        self._lowered_at = float("-inf")

    async def enter(self) -> float:
        """Wait for a place; returns the loop's time at which it was given."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            if now >= self._open_at and self.in_flight < int(self.limit):
                self.in_flight += 1
                return now
            place: asyncio.Future[None] = loop.create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self._wake()  # the place was given to one who leaves: pass it on
                raise

    def answered(self) -> None:
        """A request was answered: leave, and raise the limit a little."""
        self.in_flight -= 1
        if self.limit < self.ceiling:
            self.limit = min(float(self.ceiling), self.limit + 1.0 / self.limit)
        self._wake()

    def left(self) -> None:
        """A request ended in a way that says nothing about load."""
        self.in_flight -= 1
        self._wake()

    def congested(self, entered_at: float) -> None:
        """A request was refused for load: leave, and lower the limit once per window."""
        self.in_flight -= 1
        if entered_at >= self._lowered_at:
            self._lowered_at = asyncio.get_running_loop().time()
            self.limit = max(1.0, self.limit * _DECREASE)
            self.decreases += 1
        self._wake()

    def pause(self, seconds: float) -> None:
        """Let nobody enter for a while: the server's quota headers ask for it."""
        if seconds <= 0:
            return
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if until > self._open_at:
            self._open_at = until
            loop.call_at(until, self._wake)

    @property
    def paused_s(self) -> float:
        """Seconds for which nobody enters; 0 where there is no pause."""
        return max(0.0, self._open_at - asyncio.get_running_loop().time())

    def reopen(self) -> None:
        """End a pause: those who wait are let in, to find that no more is to be asked."""
        self._open_at = 0.0
        self._wake()

    def _wake(self) -> None:
        if not self._waiting:
            return
        free = int(self.limit) - self.in_flight
        if asyncio.get_running_loop().time() < self._open_at:
            return
        while self._waiting and free > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1
