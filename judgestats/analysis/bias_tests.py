"""The tests of the bias experiment: each judge against itself, all of a question in one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from judgestats.analysis.bias_probes import Probed, Things, place_shares
from judgestats.analysis.families import one_family
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.selections import named
from judgestats.stats.agreement.position_noise import position_and_noise
from judgestats.stats.agreement.position_preference import first_position_preference
from judgestats.stats.agreement.preference_effects import equivalence_of_effects, preference_effects
from judgestats.stats.agreement.swap import swap_consistency
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.inference.adjust import adjust_family
from judgestats.stats.inference.result import Comparisons, TestResult
from judgestats.stats.spread.distribution_shape import normality_test
from judgestats.stats.spread.equivalence import equivalence_of_means, equivalence_of_spread
from judgestats.stats.spread.mean_shift import mean_shift
from judgestats.stats.spread.spread_between_conditions import spread_test

__all__ = [
    "OF_JUDGES",
    "padding_results",
    "position_results",
    "preference_results",
    "scales_results",
    "shapes_results",
    "unread_results",
]

_EFFECTS = 3
"""Padding, place and authorship: tests of a judge in the family."""
OF_JUDGES = "judges and temperatures"


def padding_results(
    probed: Sequence[Probed], things: Things, declared: AnalysisPlan
) -> list[NamedResult]:
    """Padding by judge, temperature and scale, with its equivalence."""
    clusters = things.clusters([t[0] for t in things.twins])
    names = ["original", "padded"]
    tables = {f"{p.where}, {s}": x for p in probed for s, x in p.padded.items()}
    if not tables or not things.twins:
        return []
    family = f"padding: {OF_JUDGES}, scales"
    moved = one_family(
        {
            k: mean_shift(x, conditions=names, cluster=clusters, level=declared.level)
            for k, x in tables.items()
        },
        family=family,
    )
    small = one_family(
        {
            k: equivalence_of_means(
                x, conditions=names, cluster=clusters, margin=declared.margins["padding_points"]
            )
            for k, x in tables.items()
        },
        family=family,
    )
    return [
        named("padding", "Padded minus original, in points of a 1-10 scale", "primary", moved,
              headline=True),
        named("equivalence.padding", "Is the effect of padding small", "secondary", small,
              headline=True),
    ]  # fmt: skip


def position_results(
    probed: Sequence[Probed], clusters: Any, declared: AnalysisPlan
) -> list[NamedResult]:
    """Leaning to a place, its size, its equivalence, and noise apart."""
    compared = {p.where: p.comparing for p in probed if p.comparing is not None}
    common: dict[str, Any] = {"cluster": clusters, "level": declared.level}
    signs: dict[str, TestResult] = {
        where: first_position_preference(c.ab, c.ba, **common) for where, c in compared.items()
    }
    results = [
        named(f"position.{where}", f"Leaning to the first place, {where}", "secondary", test)
        for where, test in signs.items()
    ]
    if not signs:
        return []
    family = f"place: {OF_JUDGES}"
    places = ["second place", "first place"]
    tables = {where: place_shares(c.ab, c.ba) for where, c in compared.items()}
    # By size: the signs of questions' leanings alone find much less.
    shifted = {
        where: blocked_f_test(
            x, conditions=places, **common, seed=declared.seed,
            n_permutations=declared.n_resamples,
            n_comparisons=_EFFECTS * len(tables),
        ).replace(
            null_hypothesis="both places are chosen equally often",
            alternative="one place is chosen more often",
        )
        for where, x in tables.items()
    }  # fmt: skip
    results += [
        named(f"position.shift.{where}", f"Shares of both places, {where}", "primary", test)
        for where, test in shifted.items()
    ]
    results.append(
        named(
            "position.family", "Leaning to the first place, adjusted", "primary",
            adjust_family(shifted, family=family), headline=True,
        )
    )  # fmt: skip
    lean = {where: mean_shift(x, conditions=places, **common) for where, x in tables.items()}
    small = {
        where: equivalence_of_means(
            x, conditions=places, cluster=clusters,
            margin=declared.margins["preference"],
        ).replace(quantity="the share of verdicts for a place")
        for where, x in tables.items()
    }  # fmt: skip
    results += [
        named("position.shares", "Share of the first place minus the second", "secondary",
              one_family(lean, family=family), headline=True),
        named("equivalence.position", "Is the leaning to a place small", "secondary",
              one_family(small, family=family), headline=True),
    ]  # fmt: skip
    for where, c in compared.items():
        swap = swap_consistency(c.ab, c.ba, **common)
        results.append(
            named(f"position.swap.{where}", f"Both orders agree, {where}", "secondary", swap)
        )
        if c.ab.shape[1] > 1:
            apart = position_and_noise(
                c.ab, c.ba, **common, n_permutations=declared.n_resamples, seed=declared.seed
            )
            results.append(
                named(f"position.noise.{where}", f"Place and noise apart, {where}", "secondary",
                      apart)
            )  # fmt: skip
    return results


def preference_results(
    probed: Sequence[Probed], clusters: Any, declared: AnalysisPlan
) -> list[NamedResult]:
    """Length among real answers, and authorship with length held constant."""
    effects: dict[str, dict[str, Comparisons]] = {"length": {}, "own": {}}
    raw: dict[str, Comparisons] = {}
    for p in probed:
        c = p.comparing
        if c is None:
            continue
        mine = c.own != 0
        for name, effect in preference_effects(
            c.preference,
            c.human,
            log_length_ratio=c.log_length_ratio,
            own=c.own if mine.any() else None,
            cluster=clusters,
            level=declared.level,
        ).items():
            effects[name][p.where] = effect
        if mine.any():
            shares = [np.where(c.own > 0, v, 1 - v)[mine] for v in (c.human, c.preference)]
            raw[p.where] = mean_shift(
                np.column_stack(shares), conditions=["people", "judge"],
                cluster=clusters[mine], level=declared.level,
            )  # fmt: skip
    titles = {
        "length": "A response twice as long, people's preference held constant",
        "own": "Its own answer, people's preference and length held constant",
    }
    results: list[NamedResult] = []
    for name, parts in effects.items():
        if not parts:
            continue
        family = one_family(parts, family=f"{name}: {OF_JUDGES}")
        small = equivalence_of_effects(family, margin=declared.margins["preference"])
        results += [
            named(name, titles[name], "secondary", family, headline=True),
            named(f"equivalence.{name}", f"Is the effect of {_WORD[name]} small", "secondary",
                  small),
        ]  # fmt: skip
    if raw:
        results.append(
            named("own.shares", "Share for its own answers, judge minus people", "secondary",
                  one_family(raw, family=f"own: {OF_JUDGES}"))
        )  # fmt: skip
    return results


_WORD = {"length": "length", "own": "authorship"}


def scales_results(
    probed: Sequence[Probed], things: Things, declared: AnalysisPlan
) -> list[NamedResult]:
    """Spread and mean on every scale, the same answers, in points of one scale."""
    clusters = things.clusters(things.original)
    tests: dict[str, TestResult] = {}
    ratios: dict[str, Comparisons] = {}
    shifts: dict[str, Comparisons] = {}
    small: dict[str, Any] = {}
    for p in probed:
        if len(p.scores) < 2:
            continue
        names, table = list(p.scores), np.stack(list(p.scores.values()), axis=1)
        spread = spread_test(
            table, conditions=names, cluster=clusters, level=declared.level,
            n_permutations=declared.n_resamples, seed=declared.seed,
        )  # fmt: skip
        tests[p.where], ratios[p.where] = spread.blocked_f, spread.ratios
        if spread.shifts is not None:
            shifts[p.where] = spread.shifts
        small[p.where] = equivalence_of_spread(
            table, conditions=names, cluster=clusters, margin=declared.margins["variance_ratio"]
        )
    if not tests:
        return []
    family = f"scale: {OF_JUDGES}"
    results = [
        named(f"scale.spread.{where}", f"Relative spread by scale, {where}", "secondary", test)
        for where, test in tests.items()
    ]
    results += [
        named("scale.family", "Relative spread by scale, adjusted", "secondary",
              adjust_family(tests, family=family), headline=True),
        named("scale.ratio", "Ratios of relative variances", "secondary",
              one_family(ratios, family=family)),
        named("equivalence.scale", "Is the relative spread alike on all scales", "secondary",
              one_family(small, family=family)),
    ]  # fmt: skip
    if shifts:
        results.append(
            named("shift.scale", "Mean by scale, in points of a 1-10 scale", "secondary",
                  one_family(shifts, family=family))
        )  # fmt: skip
    return results


def shapes_results(
    probed: Sequence[Probed], things: Things, declared: AnalysisPlan
) -> list[NamedResult]:
    """The shape of repeated scores on every scale, in its own points."""
    clusters = things.clusters(things.original)
    return [
        named(f"shape.{s}, {p.where}", f"Shape of scores on {s}, {p.where}", "secondary",
              normality_test(x, cluster=clusters, level=declared.level))
        for p in probed
        for s, x in p.native.items()
    ]  # fmt: skip


def unread_results(
    probed: Sequence[Probed], things: Things, clusters: Any, declared: AnalysisPlan
) -> list[NamedResult]:
    """The primary tests under the other policy for what could not be read."""
    twins = things.clusters([t[0] for t in things.twins])
    complete: dict[str, Comparisons] = {}
    for p in probed:
        for s, x in p.padded.items():
            kept = ~np.isnan(x).any(axis=(1, 2))
            if kept.sum() > 2:
                complete[f"{p.where}, {s}"] = mean_shift(
                    x[kept], conditions=["original", "padded"], cluster=twins[kept],
                    level=declared.level,
                )  # fmt: skip
    signs = {
        p.where: first_position_preference(
            *(np.where(v == "", "tie", v) for v in (p.comparing.ab, p.comparing.ba)),
            cluster=clusters,
            level=declared.level,
        )
        for p in probed
        if p.comparing is not None
    }
    results = []
    if complete:
        results.append(
            named("padding.complete", "Padded minus original, completely read answers only",
                  "secondary", one_family(complete, family="padding, completely read answers"))
        )  # fmt: skip
    if signs:
        results.append(
            named("position.unread", "Leaning to the first place, unread verdicts for neither",
                  "secondary", adjust_family(signs, family="place, unread verdicts for neither"))
        )  # fmt: skip
    return results
