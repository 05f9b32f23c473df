"""LLMasJudge: what its claims share."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judgestats.arrays import Floats
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.adjust import Family
from judgestats.stats.inference.result import Comparisons, TestResult, format_p
from judgestats.stats.spread.equivalence import EquivalenceResult
from judgestats.stats.spread.spread_between_conditions import SpreadResult, spread_test
from judgestats.studies.claims import Options
from judgestats.studies.llmasjudge.data import LLMasJudgeData

MARGIN = 1.5
"""Declared margin: a ratio of variances between 1/1.5 and 1.5 matters little."""

MINI = "gpt-4o-mini"


def judges_of(data: LLMasJudgeData) -> list[str]:
    """The judges, in the order of the file."""
    return list(dict.fromkeys(j for _, j in data.variances))


def complete(columns: Mapping[str, Floats], n_items: int) -> tuple[list[str], Floats]:
    """The arrays that hold every item, side by side: only these can be aligned by index."""
    kept = {k: v for k, v in columns.items() if v.size == n_items}
    return list(kept), np.column_stack(list(kept.values())) if kept else np.empty((n_items, 0))


def paired(
    table: Floats, names: list[str], options: Options, *, at: list[float] | None = None
) -> SpreadResult:
    """The comparison of spread within items."""
    return spread_test(
        table,
        conditions=names,
        ordered=at if at is not None else False,
        level=options.level,
        n_permutations=options.n_resamples,
        n_resamples=options.n_resamples,
        seed=options.seed,
    )


def listed(tests: Mapping[str, TestResult]) -> str:
    """Statistic, p and effect of every test."""
    return "; ".join(f"{name}: {test.apa()}" for name, test in tests.items())


def adjusted(family: Family) -> str:
    """The adjusted p of every test."""
    return "; ".join(f"{name}: adjusted p {family.p_text(name)}" for name in family.p_adjusted)


def of_all(stands: list[bool], *, otherwise: str = "open") -> str:
    """The verdict on a claim made for several judges or temperatures at once."""
    if all(stands):
        return "stands"
    return "stands in part" if any(stands) else otherwise


def no_difference(equal: EquivalenceResult, *, differ: bool) -> str:
    """The verdict on a claim of no difference: inside the declared margin, or not.

    A difference that is certain and smaller than the margin does not contradict the claim.
    """
    if equal.all_shown:
        return "stands"
    return "does not stand" if differ else "open"


def listed_pairs(pairs: Comparisons) -> str:
    """The p of every pair, not adjusted, and which of the two is the smaller."""
    return ", ".join(
        f"{row.a} against {row.b} p {format_p(row.p_value)}"
        + (
            f" ({row.effect_name} {apa_number(row.effect, bounded=True)})"
            if row.effect_name
            else ""
        )
        for row in pairs.rows
    )
