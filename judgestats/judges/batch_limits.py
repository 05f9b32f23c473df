"""How large a batch may be, and how often it is looked at."""

from __future__ import annotations

from dataclasses import dataclass

MAX_REQUESTS = 50_000
"""Requests in one file, the Batch API's limit."""
MAX_BYTES = 200_000_000
"""Bytes of one file, the Batch API's limit."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes of files, batches that a judgment may fail in, seconds between two looks."""

    requests: int = MAX_REQUESTS
    bytes: int = MAX_BYTES
    rounds: int = 3
    first_s: float = 2.0
    longest_s: float = 60.0
