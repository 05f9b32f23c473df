"""Strategies of a judge before its verdict: how often right, how steady, at what price."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.families import AnalysisPlan, by_levels
from judgestats.analysis.records import NamedResult, named_results
from judgestats.analysis.selections import (
    condition_row,
    entered,
    share_differences,
    spent_on_a_verdict,
)
from judgestats.analysis.supplements import Rows
from judgestats.arrays import Floats, Objects
from judgestats.items.records import Item
from judgestats.protocols.strategies import strategy
from judgestats.protocols.template import pair_name
from judgestats.results import About, bounds_of, with_bounds
from judgestats.results.records import Role
from judgestats.stats.agreement.kappa import fleiss_kappa
from judgestats.stats.agreement.position import first_position_preference, swap_consistency
from judgestats.stats.agreement.raw_agreement import mean_of_groups, mean_share, percent_agreement
from judgestats.stats.comparison.paired_categories import CochranResult, cochran_q_test
from judgestats.stats.comparison.rank_correlation import page_trend_test
from judgestats.stats.inference.result import Comparisons, Result

_FEWEST = 5
"""Questions of the smallest set for which an accuracy, and so the average, is reported."""
REFERENCE = "vanilla"


def gold_labels(items: Sequence[Item]) -> dict[str, str]:
    """The label of every labelled pair by the pair's id: ``"a"`` is the earlier response."""
    gold = {}
    for item in items:
        for label in item.labels:
            turned = {"a": "b", "b": "a"}.get(label.winner, label.winner)  # a tie stays one
            winner = label.winner if label.a < label.b else turned
            gold[pair_name(item, (label.a, label.b))] = winner
    return gold


@dataclass(frozen=True, kw_only=True)
class StrategyVerdicts:
    """The verdicts of one judge at one temperature under all strategies.

    Attributes
    ----------
    name : str
        ``sim-crowd``, with the temperature where there are several.
    rows : DataFrame
        Its pipelines, with ``right`` (1, 0, NaN where there is no verdict) and ``words``.
    pairs : tuple of str
        Ids of the pairs.
    cluster, category : ndarray of object, shape (n_pairs,)
    strategies : tuple of str
    """

    name: str
    rows: pd.DataFrame
    pairs: tuple[str, ...]
    cluster: Objects
    category: Objects
    strategies: tuple[str, ...]

    def pair_means(
        self, value: str, strategies: Sequence[str], *, unread: float | None = None
    ) -> Floats:
        """A value averaged over orders and repetitions: pairs x strategies.

        Parameters
        ----------
        value : str
            A column of `rows`.
        strategies : sequence of str
        unread : float, optional
            Stands for a missing value; by default it is left out of the average.
        """
        rows = self.rows
        if unread is not None:
            rows = rows.assign(**{value: rows[value].fillna(unread)})
        wide = rows.pivot_table(
            index="item_id", columns="factor_strategy", values=value, aggfunc="mean", dropna=False
        )
        return wide.reindex(index=list(self.pairs), columns=list(strategies)).to_numpy(float)

    def verdict_table(
        self, strategies: Sequence[str], *, unread: float | None = None
    ) -> pd.DataFrame:
        """``right`` of every single verdict: (pair, order, repetition) x strategies."""
        rows = self.rows
        if unread is not None:
            rows = rows.assign(right=rows["right"].fillna(unread))
        wide = rows.pivot(
            index=["item_id", "order", "replicate"], columns="factor_strategy", values="right"
        )
        return wide.reindex(columns=list(strategies))

    def clusters_of(self, index: pd.Index) -> Objects:
        """The clusters of `verdict_table`'s rows."""
        by_pair = dict(zip(self.pairs, self.cluster, strict=True))
        return np.array([by_pair[name] for name in index.get_level_values("item_id")], dtype=object)

    def choices(self, strategy: str, order: str) -> Objects:
        """Choices in one order: pairs x repetitions; empty text where there is none."""
        own = self.rows[(self.rows["factor_strategy"] == strategy) & (self.rows["order"] == order)]
        wide = own.pivot(index="item_id", columns="replicate", values="choice")
        wide = wide.reindex(index=list(self.pairs)).astype(object)
        return wide.where(wide.notna(), "").to_numpy(object)


def strategy_verdicts(pipelines: pd.DataFrame, gold: Mapping[str, str]) -> list[StrategyVerdicts]:
    """The verdicts by judge and temperature.

    Parameters
    ----------
    pipelines : DataFrame
        As `judgestats.data.stages.StageSchedule.table` gives them.
    gold : mapping of pair to label

    Returns
    -------
    list of StrategyVerdicts
    """
    pipelines = pipelines[pipelines["item_id"].isin(gold.keys())]
    choices = pipelines["choice"].to_numpy(object)
    truth = pipelines["item_id"].map(dict(gold)).to_numpy(object)
    right = np.where(choices == "", np.nan, (choices == truth).astype(float))
    words = [
        float(len(text.split())) if choice else np.nan
        for text, choice in zip(pipelines["explanation"], choices, strict=True)
    ]
    pipelines = pipelines.assign(right=right, words=words)
    several = pipelines.groupby("judge")["temperature"].nunique(dropna=False).max() > 1
    by_judge = []
    for (judge, temperature, *wording), rows in by_levels(pipelines, "judge", "temperature"):
        once = rows.drop_duplicates("item_id")
        at = [f"T={_number(temperature)}"] if several else []
        by_judge.append(
            StrategyVerdicts(
                name=" at ".join(map(str, (judge, *at, *wording))),
                rows=rows,
                pairs=tuple(once["item_id"]),
                cluster=once["cluster"].to_numpy(object),
                category=once["category"].to_numpy(object),
                strategies=tuple(dict.fromkeys(rows["factor_strategy"])),
            )
        )
    return by_judge


def _number(value: Any) -> str:
    return "default" if pd.isna(value) else f"{float(value):g}"


def describe(
    judged: StrategyVerdicts, name: str, declared: AnalysisPlan
) -> tuple[dict[str, Any], list[NamedResult]]:
    """Accuracy, order, repetition, length and cost of one strategy.

    Parameters
    ----------
    judged : StrategyVerdicts
    name : str
        The strategy.
    declared : AnalysisPlan

    Returns
    -------
    tuple of dict and list of NamedResult
    """
    asked = judged.rows[judged.rows["factor_strategy"] == name]
    label = f"{name}, {judged.name}"
    row = condition_row(str(asked["condition"].iloc[0]), asked)
    row["k"] = int(asked["k"].iloc[0])
    for column in ("words", "final_tokens_out", "used", "preferred", "left_out", "points"):
        row[column] = float(asked[column].dropna().astype(float).mean())
    row |= spent_on_a_verdict(asked)
    results = _accuracy(judged, name, label, row, declared)
    results += _steadiness(judged, name, label, row, declared)
    if name in declared.options["strategies"].split(","):
        return row, results
    return row, results[:1]  # the curve and the selections: in the table, accuracy in full


def _accuracy(
    judged: StrategyVerdicts, name: str, label: str, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    right = judged.pair_means("right", [name])[:, 0]
    row["accuracy"] = math.nan
    if np.isnan(right).all():
        return []
    common: dict[str, Any] = {"name": "accuracy", "level": declared.level}
    overall = mean_share(right, cluster=judged.cluster, label=f"Accuracy ({label})", **common)
    results = entered(row, label, ("accuracy", "descriptive", "accuracy", "Accuracy", overall))
    wrong = judged.pair_means("right", [name], unread=0.0)[:, 0]
    row["accuracy_unread_wrong"] = float(np.nanmean(wrong))
    questions = pd.Series(judged.cluster).groupby(judged.category).nunique()
    if len(questions) < 2 or questions.min() < _FEWEST:
        return results  # a set of a few questions says nothing of its own
    for of in dict.fromkeys(judged.category):
        own = judged.category == of
        if np.isnan(right[own]).all():
            continue
        title = f"Accuracy on {of}"
        part = mean_share(
            right[own], cluster=judged.cluster[own], label=f"{title} ({label})", **common
        )
        entry = (f"accuracy_in_{of}", "descriptive", f"accuracy.in.{of}", title, part)
        results += entered(row, label, entry)  # type: ignore[arg-type]  # of literals
    average = mean_of_groups(
        right, group=judged.category, cluster=judged.cluster, level=declared.level,
        name="accuracy_over_sets", label=f"Average accuracy of the sets ({label})",
    )  # fmt: skip
    return results + entered(
        row, label,
        ("average", "descriptive", "accuracy.average", "Average over sets", average),
    )  # fmt: skip


def _steadiness(
    judged: StrategyVerdicts, name: str, label: str, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    """Agreement of both orders, and of repeated pipelines on a pair in an order."""
    ab, ba = parts = [judged.choices(name, order) for order in ("ab", "ba")]
    results: list[NamedResult] = []
    both = all(p.size for p in parts) and ((ab != "").any(axis=1) & (ba != "").any(axis=1)).sum()
    if both >= 2:  # else every pair is shown in one order only
        common: dict[str, Any] = {"cluster": judged.cluster, "level": declared.level}
        results += entered(
            row, label,
            ("swap_consistency", "descriptive", "order", "Both orders agree",
             swap_consistency(ab, ba, **common)),
            ("first_preference", "descriptive", "order.position",
             "Preference for the first place", first_position_preference(ab, ba, **common)),
        )  # fmt: skip
    width = max(part.shape[1] for part in parts)
    full = [p for p in parts if p.shape[1] == width]
    verdicts = np.vstack(full)
    present = (verdicts != "").sum(axis=1) > 1
    if width < 2 or present.sum() < 2:
        return results
    cluster = np.concatenate([judged.cluster] * len(full))[present]
    again = percent_agreement(verdicts[present], cluster=cluster, level=declared.level)
    kappa = fleiss_kappa(verdicts[present], cluster=cluster, level=declared.level)
    return results + entered(
        row, label,
        ("self_agreement", "descriptive", "repeat", "Repeated pipelines agree", again),
        ("fleiss_kappa", "descriptive", "repeat.kappa", "Kappa of repeated pipelines", kappa),
    )  # fmt: skip


def _judge_results(
    judged: StrategyVerdicts, role: Role, *rows: tuple[str, str, Result]
) -> list[NamedResult]:
    """Results of a judge; comparisons are about it."""
    about = About(stratum=judged.name)
    return [
        replace(
            named,
            about=about if isinstance(named.result, Comparisons) else named.about,
        )
        for named in named_results(judged.name, role, *rows)
    ]


def _cochran(
    judged: StrategyVerdicts,
    names: Sequence[str],
    drawn: AnalysisPlan,
    *,
    unread: float | None = None,
) -> CochranResult:
    wide = judged.verdict_table(names, unread=unread)
    return cochran_q_test(
        wide.to_numpy(float), names=list(names), cluster=judged.clusters_of(wide.index),
        **drawn.resampling,
    )  # fmt: skip


def strategy_tests(
    judged: StrategyVerdicts, declared: AnalysisPlan, drawn: AnalysisPlan
) -> list[NamedResult]:
    """Every test of a judge's strategies.

    Cochran's Q and McNemar under both policies for what could not be read, differences from vanilla
    and whether none is shown, trends of accuracy and length over k, selections at each k.

    Parameters
    ----------
    judged : StrategyVerdicts
    declared : AnalysisPlan
    drawn : AnalysisPlan
        With the permutations that the tests of the answer need.
    """
    named = conditions_of(declared, "strategies", judged)
    results: list[NamedResult] = []
    if len(named) > 1:
        primary = _cochran(judged, named, drawn)
        pairs = primary.mcnemar(level=declared.level)
        results += _judge_results(
            judged, "primary",
            ("strategies", "Right verdicts by strategy", primary),
            ("strategies.pairs", "Which strategies differ", pairs),
        )  # fmt: skip
        if judged.rows["right"].isna().any():
            strict = _cochran(judged, named, drawn, unread=0.0)
            title = "Right verdicts, a missing one counted as wrong"
            results += _judge_results(
                judged, "secondary", ("strategies.unread_wrong", title, strict)
            )
    ks = conditions_of(declared, "scaling", judged)
    asked = [REFERENCE, *(n for n in dict.fromkeys([*named, *ks]) if n != REFERENCE)]
    if REFERENCE in {*named, *ks} and len(asked) > 1:
        shifts, equal = share_differences(
            judged.pair_means("right", asked), asked, cluster=judged.cluster,
            level=declared.level, margin=declared.margins["accuracy"], reference=REFERENCE,
            quantity="accuracy, as a share of the pairs",
        )  # fmt: skip
        results += _judge_results(
            judged, "secondary",
            ("gain", "Accuracy beyond the vanilla judge's", shifts),
            ("gain.equivalence", "Is no difference from vanilla shown", equal),
        )  # fmt: skip
    against = "against the number of crowd judgments"
    for key, title, column in (
        ("scaling.accuracy", f"Accuracy {against}", "right"),
        ("scaling.length", f"Length of the explanation {against}", "words"),
    ):
        if len(ks) < 3:
            continue
        trend = page_trend_test(
            judged.pair_means(column, ks), names=[f"k={strategy(n).k}" for n in ks],
            cluster=judged.cluster, **drawn.resampling, alternative="two-sided",
        )  # fmt: skip
        results += _judge_results(judged, "secondary", (key, title, trend))
    return [*results, *_selections(judged, declared)]


def _selections(judged: StrategyVerdicts, declared: AnalysisPlan) -> list[NamedResult]:
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
        results += _judge_results(
            judged, "secondary",
            (f"selection.k{k}", f"Right verdicts by selection at k = {k}", test),
            (f"selection.pairs.k{k}", f"Which selections differ at k = {k}", pairs),
        )  # fmt: skip
    return results


def conditions_of(declared: AnalysisPlan, key: str, judged: StrategyVerdicts) -> list[str]:
    """The strategies that the plan names and that were judged."""
    return [n for n in declared.options[key].split(",") if n in judged.strategies]


@dataclass(frozen=True, kw_only=True)
class PriceOfAccuracy(Rows):
    """Gain and cost of strategies against the vanilla judge.

    One row per strategy: ``gain`` in percentage points with its interval, and ``tokens`` and
    ``usd`` per verdict. Both are also given per point of gain, with bounds from the interval of the
    gain (tokens and dollars count as known). Prices per point are NaN where the gain is not
    significant after adjustment.
    """

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
    rows = judged.rows.assign(
        tokens=judged.rows["tokens_in"] + judged.rows["tokens_out"], usd=judged.rows["cost_usd"]
    )
    spent = rows.groupby("factor_strategy")[["calls", "tokens", "usd"]].mean()
    means = {
        str(name): {str(k): float(v) for k, v in own.items()} for name, own in spent.iterrows()
    }
    prices = []
    for row in gain.rows:
        points = [100 * v for v in (row.estimate, *bounds_of(row.interval))]
        price: dict[str, Any] = {"strategy": row.a}
        price |= dict(zip(("gain", "gain_low", "gain_high"), points, strict=True)) | means[row.a]
        shown = row.p_adjusted < 1 - declared.level and row.estimate > 0
        for what in ("tokens", "usd"):
            more = means[row.a][what] - means[REFERENCE][what]
            each = [more / p if shown else math.nan for p in points]
            price[f"{what}_per_point"] = each[0]
            price[f"{what}_per_point_low"] = min(each[1:])
            price[f"{what}_per_point_high"] = max(each[1:])
        prices.append(price)
    return PriceOfAccuracy(table=pd.DataFrame(prices))
