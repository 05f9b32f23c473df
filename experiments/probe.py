"""The judge as an instrument: what must not move it, what must not succeed, what must move it.

Every answer is also judged as each probe changes it: padded, cited, set as a list, praised by
others, with an order to the judge in it, cut off. Pairs and options are judged in every place, and
with names and opinions beside them. What was changed and what was not are the pair.
"""

from __future__ import annotations

from judgestats.experiment.conditions import crossed
from judgestats.experiment.design import Design
from judgestats.experiment.probe_protocols import (
    ProbeParameters,
    probed_protocol,
    variants_asked,
)
from judgestats.judgments.design import Condition
from judgestats.protocols.base import JudgingProtocol


def conditions(parameters: ProbeParameters) -> tuple[Condition, ...]:
    return crossed(parameters, probe=list(variants_asked(parameters)))


def protocol(parameters: ProbeParameters, condition: Condition) -> JudgingProtocol:
    return probed_protocol(parameters, variants_asked(parameters)[condition.factors["probe"]])


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
    uses_items=True,
    draws_itself=True,
    may_lack=True,
    parameters=ProbeParameters,
    defaults={
        "judges": "sim-typical,sim-swayed,sim-credulous",
        "own": "sim-swayed=author-b",
        "temperatures": "1",
        "replicates": "3",
        "responses": "2",
    },
)
