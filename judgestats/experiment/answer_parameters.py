"""Parameters of experiments whose items models may answer first."""

from __future__ import annotations

from typing import Annotated

from judgestats.experiment.common_parameters import CommonParameters
from judgestats.experiment.parameter_types import OptionalNames, Temperatures, Whole, parameter


class AnswerParameters(CommonParameters):
    """Of an experiment in which models may answer first."""

    answers: str = parameter("", "a file of models' answers: item_id, author, answer")
    answerers: OptionalNames = parameter(
        "",
        "models that answer the questions first, written as judges are, or sim-answerer-1 to "
        "-11; unused where answers= is given",
    )
    answer_temperatures: Temperatures = parameter(
        "0.75", "0-2; every answerer answers once at each"
    )
    answer_prompt: str = parameter(
        "step_by_step",
        "a bundled prompt's name, or a text file with {question} (and {context} or {passage})",
    )
    answer_max_tokens: Annotated[int | None, Whole(1, or_word="")] = parameter(
        "", "longest answer; by default the server's own limit"
    )


class CandidateParameters(AnswerParameters):
    """Of an experiment that chooses among several responses."""

    candidates: Annotated[int, Whole(2, 64)] = parameter(
        "4", "responses of a question compared (drawn by seed; all if models answer)"
    )
