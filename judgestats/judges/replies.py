"""Reading a chat completion; what is none is an error, or malformed, never a guess."""

from __future__ import annotations

from collections.abc import Mapping
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
        reply = decode_json(body)
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
    raw = reply.get("choices")
    choices = tuple(_choice(c) for c in raw) if isinstance(raw, list) else ()
    whole = tuple(c for c in choices if c is not None)
    if not whole or len(whole) < len(choices):
        return _malformed("the reply has no readable choices", latency_s, tokens_in, tokens_out)
    if any(len(c.text) > MAX_TEXT_CHARS for c in whole):
        return Outcome(
            kind=Kind.TOO_LARGE,
            detail=f"a choice is longer than {MAX_TEXT_CHARS} characters",
            latency_s=latency_s,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )
    return Outcome(
        kind=Kind.ANSWERED,
        choices=whole,
        model=_label(reply.get("model")),
        fingerprint=_label(reply.get("system_fingerprint")),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_cached=_part(usage, "prompt_tokens_details", "cached_tokens", tokens_in),
        tokens_reasoning=_part(usage, "completion_tokens_details", "reasoning_tokens", tokens_out),
        latency_s=latency_s,
        pause_s=quota_pause(headers),
    )


def _malformed(
    detail: str, latency_s: float, tokens_in: int | None = None, tokens_out: int | None = None
) -> Outcome:
    return Outcome(
        kind=Kind.MALFORMED,
        detail=one_line(detail),
        latency_s=latency_s,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


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
