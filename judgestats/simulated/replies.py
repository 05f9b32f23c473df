"""Replies of simulated judges and answer models, and sampling fields."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

from judgestats.data.columns import FIELDS
from judgestats.errors import InputError
from judgestats.protocols.probes.protocols import SCALE_WORDS
from judgestats.simulated.judges import Truth, normal_of, quality_of, stated_quality, uniform_of
from judgestats.simulated.request_reader import Requested


class RefusedError(Exception):
    """A request that is answered with an error status."""

    def __init__(self, status: int, message: str, *, param: str = "", code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code


Distribution = tuple[tuple[Any, ...], tuple[float, ...]]
"""Verdicts and their cumulated probabilities."""

_REASONS = (
    "It addresses the question directly and most of what it states is accurate.",
    "The structure is clear, although some details are left out.",
    "A few claims would need support.",
    "The wording is easy to follow and to the point.",
    "It misses part of what was asked.",
    "The examples help, and the conclusion follows from them.",
)
_NO_VERDICT = (
    "There are points in favour and points against; much depends on what the user had in mind.",
    "The answer has merits and weaknesses, and I would rather not reduce them to one verdict.",
    "I'm sorry, but I cannot judge this response.",
)
_VERDICT = re.compile(r"\[\[.*?\]\]|^Verdict:.*$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def distribution(truth: Truth, asked: Requested, temperature: float | None) -> Distribution:
    """The verdicts that may be given, with cumulated probabilities."""
    if asked.kind == "text":
        return (asked.text,), (1.0,)
    words = set(asked.labels) == set(SCALE_WORDS)
    if asked.kind == "score" or words:
        low, high = (1, len(SCALE_WORDS)) if words else (asked.low, asked.high)
        scores = truth.score_probabilities(
            asked.question,
            asked.answers[0],
            temperature=temperature,
            low=low,
            high=high,
            reasoning=asked.reasoning,
            guided=asked.guided,
            note=asked.note,
            wording=asked.wording,
            turned=asked.turned,
            worded=words,
        )
        levels = (SCALE_WORDS[k - 1] if words else k for k in scores)
        return tuple(levels), tuple(accumulate(scores.values()))
    if set(asked.labels) == {"pass", "fail"} and len(asked.answers) == 1:
        passes = truth.pass_probability(
            asked.answers[0], temperature=temperature, reasoning=asked.reasoning
        )
        chances = [passes if label == "pass" else 1 - passes for label in asked.labels]
        return asked.labels, tuple(accumulate(chances))
    options = len(asked.labels) - asked.tie
    others = (f"option {i + 1} of a prompt without marks" for i in range(options))
    answers = [*asked.answers, *others][:options]
    chosen = truth.choice_probabilities(
        answers,
        temperature=temperature,
        tie=asked.tie,
        reasoning=asked.reasoning,
        crowd=asked.crowd,
        question=asked.question,
        note=asked.note,
        named=asked.named,
        wording=asked.wording,
    )
    return asked.labels, tuple(accumulate(chosen))


def reply_text(truth: Truth, asked: Requested, chances: Distribution, seed: str) -> str:
    """One reply; `seed` fixes it.

    Parameters
    ----------
    truth : Truth
    asked : Requested
    chances : Distribution
    seed : str
        Names the draw: the same seed gives the same reply.
    """
    judge = truth.judge
    bad = uniform_of(seed, "form")
    if bad < judge.nonresponse:
        text = _NO_VERDICT[int(uniform_of(seed, "which") * len(_NO_VERDICT))]
        return text if asked.fields is None else json.dumps({"comment": text})
    malformed = bad < judge.nonresponse + judge.malformed
    if asked.kind == "text":
        written = _write_text(asked, seed)
        return written[: len(written) // 2] if malformed else written
    verdict = _draw(chances, uniform_of(seed, "verdict"))
    longer = round(math.log2(1 + asked.crowd)) if judge.crowd_gain else 0
    explanation = _explanation(seed, longer) if asked.reasoning != "none" else ""
    if asked.fields is None:
        written = "My verdict is [[" if malformed else asked.form.format(verdict)
        parts = {"before": (explanation, written), "after": (written, explanation)}
        return "\n\n".join(parts.get(asked.reasoning, (written,)))
    value = json.dumps(_object(asked, verdict, explanation, seed))
    return value[: len(value) // 2] if malformed else value


def _draw(chances: Distribution, uniform: float) -> Any:
    values, cumulated = chances
    target = uniform * cumulated[-1]
    for value, bound in zip(values, cumulated, strict=True):
        if target < bound:
            return value
    return values[-1]


def _explanation(seed: str, longer: int = 0) -> str:
    count = 2 + int(uniform_of(seed, "length") * 3) + longer
    start = int(uniform_of(seed, "start") * len(_REASONS))
    return " ".join(_REASONS[(start + i) % len(_REASONS)] for i in range(count))


def _write_text(asked: Requested, seed: str) -> str:
    """The text that is asked for, in its form."""
    about = asked.answers[0] if asked.answers else ""
    value: Any = " ".join(_VERDICT.sub(" ", about).split()) or _explanation(seed)
    if asked.text == "plan":
        value = "First check that the question is answered. " + _explanation(seed)
    elif asked.text == "key points":
        points = [p for p in _SENTENCE.split(value) if p]
        value = [
            {"aspect": f"aspect {i // 2 + 1}", "points": points[i : i + 2]}
            for i in range(0, len(points), 2)
        ]
    if asked.fields is not None:
        return json.dumps({asked.main: value})
    if asked.text != "key points":
        return str(value)
    return "\n".join(
        line
        for i, entry in enumerate(value, start=1)
        for line in (f"{i}. {entry['aspect']}", *(f"- {p}" for p in entry["points"]))
    )


def _object(asked: Requested, verdict: Any, explanation: str, seed: str) -> dict[str, Any]:
    """A value for every field of the schema, in its order."""
    filled: dict[str, Any] = {}
    for name, declared in (asked.fields or {}).items():
        spec = declared if isinstance(declared, dict) else {}
        if name == asked.main:
            filled[name] = verdict
        elif spec.get("enum"):
            options = spec["enum"]
            filled[name] = options[int(uniform_of(seed, name) * len(options))]
        elif spec.get("type") in {"integer", "number"}:
            low, high = int(spec.get("minimum", 0)), int(spec.get("maximum", 10))
            near = low + (high - low) * quality_of(asked.answers[0]) + uniform_of(seed, name) - 0.5
            filled[name] = min(max(round(near), low), high)
        elif spec.get("type") == "boolean":
            filled[name] = quality_of(asked.answers[0]) > 0.5
        else:
            said = explanation or _explanation(seed)
            filled[name] = [said] if spec.get("type") == "array" else said
    return filled


_LOWEST, _HIGHEST = 0.05, 0.98
_SENTENCES = (
    "First, it helps to say what is asked.",
    "The question names everything that is needed.",
    "One step follows from the one before.",
    "Two cases have to be told apart, and only one of them applies.",
    "A quick check with numbers agrees with this.",
    "An exception is possible but does not matter here.",
    "So the parts can be put together.",
    "The final answer follows from the last step.",
)


@dataclass(frozen=True, kw_only=True)
class SimulatedAnswerer:
    """A simulated model that answers.

    An answer's quality is ``skill + question_effect * z1 + heat * T * z2``, cut to 0.05-0.98, with
    z1 standard normal and fixed per model and question, z2 standard normal and drawn again.

    Attributes
    ----------
    skill : float
        Mean quality of its answers, in 0-1.
    question_effect, heat : float
        Standard deviations of quality: over questions, and over draws at T = 1.
    """

    name: str
    skill: float
    question_effect: float = 0.12
    heat: float = 0.12


_COUNT = 11
_BY_NAME = {
    f"sim-answerer-{n}": SimulatedAnswerer(name=f"sim-answerer-{n}", skill=0.25 + 0.05 * n)
    for n in range(1, _COUNT + 1)
}


def simulated_answerers() -> tuple[str, ...]:
    """Names of the simulated models that answer, from the weakest to the strongest.

    Examples
    --------
    >>> simulated_answerers()[0]
    'sim-answerer-1'
    """
    return tuple(_BY_NAME)


def simulated_answerer(name: str) -> SimulatedAnswerer:
    """The parameters of a simulated model that answers.

    Raises
    ------
    InputError
        Where there is none of that name.

    Examples
    --------
    >>> simulated_answerer("sim-answerer-11").skill
    0.8
    """
    if name not in _BY_NAME:
        raise InputError(
            f"simulated answerer: there is none called {name!r}. There are: {', '.join(_BY_NAME)}."
        )
    return _BY_NAME[name]


@lru_cache(maxsize=1)
def _bank() -> dict[str, list[tuple[float, str]]]:
    """The bundled bank's answers with their designed quality, by question."""
    from judgestats.items.bank import load_bank

    return {
        item.question.strip(): [
            (r.quality, r.text) for r in item.responses if r.quality is not None
        ]
        for item in load_bank()
    }


def answer_text(
    answerer: SimulatedAnswerer, question: str, temperature: float | None, seed: str
) -> str:
    """One answer; `seed` fixes it.

    A question of the bundled bank is answered with the bank's answer whose designed quality is
    nearest to the one drawn; any other with sentences that say nothing. The last line states the
    quality, by which a simulated judge knows it (and a reader, that nobody wrote this).

    Parameters
    ----------
    answerer : SimulatedAnswerer
    question : str
    temperature : float or None
        None is the server's default, 1.
    seed : str
        Names the draw: the same seed gives the same answer.

    Examples
    --------
    >>> said = answer_text(simulated_answerer("sim-answerer-3"), "Why?", temperature=0, seed="0")
    >>> said.splitlines()[-1]
    '(A simulated answer of quality 0.55.)'
    """
    hot = 1.0 if temperature is None else temperature
    quality = answerer.skill
    quality += answerer.question_effect * normal_of("skill", answerer.name, question)
    if hot > 0:
        quality += answerer.heat * hot * normal_of("draw", answerer.name, question, seed)
    quality = min(max(quality, _LOWEST), _HIGHEST)
    by_quality = _bank().get(question)
    if by_quality:
        body = min(by_quality, key=lambda pair: abs(pair[0] - quality))[1]
    else:
        length = 2 + int(uniform_of("length", answerer.name, question) * (len(_SENTENCES) - 2))
        body = " ".join(_SENTENCES[-length:])
    return f"{body}\n\n{stated_quality(quality)}"


EFFORT: Mapping[str, float] = {
    "none": 1.3,
    "minimal": 1.15,
    "low": 1.0,
    "medium": 0.7,
    "high": 0.45,
    "xhigh": 0.35,
    "max": 0.3,
}
"""Factor on the temperature: a judge that reasons longer varies less."""
_THOUGHTS = {"minimal": 20, "low": 80, "medium": 240, "high": 700, "xhigh": 1400, "max": 2500}
"""Reasoning tokens of a reply."""
_MOST_LOGPROBS = 20
_HEEDED = ("reasoning_effort", "top_p", "top_k")


def heeded(request: Mapping[str, Any]) -> dict[str, Any]:
    """The settings next to the temperature that change a simulated judge.

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
        wrong = f"'top_logprobs' must be a whole number of 0-{_MOST_LOGPROBS}"
        raise RefusedError(400, wrong, param="top_logprobs")
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
