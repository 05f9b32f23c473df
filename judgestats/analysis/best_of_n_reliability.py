"""Reliability of choices: of one and of all, by benchmark, by temperature, across judges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis import families
from judgestats.analysis.recommendation import repeats_needed
from judgestats.analysis.records import NamedResult, named_results, results_by_subject
from judgestats.analysis.selections import Choices, add_estimate
from judgestats.data.request_fields import heat
from judgestats.results import About, Headline, apa_number
from judgestats.stats.agreement.across_orders import agreement_across_judges
from judgestats.stats.agreement.chance_corrected import gwet_ac1
from judgestats.stats.agreement.raw_agreement import flip_rate
from judgestats.stats.agreement.vote_share import vote_share_reliability
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.comparison.trend import page_trend_test
from judgestats.stats.inference.result import TestResult

FEWEST = 5
"""Fewer items of a benchmark than this are not analysed by themselves."""


def reliability(
    name: str, choices: Choices, row: dict[str, Any], declared: families.AnalysisPlan
) -> list[NamedResult]:
    """Reliability of a condition's choices, by both estimators and both policies for the unread.

    Parameters
    ----------
    name : str
        The condition.
    choices : Choices
    row : dict
        The condition's row, which is added to.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
    """
    common: dict[str, Any] = {"cluster": choices.cluster, "level": declared.level}
    tested = {**common, "n_permutations": declared.n_resamples, "seed": declared.seed}
    one = vote_share_reliability(choices.values, **tested)
    many = vote_share_reliability(choices.values, k=None, **tested)
    kappa = vote_share_reliability(choices.values, estimator="kappa", **tested)
    kappa_all = vote_share_reliability(choices.values, k=None, estimator="kappa", **tested)
    category = vote_share_reliability(choices.with_status, **tested)
    letters = sorted({v for v in choices.values.ravel() if v})
    ac1 = gwet_ac1(choices.values, categories=letters if len(letters) > 1 else None, **tested)
    flips = flip_rate(choices.values, **tested)
    for key, result in (
        ("vote_share", one),
        ("vote_share_all", many),
        ("vote_share_kappa", kappa),
        ("vote_share_unread_a_category", category),
        ("ac1", ac1),
        ("flip_rate", flips),
    ):
        add_estimate(row, key, result)
    row["judgments_for_80"] = one.details.get("k_for_80", math.nan)
    row["judgments_for_90"] = one.details.get("k_for_90", math.nan)
    return named_results(
        name,
        "primary",
        ("reliability.one", "One choice", one),
        ("reliability.all", "Shares of all replications", many),
    ) + named_results(
        name,
        "descriptive",
        ("repetition.kappa.one", "One choice, kappa estimator", kappa),
        ("repetition.kappa.all", "Shares of all, kappa estimator", kappa_all),
        ("repetition.unread", "Unread as a category", category),
        ("repetition.ac1", "Agreement of repetitions", ac1),
        ("repetition.flips", "Changed choices", flips),
        ("repeats.needed", "Choices for a reliability of .90", repeats_needed(one)),
    )


def benchmark_reliability(
    name: str, choices: Choices, row: dict[str, Any], declared: families.AnalysisPlan
) -> list[NamedResult]:
    """Reliability within each benchmark that has enough questions.

    Parameters
    ----------
    name, found, row, declared
        As `reliability`.

    Returns
    -------
    list of NamedResult
        None where there is one benchmark only.
    """
    groups = {str(c): choices.category == c for c in dict.fromkeys(choices.category)}
    if len(groups) < 2:
        return []
    results: list[NamedResult] = []
    for benchmark, own in groups.items():
        if int(own.sum()) < FEWEST:
            continue
        common: dict[str, Any] = {
            "cluster": choices.cluster[own],
            **declared.drawn,
        }
        one = vote_share_reliability(choices.values[own], **common)
        many = vote_share_reliability(choices.values[own], k=None, **common)
        row[f"vote_share in {benchmark}"] = one.estimate
        row[f"vote_share_all in {benchmark}"] = many.estimate
        results += named_results(
            name,
            "secondary",
            (f"benchmark.one.{benchmark}", f"One choice on {benchmark}", one),
            (f"benchmark.all.{benchmark}", f"Shares of all on {benchmark}", many),
        )
    return results


def disagreement(values: NDArray[np.object_]) -> NDArray[np.float64]:
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


_CHANGE, _RISE = "a change of repeated choices with temperature", "a rise with each temperature"
_SAYS = {
    (_CHANGE, "higher"): "choices repeat less often at the highest temperature than at the lowest "
    "above 0",
    (_CHANGE, "lower"): "choices repeat more often at the highest temperature than at the lowest "
    "above 0",
    (_RISE, "higher"): "choices repeat the less often the higher the temperature",
}


def _claimed(headline: Headline, what: str) -> Headline:
    """What a test of temperatures says, with its direction where it shows something."""
    says = _SAYS.get((what, headline.direction), "") if headline.claim == "differs" else ""
    return replace(headline, says=says) if says else headline


def across_temperatures(
    choices: Mapping[str, Choices], table: pd.DataFrame, declared: families.AnalysisPlan
) -> tuple[list[NamedResult], list[Headline]]:
    """Disagreement of repetitions across temperatures above 0, paired by question.

    Three temperatures or more: Friedman's test, and Page's for a rise along them.

    Parameters
    ----------
    choices : mapping of condition to Choices
    table : DataFrame
        One row a condition.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
    list of Headline
    """
    tests: dict[str, TestResult] = {}
    rises: dict[str, TestResult] = {}
    rising: dict[str, Literal["", "higher", "lower"]] = {}
    for judge, own in table[table["temperature"] > 0].groupby("judge", sort=False):
        if len(own) < 2:
            continue
        own = own.sort_values("temperature")  # noqa: PLW2901 (the same rows, in order)
        columns = [disagreement(choices[str(c)].values) for c in own["condition"]]
        data = np.column_stack(columns)
        clusters = choices[str(own["condition"].iloc[0])].cluster
        kept = np.isfinite(data).all(axis=1)
        names = [heat(t) for t in own["temperature"]]
        if kept.sum() < 3:
            continue
        rising[str(judge)] = families.direction_of(float(np.mean(data[kept, -1] - data[kept, 0])))
        common: dict[str, Any] = {"names": names, "cluster": clusters[kept]}
        if len(names) == 2:
            tests[str(judge)] = wilcoxon_signed_rank(
                data[kept, 0], data[kept, 1], **common, level=declared.level
            )
        else:
            tests[str(judge)] = friedman_test(data[kept], **common, **declared.drawn)
            rises[str(judge)] = page_trend_test(
                data[kept], **common, level=declared.level, seed=declared.seed
            )
    results = [
        named
        for key, title, own_tests in (
            ("temperature", "Disagreement of repetitions across temperatures", tests),
            ("temperature.rise", "Disagreement rises with temperature", rises),
        )
        for named in results_by_subject(key, title, "secondary", own_tests)
    ]
    family = families.family_of_tests(
        "temperature.family",
        {**tests, **{f"{judge}, rising": t for judge, t in rises.items()}},
        "disagreement across temperatures, one test of each kind per judge",
    )
    headlines = [
        _claimed(
            families.headline_of_test(
                result, family, what=what, estimand="",
                about=About(
                    judge=judge, stratum=judge, varied="temperature",
                    conditions=tuple(table.loc[table["judge"] == judge, "condition"]),
                ),
                direction=rising[judge],
            ), what,
        )
        for (judge, what), result in zip(
            [*((j, _CHANGE) for j in tests), *((j, _RISE) for j in rises)], results, strict=True
        )
    ]  # fmt: skip
    return [*results, *family], headlines


def across_judges(
    choices: Mapping[str, Choices], table: pd.DataFrame, declared: families.AnalysisPlan
) -> list[NamedResult]:
    """Agreement of the judges at each temperature, per replication and overall.

    Parameters
    ----------
    choices, table, declared
        As `across_temperatures`.

    Returns
    -------
    list of NamedResult
    """
    results = []
    for temperature, own in table.groupby("temperature", sort=False, dropna=False):
        if len(own) < 2:
            continue
        judged = [choices[str(c)] for c in own["condition"]]
        width = min(f.values.shape[1] for f in judged)
        result = agreement_across_judges(
            np.stack([f.values[:, :width] for f in judged]),
            cluster=judged[0].cluster,
            **declared.drawn,
        )
        numbers = result.details["five_numbers"].values()
        five = " / ".join(apa_number(float(v), digits=3, bounded=True) for v in numbers)
        results.append(
            NamedResult(
                f"judges.{heat(temperature)}",
                f"Agreement of {len(own)} judges at {heat(temperature)} (least, quartiles and "
                f"greatest over replications: {five})",
                "secondary",
                result,
                headline=True,
            )
        )
    return results
