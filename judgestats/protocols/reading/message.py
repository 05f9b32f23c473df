"""Which text of a message is its answer, and how the message ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from judgestats.json_text import decode_json

_WITHHELD = frozenset(
    {
        "content_filter",
        "refusal",
        "safety",
        "prohibited_content",
        "blocklist",
        "recitation",
        "spii",
    }
)
_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_TEXT_PARTS = frozenset({"text", "output_text"})
_OURS = "submit_"
_ABSENT = object()


def is_withheld(finish_reason: str) -> bool:
    """Whether the judge refused, or its provider withheld the reply.

    Examples
    --------
    >>> is_withheld("SAFETY"), is_withheld("stop")
    (True, False)
    """
    return finish_reason.strip().lower() in _WITHHELD


def is_cut(finish_reason: str) -> bool:
    """Whether the reply ends at a limit of tokens.

    Examples
    --------
    >>> is_cut("max_tokens"), is_cut("")
    (True, False)
    """
    return finish_reason.strip().lower() in _CUT


def message_text(
    message: Mapping[str, Any], finish_reason: str = "", *, tool: str = ""
) -> tuple[str, str]:
    """The text to be read, and the finish reason (``refusal`` where the message is one).

    Parameters
    ----------
    message : mapping
        As it stands in a chat completion; anything may be in it.
    finish_reason : str
    tool : str
        The tool that was asked for; calls of others are ignored. Empty: any tool of ours, all of
        which are called ``submit_...``.

    Returns
    -------
    tuple of str and str
        The arguments of one call as they are; those of several, or such as are no object, as a
        JSON list of strings (`calls_in` reads it); else the content. Reasoning is never part of it.

    Examples
    --------
    >>> message_text({"content": [{"type": "text", "text": "[[8"}, {"type": "text", "text": "]]"}]})
    ('[[8]]', '')
    >>> message_text({"content": None, "refusal": "I would rather not."}, "stop")
    ('I would rather not.', 'refusal')
    """
    refusal = message.get("refusal")
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == "refusal":
            refusal = part.get("refusal") or part.get("text") or "refused"
    if refusal:
        return _as_text(refusal), "refusal"
    arguments = _arguments(message, tool)
    if arguments:
        if len(arguments) == 1 and arguments[0].lstrip().startswith("{"):
            return arguments[0], finish_reason
        return json.dumps(arguments, ensure_ascii=False), finish_reason
    if isinstance(content, str):
        return content, finish_reason
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, Mapping) and part.get("type", "text") in _TEXT_PARTS
    ]
    return "".join(t for t in texts if isinstance(t, str)), finish_reason


def calls_in(text: str) -> list[str] | None:
    """The arguments of several calls, as `message_text` writes them; None if it is no such text.

    Examples
    --------
    >>> calls_in('["{\\\\"score\\\\": 8}", ""]')
    ['{"score": 8}', '']
    >>> calls_in('["a", 1]') is None
    True
    """
    if not text.startswith('["'):
        return None
    try:
        calls = decode_json(text)
    except (ValueError, RecursionError):  # prose that begins with a bracket
        return None
    return calls if all(isinstance(c, str) for c in calls) else None


def _arguments(message: Mapping[str, Any], tool: str) -> list[str]:
    calls = message.get("tool_calls")
    functions = (
        [c.get("function") for c in calls if isinstance(c, Mapping)]
        if isinstance(calls, list)
        else []
    )
    functions.append(message.get("function_call"))
    arguments = []
    for function in functions:
        if isinstance(function, Mapping) and _is_ours(function.get("name"), tool):
            arguments.append(_call_text(function.get("arguments", _ABSENT)))
    return arguments


def _is_ours(name: Any, tool: str) -> bool:
    """Whether a call is of the tool asked for; a call without a name can be of no other."""
    if not isinstance(name, str) or not name:
        return True
    name = name.rpartition(".")[2]  # some proxies write functions.submit_score
    return bool(name == tool if tool else name.startswith(_OURS))


def _call_text(arguments: Any) -> str:
    if isinstance(arguments, str) and arguments.lstrip().startswith('"'):
        try:
            inner = decode_json(arguments)  # encoded once more
        except (ValueError, RecursionError):
            return arguments
        return inner if isinstance(inner, str) else arguments
    return "" if arguments is _ABSENT or arguments is None else _as_text(arguments)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # nothing that came as JSON
        return ""
