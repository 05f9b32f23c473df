"""How the simulated server misbehaves on request."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from judgestats.errors import InputError
from judgestats.judges.simulated.quality import normal_of, uniform_of

_RATES = (
    "rate_limited",
    "rate_limited_silent",
    "overloaded",
    "server_error",
    "reset",
    "stalled",
    "truncated_json",
    "huge_json",
    "wrong_type",
    "refusal",
    "filtered",
    "cut_off",
)
"""In this order a single uniform number decides which fault, if any, befalls a request."""


_LINES = ("batch_error", "batch_missing", "batch_malformed", "batch_repeated", "batch_foreign")


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Rates of faults (each a probability per request) and standing limitations.

    Attributes
    ----------
    latency_s, latency_spread : float
        Median of a reply's delay, in seconds, and its log standard deviation (0 = always the
        same).
    rate_limited, rate_limited_silent : float
        Status 429 with and without ``Retry-After``.
    retry_after_s : float
        What ``Retry-After`` says.
    overloaded, server_error, reset : float
        Status 503; status 500; the connection is broken off without a reply.
    stalled : float
        Replies that take `stall_s` seconds longer.
    truncated_json, huge_json, wrong_type : float
        Status 200 with half of the JSON; with `huge_bytes` of JSON; with an HTML page.
    refusal, filtered, cut_off : float
        Answers that are a refusal; that the content filter emptied; that end at the token limit.
    capacity : int
        Requests in flight beyond which 429 is answered; 0 = no limit.
    quota_headers : bool
        Whether replies carry ``x-ratelimit-*`` headers.
    refuse_temperature, ignore_temperature : bool
        Refuse any temperature but 1 with status 400; or silently answer at 1.
    refuse_n, ignore_n : bool
        Refuse several choices with status 400; or silently answer one.
    refuse_schema, ignore_schema, refuse_tools, refuse_seed : bool
    refuse_field : str
        A field of the request, such as ``top_k``, that is refused as unknown.
    no_batches, batch_invalid : bool
        Know nothing of files and batches; or refuse every batch when it is validated.
    batch_looks : int
        How often a batch is looked at before it has ended.
    batch_token_limit : int
        Requests beyond which a batch is refused as too many tokens; 0 = no limit.
    batch_expired : float
        Share of a batch's requests (its last ones) that are left unrun.
    batch_error, batch_missing, batch_malformed, batch_repeated, batch_foreign : float
        Rates of results that are an error of status 500; that are missing; that are half a line;
        that stand twice; that are followed by one of a request that nobody sent.
    require_key : str
        The only accepted key; empty = any.
    seed : int
        Fixes which requests the faults befall.

    Examples
    --------
    >>> Faults.parse("rate_limited=.05, latency_s=.2, refuse_n").refuse_n
    True
    """

    latency_s: float = 0.0
    latency_spread: float = 0.0
    rate_limited: float = 0.0
    rate_limited_silent: float = 0.0
    retry_after_s: float = 0.0
    overloaded: float = 0.0
    server_error: float = 0.0
    reset: float = 0.0
    stalled: float = 0.0
    stall_s: float = 5.0
    truncated_json: float = 0.0
    huge_json: float = 0.0
    huge_bytes: int = 16 * 1024 * 1024
    wrong_type: float = 0.0
    refusal: float = 0.0
    filtered: float = 0.0
    cut_off: float = 0.0
    capacity: int = 0
    quota_headers: bool = False
    refuse_temperature: bool = False
    ignore_temperature: bool = False
    refuse_n: bool = False
    ignore_n: bool = False
    refuse_schema: bool = False
    ignore_schema: bool = False
    refuse_tools: bool = False
    refuse_seed: bool = False
    refuse_field: str = ""
    no_batches: bool = False
    batch_invalid: bool = False
    batch_looks: int = 1
    batch_token_limit: int = 0
    batch_expired: float = 0.0
    batch_error: float = 0.0
    batch_missing: float = 0.0
    batch_malformed: float = 0.0
    batch_repeated: float = 0.0
    batch_foreign: float = 0.0
    require_key: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        rates = [getattr(self, name) for name in _RATES]
        lines = [getattr(self, name) for name in _LINES]
        wrong = any(not 0 <= r <= 1 for r in (*rates, *lines, self.batch_expired))
        if wrong or max(sum(rates), sum(lines)) > 1 + 1e-9:
            raise InputError(
                "faults: every rate must lie in 0-1, and all rates together must not exceed 1."
            )

    @property
    def standing(self) -> Faults:
        """The limitations alone, without what befalls requests by chance."""
        without: dict[str, Any] = dict.fromkeys(_RATES, 0.0)
        return replace(self, latency_s=0.0, capacity=0, require_key="", **without)

    @property
    def random(self) -> bool:
        """Whether any request may meet a fault by chance."""
        return any(getattr(self, name) for name in _RATES)

    def befalling(self, request: object, attempt: int) -> str:
        """The fault that befalls an attempt of a request; empty if none."""
        point = uniform_of("fault", self.seed, request, attempt)
        for name in _RATES:
            point -= getattr(self, name)
            if point < 0:
                return name
        return ""

    def delay(self, request: object, attempt: int) -> float:
        """Seconds until the reply."""
        if self.latency_spread == 0:
            return self.latency_s
        spread = self.latency_spread * normal_of("latency", self.seed, request, attempt)
        return self.latency_s * math.exp(spread)

    @classmethod
    def parse(cls, text: str) -> Faults:
        """Read ``name=value`` pairs, separated by commas; a name alone means true."""
        types = {f.name: f.type for f in fields(cls)}
        values: dict[str, float | int | bool | str] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, equals, value = part.partition("=")
            name, value = name.strip(), value.strip()
            if name not in types:
                raise InputError(f"faults: unknown fault {name!r}. Known: {', '.join(types)}.")
            kind = types[name]
            try:
                if kind == "bool":
                    values[name] = value.lower() not in {"0", "false", "no"} if equals else True
                elif kind == "int":
                    values[name] = int(value)
                elif kind == "float":
                    values[name] = float(value)
                else:
                    values[name] = value
            except ValueError:
                raise InputError(f"faults: {name} expects a number, got {value!r}.") from None
        return cls(**values)  # type: ignore[arg-type]
