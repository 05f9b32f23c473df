"""Client of an endpoint: one request, one reply, one outcome; an application in this process."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from judgestats.collection.response import read_error, read_reply
from judgestats.collection.retry import Kind, Outcome
from judgestats.collection.spec import JudgeSpec
from judgestats.version import __version__

Message = MutableMapping[str, Any]
AsgiApp = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]
MAX_BODY_BYTES = 8 * 1024 * 1024
"""Default bound of a reply's body. The longest honest reply of a judge is some 100 KB."""
_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


class CallError(Exception):
    """A call that gave no reply with a status of success; `outcome` says why."""

    def __init__(self, kind: Kind, detail: str, outcome: Outcome | None = None) -> None:
        super().__init__(detail)
        self.outcome = outcome or Outcome(kind=kind, detail=detail)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as it came; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether the status says success."""
        return 200 <= self.status < 300


class AppClient(AbstractAsyncContextManager["AppClient"]):
    """Sends a request's body and says what came of it; never raises for a bad reply.

    Retries are not its responsibility: there is one retry policy, the collector's. Redirects are
    not followed. Use it as ``async with``.

    Parameters
    ----------
    spec : JudgeSpec
        Any judge of the endpoint; its URL, key and headers are used.
    app : ASGI application
        Asked in process instead of over the network.
    max_body : int
        Bound of a reply's body, in bytes.
    """

    def __init__(
        self, spec: JudgeSpec, app: AsgiApp | None, *, max_body: int = MAX_BODY_BYTES
    ) -> None:
        self._spec = spec
        self._app = app
        self._max_body = max_body
        own = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"judgestats/{__version__}",
            "Authorization": f"Bearer {spec.key.reveal()}",
            "Content-Type": "application/json",
            **{name.title(): value.reveal() for name, value in spec.headers.items()},
        }
        self._headers = {name: value for name, value in own.items() if value}
        self._query = urlencode(spec.query)

    async def __aexit__(self, *error: object) -> None:
        pass

    async def ask(
        self, body: bytes, *, headers: Mapping[str, str] | None = None, request_id: str = ""
    ) -> Outcome:
        """Send one chat completion request.

        Parameters
        ----------
        body : bytes
            The request as JSON.
        headers : mapping, optional
            Further headers.
        request_id : str
            Goes out as ``Idempotency-Key``: a proxy that repeats the request does not bill it
            twice where the provider heeds the header.

        Returns
        -------
        Outcome
        """
        own = {**(headers or {}), "Idempotency-Key": request_id}
        outcome, _ = await self.exchange("POST", self._spec.path, body, headers=own)
        return outcome

    async def exchange(
        self,
        method: str,
        path: str,
        body: bytes | Mapping[str, Any] = b"",
        *,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[Outcome, Reply | None]:
        """What came of a call, read as a completion, and its reply if there was one."""
        started = time.perf_counter()
        content = body if isinstance(body, bytes) else _json(body).encode()
        joint = "&" if "?" in path else "?"
        url = f"{self._spec.base_url}{path}{joint * bool(self._query)}{self._query}"
        reply = None
        try:
            reply = await self._send(method, url, {**self._headers, **(headers or {})}, content)
            outcome = self._read(reply, time.perf_counter() - started)
        except CallError as error:
            outcome = replace(error.outcome, latency_s=time.perf_counter() - started)
        return outcome, reply

    def _read(self, reply: Reply, latency_s: float) -> Outcome:
        if len(reply.body) > self._max_body:
            raise CallError(Kind.TOO_LARGE, f"{len(reply.body)} bytes")
        if 300 <= reply.status < 400:
            raise CallError(Kind.BAD_REQUEST, f"HTTP {reply.status}: a redirect")
        if reply.ok:
            return read_reply(reply.body, reply.headers, latency_s)
        return read_error(reply.status, reply.body, reply.headers, latency_s)

    async def fetch(
        self,
        method: str,
        path: str,
        body: bytes | Mapping[str, Any] = b"",
        *,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The body of a reply that is no completion.

        Raises
        ------
        CallError
            If nothing came, or another status than success.
        """
        outcome, reply = await self.exchange(method, path, body, headers=headers)
        if reply is None or not reply.ok or outcome.kind is Kind.TOO_LARGE:
            raise CallError(outcome.kind, outcome.detail, outcome)
        return reply.body

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Ask the application in this process."""
        if self._app is None:
            raise CallError(Kind.UNREACHABLE, "no application was given")
        target = urlsplit(url)
        scope: Message = {
            "type": "http",
            "method": method,
            "path": target.path,
            "query_string": target.query.encode(),
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, value in headers.items()
            ],
        }
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

        try:
            await self._app(scope, receive, send)
        except ConnectionError as error:  # the simulated server breaks a connection
            raise CallError(Kind.BROKEN, type(error).__name__) from None
        return Reply(start["status"], plain_headers(start.get("headers", ())), b"".join(chunks))


def plain_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers as text, their names in lower case."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}
