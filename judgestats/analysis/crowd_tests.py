"""Tests, data, and prices of crowd comparative evaluation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.crowd_conclusions import REFERENCE, better_than_vanilla
from judgestats.analysis.crowd_data import StrategyVerdicts
from judgestats.analysis.families import AnalysisPlan
from judgestats.analysis.records import NamedResult, named_results
from judgestats.analysis.selections import label_shares
from judgestats.protocols.strategies import strategy
from judgestats.results import About, bounds_of, with_bounds
from judgestats.results.records import Role
from judgestats.stats.comparison.paired_categories import cochran_q_test
from judgestats.stats.comparison.trend import page_trend_test
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.dispersion.equivalence import equivalence_of_means
from judgestats.stats.inference.result import Comparisons, Result


def strategy_results(judged: StrategyVerdicts, declared: AnalysisPlan) -> list[NamedResult]:
    """Cochran's Q and McNemar under both policies for what could not be read."""
    names = conditions_of(declared, "strategies", judged)
    if len(names) < 2:
        return []
    primary = _cochran(judged, names, declared)
    pairs = primary.mcnemar(level=declared.level)
    results = [
        *_named(judged, "primary", ("strategies", "Right verdicts by strategy", primary)),
        *_named(judged, "primary", ("strategies.pairs", "Which strategies differ", pairs)),
    ]
    if judged.rows["right"].isna().any():
        strict = _cochran(judged, names, declared, unread=0.0)
        title = "Right verdicts, a missing one counted as wrong"
        results += _named(judged, "secondary", ("strategies.unread_wrong", title, strict))
    return results


def _named(
    judged: StrategyVerdicts, role: Role, *rows: tuple[str, str, Result]
) -> list[NamedResult]:
    """Results of a judge; comparisons are about it, and what the answer rests on is marked."""
    about = About(stratum=judged.name)
    return [
        dataclasses.replace(
            named,
            headline=named.id.removesuffix(f".{judged.name}") in _ANSWERS,
            about=about if isinstance(named.result, Comparisons) else named.about,
        )
        for named in named_results(judged.name, role, *rows)
    ]


_ANSWERS = {"strategies", "gain", "scaling.accuracy"}


def _cochran(
    judged: StrategyVerdicts,
    names: Sequence[str],
    declared: AnalysisPlan,
    *,
    unread: float | None = None,
) -> Any:
    wide = judged.verdict_table(names, unread=unread)
    return cochran_q_test(
        wide.to_numpy(float),
        names=list(names),
        cluster=judged.clusters_of(wide.index),
        **declared.drawn,
    )


def gain_results(judged: StrategyVerdicts, declared: AnalysisPlan) -> list[NamedResult]:
    """Differences from vanilla, and whether none is shown."""
    asked = dict.fromkeys(
        [
            *conditions_of(declared, "strategies", judged),
            *conditions_of(declared, "scaling", judged),
        ]
    )
    if REFERENCE not in asked or len(asked) < 2:
        return []
    names = [REFERENCE, *(n for n in asked if n != REFERENCE)]
    right = judged.pair_means("right", names)
    shifts = label_shares(
        mean_shift(
            right,
            conditions=names,
            cluster=judged.cluster,
            reference=REFERENCE,
            level=declared.level,
        )
    )
    equal = equivalence_of_means(
        right,
        margin=declared.margins["accuracy"],
        conditions=names,
        cluster=judged.cluster,
        reference=REFERENCE,
    ).replace(quantity="accuracy, as a share of the pairs")
    return _named(
        judged,
        "secondary",
        ("gain", "Accuracy beyond the vanilla judge's", shifts),
        ("gain.equivalence", "Is no difference from vanilla shown", label_shares(equal)),
    )


def scaling_results(judged: StrategyVerdicts, declared: AnalysisPlan) -> list[NamedResult]:
    """Trend of accuracy and of the explanation's length over k."""
    names = conditions_of(declared, "scaling", judged)
    if len(names) < 3:
        return []
    labels = [f"k={strategy(n).k}" for n in names]
    common: dict[str, Any] = {
        "names": labels,
        "cluster": judged.cluster,
        **declared.drawn,
        "alternative": "two-sided",
    }
    accuracy, length = (
        page_trend_test(judged.pair_means(column, names), **common) for column in ("right", "words")
    )
    against = "against the number of crowd judgments"
    return _named(
        judged,
        "secondary",
        ("scaling.accuracy", f"Accuracy {against}", accuracy),
        ("scaling.length", f"Length of the explanation {against}", length),
    )


def selection_results(judged: StrategyVerdicts, declared: AnalysisPlan) -> list[NamedResult]:
    """Selections with and without verdicts, at each k."""
    results: list[NamedResult] = []
    by_k: dict[int, list[str]] = {}
    for name in conditions_of(declared, "selections", judged):
        by_k.setdefault(strategy(name).k, []).append(name)
    for k, names in by_k.items():
        if len(names) < 2:
            continue
        test = _cochran(judged, names, declared)
        pairs = test.mcnemar(level=declared.level)
        results += _named(
            judged,
            "secondary",
            (f"selection.k{k}", f"Right verdicts by selection at k = {k}", test),
            (f"selection.pairs.k{k}", f"Which selections differ at k = {k}", pairs),
        )
    return results


def point_results(judged: StrategyVerdicts, declared: AnalysisPlan) -> list[NamedResult]:
    """Key points and words beyond vanilla's."""
    names = conditions_of(declared, "strategies", judged)
    results: list[NamedResult] = []
    for column, what in (("points", "Key points"), ("words", "Words of the explanation")):
        values = judged.pair_means(column, names)
        if REFERENCE not in names or len(names) < 2 or np.isnan(values).all():
            continue
        counted = ~np.isnan(values).all(axis=1)
        if counted.sum() < 2:
            continue
        shifts = mean_shift(
            values[counted],
            conditions=names,
            cluster=judged.cluster[counted],
            reference=REFERENCE,
            level=declared.level,
        )
        title = f"{what} beyond the vanilla judge's"
        results += named_results(judged.name, "descriptive", (f"points.{column}", title, shifts))
    return results


def conditions_of(declared: AnalysisPlan, key: str, judged: StrategyVerdicts) -> list[str]:
    """The strategies that the plan names and that were judged."""
    names = [n for n in declared.options[key].split(",") if n]
    return [n for n in names if n in judged.strategies]


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
            "The cheapest point of accuracy beyond the vanilla judge costs "
            f"{best['tokens_per_point']:,.0f} [{best['tokens_per_point_low']:,.0f}, "
            f"{best['tokens_per_point_high']:,.0f}] tokens a verdict ({best['strategy']}, gain "
            f"{with_bounds(best['gain'], best['gain_low'], best['gain_high'], digits=1)} points)."
        )

    def __str__(self) -> str:
        return (
            f"\n\tPrice of a point of accuracy\n\n{self.table.to_string(index=False)}\n\n"
            f"{self.sentence()}"
        )


def price_table(
    judged: StrategyVerdicts, gain: Comparisons, declared: AnalysisPlan
) -> PriceOfAccuracy:
    """Gain and cost of each strategy compared with vanilla.

    Parameters
    ----------
    judged : StrategyVerdicts
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
