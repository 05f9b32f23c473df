"""Does it matter how precisely the prompt describes the points of the scale?

"No difference" is only claimed where it is shown, by equivalence within a declared margin.
"""

from __future__ import annotations

from judgestats.data.columns import Condition, Contrast
from judgestats.protocols.explained import (
    GUIDELINES,
    guideline_level,
    guideline_text,
    with_guideline,
)
from judgestats.protocols.pointwise import Pointwise
from judgestats.runner.common_parameters import (
    OwnReasoning,
    holds_guideline,
    own_reasoning,
    prompt_of,
)
from judgestats.runner.design import Design, Levels, crossed
from judgestats.runner.parameter_types import ListParam, parameter


class Parameters(OwnReasoning):
    """Which guidelines."""

    guidelines: ListParam = parameter(
        ",".join(GUIDELINES), "Guidelines to compare, comma-separated: bundled levels or text files"
    )


def conditions(parameters: Parameters) -> tuple[Condition, ...]:
    return crossed(parameters, guideline=[guideline_level(g) for g in parameters.guidelines])


def protocol(parameters: Parameters, condition: Condition) -> Pointwise:
    level = condition.factors["guideline"]
    source = next(g for g in parameters.guidelines if guideline_level(g) == level)
    template = prompt_of(parameters, "pointwise", level=level)
    if not holds_guideline(parameters, template, level=level):
        template = with_guideline(template, guideline_text(source, scale=parameters.scale))
    return Pointwise(
        template=template,
        scale=parameters.scale,
        reasoning=own_reasoning(parameters, template, "none"),
    )


DESIGN = Design(
    name="guidelines",
    title="Scoring guidelines and the consistency of scores",
    question=(
        "Does a scoring guideline change how much a judge's scores for the same answer vary? "
        "If no difference is seen, are the conditions equivalent within the margin?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="spread_experiments:guidelines",
    parameters=Parameters,
    defaults={"judges": "sim-typical,sim-guided", "temperatures": "1"},
    compares=(Levels(parameter="guidelines", example="none,anchors"),),
    study="llmasjudge",
    contrasts=(Contrast(vary="guideline", base="none"),),
    study_items="MT-Bench's 80 questions with GPT-4's first-turn answers",
    presets={
        "paper": {
            "items": "mt_bench",
            "item_options": "turn=1,models=gpt-4",
            "reply": "tool",
            "judges": "gpt-4o-mini",
            "temperatures": "0.3,0.5,1",
            "repeats": "10",
            "samples_per_request": "10",
        },
    },
)
