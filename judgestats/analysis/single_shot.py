"""Judgments without repeats."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.agreement import has_slots
from judgestats.analysis.families import AnalysisPlan, Hypothesis, clusters_of, shared_clusters
from judgestats.analysis.instrument import instrument_questions, instrument_results
from judgestats.analysis.ratings import (
    judges_named,
    judges_results,
    passes_of_items,
    ratings_of,
    ratings_results,
)
from judgestats.analysis.records import NamedResult, Recommendation, condition_result
from judgestats.analysis.repeat_limits import NOT_REPEATED, OF_REPEATS, short_number
from judgestats.analysis.summary_rows import format_coefficient
from judgestats.analysis.validity import is_pass_fail, score_validity, to_pass_fail
from judgestats.analysis.validity_raters import (
    PANEL,
    annotator_results,
    panel_of_answers,
    panel_of_ratings,
)
from judgestats.analysis.validity_rates import choices_by_k, right_answers
from judgestats.analysis.validity_systems import SYSTEMS, system_results
from judgestats.analysis.verdict_consistency import orders_shown
from judgestats.data.matrices import ScoreArray
from judgestats.results.numbers import count_noun, format_number
from judgestats.stats.agreement.kappa import cohen_kappa, krippendorff_alpha
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.estimate import Estimate, Result
from judgestats.stats.planning.design import plan_study
from judgestats.stats.planning.pilot import PilotComponents
from judgestats.stats.validity.scores import AccuracyByK

_OF_SEVERAL = frozenset({"spread", "ratio", "shift"})
_ASSUMED = (0.5, 0.8)
_WIDTH = 0.2
_ITEMS = (30, 50, 75, 100, 150, 200, 300, 400)
_REPLICATIONS = (2, 3, 5)


def single_shot_conditions(frame: pd.DataFrame) -> dict[str, bool]:
    """Of each condition, whether no item has two readable scores."""
    final = frame["score"].notna() & (frame["stage"] == "final")
    read = frame.loc[final, ["condition", "item_id"]]
    sizes = read.groupby(["condition", "item_id"], sort=False).size()
    most = sizes.groupby(level="condition").max() if len(sizes) else pd.Series(dtype=int)
    return {str(c): int(most.get(c, 0)) < 2 for c in frame["condition"].unique()}


def single_shot_plan(declared: AnalysisPlan, frame: pd.DataFrame) -> AnalysisPlan:
    """The plan for scores, with what once-judged scores and people's ratings can answer.

    Parameters
    ----------
    declared : AnalysisPlan
        For repeated scores.
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    AnalysisPlan
    """
    once = single_shot_conditions(frame)
    questions = [] if all(once.values()) else list(declared.hypotheses)
    if len(once) == 1:  # nothing to compare with
        questions = [h for h in questions if h.id not in _OF_SEVERAL]
    if any(once.values()) and len(once) > 1:
        questions.append(
            Hypothesis(
                id="judges",
                role="primary",
                question="Do the judges agree on the items that several of them scored?",
                test="ICC(2,1), ICC(3,1) and Krippendorff's alpha with intervals and null; "
                "correlations and paired differences of means, by pair",
                family="pairs of conditions (differences of means)",
            )
        )
    if right_answers(frame) is not None:
        questions.append(
            Hypothesis(
                id="people",
                role="primary",
                question="How often is the best scored answer the right one, and what do repeats "
                "buy?",
                test="accuracy by number of scores averaged, over all subsets; the fewest that are "
                "shown to lose less than .01",
            )
        )
    elif passes_of_items(frame) is not None:
        questions.append(
            Hypothesis(
                id="people",
                role="primary",
                question="Do the scores tell what people pass from what they fail?",
                test="share of pairs of a passed and a failed item that scores order rightly, with "
                "interval and by number of scores; correlations, whose null shuffles labels over "
                "items; labels are of the item and are never subtracted from scores",
            )
        )
    elif len(ratings_of(frame)[0]):
        questions.append(
            Hypothesis(
                id="people",
                role="primary",
                question="Do the scores agree with people's ratings?",
                test="Pearson, Spearman and Kendall with intervals; the null shuffles ratings over "
                "items; paired difference of means. With several people their own distances, and "
                "the alternative annotator test (epsilon .1), beside",
            )
        )
    rated = len(ratings_of(frame)[0]) and passes_of_items(frame) is None
    if len(once) > 1 and (rated or right_answers(frame) is not None):
        questions.append(PANEL)
    if "author" in frame and len(ratings_of(frame)[0]):
        questions.append(SYSTEMS)
    questions += instrument_questions(frame)
    question = declared.question
    if all(once.values()):
        question = "How are these scores distributed, and do judges and people agree on them?"
    return replace(declared, question=question, hypotheses=tuple(questions))


def other_results(
    frame: pd.DataFrame, array: ScoreArray, declared: AnalysisPlan
) -> list[NamedResult]:
    """Agreement between judges where some were asked once, and with people's ratings.

    Parameters
    ----------
    frame : DataFrame
    array : ScoreArray
    declared : AnalysisPlan
        From `single_shot_plan`: what it asks is computed.

    Returns
    -------
    list of NamedResult
    """
    asked = {h.id for h in declared.hypotheses}
    results: list[NamedResult] = []
    if "judges" in asked:
        results += judges_named(judges_results(array, declared))
    for name in array.conditions if "people" in asked else ():
        results += [
            condition_result(i, title, name, result, headline=True)
            for i, title, result in choices_by_k(name, array, frame, declared)
        ]
    ratings, _ = ratings_of(frame)
    of_passes = passes_of_items(frame) is not None
    if "systems" in asked:
        results += system_results(frame, declared)
    if "panel" in asked:
        right = right_answers(frame)
        results += (
            panel_of_ratings(array, ratings, declared)
            if right is None
            else panel_of_answers(array, right, declared)
        )
    for name in array.conditions if len(ratings) else ():
        own = frame[frame["condition"] == name]
        kinds = {r.id for r in results}  # by question comes before by pairs of all items
        results += [
            condition_result(i, title, name, result, headline=True)
            for i, title, result in (
                *ratings_results(name, array, ratings, declared, of_passes=of_passes),
                *score_validity(name, array, own, ratings, declared),
                *(() if of_passes else annotator_results(own, declared, scores=True)),
            )
            if f"{i}.{name}" not in kinds
        ]  # fmt: skip
    if "instrument" in asked:
        results += instrument_results(frame, array, declared)
    return results


def described_once(
    table: pd.DataFrame, frame: pd.DataFrame, results: list[NamedResult]
) -> pd.DataFrame:
    """The table of conditions without what only repetition can tell, with the distribution.

    Parameters
    ----------
    table : DataFrame
        One row a condition.
    frame : DataFrame
        The parsed judgments.
    results : list of NamedResult
        Correlations with people join the row of their condition.

    Returns
    -------
    DataFrame
    """
    kept = [
        c for c in map(str, table) if not any(c == s or c.startswith(f"{s}_") for s in OF_REPEATS)
    ]
    rows = []
    for line in table[kept].to_dict("records"):
        row: dict[str, Any] = {str(k): v for k, v in line.items()}
        scores = frame.loc[frame["condition"] == row["condition"], "score"].dropna().to_numpy(float)
        quartiles = np.quantile(scores, [0, 0.25, 0.5, 0.75, 1]) if scores.size else [math.nan] * 5
        row |= dict(zip(("min", "q1", "median", "q3", "max"), map(float, quartiles), strict=True))
        row["sd"] = float(scores.std(ddof=1)) if scores.size > 1 else math.nan
        rows.append(row)
    return with_people(pd.DataFrame(rows), results)


def with_people(table: pd.DataFrame, results: list[NamedResult]) -> pd.DataFrame:
    """The table of conditions with each one's correlations with people's ratings, if any.

    Parameters
    ----------
    table : DataFrame
        One row a condition.
    results : list of NamedResult

    Returns
    -------
    DataFrame
    """
    named = {r.id: r.result for r in results}
    rows = []
    for line in table.to_dict("records"):
        row: dict[str, Any] = {str(k): v for k, v in line.items()}
        for method in ("pearson", "spearman", "kendall"):
            value = named.get(f"people.{method}.{row['condition']}")
            if isinstance(value, Estimate):
                row[method] = value.estimate
                bounds = value.interval
                row[f"{method}_low"] = bounds.low if bounds else math.nan
                row[f"{method}_high"] = bounds.high if bounds else math.nan
        by_k = named.get(f"people.by_k.{row['condition']}")
        if isinstance(by_k, AccuracyByK):
            row |= _accuracies(by_k) | {"of_pairs": float(by_k.of_pairs)}
        rows.append(row)
    return pd.DataFrame(rows) if rows else table


def _accuracies(by_k: AccuracyByK) -> dict[str, float]:
    """Accuracy with one judgment and with all, with the ends of its interval."""
    row = {"k": float(max(by_k.accuracy))}
    for key, k in (("accuracy", min(by_k.accuracy)), ("accuracy_all", max(by_k.accuracy))):
        of = by_k.accuracy[k]
        row[key] = of.estimate
        if of.interval is not None:
            row[f"{key}_low"], row[f"{key}_high"] = of.interval.low, of.interval.high
    return row


def format_human_correlation(row: Mapping[Any, Any]) -> str:
    """``, correlation with people's ratings .66 [.39, .84]``, where ratings are known."""
    if row.get("of_pairs", 0.0) == 1:
        return (
            f"; it scores what people pass above what they fail in "
            f"{format_coefficient(row, 'accuracy')} of pairs, with the mean of {row['k']:.0f} in "
            f"{format_coefficient(row, 'accuracy_all')}"
        )
    if not math.isnan(row.get("accuracy_all", math.nan)):
        return (
            f"; its best scored answer is the right one in {format_coefficient(row, 'accuracy')} "
            f"of the questions, with the mean of {row['k']:.0f} in "
            f"{format_coefficient(row, 'accuracy_all')}"
        )
    if math.isnan(row.get("pearson", math.nan)):
        return ""
    return f", correlation with people's ratings {format_coefficient(row, 'pearson')}"


def single_shot_sentence(table: pd.DataFrame, results: list[NamedResult]) -> str:
    """What was found, and that consistency is not known."""
    parts = []
    for row in table.to_dict("records"):
        if math.isnan(row["mean"]):
            parts.append(f"{row['condition']}: no score could be read")
            continue
        text = f"{row['condition']}: mean {short_number(row['mean'])}"
        if not math.isnan(row["sd"]):
            text += f", SD {short_number(row['sd'])}"
        text += f" ({row['n_ok']} scores)"
        parts.append(text + format_human_correlation(row))
    between = next((r.result for r in results if r.id == "judges.icc2"), None)
    if isinstance(between, Estimate) and not math.isnan(between.estimate):
        bounds = between.interval
        shown = ""
        if bounds and not (math.isnan(bounds.low) or math.isnan(bounds.high)):
            shown = f" [{short_number(bounds.low)}, {short_number(bounds.high)}]"
        parts.append(f"agreement between judges ICC(2,1) {short_number(between.estimate)}{shown}")
    return f"{'; '.join(parts)}. {NOT_REPEATED}"


@functools.cache
def _smallest_study(assumed: float, seed: int) -> Mapping[str, float] | None:
    """The fewest judgments of one judge that tell an assumed reliability closely enough."""
    return plan_study(
        PilotComponents(item_variance=assumed, residual_variance=(1 - assumed,)),
        goal="reliability",
        target_width=_WIDTH,
        items=_ITEMS,
        replications=_REPLICATIONS,
        n_simulations=200,
        seed=seed,
    ).cheapest


def repetition(frame: pd.DataFrame, *, seed: int = 0, verdicts: bool = False) -> Recommendation:
    """What a repetition would cost, and how many items and repeats a study of consistency needs.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, each asked once.
    seed : int
        Of the simulated studies.
    verdicts : bool
        Verdicts in words: what a repetition takes is told, and no study is planned.

    Returns
    -------
    Recommendation
        `cost_usd` is that of two more judgments of an item, where the costs are known.

    Notes
    -----
    The reliability is what such a study would find out, so the plan is given for two assumed
    values; the width of an interval of ICC(1) depends on nothing else but the sizes.
    """
    items = int(frame["item_id"].nunique())
    calls = frame.drop_duplicates(["condition", "item_id", "order"])
    further = 2 * len(calls)
    costs = frame["cost_usd"]
    each = float(costs.mean()) if len(costs) and costs.notna().all() else math.nan
    tokens = (frame["tokens_in"] + frame["tokens_out"]).mean()
    takes = ""
    if not math.isnan(each):
        takes = f", at ${each * further:.4g}"
    elif not math.isnan(tokens):
        takes = f", some {format_number(float(tokens) * further, digits=3)} tokens"
    sentences = []
    if verdicts:
        sentences.append(
            "No number of repeats can be advised: every verdict was asked for once, so what asking "
            "again would give is not known."
        )
    sentences.append(
        f"Judge the same {count_noun(items, 'item', 'items')} twice more with nothing changed: "
        f"{further:,} further judgments{takes}."
    )
    if not verdicts:
        sentences.append("How much that tells depends on the reliability, which is not known yet.")
    pairs = set(frame["choice"].unique()) <= {"a", "b", "tie", ""}
    if verdicts and pairs and frame["order"].nunique() < 2:
        sentences.append(
            "Judge pairs in both orders too: repeats cannot average out a liking for a place."
        )
    for assumed in () if verdicts else _ASSUMED:
        best = _smallest_study(assumed, seed)
        if best is None:
            continue
        cost = "" if not each > 0 else f", ${each * best['calls']:.4g} a judge"
        sentences.append(
            f"Were one judgment's reliability {assumed:g}, a 95 % interval no wider than "
            f"{_WIDTH:g} would take {best['items']:g} items judged {best['replications']:g} times "
            f"each{cost}."
        )
    sentences.append(
        "Repetition tells consistency, not validity: agreement with people tells more."
    )
    return Recommendation(
        sentences=tuple(sentences),
        cost_usd=None if math.isnan(each) else 2 * each,
    )


Found = list[tuple[str, str, Result]]

SHARE_OF = "share of "
_MOST_OPTIONS = 6
_MOST_JUDGES = 12


def single_run_conditions(frame: pd.DataFrame) -> dict[str, bool]:
    """Of each condition, whether no item was asked for twice in the same order."""
    sizes = frame.groupby(["condition", "order", "item_id"], sort=False).size()
    return {str(c): int(n) < 2 for c, n in sizes.groupby(level="condition").max().items()}


def single_shot_verdict_plan(declared: AnalysisPlan, frame: pd.DataFrame) -> AnalysisPlan:
    """The plan for verdicts: what these can answer, and what those asked for once can.

    Parameters
    ----------
    declared : AnalysisPlan
        For repeated verdicts.
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    AnalysisPlan
    """
    once = single_run_conditions(frame)
    labelled = "label" in frame and bool((frame["label"].astype(str).str.strip() != "").any())
    orders = frame.groupby("condition")["order"].nunique()
    answerable = {
        "reliability": not all(once.values()),
        "order": bool((orders == 2).any()),
        "slots": has_slots(frame),
        "people": labelled,
        "compare": labelled and len(once) > 1,
        "systems": labelled and "author" in frame,
        "panel": labelled and len(once) > 1,
    }
    asked = [h for h in declared.hypotheses if answerable.get(h.id, True)]
    if not any(once.values()) and not is_pass_fail(to_pass_fail(frame)):
        return replace(declared, hypotheses=tuple(asked))
    asked.insert(
        0,
        Hypothesis(
            id="verdicts",
            role="primary",
            question="How often is each verdict given?",
            test="share of items with interval over clusters",
        ),
    )
    if len(once) > 1 and any(once.values()):
        asked.append(
            Hypothesis(
                id="judges",
                role="primary",
                question="Do the judges agree on the items that several of them judged?",
                test="Krippendorff's alpha beside its null; Cohen's kappa of every pair",
            )
        )
    return replace(declared, hypotheses=tuple(asked))


def verdict_options(asked: pd.DataFrame) -> list[str]:
    """The different verdicts that were read."""
    return sorted(set(asked["choice"]) - {""})


def shares_of_verdicts(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """The share of each verdict among the items read, of one condition.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where nothing was read, or where verdicts are more than six different words.
    """
    options = verdict_options(asked)
    if not 1 <= len(options) <= _MOST_OPTIONS:
        return []
    read = asked[asked["choice"] != ""]
    clusters = read.groupby("item_id", sort=False)["cluster"].first()
    results: Found = []
    for option in options:
        share = (read["choice"] == option).groupby(read["item_id"], sort=False).mean()
        name = f"{SHARE_OF}'{option}'"
        value = mean_share(
            share.to_numpy(float),
            cluster=clusters.loc[share.index].to_numpy(object),
            level=declared.level,
            name="share",
            label=f"{name[0].upper()}{name[1:]}",
        )
        results.append((f"verdicts.{name}", f"How often '{option}' is given", value))
    return results


def judges_of_verdicts(frame: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """Agreement between conditions on the items that several of them judged.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame with choices; of repeated judgments, and of two orders, the first counts.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where fewer than three items have verdicts of two conditions.
    """
    first = frame[(frame["order"] == orders_shown(frame)[0]) & (frame["choice"] != "")]
    first = first.drop_duplicates(["condition", "item_id"])
    table = first.pivot(index="item_id", columns="condition", values="choice")
    names = [c for c in dict.fromkeys(frame["condition"]) if c in table]
    table = table[names].fillna("").astype(object)
    table = table[(table != "").sum(axis=1) >= 2]
    if not 2 <= len(names) <= _MOST_JUDGES or len(table) < 3:
        return []
    cluster = shared_clusters(clusters_of(first, table.index))
    common: dict[str, Any] = {"cluster": cluster, **declared.drawn}
    verdicts = table.to_numpy(object)
    options = sorted({*verdicts.ravel()} - {""})
    results: Found = [
        (
            "judges.alpha",
            "Agreement between judges, Krippendorff's alpha",
            krippendorff_alpha(verdicts, **common),
        )
    ]
    for i, j in itertools.combinations(range(len(names)), 2):
        pair = f"{names[i]} and {names[j]}"
        both = (verdicts[:, i] != "") & (verdicts[:, j] != "")
        if int(both.sum()) < 3:
            continue
        kappa = cohen_kappa(verdicts[:, i], verdicts[:, j], categories=options, **common)
        title = f"Agreement of two judges beyond chance ({pair})"
        results.append((f"judges.kappa.{pair}", title, kappa))
    return results
