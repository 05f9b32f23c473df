"""Tests as a replicated study ran them, with the item-blocked test in the same row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from judgestats.reporting.numbers import Shown, address, label
from judgestats.reporting.runs import Run
from judgestats.reporting.tables import Column, Table
from judgestats.results import Comparison, Record, Results, Test
from judgestats.results.numbers import apa_number


class _Pair(NamedTuple):
    """A test of the study: what its id begins with, its name, its effect size, and the blocked."""

    begun: str
    test: str
    effect: str
    symbol: str
    blocked: str
    blocked_test: str


_KRUSKAL = _Pair("kruskal.", "Kruskal-Wallis", "epsilon_squared", "ε²", "ranks.{}", "Friedman")
_MANN = _Pair("mann_whitney.", "Mann-Whitney", "cliffs_delta", "δ", "ratio.{}",
              "Paired variance ratio, Holm")  # fmt: skip
_TESTS: Mapping[str, tuple[_Pair, ...]] = {
    "temperature": (
        _Pair("spearman.", "Spearman (variance, T)", "spearman_rho", "ρ",
              "trend.page_trend_test.{}", "Page's trend test"),
    ),
    "judges": (_KRUSKAL, _MANN),
    "guidelines": (_KRUSKAL,),
    "reasoning": (
        _Pair("levene_of_variances.before.", "Levene, before against none", "", "",
              "ratio.{}/before:none", "Paired log-variance ratio"),
        _Pair("levene_of_variances.after.", "Levene, after against none", "", "",
              "ratio.{}/after:none", "Paired log-variance ratio"),
        _Pair("ratio_kruskal.", "Kruskal-Wallis of ratios", "epsilon_squared", "ε²",
              "interaction_f.{}", "Blocked F of ratios"),
    ),
    "alignment": (
        _Pair("friedman.", "Friedman", "kendalls_w", "W", "ranks_of_credit.{}",
              "Friedman, questions kept together"),
        _Pair("nemenyi.", "Nemenyi", "", "", "ranks_of_credit.pairs.{}",
              "Nemenyi, questions kept together"),
    ),
}  # fmt: skip
_MOST_ROWS = 24


def study_tests(run: Run) -> Table | None:
    """The study's tests next to the tests that use the pairing of items; None where it has none.

    Parameters
    ----------
    run : Run

    Returns
    -------
    Table or None
    """
    pairs = _TESTS.get(run.records.experiment, ())
    rows = [row for pair in pairs for row in _rows(pair, run.records)]
    if not rows:
        return None
    more = f" {len(rows) - _MOST_ROWS} more rows are in results.csv." * (len(rows) > _MOST_ROWS)
    blocked = run.records.experiment == "alignment"
    assumes = "Pairs of one question are not independent." if blocked else (
        "The study's tests assume independence: items are not independent samples."
    )  # fmt: skip
    return Table(
        columns=(
            Column(key="what", label="Of"),
            Column(key="test", label="Study's test"),
            Column(key="effect", label="Effect size", align="right"),
            Column(key="p", label="p", align="right"),
            Column(key="blocked_test", label="Item-blocked test"),
            Column(key="blocked", label="p, blocked", align="right"),
        ),
        rows=tuple(rows[:_MOST_ROWS]),
        caption="Tests as the study ran them.",
        note=f"{assumes}{more}",
        label="tbl-study-tests",
    )


def _rows(pair: _Pair, results: Results) -> Iterator[dict[str, Any]]:
    begun = f"published.{pair.begun}"
    for record in results.results:
        if not record.id.startswith(begun) or not isinstance(record, Test | Comparison):
            continue
        where, _, levels = record.id.removeprefix(begun).partition("/")
        blocked = _blocked(pair.blocked.format(where), levels, results)
        yield {
            "what": f"{where}, {levels.replace(':', ' and ')}" if levels else where,
            "test": pair.test,
            "effect": _effect(pair, f"{record.id}/{pair.effect}", results),
            "p": _p(record, "p", results),
            "blocked_test": pair.blocked_test if blocked is not None else "",
            "blocked": _p(blocked, "p_adjusted", results),
        }


def _blocked(identity: str, levels: str, results: Results) -> Record | None:
    """The blocked result of the same contrast, whichever level its id names first."""
    first, sign, second = levels.partition(":")
    names = [f"{identity}/{levels}", f"{identity}/{second}:{first}"] if sign else [identity]
    return next((results[name] for name in names if name in results), None)


def _p(record: Record | None, field: str, results: Results) -> Shown | str:
    """A p-value; the one before adjustment where no other test was of its family."""
    if not isinstance(record, Test | Comparison):
        return ""
    field = "p" if math.isnan(getattr(record, field)) else field
    if math.isnan(record.p):
        return ""
    bound = isinstance(record, Test) and record.p_bound
    return label(results, address(record.id, field), p=True, bound=bound)


def _effect(pair: _Pair, identity: str, results: Results) -> Shown | str:
    record = results.estimate(identity)
    if record is None or math.isnan(record.estimate):
        return ""
    number = apa_number(record.estimate, bounded=True)
    return Shown(((f"{pair.symbol} = ", ""), (number, address(record.id, "estimate"))))
