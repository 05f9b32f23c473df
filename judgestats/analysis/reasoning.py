"""Does reasoning change the spread, and does it do so alike for all judges?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.dispersion_comparison import secondary, spread_family, test_ids
from judgestats.analysis.dispersion_levels import LevelComparison
from judgestats.analysis.families import (
    AnalysisPlan,
    Hypothesis,
    Stratum,
    claim_headline,
    direction_of,
    one_family,
    restrict_pairs,
    strata_of,
)
from judgestats.analysis.records import Analysis, NamedResult, results_by_subject
from judgestats.data.columns import Condition
from judgestats.data.matrices import ScoreArray
from judgestats.results import About, Claim, Headline
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.designs.cells import cell_statistics
from judgestats.stats.dispersion.ratios import ratio_of_ratios
from judgestats.stats.inference.multiplicity import adjust_family
from judgestats.stats.inference.result import Comparisons, TestResult

WITHOUT = "none"
"""The level of ``reasoning`` that the others are compared with."""
_COMPARED = LevelComparison(
    experiment="reasoning",
    question="Does asking for an explanation, before or after the score, change how much a judge's "
    "scores for the same answer scatter, and does it do so alike for all judges?",
    vary="factor_reasoning",
    across="ways of reasoning",
    each="judge and temperature",
    ratio="How many times the variance without reasoning is that with it?",
    published="Levene on vectors of variances against none, Kruskal-Wallis and Mann-Whitney on "
    "item-wise ratios between judges; all unpaired",
    reference=WITHOUT,
)
_FAMILY = "all pairs of judges, temperatures and ways of reasoning"
_INTERACTION = Hypothesis(
    id="interaction",
    question="At each temperature: does reasoning change the spread of all judges alike?",
    test="ratio of the judges' variance ratios (reasoning over none), jackknife over clusters on "
    "the log scale; claimed only where the primary family shows that reasoning matters",
    family=_FAMILY,
)
_INTERACTION_F = Hypothesis(
    id="interaction_f",
    question="And taken as a difference, not as a factor?",
    test="blocked F test of the judges on differences of mean distance (reasoning minus none), p "
    "by exchanging judges within items; judges of unequal spread can differ here though reasoning "
    "multiplies their spread by the same factor",
    family="one test per temperature and way of reasoning",
)


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    judges = {c.judge for c in conditions}
    ways = {c.factors["reasoning"] for c in conditions}
    asked = len(judges) > 1 and WITHOUT in ways and len(ways) > 1
    return _COMPARED.plan(parameters, *((_INTERACTION, _INTERACTION_F) if asked else ()))


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
    compared = _COMPARED.compare(frame, declared)
    paired = judges_with_and_without(compared.cells)
    interaction = _interaction(compared.array, paired, declared)
    if interaction is not None:
        tests = spread_family(*compared.questions)
        first = min(tests.p_adjusted, key=lambda name: np.nan_to_num(tests.p_adjusted[name], nan=1))
        gate, bound = tests.p_adjusted[first], tests.p_bound[first]
        claim = test_ids(*compared.questions)[first]
        interaction = restrict_pairs(interaction, gate, claim=claim, bound=bound)
    further = [*_interaction_by_differences(compared.array, paired, declared)]
    if interaction is not None:
        title = "Is the change by reasoning the same for all judges"
        further.insert(0, secondary("interaction", title, interaction, headline=True))
    claims = _claims(interaction)
    return _COMPARED.concluded(
        compared,
        declared,
        claims=claims,
        further=further,
    )


Paired = Mapping[str, tuple[Stratum, Stratum]]


def judges_with_and_without(cells: pd.DataFrame) -> Paired:
    """The judges' conditions with a way of reasoning and without, at each temperature.

    Parameters
    ----------
    cells : DataFrame
        One row a condition.

    Returns
    -------
    mapping of "way at temperature" to (Stratum, Stratum)
    """
    by_level = {
        str(level): {s.name.partition(" and ")[0]: s for s in strata_of(chosen, vary="judge")}
        for level, chosen in cells.groupby("factor_reasoning", sort=False)
    }
    base = by_level.pop(WITHOUT, {})
    return {
        f"{level} at {where}": (treated, base[where])
        for level, strata in by_level.items()
        for where, treated in strata.items()
        if where in base and base[where].labels == treated.labels
    }


def _interaction(array: ScoreArray, paired: Paired, declared: AnalysisPlan) -> Comparisons | None:
    """Ratios of the judges' variance ratios, all of them in one family."""
    ratios = {
        where: ratio_of_ratios(
            treated.scores(array),
            control.scores(array),
            groups=treated.labels,
            cluster=array.clusters,
            level=declared.level,
        )
        for where, (treated, control) in paired.items()
    }
    return one_family(ratios, family=_FAMILY) if ratios else None


def _interaction_by_differences(
    array: ScoreArray, paired: Paired, declared: AnalysisPlan
) -> list[NamedResult]:
    tests: dict[str, TestResult] = {}
    for where, (treated, control) in paired.items():
        more, less = (
            cell_statistics(s.scores(array), conditions=s.labels, cluster=array.clusters)
            for s in (treated, control)
        )
        change = more.spread("mean") - less.spread("mean")
        complete = ~np.isnan(change).any(axis=1)
        if int(complete.sum()) < 3:
            continue
        tests[where] = blocked_f_test(
            change[complete],
            conditions=treated.labels,
            cluster=more.cluster[complete],
            n_comparisons=len(paired),
            **declared.drawn,
        ).replace(
            name="interaction_blocked_f",
            null_hypothesis="reasoning changes the mean distance of all judges alike",
        )
    title = "Differences of mean distance between judges"
    results = results_by_subject("interaction_f", title, "secondary", tests)
    if len(tests) > 1:
        family = adjust_family(tests, family=f"interaction by differences, {_INTERACTION_F.family}")
        results.append(secondary("interaction_f.family", f"{title}, adjusted", family))
    return results


def _claims(interaction: Comparisons | None) -> tuple[Headline, ...]:
    """What is claimed of each pair of judges."""
    if interaction is None:
        return ()
    return tuple(
        claim_headline(
            f"interaction.{row.a}:{row.b}",
            About(stratum=f"{row.a} and {row.b}", varied="reasoning"),
            _SAYS,
            p=row.p_adjusted,
            p_bound=row.p_bound,
            estimand="variance_ratio",
            direction=direction_of(row.estimate - 1),
            rests_on=(f"interaction/{row.a}:{row.b}",),
            family="interaction",
            reason=row.reason,
        )
        for row in interaction.rows
    )


_SAYS: Mapping[Claim, str] = {
    "differs": "reasoning changes the within-item variance of one judge more than that of another",
    "open": "that reasoning changes the within-item variance of one judge more than of another "
    "is not shown, nor that it changes them alike",
    "undefined": "whether reasoning changes the variance of all judges alike could not be computed",
}
