"""Client of an application in this process: no SDK and no connection."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import urlsplit

from judgestats.collection.response import read_error, read_reply
from judgestats.collection.retry import Kind, Outcome
from judgestats.collection.spec import JudgeSpec

Message = MutableMapping[str, Any]
AsgiApp = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


class AppClient(AbstractAsyncContextManager["AppClient"]):
    """Client of an ASGI application that replaces an endpoint, with the same reading of replies.

    Parameters
    ----------
    spec : JudgeSpec
        Any judge of the application; its path, key and headers are used.
    app : ASGI application
    """

    def __init__(self, spec: JudgeSpec, app: AsgiApp) -> None:
        self._app = app
        path = f"{urlsplit(spec.base_url).path}{spec.path}"
        own = {name: value.reveal() for name, value in spec.headers.items()}
        own = {"Authorization": f"Bearer {spec.key.reveal()}", **own}
        self._headers = _raw({name: value for name, value in own.items() if value})
        self._scope = {"type": "http", "method": "POST", "path": path, "query_string": b""}

    async def __aexit__(self, *error: object) -> None:
        pass

    async def ask(self, body: bytes, *, headers: Mapping[str, str] | None = None) -> Outcome:
        """Send one chat completion request and read the whole reply."""
        started = time.perf_counter()
        scope = {**self._scope, "headers": [*self._headers, *_raw(headers or {})]}
        try:
            status, pairs, content = await asgi_reply(self._app, scope, body)
        except ConnectionError as error:  # the simulated server breaks a connection
            latency = time.perf_counter() - started
            return Outcome(kind=Kind.BROKEN, detail=type(error).__name__, latency_s=latency)
        latency = time.perf_counter() - started
        replied = {k.decode("latin-1"): v.decode("latin-1") for k, v in pairs}
        read = read_reply if status < 400 else lambda *reply: read_error(status, *reply)
        return read(content, replied, latency)


async def asgi_reply(
    app: AsgiApp, scope: Message, body: bytes
) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Status, headers and body that an application in this process replies to one request."""
    start: Message = {"status": 500}
    chunks: list[bytes] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            start = message
        elif message["type"] == "http.response.body":
            chunks.append(message.get("body", b""))

    await app(scope, receive, send)
    return start["status"], list(start.get("headers", [])), b"".join(chunks)


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in headers.items()]
