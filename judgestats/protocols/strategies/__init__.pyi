"""Public names of `judgestats.protocols.strategies`."""

from judgestats.lazy import public_names as public_names
from judgestats.protocols.strategies.base import ORDER_RULES as ORDER_RULES
from judgestats.protocols.strategies.base import STAGE_PROMPTS as STAGE_PROMPTS
from judgestats.protocols.strategies.base import Aggregate as Aggregate
from judgestats.protocols.strategies.base import Call as Call
from judgestats.protocols.strategies.base import CallKey as CallKey
from judgestats.protocols.strategies.base import EvalPlan as EvalPlan
from judgestats.protocols.strategies.base import KeyPoints as KeyPoints
from judgestats.protocols.strategies.base import KeyPointStrategy as KeyPointStrategy
from judgestats.protocols.strategies.base import Majority as Majority
from judgestats.protocols.strategies.base import OneCall as OneCall
from judgestats.protocols.strategies.base import Settled as Settled
from judgestats.protocols.strategies.base import StageReply as StageReply
from judgestats.protocols.strategies.base import Strategy as Strategy
from judgestats.protocols.strategies.base import Wording as Wording
from judgestats.protocols.strategies.crowd import SELECTIONS as SELECTIONS
from judgestats.protocols.strategies.crowd import STRATEGIES as STRATEGIES
from judgestats.protocols.strategies.crowd import CrowdComparison as CrowdComparison
from judgestats.protocols.strategies.crowd import crowd_of as crowd_of
from judgestats.protocols.strategies.crowd import requested_strategies as requested_strategies
from judgestats.protocols.strategies.crowd import strategy as strategy
