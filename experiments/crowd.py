"""Does comparing with a crowd make a judge more often right, and is that worth its price?

All strategies judge the same labelled pairs. Calls that strategies have in common (judgments
against the crowd, repeated votes) are requested once and used by each of them.
"""

from __future__ import annotations

from judgestats.data.columns import Condition, Contrast
from judgestats.protocols.strategies import Strategy
from judgestats.runner.design import Design
from judgestats.runner.sources import (
    CROWD_LEVELS,
    CrowdParameters,
    preference_pairs,
    strategy_conditions,
    strategy_names,
    strategy_protocol,
    with_crowd,
)


def conditions(parameters: CrowdParameters) -> tuple[Condition, ...]:
    return strategy_conditions(parameters, strategy_names(parameters))


def protocol(parameters: CrowdParameters, condition: Condition) -> Strategy:
    return strategy_protocol(parameters, condition.factors["strategy"])


DESIGN = Design(
    name="crowd",
    title="Crowd comparative evaluation",
    question=(
        "Is a judge more accurate when other judgments precede its verdict? How does accuracy grow "
        "with their number, which of them help, and what do they cost?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="crowd",
    items=preference_pairs,
    join=with_crowd,
    uses_items=True,
    parameters=CrowdParameters,
    defaults={
        "judges": "sim-crowd,sim-crowd-deaf",
        "temperatures": "0.5",
        "responses": "all",
        "answer_temperatures": "0.3,1",
    },
    compares=CROWD_LEVELS,
    study="cce",
    contrasts=(
        Contrast(
            vary="strategy",
            base="vanilla",
            margin=0.05,
            levels=("majority", "aggregate", "criteria", "cce-criticising"),
        ),
    ),
    study_items="RewardBench, HelpSteer2, MT-Bench human, JudgeBench and EvalBias's training data",
    presets={
        "paper": {
            "judges": "gpt-4o-2024-08-06@https://api.openai.com/v1,Qwen/Qwen2.5-7B-Instruct,"
            "Qwen/Qwen2.5-32B-Instruct,Qwen/Qwen2.5-72B-Instruct,"
            "meta-llama/Llama-3.3-70B-Instruct",
            "temperatures": "0",
            "items": "rewardbench,helpsteer2,mt_bench_human,judgebench,offsetbias",
            "pairs": "all",
            "k": "16",
            "scaling": "0,1,2,4,6,8,10,12,14,16",
            "selections_at": "8,16",
            "repeats": "3",
        },
    },
)
