"""Does the spread of scores grow with temperature, which judge is steadier, what of the mean?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis import dispersion_levels
from judgestats.analysis.dispersion_comparison import (
    compare_spread,
    described_scores,
    equivalence_results,
    nothing_claimed,
    restrict_spread,
    secondary,
    spread_headlines,
    spread_questions,
    spread_results,
)
from judgestats.analysis.families import AnalysisPlan, Hypothesis, Stratum, published, strata_of
from judgestats.analysis.limits import common_limits
from judgestats.analysis.recommendation import MARGIN_ICC, best_reliable
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.scores import cell_arrays, cell_figures
from judgestats.analysis.summary_rows import factor_curve, score_rows
from judgestats.data.columns import Condition
from judgestats.data.matrices import ScoreArray
from judgestats.results import name_of
from judgestats.stats.dispersion.dispersion_test import SpreadResult
from judgestats.stats.inference.multiplicity import adjust_family

_QUESTION = (
    "Does the spread of a judge's scores for the same answer grow with the sampling temperature, "
    "and at what cost in mean?"
)
_DRAWN = f"{name_of('sem')} with 95 % intervals, by sampling temperature. At 0 sampling is off."
_ACROSS = "temperatures above 0"


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
        blocks=dispersion_levels.BLOCKS,
        missing=dispersion_levels.MISSING,
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"variance_ratio": dispersion_levels.MARGIN, "icc_1_1": MARGIN_ICC},
        hypotheses=(
            *dispersion_levels.spread_hypotheses(
                across=_ACROSS,
                each="judge",
                ratio="How much larger is the variance at the higher temperature?",
            ),
            Hypothesis(
                id="trend",
                question="Does the spread grow with temperature?",
                test="Page's L, Spearman and Kendall with intervals over clusters",
                family="none: reported beside the primary test",
            ),
            Hypothesis(
                id="judges",
                question="At each temperature: which judge is steadier?",
                test="as for the spread, judges in place of temperatures, paired by item; T = 0, "
                "where sampling is off, is described and enters no test",
                family="one test per temperature",
            ),
            *dispersion_levels.varied_hypotheses(conditions),
            published(
                "Spearman of variance and temperature, Kruskal-Wallis and Mann-Whitney on "
                "variances, Levene on scores centred by item and condition; all unpaired"
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
    sampled = cells[cells["temperature"] != 0]
    strata = strata_of(sampled, vary="temperature")
    questions = spread_questions(
        array,
        declared,
        ("spread", _ACROSS, "judge", strata),
        *dispersion_levels.varied_questions(sampled, declared),
    )
    spreads = questions[0].spreads
    headlines = spread_headlines(*questions)
    if not strata:
        why = dispersion_levels.nothing_compared(sampled, "temperature", across=_ACROSS)
        headlines = (nothing_claimed(why), *headlines)
    best = best_reliable(cells, array)
    arrays = cell_arrays(array)
    return Analysis(
        experiment="temperature",
        question=declared.question,
        drawing=factor_curve("temperature", "sem", caption=_DRAWN),
        headlines=headlines,
        described=described.estimates,
        rows=score_rows(cells["condition"]),
        condition_records=described.conditions,
        figures=cell_figures(arrays),
        conditions=cells,
        results=(
            *spread_results(*questions),
            *equivalence_results(questions[0]),
            *_compare_judges(array, sampled, declared),
            *best,
            *described.results,
        ),
        limitations=tuple(common_limits(frame, cells, array)),
        metrics=_metrics(spreads),
        condition_metrics=described.metrics,
        curves=_curves(strata_of(cells, vary="temperature"), cells),
        arrays=arrays,
    )  # fmt: skip


def _compare_judges(
    array: ScoreArray, cells: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    """Judges compared at each temperature, paired by item."""
    strata = strata_of(cells, vary="judge")
    spreads = compare_spread(array, strata, declared)
    by_name = {n: s.blocked_f for n, s in spreads.items() if not math.isnan(s.p_value)}
    across = "spread across judges, one test per temperature"
    family = adjust_family(by_name, family=across) if by_name else None
    results: list[NamedResult] = []
    for stratum in strata:
        name, spread = stratum.name, spreads[stratum.name]
        if family is not None and name in by_name:
            spread = restrict_spread(
                spread, family.p_adjusted[name], family.p_bound[name], f"judges.{name}"
            )
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
    if family is not None and len(by_name) > 1:
        results.append(
            secondary("judges.family", "Spread between judges, adjusted", family, headline=True)
        )
    return results


def _stratum_cells(stratum: Stratum, cells: pd.DataFrame) -> pd.DataFrame:
    """The stratum's conditions, from the coldest to the hottest."""
    return cells[cells["condition"].isin(stratum.conditions)].sort_values("temperature")


def _metrics(spreads: Mapping[str, SpreadResult]) -> dict[str, float]:
    out: dict[str, float] = {}
    for judge, spread in spreads.items():
        out[f"spread/p_value/{judge}"] = spread.blocked_f.p_value
        widest = spread.ratios.rows
        for row in widest:
            if {row.a, row.b} == {spread.conditions[0], spread.conditions[-1]}:
                out[f"spread/variance_ratio/{judge}"] = row.estimate
    return out


def _curves(strata: Sequence[Stratum], cells: pd.DataFrame) -> dict[str, list[tuple[int, float]]]:
    """Lines over temperature; MLflow's steps are whole numbers, hence hundredths."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for stratum in strata:
        chosen = _stratum_cells(stratum, cells)
        steps = [round(100 * t) for t in chosen["temperature"]]
        for column, name in (("within_variance", "variance"), ("icc1", "icc1"), ("mean", "mean")):
            curves[f"curve/{name}/{stratum.name}"] = list(zip(steps, chosen[column], strict=True))
    return curves
