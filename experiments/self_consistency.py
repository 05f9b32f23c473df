"""What is gained by repetition: mean, median or mode of several judgments, panels of judges."""

from __future__ import annotations

from judgestats.data.columns import Condition
from judgestats.protocols.pointwise import Pointwise
from judgestats.runner.common_parameters import OwnReasoning, own_reasoning, prompt_of
from judgestats.runner.design import Design, Levels
from judgestats.runner.sources import STUDY_PAIRS, PairParameters, PeopleParameters, labelled


class Parameters(PeopleParameters, OwnReasoning, PairParameters):
    """Labelled pairs are judged too, and scores compared with the human ones."""


def protocol(parameters: Parameters, condition: Condition) -> Pointwise:
    del condition  # all judges are asked alike
    template = prompt_of(parameters, "pointwise")
    return Pointwise(
        template=template,
        scale=parameters.scale,
        reasoning=own_reasoning(parameters, template, "none"),
    )


DESIGN = Design(
    name="self_consistency",
    title="Averaging of repeats, and panels of judges",
    question=(
        "How much reliability and agreement with human labels does the mean, median, or mode of "
        "several judgments gain? How much does a panel of judges gain, and at what cost?"
    ),
    protocol=protocol,
    analysis="self_consistency",
    items=labelled,
    uses_items=True,
    parameters=Parameters,
    defaults={
        "judges": "sim-typical,sim-noisy",
        "temperatures": "1",
        "repeats": "20",
        "responses": "all",
        "pairs": "32",
    },
    compares=(
        Levels(
            parameter="repeats",
            fewest=3,
            example="5",
            unless="judges",
            hint="Or name several judges: a panel of them takes one judgment of each.",
            lost="Two judgments of each answer: averaging is not examined, only panels of judges.",
        ),
        Levels(parameter="judges", lost="One judge: no panel of judges is examined."),
    ),
    study_items=STUDY_PAIRS,
    presets={
        "paper": {
            "items": "mt_bench_human",
            "judges": "gpt-4o-mini,gpt-3.5-turbo,gpt-4o",
            "temperatures": "0.5",
            "repeats": "20",
            "pairs": "1000",
        },
    },
)
