"""The wire of the simulated server: reading bodies, sending replies, sending faults."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from judgestats.judges.simulated.faults import Faults

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_MAX_REQUEST_BYTES = 16 * 1024 * 1024
MAX_FILE_BYTES = 210 * 1000 * 1000


class RefusedError(Exception):
    """A request that is answered with an error status."""

    def __init__(self, status: int, message: str, *, param: str = "", code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code


async def misbehaved(fault: str, faults: Faults, send: Send) -> bool:
    """Answer with a fault, if it is one that stands in place of an answer."""
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
