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
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp
import httpx2

from judgestats.collection.app_client import AsgiApp, asgi_reply
from judgestats.collection.local_model import with_grammar
from judgestats.collection.response import read_error, read_reply
from judgestats.collection.retry import Kind, Outcome, one_line
from judgestats.collection.spec import LOOPBACK, JudgeSpec, Secret
from judgestats.errors import InputError
from judgestats.redaction import scrubbed
from judgestats.version import __version__


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
        raise InputError(
            f"{variable} (in the environment) names no proxy that can be used: expected "
            "http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, special characters as %XX. Its "
            "value is not shown here."
        )
    shown = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme}://{shown}" + (f":{port}" if port is not None else "")
    if parts.username is None:
        return Proxy(url=url)
    password = unquote(parts.password or "")
    pair = f"{unquote(parts.username)}:{password}".encode(errors="surrogateescape")
    login = base64.b64encode(pair).decode()
    return Proxy(
        url=url,
        authorization=Secret(f"Basic {login}"),
        secrets=(Secret(password), Secret(login)),
    )


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
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path,
            "query_string": url.query,
            "server": (url.host, url.port),
            "client": ("127.0.0.1", 0),
            "root_path": "",
        }
        status, headers, content = await asgi_reply(self._app, scope, request.content)
        return httpx2.Response(
            status_code=status,
            headers=_relevant_headers(headers),
            content=content,
            request=request,
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
                return httpx2.Response(
                    status_code=reply.status,
                    headers=_relevant_headers(reply.raw_headers),
                    content=body,
                    request=request,
                )
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise httpx2.ReadTimeout(type(error).__name__, request=request) from None
        except aiohttp.ClientHttpProxyError as error:
            raise httpx2.ConnectError(
                _proxy_message(error.status, error.message), request=request
            ) from None
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
    b"content-type",
    b"retry-after",
    b"x-ratelimit-",
    b"anthropic-ratelimit-",
    b"location",
    b"x-request-id",
)


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
        return (
            "the server's certificate is not trusted, or TLS fails: "
            f"{_tls_reason(error)[:60]}; for a private authority name its file in SSL_CERT_FILE "
            "(judges) and REQUESTS_CA_BUNDLE (MLflow)"
        )
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    strerror = getattr(inner, "strerror", None)
    return f"{type(inner).__name__}: {strerror or inner}"


def _tls_reason(error: BaseException) -> str:
    inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", error)
    return str(getattr(inner, "verify_message", "") or getattr(inner, "reason", "") or inner)


class CallError(Exception):
    """A call that gave no reply with a status of success; `outcome` says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


class JudgeClient(AbstractAsyncContextManager["JudgeClient"]):
    """Sends a request's body to an endpoint and says what came of it; never raises for a bad reply.

    Retries are not its responsibility: there is one retry policy, the collector's. Redirects are
    not followed. Use it as ``async with``.

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
        self._spec = spec
        self._urls: dict[str, httpx2.URL] = {}
        self._transport: httpx2.AsyncBaseTransport = (
            BoundedTransport(
                connections=connections, timeout_s=timeout_s, max_body=max_body, proxy=proxy
            )
            if app is None
            else AsgiTransport(app)
        )
        headers = httpx2.Headers(
            {
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": f"judgestats/{__version__}",
                "Authorization": f"Bearer {spec.key.reveal()}",
            }
        )
        headers.update({name: value.reveal() for name, value in spec.headers.items()})
        self._headers = {name: value for name, value in headers.items() if value}

    async def __aexit__(self, *error: object) -> None:
        await self._transport.aclose()

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
        own = {"Content-Type": "application/json", "Idempotency-Key": request_id, **(headers or {})}
        outcome, _ = await self.exchange("POST", self._spec.path, content=body, headers=own)
        return outcome

    async def exchange(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        **content: Any,
    ) -> tuple[Outcome, httpx2.Response | None]:
        """What came of a call, read as a completion, and its reply if there was one."""
        started = time.perf_counter()
        request = httpx2.Request(
            method, self._url(path), headers={**self._headers, **(headers or {})}, **content
        )
        await request.aread()
        try:
            reply = await self._transport.handle_async_request(request)
        except (httpx2.TransportError, ConnectionError) as error:
            return _call_failure(error, started), None
        latency, body = time.perf_counter() - started, reply.content
        if len(body) > self._max_body:
            return _failed(Kind.TOO_LARGE, f"{len(body)} bytes", started), reply
        if 300 <= reply.status_code < 400:
            return _failed(
                Kind.BAD_REQUEST, f"HTTP {reply.status_code}: a redirect", started
            ), reply
        plain = {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in reply.headers.raw}
        if reply.is_success:
            return read_reply(body, plain, latency), reply
        return read_error(reply.status_code, body, plain, latency), reply

    async def fetch(self, method: str, path: str, **content: Any) -> bytes:
        """The body of a reply that is no completion.

        Raises
        ------
        CallError
            If nothing came, or another status than success.
        """
        outcome, reply = await self.exchange(method, path, **content)
        if reply is None or not reply.is_success or outcome.kind is Kind.TOO_LARGE:
            raise CallError(outcome)
        return reply.content

    def _url(self, path: str) -> httpx2.URL:
        if path not in self._urls:
            url = httpx2.URL(f"{self._spec.base_url}{path}")
            self._urls[path] = url.copy_merge_params(self._spec.query) if self._spec.query else url
        return self._urls[path]


def _call_failure(error: Exception, started: float) -> Outcome:
    """What a call means to which no reply came."""
    if isinstance(error, httpx2.TimeoutException):
        return _failed(Kind.TIMED_OUT, "no reply in time; --timeout allows more", started)
    if isinstance(error, BodyTooLarge):
        return _failed(Kind.TOO_LARGE, str(error), started)
    if isinstance(error, ConnectionError):  # the in-process server breaks it off
        return _failed(Kind.BROKEN, type(error).__name__, started)
    # aiohttp quotes what it could not read, and that may be anything, our own key included
    detail = one_line(scrubbed(str(error))[:200]) or type(error).__name__
    if isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError):
        return _failed(Kind.BROKEN, detail, started)
    return _failed(Kind.UNREACHABLE, detail, started)


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

    async def ask(
        self, body: bytes, *, headers: Mapping[str, str] | None = None, request_id: str = ""
    ) -> Outcome:
        """Send one chat completion request, as `JudgeClient.ask` does."""
        return await super().ask(with_grammar(body), headers=headers, request_id=request_id)


def _failed(kind: Kind, detail: str, started: float) -> Outcome:
    return Outcome(kind=kind, detail=detail, latency_s=time.perf_counter() - started)
