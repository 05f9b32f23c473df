"""Accuracy of verdicts and scores against labels, and rates and means corrected by labels."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from judgestats.analysis import coefficients, families, validity
from judgestats.analysis.agreement import (
    passes_of_items,
    ratings_of,
    ratings_results,
    true_score_of,
)
from judgestats.analysis.families import AnalysisPlan, ClaimedTest, Hypothesis
from judgestats.analysis.limits import designed_labels
from judgestats.analysis.records import Analysis, Found, NamedResult, condition_result
from judgestats.analysis.repeats import Costs, best_conditions
from judgestats.analysis.selections import condition_row, selection_limits, sort_results
from judgestats.analysis.validity_raters import annotator_results, drawn_as
from judgestats.analysis.validity_systems import SLICES, slice_results
from judgestats.analysis.verdict_audit import estimates_of
from judgestats.analysis.verdict_consistency import people_results
from judgestats.data import Condition, score_array
from judgestats.items.records import Item
from judgestats.results import Headline, Row
from judgestats.stats.inference.result import Estimate, Result, TestResult

_FAMILY = "relation to human labels, one test per condition"
_TESTED = ("people.kappa", "people.pearson")
_DESCRIBED = ("sensitivity", "specificity", "accuracy", "bias", "concordance", "corrected")
_DRAWN = "Agreement with human labels: accuracy of verdicts, and correlation of scores."
MARGIN = 0.05


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions
    scale = parameters["scale"]
    middle = (scale.low + scale.high) / 2
    drawn = "random" if parameters["labels"] == "designed" else parameters["labels_drawn"]
    pass_from = middle if parameters["pass_from"] is None else parameters["pass_from"]
    return families.planned(
        "validity", parameters,
        Hypothesis("related", "Are verdicts and scores related to human labels at all?",
            "Cohen's kappa (verdicts) or Pearson's r (scores) with human labels, p by shuffling "
            "labels over answers; over questions where these repeat", _FAMILY, "primary"),
        Hypothesis(
            "people", "How accurate is the judge, how large is its bias, and what is the human "
            "pass rate or mean of all its items?",
            "error rates, agreement, bias, and concordance; post-stratified pass rate and "
            "regression mean, each next to that of the judge and of the labels alone",
            "none: estimates with intervals over questions", "primary",
        ),
        SLICES,
        Hypothesis("best", "Which condition agrees most with human labels?",
            "differences from the best, simultaneous intervals over questions"),
        margins={"accuracy": MARGIN},
        options={
            "labels": parameters["labels"],
            "labels_drawn": drawn,
            "labelled": str(parameters["labelled"] or "all"),
            "pass_from": f"{pass_from:.10g}",
            "scale": f"{scale.low} {scale.high}",
            "mix": str(parameters["mix"]),
        },
        blocks="The answer is the block; intervals keep the answers to one question together.",
        missing="A reply without a verdict has a status; in the corrected pass rate such answers "
        "are a separate class.",
    )  # fmt: skip


def analyse(frame: pd.DataFrame, declared: AnalysisPlan, *, items: Sequence[Item] = ()) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments; ``factor_verdict`` is ``pass_fail`` or ``score``.
    declared : AnalysisPlan
    items : sequence of Item
        What was judged: designed labels and lengths come from them.

    Returns
    -------
    Analysis
    """
    texts = validity.texts_of(items)
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    metrics: dict[str, dict[str, float]] = {}
    agreement: dict[str, pd.Series] = {}
    notes: list[str] = []
    labelled: list[pd.DataFrame] = []
    steady: list[NamedResult] = []
    for condition, judged in frame.groupby("condition", sort=False):
        name = str(condition)
        asked, labelled_rows = validity.labelled_frame(judged, items, declared)
        notes += labelled_rows
        if "label" not in asked:
            continue
        labelled.append(asked)
        own_results = _condition(name, asked, declared)
        results += [_name_result(kind, title, result, name) for kind, title, result in own_results]
        results += _related(name, own_results)
        steady += validity.steady_results(name, asked, declared)
        row = condition_row(name, asked) | estimates_of(own_results)
        rows.append(row)
        metrics[name] = validity.validity_metrics(own_results)
        if set(asked["choice"]) - {""}:
            agreement[name] = _credit(asked)
            results += slice_results(name, asked, texts, declared)
    table = pd.DataFrame(rows)
    tests = {
        r.about.conditions[0]: r.result
        for r in results
        if isinstance(r.result, TestResult) and r.id.startswith("related.")
    }
    results += families.family_of_tests("related.family", tests, _FAMILY, role="primary")
    best = _best(agreement, rows, frame, declared)
    results = sort_results([*results, *best], declared)
    headlines = _headlines(results)
    analysis = Analysis(
        experiment=declared.experiment,
        question=declared.question,
        conditions=table,
        results=tuple(results),
        headlines=headlines,
        described=tuple(steady),
        drawing=coefficients.ranked("accuracy", "pearson", caption=_DRAWN),
        rows=(
            *_rows(table, drawn_as(declared), true_score_of(frame)),
            *validity.steady_rows(steady),
        ),
        limitations=(*dict.fromkeys(notes), *_limits(frame, table, declared)),
        condition_metrics=metrics,
    )
    return validity.marked_as_tuned(analysis, labelled)


def _condition(name: str, asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """What labels say of one condition."""
    if set(asked["choice"]) - {""}:
        own = validity.pass_fail_results(asked, declared)
        kinds = {kind for kind, _, _ in own}
        return [*own, *(f for f in people_results(asked, declared) if f[0] not in kinds)]
    ratings, _ = ratings_of(asked)
    array = score_array(asked)
    of_passes = passes_of_items(asked) is not None
    return [
        *ratings_results(name, array, ratings, declared, of_passes=of_passes),
        *validity.score_validity(name, array, asked, ratings, declared),
        *(() if of_passes else annotator_results(asked, declared, scores=True)),
    ]


def _name_result(kind: str, title: str, result: Result, name: str) -> NamedResult:
    key = kind.partition(".")[2]
    return condition_result(f"people.{key}", title, name, result, hypothesis="people")


def _related(name: str, results: Found) -> list[NamedResult]:
    """Whether the labels go with the verdicts at all: the null of kappa or of r as a test."""
    for kind, title, result in results:
        if kind not in _TESTED or not isinstance(result, Estimate) or result.null is None:
            continue
        null = result.null
        test = TestResult(
            name="related_to_labels",
            method=f"{title}: labels shuffled over answers",
            statistic=result.estimate,
            statistic_name="kappa" if kind == "people.kappa" else "r",
            p_value=null.p_value,
            sample=result.sample,
            alternative="greater",
            null_hypothesis="the judge's verdicts are unrelated to human labels",
            reason=null.reason,
            details={"p_floor": null.p_smallest},
        )
        return [condition_result("related", "Related to human labels", name, test)]
    return []


def _limits(frame: pd.DataFrame, table: pd.DataFrame, declared: AnalysisPlan) -> list[str]:
    designed = [designed_labels()] if declared.options["labels"] == "designed" else []
    return [*designed, *selection_limits(frame, table)]


def _credit(asked: pd.DataFrame) -> pd.Series:
    """Of each labelled answer, the share of verdicts that equal the human label."""
    present = asked[(asked["label"] != "") & (asked["choice"] != "")]
    right = (present["choice"] == present["label"]).astype(float)
    return right.groupby(present["item_id"], sort=False).mean()


def _best(
    agreement: Mapping[str, pd.Series],
    rows: Sequence[Mapping[str, Any]],
    frame: pd.DataFrame,
    declared: AnalysisPlan,
) -> tuple[NamedResult, ...]:
    table = pd.DataFrame(dict(agreement)).dropna()
    if table.shape[1] < 2 or len(table) < 3:
        return ()
    clusters = families.clusters_of(frame, table.index)
    own = [r for r in rows if r["condition"] in table]
    tokens = (frame["tokens_in"] + frame["tokens_out"]).groupby(frame["condition"]).mean()
    return best_conditions(
        {str(c): table[c].to_numpy(float) for c in table},
        clusters,
        spent=Costs.from_rows(
            [{**r, "tokens": tokens[r["condition"]], "each": r["cost_usd"] / r["n"], "one": 1.0}
             for r in own],
            USD="each", tokens="tokens", judgments="one",
        ),
        margin=MARGIN, level=declared.level,
    )  # fmt: skip


def _headlines(results: Sequence[NamedResult]) -> tuple[Headline, ...]:
    """Claims of a relation to the labels, then what is described of each condition."""
    family = [r for r in results if r.id == "related.family"]
    out = []
    for named in results:
        result = named.result
        key = named.id.removeprefix("people.").partition(".")[0]
        if isinstance(result, TestResult) and named.id.startswith("related."):
            of_kappa = result.statistic_name == "kappa"
            estimand = "cohen_kappa" if of_kappa else "pearson_correlation"
            claimed = ClaimedTest(result=named, about=named.about)
            headline = families.headline_of_test(claimed, family, estimand=estimand)
            # In no family where its p could not be computed.
            alone = math.isnan(headline.p_adjusted)
            out.append(dataclasses.replace(headline, family="") if alone else headline)
        elif isinstance(result, Estimate) and key in _DESCRIBED:
            out.append(families.described_headline(named))
    return tuple(out)


def _rows(table: pd.DataFrame, drawn: str, of_scores: str) -> tuple[Row, ...]:
    """Rows of the screen: accuracy, and the corrected rate or mean."""
    passes = table["factor_verdict"].eq("pass_fail")
    truth = partial(coefficients.true_rows, labels_drawn=drawn)
    rate, worth = truth(table.loc[passes, "condition"], "poststratified")
    mean, more = truth(table.loc[~passes, "condition"], of_scores)
    both = dataclasses.replace(worth, cells={**worth.cells, **more.cells})
    return coefficients.people_rows(table["condition"], rate, mean, both, labels_drawn=drawn)
