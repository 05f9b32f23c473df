"""LLMasJudge: the claims on the spread of repeated scores."""

from __future__ import annotations

import math

import numpy as np

from judgestats.analysis.records import NamedResult
from judgestats.results.numbers import format_p
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.comparison.groups import kruskal_test, pairwise_mann_whitney
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.comparison.rank_correlation import spearman_correlation
from judgestats.stats.dispersion.condition_summary import kurtosis_change, normality_test
from judgestats.stats.dispersion.equivalence import equivalence_of_spread
from judgestats.stats.dispersion.ratios import variance_ratio
from judgestats.stats.inference.multiplicity import adjust_family
from judgestats.stats.inference.result import Estimate, TestResult
from judgestats.studies.claims import Claim, Options, now, then
from judgestats.studies.llmasjudge.data import (
    MARGIN,
    MINI,
    NOT_SENT,
    LLMasJudgeData,
    adjusted,
    complete,
    joint_verdict,
    judges_of,
    listed,
    listed_pairs,
    paired,
)


def temperature(data: LLMasJudgeData, options: Options) -> Claim:
    """Spread grows with temperature."""
    about = Claim(
        id="temperature",
        claim="The spread of repeated scores grows with temperature.",
        published="Spearman, p < .0001",
        test_then="Spearman of temperature and variance, items unpaired, per judge",
        test_now="items as blocks: Page's trend test over temperatures, per judge, Holm over "
        "judges; again above T = 0, where sampling is off and the spread is 0 by construction; "
        "ratio of variances beside it",
    )
    if not data.variances:
        return about.not_examined("no variances by temperature")
    old: dict[str, TestResult] = {}
    new: dict[str, TestResult] = {}
    above: dict[str, TestResult] = {}
    results: list[NamedResult] = []
    ratios: list[str] = []
    for judge in judges_of(data):
        cells = {t: v for (t, j), v in sorted(data.variances.items()) if j == judge}
        at = np.concatenate([np.full(v.size, t) for t, v in cells.items()])
        old[judge] = spearman_correlation(at, np.concatenate(list(cells.values())))
        names, table = complete({f"T={t:g}": v for t, v in cells.items()}, data.n_items)
        values = [t for t, v in cells.items() if v.size == data.n_items]
        if len(values) < 3:
            continue
        pairing = paired(table, names, options, at=values)
        new[judge] = next(t for t in pairing.trend if "page" in t.name)
        results += [
            now(f"temperature.now.{t.name}.{judge}", f"Trend of spread, {judge}", t)
            for t in (*pairing.trend, pairing.blocked_f)
        ]
        positive = [i for i in range(len(names)) if table[:, i].mean() > 0]
        sampled = [i for i, t in enumerate(values) if t > 0]
        if len(sampled) < len(values) and len(sampled) > 2:
            some = paired(
                table[:, sampled], [names[i] for i in sampled], options,
                at=[values[i] for i in sampled],
            )  # fmt: skip
            above[judge] = next(t for t in some.trend if "page" in t.name)
            results.append(
                now(f"temperature.now.above_0.{judge}", f"Trend of spread above T = 0, {judge}",
                    above[judge])
            )  # fmt: skip
        if len(positive) < 2:
            continue
        low, high = positive[0], positive[-1]
        ratio = variance_ratio(table[:, [low, high]], conditions=[names[low], names[high]])
        results.append(now(f"temperature.now.ratio.{judge}", f"Ratio of variances, {judge}", ratio))
        row = ratio.rows[0]
        ratios.append(f"{judge} {row.a} / {row.b} = {row.with_bounds()}")
    results += [
        then(f"temperature.then.{j}", f"Variance and temperature, {j}", t) for j, t in old.items()
    ]
    if not new:
        return about.examined(
            verdict="open",
            reproduced=listed(old),
            because="No judge has complete arrays at three temperatures, so none can be paired.",
            results=results,
        )
    family = adjust_family(new, family="trend of spread, one test per judge", method="holm")
    results.insert(0, now("temperature.now", "Trend of spread, adjusted", family, primary=True))
    stands = [_grows(new[j], p) for j, p in family.p_adjusted.items()]
    text = f"{adjusted(family)}."
    if above:
        sampled_family = adjust_family(above, family="trend of spread above T = 0, per judge")
        stands += [_grows(above[j], p) for j, p in sampled_family.p_adjusted.items()]
        text += f" Above T = 0: {adjusted(sampled_family)}."
    return about.examined(
        verdict=joint_verdict(stands),
        reproduced=listed(old),
        because=f"{text} Variance ratios: {'; '.join(ratios) or 'none is defined'}.",
        results=results,
    )


def _grows(test: TestResult, p: float) -> bool:
    return p < 0.05 and test.effect is not None and test.effect.estimate > 0


def distribution(data: LLMasJudgeData, options: Options) -> Claim:
    """Scores look normal, flatter at high temperature."""
    about = Claim(
        id="distribution",
        claim="Scores centred by item look normally distributed, flatter at high temperature.",
        published="density plots, no test",
        test_then="looking at plots",
        test_now="D'Agostino-Pearson on scores centred by item; change of the excess kurtosis from "
        "the lowest to the highest temperature, paired by item, with interval (flatter: negative)",
    )
    cells = data.raw.get("none", {})
    if not cells:
        return about.not_examined("no repeated scores")
    tests = {
        f"{judge} at T={t:g}": normality_test(scores, level=options.level)
        for (t, judge), scores in cells.items()
    }
    by_name = {k: v for k, v in tests.items() if not math.isnan(v.p_value)}
    if not by_name:
        return about.not_examined("repeated scores that vary")
    family = adjust_family(by_name, family="normality of scores, one test per cell", method="holm")
    normal = [p >= 0.05 for p in family.p_adjusted.values()]
    changes: dict[str, Estimate] = {}
    for judge in dict.fromkeys(j for _, j in cells):
        own = [cells[key] for key in sorted(cells) if key[1] == judge]
        if len(own) > 1 and own[0].shape[0] == own[-1].shape[0]:
            changes[judge] = kurtosis_change(own[0], own[-1], level=options.level)
    flatter = [c.interval is not None and c.interval.high < 0 for c in changes.values()]
    moved = "; ".join(f"{j} {c.short()}" for j, c in changes.items()) or "not pairable"
    kurtoses = "; ".join(f"{k} {v.effects[0].short()}" for k, v in tests.items())
    return about.examined(
        verdict=joint_verdict([*normal, *flatter], otherwise="does not stand"),
        reproduced="no number was published",
        because=f"Normality is rejected in {normal.count(False)} of {len(normal)} cells (scores "
        f"are whole numbers on few points); flatter at the highest temperature is shown for "
        f"{flatter.count(True)} of {len(flatter)} judges (change of excess kurtosis: {moved}). "
        f"Excess kurtosis: {kurtoses}.",
        results=(
            now("distribution.now", "Normality of scores, adjusted", family, primary=True),
            *(
                now(f"distribution.now.{name}", f"Shape of scores, {name}", test)
                for name, test in tests.items()
            ),
            *(
                now(f"distribution.now.change.{name}", f"Change of excess kurtosis, {name}", change)
                for name, change in changes.items()
            ),
        ),
    )


def judges(data: LLMasJudgeData, options: Options) -> Claim:
    """gpt-4o-mini has less variance than the others at T = .6, .7, .8."""
    claimed = (0.6, 0.7, 0.8)
    about = Claim(
        id="judges",
        claim="At T = .6, .7 and .8 gpt-4o-mini has less variance than gpt-3.5-turbo and gpt-4o.",
        published="Kruskal-Wallis, then Mann-Whitney against gpt-4o-mini, p < .05",
        test_then="Kruskal-Wallis and Mann-Whitney on variances, items unpaired, not adjusted",
        test_now="items as blocks: blocked F on the cells' standard deviations at every "
        "temperature, Holm over all temperatures (the three were picked among eleven), then "
        "Wilcoxon's signed-rank test against each other judge, Holm; ratios of variances beside "
        "them",
    )
    if not any((t, MINI) in data.variances for t in claimed):
        return about.not_examined("no variances at T = .6, .7, .8")
    results: list[NamedResult] = []
    old: dict[str, TestResult] = {}
    new: dict[str, TestResult] = {}
    less: dict[str, bool] = {}
    printed: list[str] = []
    why: list[str] = []
    for t in sorted({t for t, _ in data.variances}):
        label = f"T={t:g}"
        cells = {j: v for (at, j), v in data.variances.items() if at == t}
        if t in claimed and len(cells) > 1 and MINI in cells:
            old[label] = kruskal_test(list(cells.values()), names=list(cells), ties="exact")
            pairs = pairwise_mann_whitney(list(cells.values()), names=list(cells), adjust="none")
            results += [
                then(f"judges.then.kruskal.{label}", f"Variances of judges, {label}", old[label]),
                then(f"judges.then.pairs.{label}", f"Variances of pairs of judges, {label}", pairs),
            ]
            against_mini = [r for r in pairs.rows if MINI in {r.a, r.b}]
            printed.append(f"{label}: {listed_pairs(pairs.replace(rows=tuple(against_mini)))}")
        names, table = complete(cells, data.n_items)
        if MINI not in names or len(names) < 2:
            if t in claimed:
                why.append(f"{label}: not pairable (gpt-4o-mini lacks items)")
            continue
        pairing = paired(table, names, options)
        if math.isnan(pairing.blocked_f.p_value):
            continue
        new[label] = pairing.blocked_f
        ratios = variance_ratio(table, conditions=names, reference=MINI, level=options.level)
        mini = names.index(MINI)
        against = {
            other: wilcoxon_signed_rank(
                np.column_stack([table[:, k], table[:, mini]]), names=[other, MINI]
            )
            for k, other in enumerate(names)
            if k != mini
        }
        holm = adjust_family(against, family=f"gpt-4o-mini against each judge, {label}")
        results += [
            now(f"judges.now.f.{label}", f"Spread of judges, {label}", pairing.blocked_f),
            now(f"judges.now.pairs.{label}", f"Variances against gpt-4o-mini's, {label}", holm),
            now(f"judges.now.ratio.{label}", f"Variances over gpt-4o-mini's, {label}", ratios),
        ]
        if t in claimed:
            less[label] = all(
                holm.p_adjusted[k] < 0.05 and v.effect is not None and v.effect.estimate > 0
                for k, v in against.items()
            )
            why.append(
                f"{label}: "
                + ", ".join(
                    f"{r.a} / {r.b} = {r.with_bounds()}, "
                    f"Wilcoxon adjusted p {format_p(holm.p_adjusted[r.a])}"
                    for r in ratios.rows
                )
            )
    verdict, undecided = "open", "no temperature of the claim can be paired by item"
    if new:
        family = adjust_family(new, family="spread of judges, one test per temperature")
        results.insert(0, now("judges.now", "Spread of judges, adjusted", family, primary=True))
        stands = [less[k] and family.p_adjusted[k] < 0.05 for k in less]
        if stands:
            verdict = joint_verdict(stands)
            undecided = adjusted(family)
            if verdict == "stands" and len(stands) < len(claimed):
                verdict = "stands in part"
    return about.examined(
        verdict=verdict,
        reproduced=f"{listed(old)}; Mann-Whitney at {'; at '.join(printed)}"
        if printed
        else listed(old),
        because=f"{undecided}. {'; '.join(why)}.",
        results=results,
    )


def guidelines(data: LLMasJudgeData, options: Options) -> Claim:
    """Guidelines make no significant difference."""
    about = Claim(
        id="guidelines",
        claim="How detailed the scoring guideline is makes no difference to the spread.",
        published="no significant difference (T = .3, .5, 1; gpt-4o-mini)",
        test_then="Kruskal-Wallis on variances of five levels per temperature, items unpaired",
        test_now="items as blocks: blocked F per judge and temperature, Holm; that there is no "
        f"difference needs two one-sided tests of every pair, ratio within 1/{MARGIN} to {MARGIN}",
    )
    if not data.guidelines:
        return about.not_examined("no variances by guideline")
    levels = {"none": data.variances, **data.guidelines}
    floor = _noise_floor(data)
    places = sorted({key for cells in data.guidelines.values() for key in cells})
    results: list[NamedResult] = []
    old: dict[str, TestResult] = {}
    new: dict[str, TestResult] = {}
    shown: list[bool] = []
    lost: list[str] = []
    for t, judge in places:
        where = f"{judge} at T={t:g}"
        cells = {level: c[t, judge] for level, c in levels.items() if (t, judge) in c}
        if judge == MINI and len(cells) > 1:
            old[where] = kruskal_test(list(cells.values()), names=list(cells), ties="exact")
            results.append(
                then(f"guidelines.then.{where}", f"Variances by guideline, {where}", old[where])
            )
        sent = {level: cell for level, cell in cells.items() if level not in NOT_SENT}
        names, table = complete(sent, data.n_items)
        lost += [f"{n} ({where})" for n in sent if n not in names]
        if len(names) < 2:
            continue
        pairing = paired(table, names, options)
        new[where] = pairing.blocked_f
        equal = equivalence_of_spread(table, margin=MARGIN, conditions=names)
        shown.append(equal.all_shown)
        results += [
            now(f"guidelines.now.f.{where}", f"Spread by guideline, {where}", pairing.blocked_f),
            now(f"guidelines.now.equivalence.{where}", f"Equivalence, {where}", equal),
            now(f"guidelines.now.ratio.{where}", f"Ratios by guideline, {where}", pairing.ratios),
        ]
    if not new:
        return about.examined(
            verdict="open",
            reproduced=listed(old),
            because=f"No temperature has complete arrays to be paired: {', '.join(lost)}.{floor}",
            results=results,
        )
    family = adjust_family(new, family="spread by guideline, one test per judge and temperature")
    results.insert(0, now("guidelines.now", "Spread by guideline, adjusted", family, primary=True))
    differ = [name for name, p in family.p_adjusted.items() if p < 0.05]
    verdict = "open"
    if all(shown):
        verdict = "stands"
    elif differ:
        verdict = "does not stand"
    why = f"equivalence of all pairs is shown in {sum(shown)} of {len(shown)} comparisons"
    if differ:
        why += f"; the guidelines differ in spread for {', '.join(differ)}"
    out = f" Not pairable, left out: {', '.join(lost)}." if lost else ""
    return about.examined(
        verdict=verdict,
        reproduced=listed(old),
        because=f"{why[0].upper()}{why[1:]} ({adjusted(family)}).{out}{floor}",
        results=results,
    )


def _noise_floor(data: LLMasJudgeData) -> str:
    """That two arms sent the plain prompt, and how far runs of that prompt lie apart."""
    again = [level for level in NOT_SENT if level in data.guidelines]
    if not again:
        return ""
    ratios = [
        float(run.mean() / first.mean())
        for place, first in data.variances.items()
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


def small_variance(data: LLMasJudgeData, options: Options) -> Claim:
    """Variances are below .4 mostly."""
    about = Claim(
        id="small_variance",
        claim="Variances lie mostly below .4.",
        published="a remark in the conclusion",
        test_then="none",
        test_now="share of items with a variance below .4 per judge at the temperatures above 0 "
        "(at T = 0 every variance is 0 by construction), with interval; mostly: above half",
    )
    if not data.variances:
        return about.not_examined("no variances by temperature")
    shares = {}
    for judge in judges_of(data):
        cells = [
            v
            for (t, j), v in data.variances.items()
            if j == judge and t > 0 and v.size == data.n_items
        ]
        if cells:
            below = np.mean(np.column_stack(cells) < 0.4, axis=1)
            shares[judge] = mean_share(
                below, level=options.level, label="Share of variances below .4"
            )
    if not shares:
        return about.not_examined("no complete array at a temperature above 0")
    text = "; ".join(f"{j} {s.short()}" for j, s in shares.items())
    stands = [s.interval is not None and s.interval.low > 0.5 for s in shares.values()]
    return about.examined(
        verdict=joint_verdict(stands, otherwise="does not stand"),
        reproduced="no number was published",
        because=f"Share of variances below .4, temperatures above 0: {text}.",
        results=tuple(
            now(f"small_variance.now.{j}", f"Share of variances below .4, {j}", s, primary=True)
            for j, s in shares.items()
        ),
    )
