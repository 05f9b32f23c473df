"""Judging strategies: compositions of the same calls that end in one verdict on a pair.

`strategy` makes one by name; `judgestats.collection.staging` asks its calls.
"""

from judgestats.protocols.strategies.base import (
    ORDER_RULES,
    STAGE_PROMPTS,
    Call,
    CallKey,
    Counted,
    Heard,
    OneCall,
    Settled,
    Strategy,
    Wording,
)
from judgestats.protocols.strategies.crowd import SELECTIONS, CrowdComparison, crowd_of
from judgestats.protocols.strategies.key_points import KeyPoints
from judgestats.protocols.strategies.names import STRATEGIES, asked_names, strategy
from judgestats.protocols.strategies.votes import Aggregate, EvalPlan, Majority

__all__ = [
    "ORDER_RULES",
    "SELECTIONS",
    "STAGE_PROMPTS",
    "STRATEGIES",
    "Aggregate",
    "Call",
    "CallKey",
    "Counted",
    "CrowdComparison",
    "EvalPlan",
    "Heard",
    "KeyPoints",
    "Majority",
    "OneCall",
    "Settled",
    "Strategy",
    "Wording",
    "asked_names",
    "crowd_of",
    "strategy",
]
