"""What follows from the results on strategies: the sentence, the advice, the limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.crowd_data import Judged
from judgestats.analysis.crowd_plan import REFERENCE
from judgestats.analysis.outcome import Recommendation
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.selections import selection_limits
from judgestats.analysis.told import told_percent
from judgestats.items.schema import Item
from judgestats.stats.result import Comparisons, format_p

__all__ = ["limits_of", "recommended", "sentence_of"]


def sentence_of(
    judges: Sequence[Judged],
    table: pd.DataFrame,
    gains: Mapping[str, Comparisons],
    trends: Mapping[str, Any],
    declared: AnalysisPlan,
) -> str:
    """The answer, judge by judge, in one sentence."""
    parts = []
    for judged in judges:
        gain = gains.get(judged.name)
        if gain is None:
            continue
        own = table[table["judge"] == judged.rows["judge"].iloc[0]]
        vanilla = own[own["factor_strategy"] == REFERENCE].iloc[0]
        shown = [r for r in gain.rows if r.p_adjusted < 1 - declared.level]
        better = sorted((r for r in shown if r.estimate > 0), key=lambda r: -r.estimate)
        text = f"{judged.name}: vanilla is right in {told_percent(vanilla, 'accuracy')}"
        if better:
            best = better[0]
            text += f"; {best.a} is better by {best.told(times=100, digits=1)} points"
        else:
            text += "; no strategy is shown to be better"
        if judged.name in trends:
            p = trends[judged.name].p_value
            rising = trends[judged.name].effects[0].estimate > 0
            text += (
                f"; accuracy {'rises' if rising else 'falls'} with k"
                if p < 0.05
                else ("; no trend of accuracy with k is shown")
            )
            text += f" (Page's test, p {format_p(p)})"
        parts.append(text)
    return (
        f"{'; '.join(parts)}."
        if parts
        else "The vanilla judge was not asked, so no gain over it can be told."
    )


def recommended(table: pd.DataFrame, gains: Mapping[str, Comparisons]) -> Recommendation | None:
    """The cheapest strategy of those shown to be better than vanilla, by judge."""
    told = []
    for judge, gain in gains.items():
        better = {r.a: r for r in gain.rows if r.p_adjusted < 0.05 and r.estimate > 0}
        own = table[
            table["factor_strategy"].isin(better.keys())
            & (table["judge"] == judge.split(" at T=")[0])
        ]
        if own.empty:
            told.append(f"{judge}: keep the vanilla prompt; nothing is shown to beat it")
            continue
        row = own.sort_values(["tokens", "factor_strategy"]).iloc[0]
        name = str(row["factor_strategy"])
        told.append(
            f"{judge}: {name} is the cheapest strategy shown to beat vanilla "
            f"({better[name].told(times=100, digits=1)} points more, "
            f"{float(row['tokens']):,.0f} tokens a verdict)"
        )
    return Recommendation(text=f"{'. '.join(told)}.") if told else None


def limits_of(
    frame: pd.DataFrame, pipelines: pd.DataFrame, table: pd.DataFrame, items: Sequence[Item]
) -> list[str]:
    """What a careful reader would object to, where these data give cause."""
    limits = selection_limits(pipelines, table)
    personas = {label.annotator for item in items for label in item.labels}
    if personas == {"majority"} and any(r.quality is not None for i in items for r in i.responses):
        limits.append(
            "The labels are those of the bundled bank's designed personas, not of people: they "
            "serve to rehearse the method."
        )
    short = pipelines[(pipelines["wanted"] > 0) & (pipelines["used"] < pipelines["wanted"])]
    if len(short):
        names = sorted(set(short["factor_strategy"]))
        limits.append(
            f"{len(short)} of {len(pipelines)} verdicts had fewer judgments before them than their "
            f"strategy asks for ({', '.join(names[:4])}{' ...' if len(names) > 4 else ''}): the "
            "crowd was too small, or judgments could not be read."
        )
    if int(pipelines["cut"].sum()):
        limits.append(
            f"{int(pipelines['cut'].sum())} judgments were shortened before a later prompt showed "
            "them."
        )
    before = frame[~frame["stage"].isin(["final", "points"])]
    if len(before) and (before["status"] != "ok").any():
        lost = int((before["status"] != "ok").sum())
        limits.append(
            f"{lost} of {len(before)} calls before a final verdict could not be read; they were "
            "left out of what the verdict was shown."
        )
    return limits
