"""Scores and verdicts weighted by token probabilities."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgestats.files.text import decode_json

VERDICT_WORDS = ("pass", "fail", "correct", "incorrect")
"""Words whose tokens are kept with a reply's log-probabilities."""
_AROUND = " \n\t\u2581\u0120[]*\"'`"
_LEAST = 2
"""Letters with which a token begins a word: one alone may begin too many."""
_MOST_MASS = 1.01
"""Tokens whose probabilities sum to more than 1 (but for rounding) are not an answer."""

WeightedPlace = tuple[int, str, str, dict[str, float]]
"""Place in the reply, token before, token, and log-probabilities by token."""


@dataclass(frozen=True, slots=True)
class WordChance:
    """The chance of the first word among the two, and the probability that is on them."""

    first: float
    mass: float


def begins_verdict(token: str) -> bool:
    """Whether a token is one of the verdicts' words, or begins one.

    Examples
    --------
    >>> begins_verdict(" pass"), begins_verdict("[[fa"), begins_verdict("answer")
    (True, True, False)
    """
    return any(_begins(token, word) for word in VERDICT_WORDS)


def word_chance(
    places: Sequence[WeightedPlace], text: str, words: tuple[str, str]
) -> WordChance | None:
    """The chances of two words where one of them was interpreted as the verdict.

    Parameters
    ----------
    places : sequence of places
        Of `unpack_reply`.
    text : str
        The verdict.
    words : tuple of str
        The two words; the first is the one whose chance is returned.

    Returns
    -------
    WordChance or None
        None where the verdict's token is not found, or its position shows no chances.

    Examples
    --------
    >>> top = {"pass": math.log(0.6), "fail": math.log(0.2), "Well": math.log(0.2)}
    >>> word_chance([(1, "[[", "pass", top)], "pass", ("pass", "fail"))
    WordChance(first=0.75, mass=0.8)
    """
    starts = [
        place
        for place in places
        if _begins(place[2], text) and not place[1].strip(_AROUND).lower().endswith("in")
    ]
    if not starts:
        return None
    marked = [place for place in starts if place[1].rstrip().endswith("[")]
    top = (marked or starts)[-1][3]
    chances = [sum(math.exp(v) for t, v in top.items() if _begins(t, word)) for word in words]
    mass = sum(chances)
    if not 0 < mass <= _MOST_MASS:
        return None
    return WordChance(first=round(chances[0] / mass, 6), mass=round(min(mass, 1.0), 6))


def _begins(token: str, word: str) -> bool:
    text = token.strip(_AROUND).lower()
    return len(text) >= _LEAST and word.startswith(text)


TOP = 20
"""Likeliest tokens asked for at each position: the most that OpenAI gives."""
LEAST_MASS = 0.5
"""Below this share of the probability on the scale there is no weighted score."""

_KEPT = 8
"""Tokens of either kind that are kept from the start of a reply, and as many from its end."""
_LONGEST = 24
_BEFORE = 4
"""Characters kept of the token before: too few to hold a part of a secret that is worth one."""
_LOWEST = -1e9
_ROUNDING = 1e-6
_SPACES = " \n\t\u2581\u0120"


@dataclass(frozen=True, slots=True)
class Weighted:
    """The score to be expected of a reply, and the share of the probability that is on the scale.

    The rest is on other tokens, or on tokens that were not returned.
    """

    score: float
    mass: float


def pack_reply(text: str, logprobs: Any) -> str:
    """A reply with its log-probabilities, as it is kept; the text alone where there are none.

    Parameters
    ----------
    text : str
    logprobs : anything
        As it is in a choice of a chat completion.

    Examples
    --------
    >>> pack_reply("8", None)
    '8'
    >>> top = [{"token": "8", "logprob": -0.1}, {"token": "7", "logprob": -2.4}]
    >>> pack_reply("8", {"content": [{"token": "8", "logprob": -0.1, "top_logprobs": top}]})
    '{"reply":"8","logprobs":[[0,"","8",{"8":-0.1,"7":-2.4}]]}'
    """
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list):
        return text
    numbers: list[WeightedPlace] = []
    words: list[WeightedPlace] = []
    before = ""
    for place, entry in enumerate(content):
        token = entry.get("token") if isinstance(entry, Mapping) else None
        if not isinstance(token, str):
            return text
        digit = any(c.isdigit() for c in token)
        if (digit or begins_verdict(token)) and len(token) <= _LONGEST:
            kept = numbers if digit else words
            kept.append((place, before[-_BEFORE:], token, _likeliest(entry)))
        before = token
    places = sorted([*_ends(numbers), *_ends(words)], key=lambda p: p[0])
    whole = {"reply": text, "logprobs": places}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def _ends(places: list[WeightedPlace]) -> list[WeightedPlace]:
    return places if len(places) <= 2 * _KEPT else [*places[:_KEPT], *places[-_KEPT:]]


def _likeliest(entry: Mapping[str, Any]) -> dict[str, float]:
    """The log-probabilities at a position; entries that are not such numbers are left out."""
    top = entry.get("top_logprobs")
    values: dict[str, float] = {}
    for one in [*(top[:TOP] if isinstance(top, list) else []), entry]:
        token = one.get("token") if isinstance(one, Mapping) else None
        if isinstance(token, str) and len(token) <= _LONGEST and token not in values:
            value = log_probability(one.get("logprob"))
            if value is not None:
                values[token] = value
    return values


def log_probability(value: Any) -> float | None:
    """A number up to 0, rounded; None of anything else that JSON can hold.

    Examples
    --------
    >>> log_probability(-0.1234567), log_probability(-(10**400)), log_probability(True)
    (-0.12346, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not _LOWEST <= value <= _ROUNDING:  # NaN, infinities, and whole numbers past any float
        return None
    return round(min(float(value), 0.0), 5)


def unpack_reply(kept: str) -> tuple[str, list[WeightedPlace]]:
    """The text and the positions of a kept reply; any other text is the reply itself.

    Examples
    --------
    >>> unpack_reply('{"reply":"8","logprobs":[[0,"","8",{"8":-0.1}]]}')
    ('8', [(0, '', '8', {'8': -0.1})])
    >>> unpack_reply("[[8]]")
    ('[[8]]', [])
    """
    if not kept.startswith('{"reply":'):
        return kept, []
    try:
        value = decode_json(kept)
        reply, places = value["reply"], [_parse_token(*one) for one in value["logprobs"]]
    except (ValueError, TypeError, KeyError, AttributeError):
        return kept, []  # a reply that only looks like one
    return (reply, places) if isinstance(reply, str) else (kept, [])


def _parse_token(place: Any, before: Any, token: Any, top: Any) -> WeightedPlace:
    values = {str(name): log_probability(value) for name, value in top.items()}
    if not isinstance(place, int) or None in values.values():
        raise ValueError("not as `pack_reply` writes it")
    return place, str(before), str(token), {k: v for k, v in values.items() if v is not None}


def weighted_score(
    places: Sequence[WeightedPlace], score: float, low: int, high: int
) -> Weighted | None:
    """The expected score over the tokens of a scale, at the place where a score was read.

    Parameters
    ----------
    places : sequence of places
        Of `unpack_reply`.
    score : float
        The score that was read.
    low, high : int
        The scale.

    Returns
    -------
    Weighted or None
        None where the score's token is not found, its tokens' probabilities are not reported, or
        they sum to more than 1. A token that may be a whole score or the start of another (1 of 10,
        where a tokenizer cuts numbers into digits) counts only where what follows is reported.

    Examples
    --------
    >>> top = {"8": math.log(0.6), "7": math.log(0.2), "Well": math.log(0.1)}
    >>> weighted_score([(0, "", "8", top)], 8.0, 1, 10)
    Weighted(score=7.75, mass=0.8)
    """
    wanted = str(int(score)) if float(score).is_integer() else ""
    starts = [i for i in range(len(places)) if wanted and _number_at(places, i) == wanted]
    if not starts:
        return None
    marked = [i for i in starts if places[i][1].rstrip().endswith("[")]
    start = (marked or starts)[-1]
    first = _text_probabilities(places[start][3])
    chosen = places[start][2].strip(_SPACES)
    nexts: dict[str, float] = {}
    if start + 1 < len(places) and places[start + 1][0] == places[start][0] + 1:
        nexts = _text_probabilities(places[start + 1][3])
    scale = [str(value) for value in range(low, high + 1)]
    chances = dict.fromkeys(scale, 0.0)
    for token, chance in first.items():
        longer = [v for v in scale if v != token and v.startswith(token)]
        whole = not longer or any(v in first for v in longer)  # numbers are single tokens here
        if token in chances and whole:
            chances[token] += chance
        elif longer and token == chosen and nexts:
            goes_on = {v: nexts.get(v[len(token) :], 0.0) for v in longer}
            for value, share in goes_on.items():
                chances[value] += chance * share
            if token in chances:
                chances[token] += chance * max(0.0, 1 - sum(goes_on.values()))
    mass = sum(chances.values())
    if not 0 < mass <= _MOST_MASS:
        return None
    expected = sum(int(v) * p for v, p in chances.items()) / mass
    return Weighted(score=round(expected, 6), mass=round(min(mass, 1.0), 6))


def _number_at(places: Sequence[WeightedPlace], start: int) -> str:
    """The number that begins with a token and goes on in the tokens right behind it."""
    if start and places[start - 1][0] == places[start][0] - 1 and _is_digits(places[start - 1][2]):
        return ""  # its middle
    number, at = places[start][2].strip(_SPACES), start
    while at + 1 < len(places) and places[at + 1][0] == places[at][0] + 1:
        if not (_is_digits(number) and places[at + 1][2].isdigit()):
            break
        at += 1
        number += places[at][2]
    return number if _is_digits(number) else ""


def _is_digits(token: str) -> bool:
    text = token.strip(_SPACES)
    return text.isascii() and text.isdigit()


def _text_probabilities(top: Mapping[str, float]) -> dict[str, float]:
    """Probabilities by what a token says: " 8" and "8" are one."""
    chances: dict[str, float] = {}
    for token, value in top.items():
        text = token.strip(_SPACES)
        chances[text] = chances.get(text, 0.0) + math.exp(value)
    return chances
