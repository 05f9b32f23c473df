"""Parameters that only experiments with selections take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from judgestats.errors import InputError
from judgestats.experiment.answer_parameters import AnswerParameters
from judgestats.experiment.levels import Levels
from judgestats.experiment.own_prompts import OwnReasoning
from judgestats.experiment.parameter_types import Choice, Choices, Names, Read, Whole, parameter
from judgestats.protocols.selection import READINGS, SELECTION_PROMPTS

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


def _sizes(name: str, text: str) -> dict[str, int]:
    """Numbers by the name of a set.

    Examples
    --------
    >>> _sizes("per_benchmark", "squad=20, bbh=27")
    {'squad': 20, 'bbh': 27}
    """
    sizes = {}
    for part in filter(None, map(str.strip, text.split(","))):
        source, sign, number = part.partition("=")
        if not sign:
            raise InputError(f"{name}: expected SET=NUMBER[,...], as in squad=20, got {part!r}.")
        sizes[source.strip()] = Whole(1).read(f"{name}: {source.strip()}", number.strip())
    return sizes


class BestOfParameters(AnswerParameters, _Options):
    """Of the experiment on the best of several answers, which models may give first."""

    options: Annotated[int | None, Whole(2, or_word="all")] = parameter("5", _SHOWN)
    per_category: Annotated[int | None, Whole(1, or_word="all")] = parameter(
        "all", "questions drawn from each category (BBH task, SQuAD article, ...), or all"
    )
    per_benchmark: Annotated[Mapping[str, int], Read(_sizes)] = parameter(
        "", "at most so many questions of a set, drawn by seed, as in squad=20"
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
