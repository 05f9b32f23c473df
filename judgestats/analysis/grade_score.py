"""Does a judge select an option for what it says or for where it stands?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.grade_score_effects import (
    OPTION,
    effect_of_option,
    effect_of_prompt,
    family_of,
)
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.paper_tables import grade_score_table
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.rotations import Rotations, rotations_of
from judgestats.analysis.selections import (
    add_estimate,
    beside,
    condition_row,
    in_order,
    metrics_of,
    named,
    selection_limits,
)
from judgestats.analysis.told import told_coefficient
from judgestats.judgments.design import Condition
from judgestats.protocols.selection import UNRELATED
from judgestats.stats.grade_score import grade_score
from judgestats.stats.notation import apa_number
from judgestats.stats.order import option_win_rate, position_test
from judgestats.stats.raw_agreement import flip_rate
from judgestats.stats.result import TestResult

__all__ = ["analyse", "plan"]

_QUESTION = (
    "Does a judge select an option for what it says or for where it stands, and do the judge "
    "prompt and an unrelated option change that?"
)
_METRICS = {
    "grade_score": "order/grade_score",
    "corrected": "order/grade_score_corrected",
    "llm_score": "order/llm_score",
    "choice_score": "order/choice_score",
    "unrelated_wins": "order/unrelated_wins",
    "noise": "agreement/flip_rate",
    "chosen_preferred": "people/chosen_preferred",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call.

    Parameters
    ----------
    parameters : mapping
    conditions : sequence of Condition

    Returns
    -------
    AnalysisPlan
    """
    del conditions
    return AnalysisPlan(
        experiment="grade_score",
        question=_QUESTION,
        blocks=(
            "The item is the block: every prompt, with and without the unrelated option, sees the "
            "same items in every cyclic rotation of one order drawn by seed."
        ),
        missing=(
            "A reply without one selection has a status and no choice. Items whose rotations were "
            "all read are primary; the bounds over all items stand beside."
        ),
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        hypotheses=(
            Hypothesis(
                id="grade",
                role="primary",
                question="How far are selections free of position?",
                test="Grade Score per item, averaged; beside a judge that selects at random "
                "(always first scores 0, consistent 1)",
                family="none: estimates with intervals over items",
            ),
            Hypothesis(
                id="unrelated",
                role="secondary",
                question="What does an unrelated option do to that?",
                test="difference of chance-corrected Grade Scores, paired by item",
                family="none: estimates with intervals over items",
            ),
            Hypothesis(
                id="wins",
                role="secondary",
                question="How often is the unrelated option selected?",
                test="share of the selections read, beside a random choice",
                family="none: estimates with intervals over items",
            ),
            Hypothesis(
                id="prompt",
                role="secondary",
                question="Does the judge prompt change it?",
                test="Friedman test (two prompts: Wilcoxon) on corrected scores, paired by item; "
                "differences from the first prompt with intervals",
                family="one test per judge, temperature and option",
                adjustment="holm",
            ),
            Hypothesis(
                id="position",
                role="secondary",
                question="Are some places selected more than the options there explain?",
                test="X2 of places; options exchanged between the rotations of an item",
                family="one test per condition",
                adjustment="holm",
            ),
            Hypothesis(
                id="noise",
                role="secondary",
                question="How much is plain repetition noise?",
                test="share of pairs of repetitions of one rotation that differ",
                family="none: estimates with intervals over items",
            ),
            Hypothesis(
                id="preferred",
                role="secondary",
                question="Is the preferred option selected?",
                test="share of the selections of items whose preferred option is known, beside a "
                "random choice",
                family="none: estimates with intervals over items",
            ),
            Hypothesis(
                id="published",
                role="replicated",
                question="What did the replicated study print?",
                test="Tables 1-3 of arXiv 2406.12043; cells that cannot be averages are flagged",
            ),
        ),
    )


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments of a selection in all rotations.
    declared : AnalysisPlan

    Returns
    -------
    Analysis
    """
    found = rotations_of(frame)
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    places: dict[str, TestResult] = {}
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        row = condition_row(name, asked)
        results += _condition(name, found[name], row, declared)
        test = _positions(found[name], declared)
        if test is not None:
            places[name] = test
        rows.append(row)
    table = pd.DataFrame(rows)
    results += [
        named(f"position.{name}", f"Places selected, {name}", "secondary", test)
        for name, test in places.items()
    ]
    results += family_of("position", places, "places selected, one test per condition")
    results += effect_of_option(found, table, declared)
    results += effect_of_prompt(found, table, declared)
    results.append(
        named("published", "Tables 1-3 of arXiv 2406.12043", "replicated", grade_score_table())
    )
    results = in_order(results, declared)
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        sentence=_sentence(table),
        conditions=table,
        results=tuple(results),
        limitations=tuple(_limits(frame, table, found)),
        metrics={"quality/unread_share": float(1 - table["n_ok"].sum() / table["n"].sum())},
        condition_metrics={str(r["condition"]): metrics_of(r, _METRICS) for r in rows},
    )


def _condition(
    name: str, found: Rotations, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    common: dict[str, Any] = {"cluster": found.cluster, "level": declared.level}
    drawn = {**common, "n_draws": declared.n_resamples, "seed": declared.seed}
    grade = grade_score(found.positions, n_options=found.n_options, **drawn)
    corrected = grade_score(found.positions, n_options=found.n_options, score="corrected", **drawn)
    add_estimate(row, "grade_score", grade)
    add_estimate(row, "corrected", corrected)
    for key in ("llm_score", "choice_score", "chance", "harmonic_of_means"):
        row[key] = float(grade.details[key])
    row["least_if_read"], row["most_if_read"] = (float(grade.details[k]) for k in ("low", "high"))
    results = [
        named(f"grade.{name}", f"Grade Score, {name}", "primary", grade),
        named(f"grade.corrected.{name}", f"Corrected for chance, {name}", "primary", corrected),
    ]
    if row["n_replications"] > 1:
        noise = _noise(found, declared)
        add_estimate(row, "noise", noise)
        results.append(
            named(f"noise.{name}", f"Repetitions that differ, {name}", "secondary", noise)
        )
    uniform = float(np.mean(1 / found.n_options))
    if (found.choices == UNRELATED).any() or row.get(OPTION) == "yes":
        wins = option_win_rate(
            found.choices, option=UNRELATED, n_options=_common_n(found), **common
        )
        add_estimate(row, "unrelated_wins", wins)
        results.append(beside(f"wins.{name}", "Unrelated option selected", name, wins, uniform))
    known = found.preferred != ""
    if known.any():
        right = option_win_rate(
            found.choices[known],
            option=found.preferred[known],
            cluster=found.cluster[known],
            level=declared.level,
        )
        add_estimate(row, "chosen_preferred", right)
        uniform = float(np.mean(1 / found.n_options[known]))
        results.append(
            beside(f"preferred.{name}", "Preferred option selected", name, right, uniform)
        )
    return results


def _common_n(found: Rotations) -> int | None:
    sizes = set(found.n_options.tolist())
    return sizes.pop() if len(sizes) == 1 else None


def _noise(found: Rotations, declared: AnalysisPlan) -> Any:
    """Selections of the same rotation, repeated: item and rotation are the unit."""
    wide = found.repetitions()
    clusters = pd.Series(found.cluster, index=found.items).groupby(level=0).first()
    of_row = clusters.loc[wide.index.get_level_values("item_id")].to_numpy(object)
    return flip_rate(wide.to_numpy(object), cluster=of_row, level=declared.level)


def _positions(found: Rotations, declared: AnalysisPlan) -> TestResult | None:
    """Over the items with the most common number of options, since places differ with it."""
    n = int(np.bincount(found.n_options).argmax())
    own = found.n_options == n
    if own.sum() < 2:
        return None
    return position_test(
        found.positions[own, :n],
        n_options=n,
        cluster=found.cluster[own],
        level=declared.level,
        n_permutations=declared.n_resamples,
        seed=declared.seed,
    )


def _limits(frame: pd.DataFrame, table: pd.DataFrame, found: Mapping[str, Rotations]) -> list[str]:
    limits = selection_limits(frame, table)
    sizes = sorted({int(n) for r in found.values() for n in r.n_options})
    if len(sizes) > 1:
        limits.append(
            f"Items have {', '.join(map(str, sizes))} options: what chance scores differs with "
            "that, so conditions are compared by chance-corrected scores. Places are tested over "
            "the items with the most common number."
        )
    if int(table["n_replications"].max()) < 2:
        limits.append(
            "One repetition of every rotation: that selections differ between rotations may be "
            "position or plain noise. Set replicates=2 or more to tell them apart."
        )
    else:
        limits.append(
            "A judge that follows neither position nor content but chance scores what chance "
            "scores: read the Grade Score beside the noise of repetitions."
        )
    return limits


def _sentence(table: pd.DataFrame) -> str:
    parts = []
    for judge, own in table.groupby("judge", sort=False):
        known = own.dropna(subset=["grade_score"]).sort_values("grade_score")
        if known.empty:
            parts.append(f"{judge} not known")
            continue
        low, high = known.iloc[0], known.iloc[-1]
        span = told_coefficient(low, "grade_score")
        if len(known) > 1:
            ends = [
                f"{told_coefficient(row, 'grade_score')} "
                f"({str(row['condition']).removeprefix(f'{judge}, ')})"
                for row in (low, high)
            ]
            span = f"from {' to '.join(ends)}"
        parts.append(f"{judge} {span}")
    chance = sorted(apa_number(v, bounded=True) for v in table["chance"])
    about = " to ".join(dict.fromkeys((chance[0], chance[-1])))
    return (
        f"Grade Score (1 is free of position, chance scores {about}, always the first place 0): "
        f"{'; '.join(parts)}."
    )
