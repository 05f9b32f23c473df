"""Does the spread of scores grow with temperature, which judge is steadier, what of the mean?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.limits import common_limits
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.published import published_tests
from judgestats.analysis.recommend import recommend_replicates
from judgestats.analysis.scores import ScoreConditions, cell_arrays, cell_figures
from judgestats.analysis.spread_comparison import (
    compare_spread,
    described_scores,
    equivalence_in,
    equivalence_results,
    secondary,
    spread_family,
    spread_headlines,
    spread_results,
    unread_share,
)
from judgestats.analysis.spread_plan import (
    BLOCKS,
    MARGIN,
    MISSING,
    spread_hypotheses,
)
from judgestats.analysis.strata import Stratum, strata_of
from judgestats.analysis.told import told_sem
from judgestats.analysis.varied import varied_hypotheses, varied_results
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import heat
from judgestats.judgments.shapes import ScoreArray
from judgestats.results import Headline
from judgestats.stats.inference.result import format_p
from judgestats.stats.spread.spread_between_conditions import SpreadResult

__all__ = ["analyse", "plan"]

_QUESTION = (
    "Does the spread of a judge's scores for the same answer grow with the sampling temperature, "
    "and at what cost in mean?"
)


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call.

    Parameters
    ----------
    parameters : mapping
        The experiment's parameters, read.
    conditions : sequence of Condition

    Returns
    -------
    AnalysisPlan
    """
    return AnalysisPlan(
        experiment="temperature",
        question=_QUESTION,
        blocks=BLOCKS,
        missing=MISSING,
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"variance_ratio": MARGIN},
        hypotheses=(
            *spread_hypotheses(
                across="temperatures",
                each="judge",
                ratio="How much larger is the variance at the higher temperature?",
            ),
            Hypothesis(
                id="trend",
                role="secondary",
                question="Does the spread grow with temperature?",
                test="Page's L, Spearman and Kendall with intervals over clusters",
                family="none: reported beside the primary test",
            ),
            Hypothesis(
                id="judges",
                role="secondary",
                question="At each temperature: which judge is steadier?",
                test="as for the spread, judges in place of temperatures, paired by item",
                family="one test per temperature",
                adjustment="holm",
            ),
            *_sampling(conditions),
            *varied_hypotheses(conditions),
            Hypothesis(
                id="published",
                role="replicated",
                question="What would the replicated study have printed?",
                test=(
                    "Spearman of variance and temperature, Kruskal-Wallis and Mann-Whitney on "
                    "variances, Levene on scores centred by item and condition; all unpaired"
                ),
            ),
        ),
    )


def _sampling(conditions: Sequence[Condition]) -> tuple[Hypothesis, ...]:
    """The primary question without T = 0, where sampling is off; asked only if T = 0 is judged."""
    if not any(c.temperature == 0 for c in conditions):
        return ()
    return (
        Hypothesis(
            id="sampling",
            role="secondary",
            question="Does the spread differ among temperatures above 0?",
            test=(
                "as the primary test without T = 0, where sampling is off and the spread is 0 by "
                "construction"
            ),
        ),
    )


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments: every judge at every temperature on the same items.
    declared : AnalysisPlan
        As written before the first call.

    Returns
    -------
    Analysis
    """
    frame, array, described = described_scores(frame, declared)
    cells = described.table
    strata = strata_of(cells, vary="temperature")
    spreads = compare_spread(array, strata, declared)
    results = spread_results(spreads, across="temperatures", each="judge", strata=strata)
    equivalence = equivalence_in(array, strata, declared)
    results += equivalence_results(equivalence, strata=strata)
    headlines = spread_headlines(
        spreads, equivalence, across="temperatures", each="judge", strata=strata
    )
    arrays = cell_arrays(array)
    results += _without_zero(array, cells, declared)
    results += _between_judges(array, cells, declared)
    further, said = varied_results(array, cells, declared)
    results += further
    results += described.results
    results += published_tests(array, cells)
    return Analysis(
        experiment="temperature",
        question=declared.question,
        sentence=_sentence(headlines, strata, cells) + said,
        headlines=headlines,
        described=described.estimates,
        condition_records=described.conditions,
        figures=cell_figures(arrays),
        conditions=cells,
        results=tuple(results),
        limitations=tuple(common_limits(frame, cells, array)),
        recommendation=recommend_replicates(cells),
        metrics=_metrics(spreads, described),
        condition_metrics=described.metrics,
        curves=_curves(strata, cells),
        arrays=arrays,
    )


def _without_zero(
    array: ScoreArray, cells: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    """The primary test without T = 0, where sampling is off and the spread is 0 by construction."""
    if not (cells["temperature"] == 0).any():
        return []
    strata = strata_of(cells[cells["temperature"] > 0], vary="temperature")
    spreads = compare_spread(array, strata, declared)
    return [
        secondary(
            f"sampling.{stratum.name}",
            f"Spread across temperatures above 0, {stratum.name}",
            spreads[stratum.name].blocked_f,
            headline=True,
            stratum=stratum,
        )
        for stratum in strata
    ]


def _between_judges(
    array: ScoreArray, cells: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    """Judges compared at each temperature, paired by item."""
    strata = strata_of(cells, vary="judge")
    spreads = compare_spread(array, strata, declared)
    results: list[NamedResult] = []
    for stratum in strata:
        name, spread = stratum.name, spreads[stratum.name]
        results += [
            secondary(
                f"{prefix}.{name}",
                f"Judges at {name}: {what}",
                result,
                hypothesis="judges",
                stratum=stratum,
            )
            for prefix, what, result in (
                ("judges", "spread", spread.blocked_f),
                ("judges_ratio", "ratios", spread.ratios),
            )
        ]
    known = {n: s for n, s in spreads.items() if not math.isnan(s.p_value)}
    if len(known) > 1:
        family = spread_family(known, across="judges", each="temperature")
        results.append(
            secondary("judges.family", "Spread between judges, adjusted", family, headline=True)
        )
    return results


def _of(stratum: Stratum, cells: pd.DataFrame) -> pd.DataFrame:
    """The stratum's conditions, from the coldest to the hottest."""
    return cells[cells["condition"].isin(stratum.conditions)].sort_values("temperature")


def _extremes(stratum: Stratum, cells: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    chosen = _of(stratum, cells)
    return chosen.iloc[0], chosen.iloc[-1]


def _sentence(headlines: Sequence[Headline], strata: Sequence[Stratum], cells: pd.DataFrame) -> str:
    """The answer, one plain sentence: equality is told only where it is shown."""
    if not headlines:
        return (
            "Only one temperature was judged, so nothing can be said about what temperature does."
        )
    by_name = {s.name: s for s in strata}
    grows, differs, same, unclear = [], [], [], []
    for headline in headlines:
        low, high = _extremes(by_name[headline.about.stratum], cells)
        change = (
            f"{headline.about.stratum} (standard error of one score {told_sem(low)} points at "
            f"{heat(low['temperature'])}, {told_sem(high)} at "
            f"{heat(high['temperature'])}; adjusted p {format_p(headline.p_adjusted)})"
        )
        if headline.claim == "differs" and headline.direction == "higher":
            grows.append(change)
        elif headline.claim == "differs":
            differs.append(change)
        elif headline.claim == "equivalent":
            same.append(change)
        else:
            unclear.append(change)
    parts = []
    if grows:
        parts.append(
            "the scatter of the scores that a judge gives to the same answer differs between "
            f"temperatures, and is larger at the highest than at the lowest, for {'; '.join(grows)}"
        )
    if differs:
        parts.append(f"the scatter differs between temperatures for {'; '.join(differs)}")
    if same:
        parts.append(
            "the scatter is shown to be about the same at all temperatures (within the declared "
            f"margin) for {'; '.join(same)}"
        )
    if unclear:
        parts.append(
            "neither a difference of scatter between temperatures nor equality was shown for "
            f"{'; '.join(unclear)}"
        )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _metrics(spreads: Mapping[str, SpreadResult], described: ScoreConditions) -> dict[str, float]:
    out: dict[str, float] = {}
    for judge, found in spreads.items():
        out[f"spread/p_value/{judge}"] = found.blocked_f.p_value
        widest = found.ratios.rows
        for row in widest:
            if {row.a, row.b} == {found.conditions[0], found.conditions[-1]}:
                out[f"spread/variance_ratio/{judge}"] = row.estimate
    out["quality/unread_share"] = unread_share(described.table)
    return out


def _curves(strata: Sequence[Stratum], cells: pd.DataFrame) -> dict[str, list[tuple[int, float]]]:
    """Lines over temperature; MLflow's steps are whole numbers, hence hundredths."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for stratum in strata:
        chosen = _of(stratum, cells)
        steps = [round(100 * t) for t in chosen["temperature"]]
        for column, name in (("within_variance", "variance"), ("icc1", "icc1"), ("mean", "mean")):
            curves[f"curve/{name}/{stratum.name}"] = list(zip(steps, chosen[column], strict=True))
    return curves
