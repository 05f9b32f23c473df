"""LLMasJudge: the claims on reasoning and the spread of repeated scores."""

from __future__ import annotations

import numpy as np

from judgestats.analysis.outcome import NamedResult
from judgestats.arrays import Floats
from judgestats.stats.comparison.kruskal_wallis import kruskal_test
from judgestats.stats.comparison.mann_whitney import mann_whitney_test
from judgestats.stats.inference.result import Comparison, TestResult, format_p
from judgestats.stats.spread.equivalence import equivalence_of_spread
from judgestats.stats.spread.ratio_of_ratios import ratio_of_ratios
from judgestats.stats.spread.spread_published import levene_of_variances
from judgestats.stats.spread.variance_ratio import variance_ratio
from judgestats.studies.claims import Claim, Options, not_examined, now, then
from judgestats.studies.llmasjudge.common import (
    MARGIN,
    MINI,
    listed,
    no_difference,
    paired,
)
from judgestats.studies.llmasjudge.data import LLMasJudgeData


def reasoning(data: LLMasJudgeData, options: Options, *, level: str) -> Claim:
    """Reasoning before the score raises the spread; reasoning after it does not."""
    identity = f"reasoning_{level}"
    before = level == "before"
    about = {
        "claim": "Reasoning before the score makes scores scatter more than no reasoning."
        if before
        else "Reasoning after the score makes no difference to the spread.",
        "published": "Levene, p < .05" if before else "Levene, p = .12",
        "test_then": (
            "Levene on the two vectors of variances, temperatures pooled: it compares how much the "
            "variances vary, unpaired"
        ),
        "test_now": (
            "items as blocks: Wilcoxon's signed-rank test and the ratio of variances, each item's "
            "variance averaged over the temperatures with complete arrays"
            + ("" if before else f"; no difference needs the ratio within 1/{MARGIN} to {MARGIN}")
        ),
    }
    cells = {t: v for (t, j), v in data.reasoning.get(level, {}).items() if j == MINI}
    plain = {t: v for (t, j), v in data.variances.items() if j == MINI and t in cells}
    if not plain:
        return not_examined(identity, missing=f"no variances with reasoning {level}", **about)
    shared = sorted(plain)
    old = levene_of_variances(
        [np.concatenate([plain[t] for t in shared]), np.concatenate([cells[t] for t in shared])],
        conditions=["none", level],
    )
    kept = [t for t in shared if plain[t].size == cells[t].size == data.n_items]
    results = [then(f"{identity}.then", f"Variances, {level} against none", old)]
    if not kept:
        return Claim(
            id=identity,
            verdict="open",
            reproduced=listed({level: old}),
            because="No temperature has complete arrays under both conditions.",
            results=tuple(results),
            **about,
        )
    table = np.column_stack(
        [np.mean([plain[t] for t in kept], axis=0), np.mean([cells[t] for t in kept], axis=0)]
    )
    names = ["none", level]
    pairing = paired(table, names, options)
    ratio = variance_ratio(table, conditions=names, level=options.level)
    equal = equivalence_of_spread(table, margin=MARGIN, conditions=names)
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
    return Claim(
        id=identity,
        verdict=verdict,
        reproduced=listed({level: old}),
        because=(
            f"{pairing.rank_test.method}: p {format_p(pairing.rank_test.p_value)}; ratio of "
            f"variances {row.with_bounds()}, p "
            f"{format_p(row.p_value)} (T = {at}); within 1/{MARGIN} to {MARGIN}: "
            f"{'shown' if equal.all_shown else 'not shown'}."
        ),
        results=tuple(results),
        **about,
    )


def reasoning_by_judge(data: LLMasJudgeData, options: Options) -> Claim:
    """Reasoning affects the judges differently at T = 1."""
    about = {
        "claim": (
            "Reasoning changes the spread of the judges differently at T = 1 (gpt-4o-mini most), "
            "less at .5, not at .3."
        ),
        "published": "Kruskal-Wallis p < .01 (T = 1), .05-.1 (.5), n.s. (.3); Mann-Whitney p < .01",
        "test_then": "Kruskal-Wallis and Mann-Whitney on item-wise ratios, zero variances left out",
        "test_now": (
            "ratio of the judges' variance ratios (reasoning over none), jackknife over items on "
            "the log scale, Holm over pairs; zero variances stay in. That the judges do not differ "
            f"at T = .3 needs every ratio within 1/{MARGIN} to {MARGIN} (two one-sided tests)"
        ),
    }
    with_reasoning, without = data.raw.get("before", {}), data.raw.get("none", {})
    shared = sorted(set(with_reasoning) & set(without))
    if not shared:
        return not_examined("reasoning_judges", missing="no raw scores with reasoning", **about)
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
            r.interval is not None and r.interval.low > 1 / MARGIN and r.interval.high < MARGIN
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
    return Claim(
        id="reasoning_judges",
        verdict=verdict,
        reproduced=f"{listed(old)}; Mann-Whitney, {MINI} against the others: {'; '.join(printed)}"
        if printed
        else listed(old),
        because=f"{'; '.join(why)}.",
        results=tuple(results),
        **about,
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
