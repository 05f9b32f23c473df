"""What ``judgestats check`` demands and finds: the records that its lines and its JSON show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from judgestats.results.thresholds import Side


@dataclass(frozen=True)
class Demand:
    """A metric and the bound it must keep: at least (``min``) or at most (``max``).

    `written` is the number as it was typed.
    """

    metric: str
    side: Side
    bound: float
    written: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Finding:
    """What a demand found in one run.

    `decided_on` is the end of the interval on the demand's bad side (of a number whose either sign
    is a fault, the end that is farther from 0, without its sign); the estimate itself where the
    metric has no interval in any condition (a share that is counted, a cost); NaN where the number
    or its interval is undefined here and defined in another condition, where the interval is not
    estimable, and where it is of repetition and sampling is off.
    """

    demand: Demand
    where: str
    estimate: float
    decided_on: float
    basis: str
    low: float = math.nan
    high: float = math.nan

    @property
    def passed(self) -> bool:
        """Whether the demand holds; an undefined number never passes."""
        if math.isnan(self.decided_on):
            return False
        if self.demand.side == "min":
            return self.decided_on >= self.demand.bound
        return self.decided_on <= self.demand.bound


class Held(NamedTuple):
    """What demands found in a run.

    `left` are the demands that say nothing of the conditions `still`, in which sampling is off;
    `runs` are the metrics of the conditions that were held to them.
    """

    findings: list[Finding]
    left: list[str]
    still: list[str]
    runs: Mapping[str, Mapping[str, float]]
