"""What stands beside every comparison of spread: means, reliability and scale use by condition.

Mean and spread are confounded at the end of a scale (a judge who gives nothing but tens has no
spread), so that a difference in spread is never read without the shift in the mean.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats
from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import (
    mean_over_clusters,
)
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import (
    Estimate,
    Note,
    Result,
    Sample,
    format_number,
)
from judgestats.stats.layouts.cell_statistics import Cells, cell_statistics
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio
from judgestats.stats.spread.variance_ratio import (
    pooled_of_column,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConditionRow:
    """One condition's scores in numbers.

    Attributes
    ----------
    mean : Estimate
        Mean over items of the cell means, in score points.
    variance : Estimate
        Pooled within-cell variance, in squared score points.
    sem : Estimate
        Standard error of measurement of one judgment, the root of `variance`, in score points.
    between_item_variance : Estimate
        Variance of the items' true means, by analysis of variance; negative values are kept.
    icc : Estimate
        ICC(1): share of the variance of one judgment that is between items.
    distance : float
        Mean over items of the mean |x - cell median|.
    constant_share : float
        Share of cells of two or more scores that are all alike.
    mean_spread_correlation : float
        Spearman's rho over items between cell mean and cell variance.
    """

    condition: str
    sample: Sample
    mean: Estimate
    variance: Estimate
    sem: Estimate
    between_item_variance: Estimate
    icc: Estimate
    distance: float
    constant_share: float
    mean_spread_correlation: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConditionSummary(Result):
    """Means, spread and reliability of every condition."""

    rows: tuple[ConditionRow, ...]
    level: float
    common_r: int
    notes: tuple[Note, ...] = ()

    def __getitem__(self, condition: str) -> ConditionRow:
        """The row of one condition, by name."""
        for row in self.rows:
            if row.condition == condition:
                return row
        listed = ", ".join(row.condition for row in self.rows)
        raise KeyError(f"no condition {condition!r}; the summary holds {listed}")

    def tidy(self) -> pd.DataFrame:
        """One row a condition and quantity, broom's columns."""
        return pd.DataFrame(
            [
                {"condition": row.condition, **estimate.row()}
                for row in self.rows
                for estimate in (
                    row.mean,
                    row.variance,
                    row.sem,
                    row.between_item_variance,
                    row.icc,
                )
            ]
        )

    def glance(self) -> pd.DataFrame:
        """One row a condition."""
        return pd.DataFrame(
            [
                {
                    "condition": row.condition,
                    "n": row.sample.n_items,
                    "n_replications": row.sample.n_replications,
                    "mean": row.mean.estimate,
                    "variance": row.variance.estimate,
                    "sem": row.sem.estimate,
                    "between_item_variance": row.between_item_variance.estimate,
                    "icc": row.icc.estimate,
                    "distance": row.distance,
                    "constant_share": row.constant_share,
                    "mean_spread_correlation": row.mean_spread_correlation,
                }
                for row in self.rows
            ]
        )

    def sentence(self) -> str:
        """Every condition's mean, spread and ICC in one sentence."""
        parts = [
            f"{row.condition}: mean {row.mean.short()}, SEM {row.sem.short()}, ICC(1) "
            f"{row.icc.short()}"
            for row in self.rows
        ]
        return "; ".join(parts) + "."

    def __str__(self) -> str:
        table = self.glance().to_string(index=False, float_format=format_number)
        return "\n".join(
            [
                "",
                "\tScores by condition",
                "",
                table,
                *(f"warning: {note.message}" for note in self.notes),
                "",
            ]
        )


@with_keywords()
def condition_summary(
    scores: ArrayLike | Cells,
    *,
    conditions: Sequence[object] | None = None,
    **inference: Unpack[Clustered],
) -> ConditionSummary:
    r"""Mean, within-cell spread, between-item variance and ICC of every condition.

    Parameters
    ----------
    scores : array-like, shape (N, k, R), or Cells
        Scores: items x conditions x replications, NaN = missing.
    conditions
        As in `cell_statistics`; not used with `Cells`.

    Returns
    -------
    ConditionSummary

    Raises
    ------
    InputError

    Notes
    -----
    One-way analysis of variance of a condition's scores with items as groups, over items with two
    or more scores: :math:`\hat\sigma^2_b = (MS_b - MS_w)/n_0`, :math:`ICC(1) = (MS_b - MS_w) /
    (MS_b + (n_0 - 1) MS_w)`, :math:`n_0 = (M - \sum n_i^2/M)/(N-1)`. The ICC has
    the jackknife interval of log(MS_b/MS_w), over items or the clusters that they share.

    Examples
    --------
    >>> X = [[[8, 9], [7, 9]], [[5, 6], [4, 7]], [[6, 7], [6, 6]]]
    >>> s = condition_summary(X, conditions=["T=0", "T=1"])
    >>> round(s["T=0"].icc.estimate, 3), round(s["T=0"].sem.estimate, 3)
    (0.806, 0.707)
    """
    function = "condition_summary"
    cells = (
        scores
        if isinstance(scores, Cells)
        else cell_statistics(scores, conditions=conditions, cluster=inference["cluster"])
    )
    need_scores(cells, function=function)
    rows = tuple(_row(cells, c, inference["level"]) for c in range(len(cells.conditions)))
    notes = []
    silent = [r.condition for r in rows if r.constant_share == 1.0]
    if silent:
        message = (
            f"All replications agree under {', '.join(silent)}: reliability is 1 because one draw "
            "is repeated, which says nothing about the judge's accuracy or another seed."
        )
        notes.append(Note(code="fixed_randomness", message=message))
    return ConditionSummary(
        rows=rows, level=inference["level"], common_r=cells.common_r, notes=tuple(notes)
    )


def need_scores(cells: Cells, *, function: str) -> None:
    """Refuse cells that were made from variances only; nothing read at all is no such fault."""
    if not cells.n_scores.any() and np.isfinite(cells.variance).any():
        raise InputError(
            f"{function}: needs scores, got cells without any. Give a 3-d array of scores, "
            "items x conditions x replications."
        )


def _row(cells: Cells, c: int, level: float) -> ConditionRow:
    name = cells.conditions[c]
    filled = cells.n_scores[:, c] >= 1
    several = cells.n_scores[:, c] >= 2
    column = dataclasses.replace(
        cells, conditions=(name,), **{k: getattr(cells, k)[:, [c]] for k in _PER_CELL}
    )
    sample = column.sample(filled, reason="no score")
    variance = pooled_of_column(cells, np.ones(cells.variance.shape), c, level)
    low_high = variance.interval
    sem = variance.replace(
        name="sem",
        label=f"Standard error of measurement of one judgment under {name}",
        estimator="root of the pooled within-cell variance",
        estimate=math.sqrt(variance.estimate),
        interval=dataclasses.replace(
            low_high, low=math.sqrt(low_high.low), high=math.sqrt(low_high.high)
        )
        if low_high
        else None,
    )
    mean_name = f"Mean score under {name}"
    if filled.any():
        m = mean_over_clusters(cells.mean[filled, c], cells.cluster[filled])
        mean = Estimate(
            name="mean",
            label=mean_name,
            estimator="mean of item means",
            estimate=m.mean,
            std_error=m.std_error,
            interval=m.interval(level),
            sample=sample,
            notes=(Note(code="no_interval", message=f"No interval: {m.reason}."),)
            if m.reason
            else (),
        )
    else:
        mean = Estimate(
            name="mean", label=mean_name, estimate=math.nan, sample=sample, reason="no score"
        )
    between, icc = _between_items(column, several, level)
    v = cells.variance[several, c]
    return ConditionRow(
        condition=name,
        sample=sample,
        mean=mean,
        variance=variance,
        sem=sem,
        between_item_variance=between,
        icc=icc,
        distance=float(np.mean(cells.from_median[several, c])) if several.any() else math.nan,
        constant_share=float(np.mean(v == 0)) if several.any() else math.nan,
        mean_spread_correlation=_spearman(cells.mean[several, c], v),
    )


_PER_CELL = ("n_scores", "mean", "median", "variance", "from_mean", "from_median")


def _spearman(x: Floats, y: Floats) -> float:
    if x.size < 3 or np.all(x == x[0]) or np.all(y == y[0]):
        return math.nan
    return float(np.corrcoef(distributions.ranks(x), distributions.ranks(y))[0, 1])


def _between_items(column: Cells, several: Bools, level: float) -> tuple[Estimate, Estimate]:
    """Between-item variance and ICC(1) of one condition by one-way analysis of variance."""
    name = column.conditions[0]
    sample = column.sample(several, reason="fewer than 2 scores")
    between = Estimate(
        name="between_item_variance",
        label=f"Between-item variance under {name}",
        estimator="one-way ANOVA",
        estimate=math.nan,
        sample=sample,
    )
    icc = between.replace(name="icc1", label=f"ICC(1) under {name}")
    n = column.n_scores[several, 0].astype(float)
    n_items = n.size
    if n_items < 2:
        why = f"fewer than 2 items have 2 scores under {name}"
        return between.replace(reason=why), icc.replace(reason=why)
    mean = column.mean[several, 0]
    within = column.variance[several, 0] * (n - column.ddof)
    ratio = MeanSquareRatio.one_way(n=n, mean=mean, within=within, codes=column.cluster[several])
    ms_b, ms_w, n0 = ratio.between, ratio.error, ratio.k
    between = between.replace(estimate=(ms_b - ms_w) / n0, details={"ms_b": ms_b, "ms_w": ms_w})
    if ms_b <= 1e-14 and ms_w == 0:
        return between, icc.replace(reason="all scores are alike: there is no variance to share")
    icc = icc.replace(estimate=(ms_b - ms_w) / (ms_b + (n0 - 1) * ms_w), details={"n0": n0})
    if ms_w == 0:
        message = "No interval: replications never differ, so that ICC is 1 by repetition."
        return between, icc.replace(notes=(Note(code="fixed_randomness", message=message),))
    interval, notes = ratio.icc_interval(single=True, level=level)
    return between, icc.replace(interval=interval, notes=notes)
