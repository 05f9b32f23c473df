"""LLMasJudge: the claims on reasoning, and on agreement with human labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from judgestats.analysis.records import NamedResult
from judgestats.arrays import Floats
from judgestats.results.numbers import format_p, with_bounds
from judgestats.stats.comparison.groups import kruskal_test, mann_whitney_test
from judgestats.stats.comparison.matched import FriedmanResult, friedman_test
from judgestats.stats.dispersion.dispersion_test import SpreadResult, spread_test
from judgestats.stats.dispersion.equivalence import (
    EquivalenceResult,
    equivalence_of_means,
    equivalence_of_spread,
)
from judgestats.stats.dispersion.published import levene_of_variances
from judgestats.stats.dispersion.ratios import ratio_of_ratios, variance_ratio
from judgestats.stats.inference.result import Comparison, Note, TestResult
from judgestats.studies import claims
from judgestats.studies.claims import listed
from judgestats.studies.llmasjudge_data import MINI, NONE, LLMasJudgeData

SPREAD_MARGIN = 1.5
"""Declared margin: a ratio of variances between 1/1.5 and 1.5 matters little."""
WITHIN = f"1/{SPREAD_MARGIN} to {SPREAD_MARGIN}"
MEAN_MARGIN = 0.05
"""Declared margin: a difference of alignment scores below five points in a hundred."""
_BASELINES = ("always tie", "random")
_REASONED = (("pointwise, before", "pointwise"), ("pairwise, reasoning", "pairwise"))
"""Methods that reason, and the same without."""
_UNCLUSTERED = Note(
    code="no_clusters",
    message="The file does not say which pairs belong to one question; pairs of a question share "
    "answers, so p-values and intervals are too small by an unknown amount.",
)


def paired_spread(
    table: Floats, levels: Sequence[str] | Sequence[float], options: claims.Options
) -> SpreadResult:
    """The comparison of spread within items; levels that are numbers are ordered temperatures."""
    at = [level for level in levels if not isinstance(level, str)]
    return spread_test(
        table,
        conditions=[f"T={t:g}" for t in at] or levels,
        ordered=at or False,
        n_permutations=options.n_resamples,
        n_resamples=options.n_resamples,
        seed=options.seed,
    )


def listed_tests(tests: Mapping[str, TestResult]) -> str:
    """Statistic, p and effect of every test."""
    return "; ".join(f"{name}: {test.apa()}" for name, test in tests.items())


def reasoning(level: str) -> claims.Evaluator:
    """Reasoning before the score raises the spread; reasoning after it does not."""

    def evaluate(data: LLMasJudgeData, options: claims.Options) -> claims.Finding | str:
        arms = [data.by_temperature(arm, MINI) for arm in (NONE, level)]
        at = [t for t in arms[0] if t in arms[1]]
        if not at:
            return f"no variances with reasoning {level}"
        names = [NONE, level]
        pooled = [np.concatenate([of[t] for t in at]) for of in arms]
        old = levene_of_variances(pooled, conditions=names)
        results = claims.then(f"Variances, {level} against none", old)
        kept = [t for t in at if all(of[t].size == data.n_items for of in arms)]
        if not kept:
            return claims.Finding(
                verdict="open",
                reproduced=listed_tests({level: old}),
                because="No temperature has complete arrays under both conditions.",
                results=results,
            )
        table = np.column_stack([np.mean([of[t] for t in kept], axis=0) for of in arms])
        test = paired_spread(table, names, options).rank_test
        ratio = variance_ratio(table, conditions=names)
        equal = equivalence_of_spread(table, margin=SPREAD_MARGIN, conditions=names)
        row, differ = ratio.rows[0], test.p_value < 0.05
        # The declared test decides, the ratio says in which direction and how far.
        raised = ("stands" if row.estimate > 1 else "does not stand") if differ else "open"
        return claims.Finding(
            verdict=raised if level == "before" else _no_difference(equal, differ=differ),
            reproduced=listed_tests({level: old}),
            because=f"{test.method}: p {format_p(test.p_value)}; ratio of variances "
            f"{row.with_bounds()}, p {format_p(row.p_value)} "
            f"(T = {', '.join(f'{t:g}' for t in kept)}); within {WITHIN}: "
            f"{_equivalence_word(equal)}.",
            results=results
            + claims.now(f"Spread, {level} against none", test, primary=True)
            + claims.now(f"Ratio of variances, {level} over none", ratio, "ratio")
            + claims.now(f"Equivalence, {level} and none", equal, "equivalence"),
        )

    return evaluate


def reasoning_by_judge(data: LLMasJudgeData, _: claims.Options) -> claims.Finding | str:
    """Reasoning affects the judges differently at T = 1."""
    arms = [data.raw.get(level, {}) for level in ("before", NONE)]
    shared = sorted(set(arms[0]) & set(arms[1]))
    if not shared:
        return "no raw scores with reasoning"
    old: dict[str, TestResult] = {}
    results: list[NamedResult] = []
    most: dict[float, int] = {}
    differs: dict[float, bool] = {}
    alike: dict[float, bool] = {}
    printed: list[str] = []
    why: list[str] = []
    for t in sorted({t for t, _ in shared}):
        label, names = f"T={t:g}", [j for at, j in shared if at == t]
        if len(names) < 2 or len({of[t, j].shape[0] for of in arms for j in names}) > 1:
            why.append(f"{label}: not pairable, the judges' item counts differ")
            continue
        treated, control = (_stacked([of[t, j] for j in names]) for of in arms)
        v1, v0 = (np.nanvar(x, axis=2) for x in (treated, control))  # as the study: population
        groups = {j: v1[v0[:, k] > 0, k] / v0[v0[:, k] > 0, k] for k, j in enumerate(names)}
        if min(g.size for g in groups.values()) > 1:
            old[label] = kruskal_test(list(groups.values()), names=names, ties="exact")
            results += claims.then("Item-wise ratios", {label: old[label]})
            if MINI in names:
                mini = groups.pop(MINI)
                against = {j: mann_whitney_test(mini, g) for j, g in groups.items()}
                results += claims.then(f"Item-wise ratios, {label}, {MINI} against", against, label)
                each_p = (f"{j} p {format_p(x.p_value)}" for j, x in against.items())
                printed.append(f"{label} {', '.join(each_p)}")
        ratios = ratio_of_ratios(treated, control, groups=names)
        narrow = ratio_of_ratios(treated, control, groups=names, level=0.9).rows
        differs[t] = any(r.p_adjusted < 0.05 for r in ratios.rows)
        most[t] = sum(_sign(r) for r in ratios.rows)
        bounds = [claims.low_high(r) for r in narrow]
        alike[t] = all(low > 1 / SPREAD_MARGIN and high < SPREAD_MARGIN for low, high in bounds)
        results += claims.now("Ratios of variance ratios", {label: ratios}, primary=True)
        rows = (f"{r.a} / {r.b} = {r.with_bounds()}" for r in ratios.rows)
        why.append(f"{label}: {', '.join(rows)}")
    # Three parts: gpt-4o-mini most at T = 1 (against both others), something at .5, nothing at .3.
    others = sum(j != MINI for at, j in shared if at == 1.0)
    parts = []
    if 1.0 in differs:
        parts.append(_part_verdict(most[1.0] == others > 0, against=differs[1.0] and most[1.0] < 0))
    if 0.3 in differs:
        parts.append(_part_verdict(alike[0.3], against=differs[0.3]))
    otherwise = "does not stand" if "does not stand" in parts else "open"
    stands = [p == "stands" for p in parts]
    same = [f"T={t:g}" for t, yes in alike.items() if yes]
    why.append(f"the judges are shown to be changed alike at {', '.join(same) or 'no temperature'}")
    pairs = f"; Mann-Whitney, {MINI} against the others: {'; '.join(printed)}" if printed else ""
    return claims.Finding(
        verdict=claims.joint_verdict(stands, otherwise=otherwise) if parts else "open",
        reproduced=f"{listed_tests(old)}{pairs}",
        because=f"{'; '.join(why)}.",
        results=results,
    )


def _stacked(tables: Sequence[Floats]) -> Floats:
    """Items x judges x trials, filled up with NaN where a judge has fewer trials."""
    width = max(t.shape[1] for t in tables)
    full = [np.pad(t, ((0, 0), (0, width - t.shape[1])), constant_values=np.nan) for t in tables]
    return np.stack(full, axis=1)


def _sign(row: Comparison) -> int:
    """1 where gpt-4o-mini is changed more than the other, -1 where less, 0 where not shown."""
    if MINI not in {row.a, row.b} or not row.p_adjusted < 0.05:
        return 0
    return 1 if (row.estimate > 1) == (row.a == MINI) else -1


def _part_verdict(shown: bool, *, against: bool) -> str:
    return "stands" if shown else "does not stand" if against else "open"


def _no_difference(equal: EquivalenceResult, *, differ: bool) -> str:
    """Inside the declared margin, or not; a smaller, certain difference contradicts nothing."""
    return _part_verdict(equal.all_shown, against=differ)


def _equivalence_word(equal: EquivalenceResult) -> str:
    """Whether equivalence is shown, as a word."""
    return "shown" if equal.all_shown else "not shown"


def _friedman(columns: Mapping[str, Floats], options: claims.Options) -> tuple[FriedmanResult, ...]:
    """Friedman's test as the study ran it; and with the note on what it does not know."""
    table = np.column_stack(list(columns.values()))
    old = friedman_test(table, names=list(columns), seed=options.seed)
    return old, dataclasses.replace(old, notes=(*old.notes, _UNCLUSTERED))


def _means(columns: Mapping[str, Floats]) -> str:
    return listed(columns, lambda v: claims.bounded(float(np.nanmean(v))), ", ")


def alignment_methods(data: LLMasJudgeData, options: claims.Options) -> claims.Finding | str:
    """All methods beat the baselines; reasoning does worse."""
    if not data.alignment:
        return "no alignment scores"
    sizes = [v.size for v in data.alignment.values()]
    usual = max(set(sizes), key=lambda n: (sizes.count(n), n))  # the longer one at a tie
    kept = {k: v for k, v in data.alignment.items() if v.size == usual}
    left = [f"{k} ({v.size})" for k, v in data.alignment.items() if v.size != usual]
    bases = [base for base in _BASELINES if base in kept]
    if len(kept) < 2 or not bases:
        return "no two methods with as many pairs as a baseline"
    old, noted = _friedman(kept, options)
    nemenyi, pairs = old.nemenyi(), claims.paired_shift(kept)
    # Each row as method minus other, whichever of them the family names first.
    shift = {(r.a, r.b): (r.estimate, r.p_adjusted, *claims.low_high(r)) for r in pairs.rows}
    shift |= {(b, a): (-e, p, -high, -low) for (a, b), (e, p, low, high) in list(shift.items())}
    better = {pair for pair, (e, p, *_) in shift.items() if e > 0 and p < 0.05}
    against = [(m, base) for m in kept if m not in _BASELINES for base in bases]
    reasoned = [pair for pair in _REASONED if {*pair} <= set(kept)]
    beaten = [pair in better for pair in against]
    worse = bool(reasoned) and all((b, a) in better for a, b in reasoned)
    contrary = {(b, a) for a, b in against} | set(reasoned)
    p_then = {frozenset((r.a, r.b)): r.p_value for r in nemenyi.rows}
    printed = {f"{a} against {b}": p_then[frozenset((a, b))] for a, b in reasoned}
    differences = "; ".join(
        f"{a} minus {b} = {with_bounds(e, *bounds, bounded=True)}, adjusted p {format_p(p)}"
        for a, b in reasoned
        for e, p, *bounds in [shift[a, b]]
    )
    out = f" Of another length, not comparable by pair: {', '.join(left)}." if left else ""
    return claims.Finding(
        verdict=claims.joint_verdict(
            [all(beaten), worse], otherwise="does not stand" if contrary & better else "open"
        ),
        reproduced=f"{old.statistic_text()}, p {format_p(old.p_value)}; Nemenyi: "
        f"{listed(printed, lambda p: f'p {format_p(p)}')}",
        because=f"{sum(beaten)} of {len(beaten)} comparisons with the baselines hold. "
        f"Differences: {differences}. Scores: {_means(kept)}.{out}",
        results=claims.then("Alignment of methods, Friedman", old)
        + claims.then("Pairs of methods, Nemenyi", nemenyi, "nemenyi")
        + claims.now("Differences of alignment scores", pairs, primary=True)
        + claims.now("Alignment of methods", noted, "friedman"),
    )


def alignment_temperature(level: str) -> claims.Evaluator:
    """Temperature matters with reasoning, not without."""

    def evaluate(data: LLMasJudgeData, options: claims.Options) -> claims.Finding | str:
        cells = data.alignment_temperatures.get(level, {})
        if not cells:
            return "no alignment by temperature"
        if len(cells) < 2 or len({v.size for v in cells.values()}) > 1:
            return "arrays of unequal length"
        columns = {f"T={t:g}": cells[t] for t in sorted(cells)}
        old, noted = _friedman(columns, options)
        equal = _equal_means(columns)
        differ = old.p_value < 0.05
        changes = "stands" if differ else "open"
        return claims.Finding(
            verdict=changes if level == "before" else _no_difference(equal, differ=differ),
            reproduced=f"{old.statistic_text()}, p {format_p(old.p_value)}",
            because=f"Friedman p {format_p(old.p_value)}; all differences within {MEAN_MARGIN}: "
            f"{_equivalence_word(equal)}. Scores: {_means(columns)}.",
            results=claims.then("Alignment by temperature, Friedman", old)
            + claims.now("Alignment by temperature", noted, primary=True)
            + claims.now("Alignment scores", claims.paired_shift(columns), "pairs")
            + claims.now("Equivalence of alignment scores", equal, "equivalence"),
        )

    return evaluate


def _equal_means(columns: Mapping[str, Floats]) -> EquivalenceResult:
    table = np.column_stack(list(columns.values()))
    return equivalence_of_means(table, margin=MEAN_MARGIN, conditions=list(columns))


def more_trials(data: LLMasJudgeData, _: claims.Options) -> claims.Finding | str:
    """Averaging ten judgments does not help."""
    one, ten = (data.alignment.get(n) for n in ("pointwise", "pointwise, mean of 10"))
    if one is None or ten is None or one.size != ten.size:
        return "no alignment scores of ten trials"
    columns = {"one trial": one, "mean of 10": ten}
    shift, equal = claims.paired_shift(columns), _equal_means(columns)
    row = shift.rows[0]
    return claims.Finding(
        verdict=_no_difference(equal, differ=row.p_value < 0.05 and row.estimate > 0),
        reproduced="no number was published",
        because=f"Mean of 10 minus one trial = {row.with_bounds(bounded=True)}, "
        f"p {format_p(row.p_value)}; difference within {MEAN_MARGIN}: {_equivalence_word(equal)}.",
        results=claims.now("Ten trials against one", shift, primary=True)
        + claims.now("Equivalence of ten trials and one", equal, "equivalence"),
    )
