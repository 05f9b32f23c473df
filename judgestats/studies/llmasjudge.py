"""The study "LLMasJudge" (2024-25), claim by claim."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import factor_curve
from judgestats.analysis.records import NamedResult
from judgestats.results.numbers import apa_number, format_p
from judgestats.results.quantities import name_of
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.comparison.groups import kruskal_test, pairwise_mann_whitney
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.comparison.rank_correlation import spearman_correlation
from judgestats.stats.dispersion.condition_summary import kurtosis_change, normality_test
from judgestats.stats.dispersion.dispersion_test import SpreadResult
from judgestats.stats.dispersion.equivalence import equivalence_of_spread
from judgestats.stats.dispersion.ratios import variance_ratio
from judgestats.stats.inference.multiplicity import Family, adjust_family
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate, TestResult
from judgestats.studies import claims
from judgestats.studies.claims import Claim, listed
from judgestats.studies.llmasjudge_data import (
    MINI,
    NONE,
    NOT_SENT,
    REASONING,
    LLMasJudgeData,
    read_llmasjudge,
)
from judgestats.studies.llmasjudge_reasoning import (
    MEAN_MARGIN,
    SPREAD_MARGIN,
    WITHIN,
    alignment_methods,
    alignment_temperature,
    listed_tests,
    more_trials,
    paired_spread,
    reasoning,
    reasoning_by_judge,
)

_CLAIMED = (0.6, 0.7, 0.8)


def _adjusted(family: Family) -> str:
    return "; ".join(f"{name}: adjusted p {family.p_text(name)}" for name in family.p_adjusted)


def _grows(tests: Mapping[str, TestResult], family: Family) -> list[bool]:
    return [
        p < 0.05 and tests[j].effect is not None and tests[j].effects[0].estimate > 0
        for j, p in family.p_adjusted.items()
    ]


def _page(pairing: SpreadResult) -> TestResult:
    return next(t for t in pairing.trend if "page" in t.name)


def _temperature(data: LLMasJudgeData, options: claims.Options) -> claims.Finding | str:
    """Spread grows with temperature."""
    if not data.plain:
        return "no variances by temperature"
    old: dict[str, TestResult] = {}
    new: dict[str, TestResult] = {}
    above: dict[str, TestResult] = {}
    ratios: dict[str, Comparisons] = {}
    results: list[NamedResult] = []
    for judge in data.judges:
        cells = data.by_temperature(NONE, judge)
        at = np.concatenate([np.full(v.size, t) for t, v in cells.items()])
        old[judge] = spearman_correlation(at, np.concatenate(list(cells.values())))
        values, table = data.complete(cells)
        if len(values) < 3:
            continue
        pairing = paired_spread(table, values, options)
        new[judge] = _page(pairing)
        for test in (*pairing.trend, pairing.blocked_f):
            results += claims.now("Trend of spread", {judge: test}, test.name)
        warm = [t for t in values if t > 0]
        if 2 < len(warm) < len(values):
            above[judge] = _page(paired_spread(table[:, np.array(values) > 0], warm, options))
        varied = np.flatnonzero(table.mean(axis=0) > 0)
        if varied.size > 1:
            ends = varied[[0, -1]]
            ends_named = [f"T={values[i]:g}" for i in ends]
            ratios[judge] = variance_ratio(table[:, ends], conditions=ends_named)
            results += claims.now("Ratio of variances", {judge: ratios[judge]}, "ratio")
    results += claims.now("Trend of spread above T = 0", above, "above_0")
    results += claims.then("Variance and temperature", old)
    if not new:
        return claims.Finding(
            verdict="open",
            reproduced=listed_tests(old),
            because="No judge has complete arrays at three temperatures, so none can be paired.",
            results=results,
        )
    family = adjust_family(new, family="trend of spread, one test per judge", method="holm")
    stands, text = _grows(new, family), f"Trend: {_adjusted(family)}."
    if above:
        sampled = adjust_family(above, family="trend of spread above T = 0, per judge")
        stands += _grows(above, sampled)
        text += f" Above T = 0: {_adjusted(sampled)}."
    first = claims.now("Trend of spread, adjusted", family, primary=True)
    ends_text = listed({j: r.rows[0] for j, r in ratios.items()}, _ratio)
    return claims.Finding(
        verdict=claims.joint_verdict(stands),
        reproduced=listed_tests(old),
        because=f"{text} Variance ratios: {ends_text or 'none is defined'}.",
        results=[*first, *results],
    )


def _ratio(row: Comparison) -> str:
    return f"{row.a} / {row.b} = {row.with_bounds()}"


def _distribution(data: LLMasJudgeData, _: claims.Options) -> claims.Finding | str:
    """Scores look normal, flatter at high temperature."""
    cells = data.raw.get(NONE, {})
    if not cells:
        return "no repeated scores"
    tests = {f"{judge} at T={t:g}": normality_test(scores) for (t, judge), scores in cells.items()}
    defined = {k: v for k, v in tests.items() if not math.isnan(v.p_value)}
    if not defined:
        return "repeated scores that vary"
    family = adjust_family(defined, family="normality of scores, one test per cell", method="holm")
    normal = [p >= 0.05 for p in family.p_adjusted.values()]
    changes: dict[str, Estimate] = {}
    for judge in dict.fromkeys(j for _, j in cells):
        own = [cells[key] for key in sorted(cells) if key[1] == judge]
        if len(own) > 1 and own[0].shape[0] == own[-1].shape[0]:
            changes[judge] = kurtosis_change(own[0], own[-1])
    flatter = [claims.low_high(c)[1] < 0 for c in changes.values()]
    moved = listed(changes, Estimate.short) or "not pairable"
    return claims.Finding(
        verdict=claims.joint_verdict([*normal, *flatter], otherwise="does not stand"),
        reproduced="no number was published",
        because=f"Normality is rejected in {normal.count(False)} of {len(normal)} cells (scores "
        "are whole numbers on few points). The shape is significantly flatter at the highest "
        f"temperature for {flatter.count(True)} of {len(flatter)} judges. Change of excess "
        f"kurtosis: {moved}. Excess kurtosis: {listed(tests, lambda v: v.effects[0].short())}.",
        results=claims.now("Normality of scores, adjusted", family, primary=True)
        + claims.now("Shape of scores", tests)
        + claims.now("Change of excess kurtosis", changes, "change"),
    )


def _judges(data: LLMasJudgeData, options: claims.Options) -> claims.Finding | str:
    """gpt-4o-mini has less variance than the others at T = .6, .7, .8."""
    if not any((t, MINI) in data.plain for t in _CLAIMED):
        return "no variances at T = .6, .7, .8"
    results: list[NamedResult] = []
    old: dict[str, TestResult] = {}
    new: dict[str, TestResult] = {}
    less: dict[str, bool] = {}
    printed: list[str] = []
    why: list[str] = []
    for t in sorted({t for t, _ in data.plain}):
        label = f"T={t:g}"
        cells = {j: v for (at, j), v in data.plain.items() if at == t}
        if t in _CLAIMED and len(cells) > 1 and MINI in cells:
            groups, judges = list(cells.values()), list(cells)
            old[label] = kruskal_test(groups, names=judges, ties="exact")
            pairs = pairwise_mann_whitney(groups, names=judges, adjust="none")
            results += claims.then("Variances of judges", {label: old[label]}, "kruskal")
            results += claims.then("Variances of pairs", {label: pairs}, "pairs")
            against_mini = [_pair(r) for r in pairs.rows if MINI in {r.a, r.b}]
            printed.append(f"{label}: {', '.join(against_mini)}")
        names, table = data.complete(cells)
        if MINI not in names or len(names) < 2:
            if t in _CLAIMED:
                why.append(f"{label}: not pairable (gpt-4o-mini lacks items)")
            continue
        blocked_f = paired_spread(table, names, options).blocked_f
        if math.isnan(blocked_f.p_value):
            continue
        new[label] = blocked_f
        ratios = variance_ratio(table, conditions=names, reference=MINI)
        mini = names.index(MINI)
        against = {
            other: wilcoxon_signed_rank(table[:, [k, mini]], names=[other, MINI])
            for k, other in enumerate(names)
            if k != mini
        }
        holm = adjust_family(against, family=f"gpt-4o-mini against each judge, {label}")
        results += claims.now("Spread of judges", {label: blocked_f}, "f")
        results += claims.now("Variances against gpt-4o-mini's", {label: holm}, "pairs")
        results += claims.now("Variances over gpt-4o-mini's", {label: ratios}, "ratio")
        if t in _CLAIMED:
            less[label] = all(_grows(against, holm))
            rows = (
                f"{_ratio(r)}, Wilcoxon adjusted p {format_p(holm.p_adjusted[r.a])}"
                for r in ratios.rows
            )
            why.append(f"{label}: {', '.join(rows)}")
    verdict, decided = "open", "no temperature of the claim can be paired by item"
    if new:
        family = adjust_family(new, family="spread of judges, one test per temperature")
        results = claims.now("Spread of judges, adjusted", family, primary=True) + results
        stands = [less[k] and family.p_adjusted[k] < 0.05 for k in less]
        if stands:
            decided, verdict = _adjusted(family), claims.joint_verdict(stands)
            if verdict == "stands" and len(stands) < len(_CLAIMED):
                verdict = "stands in part"
    mann_whitney = f"; Mann-Whitney at {'; at '.join(printed)}" if printed else ""
    return claims.Finding(
        verdict=verdict,
        reproduced=f"{listed_tests(old)}{mann_whitney}",
        because=f"{decided}. {'; '.join(why)}.",
        results=results,
    )


def _pair(row: Comparison) -> str:
    """The p of a pair, not adjusted, and which of the two is the smaller."""
    effect = (
        f" ({name_of(row.effect_name)} {apa_number(row.effect, bounded=True)})"
        if row.effect_name
        else ""
    )
    return f"{row.a} against {row.b} p {format_p(row.p_value)}{effect}"


def _guidelines(data: LLMasJudgeData, options: claims.Options) -> claims.Finding | str:
    """Guidelines make no significant difference."""
    if not data.guidelines:
        return "no variances by guideline"
    levels = {NONE: data.plain, **data.guidelines}
    floor = _noise_floor(data)
    results: list[NamedResult] = []
    old: dict[str, TestResult] = {}
    new: dict[str, TestResult] = {}
    shown: list[bool] = []
    lost: list[str] = []
    for t, judge in sorted({key for cells in data.guidelines.values() for key in cells}):
        where = f"{judge} at T={t:g}"
        cells = {level: c[t, judge] for level, c in levels.items() if (t, judge) in c}
        if judge == MINI and len(cells) > 1:
            old[where] = kruskal_test(list(cells.values()), names=list(cells), ties="exact")
            results += claims.then("Variances by guideline", {where: old[where]})
        sent = {level: cell for level, cell in cells.items() if level not in NOT_SENT}
        names, table = data.complete(sent)
        lost += [f"{n} ({where})" for n in sent if n not in names]
        if len(names) < 2:
            continue
        pairing = paired_spread(table, names, options)
        new[where] = pairing.blocked_f
        equal = equivalence_of_spread(table, margin=SPREAD_MARGIN, conditions=names)
        shown.append(equal.all_shown)
        for key, found in (("f", new[where]), ("equivalence", equal), ("ratio", pairing.ratios)):
            results += claims.now("Spread by guideline", {where: found}, key)
    if not new:
        return claims.Finding(
            verdict="open",
            reproduced=listed_tests(old),
            because=f"No temperature has complete arrays for pairing: {', '.join(lost)}.{floor}",
            results=results,
        )
    family = adjust_family(new, family="spread by guideline, one test per judge and temperature")
    first = claims.now("Spread by guideline, adjusted", family, primary=True)
    differ = [name for name, p in family.p_adjusted.items() if p < 0.05]
    why = f"All pairs are equivalent in {sum(shown)} of {len(shown)} comparisons."
    if differ:
        why += f" The guidelines differ in spread for {', '.join(differ)}."
    out = f" Not pairable, left out: {', '.join(lost)}." if lost else ""
    return claims.Finding(
        verdict="stands" if all(shown) else "does not stand" if differ else "open",
        reproduced=listed_tests(old),
        because=f"{why} Tests of difference: {_adjusted(family)}.{out}{floor}",
        results=first + results,
    )


def _noise_floor(data: LLMasJudgeData) -> str:
    """Difference between runs of the plain prompt, which two arms sent."""
    again = [level for level in NOT_SENT if level in data.guidelines]
    if not again:
        return ""
    ratios = [
        float(run.mean() / first.mean())
        for place, first in data.plain.items()
        for level in again
        if (run := data.guidelines[level].get(place)) is not None
        if run.size == first.size == data.n_items and first.mean() > 0
    ]
    apart = (
        " Mean variances of these two further runs of the plain prompt are "
        f"{min(ratios):.2f} to {max(ratios):.2f} times those of the first: the claim's noise floor."
        if ratios
        else ""
    )
    return (
        f" Not testable from the data: {' and '.join(again)}. Their programs (experiment_3d.py, "
        "experiment_3e.py) call evaluate_all_responses of core.py, which sends the plain prompt."
        f"{apart}"
    )


def _small_variance(data: LLMasJudgeData, _: claims.Options) -> claims.Finding | str:
    """Variances are below .4 mostly."""
    if not data.plain:
        return "no variances by temperature"
    label = "Share of variances below .4"
    shares = {}
    for judge in data.judges:
        cells = {t: v for t, v in data.by_temperature(NONE, judge).items() if t > 0}
        table = data.complete(cells)[1]
        if table.size:
            shares[judge] = mean_share(np.mean(table < 0.4, axis=1), label=label)
    if not shares:
        return "no complete array at a temperature above 0"
    stands = [claims.low_high(s)[0] > 0.5 for s in shares.values()]
    return claims.Finding(
        verdict=claims.joint_verdict(stands, otherwise="does not stand"),
        reproduced="no number was published",
        because=f"{label}, temperatures above 0: {listed(shares, Estimate.short)}.",
        results=claims.now(label, shares, primary=True),
    )


def _conditions(data: LLMasJudgeData, _: claims.Options) -> pd.DataFrame:
    """One row per cell of the study: how many variances, their mean."""
    rows = []
    for level, cells in data.arms.items():
        guideline, reasoning = (NONE, level) if level in REASONING else (level, NONE)
        name = f", {'reasoning' if level in REASONING else 'guideline'}={level}"
        rows += [
            {
                "condition": f"{judge}, T={t:g}{'' if level == NONE else name}",
                "judge": judge,
                "temperature": t,
                "factor_guideline": guideline,
                "factor_reasoning": reasoning,
                "n_items": int(np.sum(~np.isnan(values))),
                "within_variance": float(np.nanmean(values)),
            }
            for (t, judge), values in cells.items()
        ]
    return pd.DataFrame(rows)


def _limitations(data: LLMasJudgeData) -> list[str]:
    short = [
        f"{judge} at T={t:g} ({values.size})"
        for (t, judge), values in data.plain.items()
        if values.size != data.n_items
    ]
    arrays = (
        f"Arrays with fewer than {data.n_items} variances do not say which items they lack and "
        f"are never aligned by index; left out of paired tests: {', '.join(short)}."
    )
    return [
        *([arrays] if short else []),
        *data.left_out,
        (
            "Only the study's variances and scores are examined: neither its prompts nor its items "
            "were judged again."
        ),
    ]


_LEVENE = (
    "Levene on the two vectors of variances, temperatures pooled: it compares how much the "
    "variances vary, unpaired"
)
_REASONED = (
    "items as blocks: Wilcoxon's signed-rank test and the ratio of variances, each item's variance "
    "averaged over the temperatures with complete arrays"
)

STUDY = claims.Study(
    name="llmasjudge",
    title="Consistency of numerical gradings (LLMasJudge)",
    source="blog and public code, 2024-25",
    layout="the authors' `expNx/combined_results.json`, or their tables",
    heading="The consistency of numerical gradings (LLMasJudge), re-examined",
    question="Which of the study's claims on the consistency of LLM judges hold under the test "
    "that the question requires?",
    read=lambda folder, _: read_llmasjudge(folder),
    claims=(
        Claim("temperature", "The spread of repeated scores grows with temperature.",
            published="Spearman, p < .0001",
            test_then="Spearman of temperature and variance, items unpaired, per judge",
            test_now="items as blocks: Page's trend test over temperatures, per judge, Holm over "
                "judges. The same without T = 0, where the spread is 0 by construction. Ratio of "
                "variances", evaluate=_temperature),
        Claim("distribution",
            "Scores centred by item look normally distributed, flatter at high temperature.",
            published="density plots, no test", test_then="inspection of plots",
            test_now="D'Agostino-Pearson on scores centred by item; change of the excess kurtosis "
                "from the lowest to the highest temperature, paired by item, with interval "
                "(flatter: negative)", evaluate=_distribution),
        Claim("judges",
            "At T = .6, .7 and .8 gpt-4o-mini has less variance than gpt-3.5-turbo and gpt-4o.",
            published="Kruskal-Wallis, then Mann-Whitney against gpt-4o-mini, p < .05",
            test_then="Kruskal-Wallis and Mann-Whitney on variances, items unpaired, not adjusted",
            test_now="items as blocks: blocked F on the cells' standard deviations at every "
                "temperature, Holm over all temperatures (the three were picked among eleven), "
                "then Wilcoxon's signed-rank test against each other judge, Holm; ratios of "
                "variances", evaluate=_judges),
        Claim("guidelines",
            "How detailed the scoring guideline is makes no difference to the spread.",
            published="no significant difference (T = .3, .5, 1; gpt-4o-mini)",
            test_then="Kruskal-Wallis on variances of five levels per temperature, items unpaired",
            test_now="items as blocks: blocked F per judge and temperature, Holm; that there is no "
            f"difference needs two one-sided tests of every pair, ratio within {WITHIN}",
            evaluate=_guidelines),
        Claim("reasoning_before",
            "Reasoning before the score increases the spread of scores.",
            published="Levene, p < .05", test_then=_LEVENE, test_now=_REASONED,
            evaluate=reasoning("before")),
        Claim("reasoning_after", "Reasoning after the score makes no difference to the spread.",
            published="Levene, p = .12", test_then=_LEVENE,
            test_now=f"{_REASONED}; no difference needs the ratio within {WITHIN}",
            evaluate=reasoning("after")),
        Claim("reasoning_judges",
            "Reasoning changes the spread of the judges differently at T = 1 (gpt-4o-mini most), "
                "less at .5, not at .3.",
            published="Kruskal-Wallis p < .01 (T = 1), .05-.1 (.5), n.s. (.3); Mann-Whitney p < "
                ".01",
            test_then="Kruskal-Wallis and Mann-Whitney on item-wise ratios, zero variances left "
                "out",
            test_now="ratio of the judges' variance ratios (reasoning over none), jackknife over "
            "items on the log scale, Holm over pairs; zero variances stay in. That the judges do "
            f"not differ at T = .3 needs every ratio within {WITHIN} (two one-sided tests)",
            evaluate=reasoning_by_judge),
        Claim("alignment_methods",
            "All methods agree better with human labels than random and always-tie; those that "
                "reason agree less than the others.", published="Friedman and Nemenyi, p < .05",
            test_then="Friedman's test over methods, pairs as blocks, then Nemenyi",
            test_now="the same blocks; differences of the mean score with interval, Holm, since "
                "Friedman ranks a score of three values with many ties (clusters of a question are "
                "not in the file)", evaluate=alignment_methods),
        Claim("alignment_temperature_before",
            "With reasoning, temperature changes the agreement with human labels.",
            published="Friedman, p < .001",
            test_then="Friedman's test over temperatures, pairs as blocks",
            test_now="the same, with mean differences", evaluate=alignment_temperature("before")),
        Claim("alignment_temperature_none",
            "Without reasoning, temperature does not change the agreement with human labels.",
            published="Friedman, p > .1",
            test_then="Friedman's test over temperatures, pairs as blocks",
            test_now="the same, with mean differences; no change needs every difference of mean "
            f"scores within {MEAN_MARGIN} (two one-sided tests)",
            evaluate=alignment_temperature(NONE)),
        Claim("small_variance", "Most variances are below .4.",
            published="a remark in the conclusion", test_then="none",
            test_now="share of items with a variance below .4 per judge at the temperatures above "
                "0 (at T = 0 every variance is 0 by construction), with interval; most: above "
                "half", evaluate=_small_variance),
        Claim("more_trials", "More trials do not increase the agreement with human labels.",
            published="a remark in the conclusion",
            test_then="no separate test (Nemenyi of ten averaged trials against one)",
            test_now="difference of the mean alignment score with interval, paired by pair; that "
            f"it does not help requires a difference below {MEAN_MARGIN}", evaluate=more_trials),
    ),
    conditions=_conditions,
    drawing=factor_curve(
        "temperature",
        "within_variance",
        caption="Spread of repeated scores by temperature, from the study's data.",
        only={"factor_guideline": (NONE,), "factor_reasoning": (NONE,)},
    ),
    data_source=lambda data: data.source,
    limitations=_limitations,
    margins={"variance_ratio": SPREAD_MARGIN},
)  # fmt: skip
