"""The judge as an instrument: what must not move it, what must not succeed, what must move it.

Every answer is also judged as each probe changes it: padded, cited, set as a list, praised by
others, with an order to the judge in it, cut off. Pairs and options are judged in every position,
and with names and opinions next to them. What was changed and what was not are the pair.
"""

from __future__ import annotations

from judgestats.runner.design import Design
from judgestats.runner.prompts import ProbeParameters, probe_conditions, probe_protocol

DESIGN = Design(
    name="probe",
    title="The judge as an instrument",
    question=(
        "Which changes that should not matter move the judge, which attacks on it succeed, and "
        "does it see an answer that is worse?"
    ),
    conditions=probe_conditions,
    protocol=probe_protocol,
    analysis="probe",
    uses_items=True,
    draws_itself=True,
    may_lack=True,
    parameters=ProbeParameters,
    defaults={
        "judges": "sim-typical,sim-swayed,sim-credulous",
        "own": "sim-swayed=author-b",
        "temperatures": "1",
        "repeats": "3",
        "responses": "2",
    },
)
