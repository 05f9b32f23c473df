"""Biases of a judge: length, position, self-preference, and the scale.

A selection of the probes of ``probe``, on labelled pairs, with what else their data tell: the place
apart from repetition, length among real answers, the spread and shape of scores on every scale.
"""

from __future__ import annotations

from judgestats.runner.design import Design
from judgestats.runner.prompts import ProbeParameters, probe_conditions, probe_protocol
from judgestats.runner.sources import STUDY_PAIRS

DESIGN = Design(
    name="bias",
    title="Biases of a judge",
    question=(
        "Do length, position, authorship, or the scale change a judge's verdicts? Are its scores "
        "normally distributed?"
    ),
    conditions=probe_conditions,
    protocol=probe_protocol,
    analysis="bias",
    uses_items=True,
    draws_itself=True,
    may_lack=True,
    parameters=ProbeParameters,
    defaults={
        "judges": "sim-verbose,sim-positional,sim-partial",
        "own": "sim-partial=author-a",
        "probes": "padding,position,own answer,scale 1-5,scale 1-100,off topic,pair off topic",
        "temperatures": "1",
        "repeats": "4",
        "responses": "all",
        "pairs": "64",
    },
    study_items=STUDY_PAIRS,
    presets={"paper": {"judges": "gpt-4o-mini,gpt-3.5-turbo,gpt-4o", "temperatures": "0.5",
                       "repeats": "10", "items": "mt_bench_human", "pairs": "all"}},
)  # fmt: skip
