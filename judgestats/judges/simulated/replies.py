"""What a simulated judge says: a drawn verdict in the asked-for form."""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from typing import Any

from judgestats.judges.simulated.quality import quality_of, uniform_of
from judgestats.judges.simulated.request_reader import Requested
from judgestats.judges.simulated.truth import Truth
from judgestats.protocols.probes.scales import SCALE_WORDS

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
    answers = list(asked.answers)
    options = len(asked.labels) - asked.tie
    answers = (answers + [f"option {i + 1} of a prompt without marks" for i in range(options)])[
        :options
    ]
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
        written = _written(asked, seed)
        return written[: len(written) // 2] if malformed else written
    verdict = _draw(chances, uniform_of(seed, "verdict"))
    longer = round(math.log2(1 + asked.crowd)) if judge.crowd_gain else 0
    explanation = _explanation(seed, longer) if asked.reasoning != "none" else ""
    if asked.fields is None:
        written = asked.form.format(verdict)
        if malformed:
            written = "My verdict is [["
        parts = {
            "none": [written],
            "before": [explanation, written],
            "after": [written, explanation],
        }[asked.reasoning]
        return "\n\n".join(parts)
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


def _written(asked: Requested, seed: str) -> str:
    """The text that is asked for, in its form."""
    about = asked.answers[0] if asked.answers else ""
    if asked.text == "plan":
        value: Any = "First check that the question is answered. " + _explanation(seed)
    else:
        kept = " ".join(_VERDICT.sub(" ", about).split()) or _explanation(seed)
        value = kept
        if asked.text == "key points":
            points = [p for p in _SENTENCE.split(kept) if p]
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
    for name, spec in (asked.fields or {}).items():
        if name == asked.main:
            filled[name] = verdict
        elif not isinstance(spec, dict):
            filled[name] = explanation or _explanation(seed)
        elif spec.get("enum"):
            options = spec["enum"]
            filled[name] = options[int(uniform_of(seed, name) * len(options))]
        elif spec.get("type") in {"integer", "number"}:
            low, high = int(spec.get("minimum", 0)), int(spec.get("maximum", 10))
            near = low + (high - low) * quality_of(asked.answers[0]) + uniform_of(seed, name) - 0.5
            filled[name] = min(max(round(near), low), high)
        elif spec.get("type") == "boolean":
            filled[name] = quality_of(asked.answers[0]) > 0.5
        elif spec.get("type") == "array":
            filled[name] = [explanation or _explanation(seed)]
        else:
            filled[name] = explanation or _explanation(seed)
    return filled
