"""Responses: completions, refusals, and negotiation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from judgestats.collection.retry import (
    Choice,
    Kind,
    Outcome,
    Parameter,
    one_line,
    quota_pause,
    retry_after,
    storable,
    wait_in_words,
)
from judgestats.data.columns import EXTRA, FIELDS, Condition
from judgestats.files.text import decode_json
from judgestats.protocols.base import ReplyMode
from judgestats.protocols.replies import message_text, pack_reply

_MOST = 100_000
"""Bytes of an error that are read."""
_DEEP = 12


_PAGE = r"^\s*<(?:!doctype|html)"
_RULES: tuple[tuple[Kind, str, str, tuple[int, ...]], ...] = (
    (Kind.NO_PERMISSION, "", _PAGE, (401, 403)),
    (Kind.BAD_REQUEST, Parameter.TOO_LONG, _PAGE, (413,)),
    (Kind.WRONG_PATH, "", _PAGE, (200, 404, 405)),
    (Kind.NO_QUOTA, "", (r"insufficient_quota|exceeded your current quota|credit balance is too "
     r"low|insufficient balance|requires more credits"), ()),
    (Kind.NO_QUOTA, "", "", (402,)),
    (Kind.OVERLOADED, "", r"\boverloaded\b|server_is_overloaded|loading model|capacity exceeded",
     ()),
    (Kind.OVERLOADED, "", "", (503, 529)),
    (Kind.BAD_REQUEST, Parameter.TOO_LONG, (r"context[ _](?:length|window|size)|request too large|"
     r"input tokens exceed|max_new_tokens.{0,3} must be <=|max_tokens must be at least 1, got -"),
     ()),
    (Kind.BAD_REQUEST, Parameter.TOO_LONG, "", (413,)),
    (Kind.BAD_REQUEST, Parameter.CONTENT,
     r"content.{0,12}(?:policy|filter|management)|moderation|\bflagged\b", ()),
    (Kind.RATE_LIMITED, "", "", (429,)),
    (Kind.NO_PERMISSION, "", r"must be verified|insufficient permissions|missing scopes", ()),
    (Kind.KEY_REFUSED, "", "", (401,)),
    (Kind.WRONG_PATH, "", r"not a chat model", ()),
    (Kind.WRONG_PATH, "", "", (405,)),
    # a limit that was reached, or a reply that failed: nothing of the request was refused
    (Kind.BAD_REQUEST, "", r"model output limit was reached|failed_generation|passed back", ()),
    (Kind.BAD_REQUEST, Parameter.CHOICES, (r"\bn must be 1|'n' :|only one completion choice|"
     r"only n = 1|multiple (?:choices|completions)"), ()),
    (Kind.BAD_REQUEST, "logprobs", r"\blogprobs\b", ()),
    (Kind.BAD_REQUEST, Parameter.REPLY_FORMAT,
     (r"response_format|json_schema|json schema|structured output|guided_|\bgrammar\b|"
     r"\btool_choice|\btools\b|\btool\b.{0,30}(?:not|un)|function.{0,5}call"), ()),
    (Kind.UNKNOWN_MODEL, "", (r"model_not_found|DeploymentNotFound|\bmodel\b.{0,200}does not exist|"
     r"model.{0,9}not found|no such model|not have access to model|no endpoints found for|"
     r"non-serverless model|dedicated endpoint .{0,200}not running|"
     r"unknown (?:simulated )?(?:judge|model)"), ()),
    (Kind.NO_PERMISSION, "", "", (403,)),
)  # fmt: skip
"""Kind, what it is about, words, and statuses (none: any), in this order: the first counts."""
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
    """The status of an error that came as HTTP 200; 0 for any other reply.

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
    for kind, about, words, statuses in _RULES:
        at = not statuses or status in statuses
        if at and re.search(words, text, re.IGNORECASE | re.DOTALL):
            return kind, about
    if (name := _refused_field(param, text)) and status not in {408, 409, 502, 504}:
        return Kind.BAD_REQUEST, name
    if status == 404:
        return Kind.WRONG_PATH, ""
    broken = status in {408, 409} or status >= 500
    return Kind.SERVER_ERROR if broken else Kind.BAD_REQUEST, ""


def _refused_field(param: str, text: str) -> str:
    """The request field that an error text refuses; fields that we send take precedence."""
    forbidden = [next(filter(None, match.groups())) for match in _FORBIDDEN.finditer(text)]
    named = [re.split(r"[.\[]", param, maxsplit=1)[0], *forbidden]
    if re.search(_REFUSED, text, re.IGNORECASE):
        named += [name for name, pattern in _NAMED.items() if pattern.search(text)]
    ours = [_NAMES[name] for name in named if name in _NAMES]
    # Where several are refused, first what the server said itself, then a seed: penalties are
    # among our fields, but no run sends one unasked.
    if Parameter.SEED in ours and named[0] not in _NAMES:
        return Parameter.SEED
    return next(iter((*ours, *forbidden)), "")


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
        value = decode_json(text, keep_last=True)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _strings(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """All strings with their keys; JSON within a string is parsed too."""
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


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None where it is none.

    Examples
    --------
    >>> json_object('{"score": 8}'), json_object("[8]")
    ({'score': 8}, None)
    """
    value = _json(text)
    return value if isinstance(value, dict) else None


MAX_TEXT_CHARS = 200_000
"""The longest choice that is accepted as a judge's answer."""


def read_reply(body: bytes, headers: Mapping[str, str], latency_s: float) -> Outcome:
    """Read the body of a 200 reply; anything but a chat completion is malformed, never a guess."""
    try:
        reply = decode_json(body, lenient=True)
    except ValueError as error:
        if body[:200].lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
            return read_error(200, body, headers, latency_s)
        if "twice in one object" in str(error):  # which one was meant is not known; it is paid for
            text = body.decode("utf-8", "replace")
            return replace(_malformed(str(error), latency_s), body=(text,))
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
    came = partial(
        Outcome,
        model=_label(reply.get("model")),
        fingerprint=_label(reply.get("system_fingerprint")),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        usage_fault=_usage_fault(usage),
        latency_s=latency_s,
    )
    if not whole or len(whole) < len(choices):
        detail, text = "the reply has no readable choices", body.decode("utf-8", "replace")
        return came(kind=Kind.MALFORMED, detail=detail, body=(text,))
    said = (c.get("message") or {"content": c.get("text", "")} for c in raw)
    texts = tuple(text for message in said for text in _texts(message))
    if any(c.finish_reason == "error" for c in whole):
        return came(kind=Kind.MALFORMED, detail="finish_reason is error", body=texts)
    if any(len(c.text) > MAX_TEXT_CHARS for c in whole):
        detail = f"a choice is longer than {MAX_TEXT_CHARS} characters"
        return came(kind=Kind.TOO_LARGE, detail=detail, body=texts)
    return came(
        kind=Kind.ANSWERED,
        choices=whole,
        body=texts,
        tokens_cached=_part(usage, "prompt_tokens_details", "cached_tokens", tokens_in),
        tokens_reasoning=_part(usage, "completion_tokens_details", "reasoning_tokens", tokens_out),
        pause_s=quota_pause(headers),
    )


def _malformed(detail: str, latency_s: float) -> Outcome:
    return Outcome(kind=Kind.MALFORMED, detail=one_line(detail), latency_s=latency_s)


def _choice(raw: Any) -> Choice | None:
    message = raw.get("message") if isinstance(raw, dict) else None
    if message is None and isinstance(raw, dict) and "text" in raw:
        message = {"content": raw["text"]}  # of a raw text completion
    if not isinstance(message, dict):
        return None
    if not isinstance(message.get("content"), str | list | None):
        return None
    text, finish = message_text(message, _label(raw.get("finish_reason")))
    text = storable(text)
    weighed = pack_reply(text, raw.get("logprobs")) if raw.get("logprobs") else ""
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
    """What a server reports instead of token counts, as text; empty where it reports counts."""
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


_LADDER = (ReplyMode.JSON_SCHEMA, ReplyMode.TOOL, ReplyMode.TEXT)


def next_mode(mode: ReplyMode) -> ReplyMode | None:
    """The next reply mode down the ladder: JSON schema, tool call, plain text.

    Examples
    --------
    >>> next_mode(ReplyMode.JSON_SCHEMA).value
    'tool'
    >>> next_mode(ReplyMode.TEXT) is None
    True
    """
    if mode not in _LADDER:
        return None  # asked for or not at all
    place = _LADDER.index(mode) + 1
    return _LADDER[place] if place < len(_LADDER) else None


_encoded = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, kw_only=True, slots=True)
class SentRequest:
    """What a request carried that a server may refuse.

    Attributes
    ----------
    mode : ReplyMode
    settings : mapping of field to value
    varied : frozenset of str
        The fields that make the condition what it is: it is invalid where one is refused.
    seed : int or None
    choices : int
    max_tokens_name : str
        What the bound of a reply was called.
    """

    mode: ReplyMode
    settings: Mapping[str, Any] = field(default_factory=dict)
    varied: frozenset[str] = frozenset()
    seed: int | None = None
    choices: int = 1
    max_tokens_name: str = ""

    @property
    def settings_json(self) -> str:
        """The settings that were sent, as the journal and the frame keep them with an answer."""
        sent = {**self.settings, "seed": self.seed}
        return _encoded({k: v for k, v in sent.items() if v is not None})

    def to_json(self) -> str:
        """As text, for the journal of batches."""
        return _encoded({**asdict(self), "varied": sorted(self.varied)})

    @classmethod
    def from_json(cls, text: str) -> SentRequest:
        """From the journal's text."""
        value = decode_json(text)
        own = {"mode": ReplyMode(value["mode"]), "varied": frozenset(value["varied"])}
        return cls(**{**value, **own})


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What is known of one model at one endpoint; kept in the journal, so that a later run agrees.

    Attributes
    ----------
    mode : ReplyMode
        The best reply mode not refused.
    proven : bool
        Whether an answer has come in that mode.
    several : bool
        Whether one request may ask for several choices.
    seed : bool
        Whether a seed is accepted.
    left_out : frozenset of str
        Fields of the request that are refused, and left out where no condition depends on them.
    max_tokens_name : str
        The parameter's name: newer models refuse ``max_tokens``, older servers know nothing else.
    refused : mapping of (field, value) to str
        What the model refuses of fields that conditions fix, with the server's words. Such a
        condition is invalid; it is never run at the server's default.
    """

    mode: ReplyMode = ReplyMode.JSON_SCHEMA
    proven: bool = False
    several: bool = True
    seed: bool = True
    left_out: frozenset[str] = frozenset()
    max_tokens_name: str = "max_completion_tokens"
    refused: Mapping[tuple[str, Any], str] = field(default_factory=dict)

    def refuses(self, condition: Condition) -> str:
        """The field for which a condition is refused; empty where it is not known to be."""
        return next((n for n, v in condition.request.items() if (n, v) in self.refused), "")

    def answered_in(self, mode: ReplyMode) -> Abilities:
        """An answer came in this mode."""
        if self.proven and mode is self.mode:
            return self
        return replace(self, mode=mode, proven=True)

    def taught_by(self, outcome: Outcome, *, sent: SentRequest) -> Abilities | None:
        """What a refused request teaches; None where repetition would change nothing.

        Parameters
        ----------
        outcome : Outcome
            Of kind ``bad_request``.
        sent : SentRequest
            What the refused request carried (others may have taught more meanwhile).
        """
        about = subject(outcome, sent)
        if about == "max_tokens" and sent.max_tokens_name == "max_completion_tokens":
            return replace(self, max_tokens_name="max_tokens")
        if about in sent.settings and about in sent.varied:
            refused = {**self.refused, (about, sent.settings[about]): outcome.detail}
            return replace(self, refused=refused)
        if about in sent.settings and about != "max_tokens":
            return replace(self, left_out=self.left_out | {about})
        if about == Parameter.CHOICES and sent.choices > 1:
            return replace(self, several=False)
        if about == Parameter.SEED and sent.seed is not None:
            return replace(self, seed=False)
        # A refusal without a stated reason is tried on the next reply mode too, until a mode is
        # proven: many servers say no more than "bad request" of a schema they do not know.
        format_suspected = about in {Parameter.REPLY_FORMAT, Parameter.UNKNOWN}
        below = next_mode(sent.mode)
        if not format_suspected or below is None or (self.proven and sent.mode is self.mode):
            return None
        if _LADDER.index(self.mode) > _LADDER.index(sent.mode):
            return self  # another request has taught this meanwhile
        return replace(self, mode=below, proven=False)

    def lower_mode(self, mode: ReplyMode) -> Abilities:
        """The next reply mode after one that does not serve; the same where there is none."""
        lower = next_mode(mode)
        if lower is None or _LADDER.index(self.mode) > _LADDER.index(mode):
            return self
        return replace(self, mode=lower, proven=False)

    def unsettled(self) -> Abilities:
        """Back to the top of the ladder, where no mode down to the last was answered."""
        return self if self.proven else replace(self, mode=_LADDER[0])

    def to_json(self) -> str:
        """As text, for the journal."""
        refused = [[n, v, words] for (n, v), words in self.refused.items()]
        return json.dumps({**vars(self), "left_out": sorted(self.left_out), "refused": refused})

    @classmethod
    def from_json(cls, text: str) -> Abilities:
        """From the journal's text, that of 0.1.0 too."""
        value = decode_json(text)
        earlier = [["temperature", t, w] for t, w in value.get("refused_temperatures", ())]
        left_out = [] if value.get("top_k", True) else ["top_k"]
        return cls(
            mode=ReplyMode(value["mode"]),
            proven=bool(value["proven"]),
            several=bool(value["several"]),
            seed=bool(value["seed"]),
            left_out=frozenset(map(str, value.get("left_out", left_out))),
            max_tokens_name=str(value["max_tokens_name"]),
            refused={(str(n), v): str(w) for n, v, w in value.get("refused", earlier)},
        )


def subject(outcome: Outcome, sent: SentRequest) -> str:
    """What a refusal is about: as the server says, or the field of ours that its words name."""
    if outcome.about != Parameter.UNKNOWN:
        return outcome.about
    for name in sent.settings:
        word = re.escape(name.rpartition(".")[2])
        if name.startswith(EXTRA) and re.search(rf"\b{word}\b", outcome.detail):
            return name
    return outcome.about
