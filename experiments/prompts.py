"""How much of a judge's scatter is the wording of its prompt, beside asking again?

Every answer is judged under several prompts that ask for the same in other words, repeatedly. The
prompts are a sample of wordings: their variance is told beside that of repetitions.
"""

from __future__ import annotations

from pathlib import Path

from judgestats.errors import InputError
from judgestats.experiment.conditions import crossed
from judgestats.experiment.design import Design
from judgestats.experiment.levels import Levels
from judgestats.experiment.own_prompts import OwnReasoning, own_reasoning
from judgestats.experiment.parameter_types import Names, parameter
from judgestats.judgments.design import Condition
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.template import PromptTemplate

_EIGHT = ("pointwise", *(f"pointwise_{k}" for k in range(2, 9)))


class Parameters(OwnReasoning):
    """Which wordings."""

    prompts: Names = parameter(
        ",".join(_EIGHT), "prompts that ask for the same: bundled names, or text files of your own"
    )


def conditions(parameters: Parameters) -> tuple[Condition, ...]:
    if parameters.prompt:
        raise InputError("prompt: prompts compares several. Write prompts=one.txt,two.txt instead.")
    names = [Path(p).stem for p in parameters.prompts]
    if len(set(names)) < len(names):
        raise InputError(f"prompts: two files have the same name ({', '.join(names)}).")
    return crossed(parameters, wording=names)


def protocol(parameters: Parameters, condition: Condition) -> Pointwise:
    by_name = {Path(p).stem: p for p in parameters.prompts}
    named = by_name[condition.factors["wording"]]
    template = PromptTemplate.load(named, append=parameters.append != "none")
    return Pointwise(
        template=template,
        scale=parameters.scale,
        reasoning=own_reasoning(parameters, template, "none"),
    )


DESIGN = Design(
    name="prompts",
    title="The wording of the judge's prompt",
    question=(
        "How far does a score move when the judge's prompt is worded otherwise, beyond asking "
        "again, and is it better to ask in several wordings?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="prompts",
    parameters=Parameters,
    defaults={
        "judges": "sim-typical,sim-touchy,sim-coarse",
        "temperatures": "1",
        "replicates": "3",
        "responses": "2",
    },
    compares=(Levels(parameter="prompts", example="one.txt,two.txt"),),
)
