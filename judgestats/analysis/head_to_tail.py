"""Accuracy as a judge sees it who knows the true answer: how high, how sure, how repeatable?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import families, selections
from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.best_of_n import repeated_choices
from judgestats.analysis.coefficients import (
    choice_rows,
    declared_row,
    metrics_of_conditions,
    ranked,
)
from judgestats.analysis.families import AnalysisPlan, ClaimedTest, Hypothesis
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.selections import Choices
from judgestats.arrays import Floats
from judgestats.data.columns import Condition, heat
from judgestats.results import About, Headline
from judgestats.stats import mean_shift, option_win_rate, wilcoxon_signed_rank
from judgestats.stats.inference.result import Estimate, Sample

_ESTIMATED = "none: estimates with intervals over questions"
_METRICS = {
    "as_judged": "people/accuracy_as_judged",
    "vote_share": "reliability/vote_share",
    "ac1": "agreement/ac1",
    "flip_rate": "agreement/flip_rate",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions
    return families.planned(
        "head_to_tail", parameters,
        Hypothesis("accuracy", "What share of the answers is called correct?",
            "share of the verdicts, interval over questions", _ESTIMATED, "primary"),
        Hypothesis("reliability", "How reliable is one verdict?",
            "vote-share reliability next to its permutation null", _ESTIMATED, "primary"),
        Hypothesis("judges", "Do judges differ in the share they call correct?",
            "Wilcoxon's test on each answer's share, pairs of judges at one temperature",
            "all pairs of judges at all temperatures"),
        Hypothesis("repetition", "How often do two repeats differ in the verdict?",
            "flip rate and AC1; both policies for replies without a verdict", role="descriptive"),
        families.published("mean over replications with its standard error across replications"),
        blocks="The answer is the block; intervals keep the answers to one question together.",
        missing="A reply without a verdict has a status. Primary: missing, neither correct nor "
        "incorrect. Next to it: not correct (for the share), a separate category (for the "
        "reliability).",
    )  # fmt: skip


_LIMITS = (
    Limit("Accuracy is that of the judge's verdicts, which no human has checked.",
          code="as_judged", short="accuracy by the judge's verdicts: no human has checked them"),
    Limit("A standard error across replications shrinks with replications and does not allow for "
          "other questions. For statements beyond these questions, use the interval over "
          "questions.", code="error_over_replications",
          short="the published standard error knows nothing of other questions"),
)  # fmt: skip


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments whose choice is ``correct`` or ``incorrect``.
    declared : AnalysisPlan

    Returns
    -------
    Analysis
    """
    choices = selections.choices_of(frame, column="choice")
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        row = selections.condition_row(name, asked)
        results += _condition(name, choices[name], row, declared)
        rows.append(row)
    table = pd.DataFrame(rows)
    estimated = audit_headlines(results)
    between, headlines = _judges(choices, table, declared)
    results += between
    results = selections.sort_results(results, declared)
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=ranked(
            "as_judged", "vote_share", caption="Share judged correct, and vote-share reliability."
        ),
        headlines=(*estimated, *headlines),
        conditions=table,
        results=tuple(results),
        limitations=(
            *selections.selection_limits(frame, table),
            *selections.unanswered(results, declared),
            *_LIMITS,
        ),
        rows=(
            declared_row("accuracy_as_judged", table["condition"], ids="accuracy.{}"),
            *choice_rows(table["condition"], one="verdict"),
        ),
        condition_metrics=metrics_of_conditions(rows, _METRICS),
    )


def _condition(
    name: str, choices: Choices, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    accuracy, strict = (
        option_win_rate(
            values, option="correct", cluster=choices.cluster, level=declared.level
        ).replace(name="accuracy_as_judged", label=label)
        for values, label in (
            (choices.values, "Accuracy as judged"),
            (choices.with_status, "Accuracy as judged, no verdict counted as not correct"),
        )
    )
    entry: selections.Entry = ("as_judged", "primary", "accuracy", "Accuracy as judged", accuracy)
    results = selections.entered(row, name, entry)
    results += repeated_choices(
        name, choices, row, declared, one="verdict", categories=["correct", "incorrect"],
        unread="repetition.category",
    )  # fmt: skip
    printed = _across_replications(choices)
    row["as_judged_se_replications"] = printed.std_error
    return results + selections.entered(
        row, name,
        ("as_judged_unread_not_correct", "descriptive", "repetition.unread",
         "Unparsed as not correct", strict),
        ("", "replicated", "published", "Mean over replications", printed),
    )  # fmt: skip


def _across_replications(choices: Choices) -> Estimate:
    """The study's figure: accuracy of each replication, their mean and its standard error."""
    read = choices.values != ""
    asked = read.sum(axis=0)
    right = (choices.values == "correct").sum(axis=0)
    shares = (right[asked > 0] / asked[asked > 0]).astype(float)

    error = float(shares.std(ddof=1) / math.sqrt(len(shares))) if len(shares) > 1 else math.nan
    return Estimate(
        name="accuracy_over_replications",
        label="Accuracy as judged, mean over replications",
        estimator="mean of the replications' shares; standard error across replications",
        estimate=float(shares.mean()) if len(shares) else math.nan,
        std_error=error,
        sample=Sample(n_items=len(choices.values), n_replications=len(shares)),
        reason="" if len(shares) else "no verdict was read",
        details={"per_replication": shares.tolist()},
    )


def _judges(
    choices: Mapping[str, Choices], table: pd.DataFrame, declared: AnalysisPlan
) -> tuple[list[NamedResult], list[Headline]]:
    """Pairs of judges at one temperature, tested on each answer's share, and what is claimed."""
    tests: dict[str, ClaimedTest] = {}
    for (temperature, *_), own in families.by_levels(table, "temperature"):
        listed = own[["condition", "judge"]].astype(str).itertuples(index=False)
        for (one, first), (two, second) in combinations(listed, 2):
            shares = np.column_stack([correct_shares(choices[c]) for c in (one, two)])
            kept = np.isfinite(shares).all(axis=1)
            if kept.sum() < 3:
                continue
            shares, cluster = shares[kept], choices[one].cluster[kept]
            more = _difference(shares, cluster, (first, second), declared.level)
            test = wilcoxon_signed_rank(
                *shares.T, names=[first, second], cluster=cluster, level=declared.level
            )
            test = test.replace(effects=(more, *test.effects))
            title = f"{first} and {second} at {heat(temperature)}"
            less = f"{second} minus {first} at {heat(temperature)}"
            tests[title] = ClaimedTest(
                result=NamedResult(f"judges.{title}", f"Share correct: {title}", "secondary", test),
                about=About(stratum=less, varied="judge", conditions=(one, two)),
                direction=families.direction_of(more.estimate),
            )
    return families.claimed_tests(
        "judges.family", tests, "share correct, pairs of judges", estimand="accuracy"
    )


def _difference(shares: Floats, cluster: Any, names: tuple[str, str], level: float) -> Estimate:
    """How much larger the share is that the second of two judges calls correct, by answer."""
    [row] = mean_shift(shares, conditions=names, cluster=cluster, level=level).rows
    return Estimate(
        name="rate_difference",
        label=f"Share called correct, {names[1]} minus {names[0]}",
        estimator="difference of shares, paired by answer",
        estimate=row.estimate,
        interval=row.interval,
        sample=Sample(n_items=len(shares)),
        reason=row.reason,
    )


def correct_shares(choices: Choices) -> Floats:
    """Share of each answer's verdicts that call it correct; NaN where none was read."""
    read = (choices.values != "").sum(axis=1)
    right = (choices.values == "correct").sum(axis=1)
    return np.where(read > 0, right / np.maximum(read, 1), np.nan)
