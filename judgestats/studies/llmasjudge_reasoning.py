"""LLMasJudge: the claims on reasoning, and on agreement with human labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from judgestats.analysis.records import NamedResult
from judgestats.arrays import Floats
from judgestats.results.numbers import bounds_of, format_p, with_bounds
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
from judgestats.studies.claims import (
    Evaluator,
    Finding,
    Options,
    bounded,
    each,
    joint_verdict,
    low_high,
    now,
    paired_shift,
    then,
)
from judgestats.studies.llmasjudge_data import MINI, NONE, LLMasJudgeData

SPREAD_MARGIN = 1.5
"""Declared margin: a ratio of variances between 1/1.5 and 1.5 matters little."""
WITHIN = f"1/{SPREAD_MARGIN} to {SPREAD_MARGIN}"
MEAN_MARGIN = 0.05
"""Declared margin: a difference of alignment scores below five points in a hundred."""
_BASELINES = ("always tie", "random")
_UNCLUSTERED = Note(
    code="no_clusters",
    message="The file does not say which pairs belong to one question; pairs of a question share "
    "answers, so p-values and intervals are too small by an unknown amount.",
)


def paired_spread(
    table: Floats, names: Sequence[str], options: Options, *, at: Sequence[float] | None = None
) -> SpreadResult:
    """The comparison of spread within items."""
    return spread_test(
        table,
        conditions=names,
        ordered=False if at is None else at,
        n_permutations=options.n_resamples,
        n_resamples=options.n_resamples,
        seed=options.seed,
    )


def listed(tests: Mapping[str, TestResult]) -> str:
    """Statistic, p and effect of every test."""
    return "; ".join(f"{name}: {test.apa()}" for name, test in tests.items())


def reasoning(level: str) -> Evaluator:
    """Reasoning before the score raises the spread; reasoning after it does not."""
    identity = f"reasoning_{level}"

    def evaluate(data: LLMasJudgeData, options: Options) -> Finding | str:
        cells = {t: v for (t, j), v in data.arms.get(level, {}).items() if j == MINI}
        plain = {t: v for (t, j), v in sorted(data.plain.items()) if j == MINI and t in cells}
        if not plain:
            return f"no variances with reasoning {level}"
        names = [NONE, level]
        old = levene_of_variances(
            [np.concatenate([of[t] for t in plain]) for of in (plain, cells)], conditions=names
        )
        results = [then(f"{identity}.then", f"Variances, {level} against none", old)]
        kept = [t for t in plain if plain[t].size == cells[t].size == data.n_items]
        if not kept:
            return Finding(
                verdict="open",
                reproduced=listed({level: old}),
                because="No temperature has complete arrays under both conditions.",
                results=results,
            )
        table = np.column_stack([np.mean([of[t] for t in kept], axis=0) for of in (plain, cells)])
        test = paired_spread(table, names, options).rank_test
        ratio = variance_ratio(table, conditions=names)
        equal = equivalence_of_spread(table, margin=SPREAD_MARGIN, conditions=names)
        row, differ = ratio.rows[0], test.p_value < 0.05
        # The declared test decides, the ratio says in which direction and how far.
        raised = ("stands" if row.estimate > 1 else "does not stand") if differ else "open"
        at = ", ".join(f"{t:g}" for t in kept)
        return Finding(
            verdict=raised if level == "before" else no_difference(equal, differ=differ),
            reproduced=listed({level: old}),
            because=f"{test.method}: p {format_p(test.p_value)}; ratio of variances "
            f"{row.with_bounds()}, p {format_p(row.p_value)} (T = {at}); within {WITHIN}: "
            f"{equivalence_word(equal)}.",
            results=[
                *results,
                now(f"{identity}.now", f"Spread, {level} against none", test, primary=True),
                now(f"{identity}.now.ratio", f"Ratio of variances, {level} over none", ratio),
                now(f"{identity}.now.equivalence", f"Equivalence, {level} and none", equal),
            ],
        )

    return evaluate


def reasoning_by_judge(data: LLMasJudgeData, _: Options) -> Finding | str:
    """Reasoning affects the judges differently at T = 1."""
    reasoned, plain = data.raw.get("before", {}), data.raw.get(NONE, {})
    shared = sorted(set(reasoned) & set(plain))
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
        sizes = {x.shape[0] for j in names for x in (reasoned[t, j], plain[t, j])}
        if len(names) < 2 or len(sizes) > 1:
            why.append(f"{label}: not pairable, the judges' item counts differ")
            continue
        treated, control = (_stacked([of[t, j] for j in names]) for of in (reasoned, plain))
        v1, v0 = (np.nanvar(x, axis=2) for x in (treated, control))  # as the study: population
        groups = [v1[v0[:, k] > 0, k] / v0[v0[:, k] > 0, k] for k in range(len(names))]
        if min(g.size for g in groups) > 1:
            old[label] = kruskal_test(groups, names=names, ties="exact")
            results += each(then, "reasoning_judges.then", "Item-wise ratios", {label: old[label]})
            if MINI in names:
                mini = groups[names.index(MINI)]
                against = {
                    j: mann_whitney_test(mini, g)
                    for j, g in zip(names, groups, strict=True)
                    if j != MINI
                }
                title = f"Item-wise ratios, {label}, {MINI} against"
                results += each(then, f"reasoning_judges.then.{label}", title, against)
                each_p = (f"{j} p {format_p(x.p_value)}" for j, x in against.items())
                printed.append(f"{label} {', '.join(each_p)}")
        ratios = ratio_of_ratios(treated, control, groups=names)
        narrow = ratio_of_ratios(treated, control, groups=names, level=0.9).rows
        differs[t] = any(r.p_adjusted < 0.05 for r in ratios.rows)
        most[t] = sum(_sign(r) for r in ratios.rows)
        bounds = [low_high(r) for r in narrow]
        alike[t] = all(low > 1 / SPREAD_MARGIN and high < SPREAD_MARGIN for low, high in bounds)
        results += each(now, "reasoning_judges.now", "Ratios of variance ratios", {label: ratios},
                        primary=True)  # fmt: skip
        rows = (f"{r.a} / {r.b} = {r.with_bounds()}" for r in ratios.rows)
        why.append(f"{label}: {', '.join(rows)}")
    # Three parts: gpt-4o-mini most at T = 1 (against both others), something at .5, nothing at .3.
    others = sum(j != MINI for at, j in shared if at == 1.0)
    parts = []
    if 1.0 in differs:
        parts.append(_part(most[1.0] == others > 0, against=differs[1.0] and most[1.0] < 0))
    if 0.3 in differs:
        parts.append(_part(alike[0.3], against=differs[0.3]))
    otherwise = "does not stand" if "does not stand" in parts else "open"
    stands = [p == "stands" for p in parts]
    same = [f"T={t:g}" for t, yes in alike.items() if yes]
    why.append(f"the judges are shown to be changed alike at {', '.join(same) or 'no temperature'}")
    pairs = f"; Mann-Whitney, {MINI} against the others: {'; '.join(printed)}" if printed else ""
    return Finding(
        verdict=joint_verdict(stands, otherwise=otherwise) if parts else "open",
        reproduced=f"{listed(old)}{pairs}",
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


def _part(shown: bool, *, against: bool) -> str:
    return "stands" if shown else "does not stand" if against else "open"


def no_difference(equal: EquivalenceResult, *, differ: bool) -> str:
    """Inside the declared margin, or not; a smaller, certain difference contradicts nothing."""
    return "stands" if equal.all_shown else "does not stand" if differ else "open"


def equivalence_word(equal: EquivalenceResult) -> str:
    """Whether equivalence is shown, as a word."""
    return "shown" if equal.all_shown else "not shown"


def _scores(named: Mapping[str, float]) -> str:
    return ", ".join(f"{n} {bounded(float(v))}" for n, v in named.items())


def _friedman(columns: Mapping[str, Floats], options: Options) -> tuple[FriedmanResult, ...]:
    """Friedman's test as the study ran it; and with the note on what it does not know."""
    table = np.column_stack(list(columns.values()))
    old = friedman_test(table, names=list(columns), seed=options.seed)
    return old, dataclasses.replace(old, notes=(*old.notes, _UNCLUSTERED))


def alignment_methods(data: LLMasJudgeData, options: Options) -> Finding | str:
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
    nemenyi, pairs = old.nemenyi(), paired_shift(kept)
    # Each row as method minus other, whichever of them the family names first.
    shift = {(r.a, r.b): (r.estimate, r.p_adjusted, *bounds_of(r.interval)) for r in pairs.rows}
    shift |= {(b, a): (-e, p, -high, -low) for (a, b), (e, p, low, high) in list(shift.items())}
    against = [shift[m, base] for m in kept if m not in _BASELINES for base in bases]
    beaten = [e > 0 and p < 0.05 for e, p, *_ in against]
    lost = any(e < 0 and p < 0.05 for e, p, *_ in against)
    reasoned = [
        (one, two)
        for one, two in (("pointwise, before", "pointwise"), ("pairwise, reasoning", "pairwise"))
        if one in kept and two in kept
    ]
    worse = bool(reasoned) and all(shift[r][0] < 0 and shift[r][1] < 0.05 for r in reasoned)
    better = any(shift[r][0] > 0 and shift[r][1] < 0.05 for r in reasoned)
    contradicted = "does not stand" if lost or better else "open"
    p_then = {frozenset((r.a, r.b)): r.p_value for r in nemenyi.rows}
    printed = "; ".join(f"{a} against {b} p {format_p(p_then[frozenset((a, b))])}"
                        for a, b in reasoned)  # fmt: skip
    differences = "; ".join(
        f"{a} minus {b} = {with_bounds(e, *bounds, bounded=True)}, adjusted p {format_p(p)}"
        for a, b in reasoned
        for e, p, *bounds in [shift[a, b]]
    )
    means = _scores({n: float(np.nanmean(v)) for n, v in kept.items()})
    out = f" Of another length, not comparable by pair: {', '.join(left)}." if left else ""
    return Finding(
        verdict=joint_verdict([all(beaten), worse], otherwise=contradicted),
        reproduced=f"{old.statistic_text()}, p {format_p(old.p_value)}; Nemenyi: {printed}",
        because=f"{sum(beaten)} of {len(beaten)} comparisons with the baselines hold. "
        f"Differences: {differences}. Scores: {means}.{out}",
        results=[
            then("alignment_methods.then", "Alignment of methods, Friedman", old),
            then("alignment_methods.then.nemenyi", "Pairs of methods, Nemenyi", nemenyi),
            now("alignment_methods.now", "Differences of alignment scores", pairs, primary=True),
            now("alignment_methods.now.friedman", "Alignment of methods", noted),
        ],
    )


def alignment_temperature(level: str) -> Evaluator:
    """Temperature matters with reasoning, not without."""
    identity = f"alignment_temperature_{level}"

    def evaluate(data: LLMasJudgeData, options: Options) -> Finding | str:
        cells = data.alignment_temperatures.get(level, {})
        if not cells:
            return "no alignment by temperature"
        if len(cells) < 2 or len({v.size for v in cells.values()}) > 1:
            return "arrays of unequal length"
        columns = {f"T={t:g}": cells[t] for t in sorted(cells)}
        table = np.column_stack(list(columns.values()))
        old, noted = _friedman(columns, options)
        equal = equivalence_of_means(table, margin=MEAN_MARGIN, conditions=list(columns))
        differ = old.p_value < 0.05
        changes = "stands" if differ else "open"
        means = dict(zip(columns, np.nanmean(table, axis=0), strict=True))
        return Finding(
            verdict=changes if level == "before" else no_difference(equal, differ=differ),
            reproduced=f"{old.statistic_text()}, p {format_p(old.p_value)}",
            because=f"Friedman p {format_p(old.p_value)}; all differences within {MEAN_MARGIN}: "
            f"{equivalence_word(equal)}. Scores: {_scores(means)}.",
            results=[
                then(f"{identity}.then", "Alignment by temperature, Friedman", old),
                now(f"{identity}.now", "Alignment by temperature", noted, primary=True),
                now(f"{identity}.now.pairs", "Alignment scores", paired_shift(columns)),
                now(f"{identity}.now.equivalence", "Equivalence of alignment scores", equal),
            ],
        )

    return evaluate


def more_trials(data: LLMasJudgeData, _: Options) -> Finding | str:
    """Averaging ten judgments does not help."""
    one, ten = (data.alignment.get(n) for n in ("pointwise", "pointwise, mean of 10"))
    if one is None or ten is None or one.size != ten.size:
        return "no alignment scores of ten trials"
    columns = {"one trial": one, "mean of 10": ten}
    shift = paired_shift(columns)
    equal = equivalence_of_means(
        np.column_stack([one, ten]), margin=MEAN_MARGIN, conditions=list(columns)
    )
    row = shift.rows[0]
    return Finding(
        verdict=no_difference(equal, differ=row.p_value < 0.05 and row.estimate > 0),
        reproduced="no number was published",
        because=f"Mean of 10 minus one trial = {row.with_bounds(bounded=True)}, "
        f"p {format_p(row.p_value)}; difference within {MEAN_MARGIN}: {equivalence_word(equal)}.",
        results=[
            now("more_trials.now", "Ten trials against one", shift, primary=True),
            now("more_trials.now.equivalence", "Equivalence of ten trials and one", equal),
        ],
    )
