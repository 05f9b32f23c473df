"""Statistics of each column: what it adds, and what alpha would be without it (psych::alpha)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.result import Note, Result, Sample
from judgestats.stats.layouts.score_matrix import (
    Missing,
    correlations,
    em_covariance,
    pairwise_covariance,
    prepare_scores,
)
from judgestats.stats.reliability.internal_consistency import (
    alpha_from_covariance,
    duhachek_std_error,
    squared_multiple_correlations,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ColumnStatistics(Result):
    """What `column_statistics` returns.

    Attributes
    ----------
    columns : DataFrame
        One row per column: ``n``, ``raw_r`` (correlation with the row mean), ``std_r`` (the same of
        z-scores), ``r_corrected`` (for overlap, by squared multiple correlations), ``r_drop``
        (with the sum of the others), ``mean``, ``sd``.
    dropped : DataFrame
        One row per column: ``alpha``, ``alpha_standardized``, ``lambda6``, ``average_r``,
        ``signal_to_noise``, ``std_error``, ``var_r``, ``median_r`` of the columns that are left.
    sample : Sample
    notes : tuple of Note
    reason : str
    """

    columns: pd.DataFrame
    dropped: pd.DataFrame
    sample: Sample
    notes: tuple[Note, ...] = ()
    reason: str = ""

    def tidy(self) -> pd.DataFrame:
        """Both tables side by side, one row per column."""
        return self.columns.merge(
            self.dropped.add_prefix("dropped_").rename(columns={"dropped_term": "term"}), on="term"
        )

    def sentence(self) -> str:
        """Which column the others agree with least."""
        if self.reason:
            return f"Column statistics are undefined: {self.reason}."
        ordered = self.columns.sort_values("r_drop")
        name, least = ordered["term"].iloc[0], float(ordered["r_drop"].iloc[0])
        return (
            f"{name} agrees least with the others (r = {least:.3g} with their sum; {self.sample})."
        )

    def __str__(self) -> str:
        lines = ["", "\tColumn statistics", ""]
        if self.reason:
            lines.append(f"undefined: {self.reason}")
        else:
            lines += [self.columns.to_string(index=False), "", "without the column:"]
            lines.append(self.dropped.to_string(index=False))
        lines.append(f"data: {self.sample}")
        return "\n".join([*lines, *(f"warning: {n.message}" for n in self.notes), ""])


def _of_matrix(covariance: Floats, n: int) -> dict[str, float]:
    """Alpha and its companions of one covariance matrix (psych's ``alpha.1``)."""
    k = covariance.shape[0]
    r = correlations(covariance)
    off = r[np.tril_indices(k, -1)]
    average = float(off.mean()) if off.size else math.nan
    total = float(r.sum())
    smc = squared_multiple_correlations(r)
    return {
        "alpha": float(alpha_from_covariance(covariance)) if k > 1 else math.nan,
        "alpha_standardized": float(alpha_from_covariance(r)) if k > 1 else math.nan,
        "lambda6": 1 - (k - float(smc.sum())) / total if n > k else math.nan,
        "average_r": average,
        "signal_to_noise": k * average / (1 - average) if average < 1 else math.inf,
        "std_error": duhachek_std_error(covariance, n) if k > 1 else math.nan,
        "var_r": float(np.var(off, ddof=1)) if off.size > 1 else math.nan,
        "median_r": float(np.median(off)) if off.size else math.nan,
    }


def column_statistics(
    scores: ArrayLike,
    *,
    names: tuple[str, ...] = (),
    missing: Missing = "refuse",
) -> ColumnStatistics:
    """Item statistics of psych::alpha for each column (replication, judge or question).

    Parameters
    ----------
    scores : array-like, shape (n_items, k)
    names : tuple of str, optional
        Names of the columns; default ``column 1`` and so on.
    missing : {"refuse", "listwise", "pairwise", "em"}
        ``pairwise`` is what ``psych::alpha`` does.

    Returns
    -------
    ColumnStatistics
        Correlations of a constant column are NaN (``psych::alpha`` drops the column in silence).

    Raises
    ------
    InputError
        If the scores are no finite matrix, or `names` has another length.

    References
    ----------
    Revelle, psych: ``alpha``; Cureton (1966), Psychometrika 31 (correction for overlap).

    Examples
    --------
    >>> table = column_statistics([[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3], [6, 7, 6]])
    >>> table.columns["r_drop"].round(3).tolist()
    [0.975, 0.932, 0.971]
    """
    prepared = prepare_scores(scores, where="column_statistics", missing=missing)
    x = prepared.x
    n, k = x.shape
    labels = names or tuple(f"column {j + 1}" for j in range(k))
    if len(labels) != k:
        raise InputError(
            f"column_statistics: names must hold one name for each of the {k} columns, got "
            f"{len(labels)}. Give all, or none."
        )
    if prepared.reason:
        empty = pd.DataFrame({"term": list(labels)})
        return ColumnStatistics(
            columns=empty, dropped=empty, sample=prepared.sample, reason=prepared.reason
        )
    covariance = em_covariance(x)[0] if missing == "em" else pairwise_covariance(x)
    r = correlations(covariance)
    means = np.nanmean(x, axis=1)
    overlap = r.copy()
    # With no more items than columns every multiple correlation is 1: nothing to correct by.
    smc = squared_multiple_correlations(r) if n > k else np.full(k, math.nan)
    np.fill_diagonal(overlap, smc)
    with np.errstate(divide="ignore", invalid="ignore"):
        standard = r.sum(axis=0) / np.sqrt(np.maximum(r.sum(), 0.0))
        corrected = overlap.sum(axis=0) / np.sqrt(np.maximum(overlap.sum(), 0.0))
    rows: list[dict[str, Any]] = []
    for j in range(k):
        seen = ~np.isnan(x[:, j])
        column = x[seen, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = covariance.sum() - 2 * covariance[j].sum() + covariance[j, j]
            with_rest = covariance[j].sum() - covariance[j, j]
            r_drop = with_rest / math.sqrt(max(covariance[j, j] * rest, 0.0) or math.nan)
        rows.append(
            {
                "term": labels[j],
                "n": int(seen.sum()),
                "raw_r": _correlation(column, means[seen]),
                "std_r": float(standard[j]),
                "r_corrected": float(corrected[j]),
                "r_drop": float(r_drop),
                "mean": float(column.mean()) if column.size else math.nan,
                "sd": float(column.std(ddof=1)) if column.size > 1 else math.nan,
            }
        )
    left = [
        {"term": labels[j]} | _of_matrix(np.delete(np.delete(covariance, j, 0), j, 1), n)
        for j in range(k)
    ]
    return ColumnStatistics(
        columns=pd.DataFrame(rows), dropped=pd.DataFrame(left), sample=prepared.sample
    )


def _correlation(a: Floats, b: Floats) -> float:
    if a.size < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    return float(np.corrcoef(a, b)[0, 1])
