"""Every experiment on a world: conditions, frame, plan and analysis; nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from judgestats.analysis import (
    Analysis,
    alignment,
    bias,
    guidelines,
    judges,
    probe,
    prompts,
    reasoning,
    self_consistency,
    temperature,
    validity_run,
)
from judgestats.data import Condition
from judgestats.protocols import PROBES as PROBES_OF_JUDGE
from judgestats.protocols import Scale, response_names, variants_of
from tests.null_judge import doors
from tests.null_judge.selections import SELECTIONS
from tests.null_judge.worlds import World, compared, labelled_items, scored, scored_answers

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


SPREAD_CONDITIONS: Mapping[str, list[Condition]] = {
    "temperature": [Condition(judge="j", temperature=t) for t in HEATS],
    "temperature with T = 0": [Condition(judge="j", temperature=t) for t in (0.0, *HEATS)],
    "judges": [Condition(judge=j, temperature=1.0) for j in "abc"],
    "guidelines": [
        Condition(judge="j", temperature=1.0, factors={"guideline": g})
        for g in ("none", "brief", "long")
    ],
    "reasoning": [
        Condition(judge=j, temperature=1.0, factors={"reasoning": r})
        for j in ("a", "b")
        for r in ("none", "before")
    ],
}
_MODULES = {
    "temperature": temperature, "temperature with T = 0": temperature, "judges": judges,
    "guidelines": guidelines, "reasoning": reasoning,
}  # fmt: skip
SPREAD: Mapping[str, Design] = {
    name: _spread(_MODULES[name], conditions) for name, conditions in SPREAD_CONDITIONS.items()
}
"""A claim on spread, of conditions that differ in nothing unless an effect is given."""

METHODS = [
    Condition(judge=j, temperature=0.5, factors={"method": m})
    for j in ("a", "b")
    for m in ("pairwise", "pairwise-reasoned", "pairwise-checked")
]
AVERAGED = [Condition(judge=j, temperature=1.0) for j in ("a", "b")]


def aligned(
    rng, world: World, *, resamples: int = 199, effect: float = 1.0, tokens=None
) -> Analysis:
    """Methods that agree equally often; an effect makes the odds of the last so many times."""
    items = labelled_items(rng, world)
    odds = effect * 0.7 / 0.3
    last = {METHODS[-1].label: odds / (1 + odds)}
    frame = compared(rng, world, METHODS, items, right=last, tokens=tokens)
    given = {"resamples": resamples, "seed": 0, "methods_at": 0.5, "disagreement": "tie"}
    return alignment.analyse(frame, alignment.plan(given, METHODS), items=items)


def averaged(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Judges whose scores say nothing of the labels; an effect scores what people chose higher.

    Without an effect people call no tie: where they do, averaging, which makes ties rarer, costs
    agreement, and that is no false claim.
    """
    world = replace(world, replications=max(world.replications, 3))
    items = labelled_items(rng, world, decided=1.0 if effect == 1 else 0.8)
    frame = scored_answers(rng, world, AVERAGED, items)
    if effect != 1:
        better = {
            name
            for item in items
            for name, side in zip(response_names(item), "ab", strict=True)
            if item.labels[0].winner == side
        }
        noise = rng.normal(0, 2, len(frame))
        lifted = frame["score"] + effect * frame["item_id"].isin(better) + noise
        frame = frame.assign(score=lifted.round())
    given = {"resamples": resamples, "seed": 0, "repeats": world.replications}
    plan = self_consistency.plan(given, AVERAGED)
    return self_consistency.analyse(frame, plan, items=items)


def unbiased(
    rng, world: World, *, resamples: int = 199, effect: float = 1.0, padding: float = 0.0
) -> Analysis:
    """Judges that neither padding, place nor authorship moves; an effect leans the last to a place.

    `padding` is what it adds in points. Where it adds anything, what is off topic loses five: a
    judge that passes no control is called fair of nothing.
    """
    items = labelled_items(rng, world)
    names = ("padding", "position", "own answer", *(["off topic"] if padding else []))
    probes = tuple(PROBES_OF_JUDGE[name] for name in names)
    pairs, scores = (
        [
            Condition(judge=j, temperature=1.0, factors={"probe": v.name})
            for j in ("a", "b")
            for v in variants_of(probes).values()
            if v.asks == asks
        ]
        for asks in ("pairs", "scores")
    )
    lean = {pairs[-1].label: 1 - 1 / effect}
    added = {"padding": padding, "off topic": -5.0}
    shift = {c.label: added.get(c.factors["probe"], 0.0) for c in scores}
    answers = [name for item in items for name in response_names(item)]
    both = replace(world, sizes=tuple(2 * n for n in world.sizes))
    points = scored(rng, both, scores, shift=shift, names=answers)
    frame = pd.concat([compared(rng, world, pairs, items, lean=lean), points], ignore_index=True)
    given = {"probes": probes, "scale": Scale(), "resamples": resamples, "seed": 0}
    given |= {"own": {"a": "author-a"}, "texts": "on"}
    return bias.analyse(frame, bias.plan(given, [*pairs, *scores]), items=items)


DESIGNS: dict[str, Design] = {
    **SPREAD,
    "alignment": aligned,
    "self_consistency": averaged,
    "bias": unbiased,
}


def probed(
    rng: np.random.Generator,
    world: World,
    *,
    resamples: int = 199,
    effect: float = 0.0,
    all_by: float = 0.0,
) -> Analysis:
    """The probes on two judges that heed none of them; an effect is points for a citation.

    Every change that should not matter adds `all_by` points.
    """
    # These judges score everything alike: that they pass an empty answer is true.
    probes = tuple(
        p for p in PROBES_OF_JUDGE.values() if p.asks == "scores" and p.name != "master key"
    )
    conditions = [
        Condition(judge=j, temperature=1.0, factors={"probe": v})
        for j in ("a", "b")
        for v in variants_of(probes)
    ]
    fair = {p.changed.name for p in probes if p.kind == "fair"}
    moved = {c.label: all_by for c in conditions if c.factors["probe"] in fair}
    moved |= {c.label: effect for c in conditions if effect and c.factors["probe"] == "citation"}
    frame = scored(rng, world, conditions, shift=moved)
    given = {"probes": probes, "scale": Scale(), "resamples": resamples, "seed": 0}
    given |= {"own": {}, "texts": "on"}
    return probe.analyse(frame, probe.plan(given, conditions))


def probed_pairs(
    rng: np.random.Generator, world: World, *, resamples: int = 199, effect: float = 1.0
) -> Analysis:
    """The probes on comparisons, which no judge heeds; an effect leans the last to one place."""
    probes = tuple(p for p in PROBES_OF_JUDGE.values() if p.asks == "pairs")
    items = labelled_items(rng, world)
    conditions = [
        Condition(judge=j, temperature=1.0, factors={"probe": v})
        for j in ("a", "b")
        for v in variants_of(probes)
    ]
    leaning = {c.label: 1 - 1 / effect for c in conditions if c.judge == "b"}
    # These judges choose alike what is off topic: that they do not notice it is true.
    given = {"probes": probes, "scale": Scale(), "resamples": resamples, "seed": 0}
    given |= {"own": {"a": "author-a"}, "texts": "on"}
    frame = compared(rng, world, conditions, items, lean=leaning)
    return probe.analyse(frame, probe.plan(given, conditions), items=items)


def labelled_at_random(
    rng: np.random.Generator, world: World, *, resamples: int = 199, effect: float = 0.0
) -> Analysis:
    """Scores whose labels say nothing of them; an effect is points for an answer of quality 1."""
    judges = [Condition(judge=j, temperature=1.0, factors={"verdict": "score"}) for j in ("a", "b")]
    items = tuple(
        replace(item, responses=tuple(
            replace(r, quality=round(float(rng.random()), 3)) for r in item.responses
        ))
        for item in labelled_items(rng, world)
    )  # fmt: skip
    frame = scored_answers(rng, world, judges, items)
    better = {
        n: r.quality for i in items for n, r in zip(response_names(i), i.responses, strict=True)
    }
    frame["score"] = (frame["score"] + effect * frame["item_id"].map(better)).round()
    given = {
        "scale": Scale(), "labels": "designed", "labels_drawn": "random", "labelled": None,
        "pass_from": None, "mix": "", "resamples": resamples, "seed": 0,
    }  # fmt: skip
    return validity_run.analyse(frame, validity_run.plan(given, judges), items=items)


def reworded(
    rng: np.random.Generator, world: World, *, resamples: int = 199, effect: float = 0.0
) -> Analysis:
    """Two judges under four wordings that change nothing.

    An effect is the points by which the second judge's last wording raises half of the items and
    lowers the others: the standard deviation of what that wording does.
    """
    conditions = [
        Condition(judge=j, temperature=1.0, factors={"wording": w})
        for j in ("a", "b")
        for w in ("one", "two", "three", "four")
    ]
    given = {"resamples": resamples, "seed": 0}
    frame = scored(rng, world, conditions)
    if effect:
        sign = frame["item_id"].str[1:].astype(int) % 2 * 2 - 1
        last = frame["condition"] == conditions[-1].label
        frame["score"] = (frame["score"] + effect * sign * last).round()
    return prompts.analyse(frame, prompts.plan(given, conditions))


NULL: dict[str, Callable[..., Analysis | bool]] = {
    **{name: partial(design, resamples=99) for name, design in DESIGNS.items()},
    "audit, scores": partial(doors.audited, resamples=99),
    "audit, people": partial(doors.labelled, resamples=99),
    "drift, scores": partial(doors.drifted, resamples=99),
    "drift, verdicts": partial(doors.drifted_verdicts, resamples=99),
    "check": partial(doors.passes, resamples=19),
    **{name: partial(design, resamples=99) for name, design in SELECTIONS.items()},
    "probe": partial(probed, resamples=99),
    "prompts": partial(reworded, resamples=99),
    "probe, pairs": partial(probed_pairs, resamples=99),
    "validity": partial(labelled_at_random, resamples=99),
    "audit, verdicts": partial(doors.unlabelled, resamples=99),
    "compare": partial(doors.compared_runs, resamples=99),
}
"""All that claims, where nothing differs; of check whether a judge just at a demand passes."""


def claims(found: Analysis, claim: str = "differs") -> list[str]:
    """The headlines that claim it; that a judge beats a baseline may be true of equal judges."""
    return [h.id for h in found.headlines if h.claim == claim and h.hypothesis != "difference"]


def left_out(found: Analysis, conditions: list[str] | None = None) -> bool:
    """Whether the comparisons with the best leave out one of conditions that are equally good."""
    if not any(r.id == "best" for r in found.results):
        return False
    known = conditions or [r.a for r in found["best"].rows]
    return not set(known) <= set(found["best"].candidates)


def seeded(*parts: int) -> np.random.Generator:
    """A stream of its own for each cell and seed."""
    return np.random.default_rng(parts)
