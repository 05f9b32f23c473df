"""Fault injection, and the wire format."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, fields, replace
from typing import Any

from judgestats.errors import InputError
from judgestats.simulated.judges import normal_of, uniform_of

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
    require_key: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        rates = [getattr(self, name) for name in _RATES]
        if any(not 0 <= r <= 1 for r in rates) or sum(rates) > 1 + 1e-9:
            raise InputError(
                "faults: every rate must lie in 0-1, and all rates together must not exceed 1."
            )

    @property
    def limitations(self) -> Faults:
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


Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_MAX_REQUEST_BYTES = 16 * 1024 * 1024


class RefusedError(Exception):
    """A request that is answered with an error status."""

    def __init__(self, status: int, message: str, *, param: str = "", code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code


async def misbehaved(fault: str, faults: Faults, send: Send) -> bool:
    """Answer with a fault, if it is one that replaces an answer."""
    if fault in {"rate_limited", "rate_limited_silent"}:
        extra = []
        if fault == "rate_limited":
            extra = [(b"retry-after", f"{faults.retry_after_s:g}".encode())]
        refusal = json.dumps(error("Rate limit reached", code="rate_limit_exceeded")).encode()
        await send_bytes(send, 429, refusal, b"application/json", extra)
    elif fault == "overloaded":
        await send_json(send, 503, error("The server is overloaded", code="overloaded"))
    elif fault == "server_error":
        await send_json(send, 500, error("The server had an error", code="server_error"))
    elif fault == "reset":
        _break_off(send)
    elif fault == "huge_json":
        start = b'{"choices": [{"message": {"content": "'
        filling = b"x" * max(0, faults.huge_bytes - len(start) - 20)
        await send_bytes(send, 200, start + filling + b'"}}]}', b"application/json", [])
    elif fault == "wrong_type":
        page = b"<!doctype html><title>Bad gateway</title><p>Please try again later."
        await send_bytes(send, 200, page, b"text/html", [])
    else:
        return False
    return True


def _break_off(send: Send) -> None:
    """Break the connection: under uvicorn by aborting its transport, in process by an error."""
    cycle = getattr(send, "__self__", None)
    transport = getattr(cycle, "transport", None)
    if transport is None:
        raise ConnectionResetError("the simulated server broke the connection off")
    transport.abort()


async def read_body(receive: Receive, *, most: int = _MAX_REQUEST_BYTES) -> bytes:
    """A request's whole body, of bounded size."""
    chunks = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the client went away")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > most:
            raise RefusedError(413, "the request is too large")
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


async def lifespan(receive: Receive, send: Send) -> None:
    """Start and end with the server: nothing to do."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return


def error(message: str, *, param: str = "", code: str = "") -> dict[str, Any]:
    """An error body as OpenAI words it."""
    value = {
        "message": message,
        "type": "invalid_request_error",
        "param": param or None,
        "code": code,
    }
    return {"error": value}


async def send_json(send: Send, status: int, value: object) -> None:
    """Send a value as JSON."""
    await send_bytes(send, status, json.dumps(value).encode(), b"application/json", [])


async def send_bytes(
    send: Send, status: int, body: bytes, kind: bytes, extra: list[tuple[bytes, bytes]]
) -> None:
    """Send a body of a content type, with further headers."""
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
