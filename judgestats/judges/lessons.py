"""What a reply teaches of an endpoint: a mode ignored or refused, a field refused, a judge lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from judgestats.judges.endpoint import Endpoint
from judgestats.judges.negotiation import Abilities, Sent, next_mode, subject
from judgestats.judges.outcomes import Kind, Outcome, Parameter, one_line
from judgestats.judges.spec import JudgeSpec, key_hint

_ERRS = 3
"""Server errors in a row after which the reply mode is suspected, where none is proven."""
_WHOLE = frozenset({"", "stop", "eos", "end_turn", "tool_calls", "function_call"})
"""Reasons of an end that leave an answer whole."""
_LESSONS: Mapping[str, str] = {
    Parameter.REPLY_FORMAT: "asked in the next reply mode",
    Parameter.UNKNOWN: "asked in the next reply mode",
    Parameter.CHOICES: "asked one by one",
    Parameter.SEED: "asked without a seed",
    "max_tokens": "asked with max_tokens",
}


def mode_ignored(endpoint: Endpoint, sent: Sent, outcome: Outcome) -> bool:
    """Whether a first answer shows no trace of the form asked for: the next mode is tried.

    Some servers take ``response_format`` or tools and do as they like.
    """
    if endpoint.abilities.proven or endpoint.spec.in_process or next_mode(sent.mode) is None:
        return False
    whole = [c.text for c in outcome.choices if c.finish_reason in _WHOLE and c.text.strip()]
    if not whole or any(_is_object(text) for text in whole):
        return False
    words = f"ignores the reply mode {sent.mode.value}, and answers {one_line(whole[0])[:60]!r}"
    endpoint.notes[f"{endpoint.spec.name}: {words} (asked in the next reply mode)"] = None
    endpoint.learn(endpoint.abilities.below(sent.mode))
    return True


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def taught(
    endpoint: Endpoint, sent: Sent, outcome: Outcome, condition: str = "", *, tried: int = 1
) -> bool:
    """Whether the outcome is a refusal that teaches something: asking anew is worth while."""
    if outcome.kind is Kind.SERVER_ERROR and not endpoint.abilities.proven and tried == _ERRS:
        # a server that breaks over a schema says 500 to it again and again
        lower = endpoint.abilities.below(sent.mode)
        if lower == endpoint.abilities:
            return False
        words = f"HTTP {outcome.status} {_ERRS} times in reply mode {sent.mode.value}"
        endpoint.notes[f"{endpoint.spec.name}: {words} (asked in the next reply mode)"] = None
        endpoint.learn(lower)
        return True
    if outcome.kind is not Kind.BAD_REQUEST:
        return False
    about = subject(outcome, sent)
    if about == Parameter.UNKNOWN and endpoint.streaks.mode_is_blameless(condition):
        return False
    lesson = endpoint.abilities.taught_by(outcome, sent=sent)
    if lesson is None:
        endpoint.learn(endpoint.abilities.unsettled())
        return False
    endpoint.notes[f"{endpoint.spec.name}: {outcome.detail} ({_lesson(about, sent, lesson)})"] = (
        None
    )
    endpoint.learn(lesson)
    return True


def _lesson(about: str, sent: Sent, learned: Abilities) -> str:
    """What a refusal leads to, as a note says it."""
    if about in learned.left_out:
        return f"asked without {about}"
    if (about, sent.settings.get(about)) in learned.refused:
        way = "; temperatures=default leaves it out" if about == "temperature" else ""
        return f"the condition is invalid; it was not run at another {about}{way}"
    return _LESSONS[about]


def why_fatal(spec: JudgeSpec, outcome: Outcome) -> str:
    """Why asking a judge on is of no use; empty where it may be."""
    status = f"(HTTP {outcome.status}: {outcome.detail})"
    head = f"judge {spec.name!r}: {spec.base_url}"
    if outcome.kind is Kind.KEY_REFUSED:
        return f"{head} refuses the key {status}. Check {key_hint(spec.base_url)}."
    if outcome.kind is Kind.NO_PERMISSION:
        return f"{head} does not permit it {status}. The key may be right and still lack the right."
    if outcome.kind is Kind.UNKNOWN_MODEL:
        return f"{head} does not know the model {spec.model!r} {status}. Check name and base URL."
    if outcome.kind is Kind.WRONG_PATH:
        path = urlsplit(spec.base_url).path.rstrip("/")
        hint = f" Most servers want {spec.base_url}/v1." if not path.endswith("/v1") else ""
        return f"{head} has no chat completions there {status}. Check the base URL.{hint}"
    if outcome.kind is Kind.NO_QUOTA:
        return f"judge {spec.name!r}: the quota is used up ({outcome.detail})."
    return ""
