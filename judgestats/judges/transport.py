"""How a request travels: aiohttp under the SDK's client, with bounded time and bounded bodies.

The SDK ships an aiohttp transport of its own (``DefaultAioHttpClient``). This one differs in three
points that judging at scale needs: a reply's body is bounded while it is read (a reply is untrusted
data), one time limit covers the whole request, and the body is handed over in one piece, which
saves a third of the CPU a request costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import aiohttp
import httpx2

from judgestats.judges.app_client import AsgiApp, Message
from judgestats.judges.proxy import Proxy

MAX_BODY_BYTES = 8 * 1024 * 1024
"""Default bound of a reply's body. The longest honest reply of a judge is some 100 KB."""
_PROXY_REFUSES = 407


class BodyTooLarge(httpx2.ReadError):
    """A reply's body exceeded the bound; the connection was dropped."""


class InProcessTransport(httpx2.AsyncBaseTransport):
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
        status = 500
        headers: list[tuple[bytes, bytes]] = []
        chunks: list[bytes] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": request.content, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status, headers = message["status"], list(message.get("headers", []))
            elif message["type"] == "http.response.body":
                chunks.append(message.get("body", b""))

        await self._app(scope, receive, send)
        return httpx2.Response(
            status_code=status,
            headers=_of_interest(headers),
            content=b"".join(chunks),
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
                    raise httpx2.ConnectError(_of_proxy(reply.status, reply.reason))
                body = await self._read(reply, request)
                return httpx2.Response(
                    status_code=reply.status,
                    headers=_of_interest(reply.raw_headers),
                    content=body,
                    request=request,
                )
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise httpx2.ReadTimeout(type(error).__name__, request=request) from None
        except aiohttp.ClientHttpProxyError as error:
            raise httpx2.ConnectError(
                _of_proxy(error.status, error.message), request=request
            ) from None
        except (aiohttp.ClientConnectorError, aiohttp.ClientProxyConnectionError) as error:
            raise httpx2.ConnectError(_plain(error), request=request) from None
        except aiohttp.InvalidURL:
            raise httpx2.UnsupportedProtocol("the URL is malformed", request=request) from None
        except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError) as error:
            raise httpx2.ReadError(_plain(error), request=request) from None

    async def _read(self, reply: aiohttp.ClientResponse, request: httpx2.Request) -> bytes:
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
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _for_proxy(self, scheme: str, headers: list[tuple[str, str]]) -> dict[str, Any]:
        """What `aiohttp` needs to go through the proxy; the login never stands in its address."""
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
            auto_decompress=False,  # "identity" is asked for: a bomb cannot unfold
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


def _of_interest(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers that are ever read.

    Content-encoding is not among them: a body compressed unasked stays as it is, and reads as
    malformed.
    """
    return [h for h in headers if h[0].lower().startswith(_INTERESTING)]


def _of_proxy(status: int, words: str | None) -> str:
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
