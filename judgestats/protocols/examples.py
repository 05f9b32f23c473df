"""Worked examples shown before the case (few-shot), read from a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgestats.errors import InputError

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
