"""What a varied field of the request does to the spread of scores, whichever field it is."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.spread_comparison import (
    compare_spread,
    equivalence_in,
    secondary,
    spread_family,
)
from judgestats.analysis.spread_plan import spread_sentence
from judgestats.analysis.strata import strata_of
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import EXTRA, in_order
from judgestats.judgments.shapes import ScoreArray

__all__ = ["varied_hypotheses", "varied_results"]

_ID = "vary."


def varied_hypotheses(conditions: Sequence[Condition]) -> tuple[Hypothesis, ...]:
    """One hypothesis a field of the request that the conditions vary.

    Examples
    --------
    >>> conditions = [Condition(judge="j", settings={"top_p": p}) for p in (0.5, 1.0)]
    >>> [h.id for h in varied_hypotheses(conditions)]
    ['vary.top_p']
    """
    levels: dict[str, dict[str, None]] = {}
    for condition in conditions:
        for name in condition.settings:
            short = name.removeprefix(EXTRA)
            levels.setdefault(short, {})[condition.levels[short]] = None
    return tuple(
        Hypothesis(
            id=f"{_ID}{name}",
            role="secondary",
            question=f"Does the spread of repeated scores differ between levels of {name}?",
            test="as the primary test, ratios of variances, two one-sided tests"
            + ("; Page's L, Spearman and Kendall, the levels being ordered" if ordered else ""),
            family="one test per stratum of all other factors",
            adjustment="holm",
        )
        for name, of in levels.items()
        for ordered in [in_order(name, of) is not None]
    )


def varied_results(
    array: ScoreArray, cells: pd.DataFrame, declared: AnalysisPlan
) -> tuple[list[NamedResult], str]:
    """The answers to `varied_hypotheses`, and a sentence that tells them.

    Parameters
    ----------
    array : ScoreArray
    cells : DataFrame
        One row a condition.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
    str
        Empty where nothing is varied.
    """
    results: list[NamedResult] = []
    sentences = []
    for name in (h.id.removeprefix(_ID) for h in declared.hypotheses if h.id.startswith(_ID)):
        strata = strata_of(cells, vary=f"factor_{name}", ordered=True)
        spreads = compare_spread(array, strata, declared)
        equivalence = equivalence_in(array, strata, declared)
        for where, spread in spreads.items():
            title = f"Spread across {name}, {where}"
            results.append(secondary(f"{_ID}{name}.{where}", title, spread.blocked_f))
            results += [
                secondary(
                    f"{_ID}{name}.trend.{test.name}.{where}",
                    f"Trend of spread over {name}, {where}",
                    test,
                    headline="page" in test.name,
                )
                for test in spread.trend
            ]
            results.append(
                secondary(
                    f"{_ID}{name}.ratio.{where}",
                    f"Ratios of variances across {name}, {where}",
                    spread.ratios,
                )
            )
        results += [
            secondary(f"{_ID}{name}.equivalence.{where}", f"Equivalence across {name}, {where}", e)
            for where, e in equivalence.items()
        ]
        across = f"levels of {name}"
        if len(spreads) > 1:
            family = spread_family(spreads, across=across, each="stratum")
            title = f"Spread across {name}, adjusted over strata"
            results.append(secondary(f"{_ID}{name}.family", title, family, headline=True))
        sentences.append(spread_sentence(spreads, equivalence, across=across, each="stratum"))
    return results, "".join(f" {s}" for s in sentences)
