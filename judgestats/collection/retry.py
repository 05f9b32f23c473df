"""Outcomes of requests, retries, concurrency, and circuit breaker."""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from judgestats.files.text import clean
from judgestats.protocols.base import ReplyMode
from judgestats.redaction import scrubbed

_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{5,20}(?:Z|[+-]\d\d:\d\d)")
_IN_WORDS = re.compile(r"(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)", re.IGNORECASE)
_QUOTAS = (
    *((f"x-ratelimit-remaining-{w}", f"x-ratelimit-reset-{w}") for w in ("requests", "tokens")),
    *(
        (f"anthropic-ratelimit-{w}-remaining", f"anthropic-ratelimit-{w}-reset")
        for w in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
)
"""Headers that show what remains, and when it is full again."""
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_until(value: str, *, now: float | None = None) -> float | None:
    """Seconds in a header: ``20``, ``1m30s``, ``20ms``, or a date; None where unparsable.

    Examples
    --------
    >>> seconds_until("0"), seconds_until("1m30s"), seconds_until("20ms")
    (0.0, 90.0, 0.02)
    >>> seconds_until("Thu, 01 Jan 1970 00:01:40 GMT", now=40.0)
    60.0
    >>> seconds_until("1970-01-01T00:01:40Z", now=40.0)
    60.0
    """
    value = value.strip()
    try:
        number = float(value)
    except ValueError:
        pass
    else:
        return number if 0 <= number < 1e9 else None  # also refuses nan
    spans = _SPAN.findall(value)
    if spans and "".join(n + u for n, u in spans) == value:
        return sum(float(n) * _UNIT[u] for n, u in spans)
    try:
        stamp = _STAMP.fullmatch(value)
        read = datetime.fromisoformat if stamp else email.utils.parsedate_to_datetime
        moment = read(value[:100]).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None  # no date, or one that no calendar here holds
    return max(0.0, moment - (time.time() if now is None else now))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that ``Retry-After`` names; None where it is absent or unparsable."""
    milliseconds = seconds_until(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    return seconds_until(headers.get("retry-after", ""))


def quota_pause(headers: Mapping[str, str]) -> float:
    """How long quota headers ask to wait: until the reset, if nothing remains."""
    pause = 0.0
    for remaining, reset in _QUOTAS:
        if headers.get(remaining, "").strip() in {"0", "0.0"}:
            pause = max(pause, seconds_until(headers.get(reset, "")) or 0.0)
    return pause


def wait_in_words(text: str) -> float | None:
    """The seconds that a refusal's words name, where no header does.

    Examples
    --------
    >>> wait_in_words("Please try again in 1m9.5s."), wait_in_words("Slow down")
    (69.5, None)
    """
    match = _IN_WORDS.search(text)
    return None if match is None else seconds_until(match[1])


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
        if self.limit < self.ceiling:
            self.limit = min(float(self.ceiling), self.limit + 1.0 / self.limit)
        self.release_slot()

    def release_slot(self) -> None:
        """A request ended in a way that says nothing about load."""
        self.in_flight -= 1
        self._wake()

    def congested(self, entered_at: float) -> None:
        """A request was refused for load: leave, and lower the limit once per window."""
        if entered_at >= self._lowered_at:
            self._lowered_at = asyncio.get_running_loop().time()
            self.limit = max(1.0, self.limit * _DECREASE)
        self.release_slot()

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
        """End a pause: those who wait are let in, to find that no more may be asked."""
        self._open_at = 0.0
        self._wake()

    def _wake(self) -> None:
        if not self._waiting or asyncio.get_running_loop().time() < self._open_at:
            return
        free = int(self.limit) - self.in_flight
        while self._waiting and free > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1


MAX_DETAIL = 300
"""Characters kept of a server's words."""


class Kind(StrEnum):
    """The kinds of outcome; all except ``ANSWERED`` are failures."""

    ANSWERED = "answered"
    KEY_REFUSED = "key_refused"
    NO_PERMISSION = "no_permission"
    WRONG_PATH = "wrong_path"
    UNKNOWN_MODEL = "unknown_model"
    NO_QUOTA = "no_quota"
    UNREACHABLE = "unreachable"
    BROKEN = "connection_broken"
    TIMED_OUT = "timed_out"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    BAD_REQUEST = "bad_request"
    MALFORMED = "malformed_reply"
    TOO_LARGE = "reply_too_large"
    EXPIRED = "batch_expired"
    CANCELLED = "batch_cancelled"
    MISSING = "missing_from_batch"


class Parameter(StrEnum):
    """What a refusal is about, where the server says so and it is not a field of settings."""

    REPLY_FORMAT = "reply_format"
    CHOICES = "n"
    SEED = "seed"
    CONTENT = "content"
    TOO_LONG = "too_long"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a reply's choices: its text (or tool arguments) and why it ended.

    `weighed` is the text with the log-probabilities that came with it, if any did.
    """

    text: str
    finish_reason: str
    weighed: str = ""

    def stored_text(self, mode: ReplyMode) -> str:
        """What is kept of it, asked for in a mode."""
        return self.weighed or self.text if mode is ReplyMode.LOGPROBS else self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of one request.

    `tokens_in`, `tokens_out`, and the counts of cached and reasoning tokens are those of the
    complete request, or None where the server does not report them. `retry_after_s` is the wait
    that the server requests (None without one). `pause_s` is the wait that its quota headers
    request of all clients. `about` is a `Parameter` or a field's name in
    `judgestats.data.columns.FIELDS`. `usage_fault` is an impossible report of tokens ("no
    token counts", "-5 tokens"). `body` is all text of the reply, where it is more than that of the
    choices (reasoning, or invalid text).
    """

    kind: Kind
    choices: tuple[Choice, ...] = ()
    body: tuple[str, ...] = ()
    usage_fault: str = ""
    model: str = ""
    fingerprint: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    latency_s: float = float("nan")
    detail: str = ""
    about: str = Parameter.UNKNOWN
    status: int = 0
    retry_after_s: float | None = None
    pause_s: float = 0.0

    @property
    def usage(self) -> tuple[int | None, int | None, int | None]:
        """Tokens in and out, and how many of those in were cached."""
        return self.tokens_in, self.tokens_out, self.tokens_cached

    @property
    def contents(self) -> tuple[str, ...]:
        """All text that came back and may be billed."""
        return self.body or tuple(choice.text for choice in self.choices)

    @property
    def maybe_billed(self) -> bool:
        """Whether the request may have cost money although there is no answer to show for it."""
        if self.kind is Kind.WRONG_PATH:
            return self.status == 200
        unsure = {Kind.BROKEN, Kind.TIMED_OUT, Kind.MALFORMED, Kind.TOO_LARGE, Kind.MISSING}
        return self.kind in unsure


@dataclass(frozen=True, kw_only=True, slots=True)
class FailedRequest:
    """The failure that a request was given up for."""

    failure: Outcome
    tried: int
    asked_at: str = ""


def storable(text: str) -> str:
    """Without secrets, lone surrogates and NUL."""
    return clean(scrubbed(text))


def one_line(text: str) -> str:
    """A server's words as one line of bounded length, fit for a terminal and for UTF-8.

    Control characters go out: a server's message is printed, and must not move the cursor, clear
    the screen or change the window's title.

    Examples
    --------
    >>> one_line("no such model" + chr(27) + "[2J" + chr(10) + "try another")
    'no such model [2J try another'
    """
    shown = storable(text)[: 4 * MAX_DETAIL]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else " " for c in shown)
    line = " ".join(shown.split())
    return line if len(line) <= MAX_DETAIL else line[: MAX_DETAIL - 1] + "…"


_LONGEST_FLOOR_S = 1.0
"""The longest wait that a server's own "at once" is stretched to."""


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """Exponential waiting with full jitter; a server's Retry-After takes precedence over it.

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
        if tried >= self._most(outcome, contacted=contacted):
            return None
        longest = min(self.longest_s, self.first_s * float(2 ** min(tried - 1, 30)))
        wait = longest * (0.5 + 0.5 * draw.random())
        if outcome.retry_after_s is not None:
            # Up to a tenth more, so that those who wait do not come back all at once; and never at
            # once, however often a server says 0 or names a date that is past.
            floor = min(wait, _LONGEST_FLOOR_S)
            wait = max(outcome.retry_after_s * (1 + 0.1 * draw.random()), floor)
        return wait if waited_s + wait <= self.patience_s else None

    def asks_too_much(self, outcome: Outcome) -> bool:
        """Whether the server asks for a longer wait than any judgment may take.

        Examples
        --------
        >>> tomorrow = Outcome(kind=Kind.RATE_LIMITED, retry_after_s=86_400.0)
        >>> RetryPolicy().asks_too_much(tomorrow)
        True
        """
        busy = outcome.kind in {Kind.RATE_LIMITED, Kind.OVERLOADED}
        return busy and (outcome.retry_after_s or 0.0) > self.patience_s

    def _most(self, outcome: Outcome, *, contacted: bool) -> float:
        """The most tries of a request that ends so; 1 where another try would change nothing."""
        page = outcome.status == 200  # in place of JSON: of a gateway, for a moment
        few = self.attempts if contacted else min(3, self.attempts)
        return {
            Kind.WRONG_PATH: self.unusable_attempts if page else 1,
            Kind.MALFORMED: self.unusable_attempts,
            Kind.TOO_LARGE: self.unusable_attempts,
            Kind.RATE_LIMITED: math.inf,
            Kind.OVERLOADED: math.inf,
            Kind.UNREACHABLE: few,
            Kind.SERVER_ERROR: self.attempts,
            Kind.BROKEN: self.attempts,
            Kind.TIMED_OUT: self.attempts,
        }.get(outcome.kind, 1)


_BLAMELESS = 3
"""Judgments in a row refused in every reply mode after which the mode is not to blame."""


class CircuitBreaker:
    """Judgments given up in a row at one model, by condition.

    A refusal is about what was asked: it counts against its condition only. Any other failure may
    be the server's: it counts against the model too, once more than one condition has met it.

    Examples
    --------
    >>> streaks = CircuitBreaker()
    >>> refused = Outcome(kind=Kind.BAD_REQUEST)
    >>> for _ in range(2):
    ...     streaks.gave_up(refused, "m, T=2")
    >>> streaks.condition_fails("m, T=2", most=2), streaks.condition_fails("m, T=1", most=2)
    (2, 0)
    >>> streaks.answered("m, T=1")
    >>> streaks.condition_fails("m, T=2", most=2)
    2
    """

    def __init__(self) -> None:
        self._of_condition: dict[str, int] = {}
        self._of_model: dict[str, int] = {}
        self._refused: dict[str, int] = {}

    def answered(self, condition: str) -> None:
        """A judgment of a condition was answered."""
        if self._of_condition:
            self._of_condition.pop(condition, None)
            self._refused.pop(condition, None)
        if self._of_model:
            self._of_model.clear()

    def gave_up(self, outcome: Outcome, condition: str) -> None:
        """A judgment of a condition was given up."""
        if outcome.about in {Parameter.CONTENT, Parameter.TOO_LONG}:
            return  # what was refused is this item
        self._of_condition[condition] = self._of_condition.get(condition, 0) + 1
        counts = self._refused if outcome.kind is Kind.BAD_REQUEST else self._of_model
        counts[condition] = counts.get(condition, 0) + 1

    def condition_fails(self, condition: str, *, most: int) -> int:
        """How many of a condition failed in a row; 0 where that is less than `most`."""
        count = self._of_condition.get(condition, 0)
        return count if count >= most else 0

    def model_fails(self, *, most: int) -> int:
        """How many failed in a row in several conditions; 0 where that is less than `most`."""
        count = sum(self._of_model.values())
        return count if count >= most and len(self._of_model) > 1 else 0

    def mode_is_blameless(self, condition: str) -> bool:
        """Whether a condition was refused so often that another reply mode changes nothing."""
        return self._refused.get(condition, 0) >= _BLAMELESS
