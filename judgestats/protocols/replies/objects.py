"""JSON in a reply: strict, decimals kept as written, repeated keys seen, bounded work."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from judgestats.json_text import clean, clean_json

_MOST_TRIES = 100
_START = re.compile(r'\{\s{0,100}"')
_WRAPPINGS = ("arguments", "parameters")


class Number(str):
    """A JSON number as it is written: neither rounded nor overflowing."""

    __slots__ = ()


class TangledError(Exception):
    """A text with so many beginnings of objects that it is not searched for one."""


class Object:
    """A JSON object with all its keys, also repeated ones.

    Examples
    --------
    >>> whole_object('{"Score ": 8, "score": 7}').values("score")
    ['8', '7']
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs

    def values(self, key: str) -> list[Any]:
        """All values of a key, compared without case and outer space."""
        return [v for k, v in self.pairs if k.strip().lower() == key]

    def text(self, key: str) -> str:
        """The first value of a key if it is a text, else nothing."""
        return next((v for v in self.values(key) if type(v) is str), "")

    def unwrapped(self, field: str, tool: str) -> Object:
        """The object with the field: this one, or the one that a tool call wraps."""
        if self.values(field):
            return self
        names = (*_WRAPPINGS, *([tool.lower()] if tool else []))
        inside = [v for name in names for v in self.values(name)]
        if len(inside) != 1:
            return self
        inner = whole_object(inside[0]) if type(inside[0]) is str else inside[0]
        return inner if isinstance(inner, Object) else self


@dataclass(frozen=True)
class PlacedObject:
    """An object and where it stands."""

    value: Object
    start: int
    end: int


def _object(pairs: list[tuple[str, Any]]) -> Object:
    return Object([(clean(key), clean_json(value)) for key, value in pairs])


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


# strict=False lets raw line breaks and tabs stand in strings, which changes no meaning.
_DECODER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=_object,
    parse_int=Number,
    parse_float=Number,
    parse_constant=_no_constant,
)


def object_at(text: str, start: int) -> PlacedObject | None:
    """The object that begins at a place of a text, if one does."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):  # no JSON, or nested beyond sense
        return None
    return PlacedObject(value, start, end) if isinstance(value, Object) else None


def whole_object(text: str) -> Object | None:
    """The object that a text is from end to end.

    Examples
    --------
    >>> whole_object('{"score": 1e400}').values("score")
    ['1e400']
    >>> whole_object('{"score": 8,}') is None
    True
    """
    text = text.strip()
    placed = object_at(text, 0) if text.startswith("{") else None
    return placed.value if placed is not None and placed.end == len(text) else None


def objects_with(text: str, field: str, tool: str) -> Iterator[PlacedObject]:
    """All objects of a text, not those inside of others, that have the field asked for.

    Raises
    ------
    TangledError
        After a hundred beginnings of objects that are none: work stays linear in the length.
    """
    start, tries = 0, 0
    while True:
        beginning = _START.search(text, start)
        if beginning is None:
            return
        placed = object_at(text, beginning.start())
        if placed is None:
            tries += 1
            if tries > _MOST_TRIES:
                raise TangledError
            start = beginning.start() + 1
            continue
        start = placed.end
        inner = placed.value.unwrapped(field, tool)
        if inner.values(field):
            yield PlacedObject(inner, placed.start, placed.end)
