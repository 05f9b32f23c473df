"""Does a judge select an option for what it says or for where it stands?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats import stats
from judgestats.analysis import families, selections
from judgestats.analysis.audit_answer import audit_headlines, largest_position_share
from judgestats.analysis.coefficients import condition_metrics, declared_row, ranked, results_row
from judgestats.analysis.records import Analysis, NamedResult, named_results
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


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> families.AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions
    return families.planned(
        "grade_score", parameters,
        families.Hypothesis(
            "grade", "How far are selections free of position?",
            "Grade Score per item, averaged, next to a judge that selects at random (always first "
            "scores 0, consistent 1)", _ESTIMATED, "primary",
        ),
        families.Hypothesis(
            "unrelated", "What does an unrelated option do to that?",
            "difference of chance-corrected Grade Scores, paired by item; Wilcoxon's test", _FAMILY,
        ),
        families.Hypothesis(
            "wins", "How often is the unrelated option selected?",
            "share of the parsed selections, next to a random choice", _ESTIMATED,
        ),
        families.Hypothesis(
            "prompt", "Does the judge prompt change it?",
            "Friedman test (two prompts: Wilcoxon) on corrected scores, paired by item; "
            "differences from the first prompt with intervals", _FAMILY,
        ),
        families.Hypothesis(
            "position", "Are some places selected more than the options there explain?",
            "X2 of places; options exchanged between the rotations of an item", _FAMILY,
        ),
        families.Hypothesis(
            "noise", "How much is plain repetition noise?",
            "share of pairs of repetitions of one rotation that differ", _ESTIMATED,
        ),
        families.Hypothesis(
            "preferred", "Is the preferred option selected?",
            "share of the selections of items whose preferred option is known, next to a random "
            "choice", _ESTIMATED,
        ),
        families.published(
            "Tables 1-3 of arXiv 2406.12043; cells that cannot be averages are flagged",
            "What did the replicated study print?",
        ),
        blocks="The item is the block: every prompt, with and without the unrelated option, sees "
        "the same items in every cyclic rotation of one order drawn by seed.",
        missing="A reply without one selection has a status and no choice. Items whose rotations "
        "were all parsed are primary; bounds over all items are reported next to them.",
    )  # fmt: skip


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
    tests: list[families.ClaimedTest] = []
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
        condition_metrics={str(r["condition"]): condition_metrics(r, _METRICS) for r in rows},
    )


def _condition(
    name: str, rotations: selections.Rotations, row: dict[str, Any], declared: families.AnalysisPlan
) -> list[NamedResult]:
    common: dict[str, Any] = {"cluster": rotations.cluster, "level": declared.level}
    shown: dict[str, Any] = {"n_options": rotations.n_options}
    items = grade_score_items(rotations.positions, **shown)
    complete = np.asarray(items["complete"], dtype=bool)
    kinds: tuple[Literal["grade", "corrected"], ...] = ("grade", "corrected")
    grade, corrected = (
        _count_items(
            stats.grade_score(
                rotations.positions, score=kind, **shown, **common, n_draws=declared.n_resamples,
                seed=declared.seed,
            ),
            rotations, complete,
        )
        for kind in kinds
    )  # fmt: skip
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
        results += selections.entered(
            row, name, (key, "descriptive", f"parts.{part}", title, share)
        )
    for key in ("chance", "harmonic_of_means"):
        row[key] = float(grade.details[key])
    row["least_if_read"], row["most_if_read"] = (float(grade.details[k]) for k in ("low", "high"))
    if row["n_replications"] > 1:
        noise = _noise(rotations, declared)
        results += selections.entered(
            row, name, ("noise", "secondary", "noise", "Repetitions that differ", noise)
        )
    read = np.asarray((rotations.choices != "").any(axis=1))
    every = np.ones(len(read), dtype=bool)
    unrelated = (rotations.choices == UNRELATED).any() or row.get(_OPTION) == "yes"
    present = np.asarray(rotations.preferred != "")
    for column, key, title, kept, wanted, sizes in (
        ("unrelated_wins", "wins", "Unrelated option selected", every & unrelated, UNRELATED,
         _common_n(rotations)),
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


def _count_items(
    estimate: Estimate, rotations: selections.Rotations, used: NDArray[np.bool_]
) -> Estimate:
    """The estimate with its items counted as items, however often their rotations were repeated."""
    n = len(set(rotations.items[used].tolist()))
    return estimate.replace(sample=replace(estimate.sample, n_items=n))


def _common_n(rotations: selections.Rotations) -> int | None:
    sizes = set(rotations.n_options.tolist())
    return sizes.pop() if len(sizes) == 1 else None


def _noise(rotations: selections.Rotations, declared: families.AnalysisPlan) -> Estimate:
    """Selections of the same rotation, repeated: item and rotation are the unit."""
    wide = rotations.repetitions()
    clusters = pd.Series(rotations.cluster, index=rotations.items).groupby(level=0).first()
    of_row = clusters.loc[wide.index.get_level_values("item_id")].to_numpy(object)
    flips = stats.flip_rate(wide.to_numpy(object), cluster=of_row, level=declared.level)
    return _count_items(flips, rotations, np.ones(len(rotations.items), dtype=bool))


def _positions(
    name: str, rotations: selections.Rotations, drawn: families.AnalysisPlan
) -> list[families.ClaimedTest]:
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
    identity, far = f"position.{name}", largest_position_share(test)
    return [
        families.ClaimedTest(
            result=NamedResult(identity, f"Places selected, {name}", "secondary", test),
            about=About(conditions=(name,), varied="place"),
            size=f"{identity}/{far.name}" if far else "",
        )
    ]


def _effects(
    factor: str,
    rotations: Mapping[str, selections.Rotations],
    table: pd.DataFrame,
    drawn: families.AnalysisPlan,
) -> tuple[list[NamedResult], list[families.ClaimedTest]]:
    """What the unrelated option, or another prompt than the first, does to corrected scores."""
    of_option = factor == _OPTION
    key, of_test, varied = (
        ("unrelated", "unrelated.test", "unrelated option") if of_option
        else ("prompt.difference", "prompt", "prompt")
    )  # fmt: skip
    differences: list[NamedResult] = []
    tests: list[families.ClaimedTest] = []
    for name, levels in _strata(table, factor):
        ordered = sorted(levels) if of_option else list(levels)
        base, scores = ordered[0], _scores(rotations, levels)[ordered]
        if len(levels) < 2 or len(scores) < _FEWEST:
            continue
        own: list[NamedResult] = []
        largest, size = -1.0, ""
        direction: Literal["", "higher", "lower"] = ""
        for level, less in _less(rotations, levels, base, drawn.level).items():
            title = f"Prompt {level} minus prompt {base}"
            if of_option:
                title, direction = (
                    "With minus without the unrelated option",
                    families.direction_of(less.estimate),
                )
            identity = key if of_option else f"{key}.{level}"
            own += named_results(name, "secondary", (identity, title, less))
            if math.isfinite(less.estimate) and abs(less.estimate) > largest:
                largest, size = abs(less.estimate), own[-1].id
        what = "Unrelated option" if of_option else "Prompts compared"
        test = _compared(scores, rotations[levels[base]], drawn, factor)
        differences += own
        tests.append(
            families.ClaimedTest(
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


def _scores(
    rotations: Mapping[str, selections.Rotations], levels: Mapping[str, str]
) -> pd.DataFrame:
    """Corrected scores of the items that all levels have."""
    return pd.DataFrame({k: rotations[c].item_scores() for k, c in levels.items()}).dropna()


def _less(
    rotations: Mapping[str, selections.Rotations],
    levels: Mapping[str, str],
    base: str,
    confidence: float,
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
    scores: pd.DataFrame, first: selections.Rotations, drawn: families.AnalysisPlan, factor: str
) -> TestResult:
    """Levels (columns) compared on the same items (rows): Friedman, of two Wilcoxon."""
    clusters = pd.Series(first.cluster, index=first.items).groupby(level=0).first()
    common: dict[str, Any] = {
        "names": [f"{factor.removeprefix('factor_')} {c}" for c in scores.columns],
        "cluster": clusters.loc[scores.index].to_numpy(object),
    }
    return selections.matched_rank_test(scores.to_numpy(float), drawn, **common)


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
            "One repetition of every rotation: selections may differ between rotations by "
            f"position or by noise. Set {option('repeats', '2')} or more to separate them."
        )
    else:
        limits.append(
            "A judge that selects at random has the Grade Score of chance, not 0. Compare the "
            "Grade Score with the noise of repetitions."
        )
    return limits
