"""What a server's error means, from its status and its words, whatever their shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judgestats.judges.outcomes import Kind, Outcome, Parameter, one_line
from judgestats.judges.waiting import quota_pause, retry_after, wait_in_words
from judgestats.judgments.settings import FIELDS

_MOST = 100_000
"""Bytes of an error that are read."""
_DEEP = 12


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """What words mean, at some statuses (none named: at all)."""

    kind: Kind
    words: str
    about: str = Parameter.UNKNOWN
    statuses: frozenset[int] = frozenset()

    def holds(self, status: int, text: str) -> bool:
        """Whether it applies."""
        at = not self.statuses or status in self.statuses
        return at and re.search(self.words, text, re.IGNORECASE | re.DOTALL) is not None


def _rule(kind: Kind, words: str, about: str = Parameter.UNKNOWN, *statuses: int) -> _Rule:
    return _Rule(kind=kind, words=words, about=about, statuses=frozenset(statuses))


_PAGE = r"^\s*<(?:!doctype|html)"
_RULES = (
    _rule(Kind.NO_PERMISSION, _PAGE, Parameter.UNKNOWN, 401, 403),
    _rule(Kind.BAD_REQUEST, _PAGE, Parameter.TOO_LONG, 413),
    _rule(Kind.WRONG_PATH, _PAGE, Parameter.UNKNOWN, 200, 404, 405),
    _rule(
        Kind.NO_QUOTA,
        r"insufficient_quota|exceeded your current quota|credit balance is too low|"
        r"insufficient balance|requires more credits",
    ),
    _rule(Kind.NO_QUOTA, "", Parameter.UNKNOWN, 402),
    _rule(Kind.OVERLOADED, r"\boverloaded\b|server_is_overloaded|loading model|capacity exceeded"),
    _rule(Kind.OVERLOADED, "", Parameter.UNKNOWN, 503, 529),
    _rule(
        Kind.BAD_REQUEST,
        r"context[ _](?:length|window|size)|request too large|input tokens exceed|"
        r"max_new_tokens.{0,3} must be <=|max_tokens must be at least 1, got -",
        Parameter.TOO_LONG,
    ),
    _rule(Kind.BAD_REQUEST, "", Parameter.TOO_LONG, 413),
    _rule(
        Kind.BAD_REQUEST,
        r"content.{0,12}(?:policy|filter|management)|moderation|\bflagged\b",
        Parameter.CONTENT,
    ),
    _rule(Kind.RATE_LIMITED, "", Parameter.UNKNOWN, 429),
    _rule(Kind.NO_PERMISSION, r"must be verified|insufficient permissions|missing scopes"),
    _rule(Kind.KEY_REFUSED, "", Parameter.UNKNOWN, 401),
    _rule(Kind.WRONG_PATH, r"not a chat model"),
    _rule(Kind.WRONG_PATH, "", Parameter.UNKNOWN, 405),
    # a limit that was reached, or a reply that failed: nothing of the request was refused
    _rule(Kind.BAD_REQUEST, r"model output limit was reached|failed_generation|passed back"),
    _rule(
        Kind.BAD_REQUEST,
        r"\bn must be 1|'n' :|only one completion choice|only n = 1|"
        r"multiple (?:choices|completions)",
        Parameter.CHOICES,
    ),
    _rule(Kind.BAD_REQUEST, r"\blogprobs\b", "logprobs"),
    _rule(
        Kind.BAD_REQUEST,
        r"response_format|json_schema|json schema|structured output|guided_|\bgrammar\b|"
        r"\btool_choice|\btools\b|\btool\b.{0,30}(?:not|un)|function.{0,5}call",
        Parameter.REPLY_FORMAT,
    ),
    _rule(
        Kind.UNKNOWN_MODEL,
        r"model_not_found|DeploymentNotFound|\bmodel\b.{0,200}does not exist|model.{0,9}not found|"
        r"no such model|"
        r"not have access to model|no endpoints found for|non-serverless model|"
        r"dedicated endpoint .{0,200}not running|unknown (?:simulated )?(?:judge|model)",
    ),
    _rule(Kind.NO_PERMISSION, "", Parameter.UNKNOWN, 403),
)
"""In this order; the first that holds counts."""
_REFUSED = (
    r"not support|unsupported|invalid|not allowed|unknown name|unrecogni[sz]ed|extra_forbidden|"
    r"must be|not permitted|not available|not enabled|unexpected|deprecated|only\b"
)
_FORBIDDEN = re.compile(r"\bbody\b[\s\"',\\]+([a-z_]\w*)|keys in the request: \{'(\w+)'", re.I)
_NAMES = {
    **{name: name for name in FIELDS},
    "max_completion_tokens": "max_tokens",
    "seed": Parameter.SEED,
    "n": Parameter.CHOICES,
    "tools": Parameter.REPLY_FORMAT,
    "tool_choice": Parameter.REPLY_FORMAT,
    "response_format": Parameter.REPLY_FORMAT,
    "logprobs": "logprobs",
    "top_logprobs": "logprobs",
}
_NAMED = {
    name: re.compile(rf"(?<![a-z_]){name.replace('_', '_?')}(?![a-z_])", re.IGNORECASE)
    for name in _NAMES
    if name != "n"
}


def read_error(status: int, body: bytes, headers: Mapping[str, str], latency_s: float) -> Outcome:
    """Classify a reply that is an error.

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
    message, param, text = _words(body)
    kind, about = _meaning(status, param, text)
    asked = retry_after(headers)
    if asked is None and kind in {Kind.RATE_LIMITED, Kind.OVERLOADED}:
        asked = wait_in_words(text)
    return Outcome(
        kind=kind,
        detail=one_line(message) or f"HTTP {status}",
        about=about,
        status=status,
        latency_s=latency_s,
        retry_after_s=asked,
        pause_s=quota_pause(headers),
    )


def error_in(reply: Mapping[str, Any]) -> int:
    """The status of an error that came as HTTP 200; 0 where the reply is none.

    Examples
    --------
    >>> error_in({"choices": [], "error": {"message": "busy", "code": 429}}), error_in({})
    (429, 0)
    """
    error = reply.get("error")
    if not error or not isinstance(error, dict | str):
        return 0
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code[:4])
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _meaning(status: int, param: str, text: str) -> tuple[Kind, str]:
    for rule in _RULES:
        if rule.holds(status, text):
            return rule.kind, rule.about
    if (name := _refused(param, text)) and status not in {408, 409, 502, 504}:
        return Kind.BAD_REQUEST, name
    if status == 404:
        return Kind.WRONG_PATH, Parameter.UNKNOWN
    if status in {408, 409} or status >= 500:
        return Kind.SERVER_ERROR, Parameter.UNKNOWN
    return Kind.BAD_REQUEST, Parameter.UNKNOWN


def _refused(param: str, text: str) -> str:
    """The field of a request that words refuse; those we send go before others."""
    forbidden = [next(filter(None, match.groups())) for match in _FORBIDDEN.finditer(text)]
    named = [re.split(r"[.\[]", param, maxsplit=1)[0], *forbidden]
    if re.search(_REFUSED, text, re.IGNORECASE):
        named += [name for name, pattern in _NAMED.items() if pattern.search(text)]
    ours = [_NAMES[name] for name in named if name in _NAMES]
    # Where several are refused, first what the server said itself, then a seed: penalties are
    # among our fields, but no run sends one unasked.
    if Parameter.SEED in ours and named[0] not in _NAMES:
        return Parameter.SEED
    return ours[0] if ours else (forbidden[0] if forbidden else "")


def _words(body: bytes) -> tuple[str, str, str]:
    """What to show of an error, the parameter it names, and all its words."""
    raw = body[:_MOST].decode("utf-8", "replace")
    value = _json(raw)
    if value is None:
        title = re.search(r"<title>(.*?)</title>", raw, re.IGNORECASE | re.DOTALL)
        return (title[1] if title else re.sub(r"<[^>]*>", " ", raw)), "", raw
    strings = list(_strings(value))
    shown = [s for path, s in strings if path in {"message", "msg", "detail", "error"}]
    param = next((s for path, s in strings if path == "param"), "")
    # a gateway's own words say nothing where it hands on another's
    message = next(iter(shown[-1:] if "Provider returned error" in shown else shown), "")
    return message or raw[:1000], param, "\n".join([raw, *(s for _, s in strings)])


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _strings(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """All strings with the names they stand under; JSON within a string is read too."""
    if depth > _DEEP:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(inner, str(key), depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, name, depth + 1)
    elif isinstance(value, str):
        inner = _json(value) if value[:1] in "{[" and value else None
        if inner is None:
            yield name, value
        else:
            yield from _strings(inner, name, depth + 1)
