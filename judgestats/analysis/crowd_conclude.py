"""What follows from the results on strategies: the sentence, the advice, the limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from judgestats.analysis.crowd_data import Judged
from judgestats.analysis.crowd_plan import REFERENCE
from judgestats.analysis.limits import designed_labels
from judgestats.analysis.outcome import NamedResult, Recommendation
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.selections import selection_limits
from judgestats.analysis.worded_numbers import worded_percent
from judgestats.items.schema import Item
from judgestats.results import Headline
from judgestats.results.numbers import adjusted_p
from judgestats.stats.inference.result import Comparison, Comparisons


def sentence_of(
    judges: Sequence[Judged],
    table: pd.DataFrame,
    gains: Mapping[str, Comparisons],
    results: Mapping[str, NamedResult],
    headlines: Sequence[Headline],
    declared: AnalysisPlan,
) -> str:
    """The answer, judge by judge, in one sentence."""
    parts = []
    for judged in judges:
        gain = gains.get(judged.name)
        if gain is None:
            continue
        own = _own(table, judged)
        vanilla = own[own["factor_strategy"] == REFERENCE].iloc[0]
        better = sorted(better_than_vanilla(gain, declared), key=lambda r: -r.estimate)
        text = f"{judged.name}: vanilla is right in {worded_percent(vanilla, 'accuracy')}"
        if better:
            best = better[0]
            text += f"; {best.a} is better by {best.with_bounds(times=100, digits=1)} points"
        else:
            text += "; no strategy is shown to be better"
        trend = f"scaling.accuracy.{judged.name}"
        if trend in results:
            [claimed] = [h for h in headlines if h.rests_on[0] == trend]
            text += f"; {_trend_told(claimed)}"
        parts.append(text)
    return (
        f"{'; '.join(parts)}."
        if parts
        else "The vanilla judge was not asked, so no gain over it can be told."
    )


def better_than_vanilla(gain: Comparisons, declared: AnalysisPlan) -> list[Comparison]:
    """The strategies that are shown to be right more often than the vanilla judge."""
    return [r for r in gain.rows if r.p_adjusted < 1 - declared.level and r.estimate > 0]


def _own(table: pd.DataFrame, judged: Judged) -> pd.DataFrame:
    """The rows of one judge at one temperature."""
    return table[table["condition"].isin(set(judged.rows["condition"]))]


def _trend_told(trend: Headline) -> str:
    if trend.claim == "undefined":
        return "a trend of accuracy with k cannot be tested"
    p = f"(Page's test, adjusted p {adjusted_p(trend)})"
    if trend.claim != "differs":
        return f"no trend of accuracy with k is shown {p}"
    return f"accuracy {'rises' if trend.direction == 'higher' else 'falls'} with k {p}"


def recommended(
    judges: Sequence[Judged],
    table: pd.DataFrame,
    gains: Mapping[str, Comparisons],
    declared: AnalysisPlan,
) -> Recommendation | None:
    """The cheapest strategy of those shown to be better than vanilla, by judge."""
    parts, kept = [], []
    for judged in judges:
        if judged.name not in gains:
            continue
        judge = judged.name
        if all(math.isnan(r.estimate) for r in gains[judge].rows):  # nothing was read
            continue
        better = {r.a: r for r in better_than_vanilla(gains[judge], declared)}
        own = _own(table, judged)
        own = own[own["factor_strategy"].isin(better.keys())]
        if own.empty:
            kept.append(judge)
            continue
        row = own.sort_values(["tokens", "factor_strategy"]).iloc[0]
        name = str(row["factor_strategy"])
        parts.append(
            f"{judge}: {name} is the cheapest strategy shown to beat vanilla "
            f"({better[name].with_bounds(times=100, digits=1)} points more, "
            f"{float(row['tokens']):,.0f} tokens a verdict)"
        )
    if kept:
        takes = table[table["factor_strategy"] == REFERENCE]["tokens"].mean()
        others = table[table["factor_strategy"] != REFERENCE]["tokens"]
        parts.append(
            f"{' and '.join(kept)}: keep the vanilla prompt ({takes:,.0f} tokens a verdict; the "
            f"others take {others.min():,.0f} to {others.max():,.0f}); nothing is shown to beat it"
        )
    return Recommendation(sentences=tuple(f"{t}." for t in parts)) if parts else None


def limits_of(
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
    return limits
