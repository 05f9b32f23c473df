"""How reliable are choices of the best of several answers, by judge, temperature and benchmark?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.asked_rows import asked_row, choice_rows
from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.best_of_n_accuracy import (
    against_accuracy,
    answers_right,
    choices_right,
    omega_of_hits,
)
from judgestats.analysis.best_of_n_reliability import (
    FEWEST,
    across_judges,
    across_temperatures,
    by_benchmark,
    reliability,
)
from judgestats.analysis.described import described
from judgestats.analysis.drawings import ranked
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.recommend import MARGIN_ICC, recommend_votes
from judgestats.analysis.selections import (
    choices_of,
    condition_row,
    in_order,
    metrics_of,
    selection_limits,
    unanswered,
)
from judgestats.analysis.worded_numbers import worded_coefficient
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import heat
from judgestats.results import Headline

_QUESTION = (
    "How reliable is one choice of the best answer, how reliable are the shares of many, and how "
    "does that depend on judge, temperature and benchmark?"
)
_METRICS = {
    "vote_share": "reliability/vote_share",
    "vote_share_all": "reliability/vote_share_all",
    "vote_share_kappa": "reliability/vote_share_kappa",
    "ac1": "agreement/ac1",
    "flip_rate": "agreement/flip_rate",
    "chosen_right": "people/chosen_right",
    "chosen_preferred": "people/chosen_preferred",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions
    return AnalysisPlan(
        experiment="omega",
        question=_QUESTION,
        margins={"icc_1_1": MARGIN_ICC},
        blocks=(
            "The question is the block: all judges see the same options in the same order, drawn "
            "by seed, in all replications. Letters have no order and are not turned into numbers."
        ),
        missing=(
            "A reply without one verdict has a status and no choice. Primary: missing. Beside it: "
            "a category of its own, as the replicated study counts it."
        ),
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        hypotheses=(
            Hypothesis(
                id="reliability",
                role="primary",
                question="How reliable is one choice, and how reliable are the shares of all?",
                test="vote-share reliability (ANOVA estimator), beside its permutation null",
                family="none: estimates with intervals over questions",
            ),
            Hypothesis(
                id="temperature",
                role="secondary",
                question="Does repetition get less consistent as the temperature rises?",
                test=(
                    "Friedman test (two temperatures: Wilcoxon) on each question's share of "
                    "disagreeing pairs, and Page's test for a rise, T = 0 left out: there one draw "
                    "is repeated"
                ),
                family="one test of each kind per judge",
                adjustment="holm",
            ),
            Hypothesis(
                id="best",
                role="secondary",
                question="Which conditions may be the most reliable, and is a cheap one as "
                "reliable?",
                test="comparisons with the best on the reliability of one choice, simultaneous, "
                "jackknife over questions beside exchanges within questions; recommended is the "
                "cheapest that lies within the margin",
                family="all conditions",
                adjustment="simultaneous",
            ),
            Hypothesis(
                id="judges",
                role="secondary",
                question="Do the judges choose alike?",
                test="share of pairs of judges that agree, per replication and overall, beside "
                "its permutation null",
            ),
            Hypothesis(
                id="benchmark",
                role="secondary",
                question="And by benchmark?",
                test=f"as the reliability, for benchmarks of at least {FEWEST} questions",
                family="none: estimates with intervals over questions",
            ),
            Hypothesis(
                id="right",
                role="secondary",
                question="Are the answers right, and do choices fall on right or preferred ones?",
                test="share of answers that name the target, by author and benchmark; share of "
                "choices that do, or that fall on the preferred answer, beside a random choice",
                family="none: estimates with intervals over questions",
            ),
            Hypothesis(
                id="accuracy",
                role="secondary",
                question="Are choices repeated less where more of the answers are right?",
                test="Spearman's correlation, over questions, of the share of disagreeing pairs "
                "with the share of right answers, T = 0 left out",
                family="one test per condition",
                adjustment="holm",
            ),
            Hypothesis(
                id="repetition",
                role="descriptive",
                question="How often does asking again change the choice?",
                test="flip rate and AC1; the reliability by the kappa estimator (biased downwards "
                "for few questions); replies without a verdict as a category; McDonald's omega of "
                "hits (the right answer, else the preferred one), which are numbers",
            ),
        ),
    )


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments of a selection in one order.
    declared : AnalysisPlan

    Returns
    -------
    Analysis
    """
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    choices = choices_of(frame)
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        row = condition_row(name, asked)
        results += reliability(name, choices[name], row, declared)
        results += by_benchmark(name, choices[name], row, declared)
        results += choices_right(name, asked, row, declared)
        results += omega_of_hits(name, asked, declared)
        rows.append(row)
    table = pd.DataFrame(rows)
    compared, headlines = across_temperatures(choices, table, declared)
    results += compared
    results += across_judges(choices, table, declared)
    results += answers_right(frame, declared)
    results += against_accuracy(frame, choices, table, declared)
    recommended, best = recommend_votes(
        table, {name: c.values for name, c in choices.items()},
        next(iter(choices.values())).cluster,
        one="choice", reaches=_reaches,
        validity="Reliability is not validity: compare the choices with people or targets too.",
    )  # fmt: skip
    results += best
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=ranked(
            "vote_share",
            "chosen_preferred",
            caption="Reliability of one choice, and how often it is the preferred answer.",
        ),
        sentence=_sentence(table),
        headlines=(*audit_headlines(results), *headlines, *_described(results, table)),
        conditions=table,
        results=tuple(in_order(results, declared)),
        limitations=(*_limits(frame, table), *unanswered(results, declared)),
        recommendation=recommended,
        rows=(
            *choice_rows(table["condition"]),
            asked_row(
                "right",
                "chooses the right answer",
                "right",
                "chosen_answers_that_are_right",
                "right.target.{}",
                table["condition"],
            ),
            asked_row(
                "preferred",
                "chooses as people prefer",
                "preferred",
                "choices_of_the_preferred_answer",
                "right.preferred.{}",
                table["condition"],
            ),
        ),
        condition_metrics={str(r["condition"]): metrics_of(r, _METRICS) for r in rows},
    )


def _limits(frame: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    limits = selection_limits(frame, table)
    limits.append(
        "Every question was judged in one order of its answers, so a judge that follows place is "
        "reliable here; the experiment grade_score rotates the order."
    )
    if "chosen_right" in table:
        limits.append(
            "An answer counts as right where it names the target as whole words, wherever it does; "
            "answers that name it in passing count too."
        )
    if any(str(c).startswith("vote_share in ") for c in table.columns):
        limits.append("Benchmarks differ in questions and answers; a difference has no one cause.")
    sizes = frame.drop_duplicates("item_id")["category"].value_counts()
    few = sorted(str(c) for c, n in sizes.items() if n < FEWEST)
    if few and len(sizes) > 1:
        limits.append(
            f"{', '.join(few)}: fewer than {FEWEST} questions, not analysed apart from the others."
        )
    return limits


def _warm(table: pd.DataFrame) -> pd.DataFrame:
    """Conditions whose reliability says something: T above 0, defined and positive."""
    return table[(table["temperature"] != 0) & (table["vote_share"] > 0)]


def _reaches(row: Mapping[str, Any]) -> str:
    """How many choices reach .80 and .90."""
    few, need = float(row["judgments_for_80"]), float(row["judgments_for_90"])
    if need <= 1:
        return "one choice already reaches .90"
    first = "one choice reaches" if few <= 1 else f"the shares of {few:.0f} choices reach"
    return f"{first} .80, the shares of {need:.0f} choices .90"


def _described(results: Sequence[NamedResult], table: pd.DataFrame) -> tuple[Headline, ...]:
    """How far one choice and the shares of all can be relied on, where that says something."""
    names = [str(c) for c in _warm(table)["condition"]]
    if not names:
        return ()
    told = described(results)
    one = told.each("reliability.one.{}", names)
    all_ = told.each("reliability.all.{}", names, most=2)
    above = " above T = 0" if (table["temperature"] == 0).any() else ""
    text = f"one choice's reliability{above}: {one}; of the shares of all repeats: {all_}"
    return (told.headline("reliability", text),)


def _sentence(table: pd.DataFrame) -> str:
    usable = _warm(table)
    if usable.empty:
        return (
            "At no temperature above 0 was a choice more reliable than chance would make it; at "
            "T = 0 one draw is repeated."
        )
    parts = []
    for judge, own in usable.groupby("judge", sort=False):
        values = [
            f"{worded_coefficient(row, 'vote_share')} at {heat(row['temperature'])}"
            for row in own.to_dict("records")
        ]
        parts.append(f"{judge} {', '.join(values)}")
    return f"Reliability of one choice of the best answer: {'; '.join(parts)}."
