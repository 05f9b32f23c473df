"""How much of a judge's variance is due to the wording of its prompt, and how much to repeats?

Every answer, or every pair in both orders, is judged repeatedly under several wordings of one
prompt. The prompts are a sample of wordings: their variance is reported next to that of repeats.
"""

from __future__ import annotations

from judgestats.data.columns import Condition
from judgestats.protocols.base import JudgingProtocol
from judgestats.runner.design import (
    Design,
    Levels,
    WordingParameters,
    crossed,
    wording_protocol,
    wordings,
)


def conditions(parameters: WordingParameters) -> tuple[Condition, ...]:
    return crossed(parameters, wording=list(wordings(parameters)))


def protocol(parameters: WordingParameters, condition: Condition) -> JudgingProtocol:
    return wording_protocol(parameters, condition.factors["wording"])


DESIGN = Design(
    name="prompts",
    title="Effect of the prompt's wording",
    question=(
        "How much does a judgment change with the wording of the prompt, beyond repeat noise, "
        "and is it better to use several wordings?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="prompts",
    parameters=WordingParameters,
    defaults={
        "judges": "sim-typical,sim-touchy,sim-coarse",
        "temperatures": "1",
        "repeats": "3",
        "responses": "2",
    },
    compares=(
        Levels(parameter="prompts", example="one.txt,two.txt", count=lambda p: len(wordings(p))),
    ),
)
