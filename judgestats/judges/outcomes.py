"""What came of one request: an answer, or one of a few kinds of failure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from judgestats.json_text import clean
from judgestats.protocols.base import ReplyMode
from judgestats.secrecy import scrubbed

MAX_DETAIL = 300
"""Characters kept of a server's words."""


class Kind(StrEnum):
    """The kinds of outcome; all but ``ANSWERED`` are failures."""

    ANSWERED = "answered"
    KEY_REFUSED = "key_refused"
    NO_PERMISSION = "no_permission"
    WRONG_PATH = "wrong_path"
    UNKNOWN_MODEL = "unknown_model"
    NO_QUOTA = "no_quota"
    UNREACHABLE = "unreachable"
    BROKEN = "connection_broken"
    TIMED_OUT = "timed_out"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    BAD_REQUEST = "bad_request"
    MALFORMED = "malformed_reply"
    TOO_LARGE = "reply_too_large"
    EXPIRED = "batch_expired"
    CANCELLED = "batch_cancelled"
    MISSING = "missing_from_batch"


class Parameter(StrEnum):
    """What a refusal is about, where the server says so and it is no field of settings."""

    REPLY_FORMAT = "reply_format"
    CHOICES = "n"
    SEED = "seed"
    CONTENT = "content"
    TOO_LONG = "too_long"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a reply's choices: its text (or tool arguments) and why it ended.

    `weighed` is the text with the log-probabilities that came with it, if any did.
    """

    text: str
    finish_reason: str
    weighed: str = ""

    def kept(self, mode: ReplyMode) -> str:
        """What is kept of it, asked for in a mode."""
        return self.weighed or self.text if mode is ReplyMode.LOGPROBS else self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of one request.

    `tokens_in`, `tokens_out`, the part of the input that was cached and the part of the output that
    was reasoning are of the whole request and None where the server does not say;
    `retry_after_s` is what the server asks for (None where it says nothing); `pause_s` is how long
    its quota headers ask everybody to wait; `about` is a `Parameter` or a field's name in
    `judgestats.judgments.settings.FIELDS`; `usage_fault` is what a server reports in place of
    tokens that can be right ("no token counts", "-5 tokens"); `body` is all text of the reply,
    where it is more than that of the choices (reasoning, or what cannot be read).
    """

    kind: Kind
    choices: tuple[Choice, ...] = ()
    body: tuple[str, ...] = ()
    usage_fault: str = ""
    model: str = ""
    fingerprint: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    latency_s: float = float("nan")
    detail: str = ""
    about: str = Parameter.UNKNOWN
    status: int = 0
    retry_after_s: float | None = None
    pause_s: float = 0.0

    @property
    def usage(self) -> tuple[int | None, int | None, int | None]:
        """Tokens in and out, and how many of those in were cached."""
        return self.tokens_in, self.tokens_out, self.tokens_cached

    @property
    def contents(self) -> tuple[str, ...]:
        """All text that came back and may be billed."""
        return self.body or tuple(choice.text for choice in self.choices)

    @property
    def maybe_billed(self) -> bool:
        """Whether the request may have cost money although there is no answer to show for it."""
        if self.kind is Kind.WRONG_PATH:
            return self.status == 200
        return self.kind in {
            Kind.BROKEN,
            Kind.TIMED_OUT,
            Kind.MALFORMED,
            Kind.TOO_LARGE,
            Kind.MISSING,
        }


def storable(text: str) -> str:
    """Without secrets, lone surrogates and NUL."""
    return clean(scrubbed(text))


def one_line(text: str) -> str:
    """A server's words as one line of bounded length, fit for a terminal and for UTF-8.

    Control characters go out: a server's message is printed, and must not move the cursor, clear
    the screen or change the window's title.

    Examples
    --------
    >>> one_line("no such model" + chr(27) + "[2J" + chr(10) + "try another")
    'no such model [2J try another'
    """
    shown = "".join(c if c.isprintable() else " " for c in storable(text)[: 4 * MAX_DETAIL])
    line = " ".join(shown.split())
    return line if len(line) <= MAX_DETAIL else line[: MAX_DETAIL - 1] + "…"
