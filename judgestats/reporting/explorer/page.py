"""One HTML file from a payload: modules bundled, a policy that names their hashes, data packed."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from judgestats.errors import InputError, guard_output
from judgestats.reporting.tokens import css_tokens

PAGE = "explore.html"
"""Name of the page of a run."""
ASSETS = Path(__file__).resolve().parent / "assets"
MODULES = (  # a module follows those that it imports
    "dom", "format", "store", "select", "permalink", "text", "header", "filters", "review",
    "detail", "counts", "figure", "matrix", "blind", "main",
)  # fmt: skip
_MARK = '<meta name="generator" content="judgestats view">'
"""Line that marks a page of judgestats."""


@cache
def bundle() -> str:
    """Return all modules as one: imports and the word ``export`` are left out."""
    parts = []
    for name in MODULES:
        text = (ASSETS / f"{name}.js").read_text(encoding="utf-8")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^export (?=const|class|function|async)", "", text, flags=re.MULTILINE)
        parts.append(f"// {name}.js\n{text}")
    return _smaller("".join(parts))


@cache
def style() -> str:
    """Return the style sheet of the page."""
    return _smaller(css_tokens() + (ASSETS / "page.css").read_text(encoding="utf-8"))


def _smaller(text: str) -> str:
    """Indentation and lines that are comments left out; what runs stays readable."""
    text = re.sub(r"^\s*/\*\*?(?:[^*]|\*(?!/))*\*/\s*\n", "", text, flags=re.MULTILINE)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("// "))


def packed(payload: Mapping[str, Any]) -> bytes:
    """Return a payload as gzipped JSON, the same bytes for the same payload.

    Parameters
    ----------
    payload : mapping
        As `judgestats.reporting.explorer.payload` makes it; numbers are finite.

    Returns
    -------
    bytes
    """
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return gzip.compress(text.encode("utf-8", "surrogatepass"), 6, mtime=0)


def policy(*, served: bool = False) -> str:
    """Return the content security policy of the page; a served one may ask its own server."""
    script, sheet = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (bundle(), style())
    )
    own = " connect-src 'self';" if served else ""
    return (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{sheet}';{own} "
        "base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def html_page(data: bytes, *, served: bool = False) -> str:
    """Return the page with its data.

    Parameters
    ----------
    data : bytes
        As `packed` returns them; none where the page asks its server.
    served : bool
        Whether the page may ask the server that it came from.

    Returns
    -------
    str

    Examples
    --------
    >>> text = html_page(b"")
    >>> text.count("<script"), "unsafe" in text
    (2, False)
    """
    parts = {
        "POLICY": policy(served=served), "STYLE": style(), "SCRIPT": bundle(),
        "DATA": base64.b64encode(data).decode(),
    }  # fmt: skip
    text = (ASSETS / "page.html").read_text(encoding="utf-8")
    # One pass: what is filled in is never searched for a further placeholder.
    return re.sub(r"\b(?:POLICY|STYLE|SCRIPT|DATA)\b", lambda m: parts[m.group()], text)


def write_page(text: str, path: Path) -> None:
    """Write a page; a file that is there is replaced only if it is such a page.

    Parameters
    ----------
    text : str
        As `html_page` returns it.
    path : Path

    Raises
    ------
    InputError
        A file of this name was not written by judgestats, or the place takes no file.
    """
    with guard_output(path):
        if path.exists():
            with path.open("rb") as file:
                start = file.read(2000)
            if _MARK.encode() not in start:
                raise InputError(
                    f"view: {path} exists and was not written by judgestats. Choose --out."
                )
        path.write_text(text, encoding="utf-8", newline="\n")
