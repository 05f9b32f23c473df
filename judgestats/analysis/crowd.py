"""Accuracy and price of verdicts that follow other judgments of the same answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.analysis import crowd_strategies, families
from judgestats.analysis.limits import designed_labels
from judgestats.analysis.records import Analysis, NamedResult, named_results, sort_by_role
from judgestats.analysis.selections import metrics_of, selection_limits
from judgestats.analysis.summary_rows import declared_row, ranked, results_row
from judgestats.data.columns import Condition
from judgestats.errors import InputError
from judgestats.items.records import Item
from judgestats.protocols.strategies import requested_strategies
from judgestats.protocols.strategies.base import stage_kind
from judgestats.results import About, Headline, Row
from judgestats.stats.inference.result import Comparisons, TestResult

MARGIN = 0.05
"""Declared margin: accuracies that differ by less than five points in a hundred."""
FAMILY = "strategies, gains over vanilla and trends over k: all judges"
"""Family of the claims; pairs of strategies are adjusted within a judge."""
_METRICS = {
    "accuracy": "agreement/accuracy",
    "average": "agreement/accuracy_over_sets",
    "swap_consistency": "order/swap_consistency",
    "self_agreement": "reliability/self_agreement",
    "words": "length/words",
    "tokens": "cost/tokens_per_verdict",
    "cost_usd": "cost/usd",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> families.AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions  # all that matters is in the parameters and the judgments
    names = {
        purpose: ",".join(listed) for purpose, listed in requested_strategies(parameters).items()
    }
    return families.planned(
        "crowd", parameters,
        families.Hypothesis(
            "strategies", "Do the strategies differ in how often they are right?",
            "Cochran's Q over verdicts, p by permuting strategies jointly within a question; then "
            "McNemar's exact test of every pair of strategies",
            "pairs of strategies, within a judge", "primary",
        ),
        families.Hypothesis(
            "gain", "By how much does each strategy differ from the vanilla judge, and is no "
            "difference shown?",
            "difference of mean accuracy, interval over questions; no difference needs it within "
            f"{MARGIN} (two one-sided tests)", FAMILY,
        ),
        families.Hypothesis(
            "scaling", "Does accuracy, or the length of the explanation, grow with the number of "
            "crowd judgments?",
            "Page's test over k (0 is vanilla), p by permuting k jointly within a question",
            "per judge", adjustment="none",
        ),
        families.Hypothesis(
            "selection", "Which crowd judgments help, and does removing their verdict matter?",
            "Cochran's Q over selections with and without verdicts, at the same k; McNemar's exact "
            "test of every pair", "pairs of selections, within a judge and k",
        ),
        families.Hypothesis(
            "accuracy", "How often is each strategy right, on each set and on their average?",
            "share of right verdicts with interval over questions; the average counts every set "
            "alike", role="descriptive",
        ),
        families.Hypothesis(
            "order", "Does the verdict hang on the order of the two responses?",
            "consistency between orders, first-position preference", role="descriptive",
        ),
        families.Hypothesis(
            "repeat", "Is the final verdict the same when the whole pipeline is repeated?",
            "agreement of repetitions and Fleiss' kappa, with interval over questions",
            role="descriptive",
        ),
        families.Hypothesis(
            "cost", "What does a point of accuracy cost?",
            "tokens and dollars beyond the vanilla judge's, per point gained, where a gain is "
            "shown after adjustment; interval from that of the gain", role="descriptive",
        ),
        families.published("Tables 1, 2 and 4 of arXiv 2502.12501", "What did the study print?"),
        margins={"accuracy": MARGIN},
        options={**names, "reference": crowd_strategies.REFERENCE},
        blocks="The pair is the block: all strategies judge the same pairs in the same orders. A "
        "verdict is right if it names the response that the label prefers. Pairs, orders and "
        "repetitions of one question are kept together in every interval and test. What "
        "Cochran's Q and McNemar's tests count as items are verdicts: a pair in one order, in "
        "one repetition. Calls that strategies share (crowd judgments, votes) are asked once; "
        "they make strategies more alike than separate calls would, and each is charged for "
        "them in full.",
        missing="A crowd judgment that could not be read is not selected, one whose verdict could "
        "not be removed is not shown, and fewer than k are recorded; with none there is no final "
        "verdict. Verdicts that are missing are left out (a pair in an order is compared only "
        "where all strategies have one), and, as the second policy, counted as wrong.",
    )  # fmt: skip


def analyse(
    frame: pd.DataFrame,
    declared: families.AnalysisPlan,
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
        The items judged, with one label per pair.
    pipelines : DataFrame
        One row per strategy's verdict (`judgestats.data.stages.StageSchedule.table`).

    Returns
    -------
    Analysis
    """
    if pipelines.empty:
        raise InputError(
            "crowd: no pipeline came to its end, so there is no verdict to analyse. Run the same "
            "command again to go on from the journal."
        )
    gold = crowd_strategies.gold_labels(items)
    judges = crowd_strategies.strategy_verdicts(pipelines, gold)
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    # So many that the smallest p-value there can be stands in the family of all that is claimed.
    asked = len(set(pipelines["factor_strategy"])) + 1
    n_permutations = max(
        declared.n_resamples, math.ceil(2 * asked * len(judges) / families.LEVEL) - 1
    )
    drawn = replace(declared, n_resamples=n_permutations)
    tests: dict[str, NamedResult] = {}
    for judged in judges:
        for name in judged.strategies:
            row, described = crowd_strategies.describe(judged, name, declared)
            rows.append(row)
            results += described
        results += crowd_strategies.strategy_tests(judged, declared, drawn)
        for result in results:
            if result.id == f"strategies.{judged.name}":
                tests[judged.name] = result
            elif result.id == f"scaling.accuracy.{judged.name}":
                tests[f"{judged.name}, trend over k"] = result
    family = families.family_of_tests(
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
        price = crowd_strategies.price_table(judged, gains[judged.name], declared)
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
        results=tuple(sort_by_role(results)),
        limitations=tuple(_limits(frame, pipelines, table, items)),
        condition_metrics={str(r["condition"]): metrics_of(r, _METRICS) for r in rows},
        curves=_curves(table, declared),
        rows=_rows(judges, gains),
        arrays={
            "scaling": _curve_rows(table, declared),
            "selection": _selection_rows(table, declared),
        },
    )


def _rows(
    judges: Sequence[crowd_strategies.StrategyVerdicts], gains: Mapping[str, Comparisons]
) -> tuple[Row, ...]:
    """Accuracy of each strategy, and its gain over the plain prompt."""
    called = {
        str(condition): f"{strategy}, {judged.name}"
        for judged in judges
        for condition, strategy in dict.fromkeys(
            judged.rows[["condition", "factor_strategy"]].itertuples(index=False, name=None)
        )
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
    results: Sequence[NamedResult], judges: Sequence[crowd_strategies.StrategyVerdicts]
) -> list[NamedResult]:
    """All claims adjusted as one family, and all tests of equivalence as another."""
    adjusted = families.jointly(
        results, {"strategies.family", *(f"gain.{j.name}" for j in judges)}, family=FAMILY
    )
    return families.jointly(
        adjusted, {f"gain.equivalence.{j.name}" for j in judges},
        family="strategies against vanilla: all judges",
    )  # fmt: skip


def _restrict_strategies(
    results: Sequence[NamedResult], headlines: Sequence[Headline]
) -> list[NamedResult]:
    """The results, with no pair of strategies significant where the judge's test is not."""
    claims = {h.rests_on[0].replace("strategies.", "strategies.pairs."): h for h in headlines}

    def restrict(named: NamedResult) -> NamedResult:
        if named.id not in claims or not isinstance(named.result, Comparisons):
            return named
        h = claims[named.id]
        pairs = families.restrict_pairs(named.result, h.p_adjusted, claim=h.id, bound=h.p_bound)
        return replace(named, result=pairs)

    return [restrict(named) for named in results]


def _headlines(
    by_id: Mapping[str, NamedResult],
    judges: Sequence[crowd_strategies.StrategyVerdicts],
    tests: Mapping[str, NamedResult],
) -> Iterator[Headline]:
    """Of each judge: whether strategies differ, which one from vanilla, and whether k matters."""
    family = [by_id["strategies.family"]] if "strategies.family" in by_id else []
    for judged in judges:
        about = About(
            judge=str(judged.rows["judge"].iloc[0]), stratum=judged.name, varied="strategy",
            conditions=tuple(dict.fromkeys(judged.rows["condition"])),
        )  # fmt: skip
        for name, estimand in ((judged.name, ""), (f"{judged.name}, trend over k", "accuracy")):
            if name in tests:
                effect = getattr(tests[name].result, "effect", None) if estimand else None
                yield families.headline_of_test(
                    tests[name], family, about=about, estimand=estimand,
                    direction=families.direction_of(effect.estimate) if effect is not None else "",
                )  # fmt: skip
        gain, equal = by_id.get(f"gain.{judged.name}"), by_id.get(f"gain.equivalence.{judged.name}")
        if gain is not None:
            rows = equal.result.rows if equal and isinstance(equal.result, Comparisons) else ()
            yield from families.headlines_of_rows(
                gain, estimand="accuracy_gain", about=about,
                alike={(r.a, r.b): r.p_adjusted for r in rows},
                beside=f"gain.equivalence.{judged.name}",
            )  # fmt: skip


def _curve_rows(table: pd.DataFrame, declared: families.AnalysisPlan) -> list[dict[str, Any]]:
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


def _selection_rows(table: pd.DataFrame, declared: families.AnalysisPlan) -> list[dict[str, Any]]:
    rows = []
    for name in filter(None, declared.options["selections"].split(",")):
        kind, _, raw = name.partition("@")[0].removeprefix("cce-").partition("-")
        for row in table[table["factor_strategy"] == name].to_dict("records"):
            shown = {key: row.get(key, math.nan) for key in _SELECTED}
            rows.append({**shown, "selection": kind, "verdicts": "kept" if raw else "removed"})
    return rows


_SELECTED = (
    "judge", "temperature", "k", "accuracy", "accuracy_low", "accuracy_high", "preferred", "used",
)  # fmt: skip


def _curves(
    table: pd.DataFrame, declared: families.AnalysisPlan
) -> dict[str, list[tuple[int, float]]]:
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


def _limits(
    frame: pd.DataFrame, pipelines: pd.DataFrame, table: pd.DataFrame, items: Sequence[Item]
) -> list[str]:
    """What a careful reader would object to, where these data give cause."""
    limits = selection_limits(pipelines, table)
    personas = {label.annotator for item in items for label in item.labels}
    if personas == {"majority"} and any(r.quality is not None for i in items for r in i.responses):
        limits.append(designed_labels())
    short = pipelines[(pipelines["wanted"] > 0) & (pipelines["used"] < pipelines["wanted"])]
    if len(short):
        names = sorted(set(short["factor_strategy"]))
        limits.append(
            f"{len(short):,} of {len(pipelines):,} verdicts had fewer judgments before them than "
            f"their strategy asks for ({', '.join(names[:4])}{' ...' if len(names) > 4 else ''}): "
            "the crowd was too small, or judgments could not be read."
        )
    if int(pipelines["cut"].sum()):
        limits.append(
            f"{int(pipelines['cut'].sum()):,} judgments were shortened before a later prompt "
            "showed them."
        )
    before = frame[~frame["stage"].isin(["final", "points"])]
    if len(before) and (before["status"] != "ok").any():
        lost = int((before["status"] != "ok").sum())
        limits.append(
            f"{lost:,} of {len(before):,} calls before a final verdict could not be read; they "
            "were left out of what the verdict was shown."
        )
    crowd = before[before["stage"].map(stage_kind) == "crowd"]
    if silent := int((crowd["status"] != "ok").sum()):
        limits.append(
            f"{silent:,} of {len(crowd):,} crowd judgments have no verdict, so they are left out. "
            "The study's selection counts such a judgment as a loss of the candidate."
        )
    return limits
