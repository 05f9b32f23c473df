"""Parameters that only experiments with selections take."""

from __future__ import annotations

from typing import Annotated

from judgestats.experiment.answering import AnswerParameters
from judgestats.experiment.levels import Levels
from judgestats.experiment.own_prompts import OwnReasoning
from judgestats.experiment.parameter_types import Choice, Choices, Names, Read, Whole, parameter
from judgestats.protocols.selection import READINGS, SELECTION_PROMPTS

__all__ = [
    "SELECTION_LEVELS",
    "BestOfParameters",
    "SelectionParameters",
]


_SHOWN = "responses shown of each item (drawn by seed where there are more), or all"


class _Options(OwnReasoning):
    option_template: Annotated[str, Read(lambda _, text: text.replace("\\n", "\n"))] = parameter(
        "",
        "how an option is written, with {label} or {n} and {text}, as in [{label}]: {text}; "
        "between the marks of the frame by default",
    )


class SelectionParameters(_Options):
    """Of the experiment that shows all options in every rotation."""

    prompts: Names = parameter(
        ",".join(SELECTION_PROMPTS),
        "judge prompts: 1-4 or text files of your own with {question} and {options}",
    )
    unrelated: Annotated[tuple[str, ...], Choices("no", "yes")] = parameter(
        "no,yes", "without and with an option that answers another question"
    )
    options: Annotated[int | None, Whole(2, or_word="all")] = parameter("all", _SHOWN)
    replicates: Annotated[int, Whole(1, 100_000)] = parameter(
        "1",
        "repetitions of every rotation; 2 or more tell position from noise",
        logged="design/replicates",
    )


class BestOfParameters(AnswerParameters, _Options):
    """Of the experiment on the best of several answers, which models may give first."""

    options: Annotated[int | None, Whole(2, or_word="all")] = parameter("5", _SHOWN)
    per_category: Annotated[int | None, Whole(1, or_word="all")] = parameter(
        "all", "questions drawn from each category (BBH task, SQuAD article, ...), or all"
    )
    reading: Annotated[str, Choice(*READINGS)] = parameter(
        "judgestats",
        "study: only a letter behind 'Best Response:' is read, as arXiv 2412.12509 does",
    )


SELECTION_LEVELS = (
    Levels(
        parameter="prompts",
        count=lambda p: 1 if p.prompt else len(p.prompts),
        lost="One judge prompt: what the prompt changes is not asked.",
    ),
    Levels(
        parameter="unrelated",
        lost="Not judged both with and without an unrelated option: what it changes is not asked.",
    ),
)
