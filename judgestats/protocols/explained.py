"""Verdicts with reasons, worked examples, and scoring guidelines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Scale
from judgestats.protocols.template import PromptTemplate


def explained_schema(
    name: str, description: str, verdict: Mapping[str, Any], *, called: str, reasoning: str
) -> ReplySchema:
    """A verdict, and its reasons where they are asked for, in the order asked for.

    Parameters
    ----------
    name, description : str
        Of the tool.
    verdict : mapping
        The verdict's own schema: a number is the field ``score``, a word ``choice``.
    called : str
        What the reasons are for: score, choice, verdict.
    reasoning : {"none", "before", "after"}

    Returns
    -------
    ReplySchema

    Examples
    --------
    >>> said = explained_schema("t", "d", {"type": "integer"}, called="score", reasoning="before")
    >>> list(said.schema["properties"])
    ['explanation', 'score']
    """
    field = "score" if verdict["type"] == "integer" else "choice"
    own = {field: dict(verdict)}
    explain = {"explanation": {"type": "string", "description": f"The reasons for the {called}."}}
    fields = {"none": own, "before": explain | own, "after": own | explain}[reasoning]
    return ReplySchema(
        name=name,
        description=description,
        schema={
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        },
    )


def explained_words(verdict: str, reasoning: str) -> str:
    """Whether and when the judge is to explain itself.

    Examples
    --------
    >>> explained_words("score", "none")
    'Reply with the score only.'
    """
    return {
        "none": f"Reply with the {verdict} only.",
        "before": f"Think step by step: first explain your judgment, then give the {verdict}.",
        "after": f"First give the {verdict}, then explain it.",
    }[reasoning]


def prompted(
    template: PromptTemplate,
    values: Mapping[str, str],
    *,
    mode: ReplyMode,
    schema: ReplySchema,
    seal: str = "",
) -> Prompted:
    """A template filled, with the reply's schema where the mode has one."""
    return Prompted(
        messages=template.ask(values, seal=seal),
        mode=mode,
        prompt_sha=template.sha,
        instruction=template.instruction(values),
        schema=None if mode is ReplyMode.TEXT else schema,
    )


_VERDICTS = ("A", "B", "tie")
_MAX_EXAMPLES = 50


@dataclass(frozen=True, kw_only=True)
class Example:
    """A pair with its verdict, as it should have been judged."""

    question: str
    response_a: str
    response_b: str
    choice: str
    explanation: str = ""


def load_examples(path: str | Path) -> tuple[Example, ...]:
    """Read examples from a JSON-lines file.

    Parameters
    ----------
    path : path
        One object a line: ``question``, ``response_a``, ``response_b``, ``choice`` (A, B or tie)
        and, if wanted, ``explanation``.

    Returns
    -------
    tuple of Example

    Raises
    ------
    InputError
        If the file is missing or a line is not of that form.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"examples: there is no file {str(path)!r}.")
    examples = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            example = Example(**{k: str(v) for k, v in values.items()})
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(
                f"examples: {path.name}, line {number}: expected an object with question, "
                f"response_a, response_b, choice and perhaps explanation ({error})."
            ) from error
        if example.choice not in _VERDICTS:
            raise InputError(
                f"examples: {path.name}, line {number}: choice must be one of "
                f"{', '.join(_VERDICTS)}, got {example.choice!r}."
            )
        examples.append(example)
    if not 1 <= len(examples) <= _MAX_EXAMPLES:
        raise InputError(
            f"examples: {path.name} must hold 1 to {_MAX_EXAMPLES} examples, got {len(examples)}."
        )
    return tuple(examples)


def examples_text(examples: Sequence[Example], *, reasoning: str) -> str:
    """The examples as a block of the prompt; each stands between marks of its own.

    Parameters
    ----------
    examples : sequence of Example
    reasoning : {"none", "before", "after"}
        Where the explanation stands, as in the reply that is asked for.
    """
    blocks = []
    for number, e in enumerate(examples, start=1):
        reasons = [f"Explanation: {e.explanation}"] if e.explanation and reasoning != "none" else []
        verdict = [f"Verdict: {e.choice}"]
        order = reasons + verdict if reasoning == "before" else verdict + reasons
        blocks.append(
            "\n".join(
                [
                    f"[The Start of Example {number}]",
                    f"Question: {e.question}",
                    f"Assistant A: {e.response_a}",
                    f"Assistant B: {e.response_b}",
                    *order,
                    f"[The End of Example {number}]",
                ]
            )
        )
    return "\n\n".join(blocks)


GUIDELINES = ("none", "anchors", "words", "paragraphs", "subscores")
"""The bundled levels, from nothing to a sum of sub-scores."""
GUIDELINE_SCALE = Scale(1, 10)
"""What the bundled levels are written for."""

_PLACE = "{guideline}"
_MAX_CHARS = 50_000


def guideline_level(name_or_path: str) -> str:
    """What a level is called in results: a bundled name as it is, a file by its stem.

    Examples
    --------
    >>> guideline_level("texts/my rubric.txt")
    'my rubric'
    """
    return name_or_path if name_or_path in GUIDELINES else Path(name_or_path).stem


def guideline_text(name_or_path: str, *, scale: Scale | None = None) -> str:
    """The text of a guideline: bundled, by name, or a user's own file.

    Parameters
    ----------
    name_or_path : str
    scale : Scale, optional
        The scale in use. The bundled texts speak of 1-10.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If there is no such guideline or file, or it does not fit the scale.

    Examples
    --------
    >>> guideline_text("none")
    ''
    >>> "mediocre" in guideline_text("anchors")
    True
    """
    if name_or_path in GUIDELINES:
        if name_or_path != "none" and scale is not None and scale != GUIDELINE_SCALE:
            raise InputError(
                f"guidelines: the bundled guideline {name_or_path!r} is written for the scale "
                f"1-10, not {scale}. Use scale=1-10, or give text files of your own."
            )
        folder = resources.files("judgestats.protocols").joinpath("guidelines")
        return folder.joinpath(f"{name_or_path}.txt").read_text(encoding="utf-8").strip()
    path = Path(name_or_path)
    if not path.is_file():
        raise InputError(
            f"guidelines: there is no file {name_or_path!r}, and no bundled guideline of that name "
            f"(there are: {', '.join(GUIDELINES)})."
        )
    try:
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise InputError(f"guidelines: {name_or_path} is not UTF-8 text ({error}).") from error
    if not text or len(text) > _MAX_CHARS:
        raise InputError(
            f"guidelines: {name_or_path} must hold 1 to {_MAX_CHARS} characters, got {len(text)}. "
            "For no guideline at all write none."
        )
    return text


def with_guideline(template: PromptTemplate, text: str) -> PromptTemplate:
    """The prompt with a guideline in its place, so that the prompt's hash tells levels apart.

    Raises
    ------
    InputError
        If the prompt has no ``{guideline}``.

    Examples
    --------
    >>> t = PromptTemplate(text="{question} {response} {guideline}", name="mine")
    >>> with_guideline(t, "10 is best.").text
    '{question} {response} 10 is best.'
    """
    if "guideline" not in template.placeholders:
        raise InputError(
            f"prompt {template.name!r}: the text lacks {{guideline}}, so all guidelines would ask "
            "alike. Put {guideline} where the guideline belongs."
        )
    return replace(template, text=template.text.replace(_PLACE, text))
