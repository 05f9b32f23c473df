"""The `openai` client with the parts of a request that never change prepared once.

Two thirds of what the SDK spends on a request goes into merging the same headers, parsing the same
URL and walking httpx2's authentication, redirect and cookie handling, none of which judging needs.
`LeanOpenAI` prepares the request once, by the SDK itself, and from then on only puts in the
body and the request's own headers; `LeanHttpClient` hands it straight to the transport. Whatever
does not look like a prepared judging request takes the SDK's ordinary way, so that an SDK that
changes inside costs speed, not correctness.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import httpx2
from openai import AsyncOpenAI

if TYPE_CHECKING:
    from openai._models import FinalRequestOptions

_PER_REQUEST = {b"content-length", b"idempotency-key", b"host"}
_TELEMETRY = b"x-stainless-"
"""Headers about the machine (system, architecture, versions) that a judge has no use for."""


class LeanOpenAI(AsyncOpenAI):
    """AsyncOpenAI whose POST requests with a bytes body are built from a prepared one."""

    _prepared: dict[str, tuple[httpx2.URL, list[tuple[bytes, bytes]], dict[str, Any]]] | None = None
    _template: FinalRequestOptions | None = None

    async def post_prepared(
        self, url: str, body: bytes, *, headers: Mapping[str, str] | None, request_id: str
    ) -> httpx2.Response:
        """POST a body to a whole URL and give the raw response; raises as `post` does."""
        template = self._template
        if template is None or template.url != url:
            options: dict[str, Any] = {"idempotency_key": request_id, "headers": headers or {}}
            return await self.post(
                url, content=body, cast_to=httpx2.Response, options=cast("Any", options)
            )
        # A copy of the first request's options: building them anew costs as much as sending them.
        changed = {"content": body, "headers": headers or {}, "idempotency_key": request_id}
        return await self.request(httpx2.Response, template.model_copy(update=changed))

    def _build_request(self, options: FinalRequestOptions, **more: Any) -> httpx2.Request:
        body = options.content
        if options.method.lower() != "post" or not isinstance(body, bytes) or options.params:
            return super()._build_request(options, **more)
        prepared = self._prepared = {} if self._prepared is None else self._prepared
        if options.url not in prepared:
            first = super()._build_request(options, **more)
            own = {k.lower().encode() for k in options.headers} if options.headers else set()
            kept = [
                (name, value)
                for name, value in first.headers.raw
                if name.lower() not in _PER_REQUEST | own
                and not name.lower().startswith(_TELEMETRY)
            ]
            prepared[options.url] = (first.url, kept, first.extensions)
            self._template = options
        url, kept, extensions = prepared[options.url]
        headers = list(kept)
        headers.append((b"Content-Length", b"%d" % len(body)))
        headers.append((b"Host", url.netloc))
        if options.idempotency_key:
            headers.append((b"Idempotency-Key", options.idempotency_key.encode()))
        if options.headers:
            headers += [(k.encode(), str(v).encode()) for k, v in options.headers.items()]
        # A stream, so that httpx2 does not look for headers to add: they are all there.
        request = httpx2.Request(
            "POST", url, headers=headers, stream=httpx2.ByteStream(body), extensions=extensions
        )
        request.read()
        return request


class LeanHttpClient(httpx2.AsyncClient):
    """An httpx2 client that hands requests to its transport: no redirects, cookies or retries.

    Headers named in `without` are not sent: some servers refuse the SDK's ``Authorization``.
    """

    def __init__(
        self,
        transport: httpx2.AsyncBaseTransport,
        *,
        timeout_s: float,
        without: tuple[str, ...] = (),
    ) -> None:
        super().__init__(transport=transport, timeout=timeout_s)
        self._without = without
        self._lean_transport = transport

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request and read its reply."""
        del options  # stream, authentication and redirects: none is used here
        try:
            _ = request.content
        except httpx2.RequestNotRead:  # a file to be uploaded
            await request.aread()
        for name in self._without:
            request.headers.pop(name, None)
        response = await self._lean_transport.handle_async_request(request)
        response.request = request
        await response.aread()
        return response
