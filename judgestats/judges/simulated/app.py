"""The simulated server: an OpenAI-compatible ASGI application.

It accepts and sends nothing beyond the request: no files, no network, no evaluation of what a
prompt says.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Mapping, MutableMapping
from typing import Any

from judgestats.errors import InputError
from judgestats.judges.simulated.answerers import simulated_answerers
from judgestats.judges.simulated.batch_api import BatchApi
from judgestats.judges.simulated.completions import Completions
from judgestats.judges.simulated.faults import Faults
from judgestats.judges.simulated.judges import simulated_judges
from judgestats.judges.simulated.wire import (
    MAX_FILE_BYTES,
    Receive,
    RefusedError,
    Send,
    error,
    lifespan,
    misbehaved,
    read_body,
    send_bytes,
    send_json,
)

_COUNTED = 1_000_000
_OF_BATCHES = re.compile(r"/(?:files|batches)(?:/|$)")
_DRAW = b"x-judgestats-draw"
_FAULTS = b"x-judgestats-faults"


class SimulatedServer:
    """The ASGI application.

    Parameters
    ----------
    faults : Faults, optional
        How it misbehaves. A request's header ``X-Judgestats-Faults`` overrules it.

    Attributes
    ----------
    received, answered : int
        Requests received and answered with a verdict or a billed reply.
    billed_tokens : int
        Tokens of all replies that a provider would have billed.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        self.faults = faults or Faults()
        self.received = 0
        self.answered = 0
        self.billed_tokens = 0
        self.in_flight = 0
        self.batch_api = BatchApi(self._answered_in_batch)
        self.peak_in_flight = 0
        self._completions = Completions()
        self._times: OrderedDict[bytes, int] = OrderedDict()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        path, method = scope["path"].rstrip("/"), scope["method"]
        if method == "GET" and path.endswith("/models"):
            if not _key_accepted(self.faults, dict(scope["headers"])):
                await send_json(send, 401, error("Incorrect API key provided."))
                return
            data = [
                {"id": n, "object": "model", "owned_by": "judgestats"}
                for n in (*simulated_judges(), *simulated_answerers())
            ]
            await send_json(send, 200, {"object": "list", "data": data})
            return
        if await self._answers_batches(scope, path, receive, send):
            return
        if method != "POST" or not path.endswith("/chat/completions"):
            message = f"unknown path: {method} {path[:60]}; there is POST /v1/chat/completions"
            await send_json(send, 404, error(message, code="not_found"))
            return
        self.received += 1
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            await self._complete(scope, receive, send, self.faults)
        except RefusedError as refused:
            value = error(refused.message, param=refused.param, code=refused.code)
            await send_json(send, refused.status, value)
        finally:
            self.in_flight -= 1

    # ------------------------------------------------------------------ files and batches

    async def _answers_batches(
        self, scope: MutableMapping[str, Any], path: str, receive: Receive, send: Send
    ) -> bool:
        headers = dict(scope["headers"])
        if self.faults.no_batches or not _OF_BATCHES.search(path):
            return False
        if not _key_accepted(self.faults, headers):
            await send_json(send, 401, error("Incorrect API key provided."))
            return True
        try:
            body = await read_body(receive, most=MAX_FILE_BYTES)
            query = scope.get("query_string", b"")
            return await self.batch_api.handle(
                scope["method"], path, query, headers, body, self.faults, send
            )
        except RefusedError as refused:
            value = error(refused.message, param=refused.param, code=refused.code)
            await send_json(send, refused.status, value)
            return True

    async def _answered_in_batch(self, body: bytes, draw: bytes) -> tuple[int, bytes]:
        """One request of a batch: what befalls online requests by chance does not befall it."""
        got: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            got.append(message)

        headers = [(_DRAW, draw)] if draw else []
        try:
            await self._complete({"headers": headers}, receive, send, self.faults.standing)
        except RefusedError as refused:
            value = error(refused.message, param=refused.param, code=refused.code)
            await send_json(send, refused.status, value)
        return int(got[0]["status"]), bytes(got[1]["body"])

    # ------------------------------------------------------------------ one request

    async def _complete(
        self,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
        faults: Faults,
    ) -> None:
        headers = dict(scope["headers"])
        body = await read_body(receive)
        if _FAULTS in headers:
            try:
                faults = Faults.parse(headers[_FAULTS].decode("latin-1"))
            except InputError as wrong:
                raise RefusedError(400, str(wrong)) from None
        if not _key_accepted(faults, headers):
            raise RefusedError(401, "Incorrect API key provided.", code="invalid_api_key")
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "the body is not JSON") from None
        if not isinstance(request, dict):
            raise RefusedError(400, "the body is no JSON object")
        draw = headers.get(_DRAW, b"")
        identity = hashlib.blake2b(body + b"|" + draw, digest_size=12).digest()
        times = self._count(identity)
        delay = faults.delay(identity.hex(), times)
        fault = faults.befalling(identity.hex(), times) if faults.random else ""
        if fault == "stalled":
            delay += faults.stall_s
        if faults.capacity and self.in_flight > faults.capacity:
            fault = "rate_limited"
        if delay > 0 and fault not in {"rate_limited", "rate_limited_silent"}:
            await asyncio.sleep(delay)
        if await misbehaved(fault, faults, send):
            return
        _refuse(faults, request)
        await self._answer(request, draw, identity, times, fault, faults, send)

    def _count(self, identity: bytes) -> int:
        """How many times this very request came before; the oldest are forgotten in the end."""
        times = self._times.get(identity, 0)
        self._times[identity] = times + 1
        if len(self._times) > _COUNTED:
            self._times.popitem(last=False)
        return times

    async def _answer(
        self,
        request: dict[str, Any],
        draw: bytes,
        identity: bytes,
        times: int,
        fault: str,
        faults: Faults,
        send: Send,
    ) -> None:
        reply = self._completions.reply(
            request, draw, identity=identity, times=times, fault=fault, faults=faults
        )
        self.answered += 1
        self.billed_tokens += reply["usage"]["total_tokens"]
        encoded = json.dumps(reply).encode()
        extra: list[tuple[bytes, bytes]] = []
        if faults.quota_headers:
            left = max(0, faults.capacity - self.in_flight) if faults.capacity else 1000
            extra = [
                (b"x-ratelimit-limit-requests", str(faults.capacity or 1000).encode()),
                (b"x-ratelimit-remaining-requests", str(left).encode()),
                (b"x-ratelimit-reset-requests", b"20ms"),
            ]
        if fault == "truncated_json":
            encoded = encoded[: len(encoded) // 2]
        await send_bytes(send, 200, encoded, b"application/json", extra)


def _key_accepted(faults: Faults, headers: Mapping[bytes, bytes]) -> bool:
    sent = headers.get(b"authorization", b"").decode("latin-1")
    return not faults.require_key or sent == f"Bearer {faults.require_key}"


def _refuse(faults: Faults, request: Mapping[str, Any]) -> None:
    """Refuse what this server is told not to support, in OpenAI's words where it has them."""
    temperature = request.get("temperature")
    if faults.refuse_temperature and temperature not in {None, 1}:
        raise RefusedError(
            400,
            f"Unsupported value: 'temperature' does not support {temperature} with this model. "
            "Only the default (1) value is supported.",
            param="temperature",
            code="unsupported_value",
        )
    if faults.refuse_n and request.get("n", 1) != 1:
        raise RefusedError(400, "Only n = 1 is supported", param="n", code="unsupported_value")
    if faults.refuse_seed and request.get("seed") is not None:
        raise RefusedError(
            400, "Unsupported parameter: 'seed'", param="seed", code="unsupported_parameter"
        )
    if faults.refuse_field and request.get(faults.refuse_field) is not None:
        raise RefusedError(400, f"Unrecognized request argument supplied: {faults.refuse_field}")
    if faults.refuse_schema and request.get("response_format") is not None:
        raise RefusedError(
            400,
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
            "model.",
            param="response_format",
        )
    if faults.refuse_tools and request.get("tools"):
        raise RefusedError(400, "this model does not support tools")
