"""What share of answers does a judge that knows the true answer call correct?

The true answer is in the prompt, so the verdict is a comparison, not knowledge. Questions need a
reference; without a file the bundled questions that have one are taken.
"""

from __future__ import annotations

from judgestats.data.columns import Condition, Contrast
from judgestats.protocols.pointwise import Correctness
from judgestats.runner.common_parameters import (
    AnswerParameters,
    OwnReasoning,
    own_reasoning,
    prompt_of,
)
from judgestats.runner.design import Design
from judgestats.runner.sources import referenced


class Parameters(AnswerParameters, OwnReasoning):
    """Models may answer first."""


def protocol(parameters: Parameters, condition: Condition) -> Correctness:
    del condition
    template = prompt_of(parameters, "correctness")
    return Correctness(template=template, reasoning=own_reasoning(parameters, template, "none"))


DESIGN = Design(
    name="head_to_tail",
    title="Accuracy of answers, judged against the true answer",
    question=(
        "What share of answers does a judge that knows the true answer call correct, how sure is "
        "that share, and how reliable is one verdict?"
    ),
    protocol=protocol,
    analysis="head_to_tail",
    items=referenced,
    parameters=Parameters,
    defaults={
        "judges": "sim-typical,sim-coarse",
        "temperatures": "0.5",
        "repeats": "10",
        "responses": "3",
    },
    study="llm_reliability",
    contrasts=(Contrast(vary="judge", margin=0.05),),
    study_items="the head questions of Head-to-Tail's academic domain with Vicuna-7B's answers",
    presets={
        "paper": {
            "items": "head_to_tail",
            "item_options": "models=lmsys/vicuna-7b-v1.5,cut=15",
            "reply": "text",
            "judges": "Nexusflow/Starling-LM-7B-beta,meta-llama/Meta-Llama-3-8B-Instruct,"
            "google/gemma-1.1-7b-it",
            "temperatures": "0.75",
            "repeats": "100",
            "responses": "1",
            "top_k": "50",
            "max_tokens": "50",
        },
    },
)
