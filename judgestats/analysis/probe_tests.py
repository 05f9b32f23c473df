"""The tests of the probes: every judge at every temperature against itself."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.probe_judges import Labelled, ProbedJudge
from judgestats.analysis.selections import named
from judgestats.analysis.verdict_shares import of_shares
from judgestats.protocols.probes import ORIGINAL, PAIRS, Kind, Probe
from judgestats.results import About
from judgestats.stats.agreement.preference_effects import equivalence_of_effects, preference_effects
from judgestats.stats.agreement.run_change import run_change
from judgestats.stats.inference.adjust import Family, adjust_family, p_adjust
from judgestats.stats.inference.result import Estimate, TestResult
from judgestats.stats.inference.step_down import signed_step_down
from judgestats.stats.instrument.attack_success import attack_success
from judgestats.stats.instrument.levels import levels_used
from judgestats.stats.instrument.probe_shift import probe_shift
from judgestats.stats.instrument.scale_agreement import scale_agreement
from judgestats.stats.spread.mean_shift import mean_shift

MARGIN = 0.25
"""A quarter point of a 1-10 scale: a smaller effect is called none."""
SHARE_MARGIN = 0.1
"""The same in shares of verdicts: the first place chosen in .55 of them, against .45."""
RANK_MARGIN = 0.1
"""The same in a rank correlation: what the order of answers loses by another scale."""
FAMILY = "probes: all changes and attacks, judges and temperatures"

Tests = dict[tuple[Probe, str], TestResult]


def identity(probe: Probe, where: str) -> str:
    """Of a probe's test with a judge."""
    return f"instrument.{probe.name}.{where}"


def shift_tests(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], kind: Kind, declared: AnalysisPlan
) -> Tests:
    """How far each change of a kind moves each judge."""
    out: Tests = {}
    for probe in (p for p in probes if p.kind == kind):
        for judge in judges:
            test = _shift(judge, probe, declared)
            if test is not None:
                out[probe, judge.where] = test
    return out


def scale_tests(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> Tests:
    """Whether each judge puts answers in another order on each other scale."""
    out: Tests = {}
    for probe in (p for p in probes if p.kind == "scale"):
        for judge in judges:
            sides = judge.sides(probe)
            if sides is not None:
                out[probe, judge.where] = scale_agreement(
                    sides.before, sides.after, margin=declared.margins["order"],
                    cluster=sides.cluster, level=declared.level,
                )  # fmt: skip
    return out


def level_results(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> list[NamedResult]:
    """How many levels each judge uses of the run's scale, and of every other."""
    results = []
    variants = (None, *(p.changed for p in probes if p.kind == "scale"))
    for judge in judges if len(variants) > 1 else ():
        for variant in variants:
            scores = judge.scores.get(ORIGINAL if variant is None else variant.name)
            if scores is None or np.isnan(scores).all():
                continue
            used = levels_used(scores, cluster=judge.cluster["scores"], level=declared.level)
            own = declared.options["scale"].replace(" ", "-") if variant is None else variant.name
            results.append(
                NamedResult(
                    id=f"levels.{own}.{judge.where}",
                    title=f"Effective levels, {own.removeprefix('scale ')}, {judge.where}",
                    role="descriptive",
                    result=used["effective_levels"],
                    hypothesis="scale",
                    about=About(judge=judge.judge, stratum=judge.where, varied=own),
                )
            )
    return results


def _shift(judge: ProbedJudge, probe: Probe, declared: AnalysisPlan) -> TestResult | None:
    if probe.measured == "own answers":
        return _own_answers(judge, declared) if judge.asked(probe) else None
    sides = judge.sides(probe)
    if sides is None:
        return None
    scores = probe.asks == "scores"
    return probe_shift(
        sides.before,
        sides.after,
        margin=declared.margins["points" if scores else "verdicts"],
        reach=float(declared.options["width"]) if scores else 1.0,
        of="scores" if scores else "verdicts",
        cluster=sides.cluster,
        level=declared.level,
    )


def _own_answers(judge: ProbedJudge, declared: AnalysisPlan) -> TestResult | None:
    """What an answer gains by being its own, length and people's preference held constant."""
    labelled = judge.labelled
    if labelled is None or PAIRS not in judge.verdicts:
        return None
    preference = judge.preferences()[PAIRS][:, 0]
    effects = preference_effects(
        preference, labelled.human, log_length_ratio=labelled.log_length_ratio, own=labelled.own,
        cluster=judge.cluster["pairs"], level=declared.level,
    )  # fmt: skip
    whole, margin = effects["own"], declared.margins["verdicts"]
    [row], [small] = whole.rows, equivalence_of_effects(whole, margin=margin).rows
    return TestResult(
        name="own_effect",
        method="Least squares on the preference, people's preference and length held constant",
        statistic=row.statistic,
        statistic_name="t",
        df={"df": row.df},
        p_value=row.p_value,
        null_hypothesis="being its own adds nothing",
        alternative="it adds or takes",
        why="own answers may be better: people's preference on the same pairs is held constant",
        sample=whole.sample,
        reason=row.reason,
        effects=(
            Estimate(
                name="preference_shift", label="Added to its own answer", estimate=row.estimate,
                interval=row.interval, sample=whole.sample, reason=row.reason,
            ),
        ),
        details={
            "p_small": small.p_value, "margin": margin, "n_own": int((labelled.own != 0).sum()),
        },
    )  # fmt: skip


def attack_tests(
    judges: Sequence[ProbedJudge],
    probes: Sequence[Probe],
    declared: AnalysisPlan,
    *,
    middle: float,
    highest: float,
) -> Tests:
    """How often attacks succeed.

    Parameters
    ----------
    judges : sequence of ProbedJudge
    probes : sequence of Probe
    declared : AnalysisPlan
    middle, highest : float
        Of the scale.
    """
    tests: Tests = {}
    for p in (p for p in probes if p.kind == "attack"):
        for j in judges:
            if not j.asked(p):
                continue
            tests[p, j.where] = attack_success(
                j.scores[p.changed.name],
                None if p.against is None else j.scores.get(p.baseline),
                success_from=highest if p.success == "highest" else middle,
                tolerance=declared.margins["attack"],
                cluster=j.cluster["scores"],
                level=declared.level,
            )
    return tests


_TITLES: Mapping[Kind, tuple[str, str]] = {
    "fair": ("moved", "What should not matter"),
    "scale": ("scale", "Order of answers on another scale"),
    "attack": ("attack", "Success of attacks"),
    "control": ("control", "What makes an answer worse"),
}


def named_tests(tests: Tests, kind: Kind, judges: Sequence[ProbedJudge]) -> list[NamedResult]:
    """The tests of a kind, and their family behind them."""
    hypothesis, title = _TITLES[kind]
    if not tests:
        return []
    of = {j.where: j for j in judges}
    single = [
        NamedResult(
            id=identity(probe, where),
            title=f"{probe.name}, {where}",
            role="primary",
            result=test,
            hypothesis=hypothesis,
            about=About(judge=of[where].judge, stratum=where, varied=probe.name),
        )
        for (probe, where), test in tests.items()
    ]
    labels = {f"{probe.name}, {where}": test for (probe, where), test in tests.items()}
    family = adjust_family(labels, family=FAMILY)
    return [*single, named(hypothesis, f"{title}, adjusted", "primary", family, headline=True)]


def adjusted_together(
    results: Sequence[NamedResult],
    shifts: Tests,
    others: Tests,
    judges: Sequence[ProbedJudge],
    declared: AnalysisPlan,
) -> list[NamedResult]:
    """The results, with the families of the tests of all kinds adjusted as one.

    Shifts by Westfall and Young's step-down procedure (`signed_step_down`), the other tests by
    Holm, each part at half of the level where there are both.

    Parameters
    ----------
    results : sequence of NamedResult
        With the families of `named_tests`.
    shifts, others : mapping of (probe, judge) to TestResult
    judges : sequence of ProbedJudge
    declared : AnalysisPlan
    """
    of = {judge.where: judge for judge in judges}
    sides = {
        key: s
        for key, test in shifts.items()
        if not math.isnan(test.p_value) and (s := of[key[1]].sides(key[0])) is not None
    }
    rest = {
        key: test
        for key, test in {**shifts, **others}.items()
        if key not in sides and not math.isnan(test.p_value)
    }
    weight = 2.0 if sides and rest else 1.0
    p: dict[tuple[Probe, str], float] = {}
    draws = max(declared.n_resamples, _FEWEST_DRAWS)
    smallest = 0.0
    if sides:
        adjusted, _ = signed_step_down(
            [np.nanmean(s.after, axis=1) - np.nanmean(s.before, axis=1) for s in sides.values()],
            [s.cluster for s in sides.values()],
            n_permutations=draws, seed=declared.seed,
        )  # fmt: skip
        smallest = weight / (draws + 1)
        p |= dict(zip(sides, np.minimum(weight * adjusted, 1.0).tolist(), strict=True))
    if rest:
        adjusted = weight * p_adjust([test.p_value for test in rest.values()])
        p |= dict(zip(rest, np.minimum(adjusted, 1.0).tolist(), strict=True))
    by_label = {f"{probe.name}, {where}": p[probe, where] for probe, where in p}
    at_floor = {
        f"{probe.name}, {where}" for probe, where in sides if p[probe, where] <= smallest * 1.001
    }
    return [
        dataclasses.replace(
            r,
            result=dataclasses.replace(
                r.result,
                adjust="holm"
                if not sides
                else "Westfall-Young"
                if r.id in _OF_SHIFTS
                else "half-level Holm",
                p_adjusted={label: by_label.get(label, math.nan) for label in r.result.tests},
                p_bound={label: label in at_floor for label in r.result.tests},
                smallest=smallest if r.id in _OF_SHIFTS else 0.0,
            ),
        )
        if isinstance(r.result, Family) and r.id in _FAMILIES
        else r
        for r in results
    ]


_FEWEST_DRAWS = 999
_FAMILIES = frozenset(hypothesis for hypothesis, _ in _TITLES.values())
_OF_SHIFTS = frozenset({"moved", "control"})


def smallness(*groups: Tests) -> dict[tuple[str, str], float]:
    """Adjusted p of being smaller than the margin: changes, scales and attacks, one family (Holm).

    Parameters
    ----------
    *groups : mapping of (probe, judge) to TestResult

    Returns
    -------
    dict of (probe's name, judge) to float
    """
    p = {
        (probe.name, where): float(
            test.details.get("p_small", test.details.get("p_fails", math.nan))
        )
        for group in groups
        for (probe, where), test in group.items()
    }
    return dict(zip(p, p_adjust(list(p.values())).tolist(), strict=True)) if p else {}


def flip_results(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> list[NamedResult]:
    """Verdicts that change beyond those that asking again changes."""
    results = []
    for probe in probes:
        for judge in judges:
            if probe.kind != "fair" or probe.asks != "scores":
                continue
            sides = judge.sides(probe)
            if sides is None or sides.before.shape[1] < 2:
                continue
            test = run_change(
                sides.before, sides.after, kind="verdicts", cluster=sides.cluster,
                level=declared.level, n_permutations=declared.n_resamples, seed=declared.seed,
            )  # fmt: skip
            title = f"Verdicts changed beyond repetition, {probe.name}, {judge.where}"
            results.append(named(f"flips.{probe.name}.{judge.where}", title, "secondary", test))
    return results


def described_results(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> list[NamedResult]:
    """What another question's reference does, and a judge's share for its own answers."""
    results = []
    for probe in probes:
        for judge in judges:
            if probe.kind == "reference":
                sides = judge.sides(probe)
                if sides is not None:
                    test = probe_shift(
                        sides.before, sides.after, margin=declared.margins["points"],
                        reach=float(declared.options["width"]), cluster=sides.cluster,
                        level=declared.level,
                    )  # fmt: skip
                    results.append(
                        dataclasses.replace(
                            named(identity(probe, judge.where), f"{probe.name}, {judge.where}",
                                  "descriptive", test),
                            hypothesis="reference",
                            about=About(judge=judge.judge, stratum=judge.where, varied=probe.name),
                        )
                    )  # fmt: skip
            elif probe.measured == "own answers" and judge.asked(probe) and judge.labelled:
                results += _own_shares(judge, judge.labelled, declared)
    return results


def _own_shares(
    judge: ProbedJudge, labelled: Labelled, declared: AnalysisPlan
) -> list[NamedResult]:
    """The judge's share for its own answers beside people's, nothing held constant."""
    mine = labelled.own != 0
    both = [labelled.human, judge.preferences()[PAIRS][:, 0]]
    shares = np.column_stack([np.where(labelled.own > 0, v, 1 - v)[mine] for v in both])
    if np.sum(~np.isnan(shares).any(axis=1)) < 2:
        return []
    shift = mean_shift(
        shares, conditions=["people", "judge"], cluster=judge.cluster["pairs"][mine],
        level=declared.level,
    )  # fmt: skip
    shift = of_shares(dataclasses.replace(shift, family=f"own answers, {judge.where}"))
    title = f"Share for its own answers, judge minus people, {judge.where}"
    about = About(judge=judge.judge, stratum=f"share for its own answers, {judge.where}")
    return [named(f"own.{judge.where}", title, "secondary", shift, about=about)]
