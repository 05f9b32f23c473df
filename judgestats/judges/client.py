"""One asynchronous client per endpoint, on the `openai` SDK."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from urllib.parse import urlencode

import httpx2
import openai

from judgestats.judges.app_client import AsgiApp
from judgestats.judges.outcomes import Kind, Outcome, one_line
from judgestats.judges.proxy import proxy_for
from judgestats.judges.refusals import read_error
from judgestats.judges.replies import read_reply
from judgestats.judges.sdk import LeanHttpClient, LeanOpenAI
from judgestats.judges.spec import JudgeSpec
from judgestats.judges.transport import (
    MAX_BODY_BYTES,
    BodyTooLarge,
    BoundedTransport,
    InProcessTransport,
)
from judgestats.secrecy import scrubbed


class JudgeClient(AbstractAsyncContextManager["JudgeClient"]):
    """Sends a request's body to an endpoint and says what came of it; never raises for a bad reply.

    Retries are none of its business (``max_retries=0``): there is one retry policy, the
    collector's. Use it as ``async with``.

    Parameters
    ----------
    spec : JudgeSpec
        Any judge of the endpoint; its URL and key are used.
    connections : int
        Size of the connection pool.
    timeout_s : float
        Limit for one request, in seconds.
    app : ASGI application, optional
        Asked in process instead of over the network.
    max_body : int
        Bound of a reply's body, in bytes.
    """

    def __init__(
        self,
        spec: JudgeSpec,
        *,
        connections: int = 64,
        timeout_s: float = 120.0,
        app: AsgiApp | None = None,
        max_body: int = MAX_BODY_BYTES,
    ) -> None:
        proxy = proxy_for(spec.base_url) if app is None else None
        self._max_body = max_body
        query = f"?{urlencode(spec.query)}" if spec.query else ""
        self._url = f"{spec.base_url}/chat/completions{query}"
        transport: httpx2.AsyncBaseTransport = (
            BoundedTransport(
                connections=connections, timeout_s=timeout_s, max_body=max_body, proxy=proxy
            )
            if app is None
            else InProcessTransport(app)
        )
        self._sdk = LeanOpenAI(
            api_key=spec.key.reveal(),
            base_url=spec.base_url,
            max_retries=0,
            timeout=timeout_s,
            default_headers={
                "Accept-Encoding": "identity",
                **{name: value.reveal() for name, value in spec.headers.items() if value.reveal()},
            },
            default_query=dict(spec.query),
            http_client=LeanHttpClient(
                transport,
                timeout_s=timeout_s,
                without=tuple(n for n, value in spec.headers.items() if not value.reveal()),
            ),
        )

    async def __aexit__(self, *error: object) -> None:
        await self._sdk.close()

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
        started = time.perf_counter()
        try:
            # Bytes out and the raw response in: half of `create`'s time goes into walking request
            # and response types that are checked here anyway.
            reply = await self._sdk.post_prepared(
                self._url, body, headers=headers, request_id=request_id
            )
        except openai.APIStatusError as error:
            answer = error.response
            return read_error(
                answer.status_code,
                answer.content,
                _plain(answer.headers),
                time.perf_counter() - started,
            )
        except openai.APITimeoutError:
            return _failed(Kind.TIMED_OUT, "no reply in time; --timeout allows more", started)
        except openai.APIConnectionError as error:
            return self.connection_failure(error.__cause__, started)
        except ConnectionError as error:  # the in-process server breaks a connection
            return _failed(Kind.BROKEN, type(error).__name__, started)
        latency = time.perf_counter() - started
        if len(reply.content) > self._max_body:
            return _failed(Kind.TOO_LARGE, f"{len(reply.content)} bytes", started)
        if 300 <= reply.status_code < 400:
            return _failed(Kind.BAD_REQUEST, f"HTTP {reply.status_code}: a redirect", started)
        return read_reply(reply.content, _plain(reply.headers), latency)

    async def models(self) -> httpx2.Response:
        """The endpoint's list of models as it comes, bounded as every reply is.

        Raises
        ------
        openai.APIError
            As the SDK raises it: the caller tells an absent list from an absent server.
        """
        return await self._sdk.get("/models", cast_to=httpx2.Response)

    @property
    def sdk(self) -> LeanOpenAI:
        """The SDK's client, for other calls than judging."""
        return self._sdk

    def connection_failure(self, cause: BaseException | None, started: float) -> Outcome:
        """What a failed connection means."""
        if isinstance(cause, BodyTooLarge):
            return _failed(Kind.TOO_LARGE, str(cause), started)
        # aiohttp quotes what it could not read, and that may be anything, our own key included
        detail = one_line(scrubbed(str(cause))[:200]) or type(cause).__name__
        if isinstance(cause, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError):
            return _failed(Kind.BROKEN, detail, started)
        return _failed(Kind.UNREACHABLE, detail, started)


def _plain(headers: httpx2.Headers) -> dict[str, str]:
    """Lower-case names; decoded once instead of at every look-up."""
    return {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in headers.raw}


def _failed(kind: Kind, detail: str, started: float) -> Outcome:
    return Outcome(kind=kind, detail=detail, latency_s=time.perf_counter() - started)
