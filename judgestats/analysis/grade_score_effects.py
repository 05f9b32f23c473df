"""What an unrelated option and the judge prompt do to the Grade Score, paired by item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.rotations import Rotations
from judgestats.analysis.selections import named
from judgestats.judgments.settings import heat
from judgestats.stats.agreement.grade_score import grade_score_difference
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.wilcoxon import wilcoxon_signed_rank
from judgestats.stats.inference.adjust import adjust_family
from judgestats.stats.inference.result import Estimate, TestResult

__all__ = ["OPTION", "effect_of_option", "effect_of_prompt", "family_of"]

_PROMPT, OPTION = "factor_prompt", "factor_unrelated"
_FEWEST = 3
"""Items that a comparison of prompts needs."""


def family_of(prefix: str, tests: Mapping[str, TestResult], family: str) -> list[NamedResult]:
    """The tests of a family, adjusted together; none where there is one test only.

    Parameters
    ----------
    prefix : str
        Of the result's id.
    tests : mapping of name to TestResult
    family : str

    Returns
    -------
    list of NamedResult
    """
    known = {name: t for name, t in tests.items() if not math.isnan(t.p_value)}
    if len(known) < 2:
        return []
    adjusted = adjust_family(known, family=family, method="holm")
    title = f"{family[0].upper()}{family[1:]}, adjusted"
    return [named(f"{prefix}.family", title, "secondary", adjusted, headline=True)]


def _strata(table: pd.DataFrame, vary: str) -> list[tuple[str, dict[str, str]]]:
    """Conditions that differ in one factor only: what they share, and level to condition."""
    if vary not in table:
        return []
    rest = [c for c in ("judge", "temperature", _PROMPT, OPTION) if c in table and c != vary]
    out = []
    for key, own in table.groupby(rest, sort=False):
        told = dict(zip(rest, key, strict=True))
        words = [str(told["judge"]), heat(told["temperature"])]
        if _PROMPT in told:
            words.append(f"prompt {told[_PROMPT]}")
        if OPTION in told:
            words.append("with unrelated" if told[OPTION] == "yes" else "without unrelated")
        levels = {str(v): str(c) for v, c in zip(own[vary], own["condition"], strict=True)}
        out.append((", ".join(words), levels))
    return out


def effect_of_option(
    found: Mapping[str, Rotations], table: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    """Differences that the unrelated option makes to chance-corrected scores.

    Parameters
    ----------
    found : mapping of condition to Rotations
    table : DataFrame
        One row a condition.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
    """
    results = []
    for name, levels in _strata(table, OPTION):
        for less in _less(found, levels, "no", declared).values():
            title = f"With minus without the unrelated option, {name}"
            results.append(named(f"unrelated.{name}", title, "secondary", less))
    return results


def _less(
    found: Mapping[str, Rotations], levels: Mapping[str, str], base: str, declared: AnalysisPlan
) -> dict[str, Estimate]:
    """Every other level less the base, of chance-corrected scores of the same items."""
    if base not in levels:
        return {}
    first = found[levels[base]]
    out = {}
    for level, condition in levels.items():
        second = found[condition]
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
    found: Mapping[str, Rotations], table: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    """Prompts compared: one test a stratum, and each prompt less the first.

    Parameters
    ----------
    found, table, declared
        As `effect_of_option`.

    Returns
    -------
    list of NamedResult
    """
    tests: dict[str, TestResult] = {}
    differences: list[NamedResult] = []
    for name, levels in _strata(table, _PROMPT):
        scores = pd.DataFrame({p: found[c].item_scores() for p, c in levels.items()}).dropna()
        if len(levels) < 2 or len(scores) < _FEWEST:
            continue
        base = next(iter(levels))
        for other, less in _less(found, levels, base, declared).items():
            title = f"Prompt {other} less prompt {base}, {name}"
            key = f"prompt.difference.{other}.{name}"
            differences.append(named(key, title, "secondary", less))
        tests[name] = _compared(scores, found[levels[base]], declared)
    results = [
        named(f"prompt.{name}", f"Prompts compared, {name}", "secondary", test)
        for name, test in tests.items()
    ]
    family = "prompts, one test per judge, temperature and option"
    return results + differences + family_of("prompt", tests, family)


def _compared(scores: pd.DataFrame, first: Rotations, declared: AnalysisPlan) -> TestResult:
    """Prompts (columns) compared on the same items (rows): Friedman, of two Wilcoxon."""
    clusters = pd.Series(first.cluster, index=first.items).groupby(level=0).first()
    common: dict[str, Any] = {
        "names": [f"prompt {c}" for c in scores.columns],
        "cluster": clusters.loc[scores.index].to_numpy(object),
        "level": declared.level,
    }
    data = scores.to_numpy(float)
    if data.shape[1] == 2:
        return wilcoxon_signed_rank(data[:, 0], data[:, 1], **common)
    return friedman_test(data, **common, n_permutations=declared.n_resamples, seed=declared.seed)
