"""How long a server asks to wait: ``Retry-After`` and quota headers."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from datetime import datetime

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
"""Headers that tell what remains, and when it is full again."""
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_until(value: str, *, now: float | None = None) -> float | None:
    """Seconds in a header: ``20``, ``1m30s``, ``20ms``, or a date; None where unreadable.

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
    """The seconds that ``Retry-After`` names; None where it is absent or unreadable."""
    milliseconds = headers.get("retry-after-ms")
    if milliseconds is not None:
        seconds = seconds_until(milliseconds)
        if seconds is not None:
            return seconds / 1000
    value = headers.get("retry-after")
    return None if value is None else seconds_until(value)


def quota_pause(headers: Mapping[str, str]) -> float:
    """How long quota headers ask to wait: until the reset, where nothing remains."""
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
