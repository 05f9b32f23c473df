"""Which way of asking agrees with human labels: comparing pairs, or scoring each answer by itself?

All methods judge the same labelled pairs at one temperature; some also at others. Scores become
verdicts on pairs afterwards (equal scores are a tie); the mean of all replications is a separate
method and costs no further call.
"""

from __future__ import annotations

from judgestats.data.columns import Condition
from judgestats.protocols.pairwise import Pairwise
from judgestats.protocols.pointwise import Pointwise
from judgestats.runner.design import Design
from judgestats.runner.sources import (
    METHOD_CONTRASTS,
    METHOD_LEVELS,
    STUDY_PAIRS,
    MethodParameters,
    labelled,
    method_protocol,
    method_trials,
)


def conditions(parameters: MethodParameters) -> tuple[Condition, ...]:
    # A server's own temperature cannot be ordered among numbers: then there is no other.
    at = None if parameters.temperatures == (None,) else parameters.methods_at
    series = [None] if at is None else sorted({*parameters.temperatures, at})
    return tuple(
        Condition(judge=judge, temperature=temperature, factors={"method": method})
        for judge in parameters.judges
        for method in parameters.methods
        for temperature in (series if method in parameters.series else [at])
    )


def protocol(parameters: MethodParameters, condition: Condition) -> Pairwise | Pointwise:
    return method_protocol(parameters, condition.factors["method"], examples=parameters.examples)


DESIGN = Design(
    name="alignment",
    title="Agreement of judging methods with human labels",
    question=(
        "Which way of asking a judge agrees best with human labels? Does temperature matter, and "
        "does more consistency cost bias?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="alignment",
    items=labelled,
    uses_items=True,
    parameters=MethodParameters,
    trials=method_trials,
    defaults={
        "judges": "sim-typical",
        "temperatures": "0,1",
        "repeats": "3",
        "responses": "all",
    },
    compares=METHOD_LEVELS,
    study="llmasjudge",
    contrasts=METHOD_CONTRASTS,
    study_items=STUDY_PAIRS,
    presets={
        "paper": {
            "items": "mt_bench_human",
            "reply": "tool",
            "judges": "gpt-4o-mini",
            "pairs": "1000",
            "repeated": "pointwise",
            "temperatures": "0,0.2,0.4,0.6,0.8,1",
            "repeats": "10",
            "samples_per_request": "10",
        },
    },
)
