"""Decoding of JSON from outside: every string in the result is text that UTF-8 can hold."""

from __future__ import annotations

import json
import re
from typing import Any

_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
"""NUL and lone surrogates: JSON escapes of plain ASCII letters can make them."""


def clean(text: str) -> str:
    r"""Replace lone surrogates and NUL by U+FFFD; nothing else changes.

    Examples
    --------
    >>> clean("good " + chr(0xD83D)) == "good " + chr(0xFFFD)
    True
    """
    return _NOT_TEXT.sub("\ufffd", text) if _NOT_TEXT.search(text) else text


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
            raise ValueError("two keys of one object differ only in characters that are no text")
        return whole
    return value


def decode_json(
    raw: str | bytes, decoder: json.JSONDecoder | None = None, *, keep_last: bool = False
) -> Any:
    r"""Decode one JSON value and clean its strings.

    Parameters
    ----------
    raw : str or bytes
    decoder : JSONDecoder, optional
        None: as ``json.loads`` does.
    keep_last : bool
        Of keys that differ only in characters that are replaced, as of equal ones.

    Raises
    ------
    ValueError
        It is no JSON.
    RecursionError
        It is nested too deeply.

    Examples
    --------
    >>> decode_json(rb'{"explanation": "good \ud83d"}') == {"explanation": "good " + chr(0xFFFD)}
    True
    """
    text = raw if isinstance(raw, str) else raw.decode(json.detect_encoding(raw), "surrogatepass")
    value = json.loads(text) if decoder is None else decoder.decode(text)
    return (
        clean_json(value, keep_last=keep_last) if "\\u" in text or _NOT_TEXT.search(text) else value
    )
