"""Audit of scores, with or without repeats, and their agreement with other scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import agreement, coefficients, instrument, supplements, validity_raters
from judgestats.analysis.audit_answer import audit_headlines, restrict_to_claims
from judgestats.analysis.conversion import ratios_with_items, with_items
from judgestats.analysis.families import AnalysisPlan, Hypothesis
from judgestats.analysis.limits import (
    MOST_COMPARED,
    common_limits,
    limits_of_conditions,
    not_compared,
)
from judgestats.analysis.records import Analysis, NamedResult, condition_result
from judgestats.analysis.scores import ScoreConditions, cells_of, declared_conditions, runs_of
from judgestats.analysis.validity import score_validity, validity_metrics
from judgestats.analysis.validity_systems import SYSTEMS, system_results
from judgestats.arrays import Bools, Floats
from judgestats.data.columns import label
from judgestats.data.parse import WEIGHTED, ScoreArray, score_array, score_counts, scores_of
from judgestats.results import apa_number, quantity_of
from judgestats.results.numbers import count_noun
from judgestats.stats import gmd_ratio, mean_shift, spread_test
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.designs.cells import Cells
from judgestats.stats.inference import Comparisons, Estimate, TestResult
from judgestats.stats.validity.scores import AccuracyByK

_OF_SEVERAL = frozenset({"spread", "ratio", "shift"})


def single_shot_conditions(frame: pd.DataFrame) -> dict[str, bool]:
    """Of each condition, whether no item has two readable scores."""
    return {c: not (counts > 1).any() for c, counts in score_counts(frame).items()}


_JUDGES = Hypothesis(
    "judges", "Do the judges agree on the items that several of them scored?",
    "ICC(A,1), ICC(2,1), ICC(3,1), Krippendorff's alpha with intervals and null; correlations and "
    "paired differences of means, by pair", "pairs of conditions (differences of means)", "primary",
)  # fmt: skip
_BEST_SCORED = Hypothesis(
    "people", "How often is the best scored answer the correct one, and how much do repeats "
    "improve it?",
    "accuracy by number of scores averaged, over all subsets; the fewest that are non-inferior "
    "(margin .01)", role="primary",
)  # fmt: skip
_SEPARATED = Hypothesis(
    "people", "Do the scores separate human passes from human fails?",
    "ROC AUC with interval. Correlations, whose null permutes labels over "
    "items. Labels are never subtracted from scores", role="primary",
)  # fmt: skip
_RATED = Hypothesis(
    "people", "Do the scores agree with human ratings?",
    "Pearson, Spearman, and Kendall with intervals (the null shuffles ratings over items), and the "
    "paired difference of means. With several human raters also their mutual distances and the "
    "alternative annotator test (epsilon .1)", role="primary",
)  # fmt: skip


def single_shot_plan(declared: AnalysisPlan, frame: pd.DataFrame) -> AnalysisPlan:
    """The plan for scores, with what once-judged scores and human ratings can answer.

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
    rated = bool(len(agreement.ratings_of(frame)[0]))
    of_passes = agreement.passes_of_items(frame) is not None
    of_answers = validity_raters.right_answers(frame) is not None
    questions = [] if all(once.values()) else list(declared.hypotheses)
    if len(once) == 1:  # nothing to compare with
        questions = [h for h in questions if h.id not in _OF_SEVERAL]
    if any(once.values()) and len(once) > 1:
        questions.append(_JUDGES)
    if of_answers or of_passes or rated:
        questions.append(_BEST_SCORED if of_answers else _SEPARATED if of_passes else _RATED)
    if len(once) > 1 and rated and not (of_passes or of_answers):
        questions.append(validity_raters.PANEL)
    if "author" in frame and rated:
        questions.append(SYSTEMS)
    questions += instrument.instrument_questions(frame)
    question = declared.question
    if all(once.values()):
        question = "How are these scores distributed, and do judges and people agree on them?"
    return replace(declared, question=question, hypotheses=tuple(questions))


def other_results(
    frame: pd.DataFrame, array: ScoreArray, declared: AnalysisPlan
) -> list[NamedResult]:
    """Agreement between judges where some were judged once, and with human ratings.

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
        results += agreement.judges_named(agreement.judges_results(array, declared))
    for name in array.conditions if "people" in asked else ():
        by_k = validity_raters.choices_by_k(name, array, frame, declared)
        results += [condition_result(i, title, name, result) for i, title, result in by_k]
    ratings, _ = agreement.ratings_of(frame)
    of_passes = agreement.passes_of_items(frame) is not None
    if "systems" in asked:
        results += system_results(frame, declared)
    if "panel" in asked:
        results += validity_raters.panel_of_ratings(array, ratings, declared)
    for name in array.conditions if len(ratings) else ():
        own = frame[frame["condition"] == name]
        kinds = {r.id for r in results}  # by question comes before by pairs of all items
        results += [
            condition_result(i, title, name, result)
            for i, title, result in (
                *agreement.ratings_results(name, array, ratings, declared, of_passes=of_passes),
                *score_validity(name, array, own, ratings, declared),
                *(
                    () if of_passes
                    else validity_raters.annotator_results(own, declared, scores=True)
                ),
            )
            if f"{i}.{name}" not in kinds
        ]  # fmt: skip
    if "instrument" in asked:
        results += instrument.instrument_results(frame, array, declared)
    return results


def described_once(
    table: pd.DataFrame, frame: pd.DataFrame, results: list[NamedResult]
) -> pd.DataFrame:
    """The table of conditions without what only repetition can tell, with the distribution.

    Parameters
    ----------
    table : DataFrame
        One row per condition.
    frame : DataFrame
        The parsed judgments.
    results : list of NamedResult
        Correlations with human labels join the row of their condition.

    Returns
    -------
    DataFrame
    """
    kept = [
        c
        for c in map(str, table)
        if not any(c == s or c.startswith(f"{s}_") for s in supplements.OF_REPEATS)
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
    """The table of conditions with each one's correlations with human ratings, if any.

    Parameters
    ----------
    table : DataFrame
        One row per condition.
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
                names = (method, f"{method}_low", f"{method}_high")
                row |= dict.fromkeys(names, math.nan) | coefficients.columns_of(method, value)
        by_k = named.get(f"people.by_k.{row['condition']}")
        if isinstance(by_k, AccuracyByK):
            least, most = min(by_k.accuracy), max(by_k.accuracy)
            row |= {"k": float(most), **coefficients.columns_of("accuracy", by_k.accuracy[least])}
            row |= coefficients.columns_of("accuracy_all", by_k.accuracy[most])
        rows.append(row)
    return pd.DataFrame(rows) if rows else table


def audit_scores(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Audit scores, as `declared` asks; a frame of single shots is audited without consistency."""
    validity_raters.check_rates(frame, declared)
    described, array = declared_conditions(frame, declared)
    once = single_shot_conditions(frame)
    others = other_results(frame, array, declared)
    if all(once.values()):
        return _audit_once(frame, array, described, others, declared)
    results = [
        replace(r, role="primary" if quantity_of(r.result.name).primary else "secondary")
        for r in described.results
        if isinstance(r.result, Estimate) and not once[r.about.conditions[0]]
    ]
    cells = with_people(described.table, others)
    compared, left_out = _compare(frame, array, described.cells, declared)
    results += [*others, *compared]
    headlines = audit_headlines(results, n_criteria=declared.n_criteria)
    own_metrics = described.metrics[cells["condition"].iloc[0]] if len(cells) == 1 else {}
    test = next((r.result for r in compared if r.id == "spread.all"), None)
    spread = {"spread/p_value": test.p_value} if isinstance(test, TestResult) else {}
    analysis = _with_people_shown(frame, declared, Analysis(
        experiment="audit",
        question=declared.question,
        drawing=coefficients.ranked(*coefficients.DRAWN_SCORES),
        headlines=headlines,
        conditions=cells,
        results=tuple(restrict_to_claims(results, headlines)),
        limitations=(
            *common_limits(frame, cells, array),
            *not_compared(int((cells["temperature"] != 0).sum())),
            *supplements.repeat_limits(frame),
        ),
        described=described.estimates,
        condition_records=tuple(
            replace(c, estimates={
                k: v for k, v in c.estimates.items()
                if not (once[c.label] and v.startswith("reliability."))
            })
            for c in described.conditions
        ),
        rows=coefficients.score_rows(cells["condition"]),
        metrics={**own_metrics, **spread},
        condition_metrics=_and_people(described.metrics, cells, others),
    ))  # fmt: skip
    omitted = (f"Left out: {text}" for text in left_out)
    return replace(analysis, limitations=(*analysis.limitations, *omitted))


def _with_people_shown(frame: pd.DataFrame, declared: AnalysisPlan, analysis: Analysis) -> Analysis:
    """An audit with the limits and rows of human labels, and of the judge as an instrument."""
    results = list(analysis.results)
    return replace(
        analysis,
        limitations=(
            *analysis.limitations,
            *supplements.label_limits(frame),
            *agreement.judges_limits(results),
            *instrument.leniency_limits(results, declared.level),
            *instrument.instrument_limits(frame, declared, results),
        ),
        rows=(
            *analysis.rows,
            *coefficients.people_rows(
                analysis.conditions["condition"],
                corrected=agreement.true_score_of(frame),
                labels_drawn=validity_raters.drawn_as(declared),
            ),
            *instrument.instrument_rows(frame, results),
        ),
    )


def _audit_once(
    frame: pd.DataFrame,
    array: ScoreArray,
    described: ScoreConditions,
    results: list[NamedResult],
    declared: AnalysisPlan,
) -> Analysis:
    """The audit of scores of which none was repeated: all except consistency."""
    table = described_once(described.table, frame, results)
    limits = limits_of_conditions(
        described.table, n_clusters=len(set(array.clusters)), sizes=np.zeros(0, dtype=np.int64)
    )
    metrics = {
        name: {k: v for k, v in values.items() if k in _ONCE_METRICS}
        for name, values in described.metrics.items()
    }
    return _with_people_shown(frame, declared, Analysis(
        experiment="audit",
        question=declared.question,
        drawing=coefficients.ranked(*coefficients.DRAWN_SCORES),
        headlines=audit_headlines(results),
        conditions=table,
        results=tuple(results),
        limitations=(supplements.UNREPEATED, *supplements.constant_limits(table), *limits),
        described=tuple(r for r in described.estimates if r.id.startswith("condition.mean.")),
        rows=(coefficients.score_rows(table["condition"])[-1],),
        condition_metrics=_and_people(metrics, table, results),
    ))  # fmt: skip


def _and_people(
    metrics: Mapping[str, Mapping[str, float]], table: pd.DataFrame, results: list[NamedResult]
) -> dict[str, dict[str, float]]:
    """Each condition's metrics with what human ratings say of it, where there are some."""
    out = {
        name: dict(values)
        | validity_metrics(
            (r.id.removesuffix(f".{name}"), r.title, r.result)
            for r in results
            if r.id.endswith(f".{name}")
        )
        | instrument.instrument_metrics(results, name)
        for name, values in metrics.items()
    }
    for row in table.to_dict("records"):
        if not math.isnan(row.get("pearson", math.nan)):
            out[str(row["condition"])]["people/pearson"] = row["pearson"]
    return out


_ONCE_METRICS = {
    "score/mean", "ci/score/mean.lo", "ci/score/mean.hi", "quality/unread_share",
    "quality/unanswered_share", "cost/usd", "cost/latency_s", "cost/tokens_out",
}  # fmt: skip


def score_comparisons(frame: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """The paired comparisons of the conditions of a frame of scores, as an audit makes them."""
    array = score_array(frame)
    return _compare(frame, array, cells_of(array), declared)[0]


MOST_CELLS = 100_000
"""Cells up to which rank tests and permutations of cells are computed; about half a minute."""
_DEVIATIONS = "Deviations of repeats, all conditions"


def _compare(
    frame: pd.DataFrame, array: ScoreArray, cells: Cells, declared: AnalysisPlan
) -> tuple[list[NamedResult], list[str]]:
    """Comparisons of conditions that share items, of spread, SDs, and means; what was left out.

    At T = 0 the spread is 0 by construction: such conditions are compared in their means alone.
    """
    cold = set(frame.loc[frame["temperature"].eq(0), "condition"])
    warm = [name not in cold for name in array.conditions]
    places = [i for i, is_warm in enumerate(warm) if is_warm]
    listed: list[tuple[str, str, TestResult | Comparisons]] = []
    left_out: list[str] = []
    shifts: Comparisons | None = None
    sampled = cells.of(places) if 2 <= len(places) <= MOST_COMPARED else None
    if sampled is not None and _shared(sampled).sum() >= _LEAST_SHARED:
        runs = runs_of(frame, array, places)
        how: dict[str, Any] = {"runs": runs, "level": declared.level}
        if sampled.mean.size <= MOST_CELLS:
            found = spread_test(
                sampled, runs=runs, n_resamples=declared.n_resamples, **declared.resampling
            )
            found, shifts = with_items(found, array.items), found.shifts
            listed += [
                ("spread.all", _DEVIATIONS, found.blocked_f),
                ("ranks.all", "Ranks of deviations of repeats", found.rank_test),
                *((f"posthoc.{f.name}", "Which conditions", f) for f in found.post_hoc),
            ]
            ratios = found.gmd_ratios
        else:
            ratios = ratios_with_items(gmd_ratio(sampled, seed=declared.seed, **how), array.items)
            shifts = mean_shift(sampled, runs=runs, level=declared.level)
            listed.append(("spread.all", _DEVIATIONS, _blocked(sampled, declared)))
            left_out.append(
                f"rank tests of spread and permutations of cells: {sampled.mean.size:,} cells are "
                f"more than the {MOST_CELLS:,} up to which they are drawn. The p of the blocked F "
                "test is that of the F distribution, to which the permutation distribution tends."
            )
        target = max((two.target_of_dispersion for two in runs.pairs), default="") if runs else ""
        listed = [
            (name, title, test.replace(details={**test.details, "target": target}))
            for name, title, test in listed
        ]
        listed += [] if ratios is None else [("gmd.all", "GMD ratios", ratios)]
        sd_ratios = ratios_with_items(gmd_ratio(sampled, statistic="sd", **how), array.items)
        listed.append(("sd.all", "SD ratios", sd_ratios))
    every = len(places) < len(warm) and 2 <= len(warm) <= MOST_COMPARED
    if every and _shared(cells).sum() >= _LEAST_SHARED:
        shifts = mean_shift(cells, runs=runs_of(frame, array), level=declared.level)
    listed += [] if shifts is None else [("shift.all", "Differences of mean scores", shifts)]
    return [
        NamedResult(
            identity, title, "secondary", result,
            hypothesis=_ANSWERS.get(identity.partition(".")[0], ""),
        )
        for identity, title, result in listed
    ], left_out  # fmt: skip


_LEAST_SHARED = 3


def _shared(cells: Cells) -> Bools:
    """The items with two scores in each condition."""
    shared: Bools = np.all(cells.n_scores >= 2, axis=1)
    return shared


def _blocked(cells: Cells, declared: AnalysisPlan) -> TestResult:
    """The primary test of `spread_test`, its p by the F distribution."""
    return blocked_f_test(
        cells.from_mean, conditions=cells.conditions, cluster=cells.cluster, n_permutations=0,
        level=declared.level,
    ).replace(
        name="spread_blocked_f",
        method="Blocked F test of spread: mean distance from the cell mean",
        null_hypothesis="the condition does not matter for the spread of judgments",
        alternative="the spread of judgments differs between some conditions",
        sample=cells.sample(_shared(cells), reason="fewer than 2 scores in some condition"),
    )  # fmt: skip


_ANSWERS = {"ranks": "spread", "posthoc": "spread", "gmd": "spread", "sd": "ratio"}
"""Hypotheses of results whose ids do not begin with them."""


_COLUMN = "weighted_score"
_SAME = 0.01
"""Points of the scale: below it two weighted scores of an answer are the same."""


def first_weighted(asked: pd.DataFrame, items: Sequence[str]) -> Floats | None:
    """The weighted score of each thing's first call, one column; None where none was reported.

    One call is all there is to it: another gives the same probabilities.

    Examples
    --------
    >>> asked = pd.DataFrame({"item_id": ["a", "a"], "replicate": [0, 1]})
    >>> first_weighted(asked, ["a"]) is None
    True
    >>> first_weighted(asked.assign(weighted_score=[7.5, 7.6]), ["a"]).tolist()
    [[7.5]]
    """
    if _COLUMN not in asked or asked[_COLUMN].isna().all():
        return None
    every = scores_of(asked, items, values=_COLUMN)
    first: Floats = every[np.arange(len(every)), (~np.isnan(every)).argmax(axis=1)]
    return first[:, None]


def weighted_limitations(frame: pd.DataFrame) -> list[str]:
    """What a reader must know of weighted scores: the mass elsewhere, temperature, repetition.

    Examples
    --------
    >>> weighted_limitations(pd.DataFrame({"score": [7.0]}))
    []
    """
    if not set(WEIGHTED) <= set(frame.columns) or frame["scale_mass"].isna().all():
        return []
    weighted = frame[frame["scale_mass"].notna()]
    mass = weighted["scale_mass"]
    told_by = (
        "Weighted scores come from the probabilities of a score's tokens, reported for "
        f"{len(weighted):,} of {count_noun(len(frame), 'reply', 'replies')}. The scale's tokens "
        f"hold {apa_number(float(mass.mean()), bounded=True)} of the probability on average, "
        f"{apa_number(float(mass.min()), bounded=True)} at least. Other tokens hold the rest."
    )
    repeated = (
        "A repeated call gives the same probabilities: that weighted scores repeat is fixed "
        "randomness. It is not shown as reliability, and weighted scores are neither compared with "
        "sampled ones in a test nor recommended."
    )
    return [told_by, _probability_note(weighted), repeated]


def _probability_note(rows: pd.DataFrame) -> str:
    """Whether the probabilities precede temperature, as far as the data say."""
    present = rows[rows[_COLUMN].notna() & rows["temperature"].notna()]
    factors = [c for c in present.columns if c.startswith("factor_") and c != "factor_method"]
    keys = ["judge", "item_id", "order", "stage", *factors]
    wide = present.pivot_table(index=keys, columns="temperature", values=_COLUMN)
    wide = wide.dropna()
    if wide.shape[1] < 2 or not len(wide):
        return (
            "Temperature may or may not apply to the probabilities: there is one temperature, or "
            "no answer weighted at all of them. `judgestats endpoint` tests this."
        )
    heats = [label("temperature", t) for t in (wide.columns.min(), wide.columns.max())]
    apart = float((wide.max(axis=1) - wide.min(axis=1)).abs().median())
    if apart < _SAME:
        return (
            f"Temperature does not apply to the probabilities: weighted scores are equal at "
            f"{heats[0]} and {heats[1]}."
        )
    return (
        f"Temperature applies to the probabilities: between {heats[0]} and {heats[1]} "
        f"weighted scores of an answer differ by {apa_number(apart)} points (median)."
    )
