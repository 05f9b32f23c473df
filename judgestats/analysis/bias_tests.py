"""What the data of the probes of length, place, authorship and scale tell beside the probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.families import one_family
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.probe_judges import ProbedJudge, on_another_scale, scale_asked
from judgestats.analysis.scores import score_conditions
from judgestats.analysis.selections import named
from judgestats.arrays import Floats
from judgestats.judgments.shapes import score_array
from judgestats.protocols.probes import ORIGINAL, PAIRS, PROBES
from judgestats.protocols.scale import Scale
from judgestats.results import About
from judgestats.stats.agreement.position_noise import position_and_noise
from judgestats.stats.agreement.position_preference import first_position_preference
from judgestats.stats.agreement.preference_effects import equivalence_of_effects, preference_effects
from judgestats.stats.agreement.swap import swap_consistency
from judgestats.stats.inference.adjust import adjust_family
from judgestats.stats.inference.result import Comparisons, TestResult
from judgestats.stats.instrument.probe_shift import probe_shift
from judgestats.stats.spread.distribution_shape import normality_test
from judgestats.stats.spread.equivalence import equivalence_of_spread
from judgestats.stats.spread.spread_between_conditions import spread_test

OF_JUDGES = "judges and temperatures"
POINTS = Scale(low=1, high=10)
"""Scores of every scale are told in points of this one, so that scales can be compared."""
VARIANCE_RATIO = 1.5
"""Declared margin: variances on two scales within 1/1.5 to 1.5 of each other."""


def in_points(scores: Floats, scale: Scale) -> Floats:
    """Scores of a scale in points of `POINTS`."""
    share = (scores - scale.low) / (scale.high - scale.low)
    return np.asarray(POINTS.low + share * (POINTS.high - POINTS.low))


def place_results(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """Leaning to the first place, verdicts that survive a swap, and place apart from repetition."""
    results = []
    for judge in (j for j in judges if PAIRS in j.verdicts):
        ab, ba = judge.verdicts[PAIRS]
        where = judge.where
        common: dict[str, Any] = {"cluster": judge.cluster["pairs"], "level": declared.level}
        own = [
            named(f"position.{where}", f"Leaning to the first place, {where}", "secondary",
                  first_position_preference(ab, ba, **common)),
            named(f"position.swap.{where}", f"Both orders agree, {where}", "secondary",
                  swap_consistency(ab, ba, **common)),
        ]  # fmt: skip
        if ab.shape[1] > 1:
            apart = position_and_noise(
                ab, ba, **common, n_permutations=declared.n_resamples, seed=declared.seed
            )
            own.append(
                named(f"position.noise.{where}", f"Place and noise apart, {where}", "secondary",
                      apart)
            )  # fmt: skip
        about = About(judge=judge.judge, stratum=where, conditions=(judge.conditions[PAIRS],))
        results += [replace(result, about=about) for result in own]
    return results


def length_results(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """Length among real answers, people's preference and authorship held constant."""
    effects: dict[str, Comparisons] = {}
    for judge in judges:
        labelled = judge.labelled
        if labelled is None or PAIRS not in judge.verdicts:
            continue
        effects[judge.where] = preference_effects(
            judge.preferences()[PAIRS][:, 0],
            labelled.human,
            log_length_ratio=labelled.log_length_ratio,
            own=labelled.own if labelled.own.any() else None,
            cluster=judge.cluster["pairs"],
            level=declared.level,
        )["length"]
    if not effects:
        return []
    family = one_family(effects, family=f"length: {OF_JUDGES}")
    small = equivalence_of_effects(family, margin=declared.margins["verdicts"])
    return [
        named("length", "A response twice as long, people's preference held constant", "secondary",
              family, headline=True),
        named("equivalence.length", "Is the effect of length small", "secondary", small),
    ]  # fmt: skip


def _scale_of(variant: str, declared: AnalysisPlan) -> Scale:
    """The scale whose points a variant's scores have."""
    return Scale.parse(scale_asked(variant) or declared.options["scale"].replace(" ", "-"))


def _on_scales(judge: ProbedJudge) -> dict[str, Floats]:
    """Scores of the unchanged answers, by scale: the run's own first."""
    return {
        name: scores
        for name, scores in judge.scores.items()
        if (name == ORIGINAL or on_another_scale(name)) and not np.isnan(scores).all()
    }


def _label(variant: str, declared: AnalysisPlan) -> str:
    return f"scale {_scale_of(variant, declared)}" if variant == ORIGINAL else variant


def scales_results(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """Spread and mean on every scale, the same answers, in points of one scale."""
    tests: dict[str, TestResult] = {}
    ratios: dict[str, Comparisons] = {}
    shifts: dict[str, Comparisons] = {}
    small: dict[str, Any] = {}
    for judge in judges:
        scores = _on_scales(judge)
        if len(scores) < 2:
            continue
        names = [_label(s, declared) for s in scores]
        table = np.stack([in_points(x, _scale_of(s, declared)) for s, x in scores.items()], axis=1)
        clusters = judge.cluster["scores"]
        spread = spread_test(
            table, conditions=names, cluster=clusters, level=declared.level,
            n_permutations=declared.n_resamples, seed=declared.seed,
        )  # fmt: skip
        tests[judge.where], ratios[judge.where] = spread.blocked_f, spread.ratios
        if spread.shifts is not None:
            shifts[judge.where] = spread.shifts
        small[judge.where] = equivalence_of_spread(
            table, conditions=names, cluster=clusters, margin=declared.margins["variance_ratio"]
        )
    if not tests:
        return []
    family = f"scale: {OF_JUDGES}"
    results = [
        named(f"spread.scale.{where}", f"Relative spread by scale, {where}", "secondary", test)
        for where, test in tests.items()
    ]
    results += [
        named("spread.family", "Relative spread by scale, adjusted", "secondary",
              adjust_family(tests, family=family), headline=True),
        named("spread.ratio", "Ratios of relative variances", "secondary",
              one_family(ratios, family=family)),
        named("equivalence.spread", "Is the relative spread alike on all scales", "secondary",
              one_family(small, family=family)),
    ]  # fmt: skip
    if shifts:
        results.append(
            named("shift.scale", "Mean by scale, in points of a 1-10 scale", "secondary",
                  one_family(shifts, family=family))
        )  # fmt: skip
    return results


def shapes_results(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """The shape of repeated scores on every scale, in its own points."""
    return [
        named(f"shape.{_label(s, declared)}, {j.where}",
              f"Shape of scores on {_label(s, declared)}, {j.where}", "secondary",
              normality_test(x, cluster=j.cluster["scores"], level=declared.level))
        for j in judges
        for s, x in _on_scales(j).items()
    ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Described:
    """The conditions on other scales than the run's: reliabilities, a row and metrics each."""

    results: tuple[NamedResult, ...] = ()
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metrics: Mapping[str, dict[str, float]] = field(default_factory=dict)


def scales_described(frame: pd.DataFrame, declared: AnalysisPlan) -> Described:
    """Describe scores on other scales, in points of a 1-10 scale."""
    own = frame[frame["factor_probe"].map(on_another_scale)]
    if own["score"].notna().sum() == 0:
        return Described()
    points = [
        part.assign(
            score=in_points(part["score"].to_numpy(float), _scale_of(str(name), declared)),
        )
        for name, part in own.groupby("factor_probe", sort=False)
    ]
    scored = pd.concat(points).loc[own.index]
    described = score_conditions(
        scored, score_array(scored), level=declared.level, n_permutations=declared.n_resamples,
        seed=declared.seed, omega_model=declared.options.get("omega_model", "parallel"),
    )  # fmt: skip
    rows = {str(r["condition"]): {str(k): v for k, v in r.items()}
            for r in described.table.to_dict("records")}  # fmt: skip
    metrics = {k: dict(v) for k, v in described.metrics.items()}
    return Described(results=tuple(described.results), rows=rows, metrics=metrics)


def unread_results(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """Padding and place under the other policy for what could not be read."""
    complete: dict[str, TestResult] = {}
    signs: dict[str, TestResult] = {}
    for judge in judges:
        sides = judge.sides(PROBES["padding"])
        if sides is not None:
            kept = ~np.isnan(np.hstack([sides.before, sides.after])).any(axis=1)
            if kept.sum() > 2:
                complete[judge.where] = probe_shift(
                    sides.before[kept], sides.after[kept], margin=declared.margins["points"],
                    reach=float(declared.options["width"]), cluster=sides.cluster[kept],
                    level=declared.level,
                )  # fmt: skip
        if PAIRS in judge.verdicts:
            signs[judge.where] = first_position_preference(
                *(np.where(v == "", "tie", v) for v in judge.verdicts[PAIRS]),
                cluster=judge.cluster["pairs"],
                level=declared.level,
            )
    return [
        *(
            named(f"padding.complete.{where}",
                  f"Padded minus original, completely read answers only, {where}", "secondary",
                  test)
            for where, test in complete.items()
        ),
        *(
            [named("position.unread", "Leaning to the first place, unread verdicts for neither",
                   "secondary",
                   adjust_family(signs, family="place, unread verdicts for neither"))]
            if signs else []
        ),
    ]  # fmt: skip
