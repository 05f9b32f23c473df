"""Training and validation parts that share no question."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from judgestats.errors import InputError
from judgestats.training.examples import Example


@dataclass(frozen=True, kw_only=True)
class Split:
    """The two parts, and the number of questions (or what ties questions together) in each."""

    train: tuple[Example, ...]
    validation: tuple[Example, ...]
    train_questions: int
    validation_questions: int


def split_by_question(examples: Sequence[Example], *, share: float = 0.1, seed: int = 0) -> Split:
    """Put whole questions into training or validation.

    Parameters
    ----------
    examples : sequence of Example
    share : float
        Part of the questions that goes to validation, 0 up to .5; rounded to whole questions, at
        least one unless it is 0.
    seed : int

    Returns
    -------
    Split
        Examples of one cluster, and those with the same question in whatever cluster or run, stay
        together. The place of a question hangs on the seed and its text alone.

    Raises
    ------
    InputError
        If the share is out of range, or there are too few questions to divide.
    """
    if not (0 <= share <= 0.5 and math.isfinite(share)):
        raise InputError(f"export: the validation share must be 0 to 0.5, got {share}.")
    root = _together(examples)
    groups: dict[int, list[int]] = {}
    for place in range(len(examples)):
        groups.setdefault(root[place], []).append(place)

    def draw(group: list[int]) -> str:
        first = min(examples[i].question for i in group)
        return hashlib.sha256(f"{seed}\0{first}".encode()).hexdigest()

    drawn = sorted(groups.values(), key=draw)
    wanted = 0 if share == 0 else max(1, math.floor(share * len(drawn) + 0.5))
    if wanted >= len(drawn) > 0:
        raise InputError(
            f"export: {len(drawn)} question(s) cannot be divided into training and validation. "
            "Give more judgments, or --validation 0."
        )
    held = {i for group in drawn[:wanted] for i in group}
    return Split(
        train=tuple(x for i, x in enumerate(examples) if i not in held),
        validation=tuple(x for i, x in enumerate(examples) if i in held),
        train_questions=len(drawn) - wanted,
        validation_questions=wanted,
    )


def _together(examples: Sequence[Example]) -> list[int]:
    """For each example the first one that it must stay with (through clusters and questions)."""
    parent = list(range(len(examples)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[tuple[str, ...], int] = {}
    for i, example in enumerate(examples):
        plain = " ".join(example.question.split()).casefold()
        for key in (("cluster", example.run, example.cluster), ("question", plain)):
            a, b = find(first.setdefault(key, i)), find(i)
            parent[max(a, b)] = min(a, b)
    return [find(i) for i in range(len(examples))]
