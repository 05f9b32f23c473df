"""The chance of each of two words at the place where a verdict was read, from log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

VERDICT_WORDS = ("pass", "fail", "correct", "incorrect")
"""Words whose tokens are kept with a reply's log-probabilities."""
_AROUND = " \n\t\u2581\u0120[]*\"'`"
_LEAST = 2
"""Letters with which a token begins a word: one alone may begin too many."""
_MOST_MASS = 1.01

Place = tuple[int, str, str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class WordChance:
    """The chance of the first word among the two, and the probability that lies on them."""

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


def word_chance(places: Sequence[Place], text: str, words: tuple[str, str]) -> WordChance | None:
    """The chances of two words where one of them was read as the verdict.

    Parameters
    ----------
    places : sequence of places
        Of `without_logprobs`.
    text : str
        The verdict.
    words : tuple of str
        The two, the one whose chance is wanted first.

    Returns
    -------
    WordChance or None
        None where the verdict's token is not found, or its place tells no chances.

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
