"""Judgments without repeats."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.agreement import (
    has_slots,
    judges_named,
    judges_results,
    passes_of_items,
    ratings_of,
    ratings_results,
)
from judgestats.analysis.families import AnalysisPlan, Hypothesis, clusters_of, shared_clusters
from judgestats.analysis.instrument import instrument_questions, instrument_results
from judgestats.analysis.records import NamedResult, condition_result
from judgestats.analysis.supplements import OF_REPEATS
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
from judgestats.stats.agreement.kappa import cohen_kappa, krippendorff_alpha
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.estimate import Estimate, Result
from judgestats.stats.validity.scores import AccuracyByK

_OF_SEVERAL = frozenset({"spread", "ratio", "shift"})


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
