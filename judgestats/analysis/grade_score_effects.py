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
from judgestats.stats.adjust import adjust_family
from judgestats.stats.friedman import friedman_test
from judgestats.stats.grade_score import grade_score_difference
from judgestats.stats.result import Estimate, TestResult
from judgestats.stats.wilcoxon import wilcoxon_signed_rank

__all__ = ["OPTION", "effect_of_option", "effect_of_prompt", "family_of"]

_PROMPT, OPTION = "factor_prompt", "factor_unrelated"


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


def _strata(table: pd.DataFrame, vary: str) -> list[tuple[str, pd.DataFrame]]:
    """Conditions that differ in one factor only, with a name for what they share."""
    rest = [c for c in ("judge", "temperature", _PROMPT, OPTION) if c in table and c != vary]
    out = []
    for key, own in table.groupby(rest, sort=False):
        told = dict(zip(rest, key, strict=True))
        words = [str(told["judge"]), f"T={told['temperature']:g}"]
        if _PROMPT in told:
            words.append(f"prompt {told[_PROMPT]}")
        if OPTION in told:
            words.append("with unrelated" if told[OPTION] == "yes" else "without unrelated")
        out.append((", ".join(words), own))
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
    if OPTION not in table:
        return []
    results = []
    for name, own in _strata(table, OPTION):
        by = {str(o): str(c) for o, c in zip(own[OPTION], own["condition"], strict=True)}
        if set(by) != {"no", "yes"}:
            continue
        without, with_it = found[by["no"]], found[by["yes"]]
        if not without.index.equals(with_it.index):
            continue
        result = _difference(without, with_it, declared)
        results.append(
            named(
                f"unrelated.{name}",
                f"With minus without the unrelated option, {name}",
                "secondary",
                result,
            )
        )
    return results


def _difference(first: Rotations, second: Rotations, declared: AnalysisPlan) -> Estimate:
    """Second less first, of chance-corrected scores of the same items and repetitions."""
    width = max(first.positions.shape[1], second.positions.shape[1])
    pair = [
        np.pad(r.positions, ((0, 0), (0, width - r.positions.shape[1])), constant_values=math.nan)
        for r in (first, second)
    ]
    return grade_score_difference(
        pair[0],
        pair[1],
        n_options_first=first.n_options,
        n_options_second=second.n_options,
        cluster=first.cluster,
        level=declared.level,
    )


def effect_of_prompt(
    found: Mapping[str, Rotations], table: pd.DataFrame, declared: AnalysisPlan
) -> list[NamedResult]:
    """Prompts compared: one test a stratum, and each prompt less the first.

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
    tests: dict[str, TestResult] = {}
    differences: list[NamedResult] = []
    for name, own in _strata(table, _PROMPT) if _PROMPT in table else []:
        if len(own) < 2:
            continue
        scores = pd.DataFrame({p: found[str(c)].item_scores() for p, c in _pairs(own)}).dropna()
        first = found[str(own["condition"].iloc[0])]
        clusters = pd.Series(first.cluster, index=first.items).groupby(level=0).first()
        cluster = clusters.loc[scores.index].to_numpy(object)
        if len(scores) < 3:
            continue
        names = [f"prompt {c}" for c in scores.columns]
        (base, base_condition), *others = _pairs(own)
        for other, condition in others:
            if found[condition].index.equals(found[base_condition].index):
                less = _difference(found[base_condition], found[condition], declared)
                title = f"Prompt {other} less prompt {base}, {name}"
                key = f"prompt.difference.{other}.{name}"
                differences.append(named(key, title, "secondary", less))
        common: dict[str, Any] = {"names": names, "cluster": cluster, "level": declared.level}
        if len(names) == 2:
            tests[name] = wilcoxon_signed_rank(
                scores.iloc[:, 0].to_numpy(float), scores.iloc[:, 1].to_numpy(float), **common
            )
        else:
            tests[name] = friedman_test(
                scores.to_numpy(float),
                **common,
                n_permutations=declared.n_resamples,
                seed=declared.seed,
            )
    results = [
        named(f"prompt.{name}", f"Prompts compared, {name}", "secondary", test)
        for name, test in tests.items()
    ]
    family = "prompts, one test per judge, temperature and option"
    return results + differences + family_of("prompt", tests, family)


def _pairs(own: pd.DataFrame) -> list[tuple[str, str]]:
    return [(str(p), str(c)) for p, c in zip(own[_PROMPT], own["condition"], strict=True)]
