"""What a point of accuracy costs: tokens and dollars beyond the vanilla judge's."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import pandas as pd

from judgestats.analysis.crowd_conclude import better_than_vanilla
from judgestats.analysis.crowd_data import Judged
from judgestats.analysis.crowd_plan import REFERENCE
from judgestats.analysis.plan import AnalysisPlan
from judgestats.results.numbers import bounds_of, with_bounds
from judgestats.stats.inference.result import Comparisons, Result


@dataclasses.dataclass(frozen=True, kw_only=True)
class PriceOfAccuracy(Result):
    """Gain and cost of strategies beside the vanilla judge's.

    Attributes
    ----------
    table : DataFrame
        One row a strategy: ``gain`` in points (percent) with its interval, ``tokens`` and ``usd``
        of a verdict, and both per point, with the bounds that the gain's interval gives (tokens
        and dollars taken as known), where the gain is shown after adjustment; NaN elsewhere,
        since the price of nothing is not defined.
    """

    table: pd.DataFrame

    def tidy(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def glance(self) -> pd.DataFrame:
        """Its size."""
        return pd.DataFrame([{"method": "cost beyond vanilla per point", "n": len(self.table)}])

    def sentence(self) -> str:
        """The cheapest point."""
        priced = self.table.dropna(subset=["tokens_per_point"])
        if priced.empty:
            return (
                "No strategy is shown to gain accuracy over the vanilla judge, so a point has no "
                "price."
            )
        best = priced.sort_values("tokens_per_point").iloc[0]
        return (
            f"The cheapest point of accuracy beyond the vanilla judge costs "
            f"{best['tokens_per_point']:,.0f} [{best['tokens_per_point_low']:,.0f}, "
            f"{best['tokens_per_point_high']:,.0f}] tokens a verdict "
            f"({best['strategy']}, gain "
            f"{with_bounds(best['gain'], best['gain_low'], best['gain_high'], digits=1)} points)."
        )

    def __str__(self) -> str:
        return (
            f"\n\tPrice of a point of accuracy\n\n{self.table.to_string(index=False)}\n\n"
            f"{self.sentence()}"
        )


def price_table(judged: Judged, gain: Comparisons, declared: AnalysisPlan) -> PriceOfAccuracy:
    """Gain and cost of each strategy compared with vanilla.

    Parameters
    ----------
    judged : Judged
    gain : Comparisons
        Each strategy against vanilla.
    declared : AnalysisPlan

    Returns
    -------
    PriceOfAccuracy
    """
    rows = judged.rows.assign(tokens=judged.rows["tokens_in"] + judged.rows["tokens_out"])
    means: dict[str, dict[str, float]] = {
        str(name): {c: float(own[c].mean()) for c in ("tokens", "cost_usd", "calls")}
        for name, own in rows.groupby("factor_strategy")
    }
    base = means[REFERENCE]
    shown = {row.a for row in better_than_vanilla(gain, declared)}
    prices = []
    for row in gain.rows:
        own = means[row.a]
        points = [100 * v for v in (row.estimate, *bounds_of(row.interval))]
        prices.append(
            {
                "strategy": row.a,
                **dict(zip(("gain", "gain_low", "gain_high"), points, strict=True)),
                "calls": own["calls"],
                "tokens": own["tokens"],
                "usd": own["cost_usd"],
                **_per_point("tokens", own["tokens"] - base["tokens"], points, row.a in shown),
                **_per_point("usd", own["cost_usd"] - base["cost_usd"], points, row.a in shown),
            }
        )
    return PriceOfAccuracy(table=pd.DataFrame(prices))


def _per_point(what: str, more: float, points: Sequence[float], shown: bool) -> dict[str, float]:
    """What is spent beyond vanilla for a point gained, and for as few and as many as may be."""
    price, *bounds = (more / p if shown else math.nan for p in points)
    return {
        f"{what}_per_point": price,
        f"{what}_per_point_low": min(bounds),
        f"{what}_per_point_high": max(bounds),
    }
