"""Asynchronous clients of endpoints and of applications in this process, transport, and proxy."""

from __future__ import annotations

import asyncio
import base64
import urllib.request
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp

from judgestats.collection.app_client import (
    MAX_BODY_BYTES,
    AppClient,
    AsgiApp,
    CallError,
    Reply,
    plain_headers,
)
from judgestats.collection.local_model import with_grammar
from judgestats.collection.retry import Kind, Outcome, one_line
from judgestats.collection.spec import LOOPBACK, JudgeSpec, Secret
from judgestats.errors import InputError
from judgestats.redaction import keep_secret, scrubbed


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """An HTTP proxy.

    Attributes
    ----------
    url : str
        Without user's name and password, so that no error that quotes it shows them.
    authorization : Secret or None
        Value of the header ``Proxy-Authorization``.
    """

    url: str
    authorization: Secret | None = None


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
    for form in (password, login):  # neither is ever repeated
        keep_secret(form)
    return Proxy(url=url, authorization=Secret(f"Basic {login}"))


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


_PROXY_REFUSES = 407


class JudgeClient(AppClient):
    """A client over the network, by an aiohttp session.

    Parameters
    ----------
    spec : JudgeSpec
        Any judge of the endpoint; its URL and key are used.
    connections : int
        Size of the connection pool.
    timeout_s : float
        Limit for a whole request, in seconds, waiting for a connection included.
    app : ASGI application, optional
        Asked in process instead.
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
        super().__init__(spec, app, max_body=max_body)
        self._connections = connections
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=min(timeout_s, 15.0))
        self._session: aiohttp.ClientSession | None = None
        # Looked up once: aiohttp's own `trust_env` asks a thread for it (and for ~/.netrc) at
        # every request, and its errors quote the password.
        self._proxy = proxy_for(spec.base_url) if app is None else None

    async def __aexit__(self, *error: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        if self._app is not None:
            return await super()._send(method, url, headers, body)
        session = self._session or self._open()
        try:
            async with session.request(
                method, url, data=body or None, allow_redirects=False,
                **self._by_proxy(url, headers),
            ) as reply:  # fmt: skip
                if self._proxy is not None and reply.status == _PROXY_REFUSES:
                    raise _unreachable(_proxy_message(reply.status, reply.reason))
                body = await self._read_body(reply)
                return Reply(reply.status, plain_headers(reply.raw_headers), body)
        except (TimeoutError, aiohttp.ServerTimeoutError):
            raise CallError(Kind.TIMED_OUT, "no reply in time; --timeout allows more") from None
        except aiohttp.ClientHttpProxyError as error:
            raise _unreachable(_proxy_message(error.status, error.message)) from None
        except (aiohttp.ClientConnectorError, aiohttp.ClientProxyConnectionError) as error:
            raise _unreachable(_plain(error)) from None
        except aiohttp.InvalidURL:
            raise _unreachable("the URL is malformed") from None
        except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError) as error:
            raise CallError(Kind.BROKEN, _shown(_plain(error))) from None

    async def _read_body(self, reply: aiohttp.ClientResponse) -> bytes:
        announced = reply.content_length or 0
        if announced > self._max_body:
            reply.close()
            raise CallError(Kind.TOO_LARGE, f"{announced} bytes announced")
        chunks: list[bytes] = []
        size = 0
        async for chunk in reply.content.iter_any():
            size += len(chunk)
            if size > self._max_body:
                reply.close()
                raise CallError(Kind.TOO_LARGE, f"more than {self._max_body} bytes")
            chunks.append(chunk)
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        body = _unpacked(body, reply.headers.get("Content-Encoding", ""), self._max_body)
        if len(body) > self._max_body:
            raise CallError(Kind.TOO_LARGE, f"expands to more than {self._max_body} bytes")
        return body

    def _by_proxy(self, url: str, headers: Mapping[str, str]) -> dict[str, Any]:
        """Headers, and what `aiohttp` needs for the proxy; the login is never in its address."""
        proxy = self._proxy
        if proxy is None or proxy.authorization is None:
            return {"headers": headers, "proxy": proxy and proxy.url}
        login = {"Proxy-Authorization": proxy.authorization.reveal()}
        if url.startswith("https:"):  # for the proxy alone, when the tunnel is opened
            return {"headers": headers, "proxy": proxy.url, "proxy_headers": login}
        return {"headers": {**headers, **login}, "proxy": proxy.url}

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=60),
            timeout=self._timeout,
            auto_decompress=False,  # "identity" is asked for; `_unpacked` is bounded
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session


def _shown(text: str) -> str:
    # aiohttp quotes what it could not read, and that may be anything, our own key included
    return one_line(scrubbed(text)[:200])


def _unreachable(text: str) -> CallError:
    return CallError(Kind.UNREACHABLE, _shown(text))


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
