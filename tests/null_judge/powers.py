"""Worlds whose difference is the declared margin, and worlds with one that is to be found.

The judge of power is the best of several valid tests of the one difference there is, unadjusted:
paired by question, with the rest of the conditions of its stratum as the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy

import numpy as np
from scipy import stats

from judgestats.analysis import Analysis, spread_headlines, spread_questions, strata_of, temperature
from judgestats.data import Condition, score_array
from judgestats.results import Headline
from tests.null_judge import doors
from tests.null_judge.designs import (
    METHODS,
    SPREAD,
    SPREAD_CONDITIONS,
    aligned,
    averaged,
    claims,
    labelled_at_random,
    probed,
    reworded,
    unbiased,
)
from tests.null_judge.selections import best_of, called_correct, crowded, rotated, sampled
from tests.null_judge.worlds import World, scored

Found = tuple[bool, list[float]]
DRAWS = 199
"""Permutations: of 99 a p below .05 is at most .04, a level that runs (999) do not have."""
MARGIN_ODDS = 2.2
"""Odds ratio at which the last method's alignment score is .05 above the others'."""

MARGIN_POINTS = 0.63
"""Points that people's choice is worth, at which the mean of 10 agrees by .05 more than one."""
MARGIN_CROWD = 0.7717
"""Odds ratio at which a strategy is right by .05 less often."""


def _same_spread(name: str) -> Callable[..., bool]:
    def claimed(rng, world: World) -> bool:
        found = SPREAD[name](rng, world, resamples=DRAWS, effect=np.sqrt(1.5))
        return _claims(found, "equivalent", found.conditions["condition"].iloc[-1])

    return claimed


def _claims(found: Analysis, claim: str, condition: str) -> bool:
    return any(h.claim == claim and condition in h.about.conditions for h in found.headlines)


def _same_methods(rng, world: World) -> bool:
    found = aligned(rng, world, resamples=DRAWS, effect=MARGIN_ODDS)
    return _claims(found, "equivalent", METHODS[-1].label)


def _small_probes(rng, world: World) -> bool:
    found = probed(rng, world, resamples=DRAWS, all_by=0.25)
    return any(h.claim == "equivalent" and h.hypothesis == "moved" for h in found.headlines)


def _small_gain(rng, world: World) -> bool:
    """Of averaging, which lifts the agreement of both judges by the margin."""
    found = averaged(rng, world, resamples=19, effect=MARGIN_POINTS)
    return any(h.claim == "equivalent" and h.hypothesis == "gain" for h in found.headlines)


def _small_crowd(rng, world: World) -> bool:
    """Of the last strategy of the second judge, right less often than vanilla by the margin."""
    found = crowded(rng, world, resamples=19, effect=MARGIN_CROWD)
    return any(
        h.claim == "equivalent" and h.about.judge == "b" and "@4:vanilla" in h.rests_on[0]
        for h in found.headlines
    )


def _small_padding(rng, world: World) -> bool:
    found = unbiased(rng, world, resamples=DRAWS, padding=0.25)
    return any(h.claim == "equivalent" and h.about.varied == "padding" for h in found.headlines)


MARGIN: dict[str, Callable[..., bool]] = {
    **{name: _same_spread(name) for name in SPREAD if name != "temperature with T = 0"},
    "alignment": _same_methods,
    "bias": _small_padding,
    "probe": _small_probes,
    "self_consistency": _small_gain,
    "crowd": _small_crowd,
}


def single_tests(values: np.ndarray, clusters: Sequence[str]) -> list[float]:
    """p of the last column against the mean of the others: t and signed-rank, over questions."""
    gap = values[:, -1] - values[:, :-1].mean(axis=1)
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    gap = np.bincount(codes, weights=gap) / np.bincount(codes)
    if not gap.any():
        return [1.0, 1.0]
    return [
        float(stats.ttest_1samp(gap, 0).pvalue),
        float(stats.wilcoxon(gap, zero_method="pratt").pvalue),
    ]


def _spread(
    design: Callable[..., Analysis], conditions: Sequence[Condition], of: int = 3
) -> Callable[..., Found]:
    """Of the spread of the last condition among the last `of`, which share its stratum."""
    last = conditions[-1].label

    def found(rng, world: World, effect: float) -> Found:
        array = score_array(scored(deepcopy(rng), world, conditions, spread={last: effect}))
        variance, clusters = np.nanvar(array.scores[:, -of:], axis=2, ddof=1), array.clusters
        out = design(rng, world, resamples=DRAWS, effect=effect)
        shown = _claims(out, "differs", last) or "headline.gmd.all" in claims(out)
        return shown, [
            *single_tests(np.sqrt(variance), clusters),
            *single_tests(np.log(variance + 0.1), clusters),
        ]

    return found


def _methods(rng, world: World, effect: float) -> Found:
    out = aligned(rng, world, resamples=DRAWS, effect=effect)
    last = METHODS[-1].factors["method"]
    single = [r.p_value for r in out["difference.b"].rows if last in (r.a, r.b)]
    return "headline.methods.b" in claims(out), single


def _gains(rng, world: World, effect: float) -> Found:
    out = averaged(rng, world, resamples=DRAWS, effect=effect)
    own = [h for h in out.headlines if h.hypothesis == "gain" and h.about.judge == "b"]
    records = out.records()
    single = [records[i].p for h in own for i in h.rests_on if hasattr(records[i], "p")]
    return any(h.claim == "differs" for h in own), [min(single)]


def _place(rng, world: World, effect: float) -> Found:
    out = unbiased(rng, world, resamples=DRAWS, effect=effect)
    single = [out[f"{kind}.b at T=1"].p_value for kind in ("position", "instrument.position")]
    return "headline.moved.position, b at T=1" in claims(out), single


def _people(rng, world: World, effect: float) -> Found:
    out = doors.labelled(rng, world, resamples=DRAWS, effect=effect)
    last = doors.JUDGES[-1].label
    single = [r.p_value for r in out["compare.people.pairs"].rows if last in (r.a, r.b)]
    return bool(claims(out)), single


def _drift(design: Callable[..., Analysis], kind: str) -> Callable[..., Found]:
    def found(rng, world: World, effect: float) -> Found:
        out = design(rng, world, resamples=DRAWS, effect=effect)
        [own] = [h for h in out.headlines if h.hypothesis == kind]
        return own.claim == "differs", [out[own.rests_on[0]].p_value]

    return found


def _headlines(design: Callable[..., Analysis], own: Callable[[Headline], bool]) -> Callable:
    """Of the headlines that an effect is to be seen in; single are the tests behind them."""

    def found(rng, world: World, effect: float) -> Found:
        out = design(rng, world, resamples=DRAWS, effect=effect)
        chosen, records = [h for h in out.headlines if own(h)], out.records()
        shown = any(h.claim == "differs" for h in chosen)
        return shown, [float(records[h.rests_on[0]].p) for h in chosen]

    return found


def _cited(rng, world: World, effect: float) -> Found:
    """Both judges give that many points for a citation."""
    out = probed(rng, world, resamples=DRAWS, effect=effect)
    moved = any(h.claim == "differs" and h.hypothesis == "moved" for h in out.headlines)
    return moved, [out[f"instrument.citation.{j} at T=1"].p_value for j in "ab"]


POWER: dict[str, tuple[float, Callable[..., Found]]] = {
    **{
        name: (1.5, _spread(SPREAD[name], SPREAD_CONDITIONS[name], of))
        for name, of in (("temperature", 3), ("judges", 3), ("guidelines", 3), ("reasoning", 2))
    },
    "audit, scores": (1.5, _spread(doors.audited, doors.JUDGES)),
    "alignment": (3.5, _methods),
    "self_consistency": (2.5, _gains),
    "bias": (1.2, _place),
    "audit, people": (3.5, _people),
    "drift, scores": (2.8, _drift(doors.drifted, "shift")),
    "drift, verdicts": (1.5, _drift(doors.drifted_verdicts, "flips")),
    "grade_score": (
        1.3,
        _headlines(
            rotated, lambda h: h.id == "headline.position.j, T=1, prompt=long, unrelated=yes"
        ),
    ),
    "head_to_tail": (
        4.0,
        _headlines(
            called_correct, lambda h: h.hypothesis == "judges" and "c, T=1" in h.about.conditions
        ),
    ),
    "omega": (
        1.4,
        _headlines(best_of, lambda h: h.hypothesis == "temperature" and h.about.judge == "b"),
    ),
    "rejection_sampling": (
        3.0,
        _headlines(
            sampled, lambda h: h.hypothesis in {"gain", "crowd"} and "cce@4" in h.rests_on[0]
        ),
    ),
    "crowd": (
        12.0,
        _headlines(crowded, lambda h: h.about.judge == "b" and "@2" not in h.rests_on[0]),
    ),
    "validity": (
        0.8,
        _headlines(
            labelled_at_random, lambda h: h.hypothesis == "related" and h.id.endswith("score")
        ),
    ),
    "probe": (0.55, _cited),
    "prompts": (
        0.6,
        _headlines(reworded, lambda h: h.hypothesis == "wording" and h.about.stratum == "b at T=1"),
    ),
}
"""By experiment the size of the one difference there is, and whether it is found."""


def _of_sixty(rng, world: World, effect: float) -> Found:
    """Two temperatures of 60 judges, of which one scatters more at the second."""
    conditions = [Condition(judge=f"j{i}", temperature=t) for i in range(60) for t in (0.5, 1.0)]
    frame = scored(rng, world, conditions, spread={conditions[1].label: effect})
    declared = temperature.plan({"resamples": 19, "seed": 0}, conditions)
    array = score_array(frame)
    cells = frame.drop_duplicates("condition")[["condition", "judge", "temperature"]]
    strata = strata_of(cells, vary="temperature")
    [question] = spread_questions(array, declared, ("spread", "temperatures", "judge", strata))
    shown = {h.about.judge: h.claim for h in spread_headlines(question)}
    sd = array.scores[:, :2].std(axis=2, ddof=1)
    return shown["j0"] == "differs", single_tests(sd, array.clusters)


FAMILY: dict[str, tuple[float, Callable[..., Found]]] = {"temperature": (2.0, _of_sixty)}
