"""What a point of accuracy costs: tokens and dollars beyond the vanilla judge's."""

from __future__ import annotations

import dataclasses
import math

import pandas as pd

from judgestats.analysis.crowd_data import Judged
from judgestats.analysis.crowd_plan import REFERENCE
from judgestats.stats.notation import told
from judgestats.stats.result import Comparisons, Result

__all__ = ["PriceOfAccuracy", "price_table"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PriceOfAccuracy(Result):
    """Gain and cost of strategies beside the vanilla judge's.

    Attributes
    ----------
    table : DataFrame
        One row a strategy: ``gain`` in points (percent) with its interval, ``tokens`` and ``usd``
        of a verdict, and both per point where the interval of the gain lies above 0; NaN
        elsewhere, since the price of nothing is not defined.
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
            f"{best['tokens_per_point']:,.0f} tokens a verdict "
            f"({best['strategy']}, gain "
            f"{told(best['gain'], best['gain_low'], best['gain_high'], digits=1)} points)."
        )

    def __str__(self) -> str:
        return (
            f"\n\tPrice of a point of accuracy\n\n{self.table.to_string(index=False)}\n\n"
            f"{self.sentence()}"
        )


def price_table(judged: Judged, gain: Comparisons) -> PriceOfAccuracy:
    """Gain and cost of each strategy compared with vanilla.

    Parameters
    ----------
    judged : Judged
    gain : Comparisons
        Each strategy against vanilla.

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
    found = []
    for row in gain.rows:
        points = 100 * row.estimate
        low = 100 * row.interval.low if row.interval is not None else math.nan
        high = 100 * row.interval.high if row.interval is not None else math.nan
        own = means[row.a]
        shown = low > 0
        found.append(
            {
                "strategy": row.a,
                "gain": points,
                "gain_low": low,
                "gain_high": high,
                "calls": own["calls"],
                "tokens": own["tokens"],
                "usd": own["cost_usd"],
                "tokens_per_point": (own["tokens"] - base["tokens"]) / points
                if shown
                else math.nan,
                "usd_per_point": (own["cost_usd"] - base["cost_usd"]) / points
                if shown
                else math.nan,
            }
        )
    return PriceOfAccuracy(table=pd.DataFrame(found))
