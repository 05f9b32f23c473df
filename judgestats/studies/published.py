"""What the replicated study printed: its unpaired tests, shown beside the paired ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.strata import (
    Stratum,
    strata_of,
)
from judgestats.judgments.shapes import ScoreArray
from judgestats.stats.comparison.kruskal_wallis import kruskal_test
from judgestats.stats.comparison.mann_whitney import pairwise_mann_whitney
from judgestats.stats.comparison.spearman import spearman_correlation
from judgestats.stats.inference.result import Note, Result, TestResult
from judgestats.stats.layouts.cell_statistics import Cells, cell_statistics
from judgestats.stats.spread.spread_published import levene_of_variances, spread_published

FloatArray = np.ndarray[tuple[int, int], np.dtype[np.float64]]

_UNPAIRED = Note(
    code="unpaired",
    message=(
        "As the replicated study computed it: the same items stand behind every group, which this "
        "test does not use. The paired tests answer the question."
    ),
)


def published_tests(array: ScoreArray, cells: pd.DataFrame) -> list[NamedResult]:
    """The tests of the replicated study on the same judgments; none of them uses the pairing.

    Spearman of within-item variance and temperature (all cells of a judge), Levene on scores
    centred by item and condition, and at each temperature Kruskal-Wallis and Mann-Whitney of the
    judges' within-item variances.

    Parameters
    ----------
    array : ScoreArray
    cells : DataFrame
        One row a condition, with judge and temperature.

    Returns
    -------
    list of NamedResult
        All of role ``replicated``.
    """
    cell_table = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    results: list[NamedResult] = []
    for stratum in strata_of(cells, vary="temperature"):
        judge = stratum.name
        results.append(
            _named(
                f"spearman.{judge}",
                f"Variance and temperature, {judge}",
                _trend(cell_table, stratum),
            )
        )
        scores = stratum.scores(array)
        for test in spread_published(scores, conditions=stratum.labels, tests=("levene",)):
            results.append(
                _named(f"levene.{judge}", f"Levene on centred scores, {judge}", _marked(test))
            )
    return [*results, *published_groups(array, strata_of(cells, vary="judge"), what="judges")]


def published_groups(
    array: ScoreArray, strata: Sequence[Stratum], *, what: str
) -> list[NamedResult]:
    """Kruskal-Wallis and Mann-Whitney on the within-item variances of every stratum, unpaired.

    Parameters
    ----------
    array : ScoreArray
    strata : sequence of Stratum
    what : str
        What is compared, in the plural.

    Returns
    -------
    list of NamedResult
        All of role ``replicated``.
    """
    cells = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    results: list[NamedResult] = []
    for stratum in strata:
        groups = [_variances(cells, c) for c in stratum.conditions]
        if any(g.size < 2 for g in groups):
            continue
        where, names = stratum.name, list(stratum.labels)
        test = kruskal_test(groups, names=names, ties="exact")  # as the study counted ties
        results.append(
            _named(f"kruskal.{where}", f"Variances of the {what}, {where}", _marked(test))
        )
        pairs = pairwise_mann_whitney(groups, names=names, adjust="none")
        results.append(
            _named(
                f"mann_whitney.{where}",
                f"Variances of pairs of {what}, not adjusted, {where}",
                pairs.replace(notes=(*pairs.notes, _UNPAIRED)),
            )
        )
    return results


def published_levene_of_variances(
    array: ScoreArray, strata: Sequence[Stratum], *, reference: str
) -> list[NamedResult]:
    """Levene on vectors of variances, each level against one: as a published claim rests on it.

    Parameters
    ----------
    array : ScoreArray
    strata : sequence of Stratum
    reference : str
        The level that all others are compared with.

    Returns
    -------
    list of NamedResult
        All of role ``replicated``.
    """
    cells = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    results: list[NamedResult] = []
    for stratum in strata:
        variances = dict(
            zip(stratum.labels, (_variances(cells, c) for c in stratum.conditions), strict=True)
        )
        base = variances.pop(reference, None)
        for label, values in variances.items():
            if base is None or min(base.size, values.size) < 2:
                continue
            test = levene_of_variances([base, values], conditions=[reference, label])
            results.append(
                _named(
                    f"levene_of_variances.{label}.{stratum.name}",
                    f"Levene on variances, {label} against {reference}, {stratum.name}",
                    _marked(test),
                )
            )
    return results


def published_ratios(
    treated: FloatArray, control: FloatArray, *, names: Sequence[str], where: str
) -> list[NamedResult]:
    """Kruskal-Wallis and Mann-Whitney on ratios of variances, item by item, between judges.

    A ratio with a variance of 0 under it is undefined and left out, which is counted.

    Parameters
    ----------
    treated, control : ndarray, shape (n_items, n_judges)
        Within-item variances.
    names : sequence of str
    where : str
        For ids and titles.

    Returns
    -------
    list of NamedResult
        All of role ``replicated``.
    """
    groups = []
    lost = 0
    for j in range(len(names)):
        defined = (control[:, j] > 0) & ~np.isnan(treated[:, j])
        lost += int(np.sum(~defined))
        groups.append(treated[defined, j] / control[defined, j])
    if len(groups) < 2 or min(g.size for g in groups) < 2:
        return []
    undefined = Note(
        code="ratio_undefined",
        message=f"{lost} ratios are left out: the variance they divide by is 0 or missing.",
    )
    test = kruskal_test(groups, names=names, ties="exact")  # as the study counted ties
    pairs = pairwise_mann_whitney(groups, names=names, adjust="none")
    return [
        _named(
            f"ratio_kruskal.{where}",
            f"Item-wise ratios of variances between judges, {where}",
            dataclasses.replace(_marked(test), notes=(*test.notes, _UNPAIRED, undefined)),
        ),
        _named(
            f"ratio_mann_whitney.{where}",
            f"Item-wise ratios of variances of pairs of judges, not adjusted, {where}",
            pairs.replace(notes=(*pairs.notes, _UNPAIRED, undefined)),
        ),
    ]


def _variances(cells: Cells, condition: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = cells.variance[:, cells.conditions.index(condition)]
    return values[~np.isnan(values)]


def _trend(cells: Cells, stratum: Stratum) -> TestResult:
    values = [_variances(cells, c) for c in stratum.conditions]
    at = [np.full(v.size, t) for v, t in zip(values, stratum.at or (), strict=True)]
    return _marked(spearman_correlation(np.concatenate(at), np.concatenate(values), interval=None))


def _marked(test: TestResult) -> TestResult:
    why = "The replicated study used it; it ignores that the same items stand behind every group."
    return dataclasses.replace(test, why=why, notes=(*test.notes, _UNPAIRED))


def _named(identity: str, title: str, result: Result) -> NamedResult:
    return NamedResult(id=f"published.{identity}", title=title, role="replicated", result=result)
