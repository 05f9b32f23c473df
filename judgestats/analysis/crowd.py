"""Verdicts that follow other judgments: strategies, their accuracy, and their price."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis import families, selections
from judgestats.analysis.coefficients import (
    contrast_drawing,
    declared_row,
    metrics_of_conditions,
    ranked,
    results_row,
)
from judgestats.analysis.families import AnalysisPlan, ClaimedTest, Hypothesis, by_levels
from judgestats.analysis.limits import designed_labels
from judgestats.analysis.records import Analysis, NamedResult, named_results, sort_by_role
from judgestats.analysis.supplements import Rows
from judgestats.arrays import Floats, Objects
from judgestats.data.columns import Condition
from judgestats.errors import InputError
from judgestats.items.records import Item
from judgestats.protocols.strategies import requested_strategies, strategy
from judgestats.protocols.strategies.base import stage_kind
from judgestats.protocols.template import pair_name
from judgestats.results import About, Headline, Row, bounds_of
from judgestats.results.records import Role
from judgestats.stats.agreement.raw_agreement import mean_of_groups, mean_share
from judgestats.stats.comparison.matched import CochranResult
from judgestats.stats.inference.result import Comparisons, Result, TestResult

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
        wide = self._counted(unread, value).pivot_table(
            index="item_id", columns="factor_strategy", values=value, aggfunc="mean", dropna=False
        )
        return wide.reindex(index=list(self.pairs), columns=list(strategies)).to_numpy(float)

    def _counted(self, unread: float | None, value: str = "right") -> pd.DataFrame:
        rows = self.rows
        return rows if unread is None else rows.assign(**{value: rows[value].fillna(unread)})

    def verdict_table(
        self, strategies: Sequence[str], *, unread: float | None = None
    ) -> pd.DataFrame:
        """``right`` of every single verdict: (pair, order, repetition) x strategies."""
        keys = ["item_id", "order", "replicate"]
        wide = self._counted(unread).pivot(index=keys, columns="factor_strategy", values="right")
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
    words = pipelines["explanation"].astype(str).map(lambda text: len(text.split()))
    pipelines = pipelines.assign(right=right, words=words.astype(float).where(choices != ""))
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
    row = selections.condition_row(str(asked["condition"].iloc[0]), asked)
    row["k"] = int(asked["k"].iloc[0])
    for column in ("words", "final_tokens_out", "used", "preferred", "left_out", "points"):
        row[column] = float(asked[column].dropna().astype(float).mean())
    row |= selections.spent_on_a_verdict(asked)
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
    results = selections.entered(
        row, label, ("accuracy", "descriptive", "accuracy", "Accuracy", overall)
    )
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
        results += selections.entered(row, label, entry)  # type: ignore[arg-type]  # of literals
    average = mean_of_groups(
        right, group=judged.category, cluster=judged.cluster, level=declared.level,
        name="accuracy_over_sets", label=f"Average accuracy of the sets ({label})",
    )  # fmt: skip
    return results + selections.entered(
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
        results += selections.entered(
            row, label,
            ("swap_consistency", "descriptive", "order", "Both orders agree",
             stats.swap_consistency(ab, ba, **common)),
            ("first_preference", "descriptive", "order.position",
             "Preference for the first position",
             stats.first_position_preference(ab, ba, **common)),
        )  # fmt: skip
    width = max(part.shape[1] for part in parts)
    full = [p for p in parts if p.shape[1] == width]
    verdicts = np.vstack(full)
    present = (verdicts != "").sum(axis=1) > 1
    if width < 2 or present.sum() < 2:
        return results
    cluster = np.concatenate([judged.cluster] * len(full))[present]
    again = stats.percent_agreement(verdicts[present], cluster=cluster, level=declared.level)
    kappa = stats.fleiss_kappa(verdicts[present], cluster=cluster, level=declared.level)
    return results + selections.entered(
        row, label,
        ("self_agreement", "descriptive", "repeat", "Repeated pipelines agree", again),
        ("fleiss_kappa", "descriptive", "repeat.kappa", "Kappa of repeated pipelines", kappa),
    )  # fmt: skip


def _judge_results(
    judged: StrategyVerdicts, role: Role, *rows: tuple[str, str, Result]
) -> list[NamedResult]:
    """Results of a judge; comparisons are about it."""
    return [
        replace(named, about=About(stratum=judged.name))
        if isinstance(named.result, Comparisons)
        else named
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
    return stats.cochran_q_test(
        wide.to_numpy(float), names=list(names), cluster=judged.clusters_of(wide.index),
        **drawn.resampling,
    )  # fmt: skip


def strategy_tests(
    judged: StrategyVerdicts, declared: AnalysisPlan, drawn: AnalysisPlan
) -> list[NamedResult]:
    """Every test of a judge's strategies.

    Cochran's Q and McNemar under both policies for unparsed replies, differences from vanilla, and
    tests of equivalence. Trends of accuracy and length over k, and selections at each k.

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
            row = ("strategies.unread_wrong", title, strict)
            results += _judge_results(judged, "secondary", row)
    ks = conditions_of(declared, "scaling", judged)
    asked = [REFERENCE, *(n for n in dict.fromkeys([*named, *ks]) if n != REFERENCE)]
    if REFERENCE in {*named, *ks} and len(asked) > 1:
        shifts, equal = selections.share_differences(
            judged.pair_means("right", asked), asked, cluster=judged.cluster,
            level=declared.level, margin=declared.margins["accuracy"], reference=REFERENCE,
            quantity="accuracy, as a share of the pairs",
        )  # fmt: skip
        results += _judge_results(
            judged, "secondary",
            ("gain", "Accuracy beyond the vanilla judge's", shifts),
            ("gain.equivalence", "Equivalence to the vanilla judge", equal),
        )  # fmt: skip
    against = "against the number of crowd judgments"
    scaled = (
        ("scaling.accuracy", f"Accuracy {against}", "right"),
        ("scaling.length", f"Length of the explanation {against}", "words"),
    )
    for key, title, column in scaled if len(ks) > 2 else ():
        trend = stats.page_trend_test(
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


def price_table(judged: StrategyVerdicts, gain: Comparisons, declared: AnalysisPlan) -> Rows:
    """Gain and cost of each strategy compared with vanilla.

    Parameters
    ----------
    judged : StrategyVerdicts
    gain : Comparisons
        Each strategy against vanilla.
    declared : AnalysisPlan

    Returns
    -------
    Rows
        One row per strategy: ``gain`` in percentage points with its interval, and ``tokens`` and
        ``usd`` per verdict. Both are also given per point of gain, with bounds from the interval of
        the gain (tokens and dollars count as known). Prices per point are NaN where the gain is not
        significant after adjustment.
    """
    rows = judged.rows.assign(
        tokens=judged.rows["tokens_in"] + judged.rows["tokens_out"], usd=judged.rows["cost_usd"]
    )
    spent = rows.groupby("factor_strategy")[["calls", "tokens", "usd"]].mean()
    means = {
        str(name): {str(k): float(v) for k, v in own.items()} for name, own in spent.iterrows()
    }
    prices = []
    ends = ("", "_low", "_high")
    for row in gain.rows:
        points = [100 * v for v in (row.estimate, *bounds_of(row.interval))]
        price: dict[str, Any] = {"strategy": row.a}
        price |= {f"gain{end}": point for end, point in zip(ends, points, strict=True)}
        shown = row.p_adjusted < 1 - declared.level and row.estimate > 0
        for what in ("tokens", "usd"):
            more = means[row.a][what] - means[REFERENCE][what]
            first, *rest = (more / p if shown else math.nan for p in points)
            each = zip(ends, (first, min(rest), max(rest)), strict=True)
            price |= {f"{what}_per_point{end}": value for end, value in each}
        prices.append(price | means[row.a])
    return Rows(table=pd.DataFrame(prices))


MARGIN = 0.05
"""Declared margin: accuracies that differ by less than five points in a hundred."""
_DRAWN = "Accuracy of each strategy, and tokens per verdict."
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


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions  # all that matters is in the parameters and the judgments
    names = {
        purpose: ",".join(listed) for purpose, listed in requested_strategies(parameters).items()
    }
    return families.planned(
        "crowd", parameters,
        Hypothesis("strategies", "Do the strategies differ in accuracy?",
            "Cochran's Q over verdicts, p by permuting strategies jointly within a question; then "
            "McNemar's exact test of every pair of strategies",
            "pairs of strategies, within a judge", "primary"),
        Hypothesis(
            "gain", "By how much does each strategy differ from the vanilla judge, and are they "
            "equivalent?",
            "difference of mean accuracy, interval over questions; no difference needs it within "
            f"{MARGIN} (two one-sided tests)", FAMILY,
        ),
        Hypothesis(
            "scaling", "Does accuracy, or the length of the explanation, grow with the number of "
            "crowd judgments?",
            "Page's test over k (0 is vanilla), p by permuting k jointly within a question",
            "per judge", adjustment="none",
        ),
        Hypothesis(
            "selection", "Which crowd judgments help, and does removing their verdict matter?",
            "Cochran's Q over selections with and without verdicts, at the same k; McNemar's exact "
            "test of every pair", "pairs of selections, within a judge and k",
        ),
        Hypothesis(
            "accuracy", "What is the accuracy of each strategy, on each set and on their average?",
            "share of correct verdicts with interval over questions; the average weighs all sets "
            "equally", role="descriptive",
        ),
        Hypothesis("order", "Does the verdict depend on the order of the two responses?",
            "consistency between orders, first-position preference", role="descriptive"),
        Hypothesis("repeat", "Is the final verdict the same when the whole pipeline is repeated?",
            "agreement of repetitions and Fleiss' kappa, with interval over questions",
            role="descriptive"),
        Hypothesis("cost", "What does a point of accuracy cost?",
            "tokens and dollars beyond the vanilla judge's, per point gained, where a gain is "
            "shown after adjustment; interval from that of the gain", role="descriptive"),
        families.published("Tables 1, 2 and 4 of arXiv 2502.12501", "What did the study print?"),
        margins={"accuracy": MARGIN},
        options={**names, "reference": REFERENCE},
        blocks="The pair is the block: all strategies judge the same pairs in the same orders. A "
        "verdict is correct if it names the response that the label prefers. Pairs, orders and "
        "repetitions of one question are kept together in every interval and test. What "
        "Cochran's Q and McNemar's tests count as items are verdicts: a pair in one order, in "
        "one repetition. Calls that strategies share (crowd judgments, votes) are made once. "
        "They make strategies more alike than separate calls would, and each is charged for "
        "them in full.",
        missing="A crowd judgment that could not be read is not selected, one whose verdict could "
        "not be removed is not shown, and fewer than k are recorded; with none there is no final "
        "verdict. Verdicts that are missing are left out (a pair in an order is compared only "
        "where all strategies have one), and, as the second policy, counted as wrong.",
    )  # fmt: skip


def analyse(
    frame: pd.DataFrame, declared: AnalysisPlan, *, items: Sequence[Item], pipelines: pd.DataFrame
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
    gold = gold_labels(items)
    judges = strategy_verdicts(pipelines, gold)
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    tests: dict[str, NamedResult] = {}
    # So many that the smallest p-value there can be stands in the family of all that is claimed.
    asked = len(set(pipelines["factor_strategy"])) + 1
    least = math.ceil(2 * asked * len(judges) / families.LEVEL) - 1
    drawn = replace(declared, n_resamples=max(declared.n_resamples, least))
    for judged in judges:
        for name in judged.strategies:
            row, described = describe(judged, name, declared)
            rows.append(row)
            results += described
        results += (own := strategy_tests(judged, declared, drawn))
        labels = {
            f"strategies.{judged.name}": judged.name,
            f"scaling.accuracy.{judged.name}": f"{judged.name}, trend over k",
        }
        tests |= {labels[result.id]: result for result in own if result.id in labels}
    family = families.family_of_tests(
        "strategies.family",
        {k: r.result for k, r in tests.items() if isinstance(r.result, TestResult)},
        FAMILY, role="primary",
    )  # fmt: skip
    # All claims are adjusted as one family, and all tests of equivalence as another.
    results = families.jointly(
        [*results, *family], {"strategies.family", *(f"gain.{j.name}" for j in judges)},
        family=FAMILY,
    )  # fmt: skip
    results = families.jointly(
        results, {f"gain.equivalence.{j.name}" for j in judges},
        family="strategies against vanilla: all judges",
    )  # fmt: skip
    by_id = {r.id: r for r in results}
    named = {j.name: by_id[f"gain.{j.name}"].result for j in judges if f"gain.{j.name}" in by_id}
    gains = {name: gain for name, gain in named.items() if isinstance(gain, Comparisons)}
    headlines = tuple(_headlines(by_id, judges, tests))
    claims = {h.rests_on[0].replace("strategies.", "strategies.pairs."): h for h in headlines}
    results = families.restrict_results(results, claims)
    for judged in (j for j in judges if j.name in gains):
        price = price_table(judged, gains[judged.name], declared)
        title = "Price of a point of accuracy"
        results += named_results(judged.name, "descriptive", ("cost", title, price))
    table, shown = pd.DataFrame(rows), _rows(judges, gains)
    return Analysis(
        experiment="crowd",
        question=declared.question,
        drawing=contrast_drawing(shown, ranked("accuracy", "tokens", caption=_DRAWN)),
        headlines=headlines,
        conditions=table,
        results=tuple(sort_by_role(results)),
        limitations=tuple(_limits(frame, pipelines, table, items)),
        condition_metrics=metrics_of_conditions(rows, _METRICS),
        curves=_curves(table, declared),
        rows=shown,
        described=tuple(_tables(table, declared)),
    )


def _rows(judges: Sequence[StrategyVerdicts], gains: Mapping[str, Comparisons]) -> tuple[Row, ...]:
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
        for name, estimand in ((judged.name, ""), (f"{judged.name}, trend over k", "accuracy")):
            if name in tests:
                effect = getattr(tests[name].result, "effect", None) if estimand else None
                up = families.direction_of(effect.estimate) if effect is not None else ""
                claimed = ClaimedTest(result=tests[name], about=about, direction=up)
                yield families.headline_of_test(claimed, family, estimand=estimand)
        gain, equal = by_id.get(f"gain.{judged.name}"), by_id.get(f"gain.equivalence.{judged.name}")
        if gain is not None:
            rows = equal.result.rows if equal and isinstance(equal.result, Comparisons) else ()
            yield from families.headlines_of_rows(
                gain, estimand="accuracy_gain", about=about,
                alike={(r.a, r.b): r.p_adjusted for r in rows},
                beside=f"gain.equivalence.{judged.name}",
            )  # fmt: skip


def _on_curve(table: pd.DataFrame, declared: AnalysisPlan) -> pd.DataFrame:
    names = declared.options["scaling"].split(",")
    own = table[table["factor_strategy"].isin(names)]
    return own.sort_values(["judge", "temperature", "k"], ignore_index=True)


_CURVE = (
    "condition", "k", "accuracy", "accuracy_low", "accuracy_high", "words", "final_tokens_out",
    "tokens", "used",
)  # fmt: skip
_SELECTED = (
    "condition", "k", "accuracy", "accuracy_low", "accuracy_high", "preferred", "used",
)  # fmt: skip


def _tables(table: pd.DataFrame, declared: AnalysisPlan) -> Iterator[NamedResult]:
    """Accuracy by the number of judgments shown, and by their selection."""
    selected = []
    for name in filter(None, declared.options["selections"].split(",")):
        kind, _, raw = name.partition("@")[0].removeprefix("cce-").partition("-")
        own = table[table["factor_strategy"] == name].reindex(columns=_SELECTED)
        selected.append(own.assign(selection=kind, verdicts="kept" if raw else "removed"))
    curve = _on_curve(table, declared).reindex(columns=_CURVE)
    for key, what, rows in (
        ("scaling", "number", curve),
        ("selection", "selection", pd.concat(selected) if selected else pd.DataFrame()),
    ):
        if len(rows) > 1:
            title = f"Accuracy by the {what} of crowd judgments"
            yield NamedResult(f"{key}.table", title, "descriptive", Rows(table=rows))


def _curves(table: pd.DataFrame, declared: AnalysisPlan) -> dict[str, list[tuple[int, float]]]:
    rows = _on_curve(table, declared)
    several = len(rows["temperature"].unique()) > 1
    out: dict[str, list[tuple[int, float]]] = {}
    for row in rows.to_dict("records"):
        name = f"{row['judge']}_T{row['temperature']:g}" if several else row["judge"]
        for column in ("accuracy", "words"):
            value = float(row[column])
            if not math.isnan(value):
                out.setdefault(f"scaling/{column}/{name}", []).append((int(row["k"]), value))
    return out


def _limits(
    frame: pd.DataFrame, pipelines: pd.DataFrame, table: pd.DataFrame, items: Sequence[Item]
) -> list[str]:
    """What a careful reader would object to, where these data give cause."""
    limits = selections.selection_limits(pipelines, table)
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
    if cut := int(pipelines["cut"].sum()):
        limits.append(f"{cut:,} judgments were shortened before a later prompt showed them.")
    before = frame[~frame["stage"].isin(["final", "points"])]
    if lost := int((before["status"] != "ok").sum()):
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
