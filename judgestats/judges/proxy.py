"""The proxy that the environment names for an endpoint; its password is kept apart."""

from __future__ import annotations

import base64
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from judgestats.errors import InputError
from judgestats.judges.spec import LOOPBACK, Secret


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
    return _read(named, f"{endpoint.scheme.upper()}_PROXY") if named else None


def _read(named: str, variable: str) -> Proxy:
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
    login = base64.b64encode(f"{unquote(parts.username)}:{password}".encode()).decode()
    return Proxy(
        url=url,
        authorization=Secret(f"Basic {login}"),
        secrets=(Secret(password), Secret(login)),
    )
