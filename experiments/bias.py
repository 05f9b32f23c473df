"""What moves a judge besides quality: length, place, its own answers, the scale.

An answer of every question is also judged with padding that adds words and nothing else; pairs are
compared in both orders, repeatedly; scores are asked for on several scales.
"""

from __future__ import annotations

from judgestats.experiment.conditions import crossed
from judgestats.experiment.design import Design
from judgestats.experiment.item_sources import labelled, with_padded_twins
from judgestats.experiment.levels import Levels
from judgestats.experiment.own_prompts import prompt_of
from judgestats.experiment.pair_parameters import (
    STUDY_PAIRS,
    PairPromptParameters,
    Scales,
    method_protocol,
)
from judgestats.experiment.parameter_types import Pairs, parameter
from judgestats.items.schema import Item
from judgestats.judgments.design import Condition
from judgestats.protocols.pairwise import Pairwise
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.scale import Scale


class Parameters(PairPromptParameters):
    """What may move a judge."""

    scales: Scales = parameter("1-5,1-10,1-100", "compared")
    own: Pairs = parameter(
        "", "judge=author: whose answers are its own, if not those under its model's name"
    )


def items(parameters: Parameters) -> tuple[Item, ...]:
    return with_padded_twins(labelled(parameters))


def conditions(parameters: Parameters) -> tuple[Condition, ...]:
    return crossed(parameters, probe=["pairs", *(f"scale {s}" for s in parameters.scales)])


def protocol(parameters: Parameters, condition: Condition) -> Pairwise | Pointwise:
    probe = condition.factors["probe"]
    if probe == "pairs":
        return method_protocol(parameters, "pairwise")
    return Pointwise(
        template=prompt_of(parameters, "pointwise", level=probe),
        scale=Scale.parse(probe.removeprefix("scale ")),
    )


DESIGN = Design(
    name="bias",
    title="What moves a judge besides quality",
    question=(
        "Do length, place, authorship or the scale move a judge's verdicts, and are its scores "
        "normally distributed?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="bias",
    items=items,
    uses_items=True,
    parameters=Parameters,
    defaults={"judges": "sim-verbose,sim-positional,sim-partial", "own": "sim-partial=author-a",
              "temperatures": "1", "replicates": "4", "responses": "all", "pairs": "64"},
    compares=(Levels(parameter="scales", lost="One scale: scales are not compared."),),
    study_items=STUDY_PAIRS,
    presets={"paper": {"judges": "gpt-4o-mini,gpt-3.5-turbo,gpt-4o", "temperatures": "0.5",
                       "replicates": "10", "items": "mt_bench_human", "pairs": "all"}},
)  # fmt: skip
