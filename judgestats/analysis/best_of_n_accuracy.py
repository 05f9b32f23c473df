"""Choices and answers against targets and people, and reliability against accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.best_of_n_reliability import FEWEST, disagreement
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.scores import omega_declared
from judgestats.analysis.selections import Choices, add_estimate, beside, named
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.agreement.option_positions import option_win_rate
from judgestats.stats.comparison.spearman import spearman_correlation
from judgestats.stats.inference.adjust import adjust_family
from judgestats.stats.inference.result import Estimate, TestResult
from judgestats.stats.reliability.omega import omega_total


def _share(asked: pd.DataFrame, hit: Any, label: str, level: float) -> Estimate:
    """Share of the verdicts read that hit, clustered by question."""
    marked = asked.assign(hit=np.where(hit, "yes", "no"))
    wide = marked.pivot(index="item_id", columns=["order", "replicate"], values="hit")
    clusters = asked.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[wide.index]
    win_rate = option_win_rate(
        wide.to_numpy(object), option="yes", cluster=clusters.to_numpy(object), level=level
    )
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
                beside(f"right.target.{name}", "Chosen answers right", name, share, chance)
            )
    if "preferred" in asked:
        rows = asked[asked["preferred"] != ""]
        if len(rows):
            hit = rows["choice"] == rows["preferred"]
            share = _share(rows, hit, "Choices of the preferred answer", declared.level)
            chance = float((1 / (1 + rows["options"].str.count(r"\|"))).mean())
            add_estimate(row, "chosen_preferred", share)
            row["chosen_preferred_by_chance"] = chance
            results.append(
                beside(
                    f"right.preferred.{name}",
                    "Choices of the preferred answer",
                    name,
                    share,
                    chance,
                )
            )
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
        clusters = open_rows.drop_duplicates("item_id").set_index("item_id")["cluster"]
        cluster = clusters.loc[wide.index].to_numpy(object)
        common: dict[str, Any] = {
            "cluster": cluster if len(set(cluster)) < len(cluster) else None,
            "level": declared.level,
            "n_permutations": declared.n_resamples,
            "seed": declared.seed,
        }
        scores = wide.to_numpy(float)
        model = str(declared.options.get("omega_model", "parallel"))
        omegas: list[tuple[str, str, Estimate]] = [
            ("omega", "", omega_total(scores, null=True, **common))
        ]
        omegas += [
            (f"omega_{model}", f" under the {model} model", value)
            for value in omega_declared(scores, model, **common)
        ]
        return [
            named(
                f"repetition.{key}.{name}",
                f"Omega of choosing the {kind} answer{under}, {name}",
                "descriptive",
                value,
            )
            for key, under, value in omegas
        ]
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
        named(
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


def against_accuracy(
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
        clusters = own_choices.cluster[kept]
        tests[str(condition)] = spearman_correlation(
            share[kept],
            changes[kept],
            cluster=clusters if len(set(clusters)) < len(clusters) else None,
            level=declared.level,
            seed=declared.seed,
        )
    results = [
        named(
            f"accuracy.{condition}",
            f"Disagreement of repetitions with the share of right answers, {condition}",
            "secondary",
            test,
        )
        for condition, test in tests.items()
    ]
    by_name = {c: t for c, t in tests.items() if not np.isnan(t.p_value)}
    if len(by_name) > 1:
        family = adjust_family(
            by_name, family="disagreement with accuracy, one test per condition", method="holm"
        )
        results.append(
            named("accuracy.family", "Disagreement with accuracy, adjusted", "secondary", family)
        )
    return results
