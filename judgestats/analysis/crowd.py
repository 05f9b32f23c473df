"""Do judgments that stand before a verdict make it more often right, and at what price?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.analysis.crowd_conclusions import (
    FAMILY,
    describe,
    limits_of,
    plan,
    side_by_side,
)
from judgestats.analysis.crowd_data import StrategyVerdicts, gold_labels, strategy_verdicts
from judgestats.analysis.crowd_tests import (
    gain_results,
    point_results,
    price_table,
    scaling_results,
    selection_results,
    strategy_results,
)
from judgestats.analysis.families import (
    LEVEL,
    AnalysisPlan,
    direction_of,
    family_of_tests,
    headline_of_test,
    headlines_of_rows,
    jointly,
    restrict_pairs,
)
from judgestats.analysis.records import Analysis, NamedResult, by_role, named_results
from judgestats.analysis.selections import metrics_of
from judgestats.analysis.summary_rows import declared_row, ranked, results_row
from judgestats.errors import InputError
from judgestats.items.records import Item
from judgestats.results import About, Claim, Headline, Row
from judgestats.stats.inference.result import Comparisons, TestResult

__all__ = ["analyse", "plan"]

_METRICS = {
    "accuracy": "agreement/accuracy",
    "average": "agreement/accuracy_over_sets",
    "swap_consistency": "order/swap_consistency",
    "self_agreement": "reliability/self_agreement",
    "words": "length/words",
    "tokens": "cost/tokens_per_verdict",
    "cost_usd": "cost/usd",
}


def analyse(
    frame: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    items: Sequence[Item],
    pipelines: pd.DataFrame,
) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments of all stages.
    declared : AnalysisPlan
    items : sequence of Item
        The items judged, with one label a pair.
    pipelines : DataFrame
        One row a strategy's verdict (`judgestats.data.stages.StageSchedule.table`).

    Returns
    -------
    Analysis
    """
    if pipelines.empty:
        raise InputError(
            "crowd: no pipeline came to its end, so there is no verdict to analyse. Run the same "
            "command again to go on from the journal."
        )
    gold = gold_labels(items)
    judges = strategy_verdicts(pipelines, gold)
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    # So many that the smallest p-value there can be stands in the family of all that is claimed.
    asked = len(set(pipelines["factor_strategy"])) + 1
    n_permutations = max(declared.n_resamples, math.ceil(2 * asked * len(judges) / LEVEL) - 1)
    drawn = replace(declared, n_resamples=n_permutations)
    tests: dict[str, NamedResult] = {}
    for judged in judges:
        for name in judged.strategies:
            row, described = describe(judged, name, declared)
            rows.append(row)
            results += described
        results += strategy_results(judged, drawn)
        results += gain_results(judged, declared)
        results += scaling_results(judged, drawn)
        results += selection_results(judged, declared)
        results += point_results(judged, declared)
        for result in results:
            if result.id == f"strategies.{judged.name}":
                tests[judged.name] = result
            elif result.id == f"scaling.accuracy.{judged.name}":
                tests[f"{judged.name}, trend over k"] = result
    family = family_of_tests(
        "strategies.family",
        {k: r.result for k, r in tests.items() if isinstance(r.result, TestResult)},
        FAMILY,
        role="primary",
    )
    results = _jointly([*results, *family], judges)
    by_id = {r.id: r for r in results}
    gains = {
        judged.name: gain
        for judged in judges
        if f"gain.{judged.name}" in by_id
        and isinstance(gain := by_id[f"gain.{judged.name}"].result, Comparisons)
    }
    headlines = tuple(_headlines(by_id, judges, tests))
    results = _restrict_strategies(results, headlines)
    for judged in (j for j in judges if j.name in gains):
        price = price_table(judged, gains[judged.name], declared)
        title = "Price of a point of accuracy"
        results += named_results(judged.name, "descriptive", ("cost", title, price))
    table = pd.DataFrame(rows)
    return Analysis(
        experiment="crowd",
        question=declared.question,
        drawing=ranked(
            "accuracy",
            "tokens",
            caption="How often each strategy is right, and what a verdict takes.",
        ),
        headlines=headlines,
        conditions=table,
        results=tuple(by_role(results)),
        limitations=tuple(limits_of(frame, pipelines, table, items)),
        condition_metrics={str(r["condition"]): metrics_of(r, _METRICS) for r in rows},
        curves=_curves(table, declared),
        rows=_rows(table, gains),
        arrays={
            "scaling": _curve_rows(table, declared),
            "selection": _selection_rows(table, declared),
            "case": side_by_side(judges, items, gold, declared),
        },
    )


def _rows(table: pd.DataFrame, gains: Mapping[str, Comparisons]) -> tuple[Row, ...]:
    """How often each strategy is right, and more often than the plain prompt."""
    called = {
        str(r["condition"]): f"{r['factor_strategy']}, {r['judge']}"
        for r in table.to_dict("records")
    }
    better = {
        label: f"gain.{judge}/{pair.a}:{pair.b}"
        for judge, pairs in gains.items()
        for pair in pairs.rows
        for label, name in called.items()
        if name == f"{pair.a}, {judge}"
    }
    return (
        declared_row("accuracy", called, ids="accuracy.{}"),
        results_row("gain", "Minus vanilla", "Minus vanilla", "rate_difference", "{}", better),
        declared_row("swap_consistency", called, ids="order.{}"),
    )


def _jointly(
    results: Sequence[NamedResult], judges: Sequence[StrategyVerdicts]
) -> list[NamedResult]:
    """All that is claimed as one family, and all tests of equivalence as one."""
    adjusted = jointly(
        results, {"strategies.family", *(f"gain.{j.name}" for j in judges)}, family=FAMILY
    )
    return jointly(
        adjusted, {f"gain.equivalence.{j.name}" for j in judges},
        family="strategies against vanilla: all judges",
    )  # fmt: skip


def _restrict_strategies(
    results: Sequence[NamedResult], headlines: Sequence[Headline]
) -> list[NamedResult]:
    """The results, with no pair of strategies told apart where the judge's test tells none."""
    claims = {h.rests_on[0].replace("strategies.", "strategies.pairs."): h for h in headlines}

    def restrict(named: NamedResult) -> NamedResult:
        if named.id not in claims or not isinstance(named.result, Comparisons):
            return named
        h = claims[named.id]
        pairs = restrict_pairs(named.result, h.p_adjusted, claim=h.id, bound=h.p_bound)
        return replace(named, result=pairs)

    return [restrict(named) for named in results]


def _headlines(
    by_id: Mapping[str, NamedResult],
    judges: Sequence[StrategyVerdicts],
    tests: Mapping[str, NamedResult],
) -> Iterator[Headline]:
    """Of each judge: whether strategies differ, which one from vanilla, and whether k matters."""
    family = [by_id["strategies.family"]] if "strategies.family" in by_id else []
    for judged in judges:
        about = About(
            judge=str(judged.rows["judge"].iloc[0]), stratum=judged.name, varied="strategy",
            conditions=tuple(dict.fromkeys(judged.rows["condition"])),
        )  # fmt: skip
        for name in (judged.name, f"{judged.name}, trend over k"):
            if name in tests:
                effect = getattr(tests[name].result, "effect", None)
                yield headline_of_test(
                    tests[name], family, about=about,
                    estimand="" if name == judged.name else "accuracy",
                    what="a difference between strategies in how often they are right"
                    if name == judged.name
                    else "a trend of accuracy with the number of judgments shown",
                    direction=direction_of(effect.estimate)
                    if effect is not None and name != judged.name
                    else "",
                )  # fmt: skip
        gain, equal = by_id.get(f"gain.{judged.name}"), by_id.get(f"gain.equivalence.{judged.name}")
        if gain is not None:
            rows = equal.result.rows if equal and isinstance(equal.result, Comparisons) else ()
            for headline in headlines_of_rows(
                gain, what="", estimand="accuracy_gain", about=about,
                alike={(r.a, r.b): r.p_adjusted for r in rows},
                beside=f"gain.equivalence.{judged.name}",
            ):  # fmt: skip
                yield replace(headline, says=_SAYS[headline.claim, headline.direction])


_SAYS: Mapping[tuple[Claim, str], str] = {
    ("differs", "higher"): "right more often than vanilla, the plain prompt",
    ("differs", "lower"): "right less often than vanilla, the plain prompt",
    ("equivalent", ""): "as often right as vanilla, the plain prompt, within the margin",
    ("open", ""): "neither shown to be right more often than vanilla, the plain prompt, nor as "
    "often",
    ("undefined", ""): "could not be compared with vanilla, the plain prompt",
}


def _curve_rows(table: pd.DataFrame, declared: AnalysisPlan) -> list[dict[str, Any]]:
    names = declared.options["scaling"].split(",")
    kept = [
        "judge", "temperature", "k", "accuracy", "accuracy_low", "accuracy_high", "words",
        "final_tokens_out", "tokens", "used",
    ]  # fmt: skip
    own = table[table["factor_strategy"].isin(names)].sort_values(["judge", "temperature", "k"])
    return [
        {str(key): value for key, value in row.items()}
        for row in own.reindex(columns=kept).to_dict("records")
    ]


def _selection_rows(table: pd.DataFrame, declared: AnalysisPlan) -> list[dict[str, Any]]:
    rows = []
    for name in filter(None, declared.options["selections"].split(",")):
        kind, _, raw = name.partition("@")[0].removeprefix("cce-").partition("-")
        for row in table[table["factor_strategy"] == name].to_dict("records"):
            rows.append(
                {
                    "judge": row["judge"],
                    "temperature": row["temperature"],
                    "k": row["k"],
                    "selection": kind,
                    "verdicts": "kept" if raw else "removed",
                    "accuracy": row["accuracy"],
                    "accuracy_low": row.get("accuracy_low", math.nan),
                    "accuracy_high": row.get("accuracy_high", math.nan),
                    "preferred": row["preferred"],
                    "used": row["used"],
                }
            )
    return rows


def _curves(table: pd.DataFrame, declared: AnalysisPlan) -> dict[str, list[tuple[int, float]]]:
    rows = _curve_rows(table, declared)
    several = len({row["temperature"] for row in rows}) > 1
    out: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        name = f"{row['judge']}_T{row['temperature']:g}" if several else row["judge"]
        for column in ("accuracy", "words"):
            value = float(row[column])
            if not math.isnan(value):
                out.setdefault(f"scaling/{column}/{name}", []).append((row["k"], value))
    return out
