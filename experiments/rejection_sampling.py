"""Crowd rejection sampling: of several candidate responses, which is worth training on?

All candidates of a question are compared in pairs. The vanilla judge sees the pair; the crowd judge
also sees analyses of how the two compare with the other candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgestats.analysis.chosen_responses import TIES
from judgestats.experiment.answering import ANSWERING
from judgestats.experiment.crowd_parameters import (
    CROWD_PARAMETERS,
    strategy_conditions,
    strategy_protocol,
)
from judgestats.experiment.design import Design
from judgestats.experiment.item_sources import candidates
from judgestats.experiment.levels import Levels
from judgestats.experiment.parameters import Parameter, read_choice, read_names, read_whole
from judgestats.judgments.design import Condition
from judgestats.protocols.strategies import Strategy

SHARED = tuple(
    p
    for p in CROWD_PARAMETERS
    if p.name in {"k", "raised", "orders", "prompt", "prompts", "remover"}
)


def conditions(parameters: Mapping[str, Any]) -> tuple[Condition, ...]:
    return strategy_conditions(parameters, parameters["strategies"])


def protocol(parameters: Mapping[str, Any], condition: Condition) -> Strategy:
    return strategy_protocol(parameters, condition.factors["strategy"], labelled_only=False)


DESIGN = Design(
    name="rejection_sampling",
    title="Rejection sampling by round robin",
    question=(
        "Which of several candidate responses wins a round robin of pairwise judgments, how often "
        "is it the one that labels prefer, and do the other candidates help as a crowd?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="rejection_sampling",
    items=candidates,
    uses_items=True,
    parameters=(
        Parameter(name="candidates", default="4", read=read_whole(2, 64),
                  help="responses of a question compared (drawn by seed; all if models answer)"),
        Parameter(name="strategies", default="vanilla,cce", read=read_names,
                  help="compared with one another; cce takes k judgments, or cce@number"),
        Parameter(name="equal_points", default="judgments", read=read_choice(*TIES),
                  help="judgments: the larger share of them won decides; random; drop: none"),
        Parameter(name="replicates", default="1", read=read_whole(1, 100_000),
                  help="how often every comparison is repeated"),
        *ANSWERING,
        *SHARED,
    ),
    defaults={"judges": "sim-crowd,sim-crowd-deaf", "temperatures": "0.5", "responses": "all"},
    compares=(
        Levels(parameter="strategies",
               lost="One strategy: whether the other candidates help as a crowd is not asked."),
    ),
    study_items="1,000 instructions of LIMA and 10,000 of Tulu 3, four responses each",
    presets={"paper": {"items": "lima", "judges": "gpt-4o-2024-08-06", "temperatures": "0",
                       "candidates": "4", "answer_temperatures": "0.7"}},
)  # fmt: skip
