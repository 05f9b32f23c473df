"""Asynchronous clients of endpoints and of applications in this process, transport, and proxy."""

from __future__ import annotations

import asyncio
import base64
import time
import urllib.request
import zlib
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlencode, urlsplit

import aiohttp
import httpx2
import openai
from openai import AsyncOpenAI

from judgestats.collection.app_client import AsgiApp, asgi_reply
from judgestats.collection.local_model import with_grammar
from judgestats.collection.response import read_error, read_reply
from judgestats.collection.retry import Kind, Outcome, one_line
from judgestats.collection.spec import LOOPBACK, JudgeSpec, Secret
from judgestats.errors import InputError
from judgestats.redaction import scrubbed

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
        self, url: str, body: bytes, *, headers: Mapping[str, str] | None
    ) -> httpx2.Response:
        """POST a body to a whole URL and give the raw response; raises as `post` does."""
        template = self._template
        if template is None or template.url != url:
            options: dict[str, Any] = {"headers": headers or {}}
            return await self.post(
                url, content=body, cast_to=httpx2.Response, options=cast("Any", options)
            )
        # A copy of the first request's options: building them anew costs as much as sending them.
        changed = {"content": body, "headers": headers or {}, "idempotency_key": None}
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
        self, transport: httpx2.AsyncBaseTransport, *, timeout_s: float, without: tuple[str, ...]
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


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """An HTTP proxy.

    Attributes
    ----------
    url : str
        Without user's name and password, so that no error that quotes it shows them.
    authorization : Secret or None
        Value of the header ``Proxy-Authorization``.
    secrets : tuple of Secret
        What must not be repeated: the password, plain and as it is sent.
    """

    url: str
    authorization: Secret | None = None
    secrets: tuple[Secret, ...] = field(default=(), repr=False)


def proxy_for(base_url: str) -> Proxy | None:
    """The proxy for an endpoint, or None where it is asked directly.

    A server on this machine is never asked through a proxy on another: it could not be reached
    there, and the key would travel in clear.

    Parameters
    ----------
    base_url : str

    Returns
    -------
    Proxy or None

    Raises
    ------
    InputError
        The environment names a proxy that is malformed or does not speak HTTP. Its value is not
        repeated: it may hold a password.
    """
    endpoint = urlsplit(base_url)
    host = endpoint.hostname or ""
    if host in LOOPBACK or urllib.request.proxy_bypass(host):
        return None
    named = urllib.request.getproxies().get(endpoint.scheme)
    return _parse_proxy(named, f"{endpoint.scheme.upper()}_PROXY") if named else None


def _parse_proxy(named: str, variable: str) -> Proxy:
    try:
        parts = urlsplit(named if "://" in named else f"http://{named}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in {"http", "https"} or not host.isprintable():
        form = "http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, special characters as %XX"
        raise InputError(
            f"{variable} (in the environment) names no proxy that can be used: expected {form}. "
            "Its value is not shown here."
        )
    shown = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme}://{shown}" + (f":{port}" if port is not None else "")
    if parts.username is None:
        return Proxy(url=url)
    password = unquote(parts.password or "")
    pair = f"{unquote(parts.username)}:{password}".encode(errors="surrogateescape")
    login = base64.b64encode(pair).decode()
    secrets = (Secret(password), Secret(login))
    return Proxy(url=url, authorization=Secret(f"Basic {login}"), secrets=secrets)


MAX_BODY_BYTES = 8 * 1024 * 1024
"""Default bound of a reply's body. The longest honest reply of a judge is some 100 KB."""
_PROXY_REFUSES = 407


class BodyTooLarge(httpx2.ReadError):
    """A reply's body exceeded the bound; the connection was dropped."""


class AsgiTransport(httpx2.AsyncBaseTransport):
    """Asks an ASGI application in this process; httpx2's own does the same in thrice the time."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read its whole reply."""
        url = request.url
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1",
            "method": request.method,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "scheme": url.scheme, "path": url.path, "raw_path": url.raw_path,
            "query_string": url.query, "server": (url.host, url.port), "client": ("127.0.0.1", 0),
            "root_path": "",
        }  # fmt: skip
        status, headers, content = await asgi_reply(self._app, scope, request.content)
        relevant = _relevant_headers(headers)
        return httpx2.Response(
            status_code=status, headers=relevant, content=content, request=request
        )


class BoundedTransport(httpx2.AsyncBaseTransport):
    """An aiohttp session as an httpx2 transport.

    Parameters
    ----------
    connections : int
        Size of the connection pool.
    timeout_s : float
        Limit for a whole request, in seconds, waiting for a connection included.
    max_body : int
        Bound of a reply's body, in bytes.
    proxy : Proxy, optional
        Looked up once: aiohttp's own ``trust_env`` asks a thread for it (and for ~/.netrc) at every
        request, and its errors quote the password.
    """

    def __init__(
        self,
        *,
        connections: int,
        timeout_s: float,
        max_body: int = MAX_BODY_BYTES,
        proxy: Proxy | None = None,
    ) -> None:
        self._connections = connections
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=min(timeout_s, 15.0))
        self._max_body = max_body
        self._session: aiohttp.ClientSession | None = None
        self._proxy = proxy

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read its whole reply."""
        session = self._session or self._open()
        # latin-1 is any header's encoding; httpx2's own view finds one out at every access
        headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in request.headers.raw]
        to_proxy = self._for_proxy(request.url.scheme, headers)
        try:
            async with session.request(
                request.method,
                str(request.url),
                headers=headers,
                data=request.content or None,
                allow_redirects=False,
                **to_proxy,
            ) as reply:
                if self._proxy is not None and reply.status == _PROXY_REFUSES:
                    raise httpx2.ConnectError(_proxy_message(reply.status, reply.reason))
                body = await self._read_body(reply, request)
                relevant = _relevant_headers(reply.raw_headers)
                return httpx2.Response(
                    status_code=reply.status, headers=relevant, content=body, request=request
                )
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise httpx2.ReadTimeout(type(error).__name__, request=request) from None
        except aiohttp.ClientHttpProxyError as error:
            message = _proxy_message(error.status, error.message)
            raise httpx2.ConnectError(message, request=request) from None
        except (aiohttp.ClientConnectorError, aiohttp.ClientProxyConnectionError) as error:
            raise httpx2.ConnectError(_plain(error), request=request) from None
        except aiohttp.InvalidURL:
            raise httpx2.UnsupportedProtocol("the URL is malformed", request=request) from None
        except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError) as error:
            raise httpx2.ReadError(_plain(error), request=request) from None

    async def _read_body(self, reply: aiohttp.ClientResponse, request: httpx2.Request) -> bytes:
        announced = reply.content_length or 0
        if announced > self._max_body:
            reply.close()
            raise BodyTooLarge(f"{announced} bytes announced", request=request)
        chunks: list[bytes] = []
        size = 0
        async for chunk in reply.content.iter_any():
            size += len(chunk)
            if size > self._max_body:
                reply.close()
                raise BodyTooLarge(f"more than {self._max_body} bytes", request=request)
            chunks.append(chunk)
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        body = _unpacked(body, reply.headers.get("Content-Encoding", ""), self._max_body)
        if len(body) > self._max_body:
            raise BodyTooLarge(f"expands to more than {self._max_body} bytes", request=request)
        return body

    def _for_proxy(self, scheme: str, headers: list[tuple[str, str]]) -> dict[str, Any]:
        """What `aiohttp` needs to go through the proxy; the login is never in its address."""
        proxy = self._proxy
        if proxy is None:
            return {}
        if proxy.authorization is None:
            return {"proxy": proxy.url}
        login = {"Proxy-Authorization": proxy.authorization.reveal()}
        if scheme == "https":  # for the proxy alone, when the tunnel is opened
            return {"proxy": proxy.url, "proxy_headers": login}
        headers.extend(login.items())
        return {"proxy": proxy.url}

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=60),
            timeout=self._timeout,
            auto_decompress=False,  # "identity" is asked for; `_unpacked` is bounded
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session

    async def aclose(self) -> None:
        """Close the session and its connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


_INTERESTING = (
    b"content-type", b"retry-after", b"x-ratelimit-", b"anthropic-ratelimit-", b"location",
    b"x-request-id",
)  # fmt: skip


def _relevant_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers that are ever read."""
    return [h for h in headers if h[0].lower().startswith(_INTERESTING)]


_PACKED = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""Forms in which servers compress unasked, as zlib's window bits."""


def _unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """A body without its compression, at most one byte longer than `most`.

    What is not in the form that its header names stays as it is, and reads as malformed.
    """
    bits = _PACKED.get(encoding.strip().lower())
    if bits is None:
        return body
    unpacking = zlib.decompressobj(bits)
    try:
        out = unpacking.decompress(body, most + 1)
    except zlib.error:
        return body
    return out if unpacking.eof or len(out) > most else body


def _proxy_message(status: int, words: str | None) -> str:
    return f"the proxy refuses: HTTP {status} {words or ''}".rstrip()


def _plain(error: BaseException) -> str:
    """One line that names the error's cause, without a request's headers."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        tls = getattr(error, "certificate_error", None) or getattr(error, "os_error", error)
        why = str(getattr(tls, "verify_message", "") or getattr(tls, "reason", "") or tls)
        return (
            f"the server's certificate is not trusted, or TLS fails: {why[:60]}; for a private "
            "authority name its file in SSL_CERT_FILE (judges) and REQUESTS_CA_BUNDLE (MLflow)"
        )
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    strerror = getattr(inner, "strerror", None)
    return f"{type(inner).__name__}: {strerror or inner}"


CALL_ERRORS = (openai.APIStatusError, openai.APIConnectionError, ConnectionError)
"""What a call of the SDK raises; a connection error where the in-process server breaks it off."""


class JudgeClient(AbstractAsyncContextManager["JudgeClient"]):
    """Sends a request's body to an endpoint and says what came of it; never raises for a bad reply.

    Retries are not its responsibility (``max_retries=0``): there is one retry policy, the
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
        self._url = f"{spec.base_url}{spec.path}{query}"
        transport = AsgiTransport(app) if app is not None else BoundedTransport(
            connections=connections, timeout_s=timeout_s, max_body=max_body, proxy=proxy
        )  # fmt: skip
        own = {name: value.reveal() for name, value in spec.headers.items()}
        without = tuple(name for name, value in own.items() if not value)
        self._sdk = LeanOpenAI(
            api_key=spec.key.reveal(),
            base_url=spec.base_url,
            max_retries=0,
            timeout=timeout_s,
            default_headers={"Accept-Encoding": "identity", **{n: v for n, v in own.items() if v}},
            default_query=dict(spec.query),
            http_client=LeanHttpClient(transport, timeout_s=timeout_s, without=without),
        )

    async def __aexit__(self, *error: object) -> None:
        await self._sdk.close()

    async def ask(self, body: bytes, *, headers: Mapping[str, str] | None = None) -> Outcome:
        """Send one chat completion request.

        Parameters
        ----------
        body : bytes
            The request as JSON.
        headers : mapping, optional
            Further headers.

        Returns
        -------
        Outcome
        """
        started = time.perf_counter()
        try:
            # Bytes out and the raw response in: half of `create`'s time goes into walking request
            # and response types that are checked here anyway.
            reply = await self._sdk.post_prepared(self._url, body, headers=headers)
        except CALL_ERRORS as error:
            return self.failure(error, started)
        latency = time.perf_counter() - started
        if len(reply.content) > self._max_body:
            return _failed(Kind.TOO_LARGE, f"{len(reply.content)} bytes", started)
        if 300 <= reply.status_code < 400:
            return _failed(Kind.BAD_REQUEST, f"HTTP {reply.status_code}: a redirect", started)
        return read_reply(reply.content, _client_plain(reply.headers), latency)

    async def models(self) -> httpx2.Response:
        """The endpoint's list of models as it comes, bounded as every reply is.

        Raises
        ------
        openai.APIError
            As the SDK raises it: the caller distinguishes an absent list from an absent server.
        """
        return await self._sdk.get("/models", cast_to=httpx2.Response)

    @property
    def sdk(self) -> LeanOpenAI:
        """The SDK's client, for other calls than judging."""
        return self._sdk

    def failure(self, error: Exception, started: float) -> Outcome:
        """What one of `CALL_ERRORS` means."""
        if isinstance(error, openai.APIStatusError):
            answer, latency = error.response, time.perf_counter() - started
            headers = _client_plain(answer.headers)
            return read_error(answer.status_code, answer.content, headers, latency)
        if isinstance(error, openai.APITimeoutError):
            return _failed(Kind.TIMED_OUT, "no reply in time; --timeout allows more", started)
        if not isinstance(error, openai.APIConnectionError):
            return _failed(Kind.BROKEN, type(error).__name__, started)
        cause = error.__cause__
        if isinstance(cause, BodyTooLarge):
            return _failed(Kind.TOO_LARGE, str(cause), started)
        # aiohttp quotes what it could not read, and that may be anything, our own key included
        detail = one_line(scrubbed(str(cause))[:200]) or type(cause).__name__
        broken = httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError
        kind = Kind.BROKEN if isinstance(cause, broken) else Kind.UNREACHABLE
        return _failed(kind, detail, started)


class LocalClient(JudgeClient):
    """A client of a model in this process: the reply's schema goes out as a grammar.

    The grammar that llama.cpp makes of a schema allows white space, with which a small model fills
    its reply.

    Parameters
    ----------
    spec : JudgeSpec
        A judge with a local model, which is loaded.
    timeout_s : float
        Limit for one request, in seconds.
    """

    def __init__(self, spec: JudgeSpec, *, timeout_s: float) -> None:
        super().__init__(spec.launch(), connections=0, timeout_s=timeout_s)

    async def ask(self, body: bytes, *, headers: Mapping[str, str] | None = None) -> Outcome:
        """Send one chat completion request, as `JudgeClient.ask` does."""
        return await super().ask(with_grammar(body), headers=headers)


def _client_plain(headers: httpx2.Headers) -> dict[str, str]:
    """Lower-case names, decoded only once."""
    return {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in headers.raw}


def _failed(kind: Kind, detail: str, started: float) -> Outcome:
    return Outcome(kind=kind, detail=detail, latency_s=time.perf_counter() - started)
