"""Text and JSON from outside: every string in the result is text that UTF-8 can hold."""

from __future__ import annotations

import json
import math
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any, NewType

Text = NewType("Text", str)
"""A text without NUL and lone surrogates; `clean` alone makes it."""
MAX_TEXT = 200_000
DEEPEST = 64
"""Levels of lists and objects in one another."""
MAX_ITEMS = 5_000_000
"""Values in one JSON value."""
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
"""NUL and lone surrogates: JSON escapes of plain ASCII letters can make them."""
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A string of JSON, also one that does not end."""
_MOST_DIGITS = 400
_LONG_NUMBER = re.compile(rf"[0-9](?<![0-9][0-9])[0-9]{{{_MOST_DIGITS - 1}}}")
"""A pattern that begins with a digit is found in a third of the time of one that looks behind."""


class NestedError(ValueError):
    """JSON that is nested too deeply."""


def clean(text: str) -> Text:
    r"""Replace lone surrogates and NUL by U+FFFD; nothing else changes.

    Examples
    --------
    >>> clean("good " + chr(0xD83D)) == "good " + chr(0xFFFD)
    True
    """
    return Text(_NOT_TEXT.sub("\ufffd", text) if _NOT_TEXT.search(text) else text)


def clean_json(value: Any, *, keep_last: bool = False) -> Any:
    """A decoded JSON value with all its strings clean, keys too.

    Raises
    ------
    ValueError
        Two keys of one object differ only in characters that are replaced, and not `keep_last`.

    Examples
    --------
    >>> clean_json({"a" + chr(0): [chr(0xD83D), 1]}) == {"a" + chr(0xFFFD): [chr(0xFFFD), 1]}
    True
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_json(v, keep_last=keep_last) for v in value]
    if isinstance(value, dict):
        whole = {clean_json(k): clean_json(v, keep_last=keep_last) for k, v in value.items()}
        if len(whole) < len(value) and not keep_last:
            raise ValueError("two keys of one object differ only in characters that are not text")
        return whole
    return value


def decode_json(
    raw: str | bytes,
    *,
    keep_last: bool = False,
    nan: bool = True,
    lenient: bool = False,
    max_items: int = MAX_ITEMS,
) -> Any:
    r"""Decode one JSON value and clean its strings: the only decoder of JSON.

    Parameters
    ----------
    raw : str or bytes
    keep_last : bool
        Of equal keys of one object the last counts. By default they are refused.
    nan : bool
        Whether ``NaN`` and ``Infinity``, which Python's tools write, are let through.
    lenient : bool
        A number of more than 400 digits becomes infinity. Of keys that differ only in characters
        outside Unicode text, the last counts. A paid reply is kept in both cases.
    max_items : int
        Most values in it.

    Raises
    ------
    NestedError
        It is nested deeper than 64 levels.
    ValueError
        It is not JSON, holds a key twice, a number of more than 400 digits, or too many values.

    Examples
    --------
    >>> decode_json(rb'{"explanation": "good \ud83d"}') == {"explanation": "good " + chr(0xFFFD)}
    True
    >>> decode_json('{"score": 5, "score": 9}')
    Traceback (most recent call last):
    ValueError: the key 'score' stands twice in one object
    """
    text = raw if isinstance(raw, str) else raw.decode(json.detect_encoding(raw), "surrogatepass")
    if text.count(",") >= max_items and _STRING.sub("", text).count(",") >= max_items:
        raise ValueError(f"more than {max_items:,} values")
    try:
        long = _LONG_NUMBER.search(text) is not None
        value = _decoder(keep_last, nan, long, long and lenient).decode(text)
    except RecursionError:
        raise NestedError(f"nested deeper than {DEEPEST} levels") from None
    if text.count("[") + text.count("{") > DEEPEST or text.count(",") >= max_items:
        _refuse_large(value, max_items)
    if "\\u" in text or _NOT_TEXT.search(text):
        return clean_json(value, keep_last=keep_last or lenient)
    return value


@cache
def _decoder(keep_last: bool, nan: bool, long_numbers: bool, allowed: bool) -> json.JSONDecoder:
    bounded = _infinite_where_long if allowed else _bounded
    return json.JSONDecoder(
        object_pairs_hook=None if keep_last else _unique,
        parse_constant=None if nan else _no_constant,
        parse_int=bounded if long_numbers else None,
        parse_float=bounded if long_numbers else None,
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        seen: set[str] = set()
        twice = next(n for n, _ in pairs if n in seen or seen.add(n))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {short(twice)} stands twice in one object")  # words: ok
    return mapping


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _bounded(digits: str) -> float:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits) if digits.lstrip("-").isdecimal() else float(digits)


def _infinite_where_long(digits: str) -> float:
    return math.inf if len(digits) > _MOST_DIGITS else _bounded(digits)


def _refuse_large(value: Any, max_items: int) -> None:
    """Count level by level, so that no stack ends."""
    level, count = [value], 1
    for _ in range(DEEPEST + 1):
        level = [v for v in level if isinstance(v, (list, dict))]
        if not level:
            return
        count += sum(map(len, level))
        if count > max_items:
            raise ValueError(f"more than {max_items:,} values")
        level = [v for held in level for v in (held.values() if isinstance(held, dict) else held)]
    raise NestedError(f"nested deeper than {DEEPEST} levels")


def command_word(path: Path | str) -> str:
    """A file as a word of a shell command, not an option where its name begins with a dash.

    Examples
    --------
    >>> command_word("my file.csv"), command_word("-x.csv")
    ("'my file.csv'", './-x.csv')
    """
    return shlex.quote(plain_word(str(path)))


def plain_word(path: str) -> str:
    """A file's name as a word that no command reads as an option."""
    return f"./{path}" if path.startswith("-") else path


def shorten_text(value: str, most: int = MAX_TEXT) -> Text:
    """A text of bounded length, clean."""
    return clean(value[:most])


def short(value: object) -> str:
    """A value, shortened for a message."""
    quoted = shorten_text(repr(value), 80)
    return quoted if len(quoted) < 80 else f"{quoted[:77]}..."


def text(value: object, most: int = MAX_TEXT) -> str:
    """A field as text: empty where it is missing, JSON where it is not text.

    Examples
    --------
    >>> text(None), text("a"), text(5), text(float("nan")), text(0.5), text({"a": "é"})
    ('', 'a', '5', '', '0.5', '{"a": "é"}')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return shorten_text(value, most)
    if type(value) is int:
        return str(value)
    if isinstance(value, float) and math.isnan(value):
        return ""
    try:
        return shorten_text(json.dumps(value, ensure_ascii=False, default=str), most)
    except (ValueError, RecursionError):
        return shorten_text(str(type(value).__name__))


def number(value: object) -> float:
    """A number that can be computed with, or NaN where the field holds none.

    Examples
    --------
    >>> number("0.5"), number(True), number(10**400), number(float("inf"))
    (0.5, nan, nan, nan)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return math.nan
    try:
        value_read = float(value)
    except (ValueError, OverflowError):
        return math.nan
    from judgestats.arrays import LARGEST  # numpy, which help does not need

    return value_read if abs(value_read) <= LARGEST else math.nan


def format_number(value: float, *, digits: int = 4) -> str:
    """Format a number for print with `digits` significant digits; NaN prints as ``NA``.

    Examples
    --------
    >>> format_number(0.123456), format_number(float("nan")), format_number(12.0)
    ('0.1235', 'NA', '12')
    >>> format_number(3204567.0, digits=2)
    '3,204,567'
    """
    if value is None or math.isnan(value):
        return "NA"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    if abs(value) < 1e5:
        return f"{value:.{digits}g}"
    return written_out(value, figures=digits)


def written_out(value: float, *, figures: int) -> str:
    """A large number with thousands separators; a huge one in scientific notation.

    Examples
    --------
    >>> written_out(3204567.0, figures=3), written_out(1e20, figures=3)
    ('3,204,567', '1.00e+20')
    """
    return f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.{figures - 1}e}"
