"""Crowd rejection sampling: of several candidate responses, which is worth training on?

All candidates of a question are compared in pairs. The vanilla judge sees the pair; the crowd judge
also sees analyses of how the two compare with the other candidates.
"""

from __future__ import annotations

from typing import Annotated

from judgestats.analysis.rejection_sampling import TIES
from judgestats.data.columns import Condition
from judgestats.protocols.strategies import Strategy
from judgestats.runner.common_parameters import CandidateParameters
from judgestats.runner.design import Design, Levels
from judgestats.runner.parameter_types import ChoiceParam, IntParam, analysis_option, parameter
from judgestats.runner.sources import (
    StrategyParameters,
    candidates,
    strategy_conditions,
    strategy_protocol,
)


class Parameters(StrategyParameters, CandidateParameters):
    """Candidates are compared by strategies."""

    equal_points: Annotated[str, ChoiceParam(*TIES)] = analysis_option(
        "judgments", "Winner of equal points: judgments (the larger share of them), random, or drop"
    )
    repeats: Annotated[int, IntParam(1, 100_000)] = parameter(
        "1", "Repeats of every comparison", logged="design/replicates", common=True
    )


def conditions(parameters: Parameters) -> tuple[Condition, ...]:
    return strategy_conditions(parameters, parameters.strategies)


def protocol(parameters: Parameters, condition: Condition) -> Strategy:
    return strategy_protocol(parameters, condition.factors["strategy"], labelled_only=False)


DESIGN = Design(
    name="rejection_sampling",
    title="Choice of the best answer by round robin",
    question=(
        "Which of several candidate responses wins a round robin of pairwise judgments, how often "
        "is it the one that labels prefer, and do the other candidates help as a crowd?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="rejection_sampling",
    items=candidates,
    uses_items=True,
    parameters=Parameters,
    defaults={"judges": "sim-crowd,sim-crowd-deaf", "temperatures": "0.5", "responses": "all"},
    compares=(
        Levels(parameter="strategies",
               lost="One strategy: whether the other candidates help as a crowd is not asked."),
    ),
    study_items="1,000 instructions of LIMA and 10,000 of Tulu 3, four responses each",
    presets={"paper": {"items": "lima", "judges": "gpt-4o-2024-08-06", "temperatures": "0",
                       "candidates": "4", "answer_temperatures": "0.7"}},
)  # fmt: skip
