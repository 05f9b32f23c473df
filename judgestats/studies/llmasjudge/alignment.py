"""Claims of LLMasJudge on alignment and reasoning."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from judgestats.analysis.records import NamedResult
from judgestats.arrays import Floats
from judgestats.results.numbers import apa_number, bounds_of, format_p, with_bounds
from judgestats.stats.comparison.friedman import FriedmanResult, friedman_test
from judgestats.stats.comparison.groups import kruskal_test, mann_whitney_test
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.dispersion.equivalence import equivalence_of_means, equivalence_of_spread
from judgestats.stats.dispersion.published import levene_of_variances
from judgestats.stats.dispersion.ratios import ratio_of_ratios, variance_ratio
from judgestats.stats.inference.result import Comparison, Note, TestResult
from judgestats.studies.claims import Claim, Options, now, then
from judgestats.studies.llmasjudge.data import MARGIN as SD_MARGIN
from judgestats.studies.llmasjudge.data import MINI, LLMasJudgeData, listed, no_difference, paired

MARGIN = 0.05
"""Declared margin: a difference of alignment scores below five points in a hundred."""
_BASELINES = ("always tie", "random")
_UNCLUSTERED = Note(
    code="no_clusters",
    message="The file does not say which pairs belong to one question; pairs of a question share "
    "answers, so p-values and intervals are too small by an unknown amount.",
)


def _friedman(
    table: np.ndarray[tuple[int, int], np.dtype[np.float64]], names: list[str], options: Options
) -> FriedmanResult:
    return friedman_test(table, names=names, level=options.level, seed=options.seed)


def _noted(result: FriedmanResult) -> FriedmanResult:
    import dataclasses

    return dataclasses.replace(result, notes=(*result.notes, _UNCLUSTERED))


def _equal_lengths(
    arrays: Mapping[str, np.ndarray[tuple[int], np.dtype[np.float64]]],
) -> tuple[dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]], list[str]]:
    """The arrays of the commonest length (the longer one at a tie), and the names of the others."""
    sizes = [v.size for v in arrays.values()]
    usual = max(set(sizes), key=lambda n: (sizes.count(n), n))
    kept = {k: v for k, v in arrays.items() if v.size == usual}
    return kept, [f"{k} ({v.size})" for k, v in arrays.items() if v.size != usual]


def alignment_methods(data: LLMasJudgeData, options: Options) -> Claim:
    """All methods beat the baselines; reasoning does worse."""
    about = Claim(
        id="alignment_methods",
        claim="All methods agree with people better than random and always-tie; those that reason "
        "do worse than the others.",
        published="Friedman and Nemenyi, p < .05",
        test_then="Friedman's test over methods, pairs as blocks, then Nemenyi",
        test_now="the same blocks; differences of the mean score with interval, Holm, since "
        "Friedman ranks a score of three values with many ties (clusters of a question are not in "
        "the file)",
    )
    if not data.alignment:
        return about.not_examined("no alignment scores")
    kept, left = _equal_lengths(data.alignment)
    if len(kept) < 2 or not any(base in kept for base in _BASELINES):
        return about.not_examined("no two methods with as many pairs as a baseline")
    names = list(kept)
    table = np.column_stack(list(kept.values()))
    old = _friedman(table, names, options)
    pairs = mean_shift(table, conditions=names, level=options.level)
    results: list[NamedResult] = [
        then("alignment_methods.then", "Alignment of methods, Friedman", old),
        then("alignment_methods.then.nemenyi", "Pairs of methods, Nemenyi", old.nemenyi()),
        now("alignment_methods.now", "Differences of alignment scores", pairs, primary=True),
        now("alignment_methods.now.friedman", "Alignment of methods", _noted(old)),
    ]
    # Each row as method minus other, whichever of them the family names first.
    shift = {(r.a, r.b): (r.estimate, r.p_adjusted, *bounds_of(r.interval)) for r in pairs.rows}
    shift |= {(b, a): (-e, p, -high, -low) for (a, b), (e, p, low, high) in list(shift.items())}
    real = [n for n in names if n not in _BASELINES]
    beaten = [
        shift[m, base][0] > 0 and shift[m, base][1] < 0.05
        for m in real
        for base in _BASELINES
        if base in names
    ]
    lost = [
        shift[m, base][0] < 0 and shift[m, base][1] < 0.05
        for m in real
        for base in _BASELINES
        if base in names
    ]
    worse = []
    for reasoned, plain in (
        ("pointwise, before", "pointwise"),
        ("pairwise, reasoning", "pairwise"),
    ):
        if reasoned in names and plain in names:
            estimate, p, *bounds = shift[reasoned, plain]
            text = with_bounds(estimate, *bounds, bounded=True)
            worse.append((estimate < 0 and p < 0.05, reasoned, plain, estimate, p, text))
    # Two parts: every method beats both baselines; reasoning does worse.
    better = [w[3] > 0 and w[4] < 0.05 for w in worse]
    if all(beaten) and worse and all(w[0] for w in worse):
        verdict = "stands"
    elif all(beaten) or (worse and all(w[0] for w in worse)):
        verdict = "stands in part"
    else:
        verdict = "does not stand" if any(lost) or any(better) else "open"
    nemenyi = old.nemenyi()
    pairs_then = {frozenset((r.a, r.b)): r.p_value for r in nemenyi.rows}
    printed = "; ".join(
        f"{r} against {p} p {format_p(pairs_then[frozenset((r, p))])}" for _, r, p, *_ in worse
    )
    differences = "; ".join(
        f"{r} minus {p} = {text}, adjusted p {format_p(q)}" for _, r, p, _, q, text in worse
    )
    means = ", ".join(
        f"{n} {apa_number(float(np.nanmean(v)), digits=3, bounded=True)}" for n, v in kept.items()
    )
    out = f" Of another length, not comparable by pair: {', '.join(left)}." if left else ""
    return about.examined(
        verdict=verdict,
        reproduced=f"{old.statistic_text()}, p {format_p(old.p_value)}; Nemenyi: {printed}",
        because=f"{sum(beaten)} of {len(beaten)} comparisons with the baselines stand; "
        f"{differences}. Scores: {means}.{out}",
        results=results,
    )


def alignment_temperature(data: LLMasJudgeData, options: Options, *, level: str) -> Claim:
    """Temperature matters with reasoning, not without."""
    identity = f"alignment_temperature_{level}"
    reasoned = level == "before"
    about = Claim(
        id=identity,
        claim="With reasoning, temperature changes the agreement with people."
        if reasoned
        else "Without reasoning, temperature does not change the agreement with people.",
        published="Friedman, p < .001" if reasoned else "Friedman, p > .1",
        test_then="Friedman's test over temperatures, pairs as blocks",
        test_now="the same, with mean differences"
        + (
            ""
            if reasoned
            else f"; no change needs every difference of mean scores within {MARGIN} (two "
            "one-sided tests)"
        ),
    )
    cells = data.alignment_temperatures.get(level, {})
    if len(cells) < 2 or len({v.size for v in cells.values()}) > 1:
        missing = "no alignment by temperature" if not cells else "arrays of unequal length"
        return about.not_examined(missing)
    names = [f"T={t:g}" for t in sorted(cells)]
    table = np.column_stack([cells[t] for t in sorted(cells)])
    old = _friedman(table, names, options)
    shifts = mean_shift(table, conditions=names, level=options.level)
    equal = equivalence_of_means(table, margin=MARGIN, conditions=names)
    if reasoned:
        verdict = "stands" if old.p_value < 0.05 else "open"
    elif equal.all_shown:
        verdict = "stands"
    else:
        verdict = "does not stand" if old.p_value < 0.05 else "open"
    means = ", ".join(
        f"{n} {apa_number(m, digits=3, bounded=True)}"
        for n, m in zip(names, np.nanmean(table, axis=0), strict=True)
    )
    return about.examined(
        verdict=verdict,
        reproduced=f"{old.statistic_text()}, p {format_p(old.p_value)}",
        because=f"Friedman p {format_p(old.p_value)}; all differences within {MARGIN}: "
        f"{'shown' if equal.all_shown else 'not shown'}. Scores: {means}.",
        results=(
            then(f"{identity}.then", "Alignment by temperature, Friedman", old),
            now(f"{identity}.now", "Alignment by temperature", _noted(old), primary=True),
            now(f"{identity}.now.pairs", "Differences of alignment scores", shifts),
            now(f"{identity}.now.equivalence", "Equivalence of alignment scores", equal),
        ),
    )


def more_trials(data: LLMasJudgeData, options: Options) -> Claim:
    """Averaging ten judgments does not help."""
    about = Claim(
        id="more_trials",
        claim="More trials do not help the agreement with people.",
        published="a remark in the conclusion",
        test_then="none of its own (Nemenyi of ten averaged trials against one)",
        test_now="difference of the mean alignment score with interval, paired by pair; that it "
        f"does not help needs the difference below {MARGIN}",
    )
    one, ten = (data.alignment.get(n) for n in ("pointwise", "pointwise, mean of 10"))
    if one is None or ten is None or one.size != ten.size:
        return about.not_examined("no alignment scores of ten trials")
    names = ["one trial", "mean of 10"]
    table = np.column_stack([one, ten])
    shift = mean_shift(table, conditions=names, level=options.level)
    equal = equivalence_of_means(table, margin=MARGIN, conditions=names)
    row = shift.rows[0]
    helps = not math.isnan(row.p_value) and row.p_value < 0.05 and row.estimate > 0
    verdict = "stands" if equal.all_shown else "does not stand" if helps else "open"
    return about.examined(
        verdict=verdict,
        reproduced="no number was published",
        because=f"Mean of 10 minus one trial = {row.with_bounds(bounded=True)}, "
        f"p {format_p(row.p_value)}; difference within {MARGIN}: "
        f"{'shown' if equal.all_shown else 'not shown'}.",
        results=(
            now("more_trials.now", "Ten trials against one", shift, primary=True),
            now("more_trials.now.equivalence", "Equivalence of ten trials and one", equal),
        ),
    )


def reasoning(data: LLMasJudgeData, options: Options, *, level: str) -> Claim:
    """Reasoning before the score raises the spread; reasoning after it does not."""
    identity = f"reasoning_{level}"
    before = level == "before"
    about = Claim(
        id=identity,
        claim="Reasoning before the score makes scores scatter more than no reasoning."
        if before
        else "Reasoning after the score makes no difference to the spread.",
        published="Levene, p < .05" if before else "Levene, p = .12",
        test_then="Levene on the two vectors of variances, temperatures pooled: it compares how "
        "much the variances vary, unpaired",
        test_now="items as blocks: Wilcoxon's signed-rank test and the ratio of variances, each "
        "item's variance averaged over the temperatures with complete arrays"
        + (
            "" if before else f"; no difference needs the ratio within 1/{SD_MARGIN} to {SD_MARGIN}"
        ),
    )
    cells = {t: v for (t, j), v in data.reasoning.get(level, {}).items() if j == MINI}
    plain = {t: v for (t, j), v in data.variances.items() if j == MINI and t in cells}
    if not plain:
        return about.not_examined(f"no variances with reasoning {level}")
    shared = sorted(plain)
    old = levene_of_variances(
        [np.concatenate([plain[t] for t in shared]), np.concatenate([cells[t] for t in shared])],
        conditions=["none", level],
    )
    kept = [t for t in shared if plain[t].size == cells[t].size == data.n_items]
    results = [then(f"{identity}.then", f"Variances, {level} against none", old)]
    if not kept:
        return about.examined(
            verdict="open",
            reproduced=listed({level: old}),
            because="No temperature has complete arrays under both conditions.",
            results=results,
        )
    table = np.column_stack(
        [np.mean([plain[t] for t in kept], axis=0), np.mean([cells[t] for t in kept], axis=0)]
    )
    names = ["none", level]
    pairing = paired(table, names, options)
    ratio = variance_ratio(table, conditions=names, level=options.level)
    equal = equivalence_of_spread(table, margin=SD_MARGIN, conditions=names)
    row = ratio.rows[0]
    results += [
        now(f"{identity}.now", f"Spread, {level} against none", pairing.rank_test, primary=True),
        now(f"{identity}.now.ratio", f"Ratio of variances, {level} over none", ratio),
        now(f"{identity}.now.equivalence", f"Equivalence, {level} and none", equal),
    ]
    # The declared test decides, the ratio says in which direction and how far.
    differ = pairing.rank_test.p_value < 0.05
    if before:
        verdict = "open"
        if differ:
            verdict = "stands" if row.estimate > 1 else "does not stand"
    else:
        verdict = no_difference(equal, differ=differ)
    at = ", ".join(f"{t:g}" for t in kept)
    return about.examined(
        verdict=verdict,
        reproduced=listed({level: old}),
        because=f"{pairing.rank_test.method}: p {format_p(pairing.rank_test.p_value)}; ratio of "
        f"variances {row.with_bounds()}, p {format_p(row.p_value)} (T = {at}); within "
        f"1/{SD_MARGIN} to {SD_MARGIN}: {'shown' if equal.all_shown else 'not shown'}.",
        results=results,
    )


def reasoning_by_judge(data: LLMasJudgeData, options: Options) -> Claim:
    """Reasoning affects the judges differently at T = 1."""
    about = Claim(
        id="reasoning_judges",
        claim="Reasoning changes the spread of the judges differently at T = 1 (gpt-4o-mini most), "
        "less at .5, not at .3.",
        published="Kruskal-Wallis p < .01 (T = 1), .05-.1 (.5), n.s. (.3); Mann-Whitney p < .01",
        test_then="Kruskal-Wallis and Mann-Whitney on item-wise ratios, zero variances left out",
        test_now="ratio of the judges' variance ratios (reasoning over none), jackknife over items "
        "on the log scale, Holm over pairs; zero variances stay in. That the judges do not differ "
        f"at T = .3 needs every ratio within 1/{SD_MARGIN} to {SD_MARGIN} (two one-sided tests)",
    )
    with_reasoning, without = data.raw.get("before", {}), data.raw.get("none", {})
    shared = sorted(set(with_reasoning) & set(without))
    if not shared:
        return about.not_examined("no raw scores with reasoning")
    old: dict[str, TestResult] = {}
    results: list[NamedResult] = []
    most: dict[float, int] = {}
    differs: dict[float, bool] = {}
    alike: dict[float, bool] = {}
    printed: list[str] = []
    why: list[str] = []
    for t in sorted({t for t, _ in shared}):
        names = [j for at, j in shared if at == t]
        sizes = {x.shape[0] for j in names for x in (with_reasoning[t, j], without[t, j])}
        if len(names) < 2 or len(sizes) > 1:
            why.append(f"T={t:g}: not pairable, the judges' item counts differ")
            continue
        treated = _stacked([with_reasoning[t, j] for j in names])
        control = _stacked([without[t, j] for j in names])
        v1, v0 = (np.nanvar(x, axis=2) for x in (treated, control))  # as the study: population
        groups = [v1[v0[:, k] > 0, k] / v0[v0[:, k] > 0, k] for k in range(len(names))]
        label = f"T={t:g}"
        if min(g.size for g in groups) > 1:
            old[label] = kruskal_test(groups, names=names, ties="exact")
            results.append(
                then(f"reasoning_judges.then.{label}", f"Item-wise ratios, {label}", old[label])
            )
            if MINI in names:
                k = names.index(MINI)
                against = {
                    j: mann_whitney_test(groups[k], groups[i])
                    for i, j in enumerate(names)
                    if i != k
                }
                results += [
                    then(f"reasoning_judges.then.{label}.{j}",
                         f"Item-wise ratios, {MINI} against {j}, {label}", test)
                    for j, test in against.items()
                ]  # fmt: skip
                printed.append(
                    f"{label} "
                    + ", ".join(f"{j} p {format_p(x.p_value)}" for j, x in against.items())
                )
        ratios = ratio_of_ratios(treated, control, groups=names, level=options.level)
        differs[t] = any(r.p_adjusted < 0.05 for r in ratios.rows)
        most[t] = sum(_sign(r, MINI) for r in ratios.rows)
        narrow = ratio_of_ratios(treated, control, groups=names, level=0.9).rows
        alike[t] = all(
            r.interval is not None
            and r.interval.low > 1 / SD_MARGIN
            and r.interval.high < SD_MARGIN
            for r in narrow
        )
        results.append(
            now(
                f"reasoning_judges.now.{label}",
                f"Ratios of variance ratios, {label}",
                ratios,
                primary=True,
            )
        )
        why.append(
            f"{label}: " + ", ".join(f"{r.a} / {r.b} = {r.with_bounds()}" for r in ratios.rows)
        )
    # Three parts: gpt-4o-mini most at T = 1 (against both others), something at .5, nothing at .3.
    others = max((sum(j != MINI for at, j in shared if at == t) for t in (1.0,)), default=0)
    parts = []
    if 1.0 in differs:
        parts.append(_part(most[1.0] == others > 0, against=differs[1.0] and most[1.0] < 0))
    if 0.3 in differs:
        parts.append(_part(alike[0.3], against=differs[0.3]))
    verdict = "open"
    if parts and all(p == "stands" for p in parts):
        verdict = "stands"
    elif "stands" in parts:
        verdict = "stands in part"
    elif "does not stand" in parts:
        verdict = "does not stand"
    shown = [f"T={t:g}" for t, yes in alike.items() if yes]
    why.append(
        f"the judges are shown to be changed alike at {', '.join(shown) or 'no temperature'}"
    )
    return about.examined(
        verdict=verdict,
        reproduced=f"{listed(old)}; Mann-Whitney, {MINI} against the others: {'; '.join(printed)}"
        if printed
        else listed(old),
        because=f"{'; '.join(why)}.",
        results=results,
    )


def _stacked(tables: list[Floats]) -> Floats:
    """Items x judges x trials, filled up with NaN where a judge has fewer trials."""
    width = max(t.shape[1] for t in tables)
    full = [np.pad(t, ((0, 0), (0, width - t.shape[1])), constant_values=np.nan) for t in tables]
    return np.stack(full, axis=1)


def _sign(row: Comparison, name: str) -> int:
    """1 where the named judge is changed more than the other, -1 where less, 0 where not shown."""
    if name not in {row.a, row.b} or not row.p_adjusted < 0.05:
        return 0
    return 1 if (row.estimate > 1) == (row.a == name) else -1


def _part(shown: bool, *, against: bool) -> str:
    return "stands" if shown else "does not stand" if against else "open"
