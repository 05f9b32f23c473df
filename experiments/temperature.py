"""Does the spread of a judge's scores grow with temperature, and what happens to the mean?

Every item is scored `replicates` times by every judge at every temperature, with the same prompt.
The item is the block of every test: all conditions judge the same items.
"""

from __future__ import annotations

from judgestats.data.columns import Condition, Contrast
from judgestats.protocols.pointwise import Pointwise
from judgestats.runner.common_parameters import OwnReasoning, own_reasoning, prompt_of
from judgestats.runner.design import Design, Levels, VaryParameters
from judgestats.runner.sources import PeopleParameters


class Parameters(PeopleParameters, OwnReasoning, VaryParameters):
    """Fields of the request may be varied too; scores may be compared with the human ones."""


def protocol(parameters: Parameters, condition: Condition) -> Pointwise:
    del condition  # judges and temperatures share one prompt
    template = prompt_of(parameters, "pointwise")
    return Pointwise(
        template=template,
        scale=parameters.scale,
        reasoning=own_reasoning(parameters, template, "none"),
    )


DESIGN = Design(
    name="temperature",
    title="Temperature and the consistency of scores",
    question=(
        "Does the spread of a judge's scores for the same answer grow with the sampling "
        "temperature, and at what cost in mean?"
    ),
    protocol=protocol,
    analysis="spread_experiments:temperature",
    parameters=Parameters,
    compares=(
        Levels(
            parameter="temperatures",
            example="0,0.5,1",
            hint="Judges, or the levels of vary, are compared at one temperature by the experiment "
            "judges.",
        ),
    ),
    study="llmasjudge",
    contrasts=(Contrast(vary="temperature"),),
    study_items="MT-Bench's 80 questions with GPT-4's first-turn answers",
    presets={
        "distribution": {
            "items": "mt_bench",
            "item_options": "turn=1,models=gpt-4",
            "reply": "tool",
            "judges": "gpt-3.5-turbo,gpt-4o-mini,gpt-4o",
            "temperatures": "0.3,0.5,1",
            "limit": "30",
            "repeats": "100",
            "samples_per_request": "100",
        },
        "paper": {
            "items": "mt_bench",
            "item_options": "turn=1,models=gpt-4",
            "reply": "tool",
            "judges": "gpt-3.5-turbo,gpt-4o-mini,gpt-4o",
            "temperatures": "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
            "repeats": "10",
            "samples_per_request": "10",
        },
    },
)
