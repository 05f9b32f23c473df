"""What must not be repeated: keys and passwords, in whatever form they are quoted.

A secret is noted once, where it is first read, and every text that leaves the process passes
`scrubbed`: what a server replies (after decoding, so that no escape hides it), messages of errors,
and everything that is printed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

_SHORTEST = 8
"""A shorter key (``x``, ``EMPTY``) is a placeholder: looking for it would maim honest texts."""
_PLACEHOLDERS = frozenset({"no-key-needed", "not-needed"})
_STARS = "***"
_ADDRESSES = (
    "MLFLOW_TRACKING_URI",
    "MLFLOW_REGISTRY_URI",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
)
"""Variables of the environment that hold an address, and perhaps a password in it."""
_VALUES = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")

_forms: dict[str, None] = {}
_in_html: dict[str, re.Pattern[str]] = {}
"""By secret: each of its characters as it is or as an entity, in any mixture."""


def keep_secret(value: str) -> None:
    """Note a key or password: from now on `scrubbed` takes all its forms out of any text.

    Parameters
    ----------
    value : str
        Shorter than 8 characters it is treated as a placeholder.
    """
    if len(value) >= _SHORTEST and value not in _PLACEHOLDERS:
        _forms.update(dict.fromkeys(_forms_of(value)))
        longest_first = sorted(_forms, key=len, reverse=True)  # one secret may hold another
        _forms.clear()
        _forms.update(dict.fromkeys(longest_first))
        _in_html[value] = re.compile("".join(map(_entity, value)))


def keep_secrets_of() -> None:
    """Note what the environment holds for MLflow and proxies."""
    from urllib.parse import unquote

    for name in _VALUES:
        keep_secret(os.environ.get(name, ""))
    for name in _ADDRESSES:
        password = _password(os.environ.get(name, ""))
        keep_secret(password)
        keep_secret(unquote(password))


def scrubbed(text: str) -> str:
    """A text without any secret that was noted.

    Examples
    --------
    >>> keep_secret("doctest/secret+0815")
    >>> scrubbed("doctest/secret+0815, doctest%2Fsecret%2B0815, ZG9jdGVzdC9zZWNyZXQrMDgxNQ==")
    '***, ***, ***Q=='
    """
    for form in _forms:
        if form in text:
            text = text.replace(form, _STARS)
    if "&" in text:
        for pattern in _in_html.values():
            text = pattern.sub(_STARS, text)
    return text


@cache
def _entity_names() -> dict[str, list[str]]:
    """The names of a character in HTML, as patterns."""
    from html.entities import html5  # here and below: only where there is a secret (--help)

    names: dict[str, list[str]] = {}
    for name, character in html5.items():
        names.setdefault(character, []).append(re.escape(name))
    return names


def _entity(character: str) -> str:
    """A pattern of a character and its entities, escaped up to four times.

    Examples
    --------
    >>> forms = ("/", "&#47;", "&#x02F;", "&amp;sol;", "&#4;")
    >>> [bool(re.fullmatch(_entity("/"), form)) for form in forms]
    [True, True, True, True, False]
    """
    code = ord(character)
    digits = "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in f"{code:x}")
    forms = [
        rf"#0{{0,7}}{code};?",
        rf"#[xX]0{{0,7}}{digits};?",
        *_entity_names().get(character, ()),
    ]
    return f"(?:{re.escape(character)}|&(?:amp;){{0,4}}(?:{'|'.join(forms)}))"


def _forms_of(value: str) -> Iterator[str]:
    import base64
    import json
    from urllib.parse import quote, quote_plus

    # A variable of the environment can hold bytes that are not UTF-8.
    raw = re.sub("[\ud800-\udc7f\udd00-\udfff]", "?", value).encode("utf-8", "surrogateescape")
    yield value
    yield value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    yield quote(raw, safe="")
    yield quote_plus(raw)
    yield re.sub("%..", lambda m: m[0].lower(), quote(raw, safe=""))
    yield json.dumps(value)[1:-1]
    yield json.dumps(json.dumps(value)[1:-1])[1:-1]
    yield "".join(f"\\u{ord(c):04x}" for c in value)
    yield raw.hex()
    yield raw.hex().upper()
    for before in range(3):  # where in a longer text that is encoded as a whole it may stand
        # Characters at the ends also hang on what stands before and behind: they are left.
        body = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        whole = (before + len(raw)) % 3 == 0
        body = body[(0, 2, 3)[before] : len(body) if whole else -1]
        if len(body) >= _SHORTEST:
            yield body
            yield body.replace("+", "-").replace("/", "_")


def _password(address: str) -> str:
    from urllib.parse import urlsplit

    try:
        return urlsplit(address if "://" in address else f"//{address}").password or ""
    except ValueError:
        return ""
