"""The files of a batch: requests as JSON lines, and what comes back, which is not to be trusted."""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from judgestats.json_text import decode_json
from judgestats.judges.outcomes import Kind, Outcome, one_line
from judgestats.judges.refusals import read_error
from judgestats.judges.replies import read_reply

MAX_LINE = 8 * 1024 * 1024
_MAX_ID = 512


def request_line(custom_id: str, body: bytes) -> bytes:
    """One request as a line of a batch's input file.

    Examples
    --------
    >>> request_line("js-1", b"{}")
    b'{"custom_id":"js-1","method":"POST","url":"/v1/chat/completions","body":{}}\\n'
    """
    head = f'{{"custom_id":{json.dumps(custom_id)},"method":"POST","url":"/v1/chat/completions"'
    return head.encode() + b',"body":' + body + b"}\n"


@dataclass(kw_only=True)
class Results:
    """What a batch's files say.

    Attributes
    ----------
    outcomes : dict of str to Outcome
        By custom id; requests that no readable line speaks of are absent.
    foreign, repeated, unreadable : int
        Lines of requests that are not the batch's, that came before, and that are no result.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    foreign: int = 0
    repeated: int = 0
    unreadable: int = 0

    @property
    def oddities(self) -> str:
        """What was left out, in words; empty where nothing was."""
        counts = {
            "unreadable": self.unreadable,
            "of requests that are not ours": self.foreign,
            "repeated": self.repeated,
        }
        return ", ".join(f"{n} {what}" for what, n in counts.items() if n)


def read_results(files: Iterable[bytes], ours: Container[str]) -> Results:
    """Read output and error files, in this order.

    The first answer to a request counts; an answer goes before a failure. Nothing is guessed: a
    line that is no result of a request of ours is counted and left out.

    Parameters
    ----------
    files : iterable of bytes
    ours : container of str
        The batch's custom ids.

    Returns
    -------
    Results

    Examples
    --------
    >>> expired = b'{"custom_id": "a", "error": {"code": "batch_expired"}}'
    >>> read_results([expired, b"no JSON"], {"a"}).outcomes["a"].kind.value
    'batch_expired'
    """
    results = Results()
    for content in files:
        for line in _lines(content):
            read = read_line(line) if len(line) <= MAX_LINE else None
            if read is None:
                results.unreadable += 1
                continue
            custom_id, outcome = read
            if custom_id not in ours:
                results.foreign += 1
                continue
            before = results.outcomes.get(custom_id)
            if before is not None:
                results.repeated += 1
                if before.kind is Kind.ANSWERED or outcome.kind is not Kind.ANSWERED:
                    continue
            results.outcomes[custom_id] = outcome
    return results


def _lines(content: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        if line := content[start:end].strip():
            yield line
        start = end + 1


def read_line(line: bytes) -> tuple[str, Outcome] | None:
    """A request's id and what came of it; None where the line is no result."""
    try:
        value: Any = decode_json(line, keep_last=True)
        if not isinstance(value, dict):
            return None
        custom_id = value.get("custom_id")
        if not isinstance(custom_id, str) or len(custom_id) > _MAX_ID:
            return None
        return custom_id, _outcome(value.get("response"), value.get("error"))
    except (ValueError, RecursionError):
        return None


def _outcome(response: Any, error: Any) -> Outcome:
    if isinstance(response, dict):
        status = response.get("status_code")
        body = json.dumps(response.get("body")).encode()
        if isinstance(status, bool) or not isinstance(status, int):
            return _failure(Kind.MALFORMED, "the line has no status code")
        if 200 <= status < 300:
            return read_reply(body, {}, math.nan)
        return read_error(status, body, {}, math.nan)
    if isinstance(error, dict):
        code = error.get("code")
        kinds = {"batch_expired": Kind.EXPIRED, "batch_cancelled": Kind.CANCELLED}
        kind = kinds.get(code, Kind.SERVER_ERROR) if isinstance(code, str) else Kind.SERVER_ERROR
        message = error.get("message")
        return _failure(kind, message if isinstance(message, str) else kind.value)
    return _failure(Kind.MALFORMED, "the line has neither response nor error")


def _failure(kind: Kind, detail: str) -> Outcome:
    return Outcome(kind=kind, detail=one_line(detail))
