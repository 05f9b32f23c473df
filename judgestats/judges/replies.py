"""Reading a chat completion; what is none is an error, or malformed, never a guess."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from judgestats.json_text import decode_json
from judgestats.judges.outcomes import (
    Choice,
    Kind,
    Outcome,
    one_line,
    storable,
)
from judgestats.judges.refusals import error_in, read_error
from judgestats.judges.waiting import quota_pause
from judgestats.protocols.reading import kept_reply, message_text

MAX_TEXT_CHARS = 200_000
"""The longest choice that is taken for a judge's answer."""


def read_reply(body: bytes, headers: Mapping[str, str], latency_s: float) -> Outcome:
    """Read the body of a 200 reply; anything but a chat completion is malformed, never a guess."""
    try:
        reply = decode_json(body, keep_last=True)
    except (ValueError, RecursionError):
        if body[:200].lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
            return read_error(200, body, headers, latency_s)
        kind = headers.get("content-type", "no content type")[:60]
        return _malformed(f"the body is not JSON ({kind}, {len(body)} bytes)", latency_s)
    if not isinstance(reply, dict):
        return _malformed("the body is JSON but no object", latency_s)
    if status := error_in(reply):
        return read_error(status, body, headers, latency_s)
    usage = reply.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    tokens_in, tokens_out = _count(usage.get("prompt_tokens")), _billed_out(usage)
    given = reply.get("choices")
    raw: list[Any] = given if isinstance(given, list) else []
    choices = tuple(map(_choice, raw))
    whole = tuple(c for c in choices if c is not None)
    came = Outcome(
        kind=Kind.ANSWERED,
        choices=whole,
        model=_label(reply.get("model")),
        fingerprint=_label(reply.get("system_fingerprint")),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        usage_fault=_usage_fault(usage),
        latency_s=latency_s,
    )
    if not whole or len(whole) < len(choices):
        detail, text = "the reply has no readable choices", body.decode("utf-8", "replace")
        return replace(came, kind=Kind.MALFORMED, choices=(), detail=detail, body=(text,))
    came = replace(came, body=tuple(text for c in raw for text in _texts(c["message"])))
    if any(len(c.text) > MAX_TEXT_CHARS for c in whole):
        detail = f"a choice is longer than {MAX_TEXT_CHARS} characters"
        return replace(came, kind=Kind.TOO_LARGE, choices=(), detail=detail)
    return replace(
        came,
        tokens_cached=_part(usage, "prompt_tokens_details", "cached_tokens", tokens_in),
        tokens_reasoning=_part(usage, "completion_tokens_details", "reasoning_tokens", tokens_out),
        pause_s=quota_pause(headers),
    )


def _malformed(detail: str, latency_s: float) -> Outcome:
    return Outcome(kind=Kind.MALFORMED, detail=one_line(detail), latency_s=latency_s)


def _choice(raw: Any) -> Choice | None:
    message = raw.get("message") if isinstance(raw, dict) else None
    if not isinstance(message, dict):
        return None
    if not isinstance(message.get("content"), str | list | None):
        return None
    text, finish = message_text(message, _label(raw.get("finish_reason")))
    text = storable(text)
    weighed = kept_reply(text, raw.get("logprobs")) if raw.get("logprobs") else ""
    return Choice(text, finish, storable(weighed))


def _texts(message: Mapping[str, Any]) -> Iterable[str]:
    """All text of a message; two members of the same text, as some servers give, count once."""
    return dict.fromkeys("".join(_leaves(name, value)) for name, value in message.items())


_MARKS = ("role", "type", "id", "format", "signature", "thought_signature", "data")
"""Names of what the server adds to a model's text, where it is one word."""


def _leaves(name: str, value: Any) -> Iterator[str]:
    """The texts of a part of a message, and of parts in it."""
    parts = [(name, value)]
    while parts:
        name, part = parts.pop()
        if isinstance(part, str):
            if name not in _MARKS or len(part.split()) > 1:
                yield part
        elif isinstance(part, list):
            parts += ((name, inner) for inner in part)
        elif isinstance(part, dict) and name == "arguments":
            yield json.dumps(part, ensure_ascii=False)
        elif isinstance(part, dict):
            parts += part.items()


def _usage_fault(usage: Mapping[str, Any]) -> str:
    """What is reported in place of a count of tokens, in words; empty where counts are."""
    for name in ("completion_tokens", "prompt_tokens"):
        value = usage.get(name)
        if _count(value) is None:
            return "no token counts" if value is None else f"{one_line(str(value))[:20]} tokens"
    return ""


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**53 else None


def _part(usage: Mapping[str, Any], group: str, name: str, whole: int | None) -> int | None:
    """A part of the tokens; no more than the whole, whatever the server says."""
    details = usage.get(group)
    part = _count(details.get(name)) if isinstance(details, dict) else None
    return part if part is None or whole is None else min(part, whole)


def _billed_out(usage: Mapping[str, Any]) -> int | None:
    """Tokens billed as output: some servers count their reasoning in the total alone."""
    into, out, total = (
        _count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if into is None or out is None or total is None:
        return out
    return max(out, total - into)


def _label(value: Any) -> str:
    return one_line(value)[:200] if isinstance(value, str) else ""
