"""Standard output and standard error: the only module that writes to them.

A pipe that closes, a full disk or a narrow encoding changes what is seen, and nothing else: neither
the status of a run nor the exit code of a command.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from contextvars import ContextVar
from typing import TextIO

_PLAIN_FORMS = "judgestats-plain-forms"
_FORMS = {
    "\u2212": "-", "\u2013": "-", "\u2014": "-", "\u2010": "-", "\u2011": "-",
    "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00ab": '"', "\u00bb": '"',
    "\u00b1": "+/-", "\u00d7": "x", "\u00b7": "|", "\u2022": "*", "\u00f7": "/",
    "\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "\u2248": "~", "\u221a": "sqrt ",
    "\u2192": "->", "\u2190": "<-", "\u2194": "<->", "\u221e": "inf", "\u2208": "in",
    "\u2500": "-", "\u2501": "-", "\u2502": "|", "\u251c": "|", "\u2514": "`", "\u2578": "-",
    "\u257a": "-", "\u2588": "#", "\u2593": "#", "\u2592": "+", "\u2591": ".", "\u2713": "ok",
    "\u2717": "no", "\u25c1": "<", "\u25b7": ">", "\u20ac": "EUR", "\u00a3": "GBP",
    "\u00df": "ss", "\u00b0": " deg",
    "\u03b1": "alpha", "\u03b2": "beta", "\u03b3": "gamma", "\u03b4": "delta", "\u03b5": "epsilon",
    "\u03b7": "eta", "\u03b8": "theta", "\u03ba": "kappa", "\u03bb": "lambda", "\u03bc": "mu",
    "\u03c0": "pi", "\u03c1": "rho", "\u03c3": "sigma", "\u03c4": "tau", "\u03c6": "phi",
    "\u03c7": "chi", "\u03c9": "omega", "\u0394": "Delta", "\u03a3": "Sigma", "\u03a6": "Phi",
}  # fmt: skip
"""ASCII replacements for the signs of screens, tables and statistics."""


def _plain_form(character: str) -> str:
    if character in _FORMS:
        return _FORMS[character]
    parts = unicodedata.normalize("NFKD", character)
    return "".join(_FORMS.get(p, p) for p in parts if p.isascii() or p in _FORMS) or "?"


def _encode_error(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks by its plain form (a handler of `codecs`)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain_form, error.object[error.start : error.end])), error.end


codecs.register_error(_PLAIN_FORMS, _encode_error)
_RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
"""Variables of CI runners that execute commands in what a program prints."""
_COMMAND = re.compile(r"^\s*:(?=:)|##(?=\[|vso\[|teamcity\[)", re.MULTILINE)


def emit(text: str, *, error: bool = False) -> None:
    """Write text to standard output at once; where nobody can read it, go on.

    Parameters
    ----------
    text : str
        Ready to be shown, line ends included.
    error : bool
        To standard error.
    """
    stream = _stream(error=error)
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    text = text.encode(encoding, _PLAIN_FORMS).decode(encoding)
    if any(name in os.environ for name in _RUNNERS):  # plain forms can make a command too
        text = _COMMAND.sub(lambda prefix: f"{prefix[0]} ", text)
    # closed pipe, full disk, closed stream: the results do not depend on who reads them
    with contextlib.suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()


def is_terminal(*, error: bool = False) -> bool:
    """Whether a person reads standard output, or standard error."""
    stream = _stream(error=error)
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def can_show(text: str) -> bool:
    """Whether standard output has every character of a text.

    Examples
    --------
    >>> can_show("kappa")
    True
    """
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _stream(*, error: bool) -> TextIO | None:
    """A standard stream; a program without a console has none."""
    return sys.stderr if error else sys.stdout


class _Output(io.TextIOWrapper):
    """A standard stream of a command, whoever writes to it: what cannot be written is dropped."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except (OSError, ValueError):
            self._drop()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except (OSError, ValueError):
            self._drop()

    def _drop(self) -> None:
        """From now on write to nowhere, so that the interpreter's last flush succeeds."""
        with contextlib.suppress(OSError, ValueError):  # closed: there is nothing to flush
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


def own_streams() -> None:
    """Make the standard streams of this process ones that never fail.

    A stream that is closed becomes one to nowhere: a file opened later must not get its number,
    or whatever is printed would be written into that file.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is not getattr(sys, f"__{name}__"):
            continue  # another program's, such as that of a test
        own: _Output
        if stream is None:
            own = _Output(io.FileIO(number, "wb", closefd=False), "utf-8")
        else:
            encoding, lines = stream.encoding, stream.line_buffering
            through = stream.write_through
            own = _Output(
                stream.detach(),
                encoding,
                _PLAIN_FORMS,
                line_buffering=lines,
                write_through=through,
            )
        setattr(sys, name, own)
        setattr(sys, f"__{name}__", own)


OPTIONS = "--{name} {value}"
"""As `judgestats run` takes parameters."""
MLFLOW = "-P {name}={value}"
"""As `mlflow run` does; `judgestats run` takes it too."""

_FORM: ContextVar[tuple[str, frozenset[str]]] = ContextVar("form", default=("", frozenset()))
_HINT = re.compile(
    r"(?<![\w.'\"/:?&-])(?<!-P )([a-z_]+)=(\.\.\.|[^\s;()'\"]+?)(?=[.,;:)]*(?:\s|$))"
)
"""A hint, its value without the sentence's own stops; nothing behind a path, an option, a quote."""


def spelled_for(form: str, names: Iterable[str]) -> None:
    """From here on, hints that name one of these parameters are written in this form."""
    _FORM.set((form, frozenset(names)))


def option(name: str, value: str = "") -> str:
    """A parameter as the user would write it.

    Examples
    --------
    >>> option("items", "my.jsonl")
    'items=my.jsonl'
    """
    form, names = _FORM.get()
    if not form or name not in names:
        return f"{name}={value}" if value else name
    if not value:
        return f"--{name.replace('_', '-')}" if form == OPTIONS else name
    shown = name.replace("_", "-") if form == OPTIONS else name
    return form.format(name=shown, value=value)


def as_typed(text: str) -> str:
    """A message with its hints (``items=FILE``) in the form that the user types.

    Examples
    --------
    >>> spelled_for(OPTIONS, ["judges", "base_url"])
    >>> as_typed("Name two, as in judges=a,b. Or set base_url=http://host/v1.")
    'Name two, as in --judges a,b. Or set --base-url http://host/v1.'
    >>> spelled_for("", [])
    """
    form, names = _FORM.get()
    if not form:
        return text
    return _HINT.sub(lambda m: option(m[1], m[2]) if m[1] in names else m[0], text)
