"""Does reasoning change the spread, and does it do so alike for all judges?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.limits import common_limits
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.published import published_levene_of_variances, published_ratios
from judgestats.analysis.recommend import recommend_replicates
from judgestats.analysis.scores import cell_arrays
from judgestats.analysis.spread_comparison import (
    compare_spread,
    described_scores,
    equivalence_in,
    equivalence_results,
    secondary,
    spread_metrics,
    spread_results,
)
from judgestats.analysis.spread_plan import (
    BLOCKS,
    MARGIN,
    MISSING,
    spread_hypotheses,
    spread_sentence,
)
from judgestats.analysis.strata import (
    Stratum,
    strata_of,
)
from judgestats.judgments.design import Condition
from judgestats.judgments.shapes import ScoreArray
from judgestats.stats.blocked_f import blocked_f_test
from judgestats.stats.cells import cell_statistics
from judgestats.stats.ratio_of_ratios import ratio_of_ratios
from judgestats.stats.result import Comparisons, format_number, format_p

__all__ = ["analyse", "plan"]

_ACROSS, _EACH, _BASE = "ways of reasoning", "judge and temperature", "none"


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    several = len({c.judge for c in conditions}) > 1
    interaction = Hypothesis(
        id="interaction",
        role="secondary",
        question="At each temperature: does reasoning change the spread of all judges alike?",
        test=(
            "ratio of the judges' variance ratios (reasoning over none), jackknife over clusters "
            "on the log scale; beside it a blocked F test of the judges on differences of mean "
            "distance (reasoning minus none), which judges of unequal spread can differ in"
        ),
        family="pairs of judges, within a temperature and a way of reasoning",
        adjustment="holm",
    )
    return AnalysisPlan(
        experiment="reasoning",
        question=(
            "Does asking for an explanation, before or after the score, change how much a judge's "
            "scores for the same answer scatter, and does it do so alike for all judges?"
        ),
        blocks=BLOCKS,
        missing=MISSING,
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"variance_ratio": MARGIN},
        hypotheses=(
            *spread_hypotheses(
                across=_ACROSS,
                each=_EACH,
                ratio="How many times the variance without reasoning is that with it?",
            ),
            *((interaction,) if several else ()),
            Hypothesis(
                id="published",
                role="replicated",
                question="What would the replicated study have printed?",
                test=(
                    "Levene on vectors of variances against none, Kruskal-Wallis and Mann-Whitney "
                    "on item-wise ratios between judges; all unpaired"
                ),
            ),
        ),
    )


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, with ``factor_reasoning``.
    declared : AnalysisPlan

    Returns
    -------
    Analysis
    """
    frame, array, described = described_scores(frame, declared)
    cells = described.table
    strata = strata_of(cells, vary="factor_reasoning")
    found = compare_spread(array, strata, declared, reference=_BASE)
    equivalence = equivalence_in(array, strata, declared)
    interactions = _interactions(array, cells, declared)
    return Analysis(
        experiment="reasoning",
        question=declared.question,
        sentence=spread_sentence(found, equivalence, across=_ACROSS, each=_EACH)
        + _alike(interactions),
        conditions=cells,
        results=(
            *spread_results(found, across=_ACROSS, each=_EACH),
            *equivalence_results(equivalence),
            *interactions,
            *described.results,
            *published_levene_of_variances(array, strata, reference=_BASE),
            *_published_ratios(array, cells),
        ),
        limitations=tuple(common_limits(frame, cells, array)),
        recommendation=recommend_replicates(cells),
        metrics=spread_metrics(found, cells),
        condition_metrics=described.metrics,
        arrays=cell_arrays(array),
    )


def _pairs_of_strata(cells: pd.DataFrame) -> list[tuple[str, str, Stratum, Stratum]]:
    """Temperature, way of reasoning, and the judges' conditions with it and without reasoning."""
    by_level = {
        level: {s.name.partition(" and ")[0]: s for s in strata_of(chosen, vary="judge")}
        for level, chosen in cells.groupby("factor_reasoning", sort=False)
    }
    base = by_level.pop(_BASE, {})
    return [
        (where, str(level), treated, base[where])
        for level, strata in by_level.items()
        for where, treated in strata.items()
        if where in base and base[where].labels == treated.labels
    ]


def _interactions(
    array: ScoreArray, cells: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    results: list[NamedResult] = []
    for where, level, treated, control in _pairs_of_strata(cells):
        name = f"{level} at {where}"
        ratios = ratio_of_ratios(
            treated.scores(array),
            control.scores(array),
            groups=treated.labels,
            cluster=array.clusters,
            level=declared.level,
        )
        results.append(
            secondary(
                f"interaction.{name}",
                f"Is the change by reasoning ({level}) the same for all judges at {where}",
                ratios,
                headline=True,
            )
        )
        more, less = (
            cell_statistics(s.scores(array), conditions=s.labels, cluster=array.clusters)
            for s in (treated, control)
        )
        change = more.spread("mean") - less.spread("mean")
        complete = ~np.isnan(change).any(axis=1)
        if int(complete.sum()) < 3:
            continue
        test = blocked_f_test(
            change[complete],
            conditions=treated.labels,
            cluster=more.cluster[complete],
            n_permutations=declared.n_resamples,
            level=declared.level,
            seed=declared.seed,
        )
        results.append(
            secondary(
                f"interaction_f.{name}",
                f"Differences of mean distance ({level} minus none) between judges at {where}",
                test.replace(
                    name="interaction_blocked_f",
                    null_hypothesis="reasoning changes the mean distance of all judges alike",
                ),
            )
        )
    return results


def _alike(interactions: Sequence[NamedResult]) -> str:
    """Whether reasoning changes all judges alike, as a sentence; empty for one judge."""
    asked = [r for r in interactions if isinstance(r.result, Comparisons)]
    told = [
        f"{row.a} and {row.b} ({r.id.removeprefix('interaction.')}; their variance ratios differ "
        f"by the factor {format_number(row.estimate, digits=3)}, adjusted p "
        f"{format_p(row.p_adjusted)})"
        for r in asked
        if isinstance(r.result, Comparisons)
        for row in r.result.rows
        if row.p_adjusted < 0.05
    ]
    if told:
        return f" Reasoning does not change the spread of all judges alike: {'; '.join(told)}."
    if asked:
        return (
            " That reasoning changes the spread of the judges by different factors was not shown, "
            "nor that it changes them alike."
        )
    return ""


def _published_ratios(array: ScoreArray, cells: pd.DataFrame) -> list[NamedResult]:
    results: list[NamedResult] = []
    for where, level, treated, control in _pairs_of_strata(cells):
        more, less = (cell_statistics(s.scores(array)).variance for s in (treated, control))
        results += published_ratios(more, less, names=treated.labels, where=f"{level} at {where}")
    return results
