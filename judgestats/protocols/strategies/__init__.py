"""Judging strategies: compositions of the same calls that end in one verdict on a pair.

`strategy` makes one by name; `judgestats.judges.staging` asks its calls.
"""

from judgestats.protocols.strategies.base import Call, CallKey, Heard, Settled, Strategy
from judgestats.protocols.strategies.counted import Counted
from judgestats.protocols.strategies.crowd import CrowdComparison, crowd_of
from judgestats.protocols.strategies.eval_plan import EvalPlan
from judgestats.protocols.strategies.key_points import KeyPoints
from judgestats.protocols.strategies.names import STRATEGIES, asked_names, strategy
from judgestats.protocols.strategies.one_call import OneCall
from judgestats.protocols.strategies.selection import SELECTIONS
from judgestats.protocols.strategies.votes import Aggregate, Majority
from judgestats.protocols.strategies.wording import ORDER_RULES, STAGE_PROMPTS, Wording

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
