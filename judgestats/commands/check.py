"""``judgestats check RUN``: a gate for CI, decided on the bound of the interval."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgestats.errors import InputError
from judgestats.experiment import console

__all__ = ["WHOLE_RUN", "Demand", "Finding", "check_command", "judge_run", "read_demands"]

WHOLE_RUN = "whole run"
"""What `metrics_of` calls the run above its conditions."""


@dataclass(frozen=True)
class Demand:
    """A metric and the bound it must keep: at least (``min``) or at most (``max``)."""

    metric: str
    side: str
    bound: float


@dataclass(frozen=True)
class Finding:
    """What a demand found in one run.

    `decided_on` is the end of the interval on the demand's bad side; the estimate itself where the
    metric has no interval in any condition (a share that is counted, a cost); NaN where the number
    or its interval is undefined here and defined in another condition.
    """

    demand: Demand
    where: str
    estimate: float
    decided_on: float
    basis: str

    @property
    def passed(self) -> bool:
        """Whether the demand holds; an undefined number never passes."""
        if math.isnan(self.decided_on):
            return False
        if self.demand.side == "min":
            return self.decided_on >= self.demand.bound
        return self.decided_on <= self.demand.bound


def read_demands(least: Sequence[str], most: Sequence[str]) -> list[Demand]:
    """Read ``name=number`` demands.

    Examples
    --------
    >>> read_demands(["reliability/icc1=.8"], [])
    [Demand(metric='reliability/icc1', side='min', bound=0.8)]
    """
    demands = []
    for side, texts in (("min", least), ("max", most)):
        for text in texts:
            metric, sign, number = text.rpartition("=")
            try:
                bound = float(number)
            except ValueError:
                bound = math.nan
            if not sign or not metric or not math.isfinite(bound):
                raise InputError(f"check: --{side} expects METRIC=NUMBER, got {text!r}.")
            demands.append(Demand(metric.strip(), side, bound))
    if not demands:
        raise InputError("check: demand something, as in --min reliability/icc1=.8.")
    return demands


def judge_run(runs: Mapping[str, Mapping[str, float]], demands: Sequence[Demand]) -> list[Finding]:
    """Hold the metrics of runs to demands.

    Parameters
    ----------
    runs : mapping of name to metrics
        A run and its conditions.
    demands : sequence of Demand
        Each applies to every condition if one of them has the metric, else to the whole run. A
        condition whose number is undefined does not pass: nothing is known in its favour.

    Returns
    -------
    list of Finding

    Raises
    ------
    InputError
        No run has a demanded metric.

    Examples
    --------
    >>> runs = {"c": {"reliability/icc1": 0.9, "ci/reliability/icc1.lo": 0.7}}
    >>> [f.passed for f in judge_run(runs, read_demands(["reliability/icc1=.8"], []))]
    [False]
    >>> runs["d"] = {}  # nothing readable: the metric is undefined
    >>> [(f.where, f.basis) for f in judge_run(runs, read_demands(["reliability/icc1=.1"], []))]
    [('c', 'lower bound'), ('d', 'undefined')]
    """
    findings = []
    for demand in demands:
        held = {name: m for name, m in runs.items() if name != WHOLE_RUN}
        if not any(demand.metric in m for m in held.values()):
            held = {name: m for name, m in runs.items() if demand.metric in m}
        if not held:
            known = sorted(
                {k for m in runs.values() for k in m if not k.startswith(("ci/", "null/"))}
            )
            raise InputError(
                f"check: no number is called {demand.metric!r} in this run. There are: "
                f"{', '.join(known)}."
            )
        end, text = ("lo", "lower bound") if demand.side == "min" else ("hi", "upper bound")
        bounded = any(f"ci/{demand.metric}.{end}" in m for m in held.values())
        for name, metrics in held.items():
            estimate = metrics.get(demand.metric, math.nan)
            bound = metrics.get(f"ci/{demand.metric}.{end}", math.nan) if bounded else estimate
            if math.isnan(estimate):
                basis = "undefined"
            elif not bounded:
                basis = "estimate (no interval)"
            else:
                basis = f"undefined {text}" if math.isnan(bound) else text
            findings.append(
                Finding(
                    demand=demand,
                    where=name,
                    estimate=estimate,
                    decided_on=bound,
                    basis=basis,
                )
            )
    return findings


def check_command(arguments: argparse.Namespace) -> int:
    """Check a run against demands and print a table of what passed.

    Parameters
    ----------
    arguments : Namespace
        ``run``, ``min`` and ``max``; ``condition`` keeps the conditions whose name holds a text.

    Returns
    -------
    int
        0 where all demands hold, 1 where one does not.
    """
    demands = read_demands(arguments.min, arguments.max)
    from judgestats.tracking.fetch import metrics_of

    runs = metrics_of(arguments.run)
    if arguments.condition:
        runs = {n: m for n, m in runs.items() if any(c in n for c in arguments.condition)}
        if not runs:
            raise InputError(
                f"check: no condition's name holds {', '.join(map(repr, arguments.condition))}."
            )
    findings = judge_run(runs, demands)
    width = max(len(f.where) for f in findings)
    for f in findings:
        sign = ">=" if f.demand.side == "min" else "<="
        said = f"{f.estimate:.4g}; {f.basis} {f.decided_on:.4g}"
        if math.isnan(f.decided_on):
            said = f.basis if math.isnan(f.estimate) else f"{f.estimate:.4g}; {f.basis}"
        console.say(
            f"{'pass' if f.passed else 'FAIL'}  {f.where:<{width}}  {f.demand.metric} = "
            f"{said} (demanded: {sign} {f.demand.bound:g})"
        )
    failed = sum(not f.passed for f in findings)
    console.say(f"{len(findings) - failed} of {len(findings)} demands hold.")
    if any(math.isnan(f.estimate) for f in findings):
        console.say(
            "A number that is undefined in a condition fails there. Where it cannot exist (the "
            "order of a single response), name the conditions meant: --condition TEXT."
        )
    return 1 if failed else 0
