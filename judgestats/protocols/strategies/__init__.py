"""Judging strategies: compositions of the same calls that end in one verdict on a pair.

`strategy` makes one by name; `judgestats.collection.staging` asks its calls.
"""

from judgestats.protocols.strategies.base import (
    ORDER_RULES,
    STAGE_PROMPTS,
    Call,
    CallKey,
    KeyPointStrategy,
    OneCall,
    Settled,
    StageReply,
    Strategy,
    Wording,
)
from judgestats.protocols.strategies.crowd import (
    SELECTIONS,
    STRATEGIES,
    CrowdComparison,
    crowd_of,
    requested_strategies,
    strategy,
)
from judgestats.protocols.strategies.key_points import KeyPoints
from judgestats.protocols.strategies.votes import Aggregate, EvalPlan, Majority

__all__ = [
    "ORDER_RULES",
    "SELECTIONS",
    "STAGE_PROMPTS",
    "STRATEGIES",
    "Aggregate",
    "Call",
    "CallKey",
    "KeyPointStrategy",
    "CrowdComparison",
    "EvalPlan",
    "StageReply",
    "KeyPoints",
    "Majority",
    "OneCall",
    "Settled",
    "Strategy",
    "Wording",
    "requested_strategies",
    "crowd_of",
    "strategy",
]
