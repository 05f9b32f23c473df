"""What best-of-n by a judge buys, in a sentence and as advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgestats.analysis.outcome import Recommendation
from judgestats.analysis.worded_numbers import worded_coefficient
from judgestats.judgments.settings import heat
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.result import Comparisons


def sentence_of(table: pd.DataFrame, compared: Mapping[str, Comparisons], *, level: float) -> str:
    """Shares of best answers by strategy, and what is gained over a random one; judge by judge."""
    if "best_share" not in table:
        return (
            "The items have no labels on these candidates, so it is not known whether the chosen "
            "ones are the better ones."
        )
    parts = []
    for (judge, temperature), own in table.groupby(
        ["judge", "temperature"], sort=False, dropna=False
    ):
        who = judge_at(judge, temperature)
        text = ", ".join(
            f"{worded_coefficient(r, 'best_share')} by {r['factor_strategy']}"
            for r in own.to_dict("records")
        )
        listed = f"{who} chooses the candidate that labels prefer in {text}"
        if who in compared:
            shown = [r for r in compared[who].rows if r.p_adjusted < 1 - level]
            listed += (
                f" ({'; '.join(f'{r.a} and {r.b} differ' for r in shown)})"
                if shown
                else " (no difference between strategies is shown)"
            )
        parts.append(listed)
    chance = apa_number(float(table["best_at_random"].mean()), bounded=True)
    return f"{'; '.join(parts)}. A candidate drawn at random would be it in {chance}."


def recommend(
    table: pd.DataFrame, compared: Mapping[str, Comparisons], *, level: float
) -> Recommendation | None:
    """By judge: the strategy shown to choose better, or the one that takes least."""
    parts = []
    equal: dict[str, list[str]] = {}
    for (judge, temperature), own in table.groupby(
        ["judge", "temperature"], sort=False, dropna=False
    ):
        who = judge_at(judge, temperature)
        if who not in compared:
            continue
        least = own.sort_values("tokens" if "tokens" in own else "cost_usd").iloc[0]
        shown = [r for r in compared[who].rows if r.p_adjusted < 1 - level]
        better = {r.a if r.estimate > 0 else r.b for r in shown}
        worse = {r.b if r.estimate > 0 else r.a for r in shown}
        best = own[own["factor_strategy"].isin(better - worse)]
        if best.empty:
            equal.setdefault(str(least["factor_strategy"]), []).append(who)
        else:
            row = best.sort_values("best_share", ascending=False).iloc[0]
            parts.append(
                f"{who}: {row['factor_strategy']} is shown to choose the labelled best more often"
                + (f" ({float(row['tokens']):,.0f} tokens a verdict)" if "tokens" in row else "")
            )
    parts += [
        f"{' and '.join(judges)}: no strategy is shown to choose better than another, which does "
        f"not show that they are equal; {least} takes least"
        for least, judges in equal.items()
    ]
    return Recommendation(sentences=tuple(f"{t}." for t in parts)) if parts else None


def judge_at(judge: Any, temperature: Any) -> str:
    """A judge with its temperature, as a reader sees it."""
    return f"{judge} at {heat(temperature)}"
