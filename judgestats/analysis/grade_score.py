"""Does a judge select an option for what it says or for where it stands?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis import families, selections
from judgestats.analysis.audit_answer import audit_headlines, largest_position_share
from judgestats.analysis.coefficients import (
    declared_row,
    metrics_of_conditions,
    ranked,
    results_row,
)
from judgestats.analysis.families import AnalysisPlan, ClaimedTest, Hypothesis
from judgestats.analysis.records import Analysis, NamedResult, named_results
from judgestats.analysis.selections import Rotations
from judgestats.arrays import Bools
from judgestats.data.columns import Condition, heat
from judgestats.protocols.selection import UNRELATED
from judgestats.results import About
from judgestats.stats.agreement import grade_score_items, mean_share
from judgestats.stats.inference.result import Estimate, TestResult
from judgestats.terminal import option

_FAMILY = "places, prompts and the unrelated option, one test per comparison"
_ESTIMATED = "none: estimates with intervals over items"
_PROMPT, _OPTION, _WORDING = "factor_prompt", "factor_unrelated", "factor_wording"
_FEWEST = 3
"""Items that a comparison of prompts needs."""
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
    """The plan, as it is written to the run before the first call."""
    del conditions
    return families.planned(
        "grade_score", parameters,
        Hypothesis("grade", "How far are selections free of position?",
            "Grade Score per item, averaged, next to a judge that selects at random (always first "
            "scores 0, consistent 1)", _ESTIMATED, "primary"),
        Hypothesis(
            "unrelated", "What does an unrelated option do to that?",
            "difference of chance-corrected Grade Scores, paired by item; Wilcoxon's test", _FAMILY,
        ),
        Hypothesis("wins", "How often is the unrelated option selected?",
            "share of the parsed selections, next to a random choice", _ESTIMATED),
        Hypothesis("prompt", "Does the judge prompt change it?",
            "Friedman test (two prompts: Wilcoxon) on corrected scores, paired by item; "
            "differences from the first prompt with intervals", _FAMILY),
        Hypothesis("position", "Are some places selected more than the options there explain?",
            "X2 of places; options exchanged between the rotations of an item", _FAMILY),
        Hypothesis("noise", "How much is plain repetition noise?",
            "share of pairs of repetitions of one rotation that differ", _ESTIMATED),
        Hypothesis("preferred", "Is the preferred option selected?",
            "share of the selections of items whose preferred option is known, next to a random "
            "choice", _ESTIMATED),
        families.published(
            "Tables 1-3 of arXiv 2406.12043; cells that cannot be averages are flagged",
            "What did the replicated study print?",
        ),
        blocks="The item is the block: every prompt, with and without the unrelated option, sees "
        "the same items in every cyclic rotation of one order drawn by seed.",
        missing="A reply without one selection has a status and no choice. Items whose rotations "
        "were all parsed are primary; bounds over all items are reported next to them.",
    )  # fmt: skip


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
    rotations = selections.rotations_of(frame)
    results: list[NamedResult] = []
    rows: list[dict[str, Any]] = []
    tests: list[ClaimedTest] = []
    # So many that the smallest p-value there can be stands after adjustment in the family of
    # places, prompts and the unrelated option.
    n_permutations = max(declared.n_resamples, math.ceil(6 * len(rotations) / families.LEVEL) - 1)
    drawn = replace(declared, n_resamples=n_permutations)
    for condition, asked in frame.groupby("condition", sort=False):
        name = str(condition)
        row = selections.condition_row(name, asked)
        results += _condition(name, rotations[name], row, declared)
        tests += _positions(name, rotations[name], drawn)
        rows.append(row)
    table = pd.DataFrame(rows)
    for factor in (_OPTION, _PROMPT):
        differences, own = _effects(factor, rotations, table, drawn)
        results += differences
        tests += own
    tested, headlines = families.claimed_tests(
        "position.family", {t.result.title: t for t in tests}, _FAMILY, estimand="grade_score"
    )
    results = selections.sort_results([*results, *tested], declared)
    names, choice = table["condition"], "choice_score"
    return Analysis(
        experiment=declared.experiment,
        question=declared.question,
        drawing=ranked("grade_score", caption="Grade Score by condition."),
        headlines=(*audit_headlines(results), *headlines),
        conditions=table,
        results=tuple(results),
        limitations=(*_limits(frame, table, rotations), *selections.unanswered(results, declared)),
        rows=(
            declared_row("grade_score", names, ids="grade.{}"),
            results_row("llm_score", "LLM score", "LLM score", "llm_score", "parts.llm.{}", names),
            results_row(choice, "Choice score", "Choice score", choice, "parts.choice.{}", names),
            declared_row("flip_rate", names, ids="noise.{}", note=""),
            declared_row("option_win_rate", names, ids="wins.{}"),
        ),
        condition_metrics=metrics_of_conditions(rows, _METRICS),
    )


def _condition(
    name: str, rotations: Rotations, row: dict[str, Any], declared: AnalysisPlan
) -> list[NamedResult]:
    items = grade_score_items(rotations.positions, n_options=rotations.n_options)
    complete = np.asarray(items["complete"], dtype=bool)
    scored = partial(
        stats.grade_score, rotations.positions, n_options=rotations.n_options,
        cluster=rotations.cluster, level=declared.level, n_draws=declared.n_resamples,
        seed=declared.seed,
    )  # fmt: skip
    grade = _count_items(scored(score="grade"), rotations, complete)
    corrected = _count_items(scored(score="corrected"), rotations, complete)
    results = selections.entered(
        row, name,
        ("grade_score", "primary", "grade", "Grade Score", grade),
        ("corrected", "primary", "grade.corrected", "Corrected for chance", corrected),
    )  # fmt: skip
    for part, title in (("llm", "LLM score"), ("choice", "Choice score")):
        key = f"{part}_score"
        if not complete.any():
            row[key] = math.nan
            continue
        share = mean_share(
            np.asarray(items[key], dtype=float)[complete], name=key, label=title,
            cluster=rotations.cluster[complete], level=declared.level,
        )  # fmt: skip
        share = _count_items(share, rotations, complete)
        entry: selections.Entry = (key, "descriptive", f"parts.{part}", title, share)
        results += selections.entered(row, name, entry)
    named = {"least_if_read": "low", "most_if_read": "high"}
    for key in ("chance", "harmonic_of_means", *named):
        row[key] = float(grade.details[named.get(key, key)])
    if row["n_replications"] > 1:
        differ = "Repetitions that differ"
        entry = ("noise", "secondary", "noise", differ, _noise(rotations, declared))
        results += selections.entered(row, name, entry)
    read = np.asarray((rotations.choices != "").any(axis=1))
    every = np.ones(len(read), dtype=bool)
    unrelated = (rotations.choices == UNRELATED).any() or row.get(_OPTION) == "yes"
    present = np.asarray(rotations.preferred != "")
    n_options = set(rotations.n_options.tolist())
    common_n = n_options.pop() if len(n_options) == 1 else None
    for column, key, title, kept, wanted, sizes in (
        ("unrelated_wins", "wins", "Unrelated option selected", every & unrelated, UNRELATED,
         common_n),
        ("chosen_preferred", "preferred", "Preferred option selected", present,
         rotations.preferred[present], None),
    ):  # fmt: skip
        if not kept.any():
            continue
        share = stats.option_win_rate(
            rotations.choices[kept], option=wanted, n_options=sizes,
            cluster=rotations.cluster[kept], level=declared.level,
        )  # fmt: skip
        share = _count_items(share, rotations, read & kept)
        selections.entered(row, name, (column, "secondary", "", "", share))
        uniform = float(np.mean(1 / rotations.n_options[kept]))
        results.append(selections.share_result(f"{key}.{name}", title, name, share, uniform))
    return results


def _count_items(estimate: Estimate, rotations: Rotations, used: Bools) -> Estimate:
    """The estimate with its items counted as items, however often their rotations were repeated."""
    n = len(set(rotations.items[used].tolist()))
    return estimate.replace(sample=replace(estimate.sample, n_items=n))


def _noise(rotations: Rotations, declared: AnalysisPlan) -> Estimate:
    """Selections of the same rotation, repeated: item and rotation are the unit."""
    wide = rotations.repetitions()
    clusters = pd.Series(rotations.cluster, index=rotations.items).groupby(level=0).first()
    of_row = clusters.loc[wide.index.get_level_values("item_id")].to_numpy(object)
    flips = stats.flip_rate(wide.to_numpy(object), cluster=of_row, level=declared.level)
    return _count_items(flips, rotations, np.ones(len(rotations.items), dtype=bool))


def _positions(name: str, rotations: Rotations, drawn: AnalysisPlan) -> list[ClaimedTest]:
    """Over the items with the most common number of options, since places differ with it."""
    n = int(np.bincount(rotations.n_options).argmax())
    own = rotations.n_options == n
    if own.sum() < 2:
        return []
    test = stats.position_test(
        rotations.positions[own, :n],
        n_options=n,
        cluster=rotations.cluster[own],
        **drawn.resampling,
    )
    named = NamedResult(f"position.{name}", f"Places selected, {name}", "secondary", test)
    far, about = largest_position_share(test), About(conditions=(name,), varied="place")
    size = f"{named.id}/{far.name}" if far else ""
    return [ClaimedTest(result=named, about=about, size=size)]


def _effects(
    factor: str, rotations: Mapping[str, Rotations], table: pd.DataFrame, drawn: AnalysisPlan
) -> tuple[list[NamedResult], list[ClaimedTest]]:
    """What the unrelated option, or another prompt than the first, does to corrected scores."""
    of_option = factor == _OPTION
    key, of_test, varied = (
        ("unrelated", "unrelated.test", "unrelated option") if of_option
        else ("prompt.difference", "prompt", "prompt")
    )  # fmt: skip
    differences: list[NamedResult] = []
    tests: list[ClaimedTest] = []
    for name, levels in _strata(table, factor):
        ordered = sorted(levels) if of_option else list(levels)
        own_scores = {level: rotations[levels[level]].item_scores() for level in ordered}
        base, scores = ordered[0], pd.DataFrame(own_scores).dropna()
        if len(levels) < 2 or len(scores) < _FEWEST:
            continue
        own: list[NamedResult] = []
        largest, size = -1.0, ""
        direction: Literal["", "higher", "lower"] = ""
        for level, less in _less(rotations, levels, base, drawn.level).items():
            title, identity = f"Prompt {level} minus prompt {base}", f"{key}.{level}"
            if of_option:
                title, identity = "With minus without the unrelated option", key
                direction = families.direction_of(less.estimate)
            own += named_results(name, "secondary", (identity, title, less))
            if math.isfinite(less.estimate) and abs(less.estimate) > largest:
                largest, size = abs(less.estimate), own[-1].id
        what = "Unrelated option" if of_option else "Prompts compared"
        test = _compared(scores, rotations[levels[base]], drawn, factor)
        differences += own
        tests.append(
            ClaimedTest(
                result=NamedResult(f"{of_test}.{name}", f"{what}, {name}", "secondary", test),
                about=About(stratum=name, conditions=tuple(levels.values()), varied=varied),
                direction=direction, beside=tuple(r.id for r in own), size=size,
            )
        )  # fmt: skip
    return differences, tests


def _strata(table: pd.DataFrame, vary: str) -> list[tuple[str, dict[str, str]]]:
    """Conditions that differ in one factor only: what they share, and level to condition."""
    if vary not in table:
        return []
    rest = [
        c for c in ("judge", "temperature", _PROMPT, _OPTION, _WORDING) if c in table and c != vary
    ]
    out = []
    for key, own in table.groupby(rest, sort=False):
        factors = dict(zip(rest, key, strict=True))
        words = [str(factors["judge"]), heat(factors["temperature"])]
        if _PROMPT in factors:
            words.append(f"prompt {factors[_PROMPT]}")
        if _OPTION in factors:
            words.append("with unrelated" if factors[_OPTION] == "yes" else "without unrelated")
        words += [str(factors[_WORDING])] if _WORDING in factors else []
        levels = {str(v): str(c) for v, c in zip(own[vary], own["condition"], strict=True)}
        out.append((", ".join(words), levels))
    return out


def _less(
    rotations: Mapping[str, Rotations], levels: Mapping[str, str], base: str, confidence: float
) -> dict[str, Estimate]:
    """Every other level minus the base, of chance-corrected scores of the same items."""
    first = rotations[levels[base]]
    out = {}
    for level, condition in levels.items():
        second = rotations[condition]
        if level == base or not first.index.equals(second.index):
            continue
        width = max(first.positions.shape[1], second.positions.shape[1])
        padded = [
            np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=math.nan)
            for p in (first.positions, second.positions)
        ]
        out[level] = stats.grade_score_difference(
            *padded, n_options_first=first.n_options, n_options_second=second.n_options,
            cluster=first.cluster, level=confidence,
        )  # fmt: skip
    return out


def _compared(
    scores: pd.DataFrame, first: Rotations, drawn: AnalysisPlan, factor: str
) -> TestResult:
    """Levels (columns) compared on the same items (rows): Friedman, of two Wilcoxon."""
    clusters = pd.Series(first.cluster, index=first.items).groupby(level=0).first()
    names = [f"{factor.removeprefix('factor_')} {c}" for c in scores.columns]
    own = clusters.loc[scores.index].to_numpy(object)
    return selections.matched_rank_test(scores.to_numpy(float), drawn, names=names, cluster=own)


def _limits(
    frame: pd.DataFrame, table: pd.DataFrame, rotations: Mapping[str, Rotations]
) -> list[str]:
    limits = selections.selection_limits(frame, table)
    sizes = sorted({int(n) for r in rotations.values() for n in r.n_options})
    if len(sizes) > 1:
        limits.append(
            f"Items have {', '.join(map(str, sizes))} options: what chance scores differs with "
            "that, so conditions are compared by chance-corrected scores. Places are tested over "
            "the items with the most common number."
        )
    once = (
        "One repetition of every rotation: selections may differ between rotations by position or "
        f"by noise. Set {option('repeats', '2')} or more to separate them."
    )
    chance = (
        "A judge that selects at random has the Grade Score of chance, not 0. Compare the Grade "
        "Score with the noise of repetitions."
    )
    return [*limits, once if int(table["n_replications"].max()) < 2 else chance]
