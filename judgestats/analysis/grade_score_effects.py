"""What an unrelated option and the judge prompt do to the Grade Score, paired by item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from judgestats.analysis.families import direction_of
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.rotations import Rotations
from judgestats.analysis.selections import named
from judgestats.judgments.settings import heat
from judgestats.results import About
from judgestats.stats.agreement.grade_score import grade_score_difference
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.wilcoxon import wilcoxon_signed_rank
from judgestats.stats.inference.result import Estimate, TestResult

_PROMPT, OPTION = "factor_prompt", "factor_unrelated"
_FEWEST = 3
"""Items that a comparison of prompts needs."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A test of what a factor does, with what its headline says beside the p."""

    result: NamedResult
    about: About
    direction: Literal["", "higher", "lower"] = ""
    beside: tuple[str, ...] = ()
    size: str = ""


def _strata(table: pd.DataFrame, vary: str) -> list[tuple[str, dict[str, str]]]:
    """Conditions that differ in one factor only: what they share, and level to condition."""
    if vary not in table:
        return []
    rest = [c for c in ("judge", "temperature", _PROMPT, OPTION) if c in table and c != vary]
    out = []
    for key, own in table.groupby(rest, sort=False):
        factors = dict(zip(rest, key, strict=True))
        words = [str(factors["judge"]), heat(factors["temperature"])]
        if _PROMPT in factors:
            words.append(f"prompt {factors[_PROMPT]}")
        if OPTION in factors:
            words.append("with unrelated" if factors[OPTION] == "yes" else "without unrelated")
        levels = {str(v): str(c) for v, c in zip(own[vary], own["condition"], strict=True)}
        out.append((", ".join(words), levels))
    return out


def effect_of_option(
    rotations: Mapping[str, Rotations],
    table: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    n_permutations: int,
) -> tuple[list[NamedResult], list[Effect]]:
    """Differences that the unrelated option makes to chance-corrected scores, and their tests.

    Parameters
    ----------
    rotations : mapping of condition to Rotations
    table : DataFrame
        One row a condition.
    declared : AnalysisPlan
    n_permutations : int
        So many that the smallest p stands after adjustment.

    Returns
    -------
    list of NamedResult
    list of Effect
    """
    results, effects = [], []
    for name, levels in _strata(table, OPTION):
        for less in _less(rotations, levels, "no", declared).values():
            title = f"With minus without the unrelated option, {name}"
            results.append(named(f"unrelated.{name}", title, "secondary", less))
            scores = _scores(rotations, {k: levels[k] for k in ("no", "yes")})
            if len(scores) >= _FEWEST:
                test = _compared(scores, rotations[levels["no"]], declared, n_permutations, OPTION)
                effects.append(
                    Effect(
                        result=named(
                            f"unrelated.test.{name}", f"Unrelated option, {name}", "secondary", test
                        ),
                        about=_about(name, levels, "unrelated option"),
                        direction=direction_of(less.estimate),
                        beside=(f"unrelated.{name}",),
                        size="" if math.isnan(less.estimate) else f"unrelated.{name}",
                    )
                )
    return results, effects


def _about(stratum: str, levels: Mapping[str, str], varied: str) -> About:
    return About(stratum=stratum, conditions=tuple(levels.values()), varied=varied)


def _scores(rotations: Mapping[str, Rotations], levels: Mapping[str, str]) -> pd.DataFrame:
    """Corrected scores of the items that all levels have."""
    return pd.DataFrame({k: rotations[c].item_scores() for k, c in levels.items()}).dropna()


def _less(
    rotations: Mapping[str, Rotations], levels: Mapping[str, str], base: str, declared: AnalysisPlan
) -> dict[str, Estimate]:
    """Every other level less the base, of chance-corrected scores of the same items."""
    if base not in levels:
        return {}
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
        out[level] = grade_score_difference(
            padded[0],
            padded[1],
            n_options_first=first.n_options,
            n_options_second=second.n_options,
            cluster=first.cluster,
            level=declared.level,
        )
    return out


def effect_of_prompt(
    rotations: Mapping[str, Rotations],
    table: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    n_permutations: int,
) -> tuple[list[NamedResult], list[Effect]]:
    """Prompts compared: each prompt less the first, and one test a stratum.

    Parameters
    ----------
    found, table, declared, n_permutations
        As `effect_of_option`.

    Returns
    -------
    list of NamedResult
    list of Effect
    """
    differences: list[NamedResult] = []
    effects: list[Effect] = []
    for name, levels in _strata(table, _PROMPT):
        scores = _scores(rotations, levels)
        if len(levels) < 2 or len(scores) < _FEWEST:
            continue
        base = next(iter(levels))
        less = {
            f"prompt.difference.{other}.{name}": (other, difference)
            for other, difference in _less(rotations, levels, base, declared).items()
        }
        own = [
            named(identity, f"Prompt {other} less prompt {base}, {name}", "secondary", difference)
            for identity, (other, difference) in less.items()
        ]
        usable = {i: abs(d.estimate) for i, (_, d) in less.items() if math.isfinite(d.estimate)}
        test = _compared(scores, rotations[levels[base]], declared, n_permutations, _PROMPT)
        effects.append(
            Effect(
                result=named(f"prompt.{name}", f"Prompts compared, {name}", "secondary", test),
                about=_about(name, levels, "prompt"),
                beside=tuple(r.id for r in own),
                size=max(usable, key=lambda i: usable[i], default=""),
            )
        )
        differences += own
    return differences, effects


def _compared(
    scores: pd.DataFrame,
    first: Rotations,
    declared: AnalysisPlan,
    n_permutations: int,
    factor: str,
) -> TestResult:
    """Levels (columns) compared on the same items (rows): Friedman, of two Wilcoxon."""
    clusters = pd.Series(first.cluster, index=first.items).groupby(level=0).first()
    common: dict[str, Any] = {
        "names": [f"{factor.removeprefix('factor_')} {c}" for c in scores.columns],
        "cluster": clusters.loc[scores.index].to_numpy(object),
        "level": declared.level,
    }
    data = scores.to_numpy(float)
    if data.shape[1] == 2:
        return wilcoxon_signed_rank(data[:, 0], data[:, 1], **common)
    return friedman_test(data, **common, n_permutations=n_permutations, seed=declared.seed)
