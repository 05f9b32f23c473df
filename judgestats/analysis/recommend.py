"""How many judgments to average, and what that costs, from the reliability that was measured."""

from __future__ import annotations

import math

import pandas as pd

from judgestats.analysis.outcome import Recommendation
from judgestats.analysis.told import told_coefficient
from judgestats.results.numbers import apa_number
from judgestats.stats.reliability.step_up import replications_needed

__all__ = ["TARGET", "recommend_replicates"]

TARGET = 0.90
"""Reliability of the mean that the recommendation aims at."""


def recommend_replicates(cells: pd.DataFrame) -> Recommendation | None:
    """The condition whose single judgment is estimated most reliable, and the repeats it needs.

    Conditions whose scores never vary within an item (one draw repeated, as at T = 0) are not
    candidates: there the reliability says that sampling was off.

    Parameters
    ----------
    cells : DataFrame
        One row a condition.

    Returns
    -------
    Recommendation or None
        None where no condition has a positive reliability.
    """
    usable = cells[(cells["constant_share"] < 0.95) & (cells["icc1"] > 0)]
    if usable.empty:
        return None
    best = usable.sort_values("icc1", ascending=False).iloc[0]
    icc = float(best["icc1"])
    exact = float(replications_needed(icc, target=TARGET))
    if not math.isfinite(exact):
        return None
    need = max(1, math.ceil(exact - 1e-9))
    cost = None
    if not math.isnan(float(best["cost_usd"])) and float(best["n"]):
        cost = float(best["cost_usd"]) / float(best["n"]) * need
    price = f", at ${cost:.4f} an item" if cost else ""
    low = float(best.get("icc1_low", math.nan))
    most = _at_the_lower_bound(low, need) if math.isfinite(low) else ""
    unit = "one judgment already reaches" if need == 1 else f"the mean of {need} judgments reaches"
    return Recommendation(
        text=(
            f"{best['condition']} has the highest estimated reliability of one judgment among the "
            f"conditions whose scores vary at all (ICC(1,1) {told_coefficient(best, 'icc1')}); "
            f"{unit} {apa_number(TARGET, bounded=True)}{price}{most}. "
            f"Reliability is not validity: {_validity(best)}."
        ),
        replicates=need,
        cost_usd=cost,
    )


def _validity(best: pd.Series) -> str:
    """What is known of its agreement with people, or that it is to be looked for."""
    if math.isnan(best.get("pearson", math.nan)):
        return "check agreement with people too"
    return f"its correlation with people's ratings is {told_coefficient(best, 'pearson')}"


def _at_the_lower_bound(low: float, need: int) -> str:
    """How many judgments the target takes if the reliability is as low as its interval allows."""
    if low <= 0:
        return ". The interval reaches 0, so no number is certain to suffice"
    most = max(1, math.ceil(float(replications_needed(low, target=TARGET)) - 1e-9))
    return f" ({most} at the interval's lower end)" if most > need else ""
