"""How a simulated judge heeds what a request sets beside the temperature."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import accumulate, pairwise
from typing import Any

from judgestats.errors import InputError
from judgestats.judges.simulated.replies import Distribution
from judgestats.judges.simulated.wire import RefusedError
from judgestats.judgments.settings import FIELDS

EFFORT: Mapping[str, float] = {
    "none": 1.3,
    "minimal": 1.15,
    "low": 1.0,
    "medium": 0.7,
    "high": 0.45,
    "xhigh": 0.35,
    "max": 0.3,
}
"""Factor on the temperature: a judge that reasons longer scatters less."""
_THOUGHTS = {"minimal": 20, "low": 80, "medium": 240, "high": 700, "xhigh": 1400, "max": 2500}
"""Reasoning tokens of a reply."""
_MOST_LOGPROBS = 20
_HEEDED = ("reasoning_effort", "top_p", "top_k")


def heeded(request: Mapping[str, Any]) -> dict[str, Any]:
    """The settings beside the temperature that change a simulated judge.

    Raises
    ------
    RefusedError
        A value out of range.

    Examples
    --------
    >>> heeded({"model": "sim-typical", "top_p": 0.5})
    {'top_p': 0.5}
    """
    settings = {name: request[name] for name in _HEEDED if request.get(name) is not None}
    for name, value in settings.items():
        try:
            FIELDS[name].check(value)
        except InputError as error:
            raise RefusedError(400, str(error), param=name) from None
    return settings


def effort_of(settings: Mapping[str, Any]) -> tuple[float, int]:
    """The factor on the temperature, and the reasoning tokens of a reply.

    Examples
    --------
    >>> effort_of({"reasoning_effort": "high"}), effort_of({})
    ((0.45, 700), (1.0, 0))
    """
    word = settings.get("reasoning_effort", "")
    return EFFORT.get(word, 1.0), _THOUGHTS.get(word, 0)


def cut_to(chances: Distribution, settings: Mapping[str, Any]) -> Distribution:
    """The distribution that is left by ``top_p`` and ``top_k``: its likeliest verdicts.

    Examples
    --------
    >>> cut_to((("a", "b", "c"), (0.2, 0.7, 1.0)), {"top_p": 0.4})
    (('b',), (1.0,))
    """
    share, most = settings.get("top_p", 1), settings.get("top_k")
    if share >= 1 and most is None:
        return chances
    verdicts, cumulated = chances
    single = [b - a for a, b in pairwise((0.0, *cumulated))]
    kept: list[int] = []
    mass = 0.0
    for place in sorted(range(len(single)), key=lambda i: -single[i])[:most]:
        kept.append(place)
        mass += single[place]
        if mass >= share:
            break
    kept.sort()
    sums = list(accumulate(single[i] for i in kept))
    return tuple(verdicts[i] for i in kept), tuple(s / sums[-1] for s in sums)


_TOKEN = re.compile(r"\d+|[^\W\d]+|\s+|[^\w\s]+|_+")


def weigher(chances: Distribution, request: Mapping[str, Any]) -> Callable[[str], dict[str, Any]]:
    """Log-probabilities of a reply's tokens, before temperature, as `chances` are.

    Only the verdict is uncertain: the last token that is one of the verdicts.

    Examples
    --------
    >>> weigh = weigher(((7, 8), (0.25, 1.0)), {"logprobs": True, "top_logprobs": 2})
    >>> [(t["token"], t["logprob"]) for t in weigh("[[7]]")["content"]]
    [('[[', 0.0), ('7', -1.386294), (']]', 0.0)]
    """
    most = request.get("top_logprobs") or 0
    if not isinstance(most, int) or not 0 <= most <= _MOST_LOGPROBS:
        raise RefusedError(
            400,
            f"'top_logprobs' must be a whole number of 0-{_MOST_LOGPROBS}",
            param="top_logprobs",
        )
    verdicts, cumulated = chances
    single = [b - a for a, b in pairwise((0.0, *cumulated))]
    logprobs = {
        str(v): round(math.log(p), 6) for v, p in zip(verdicts, single, strict=True) if p > 0
    }
    likeliest = sorted(logprobs.items(), key=lambda pair: -pair[1])[:most]

    def weigh(text: str) -> dict[str, Any]:
        tokens = _TOKEN.findall(text)
        last = max((i for i, token in enumerate(tokens) if token in logprobs), default=-1)
        content = []
        for place, token in enumerate(tokens):
            own = logprobs[token] if place == last else 0.0
            top = likeliest if place == last else [(token, 0.0)][:most]
            content.append(
                {
                    "token": token,
                    "logprob": own,
                    "bytes": list(token.encode()),
                    "top_logprobs": [{"token": t, "logprob": value} for t, value in top],
                }
            )
        return {"content": content, "refusal": None}

    return weigh
