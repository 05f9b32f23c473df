"""What a varied field of the request does to the spread of scores, whichever field it is."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.strata import Stratum, strata_of
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import EXTRA, in_order

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
            family="one test per stratum of all other factors, in one family with the primary ones",
            adjustment="holm",
        )
        for name, of in levels.items()
        for ordered in [in_order(name, of) is not None]
    )


def varied_questions(
    cells: pd.DataFrame, declared: AnalysisPlan
) -> list[tuple[str, str, str, tuple[Stratum, ...]]]:
    """The questions that `varied_hypotheses` declared, for `spread_questions`.

    Parameters
    ----------
    cells : DataFrame
        One row a condition.
    declared : AnalysisPlan

    Returns
    -------
    list of tuple
        Id, what is compared, what a stratum is, and the strata.
    """
    names = [h.id.removeprefix(_ID) for h in declared.hypotheses if h.id.startswith(_ID)]
    return [
        (
            f"{_ID}{name}",
            f"levels of {name}",
            "stratum",
            strata_of(cells, vary=f"factor_{name}", ordered=True),
        )
        for name in names
    ]
