"""Choices of the best of several answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.best_of_n_reliability import (
    FEWEST,
    across_judges,
    across_temperatures,
    benchmark_reliability,
    disagreement,
    reliability,
)
from judgestats.analysis.families import (
    AnalysisPlan,
    Hypothesis,
    clusters_of,
    most_reliable,
    shared_clusters,
)
from judgestats.analysis.recommendation import MARGIN_ICC, best_votes
from judgestats.analysis.records import Analysis, NamedResult, named_results, results_by_subject
from judgestats.analysis.scores import omega_declared
from judgestats.analysis.selections import (
    Choices,
    add_estimate,
    choices_of,
    condition_row,
    metrics_of,
    selection_limits,
    share_result,
    sort_results,
    unanswered,
)
from judgestats.analysis.summary_rows import (
    choice_rows,
    declared_row,
    ranked,
    results_row,
)
from judgestats.data.columns import Condition
from judgestats.stats.agreement.order_effects import option_win_rate
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.comparison.rank_correlation import spearman_correlation
from judgestats.stats.inference.multiplicity import adjust_family
from judgestats.stats.inference.result import Estimate, TestResult
from judgestats.stats.reliability.omega import omega_total


def _share(asked: pd.DataFrame, hit: Any, label: str, level: float) -> Estimate:
    """Share of the verdicts read that hit, clustered by question."""
    marked = asked.assign(hit=np.where(hit, "yes", "no"))
    wide = marked.pivot(index="item_id", columns=["order", "replicate"], values="hit")
    cluster = clusters_of(asked, wide.index)
    win_rate = option_win_rate(wide.to_numpy(object), option="yes", cluster=cluster, level=level)
    return win_rate.replace(name=label.lower().replace(" ", "_"), label=label)


def choices_right(
    name: str, asked: pd.DataFrame, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    """Choices against targets and people, where the data know them, beside a random choice.

    Only questions with right and wrong answers can tell; on the others every choice is the same.

    Parameters
    ----------
    name : str
        The condition.
    asked : DataFrame
        Its judgments.
    row : dict
        Its row, which is added to.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
    """
    results = []
    if "chosen_right" in asked:
        rows = asked[asked["chosen_right"] != ""]
        right, judged = (pd.to_numeric(rows[c]) for c in ("options_right", "options_judged"))
        rows = rows.assign(chance=right / judged)
        if len(rows):
            row["answers_right"] = float(rows.drop_duplicates("item_id")["chance"].mean())
        mixed = rows[(right > 0) & (right < judged)]
        if len(mixed):
            hit = mixed["chosen_right"] == "1"
            share = _share(mixed, hit, "Chosen answers that are right", declared.level)
            chance = float(mixed["chance"].mean())
            add_estimate(row, "chosen_right", share)
            row["chosen_right_by_chance"] = chance
            results.append(
                share_result(f"right.target.{name}", "Chosen answers right", name, share, chance)
            )
    if "preferred" in asked:
        rows = asked[asked["preferred"] != ""]
        if len(rows):
            hit = rows["choice"] == rows["preferred"]
            share = _share(rows, hit, "Choices of the preferred answer", declared.level)
            chance = float((1 / (1 + rows["options"].str.count(r"\|"))).mean())
            add_estimate(row, "chosen_preferred", share)
            row["chosen_preferred_by_chance"] = chance
            title = "Choices of the preferred answer"
            results.append(share_result(f"right.preferred.{name}", title, name, share, chance))
    return results


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """One row an item whose answers can be held to a target, with the share that is right."""
    if not {"options_judged", "right"} <= set(frame.columns):
        return frame.iloc[:0].assign(share=[])
    rows = frame[frame["options_judged"] != ""].drop_duplicates("item_id").set_index("item_id")
    return rows.assign(
        share=pd.to_numeric(rows["options_right"]) / pd.to_numeric(rows["options_judged"])
    )


def omega_of_hits(name: str, asked: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """McDonald's omega of hits over replications: letters have no covariances, hits have.

    Parameters
    ----------
    name : str
        The condition.
    asked : DataFrame
        Its judgments.
    declared : AnalysisPlan
        Whose option ``omega_model`` names a model beside the parallel one.

    Returns
    -------
    list of NamedResult
        Of choosing the right answer, where the data know it of questions with right and wrong
        ones, else the preferred one; none where neither is known of `FEWEST` questions.
    """
    for kind, open_rows, hit in _hits(asked):
        marked = open_rows.assign(
            hit=np.where(open_rows["choice"] != "", hit.astype(float), np.nan)
        )
        wide = marked.pivot(index="item_id", columns="replicate", values="hit")
        if len(wide) < FEWEST or wide.shape[1] < 2:
            continue
        cluster = shared_clusters(clusters_of(open_rows, wide.index))
        common: dict[str, Any] = {"cluster": cluster, **declared.drawn}
        scores = wide.to_numpy(float)
        model = str(declared.options.get("omega_model", "parallel"))
        omegas: list[tuple[str, str, Estimate]] = [
            ("omega", "", omega_total(scores, null=True, **common))
        ]
        omegas += [
            (f"omega_{model}", f" under the {model} model", value)
            for value in omega_declared(scores, model, **common)
        ]
        what = f"Omega of choosing the {kind} answer"
        return named_results(
            name,
            "descriptive",
            *((f"repetition.{key}", f"{what}{under}", value) for key, under, value in omegas),
        )
    return []


def _hits(asked: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, pd.Series]]:
    """What of an answer is known, the judgments of which it is, and whether they hit it."""
    if "chosen_right" in asked:
        right, judged = (
            pd.to_numeric(asked[c], errors="coerce") for c in ("options_right", "options_judged")
        )
        # Known of the options, so that an unread choice stays with its question.
        rows = asked[(right > 0) & (right < judged)]
        yield "right", rows, rows["chosen_right"] == "1"
    if "preferred" in asked:
        rows = asked[asked["preferred"] != ""]
        yield "preferred", rows, rows["choice"] == rows["preferred"]


def answers_right(frame: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """How many answers are right: by author, by benchmark, and of all.

    Parameters
    ----------
    frame : DataFrame
        All judgments; the same answers are shown in every condition.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        None where fewer than five questions have a target.
    """
    once = _once(frame)
    if len(once) < FEWEST:
        return []
    shares: dict[str, tuple[str, pd.Series]] = {"all": ("all answers", once["share"])}
    benchmarks = list(dict.fromkeys(once["category"]))
    if len(benchmarks) > 1:
        for benchmark in benchmarks:
            own = once.loc[once["category"] == benchmark, "share"]
            if len(own) < FEWEST:
                continue
            shares[f"benchmark.{benchmark}"] = (f"answers on {benchmark}", own)
    shown = once["options"].str.split("|")
    right = once["right"].str.split("|")
    authors = list(dict.fromkeys(a for listed in shown for a in listed))
    if len(authors) <= _MOST_AUTHORS and not all(a.isdecimal() for a in authors):
        for author in authors:
            had = shown.map(lambda listed, a=author: a in listed)
            hit = right[had].map(lambda listed, a=author: float(a in listed))
            shares[f"author.{author}"] = (f"answers of {author}", hit)
    return [
        NamedResult(
            f"right.answers.{key}",
            f"Accuracy of {what}",
            "secondary",
            mean_share(
                own.to_numpy(float),
                cluster=once.loc[own.index, "cluster"].to_numpy(object),
                level=declared.level,
                name="answer_accuracy",
                label=f"Accuracy of {what}",
            ),
        )
        for key, (what, own) in shares.items()
    ]


_MOST_AUTHORS = 30


def accuracy_relation(
    frame: pd.DataFrame,
    choices: Mapping[str, Choices],
    table: pd.DataFrame,
    declared: AnalysisPlan,
) -> list[NamedResult]:
    """Whether choices are repeated less where more of the answers are right.

    Parameters
    ----------
    frame : DataFrame
        All judgments.
    choices : mapping of condition to Choices
    table : DataFrame
        One row a condition; accuracy by benchmark is added to it.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        One rank correlation a condition above T = 0, over questions, and the family of them.
    """
    once = _once(frame)
    if once.empty:
        return []
    for benchmark, own in once.groupby("category", sort=False):
        if f"vote_share in {benchmark}" in table:
            table[f"answers_right in {benchmark}"] = float(own["share"].mean())
    tests: dict[str, TestResult] = {}
    for condition in table.loc[table["temperature"] != 0, "condition"]:
        own_choices = choices[str(condition)]
        share = once["share"].reindex(list(own_choices.items)).to_numpy(float)
        changes = disagreement(own_choices.values)
        kept = np.isfinite(share) & np.isfinite(changes)
        if kept.sum() < FEWEST or np.ptp(share[kept]) == 0 or np.ptp(changes[kept]) == 0:
            continue
        tests[str(condition)] = spearman_correlation(
            share[kept],
            changes[kept],
            cluster=shared_clusters(own_choices.cluster[kept]),
            level=declared.level,
            seed=declared.seed,
        )
    title = "Disagreement of repetitions with the share of right answers"
    results = results_by_subject("accuracy", title, "secondary", tests)
    by_name = {c: t for c, t in tests.items() if not np.isnan(t.p_value)}
    if len(by_name) > 1:
        family = adjust_family(
            by_name, family="disagreement with accuracy, one test per condition", method="holm"
        )
        title = "Disagreement with accuracy, adjusted"
        results.append(NamedResult("accuracy.family", title, "secondary", family))
    return results


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
        blocks="The question is the block: all judges see the same options in the same order, "
        "drawn by seed, in all replications. Letters have no order and are not turned into "
        "numbers.",
        missing="A reply without one verdict has a status and no choice. Primary: missing. Beside "
        "it: a category of its own, as the replicated study counts it.",
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
                question="Does repetition get less consistent as the temperature rises?",
                test="Friedman test (two temperatures: Wilcoxon) on each question's share of "
                "disagreeing pairs, and Page's test for a rise, T = 0 left out: there one draw "
                "is repeated",
                family="one test of each kind per judge",
            ),
            most_reliable("the reliability of one choice"),
            Hypothesis(
                id="judges",
                question="Do the judges choose alike?",
                test="share of pairs of judges that agree, per replication and overall, beside "
                "its permutation null",
            ),
            Hypothesis(
                id="benchmark",
                question="And by benchmark?",
                test=f"as the reliability, for benchmarks of at least {FEWEST} questions",
                family="none: estimates with intervals over questions",
            ),
            Hypothesis(
                id="right",
                question="Are the answers right, and do choices fall on right or preferred ones?",
                test="share of answers that name the target, by author and benchmark; share of "
                "choices that do, or that fall on the preferred answer, beside a random choice",
                family="none: estimates with intervals over questions",
            ),
            Hypothesis(
                id="accuracy",
                question="Are choices repeated less where more of the answers are right?",
                test="Spearman's correlation, over questions, of the share of disagreeing pairs "
                "with the share of right answers, T = 0 left out",
                family="one test per condition",
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
        results += benchmark_reliability(name, choices[name], row, declared)
        results += choices_right(name, asked, row, declared)
        results += omega_of_hits(name, asked, declared)
        rows.append(row)
    table = pd.DataFrame(rows)
    compared, headlines = across_temperatures(choices, table, declared)
    results += compared
    results += across_judges(choices, table, declared)
    results += answers_right(frame, declared)
    results += accuracy_relation(frame, choices, table, declared)
    results += best_votes(
        table, {name: c.values for name, c in choices.items()},
        next(iter(choices.values())).cluster,
        one="choice",
    )  # fmt: skip
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=ranked(
            "vote_share",
            "chosen_preferred",
            caption="Reliability of one choice, and how often it is the preferred answer.",
        ),
        headlines=(*audit_headlines(results), *headlines),
        conditions=table,
        results=tuple(sort_results(results, declared)),
        limitations=(*_limits(frame, table), *unanswered(results, declared)),
        rows=(
            *choice_rows(table["condition"]),
            results_row(
                "right",
                "Right answer chosen",
                "Right",
                "chosen_answers_that_are_right",
                "right.target.{}",
                table["condition"],
            ),
            declared_row(
                "choices_of_the_preferred_answer", table["condition"], ids="right.preferred.{}"
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
