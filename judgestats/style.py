"""Wording of messages that several layers share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextvars import ContextVar

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
