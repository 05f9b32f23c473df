"""Reading what a server sends: a completion, or the words of a refusal, whatever its shape."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from judgestats.judges.outcomes import (
    MAX_DETAIL,
    Choice,
    Kind,
    Outcome,
    Parameter,
    one_line,
    storable,
)
from judgestats.judges.waiting import quota_pause, retry_after
from judgestats.judgments.settings import FIELDS
from judgestats.protocols.reading import message_text

__all__ = ["MAX_TEXT_CHARS", "read_error", "read_reply"]

MAX_TEXT_CHARS = 200_000
"""The longest choice that is taken for a judge's answer."""


# ----------------------------------------------------------------------------- answers


def read_reply(body: bytes, headers: Mapping[str, str], latency_s: float) -> Outcome:
    """Read the body of a 200 reply; anything but a chat completion is malformed, never a guess."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        kind = headers.get("content-type", "no content type")[:60]
        return _malformed(f"the body is not JSON ({kind}, {len(body)} bytes)", latency_s)
    if not isinstance(reply, dict):
        return _malformed("the body is JSON but no object", latency_s)
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
    return Choice(storable(text), finish)


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
    return storable(value[:200]) if isinstance(value, str) else ""


# ----------------------------------------------------------------------------- refusals

_REFUSED = (
    r"not support|unsupported|invalid|not allowed|unknown|unrecogni[sz]ed|extra|only|must|"
    r"not permitted|not available|not enabled|unexpected"
)
_ABOUT: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("temperature", re.compile(r"\btemperature\b", re.IGNORECASE)),
    (
        Parameter.REPLY_FORMAT,
        re.compile(
            r"response_format|json_schema|json schema|structured output|tool|function|guided|"
            r"grammar",
            re.IGNORECASE,
        ),
    ),
    ("max_tokens", re.compile(r"max_(?:completion_)?tokens", re.IGNORECASE)),
    *((name, re.compile(rf"\b{name}\b", re.IGNORECASE)) for name in FIELDS),
    (Parameter.SEED, re.compile(r"\bseed\b", re.IGNORECASE)),
    (
        Parameter.CHOICES,
        re.compile(
            r"['\"`]n['\"`]|\bn\b\s*(?:>|=|must|is|parameter|param|should|greater)|"
            r"multiple (?:choices|completions)|\bn\b.{0,20}(?:not supported|unsupported)",
            re.IGNORECASE,
        ),
    ),
)
_CONTENT = re.compile(
    r"context.{0,10}(?:length|window|size)|too (?:long|many tokens)|"
    r"content.{0,12}(?:policy|filter|management)|moderation|flagged",
    re.IGNORECASE,
)
_BY_NAME: dict[str, str] = {
    **{name: name for name in FIELDS},
    "n": Parameter.CHOICES,
    "seed": Parameter.SEED,
    "max_completion_tokens": "max_tokens",
    "tools": Parameter.REPLY_FORMAT,
    "tool_choice": Parameter.REPLY_FORMAT,
    "response_format": Parameter.REPLY_FORMAT,
}


def read_error(status: int, body: bytes, headers: Mapping[str, str], latency_s: float) -> Outcome:
    """Classify a reply with an error status.

    Parameters
    ----------
    status : int
    body : bytes
    headers : mapping
        Lower-case names.
    latency_s : float

    Returns
    -------
    Outcome

    Examples
    --------
    >>> body = b'{"error": {"message": "Unsupported value: temperature", "param": "temperature"}}'
    >>> read_error(400, body, {}, 0.1).about
    'temperature'
    """
    message, code, param = _error_fields(body)
    about: str = Parameter.UNKNOWN
    kind = _error_kind(status, code, message)
    if kind is Kind.BAD_REQUEST:
        about = _error_about(message, param)
    return Outcome(
        kind=kind,
        detail=one_line(message) or f"HTTP {status}",
        about=about,
        status=status,
        latency_s=latency_s,
        retry_after_s=retry_after(headers),
        pause_s=quota_pause(headers),
    )


def _error_kind(status: int, code: str, message: str) -> Kind:
    lower = message.lower()
    if status == 401 or (status == 403 and not _CONTENT.search(message)):
        return Kind.KEY_REFUSED
    if status == 404:
        return Kind.UNKNOWN_MODEL
    if status == 429:
        no_quota = "insufficient_quota" in code or "exceeded your current quota" in lower
        return Kind.NO_QUOTA if no_quota else Kind.RATE_LIMITED
    if status == 402:
        return Kind.NO_QUOTA
    if status in {503, 529}:
        return Kind.OVERLOADED
    if status in {408, 409} or status >= 500:
        return Kind.SERVER_ERROR
    if "model" in lower and (
        "does not exist" in lower or "not found" in lower or code == "model_not_found"
    ):
        return Kind.UNKNOWN_MODEL
    return Kind.BAD_REQUEST


def _error_about(message: str, param: str) -> str:
    if _CONTENT.search(message):
        return Parameter.CONTENT
    first = re.split(r"[.\[]", param, maxsplit=1)[0]
    if first in _BY_NAME:
        return _BY_NAME[first]
    if not re.search(_REFUSED, message, re.IGNORECASE):
        return Parameter.UNKNOWN
    for parameter, pattern in _ABOUT:
        if pattern.search(message):
            return parameter
    return Parameter.UNKNOWN


def _error_fields(body: bytes) -> tuple[str, str, str]:
    """Message, code and parameter of an error body, whatever its shape."""
    try:
        value: Any = json.loads(body[:100_000])
    except (ValueError, RecursionError):
        return body[:MAX_DETAIL].decode("utf-8", "replace"), "", ""
    error = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(error, str):
        return error, "", ""
    if not isinstance(error, dict):
        return str(error), "", ""
    message = error.get("message") or error.get("detail") or error.get("msg") or ""
    text = message if isinstance(message, str) else json.dumps(message)
    code = error.get("code") or error.get("type") or ""
    return text, str(code), str(error.get("param") or "")
