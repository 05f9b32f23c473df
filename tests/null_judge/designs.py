"""Every experiment on a world: conditions, frame, plan and analysis; nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from judgestats.analysis import guidelines, judges, reasoning, temperature
from judgestats.analysis.outcome import Analysis
from judgestats.judgments.design import Condition
from tests.null_judge.worlds import World, scored

HEATS = (0.3, 0.7, 1.0)

Design = Callable[..., Analysis]


def _spread(module, conditions: list[Condition]) -> Design:
    """An experiment on spread; an effect is a factor on the last condition's standard deviation."""

    def analysed(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
        zero = {c.label: 0.0 for c in conditions if c.temperature == 0}
        frame = scored(rng, world, conditions, spread={conditions[-1].label: effect, **zero})
        declared = module.plan({"resamples": resamples, "seed": 0}, conditions)
        return module.analyse(frame, declared)

    return analysed


SPREAD: Mapping[str, Design] = {
    "temperature": _spread(temperature, [Condition(judge="j", temperature=t) for t in HEATS]),
    "temperature with T = 0": _spread(
        temperature, [Condition(judge="j", temperature=t) for t in (0.0, *HEATS)]
    ),
    "judges": _spread(judges, [Condition(judge=j, temperature=1.0) for j in "abc"]),
    "guidelines": _spread(
        guidelines,
        [
            Condition(judge="j", temperature=1.0, factors={"guideline": g})
            for g in ("none", "brief", "long")
        ],
    ),
    "reasoning": _spread(
        reasoning,
        [
            Condition(judge=j, temperature=1.0, factors={"reasoning": r})
            for j in ("a", "b")
            for r in ("none", "before")
        ],
    ),
}
"""A claim on spread, of conditions that differ in nothing unless an effect is given."""

DESIGNS: dict[str, Design] = {**SPREAD}


def claims(found: Analysis, claim: str = "differs") -> list[str]:
    """The headlines that claim it."""
    return [h.id for h in found.headlines if h.claim == claim]


def left_out(found: Analysis, conditions: list[str] | None = None) -> bool:
    """Whether the recommendation leaves out one of conditions that are equally good."""
    if found.recommendation is None or "best" not in found.recommendation.rests_on:
        return False
    known = conditions or [r.a for r in found["best"].rows]
    return not set(known) <= set(found.recommendation.tied)


def seeded(*parts: int) -> np.random.Generator:
    """A stream of its own for each cell and seed."""
    return np.random.default_rng(parts)
