"""Stuart and Maxwell's test of the margins of paired verdicts with several categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from judgestats.arrays import Floats
from judgestats.stats.inference import distributions
from judgestats.stats.inference.proportions import proportion_limits
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample, TestResult
from judgestats.stats.layouts.square_table import square_table


def stuart_maxwell_test(
    x: object, y: object = None, *, categories: Sequence[Any] | None = None
) -> TestResult:
    r"""Stuart and Maxwell's test: do two paired verdicts use the categories equally often?

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Verdicts of the same items; or a square table alone.
    categories : sequence, optional

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        If the shapes do not fit.

    Notes
    -----
    :math:`\chi^2 = d' S^- d` with d the differences of the margins, :math:`S_{ii} = n_{i.} + n_{.i}
    - 2 n_{ii}`, :math:`S_{ij} = -(n_{ij} + n_{ji})`; df the rank of S (K - 1 where the categories
    are connected by changes). As ``irr::stuart.maxwell.mh``, which drops unused categories too.

    References
    ----------
    Stuart (1955), Biometrika 42, 412-416; Maxwell (1970), Br. J. Psychiatry 116, 651-655.

    Examples
    --------
    >>> result = stuart_maxwell_test([[20, 5, 3], [9, 15, 4], [1, 8, 12]])
    >>> round(result.statistic, 4), result.df["df"]
    (0.3824, 2.0)
    """
    where = "stuart_maxwell_test"
    table, labels, n_excluded = square_table(x, y, where=where, categories=categories)
    d = table.sum(axis=1) - table.sum(axis=0)
    spread = -(table + table.T)
    np.fill_diagonal(spread, table.sum(axis=1) + table.sum(axis=0) - 2 * np.diag(table))
    df = int(np.linalg.matrix_rank(spread, tol=1e-9 * max(float(table.sum()), 1.0)))
    reason = "" if df else "the two verdicts never differ"
    statistic = math.nan
    if not reason:
        inverse = np.linalg.pinv(spread, rcond=1e-10, hermitian=True)
        statistic = float(d @ inverse @ d)
    notes: tuple[Note, ...] = ()
    if not reason and df < table.shape[0] - 1:
        message = f"Changes connect the categories incompletely: {df} degrees of freedom."
        notes = (Note(code="reduced_df", message=message),)
    return _table_result(
        where,
        "Stuart-Maxwell test of marginal homogeneity",
        statistic,
        float(df),
        table,
        n_excluded,
        notes,
        reason,
        null="both verdicts use every category equally often",
        why="The Stuart-Maxwell test was used because two verdicts with several categories are "
        "paired and their rates are compared.",
        labels=labels,
        data_name="x and y" if y is not None else "table",
    )


def _table_result(
    name: str,
    method: str,
    statistic: float,
    df: float,
    table: Floats,
    n_excluded: int,
    notes: tuple[Note, ...],
    reason: str,
    *,
    null: str,
    why: str,
    labels: tuple[str, ...],
    data_name: str,
) -> TestResult:
    sample = Sample(
        n_items=int(table.sum()),
        excluded={"missing verdict": n_excluded},
    )
    n = float(table.sum())
    moved = 1 - float(np.trace(table)) / n if n else math.nan
    low, high = proportion_limits(n - float(np.trace(table)), n) if n else (math.nan, math.nan)
    rates = {}
    # Without a single pair there are no categories either, only an empty 1 x 1 table.
    for label, row, column in zip(labels, table.sum(axis=1), table.sum(axis=0), strict=bool(n)):
        rates[f"rate of {label}, first minus second"] = float(row - column) / n if n else math.nan
    return TestResult(
        name=name,
        method=method,
        statistic=statistic,
        statistic_name="chi-squared",
        df=MappingProxyType({"df": df}),
        p_value=math.nan if reason else float(distributions.chi2.sf(statistic, df)),
        sample=sample,
        null_hypothesis=null,
        why=why,
        effects=(
            Estimate(
                name="share_changed",
                label="share of items on which the verdicts differ",
                estimator="1 - raw agreement, Wilson interval",
                estimate=moved,
                interval=Interval(low=low, high=high, level=0.95, method="wilson") if n else None,
                sample=sample,
                reason="" if n else "there are no pairs",
            ),
        ),
        estimates=MappingProxyType(rates),
        data_name=data_name,
        notes=notes,
        reason=reason,
    )
