"""Does explaining its judgment make a judge more consistent, before or after it gives the score?

The order of the fields in the reply's schema follows: with `before` the explanation is the first
field and the score is written after it.
"""

from __future__ import annotations

from typing import Annotated

from judgestats.data.columns import Condition, Contrast
from judgestats.protocols.pointwise import REASONING, Pointwise
from judgestats.runner.common_parameters import prompt_of
from judgestats.runner.design import Design, Levels, crossed
from judgestats.runner.parameter_types import Choices, parameter
from judgestats.runner.sources import PeopleParameters


class Parameters(PeopleParameters):
    """When the judge explains itself."""

    reasoning: Annotated[tuple[str, ...], Choices(*REASONING)] = parameter(
        ",".join(REASONING), "Explanation to compare: none, before, after the verdict"
    )


def conditions(parameters: Parameters) -> tuple[Condition, ...]:
    return crossed(parameters, reasoning=parameters.reasoning)


def protocol(parameters: Parameters, condition: Condition) -> Pointwise:
    level = condition.factors["reasoning"]
    return Pointwise(
        template=prompt_of(parameters, "pointwise", level=level),
        scale=parameters.scale,
        reasoning=level,
    )


DESIGN = Design(
    name="reasoning",
    title="Reasoning and the consistency of scores",
    question=(
        "Does an explanation before or after the score change the variation of a judge's "
        "repeated scores, and is the change equal for all judges?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="spread_experiments:reasoning",
    parameters=Parameters,
    defaults={"judges": "sim-typical,sim-null", "temperatures": "0.5,1"},
    compares=(
        Levels(parameter="reasoning", example="none,before"),
        Levels(
            parameter="judges",
            lost="One judge: whether reasoning changes all judges alike is not asked.",
        ),
        Levels(
            parameter="reasoning",
            fewest=1,
            count=lambda p: p.reasoning.count("none"),
            lost="There is no arm without reasoning: only ways of reasoning are compared.",
        ),
    ),
    study="llmasjudge",
    contrasts=(Contrast(vary="reasoning", base="none"),),
    study_items="MT-Bench's 80 questions with GPT-4's first-turn answers",
    presets={
        "paper": {
            "items": "mt_bench",
            "item_options": "turn=1,models=gpt-4",
            "reply": "tool",
            "judges": "gpt-4o-mini,gpt-3.5-turbo,gpt-4o",
            "temperatures": "0.3,0.5,1",
            "repeats": "10",
            "samples_per_request": "10",
        },
    },
)
