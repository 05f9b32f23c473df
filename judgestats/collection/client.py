"""Asynchronous clients of endpoints and of applications in this process, transport, and proxy."""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
import urllib.request
import zlib
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any
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

_TELEMETRY = "x-stainless-"
"""Headers about the machine (system, architecture, versions) that a judge has no use for."""
Reply = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, the headers that are ever read, and the body."""


class LeanHttpClient(httpx2.AsyncClient):
    """An httpx2 client that hands requests to its transport: no redirects, cookies or retries.

    Headers named in `without` are not sent: some servers refuse the SDK's ``Authorization``.
    """

    def __init__(
        self, transport: LeanTransport, *, timeout_s: float, without: tuple[str, ...]
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


class LeanTransport(httpx2.AsyncBaseTransport):
    """A transport that can be asked without a request and a response of httpx2."""

    @abstractmethod
    async def fetch(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes
    ) -> Reply:
        """Send one request and read its whole reply."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read its whole reply."""
        status, relevant, body = await self.fetch(
            request.method, str(request.url), _header_pairs(request.headers), request.content
        )
        return httpx2.Response(status_code=status, headers=relevant, content=body, request=request)


class AsgiTransport(LeanTransport):
    """Asks an ASGI application in this process; httpx2's own does the same in thrice the time."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def fetch(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes
    ) -> Reply:
        """Send one request and read its whole reply."""
        parts = httpx2.URL(url)
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "headers": [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in headers],
            "scheme": parts.scheme, "path": parts.path, "raw_path": parts.raw_path,
            "query_string": parts.query, "server": (parts.host, parts.port),
            "client": ("127.0.0.1", 0), "root_path": "",
        }  # fmt: skip
        status, replied, content = await asgi_reply(self._app, scope, body)
        return status, _relevant_headers(replied), content


class BoundedTransport(LeanTransport):
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

    async def fetch(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes
    ) -> Reply:
        """Send one request and read its whole reply."""
        session = self._session or self._open()
        to_proxy = self._for_proxy(url.partition(":")[0].lower(), headers)
        try:
            async with session.request(
                method, url, headers=headers, data=body or None, allow_redirects=False, **to_proxy
            ) as reply:
                if self._proxy is not None and reply.status == _PROXY_REFUSES:
                    raise httpx2.ConnectError(_proxy_message(reply.status, reply.reason))
                content = await self._read_body(reply)
                return reply.status, _relevant_headers(reply.raw_headers), content
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise httpx2.ReadTimeout(type(error).__name__) from None
        except aiohttp.ClientHttpProxyError as error:
            raise httpx2.ConnectError(_proxy_message(error.status, error.message)) from None
        except (aiohttp.ClientConnectorError, aiohttp.ClientProxyConnectionError) as error:
            raise httpx2.ConnectError(_plain(error)) from None
        except aiohttp.InvalidURL:
            raise httpx2.UnsupportedProtocol("the URL is malformed") from None
        except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError) as error:
            raise httpx2.ReadError(_plain(error)) from None

    async def _read_body(self, reply: aiohttp.ClientResponse) -> bytes:
        announced = reply.content_length or 0
        if announced > self._max_body:
            reply.close()
            raise BodyTooLarge(f"{announced} bytes announced")
        chunks: list[bytes] = []
        size = 0
        async for chunk in reply.content.iter_any():
            size += len(chunk)
            if size > self._max_body:
                reply.close()
                raise BodyTooLarge(f"more than {self._max_body} bytes")
            chunks.append(chunk)
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        body = _unpacked(body, reply.headers.get("Content-Encoding", ""), self._max_body)
        if len(body) > self._max_body:
            raise BodyTooLarge(f"expands to more than {self._max_body} bytes")
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


def _header_pairs(headers: httpx2.Headers) -> list[tuple[str, str]]:
    """Names and values in latin-1, any header's encoding; httpx2's own view guesses one."""
    return [(k.decode("latin-1"), v.decode("latin-1")) for k, v in headers.raw]


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
        self._transport = transport = AsgiTransport(app) if app is not None else BoundedTransport(
            connections=connections, timeout_s=timeout_s, max_body=max_body, proxy=proxy
        )  # fmt: skip
        own = {name: value.reveal() for name, value in spec.headers.items()}
        without = tuple(name for name, value in own.items() if not value)
        self._sdk = AsyncOpenAI(
            api_key=spec.key.reveal(),
            base_url=spec.base_url,
            max_retries=0,
            timeout=timeout_s,
            default_headers={"Accept-Encoding": "identity", **{n: v for n, v in own.items() if v}},
            default_query=dict(spec.query),
            http_client=LeanHttpClient(transport, timeout_s=timeout_s, without=without),
        )
        sent = httpx2.Headers(self._sdk.auth_headers)
        sent.update({n: v for n, v in self._sdk.default_headers.items() if isinstance(v, str)})
        for name in without:
            sent.pop(name, None)
        pairs = _header_pairs(sent)
        self._headers = [h for h in pairs if not h[0].lower().startswith(_TELEMETRY)]

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
        sent = [*self._headers, *(headers or {}).items()]
        try:
            # The SDK's headers without its request and response, which take as long as sending.
            status, pairs, content = await self._transport.fetch("POST", self._url, sent, body)
        except (httpx2.RequestError, ConnectionError, ssl.SSLError) as error:
            return _broken(error, started)
        latency = time.perf_counter() - started
        replied = _client_plain(pairs)
        if not 200 <= status < 300:
            return read_error(status, content, replied, latency)
        if len(content) > self._max_body:
            return _failed(Kind.TOO_LARGE, f"{len(content)} bytes", started)
        return read_reply(content, replied, latency)

    async def models(self) -> httpx2.Response:
        """The endpoint's list of models as it comes, bounded as every reply is.

        Raises
        ------
        openai.APIError
            As the SDK raises it: the caller distinguishes an absent list from an absent server.
        """
        return await self._sdk.get("/models", cast_to=httpx2.Response)

    @property
    def sdk(self) -> AsyncOpenAI:
        """The SDK's client, for other calls than judging."""
        return self._sdk

    def failure(self, error: Exception, started: float) -> Outcome:
        """What one of `CALL_ERRORS` means."""
        if isinstance(error, openai.APIStatusError):
            answer, latency = error.response, time.perf_counter() - started
            headers = _client_plain(answer.headers.raw)
            return read_error(answer.status_code, answer.content, headers, latency)
        broken = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
        return _broken(broken, started)


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


def _broken(error: BaseException | None, started: float) -> Outcome:
    """What it means that no reply came."""
    if isinstance(error, httpx2.TimeoutException):
        return _failed(Kind.TIMED_OUT, "no reply in time; --timeout allows more", started)
    if isinstance(error, BodyTooLarge):
        return _failed(Kind.TOO_LARGE, str(error), started)
    if isinstance(error, ConnectionError):
        return _failed(Kind.BROKEN, type(error).__name__, started)
    # aiohttp quotes what it could not read, and that may be anything, our own key included
    detail = one_line(scrubbed(str(error))[:200]) or type(error).__name__
    broken = httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError
    kind = Kind.BROKEN if isinstance(error, broken) else Kind.UNREACHABLE
    return _failed(kind, detail, started)


def _client_plain(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Lower-case names, decoded only once."""
    return {k.lower().decode("latin-1"): v.decode("latin-1") for k, v in headers}


def _failed(kind: Kind, detail: str, started: float) -> Outcome:
    return Outcome(kind=kind, detail=detail, latency_s=time.perf_counter() - started)
