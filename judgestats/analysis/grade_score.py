"""Does a judge select an option for what it says or for where it stands?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis import families, selections
from judgestats.analysis.audit_answer import audit_headlines, largest_position_share
from judgestats.analysis.records import Analysis, NamedResult, named_results
from judgestats.analysis.summary_rows import declared_row, ranked
from judgestats.data.columns import Condition
from judgestats.protocols.selection import UNRELATED
from judgestats.results import About, Row
from judgestats.stats.agreement.grade_score import grade_score, grade_score_items
from judgestats.stats.agreement.order_effects import option_win_rate, position_test
from judgestats.stats.agreement.raw_agreement import flip_rate
from judgestats.stats.inference.result import Estimate, Result, TestResult
from judgestats.terminal import option

_WHAT = {
    "place": "a preference for a place, {}",
    "prompt": "an effect of the judge prompt (the farthest from the first), {}",
    "unrelated option": "an effect of the unrelated option (with it less without), {}",
}
_FAMILY = "places, prompts and the unrelated option, one test per comparison"
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


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> families.AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions
    return families.AnalysisPlan(
        experiment="grade_score",
        question=_QUESTION,
        blocks="The item is the block: every prompt, with and without the unrelated option, sees "
        "the same items in every cyclic rotation of one order drawn by seed.",
        missing="A reply without one selection has a status and no choice. Items whose rotations "
        "were all read are primary; the bounds over all items stand beside.",
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        hypotheses=(
            families.Hypothesis(
                id="grade",
                role="primary",
                question="How far are selections free of position?",
                test="Grade Score per item, averaged; beside a judge that selects at random "
                "(always first scores 0, consistent 1)",
                family="none: estimates with intervals over items",
            ),
            families.Hypothesis(
                id="unrelated",
                question="What does an unrelated option do to that?",
                test="difference of chance-corrected Grade Scores, paired by item; Wilcoxon's test",
                family=_FAMILY,
            ),
            families.Hypothesis(
                id="wins",
                question="How often is the unrelated option selected?",
                test="share of the selections read, beside a random choice",
                family="none: estimates with intervals over items",
            ),
            families.Hypothesis(
                id="prompt",
                question="Does the judge prompt change it?",
                test="Friedman test (two prompts: Wilcoxon) on corrected scores, paired by item; "
                "differences from the first prompt with intervals",
                family=_FAMILY,
            ),
            families.Hypothesis(
                id="position",
                question="Are some places selected more than the options there explain?",
                test="X2 of places; options exchanged between the rotations of an item",
                family=_FAMILY,
            ),
            families.Hypothesis(
                id="noise",
                question="How much is plain repetition noise?",
                test="share of pairs of repetitions of one rotation that differ",
                family="none: estimates with intervals over items",
            ),
            families.Hypothesis(
                id="preferred",
                question="Is the preferred option selected?",
                test="share of the selections of items whose preferred option is known, beside a "
                "random choice",
                family="none: estimates with intervals over items",
            ),
            families.published(
                "Tables 1-3 of arXiv 2406.12043; cells that cannot be averages are flagged",
                question="What did the replicated study print?",
            ),
        ),
    )


def analyse(frame: pd.DataFrame, declared: families.AnalysisPlan) -> Analysis:
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
    rotations = selections.rotations_of(frame)
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    places: dict[str, TestResult] = {}
    # So many that the smallest p-value there can be stands after adjustment in the family of
    # places, prompts and the unrelated option.
    n_permutations = max(declared.n_resamples, math.ceil(6 * len(rotations) / families.LEVEL) - 1)
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        row = selections.condition_row(name, asked)
        results += _condition(name, rotations[name], row, declared)
        test = _positions(rotations[name], declared, n_permutations)
        if test is not None:
            places[name] = test
        rows.append(row)
    table = pd.DataFrame(rows)
    effects = [
        selections.Effect(
            result=NamedResult(f"position.{name}", f"Places selected, {name}", "secondary", test),
            about=About(conditions=(name,), varied="place"),
            size=_largest_share_id(f"position.{name}", test),
        )
        for name, test in places.items()
    ]
    for effect_of in (selections.effect_of_option, selections.effect_of_prompt):
        differences, tested = effect_of(rotations, table, declared, n_permutations=n_permutations)
        results += differences
        effects += tested
    tests = {e.result.title: e.result.result for e in effects}
    family = families.family_of_tests(
        "position.family", {k: t for k, t in tests.items() if isinstance(t, TestResult)}, _FAMILY
    )
    headlines = [
        dataclasses.replace(
            families.headline_of_test(
                e.result, family,
                what=_WHAT[e.about.varied].format(e.about.stratum or e.about.conditions[0]),
                estimand="grade_score", about=e.about, direction=e.direction,
                beside=e.beside,
            ),
            size=e.size,
        )
        for e in effects
    ]  # fmt: skip
    results += [*(e.result for e in effects), *family]
    results = selections.sort_results(results, declared)
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=ranked(
            "grade_score",
            caption="Grade Score by condition.",
        ),
        headlines=(*audit_headlines(results), *headlines),
        conditions=table,
        results=tuple(results),
        limitations=(*_limits(frame, table, rotations), *selections.unanswered(results, declared)),
        rows=_rows(table["condition"]),
        condition_metrics={str(r["condition"]): selections.metrics_of(r, _METRICS) for r in rows},
    )


def _rows(names: Iterable[str]) -> tuple[Row, ...]:
    """Whether choices follow the option, and change when asked again."""
    names = list(names)
    return (
        declared_row("grade_score", names, ids="grade.{}"),
        declared_row("flip_rate", names, ids="noise.{}", note=""),
        declared_row("option_win_rate", names, ids="wins.{}"),
    )


def _condition(
    name: str, rotations: selections.Rotations, row: dict[str, Any], declared: families.AnalysisPlan
) -> list[NamedResult]:
    common: dict[str, Any] = {"cluster": rotations.cluster, "level": declared.level}
    drawn = {**common, "n_draws": declared.n_resamples, "seed": declared.seed}
    grade = grade_score(rotations.positions, n_options=rotations.n_options, **drawn)
    corrected = grade_score(
        rotations.positions, n_options=rotations.n_options, score="corrected", **drawn
    )
    complete = np.asarray(
        grade_score_items(rotations.positions, n_options=rotations.n_options)["complete"],
        dtype=bool,
    )
    grade, corrected = (_count_items(e, rotations, complete) for e in (grade, corrected))
    selections.add_estimate(row, "grade_score", grade)
    selections.add_estimate(row, "corrected", corrected)
    for key in ("llm_score", "choice_score", "chance", "harmonic_of_means"):
        row[key] = float(grade.details[key])
    row["least_if_read"], row["most_if_read"] = (float(grade.details[k]) for k in ("low", "high"))
    results = named_results(
        name,
        "primary",
        ("grade", "Grade Score", grade),
        ("grade.corrected", "Corrected for chance", corrected),
    )
    if row["n_replications"] > 1:
        noise = _count_items(
            _noise(rotations, declared), rotations, np.ones(len(rotations.items), dtype=bool)
        )
        selections.add_estimate(row, "noise", noise)
        results += named_results(name, "secondary", ("noise", "Repetitions that differ", noise))
    uniform = float(np.mean(1 / rotations.n_options))
    read = np.asarray((rotations.choices != "").any(axis=1))
    if (rotations.choices == UNRELATED).any() or row.get(selections.OPTION) == "yes":
        wins = option_win_rate(
            rotations.choices, option=UNRELATED, n_options=_common_n(rotations), **common
        )
        wins = _count_items(wins, rotations, read)
        selections.add_estimate(row, "unrelated_wins", wins)
        results.append(
            selections.share_result(
                f"wins.{name}", "Unrelated option selected", name, wins, uniform
            )
        )
    present = np.asarray(rotations.preferred != "")
    if present.any():
        right = option_win_rate(
            rotations.choices[present],
            option=rotations.preferred[present],
            cluster=rotations.cluster[present],
            level=declared.level,
        )
        right = _count_items(right, rotations, read & present)
        selections.add_estimate(row, "chosen_preferred", right)
        uniform = float(np.mean(1 / rotations.n_options[present]))
        results.append(
            selections.share_result(
                f"preferred.{name}", "Preferred option selected", name, right, uniform
            )
        )
    return results


def _count_items(
    estimate: Estimate, rotations: selections.Rotations, used: NDArray[np.bool_]
) -> Estimate:
    """The estimate with its items counted as items, however often their rotations were repeated."""
    n = len(set(rotations.items[used].tolist()))
    return estimate.replace(sample=dataclasses.replace(estimate.sample, n_items=n))


def _common_n(rotations: selections.Rotations) -> int | None:
    sizes = set(rotations.n_options.tolist())
    return sizes.pop() if len(sizes) == 1 else None


def _noise(rotations: selections.Rotations, declared: families.AnalysisPlan) -> Any:
    """Selections of the same rotation, repeated: item and rotation are the unit."""
    wide = rotations.repetitions()
    clusters = pd.Series(rotations.cluster, index=rotations.items).groupby(level=0).first()
    of_row = clusters.loc[wide.index.get_level_values("item_id")].to_numpy(object)
    return flip_rate(wide.to_numpy(object), cluster=of_row, level=declared.level)


def _positions(
    rotations: selections.Rotations, declared: families.AnalysisPlan, n_permutations: int
) -> TestResult | None:
    """Over the items with the most common number of options, since places differ with it."""
    n = int(np.bincount(rotations.n_options).argmax())
    own = rotations.n_options == n
    if own.sum() < 2:
        return None
    return position_test(
        rotations.positions[own, :n],
        n_options=n,
        cluster=rotations.cluster[own],
        level=declared.level,
        n_permutations=n_permutations,
        seed=declared.seed,
    )


def _limits(
    frame: pd.DataFrame, table: pd.DataFrame, rotations: Mapping[str, selections.Rotations]
) -> list[str]:
    limits = selections.selection_limits(frame, table)
    sizes = sorted({int(n) for r in rotations.values() for n in r.n_options})
    if len(sizes) > 1:
        limits.append(
            f"Items have {', '.join(map(str, sizes))} options: what chance scores differs with "
            "that, so conditions are compared by chance-corrected scores. Places are tested over "
            "the items with the most common number."
        )
    if int(table["n_replications"].max()) < 2:
        limits.append(
            "One repetition of every rotation: that selections differ between rotations may be "
            f"position or plain noise. Set {option('repeats', '2')} or more to tell them apart."
        )
    else:
        limits.append(
            "A judge that follows neither position nor content but chance scores what chance "
            "scores: read the Grade Score beside the noise of repetitions."
        )
    return limits


def _largest_share_id(identity: str, result: Result) -> str:
    """Id of the share of a place that lies farthest from what no preference gives."""
    far = largest_position_share(result)
    return f"{identity}/{far.name}" if far else ""
