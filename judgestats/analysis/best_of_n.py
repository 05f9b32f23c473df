"""Choices of the best of several answers: how reliable, and how often right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis import coefficients, families, selections
from judgestats.analysis.audit_answer import audit_headlines
from judgestats.analysis.families import AnalysisPlan, ClaimedTest, Hypothesis
from judgestats.analysis.records import (
    Analysis,
    Found,
    NamedResult,
    named_results,
    results_by_subject,
)
from judgestats.analysis.repeats import repeats_needed
from judgestats.analysis.scores import omega_declared
from judgestats.analysis.selections import Choices
from judgestats.arrays import Floats, Objects
from judgestats.data.columns import Condition, heat
from judgestats.results import About, Headline, apa_number, quantity_of
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.result import TestResult

FEWEST = 5
"""Fewer items of a benchmark than this are not analysed by themselves."""
_MOST_AUTHORS = 30
_ESTIMATED = "none: estimates with intervals over questions"
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
    return families.planned(
        "omega", parameters,
        Hypothesis(
            "reliability", "How reliable is one choice, and how reliable are the shares of all?",
            "vote-share reliability (ANOVA estimator), next to its permutation null", _ESTIMATED,
            "primary",
        ),
        Hypothesis("temperature", "Does repetition get less consistent as the temperature rises?",
            "Friedman test (two temperatures: Wilcoxon) on each question's share of disagreeing "
            "pairs, and Page's test for a rise, T = 0 left out: there one draw is repeated",
            "one test of each kind per judge"),
        Hypothesis("judges", "Do the judges choose alike?",
            "share of pairs of judges that agree, per replication and overall, next to its "
            "permutation null"),
        Hypothesis("benchmark", "And by benchmark?",
            f"as the reliability, for benchmarks of at least {FEWEST} questions", _ESTIMATED),
        Hypothesis(
            "right", "Are the answers correct, and do choices fall on correct or preferred ones?",
            "share of answers that name the target, by author and benchmark; share of choices that "
            "do, or that fall on the preferred answer, next to a random choice", _ESTIMATED,
        ),
        Hypothesis("accuracy", "Are choices repeated less where more of the answers are correct?",
            "Spearman's correlation, over questions, of the share of disagreeing pairs with the "
            "share of correct answers, T = 0 left out", "one test per condition"),
        Hypothesis("repetition", "How often do two repeats differ in the choice?",
            "flip rate and AC1. The reliability by the kappa estimator (biased downwards for few "
            "questions). Replies without a verdict as a category. McDonald's omega of hits (the "
            "correct answer, else the preferred one), which are numbers", role="descriptive"),
        blocks="The question is the block: all judges see the same options in the same order, "
        "drawn by seed, in all replications. Letters have no order and are not turned into "
        "numbers.",
        missing="A reply without one verdict has a status and no choice. Primary: missing. Next to "
        "it: a separate category, as in the replicated study.",
    )  # fmt: skip


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
    choices = selections.choices_of(frame)
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        row = selections.condition_row(name, asked)
        results += _reliability(name, choices[name], row, declared)
        results += _benchmarks(name, choices[name], row, declared)
        results += _choices_right(name, asked, row, declared)
        results += omega_of_hits(name, asked, declared)
        rows.append(row)
    table = pd.DataFrame(rows)
    compared, headlines = _across_temperatures(choices, table, declared)
    results += compared
    results += _across_judges(choices, table, declared)
    results += _answers_right(frame, declared)
    results += _accuracy_relation(frame, choices, table, declared)
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=coefficients.ranked(
            "vote_share",
            "chosen_preferred",
            caption="Reliability of one choice, and how often it is the preferred answer.",
        ),
        headlines=(*audit_headlines(results), *headlines),
        conditions=table,
        results=tuple(selections.sort_results(results, declared)),
        limitations=(*_limits(frame, table), *selections.unanswered(results, declared)),
        rows=(
            *coefficients.choice_rows(table["condition"]),
            coefficients.results_row(
                "right", "Correct answer chosen", "Correct", "chosen_answers_that_are_right",
                "right.target.{}", table["condition"],
            ),
            coefficients.declared_row(
                "choices_of_the_preferred_answer", table["condition"], ids="right.preferred.{}"
            ),
        ),
        condition_metrics=coefficients.metrics_of_conditions(rows, _METRICS),
    )  # fmt: skip


def repeated_choices(
    name: str,
    choices: Choices,
    row: dict[str, Any],
    declared: AnalysisPlan,
    *,
    one: str,
    categories: Sequence[str] | None,
    unread: str = "repetition.unread",
) -> list[NamedResult]:
    """Reliability of a condition's choices, of one and of all, and how often they change.

    Parameters
    ----------
    name : str
        The condition.
    choices : Choices
    row : dict
        The condition's row, which is added to.
    declared : AnalysisPlan
    one : str
        What is repeated: ``choice``.
    categories : sequence of str, optional
        What can be chosen.
    unread : str
        Prefix of the id of the reliability with unparsed replies as a category.

    Returns
    -------
    list of NamedResult
    """
    tested: dict[str, Any] = {"cluster": choices.cluster, **declared.resampling}
    single = stats.vote_share_reliability(choices.values, **tested)
    row["judgments_for_80"] = single.details.get("k_for_80", math.nan)
    row["judgments_for_90"] = single.details.get("k_for_90", math.nan)
    return selections.entered(
        row, name,
        ("vote_share", "primary", "reliability.one", f"One {one}", single),
        ("vote_share_all", "primary", "reliability.all", "Shares of all replications",
         stats.vote_share_reliability(choices.values, k=None, **tested)),
        ("vote_share_unread_a_category", "descriptive", unread, "Unparsed as a category",
         stats.vote_share_reliability(choices.with_status, **tested)),
        ("ac1", "descriptive", "repetition.ac1", "Agreement of repetitions",
         stats.gwet_ac1(choices.values, categories=categories, **tested)),
        ("flip_rate", "descriptive", "repetition.flips", f"Changed {one}s",
         stats.flip_rate(choices.values, **tested)),
        ("", "descriptive", "repeats.needed", f"{one.capitalize()}s for a reliability of .90",
         repeats_needed(single)),
    )  # fmt: skip


def _reliability(
    name: str, choices: Choices, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    """Reliability by both estimators and both policies for what could not be read."""
    kappa = partial(
        stats.vote_share_reliability,
        choices.values,
        estimator="kappa",
        cluster=choices.cluster,
        **declared.resampling,
    )
    letters = sorted({v for v in choices.values.ravel() if v})
    results = repeated_choices(
        name, choices, row, declared, one="choice", categories=letters if len(letters) > 1 else None
    )
    return results + selections.entered(
        row, name,
        ("vote_share_kappa", "descriptive", "repetition.kappa.one",
         "One choice, kappa estimator", kappa(k=1)),
        ("", "descriptive", "repetition.kappa.all", "Shares of all, kappa estimator",
         kappa(k=None)),
    )  # fmt: skip


def _benchmarks(
    name: str, choices: Choices, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    """Reliability within each benchmark that has enough questions; none where there is one."""
    groups = {str(c): choices.category == c for c in dict.fromkeys(choices.category)}
    results: list[NamedResult] = []
    for benchmark, own in groups.items():
        if int(own.sum()) < FEWEST or len(groups) < 2:
            continue
        for column, key, title, k in (
            ("vote_share", "benchmark.one", "One choice", 1),
            ("vote_share_all", "benchmark.all", "Shares of all", None),
        ):
            reliability = stats.vote_share_reliability(
                choices.values[own], k=k, cluster=choices.cluster[own], **declared.resampling
            )
            row[f"{column} in {benchmark}"] = reliability.estimate
            named = (f"{key}.{benchmark}", f"{title} on {benchmark}", reliability)
            results += named_results(name, "secondary", named)
    return results


def disagreement(values: Objects) -> Floats:
    """Share of each item's pairs of judgments that differ; NaN with fewer than two.

    Examples
    --------
    >>> disagreement(np.array([["A", "A", "B"], ["A", "", ""]], dtype=object)).round(3).tolist()
    [0.667, nan]
    """
    out = np.full(len(values), np.nan)
    for i, row in enumerate(values):
        counts = np.unique(row[row != ""], return_counts=True)[1]
        n = counts.sum()
        if n > 1:
            out[i] = 1 - float((counts * (counts - 1)).sum()) / float(n * (n - 1))
    return out


def _across_temperatures(
    choices: Mapping[str, Choices], table: pd.DataFrame, declared: AnalysisPlan
) -> tuple[list[NamedResult], list[Headline]]:
    """Disagreement of repetitions across temperatures above 0, paired by question.

    Three temperatures or more: Friedman's test, and Page's for a rise along them.
    """
    tests: dict[str, ClaimedTest] = {}
    rises: dict[str, ClaimedTest] = {}
    for (judge, *wording), own in families.by_levels(table[table["temperature"] > 0], "judge"):
        if len(own) < 2:
            continue
        own = own.sort_values("temperature")  # noqa: PLW2901 (the same rows, in order)
        data = np.column_stack([disagreement(choices[str(c)].values) for c in own["condition"]])
        clusters = choices[str(own["condition"].iloc[0])].cluster
        kept = np.isfinite(data).all(axis=1)
        if kept.sum() < 3:
            continue
        data, names = data[kept], [heat(t) for t in own["temperature"]]
        common: dict[str, Any] = {"names": names, "cluster": clusters[kept]}
        where = " at ".join(map(str, (judge, *wording)))
        claim = partial(
            ClaimedTest, direction=families.direction_of(float(np.mean(data[:, -1] - data[:, 0]))),
            about=About(judge=str(judge), stratum=where, varied="temperature",
                        conditions=tuple(own["condition"])),
        )  # fmt: skip
        test = selections.matched_rank_test(data, declared, **common)
        title = "Disagreement of repetitions across temperatures"
        [named] = named_results(where, "secondary", ("temperature", title, test))
        tests[where] = claim(result=named)
        if len(names) > 2:
            rise = stats.page_trend_test(data, **common, level=declared.level, seed=declared.seed)
            title = "Disagreement rises with temperature"
            [named] = named_results(where, "secondary", ("temperature.rise", title, rise))
            rises[f"{where}, rising"] = claim(result=named)
    return families.claimed_tests(
        "temperature.family", {**tests, **rises},
        "disagreement across temperatures, one test of each kind per judge", estimand="",
    )  # fmt: skip


def _across_judges(
    choices: Mapping[str, Choices], table: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    """Agreement of the judges at each temperature, per replication and overall."""
    results = []
    for (temperature, *wording), own in families.by_levels(table, "temperature"):
        if len(own) < 2:
            continue
        judged = [choices[str(c)] for c in own["condition"]]
        width = min(f.values.shape[1] for f in judged)
        result = stats.agreement_across_judges(
            np.stack([f.values[:, :width] for f in judged]), cluster=judged[0].cluster,
            **declared.resampling,
        )  # fmt: skip
        numbers = result.details["five_numbers"].values()
        five = " / ".join(apa_number(float(v), digits=3, bounded=True) for v in numbers)
        where = " and ".join(map(str, (heat(temperature), *wording)))
        over = f"least, quartiles and greatest over replications: {five}"
        title = f"Agreement of {len(own)} judges at {where} ({over})"
        results.append(NamedResult(f"judges.{where}", title, "secondary", result))
    return results


def _choices_right(
    name: str, asked: pd.DataFrame, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    """Choices against targets and human labels, if there are any, and a random choice.

    Only questions with right and wrong answers count; on the others every choice is the same.
    """
    results = []
    known = {
        "right": ("target", "chosen_right", "Chosen answers correct",
                  "Chosen answers that name the target", "chosen_answers_that_are_right"),
        "preferred": ("preferred", "chosen_preferred", "Choices of the preferred answer",
                      "Choices of the preferred answer", "choices_of_the_preferred_answer"),
    }  # fmt: skip
    if "chosen_right" in asked:
        judged = asked[asked["chosen_right"] != ""].drop_duplicates("item_id")
        if len(judged):
            row["answers_right"] = float(_answer_shares(judged).mean())
    for kind, known_rows, hits in _hits(asked):
        of_right = kind == "right"
        rows = known_rows[known_rows["chosen_right"] != ""] if of_right else known_rows
        if rows.empty:
            continue
        chance = _answer_shares(rows) if of_right else 1 / (1 + rows["options"].str.count(r"\|"))
        key, column, title, label, quantity = known[kind]
        marked = rows.assign(hit=np.where(hits[rows.index], "yes", "no"))
        wide = marked.pivot(index="item_id", columns=["order", "replicate"], values="hit")
        share = stats.option_win_rate(
            wide.to_numpy(object), option="yes", cluster=families.clusters_of(rows, wide.index),
            level=declared.level,
        ).replace(name=quantity, label=label)  # fmt: skip
        selections.add_estimate(row, column, share)
        row[f"{column}_by_chance"] = chosen = float(chance.mean())
        results.append(selections.share_result(f"right.{key}.{name}", title, name, share, chosen))
    return results


def _answer_shares(rows: pd.DataFrame) -> pd.Series:
    """Share of correct answers among those shown; NaN where unknown."""
    right, judged = (
        pd.to_numeric(rows[c], errors="coerce") for c in ("options_right", "options_judged")
    )
    return right / judged


def _hits(asked: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, pd.Series]]:
    """What of an answer is known, the judgments of which it is, and whether they hit it."""
    if "chosen_right" in asked:
        share = _answer_shares(asked)
        # Known of the options, so that an unread choice stays with its question.
        rows = asked[(share > 0) & (share < 1)]
        yield "right", rows, rows["chosen_right"] == "1"
    if "preferred" in asked:
        rows = asked[asked["preferred"] != ""]
        yield "preferred", rows, rows["choice"] == rows["preferred"]


def omega_of_hits(name: str, asked: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """McDonald's omega of hits over replications: letters have no covariances, hits have.

    Parameters
    ----------
    name : str
        The condition.
    asked : DataFrame
        Its judgments.
    declared : AnalysisPlan
        Its option ``omega_model`` names a model in addition to the parallel one.

    Returns
    -------
    list of NamedResult
        On the choice of the correct answer, or of the preferred one if no answer is known to be
        correct. Empty with fewer than `FEWEST` such questions.
    """
    for kind, open_rows, hit in _hits(asked):
        marked = open_rows.assign(hit=hit.astype(float).where(open_rows["choice"] != ""))
        wide = marked.pivot(index="item_id", columns="replicate", values="hit")
        if len(wide) < FEWEST or wide.shape[1] < 2:
            continue
        cluster = families.shared_clusters(families.clusters_of(open_rows, wide.index))
        common: dict[str, Any] = {"cluster": cluster, **declared.resampling}
        scores = wide.to_numpy(float)
        model = str(declared.options.get("omega_model", "parallel"))
        what = f"Omega of choosing the {kind} answer"
        alpha = coefficients.computed(quantity_of("alpha"), scores, **common)  # if parallel
        omegas: Found = [("repetition.omega", what, alpha)]
        omegas += [
            (f"repetition.omega_{model}", f"{what} under the {model} model", value)
            for value in omega_declared(scores, model, **common)
        ]
        return named_results(name, "descriptive", *omegas)
    return []


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per item whose answers have a target, with the share of correct ones."""
    if not {"options_judged", "right"} <= set(frame.columns):
        return frame.iloc[:0].assign(share=[])
    rows = frame[frame["options_judged"] != ""].drop_duplicates("item_id").set_index("item_id")
    return rows.assign(share=_answer_shares(rows))


def _answers_right(frame: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """How many answers are correct: by author, by benchmark, and of all; none of few questions."""
    once = _once(frame)
    if len(once) < FEWEST:
        return []
    shares: dict[str, tuple[str, pd.Series]] = {"all": ("all answers", once["share"])}
    by_benchmark = once.groupby("category", sort=False)["share"]
    for benchmark, own in by_benchmark:
        if len(own) >= FEWEST and by_benchmark.ngroups > 1:
            shares[f"benchmark.{benchmark}"] = (f"answers on {benchmark}", own)
    shown = once["options"].str.split("|")
    right = once["right"].str.split("|")
    authors = list(dict.fromkeys(a for listed in shown for a in listed))
    if len(authors) <= _MOST_AUTHORS and not all(a.isdecimal() for a in authors):
        for author in authors:
            had = shown.map(lambda listed, a=author: a in listed)
            hit = right[had].map(lambda listed, a=author: float(a in listed))
            shares[f"author.{author}"] = (f"answers of {author}", hit)
    results = []
    for key, (what, own) in shares.items():
        accuracy = mean_share(
            own.to_numpy(float), cluster=once.loc[own.index, "cluster"].to_numpy(object),
            level=declared.level, name="answer_accuracy", label=f"Accuracy of {what}",
        )  # fmt: skip
        results.append(NamedResult(f"right.answers.{key}", accuracy.label, "secondary", accuracy))
    return results


def _accuracy_relation(
    frame: pd.DataFrame, choices: Mapping[str, Choices], table: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    """Whether choices are repeated less where more of the answers are correct, by condition."""
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
        cluster = families.shared_clusters(own_choices.cluster[kept])
        tests[str(condition)] = stats.spearman_correlation(
            share[kept], changes[kept], cluster=cluster, level=declared.level, seed=declared.seed
        )
    title = "Disagreement of repetitions with the share of correct answers"
    results = results_by_subject("accuracy", title, "secondary", tests)
    family = "disagreement with accuracy, one test per condition"
    return [*results, *families.family_of_tests("accuracy.family", tests, family)]


def _limits(frame: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    limits = selections.selection_limits(frame, table)
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
