"""Does a judge that picks the best of several answers pick the same one again?

All judges see the same options in the same order, drawn once for every question and kept in all
replications, so that what changes between replications is the judge. The paper's omega is next to
the answer, with its null: it answers another question.
"""

from __future__ import annotations

from judgestats.data.columns import Condition, Contrast
from judgestats.protocols.selection import Selection
from judgestats.runner.common_parameters import own_reasoning, prompt_of
from judgestats.runner.design import Design, Levels
from judgestats.runner.sources import BestOfParameters, benchmarks


def protocol(parameters: BestOfParameters, condition: Condition) -> Selection:
    del condition  # judges and temperatures share one prompt and one order of options
    template = prompt_of(parameters, "best_response")
    return Selection(
        template=template,
        reasoning=own_reasoning(parameters, template, "after"),
        option_template=parameters.option_template,
        reading=parameters.reading,
        options=parameters.options,
        seed=parameters.seed,
    )


_ASKED = {
    "reply": "text",
    "reading": "study",
    "judges": "Nexusflow/Starling-LM-7B-beta,meta-llama/Meta-Llama-3-8B-Instruct,"
    "google/gemma-1.1-7b-it",
    "temperatures": "0,0.25,0.5,0.75,1",
    "repeats": "100",
    "top_k": "50",
    "max_tokens": "50",
}
"""How the study asked its judges; the longest replies are those of its authors' scripts."""

DESIGN = Design(
    name="omega",
    title="Reliability of choosing the best of several answers",
    question=(
        "How reliable is one choice of the best answer, how reliable are the shares of many, and "
        "do judge, temperature, and benchmark matter?"
    ),
    protocol=protocol,
    analysis="best_of_n",
    items=benchmarks,
    parameters=BestOfParameters,
    defaults={"judges": "sim-typical,sim-coarse", "temperatures": "0,0.5,1", "repeats": "20"},
    compares=(
        Levels(parameter="temperatures", lost="One temperature: what it changes is not asked."),
        Levels(parameter="judges", lost="One judge: judges are not compared."),
    ),
    study="llm_reliability",
    contrasts=(
        Contrast(vary="temperature", margin=0.05),
        Contrast(vary="category", base="BBH", levels=("SQuAD",), margin=0.05),
    ),
    study_items="one question a category of BBH, SQuAD and MT-Bench, 55 in all",
    presets={
        "paper": {
            **_ASKED,
            "items": "bbh,squad,mt_bench",
            "per_category": "1",
            "per_benchmark": "squad=20",
            "answerers": "meta-llama/Meta-Llama-3-8B,lmsys/vicuna-7b-v1.5,google/gemma-7b,"
            "microsoft/phi-2,tiiuae/falcon-7b",
            "answer_temperatures": "0.75",
            "answer_max_tokens": "150",
        },
        "same_answers": {**_ASKED, "items": "llm_reliability"},
    },
)
