"""The judge as an instrument: what must not move it, what must not succeed, what must move it.

Every answer is also judged as each probe changes it: padded, cited, set as a list, praised by
others, with an order to the judge in it, cut off. Original and changed answer are the pair.
"""

from __future__ import annotations

from typing import Annotated

from judgestats.experiment.conditions import crossed
from judgestats.experiment.design import Design
from judgestats.experiment.item_sources import with_drawn_responses
from judgestats.experiment.own_prompts import OwnReasoning, own_reasoning, prompt_of
from judgestats.experiment.parameter_types import Read, parameter
from judgestats.judgments.design import Condition
from judgestats.protocols.probes import Probe, ProbedPointwise, probes_named, variants_of


class Parameters(OwnReasoning):
    """Which probes."""

    probes: Annotated[tuple[Probe, ...], Read(probes_named)] = parameter(
        "all", "all, a kind (fair, attack, control), or names (docs/experiments/probe.md)"
    )


def conditions(parameters: Parameters) -> tuple[Condition, ...]:
    return crossed(parameters, probe=list(variants_of(parameters.probes)))


def protocol(parameters: Parameters, condition: Condition) -> ProbedPointwise:
    template = prompt_of(parameters, "pointwise")
    return ProbedPointwise(
        template=template,
        scale=parameters.scale,
        reasoning=own_reasoning(parameters, template, "none"),
        variant=variants_of(parameters.probes)[condition.factors["probe"]],
    )


DESIGN = Design(
    name="probe",
    title="The judge as an instrument",
    question=(
        "Which changes that should not matter move the judge, which attacks on it succeed, and "
        "does it see an answer that is worse?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="probe",
    items=with_drawn_responses,
    parameters=Parameters,
    defaults={
        "judges": "sim-typical,sim-swayed,sim-credulous",
        "temperatures": "1",
        "replicates": "3",
        "responses": "2",
    },
)
