"""Accuracy as a judge sees it who knows the true answer: how high, how sure, how repeatable?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import recommendation, selections
from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.families import (
    AnalysisPlan,
    Hypothesis,
    direction_of,
    family_of_tests,
    headline_of_test,
    most_reliable,
    published,
)
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis, NamedResult, named_results
from judgestats.analysis.summary_rows import (
    choice_rows,
    declared_row,
    ranked,
)
from judgestats.data.columns import Condition
from judgestats.data.request_fields import heat
from judgestats.results import About, Claim, Headline
from judgestats.stats.agreement.chance_corrected import gwet_ac1
from judgestats.stats.agreement.order_effects import option_win_rate
from judgestats.stats.agreement.raw_agreement import flip_rate
from judgestats.stats.agreement.vote_share import vote_share_reliability
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.result import Estimate, Sample, TestResult

_QUESTION = (
    "What share of answers does a judge that knows the true answer call correct, how sure is that "
    "share, and how reliable is one verdict?"
)
_METRICS = {
    "as_judged": "people/accuracy_as_judged",
    "vote_share": "reliability/vote_share",
    "ac1": "agreement/ac1",
    "flip_rate": "agreement/flip_rate",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions
    return AnalysisPlan(
        experiment="head_to_tail",
        question=_QUESTION,
        margins={"icc_1_1": recommendation.MARGIN_ICC},
        blocks="The answer is the block; intervals keep the answers to one question together.",
        missing="A reply without a verdict has a status. Primary: missing, neither correct nor "
        "incorrect. Beside it: not correct (for the share), a category of its own (for the "
        "reliability).",
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        hypotheses=(
            Hypothesis(
                id="accuracy",
                role="primary",
                question="What share of the answers is called correct?",
                test="share of the verdicts, interval over questions",
                family="none: estimates with intervals over questions",
            ),
            Hypothesis(
                id="reliability",
                role="primary",
                question="How reliable is one verdict?",
                test="vote-share reliability beside its permutation null",
                family="none: estimates with intervals over questions",
            ),
            most_reliable("the reliability of one verdict"),
            Hypothesis(
                id="judges",
                question="Do judges differ in the share they call correct?",
                test="Wilcoxon's test on each answer's share, pairs of judges at one temperature",
                family="all pairs of judges at all temperatures",
            ),
            Hypothesis(
                id="repetition",
                role="descriptive",
                question="How often does asking again change the verdict?",
                test="flip rate and AC1; both policies for replies without a verdict",
            ),
            published("mean over replications with its standard error across replications"),
        ),
    )


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
    results += recommendation.best_votes(
        table, {name: c.values for name, c in choices.items()},
        next(iter(choices.values())).cluster,
        one="verdict",
    )  # fmt: skip
    results = selections.sort_results(results, declared)
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=ranked(
            "as_judged",
            "vote_share",
            caption="Share judged correct, and reliability of one verdict.",
        ),
        headlines=(
            *estimated,
            *headlines,
        ),
        conditions=table,
        results=tuple(results),
        limitations=(
            *selections.selection_limits(frame, table),
            *selections.unanswered(results, declared),
            Limit(
                "Accuracy is what the judge says it is; no person has checked the verdicts.",
                code="as_judged",
                short="right as the judge says it: no person has checked",
            ),
            Limit(
                "A standard error across replications shrinks with replications and knows nothing "
                "of other questions: the interval over questions is the right one for statements "
                "beyond these questions.",
                code="error_over_replications",
                short="the published standard error knows nothing of other questions",
            ),
        ),
        rows=(
            declared_row("accuracy_as_judged", table["condition"], ids="accuracy.{}"),
            *choice_rows(table["condition"], one="verdict"),
        ),
        condition_metrics={str(r["condition"]): selections.metrics_of(r, _METRICS) for r in rows},
    )


def _condition(
    name: str, choices: selections.Choices, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    common: dict[str, Any] = {"cluster": choices.cluster, "level": declared.level}
    share = option_win_rate(choices.values, option="correct", **common)
    accuracy = share.replace(name="accuracy_as_judged", label="Accuracy as judged")
    tested = {**common, "n_permutations": declared.n_resamples, "seed": declared.seed}
    one = vote_share_reliability(choices.values, **tested)
    many = vote_share_reliability(choices.values, k=None, **tested)
    ac1 = gwet_ac1(choices.values, categories=["correct", "incorrect"], **tested)
    flips = flip_rate(choices.values, **tested)
    strict = option_win_rate(choices.with_status, option="correct", **common).replace(
        name="accuracy_as_judged", label="Accuracy as judged, no verdict counted as not correct"
    )
    category = vote_share_reliability(choices.with_status, **tested)
    for key, result in (
        ("as_judged", accuracy),
        ("vote_share", one),
        ("vote_share_all", many),
        ("ac1", ac1),
        ("flip_rate", flips),
        ("as_judged_unread_not_correct", strict),
        ("vote_share_unread_a_category", category),
    ):
        selections.add_estimate(row, key, result)
    row["judgments_for_80"] = one.details.get("k_for_80", math.nan)
    row["judgments_for_90"] = one.details.get("k_for_90", math.nan)
    printed = _across_replications(choices)
    row["as_judged_se_replications"] = printed.std_error
    primary = named_results(
        name,
        "primary",
        ("accuracy", "Accuracy as judged", accuracy),
        ("reliability.one", "One verdict", one),
        ("reliability.all", "All replications", many),
    )
    described = named_results(
        name,
        "descriptive",
        ("repetition.ac1", "Agreement of repetitions", ac1),
        ("repetition.flips", "Changed verdicts", flips),
        ("repeats.needed", "Verdicts for a reliability of .90", recommendation.repeats_needed(one)),
        ("repetition.unread", "Unread as not correct", strict),
        ("repetition.category", "Unread as a category", category),
    )
    published = ("published", "Mean over replications", printed)
    return [*primary, *described, *named_results(name, "replicated", published)]


def _across_replications(choices: selections.Choices) -> Estimate:
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
    choices: Mapping[str, selections.Choices], table: pd.DataFrame, declared: AnalysisPlan
) -> tuple[list[NamedResult], list[Headline]]:
    """Pairs of judges at one temperature, tested on each answer's share, and what is claimed."""
    tests: dict[str, TestResult] = {}
    pairs: dict[str, tuple[str, str]] = {}
    differences: dict[str, Estimate] = {}
    less: dict[str, str] = {}
    for temperature, own in table.groupby("temperature", sort=False, dropna=False):
        names = [str(c) for c in own["condition"]]
        judges = [str(j) for j in own["judge"]]
        for i in range(len(names)):
            for j in range(i + 1, len(names)):
                shares = [_item_shares(choices[names[k]]) for k in (i, j)]
                kept = np.isfinite(shares[0]) & np.isfinite(shares[1])
                if kept.sum() < 3:
                    continue
                test = wilcoxon_signed_rank(
                    shares[0][kept],
                    shares[1][kept],
                    names=[judges[i], judges[j]],
                    cluster=choices[names[i]].cluster[kept],
                    level=declared.level,
                )
                title = f"{judges[i]} and {judges[j]} at {heat(temperature)}"
                differences[title] = _difference(
                    shares[1][kept], shares[0][kept], choices[names[i]].cluster[kept],
                    names=(judges[j], judges[i]), level=declared.level,
                )  # fmt: skip
                test = test.replace(effects=(differences[title], *test.effects))
                tests[title], pairs[title] = test, (names[i], names[j])
                less[title] = f"{judges[j]} less {judges[i]} at {heat(temperature)}"
    family = family_of_tests("judges.family", tests, "share correct, pairs of judges")
    results = [
        NamedResult(f"judges.{title}", f"Share correct: {title}", "secondary", test)
        for title, test in tests.items()
    ]
    headlines = [
        replace(headline, says=_SAYS.get(headline.claim, headline.says))
        for title, result in zip(tests, results, strict=True)
        for headline in [headline_of_test(
            result, family, what=f"a difference in the share called right, {less[title]}",
            estimand="accuracy",
            about=About(stratum=less[title], varied="judge", conditions=pairs[title]),
            direction=direction_of(differences[title].estimate),
        )]
    ]  # fmt: skip
    return [*results, *family], headlines


def _difference(
    one: Any, other: Any, cluster: Any, *, names: tuple[str, str], level: float
) -> Estimate:
    """How much larger the share is that the first of two judges calls correct, by answer."""
    [row] = mean_shift(
        np.column_stack([other, one]), conditions=names[::-1], cluster=cluster, level=level
    ).rows
    return Estimate(
        name="rate_difference",
        label=f"Share called correct, {names[0]} less {names[1]}",
        estimator="difference of shares, paired by answer",
        estimate=row.estimate,
        interval=row.interval,
        sample=Sample(n_items=len(one)),
        reason=row.reason,
    )


def _item_shares(choices: selections.Choices) -> Any:
    read = (choices.values != "").sum(axis=1)
    right = (choices.values == "correct").sum(axis=1)
    return np.where(read > 0, right / np.maximum(read, 1), np.nan)


_SAYS: Mapping[Claim, str] = {
    "differs": "judges differ in the share of answers that they call right",
    "open": "no difference between judges in the share that they call right is shown, nor equality",
}
