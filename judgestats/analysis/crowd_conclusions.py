"""Conclusions on crowd comparative evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.crowd_data import StrategyVerdicts
from judgestats.analysis.families import AnalysisPlan, Hypothesis, published
from judgestats.analysis.limits import designed_labels
from judgestats.analysis.records import NamedResult, named_results
from judgestats.analysis.selections import (
    add_estimate,
    condition_row,
    selection_limits,
    spent_on_a_verdict,
)
from judgestats.data.columns import Condition
from judgestats.items.records import Item
from judgestats.protocols.strategies import requested_strategies
from judgestats.protocols.template import pair_name
from judgestats.stats.agreement.kappa import fleiss_kappa
from judgestats.stats.agreement.position import first_position_preference, swap_consistency
from judgestats.stats.agreement.raw_agreement import mean_of_groups, mean_share, percent_agreement
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate

_FEWEST = 5
"""Questions of the smallest set for which an accuracy, and so the average, is reported."""


def describe(
    judged: StrategyVerdicts, strategy: str, declared: AnalysisPlan
) -> tuple[dict[str, Any], list[NamedResult]]:
    """Accuracy, order, repetition, length and cost of one strategy.

    Parameters
    ----------
    judged : StrategyVerdicts
    strategy : str
    declared : AnalysisPlan

    Returns
    -------
    tuple of dict and list of NamedResult
    """
    asked = judged.rows[judged.rows["factor_strategy"] == strategy]
    label = f"{strategy}, {judged.name}"
    row = condition_row(str(asked["condition"].iloc[0]), asked)
    row["k"] = int(asked["k"].iloc[0])
    row |= _means(asked)
    results = _accuracy(judged, strategy, label, row, declared)
    results += _order(judged, strategy, label, row, declared)
    results += _repeat(judged, strategy, label, row, declared)
    if strategy in declared.options["strategies"].split(","):
        return row, results
    return row, results[:1]  # the curve and the selections: in the table, accuracy in full


def _means(asked: pd.DataFrame) -> dict[str, float]:
    """Averages over the strategy's verdicts."""
    columns = ("words", "final_tokens_out", "used", "preferred", "left_out", "points")
    return {**{name: _mean(asked[name]) for name in columns}, **spent_on_a_verdict(asked)}


def _mean(values: pd.Series) -> float:
    usable = values.dropna().astype(float)
    return float(usable.mean()) if len(usable) else math.nan


def _accuracy(
    judged: StrategyVerdicts, strategy: str, label: str, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    right = judged.pair_means("right", [strategy])[:, 0]
    if np.isnan(right).all():
        row["accuracy"] = math.nan
        return []

    def share(own: Any, label: str) -> Estimate:
        return mean_share(
            right[own], cluster=judged.cluster[own], level=declared.level, name="accuracy",
            label=label,
        )  # fmt: skip

    overall = share(slice(None), f"Accuracy ({label})")
    add_estimate(row, "accuracy", overall)
    results = named_results(label, "descriptive", ("accuracy", "Accuracy", overall))
    wrong = judged.pair_means("right", [strategy], unread=0.0)[:, 0]
    row["accuracy_unread_wrong"] = float(np.nanmean(wrong))
    questions = pd.Series(judged.cluster).groupby(judged.category).nunique()
    sets = [name for name in dict.fromkeys(judged.category) if questions[name] >= _FEWEST]
    if len(questions) < 2 or len(sets) < len(questions):
        return results  # a set of a few questions says nothing of its own
    for name in sets:
        own = judged.category == name
        if np.isnan(right[own]).all():
            continue
        part = share(own, f"Accuracy on {name} ({label})")
        add_estimate(row, f"accuracy_in_{name}", part)
        results += named_results(
            label, "descriptive", (f"accuracy.in.{name}", f"Accuracy on {name}", part)
        )
    average = mean_of_groups(
        right,
        group=judged.category,
        cluster=judged.cluster,
        level=declared.level,
        name="accuracy_over_sets",
        label=f"Average accuracy of the sets ({label})",
    )
    add_estimate(row, "average", average)
    return results + named_results(
        label, "descriptive", ("accuracy.average", "Average over sets", average)
    )


def _order(
    judged: StrategyVerdicts, strategy: str, label: str, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    ab, ba = judged.choices(strategy, "ab"), judged.choices(strategy, "ba")
    if not ab.size or not ba.size or not ((ab != "").any() and (ba != "").any()):
        return []
    both = (ab != "").any(axis=1) & (ba != "").any(axis=1)
    if both.sum() < 2:
        return []  # every pair is shown in one order only
    common: dict[str, Any] = {"cluster": judged.cluster, "level": declared.level}
    swap = swap_consistency(ab, ba, **common)
    lean = first_position_preference(ab, ba, **common)
    add_estimate(row, "swap_consistency", swap)
    if lean.effect is not None:
        add_estimate(row, "first_preference", lean.effect)
    return named_results(
        label,
        "descriptive",
        ("order", "Both orders agree", swap),
        ("order.position", "Preference for the first place", lean),
    )


def _repeat(
    judged: StrategyVerdicts, strategy: str, label: str, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    """Agreement of repeated pipelines; a pair in an order is the thing judged."""
    parts = [judged.choices(strategy, order) for order in ("ab", "ba")]
    width = max(part.shape[1] for part in parts)
    if width < 2:
        return []
    full = [p for p in parts if p.shape[1] == width]
    verdicts = np.vstack(full)
    cluster = np.concatenate([judged.cluster] * len(full))
    present = (verdicts != "").sum(axis=1) > 1
    if present.sum() < 2:
        return []
    common: dict[str, Any] = {"cluster": cluster[present], "level": declared.level}
    again = percent_agreement(verdicts[present], **common)
    kappa = fleiss_kappa(verdicts[present], **common)
    add_estimate(row, "self_agreement", again)
    add_estimate(row, "fleiss_kappa", kappa)
    return named_results(
        label,
        "descriptive",
        ("repeat", "Repeated pipelines agree", again),
        ("repeat.kappa", "Kappa of repeated pipelines", kappa),
    )


MARGIN = 0.05
"""Declared margin: accuracies that differ by less than five points in a hundred."""
FAMILY = "strategies, gains over vanilla and trends over k: all judges"
"""What the answer claims; pairs of strategies beside it are adjusted within a judge."""
REFERENCE = "vanilla"
QUESTION = (
    "Is a judge more often right when other judgments stand before its verdict, how does that "
    "grow with their number, which of them help, and what does it cost?"
)


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions  # all that matters is in the parameters and the judgments
    names = {
        purpose: ",".join(listed) for purpose, listed in requested_strategies(parameters).items()
    }
    return AnalysisPlan(
        experiment="crowd",
        question=QUESTION,
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
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"accuracy": MARGIN},
        options={**names, "reference": REFERENCE},
        hypotheses=_hypotheses(),
    )


def _hypotheses() -> tuple[Hypothesis, ...]:
    return (
        Hypothesis(
            id="strategies",
            role="primary",
            question="Do the strategies differ in how often they are right?",
            test="Cochran's Q over verdicts, p by permuting strategies jointly within a question; "
            "then McNemar's exact test of every pair of strategies",
            family="pairs of strategies, within a judge",
        ),
        Hypothesis(
            id="gain",
            question="By how much does each strategy differ from the vanilla judge, and is no "
            "difference shown?",
            test="difference of mean accuracy, interval over questions; no difference needs it "
            f"within {MARGIN} (two one-sided tests)",
            family=FAMILY,
        ),
        Hypothesis(
            id="scaling",
            question="Does accuracy, or the length of the explanation, grow with the number of "
            "crowd judgments?",
            test="Page's test over k (0 is vanilla), p by permuting k jointly within a question",
            family="per judge",
            adjustment="none",
        ),
        Hypothesis(
            id="selection",
            question="Which crowd judgments help, and does removing their verdict matter?",
            test="Cochran's Q over selections with and without verdicts, at the same k; McNemar's "
            "exact test of every pair",
            family="pairs of selections, within a judge and k",
        ),
        Hypothesis(
            id="accuracy",
            role="descriptive",
            question="How often is each strategy right, on each set and on their average?",
            test="share of right verdicts with interval over questions; the average counts every "
            "set alike",
        ),
        Hypothesis(
            id="order",
            role="descriptive",
            question="Does the verdict hang on the order of the two responses?",
            test="consistency between orders, first-position preference",
        ),
        Hypothesis(
            id="repeat",
            role="descriptive",
            question="Is the final verdict the same when the whole pipeline is repeated?",
            test="agreement of repetitions and Fleiss' kappa, with interval over questions",
        ),
        Hypothesis(
            id="cost",
            role="descriptive",
            question="What does a point of accuracy cost?",
            test="tokens and dollars beyond the vanilla judge's, per point gained, where a gain is "
            "shown after adjustment; interval from that of the gain",
        ),
        Hypothesis(
            id="points",
            role="descriptive",
            question="Does the explanation make more points?",
            test="key points and words by strategy; difference from vanilla paired by pair",
        ),
        published("Tables 1, 2 and 4 of arXiv 2502.12501", question="What did the study print?"),
    )


def better_than_vanilla(gain: Comparisons, declared: AnalysisPlan) -> list[Comparison]:
    """The strategies that are shown to be right more often than the vanilla judge."""
    return [r for r in gain.rows if r.p_adjusted < 1 - declared.level and r.estimate > 0]


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


_LONGEST = 1_500


def side_by_side(
    judges: Sequence[StrategyVerdicts],
    items: Sequence[Item],
    gold: Mapping[str, str],
    declared: AnalysisPlan,
) -> dict[str, Any]:
    """The first pair that vanilla gets wrong and the last strategy named gets right.

    Such a case illustrates and proves nothing: the rule that picks it favours the strategy. Where
    there is none, the first pair on which the two differ is taken, and else the first pair.

    Parameters
    ----------
    judges : sequence of StrategyVerdicts
    items : sequence of Item
    gold : mapping of pair to label
    declared : AnalysisPlan

    Returns
    -------
    dict
        Texts, shortened; empty where there are not two strategies.
    """
    names = [n for n in declared.options["strategies"].split(",") if n]
    for judged in judges:
        other = next((n for n in reversed(names) if n in judged.strategies), REFERENCE)
        if other == REFERENCE or REFERENCE not in judged.strategies:
            continue
        rows = judged.rows[judged.rows["replicate"] == 0].set_index(["item_id", "order"])
        two = [rows[rows["factor_strategy"] == n] for n in (REFERENCE, other)]
        shared = [key for key in two[0].index if key in two[1].index]
        if not shared:
            continue
        key, why = _picked(shared, two)
        texts = _texts(items, str(key[0]))
        return {
            "judge": judged.name,
            "pair": str(key[0]),
            "order": str(key[1]),
            "label": gold[str(key[0])],
            "why": why,
            **texts,
            "verdicts": [
                {
                    "strategy": name,
                    "choice": str(own.loc[key, "choice"]) or str(own.loc[key, "status"]),
                    "right": bool(own.loc[key, "right"] == 1),
                    "judgments_before": int(own.loc[key, "used"]),
                    "explanation": _short(str(own.loc[key, "explanation"])),
                }
                for name, own in zip((REFERENCE, other), two, strict=True)
            ],
        }
    return {}


def _picked(keys: Sequence[Any], two: Sequence[pd.DataFrame]) -> tuple[Any, str]:
    right = [[float(own.loc[key, "right"]) for key in keys] for own in two]
    for key, vanilla, other in zip(keys, *right, strict=True):
        if vanilla == 0 and other == 1:
            return key, "the first pair on which vanilla is wrong and the strategy right"
    for key, vanilla, other in zip(keys, *right, strict=True):
        if vanilla != other:
            return key, "the first pair on which the two differ"
    return keys[0], "the first pair: the two never differ"


def _texts(items: Sequence[Item], pair: str) -> dict[str, str]:
    for item in items:
        for label in item.labels:
            low, high = min(label.a, label.b), max(label.a, label.b)
            if pair_name(item, (low, high)) == pair:
                return {
                    "before": _short("\n\n".join((item.context, *item.turns[:-1])).strip()),
                    "question": _short(item.question),
                    "response_a": _short(item.responses[low].text),
                    "response_b": _short(item.responses[high].text),
                }
    return {"before": "", "question": "", "response_a": "", "response_b": ""}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [...]"
