"""Rows of the validation table: spread by condition, its trend, tests as published studies print.

Spread has no reference of its own in R. What R knows is each test on a table of numbers: tables of
cell statistics are given to the spread functions as they are, and one item a condition makes the
centred judgments of the published tests R's own groups.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from judgestats.stats import condition_summary, icc, spread_published, spread_test
from judgestats.stats.dispersion import SpreadResult, trend_over_cells
from judgestats.stats.inference import TestResult
from validation.base import Case, load, matrix


@cache
def _groups(dataset: str) -> np.ndarray:
    """The groups of a long data set as one item's cells, padded with NaN."""
    frame = load(dataset)
    groups = [g["value"].to_numpy(dtype=float) for _, g in frame.groupby("group", sort=True)]
    out = np.full((1, len(groups), max(g.size for g in groups)), np.nan)
    for j, g in enumerate(groups):
        out[0, j, : g.size] = g
    return out


@cache
def _published(dataset: str) -> TestResult:
    return spread_published(_groups(dataset))


@cache
def _temperature_table() -> np.ndarray:
    frame = load("tempvar")
    return np.column_stack(
        [g["variance"].to_numpy(dtype=float) for _, g in frame.groupby("temperature", sort=True)]
    )


@cache
def _trend(kind: str) -> TestResult:
    return trend_over_cells(_temperature_table(), kind=kind, n_resamples=20, n_permutations=0)


@cache
def _spread(dataset: str) -> SpreadResult:
    return spread_test(matrix(dataset), n_permutations=99)


def _pairs() -> list[float]:
    return [row.p_adjusted for row in _spread("friedman15x5").post_hoc[0].rows]


def _upper_order(square: np.ndarray) -> list[float]:
    """A symmetric matrix in our order of pairs (1,2), (1,3), ..."""
    return [float(v) for v in square[np.triu_indices(square.shape[0], 1)]]


def _published_cases(dataset: str) -> list[Case]:
    return [
        Case(
            statistic=f"spread_published {what}",
            dataset=dataset,
            key="levene_mean",
            path=path,
            ours=ours,
        )
        for what, path, ours in (
            ("F", ("F value", 0), lambda: _published(dataset).statistic),
            ("p", ("Pr(>F)", 0), lambda: _published(dataset).p_value),
            ("df", ("Df",), lambda: list(_published(dataset).df.values())),
        )
    ]


CASES: list[Case] = [
    *_published_cases("varianceGroups"),
    *_published_cases("varianceGroupsInt"),
    Case(
        statistic="trend_over_cells rho",
        dataset="tempvar",
        key="spearman_asym",
        path=("estimate",),
        ours=lambda: _trend("spearman").statistic,
    ),
    Case(
        statistic="trend_over_cells tau",
        dataset="tempvar",
        key="kendall_tau_b_asym",
        path=("estimate",),
        ours=lambda: _trend("kendall").statistic,
    ),
    Case(
        statistic="spread_test rank test",
        dataset="friedman15x5",
        key="friedman",
        path=("statistic",),
        ours=lambda: _spread("friedman15x5").rank_test.statistic,
    ),
    Case(
        statistic="spread_test rank test p",
        dataset="friedman15x5",
        key="friedman",
        path=("p.value",),
        ours=lambda: _spread("friedman15x5").rank_test.p_value,
    ),
    Case(
        statistic="spread_test Iman-Davenport p",
        dataset="friedman15x5",
        key="iman_davenport",
        path=("p",),
        ours=lambda: _spread("friedman15x5").iman_davenport.p_value,  # type: ignore[union-attr]
    ),
    Case(
        statistic="spread_test post hoc Nemenyi",
        dataset="friedman15x5",
        key="nemenyi_by_hand",
        theirs=_upper_order,
        ours=_pairs,
        tolerance=1e-6,
    ),
    Case(
        statistic="condition_summary ICC(1)",
        dataset="parallel20x10",
        key="icc_irr_oneway__single",
        path=("value",),
        ours=lambda: _icc().estimate,
    ),
    Case(
        statistic="ICC(1) interval by F",
        dataset="parallel20x10",
        key="icc_irr_oneway__single",
        theirs=lambda v: [v["lbound"], v["ubound"]],
        ours=lambda: icc(matrix("parallel20x10"), interval="f", n_permutations=0).interval,
        tolerance=1e-8,
    ),
    Case(
        statistic="condition_summary mean square between items",
        dataset="parallel20x10",
        key="anova_mean_squares",
        path=("MSR",),
        ours=lambda: (
            condition_summary(matrix("parallel20x10")[:, None, :])
            .rows[0]
            .between_item_variance.details["ms_b"]
        ),
    ),
]


def _icc() -> Any:
    return condition_summary(matrix("parallel20x10")[:, None, :]).rows[0].icc
