"""Robustness of a judge: irrelevant changes, attacks, and negative controls.

Every answer is also judged as each probe changes it: padded, cited, set as a list, praised by
others, with an order to the judge in it, cut off. Pairs and options are judged in every position,
and with names and opinions next to them. What was changed and what was not are the pair.
"""

from __future__ import annotations

from judgestats.runner.design import Design
from judgestats.runner.prompts import ProbeParameters, probe_conditions, probe_protocol

DESIGN = Design(
    name="probe",
    title="Robustness to irrelevant changes and attacks",
    question=(
        "Which irrelevant changes shift the judge's scores, which attacks succeed, and does it "
        "detect a worse answer?"
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
