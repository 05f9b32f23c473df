"""Which judge is more consistent, and at which temperature? Paired by item."""

from __future__ import annotations

from judgestats.data.columns import Condition, Contrast
from judgestats.protocols.pointwise import Pointwise
from judgestats.runner.common_parameters import OwnReasoning, own_reasoning, prompt_of
from judgestats.runner.design import Design, Levels, VaryParameters


class Parameters(OwnReasoning, VaryParameters):
    """Fields of the request may be varied too."""


def protocol(parameters: Parameters, condition: Condition) -> Pointwise:
    del condition  # all judges are asked alike
    template = prompt_of(parameters, "pointwise")
    return Pointwise(
        template=template,
        scale=parameters.scale,
        reasoning=own_reasoning(parameters, template, "none"),
    )


DESIGN = Design(
    name="judges",
    title="Which judge is the most consistent",
    question=(
        "At the same temperature and on the same items: do judges differ in how much their scores "
        "for the same answer vary, and which of them is more consistent?"
    ),
    protocol=protocol,
    analysis="spread_experiments:judges",
    parameters=Parameters,
    defaults={"judges": "sim-typical,sim-discerning,sim-noisy", "temperatures": "0.3,0.7,1"},
    compares=(
        Levels(
            parameter="judges",
            example="gpt-4o-mini,gpt-4o",
            lost="One judge: only the levels of vary are compared.",
            unless="vary",
            hint="One judge is compared with itself at levels of a field of the request: "
            "vary=reasoning_effort:low,high.",
        ),
    ),
    study="llmasjudge",
    contrasts=(Contrast(vary="judge"),),
    study_items="MT-Bench's 80 questions with GPT-4's first-turn answers",
    presets={
        "paper": {
            "items": "mt_bench",
            "item_options": "turn=1,models=gpt-4",
            "reply": "tool",
            "judges": "gpt-4o-mini,gpt-3.5-turbo,gpt-4o",
            "temperatures": "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
            "repeats": "10",
            "samples_per_request": "10",
        },
    },
)
