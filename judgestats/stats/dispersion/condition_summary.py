"""Summary of conditions: mean shift, scale use, and shape of the scores."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Bools, Floats, check_items
from judgestats.errors import InputError
from judgestats.results.numbers import count_noun
from judgestats.stats.designs.cells import Cells, cell_statistics
from judgestats.stats.dispersion.published import centred_scores
from judgestats.stats.dispersion.ratios import chosen_pairs, pooled_of_column
from judgestats.stats.inference import RunComponent, cluster_codes, distributions, result
from judgestats.stats.inference.jackknife import MeanOverClusters, mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.multiplicity import holm_levels, with_adjusted
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio


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
    sample: result.Sample
    mean: result.Estimate
    variance: result.Estimate
    sem: result.Estimate
    between_item_variance: result.Estimate
    icc: result.Estimate
    distance: float
    constant_share: float
    mean_spread_correlation: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConditionSummary(result.Result):
    """Means, spread and reliability of every condition."""

    rows: tuple[ConditionRow, ...]
    level: float
    common_r: int
    notes: tuple[result.Note, ...] = ()

    def __getitem__(self, condition: str) -> ConditionRow:
        """The row of one condition, by name."""
        for row in self.rows:
            if row.condition == condition:
                return row
        listed = ", ".join(row.condition for row in self.rows)
        raise KeyError(f"no condition {condition!r}; the summary holds {listed}")

    def tidy(self) -> pd.DataFrame:
        """One row per condition and quantity, broom's columns."""
        rows = [
            {"condition": row.condition, **getattr(row, name).row()}
            for row in self.rows
            for name in _ESTIMATES
        ]
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """One row per condition."""
        own = ("distance", "constant_share", "mean_spread_correlation")
        rows = [
            {
                "condition": row.condition,
                "n": row.sample.n_items,
                "n_replications": row.sample.n_replications,
                **{name: getattr(row, name).estimate for name in _ESTIMATES},
                **{name: getattr(row, name) for name in own},
            }
            for row in self.rows
        ]
        return pd.DataFrame(rows)

    def sentence(self) -> str:
        """Every condition's mean, spread and ICC in one sentence."""
        parts = [
            f"{row.condition}: mean {row.mean.short()}, SEM {row.sem.short()}, ICC(1) "
            f"{row.icc.short()}"
            for row in self.rows
        ]
        return "; ".join(parts) + "."

    def __str__(self) -> str:
        return result.print_table("Scores by condition", self.glance(), notes=self.notes)


_ESTIMATES = ("mean", "variance", "sem", "between_item_variance", "icc")
"""Estimates of a `ConditionRow`, in the order of tables."""


@with_keywords()
def condition_summary(
    scores: ArrayLike | Cells,
    *,
    conditions: Sequence[object] | None = None,
    runs: RunComponent | None = None,
    **inference: Unpack[Clustered],
) -> ConditionSummary:
    r"""Mean, within-cell spread, between-item variance and ICC of every condition.

    Parameters
    ----------
    scores : array-like, shape (N, k, R), or Cells
        Scores: items x conditions x replications, NaN = missing.
    conditions
        As in `cell_statistics`; not used with `Cells`.
    runs : RunComponent, optional
        Variance between the runs of these conditions, in the order of the conditions: part of the
        errors of the means where runs are random.

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
    if not isinstance(scores, Cells):
        scores = cell_statistics(scores, conditions=conditions, cluster=inference["cluster"])
    cells = scores
    _need_scores(cells, function="condition_summary")
    rows = tuple(_row(cells, c, inference["level"], runs) for c in range(len(cells.conditions)))
    silent = [r.condition for r in rows if r.constant_share == 1.0]
    message = (
        f"All replications agree under {', '.join(silent)}: one draw is repeated, which says "
        "nothing about the judge's accuracy."
    )
    return ConditionSummary(
        rows=rows,
        level=inference["level"],
        common_r=cells.common_r,
        notes=result.Note.where(silent, "fixed_randomness", message),
    )


def _need_scores(cells: Cells, *, function: str) -> None:
    """Refuse cells that were made from variances only; nothing read at all is no such fault."""
    if not cells.n_scores.any() and np.isfinite(cells.variance).any():
        raise InputError(
            f"{function}: needs scores, items x conditions x replications, got cells without any."
        )


def _row(cells: Cells, c: int, level: float, runs: RunComponent | None) -> ConditionRow:
    name = cells.conditions[c]
    filled = cells.n_scores[:, c] >= 1
    several = cells.n_scores[:, c] >= 2
    column = cells.of([c])
    sample = column.sample(filled, reason="no score")
    variance = pooled_of_column(cells, c, level)
    limits = variance.interval
    if limits:
        limits = dataclasses.replace(limits, low=math.sqrt(limits.low), high=math.sqrt(limits.high))
    sem = variance.replace(
        name="sem",
        label=f"Standard error of measurement of one judgment under {name}",
        estimator="root of the pooled within-cell variance",
        estimate=math.sqrt(variance.estimate),
        interval=limits,
    )
    mean = result.Estimate(
        name="mean", label=f"Mean score under {name}", sample=sample, reason="no score"
    )
    if filled.any():
        m = mean_over_clusters(cells.mean[filled, c], cells.cluster[filled])
        own = None if runs is None else runs.for_judges(c)
        if own is not None and own.is_random:
            m = own.widen(m, own.share((1.0,)))
        mean = mean.replace(
            estimator="mean of item means",
            estimate=m.mean,
            std_error=m.std_error,
            interval=m.interval(level),
            notes=m.notes,
            details={} if own is None else {"df": m.df, **own.facts},
            reason="",
        )
    between, icc = _item_variance(column, several, level)
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


def _spearman(x: Floats, y: Floats) -> float:
    if x.size < 3 or np.all(x == x[0]) or np.all(y == y[0]):
        return math.nan
    return float(np.corrcoef(distributions.ranks(x), distributions.ranks(y))[0, 1])


def _item_variance(
    column: Cells, several: Bools, level: float
) -> tuple[result.Estimate, result.Estimate]:
    """Between-item variance and ICC(1) of one condition by one-way analysis of variance."""
    name = column.conditions[0]
    sample = column.sample(several, reason="fewer than 2 scores")
    between = result.Estimate(
        name="between_item_variance",
        label=f"Between-item variance under {name}",
        estimator="one-way ANOVA",
        sample=sample,
    )
    icc = between.replace(name="icc1", label=f"ICC(1) under {name}")
    n = column.n_scores[several, 0].astype(float)
    n_items = n.size
    if n_items < 2:
        why = f"fewer than 2 items have 2 scores under {name}"
        return between.replace(reason=why), icc.replace(reason=why)
    mean = column.mean[several, 0]
    within = column.variance[several, 0] * (n - 1)
    ratio = MeanSquareRatio.one_way(n=n, mean=mean, within=within, codes=column.cluster[several])
    ms_b, ms_w, n0 = ratio.between, ratio.error, ratio.k
    between = between.replace(estimate=(ms_b - ms_w) / n0, details={"ms_b": ms_b, "ms_w": ms_w})
    if ms_b <= 1e-14 and ms_w == 0:
        return between, icc.replace(reason="all scores are alike: there is no variance to share")
    icc = icc.replace(estimate=(ms_b - ms_w) / (ms_b + (n0 - 1) * ms_w), details={"n0": n0})
    if ms_w == 0:
        message = "No interval: replications never differ, so that ICC is 1 by repetition."
        return between, icc.replace(notes=result.Note.where(True, "fixed_randomness", message))
    interval, notes = ratio.icc_interval(single=True, level=level)
    return between, icc.replace(interval=interval, notes=notes)


@with_keywords()
def mean_shift(
    scores: ArrayLike | Cells,
    *,
    conditions: Sequence[object] | None = None,
    reference: object | None = None,
    runs: RunComponent | None = None,
    **inference: Unpack[Clustered],
) -> result.Comparisons:
    r"""Difference of mean scores between conditions, paired by item.

    Parameters
    ----------
    scores : array-like, shape (N, k, R) or (N, k), or Cells
        Scores (NaN = missing), or one mean score per cell.
    conditions
        As in `cell_statistics`; not used with `Cells`.
    reference : optional
        Compare every condition with this one; default every pair, the later minus the earlier.
    runs : RunComponent, optional
        Variance between the runs of these conditions, in the order of the conditions: part of the
        errors where runs are random; where they are not identified, the rows hold for these runs.

    Returns
    -------
    Comparisons
        ``estimate`` in score points, ``effect`` is d_z (mean over standard deviation of the item
        differences).

    Raises
    ------
    InputError

    Notes
    -----
    Items that have a score under both conditions count alike. Without clusters this is the paired
    t test; with clusters the jackknife over them. Random runs add
    :math:`s^2_{run} (1/R_a + 1/R_b)` to the squared error, with Satterthwaite's degrees of
    freedom. p-values of the family are adjusted by Holm, and each interval has the level at which
    it agrees with its adjusted p (`holm_levels`).

    Examples
    --------
    >>> X = [[[8, 9], [7, 9]], [[5, 6], [4, 6]], [[6, 7], [6, 5]]]
    >>> out = mean_shift(X, conditions=["T=0", "T=1"])
    >>> out.rows[0].a, round(out.rows[0].estimate, 3), round(out.rows[0].p_value, 3)
    ('T=1', -0.667, 0.057)
    """
    function = "mean_shift"
    cells = scored_cells(scores, conditions, inference["cluster"], function=function)
    pairs = chosen_pairs(cells.conditions, reference, function=function)
    found = [mean_difference(cells, a, b, runs) for a, b in pairs]
    levels = holm_levels([m.p_value() for _, m, _ in found], level=inference["level"])
    rows = []
    for pair, (d, m, notes), level in zip(pairs, found, levels, strict=True):
        sd = float(np.std(d, ddof=1)) if d.size > 1 else math.nan
        row = mean_comparison(cells, pair, d, m, level=level)
        rows.append(
            dataclasses.replace(
                row,
                effect=math.nan if m.reason else m.mean / sd,
                effect_name="d_z",
                interval=result.adjusted_interval(row.interval, inference["level"]),
                limits=m.interval,
                notes=notes,
                details={} if runs is None else runs.for_judges(*pair).facts,
            )
        )
    used = np.sum(~np.isnan(cells.mean), axis=1) >= 2
    return result.Comparisons(
        name="mean_shift",
        symbol="t",
        method="Shift of the mean, paired by item",
        adjust="holm",
        family="mean shifts of these conditions",
        rows=with_adjusted(rows, "holm"),
        sample=sample_of(scores, cells, used),
        notes=result.Note.where(runs and runs.note, "runs", runs.note if runs else ""),
    )


def mean_comparison(
    cells: Cells, pair: tuple[int, int], d: Floats, m: MeanOverClusters, *, level: float
) -> result.Comparison:
    """The row of two conditions from the differences of their items and the mean of these."""
    a, b = (cells.conditions[c] for c in pair)
    return result.Comparison(
        a=a,
        b=b,
        estimate=m.mean,
        estimate_name="mean_difference",
        statistic=m.statistic(),
        df=m.df,
        p_value=m.p_value(),
        interval=m.interval(level),
        n=d.size,
        reason=m.reason,
    )


def mean_difference(
    cells: Cells, a: int, b: int, runs: RunComponent | None = None
) -> tuple[Floats, MeanOverClusters, tuple[result.Note, ...]]:
    """Differences of mean scores of the items that columns a and b share, their mean, and notes."""
    difference = cells.mean[:, a] - cells.mean[:, b]
    both = ~np.isnan(difference)
    if both.any():
        mean = mean_over_clusters(difference[both], cells.cluster[both])
        own = None if runs is None else runs.for_judges(a, b)
        notes = own.advise_runs(mean) if own else ()
        if own is not None and own.is_random:
            mean = own.widen(mean, own.share())
        return difference[both], mean, notes
    reason = "no item has a score under both conditions"
    return difference[both], MeanOverClusters(mean=math.nan, reason=reason), ()


def sample_of(X: ArrayLike | Cells, cells: Cells, used: NDArray[np.bool_]) -> result.Sample:
    """The items compared; a table of means does not say how many replications it rests on."""
    sample = cells.sample(used, reason="scored under fewer than 2 conditions")
    if isinstance(X, Cells) or np.ndim(X) != 2:
        return sample
    return dataclasses.replace(sample, n_replications=None, n_replications_max=None)


def scored_cells(
    X: ArrayLike | Cells,
    conditions: Sequence[object] | None,
    cluster: ArrayLike | None,
    *,
    function: str,
) -> Cells:
    """Cells from scores, or from one mean a cell (2-d), or as given."""
    if isinstance(X, Cells):
        cells = X
    else:
        scores = np.asarray(X, dtype=float)[:, :, None] if np.ndim(X) == 2 else X
        cells = cell_statistics(scores, conditions=conditions, cluster=cluster)
    _need_scores(cells, function=function)
    return cells


_LEAST = 20  # D'Agostino's approximation of the kurtosis' distribution
_CAUTIONS = (
    *result.Note.where(
        True,
        "discrete_scores",
        "Scores are whole numbers, which a normal variable never is. Read skewness and kurtosis.",
    ),
    *result.Note.where(
        True,
        "pooled_items",
        "Items of unequal spread are pooled, which alone gives a positive excess kurtosis.",
    ),
)


def _powers(x: NDArray[Any]) -> NDArray[Any]:
    """Number of scores and sums of second to fourth powers, by item."""
    filled = np.where(np.isnan(x), 0.0, x)
    return np.stack(
        [np.sum(~np.isnan(x), axis=-1), *((filled**p).sum(axis=-1) for p in (2, 3, 4))], axis=-1
    ).astype(float)


def _skewness(s: NDArray[Any]) -> NDArray[Any]:
    return np.asarray((s[..., 2] / s[..., 0]) / (s[..., 1] / s[..., 0]) ** 1.5)


def _excess_kurtosis(s: NDArray[Any]) -> NDArray[Any]:
    return np.asarray((s[..., 3] / s[..., 0]) / (s[..., 1] / s[..., 0]) ** 2 - 3)


@with_keywords()
def normality_test(scores: ArrayLike, **inference: Unpack[Clustered]) -> result.TestResult:
    r"""Are repeated scores, centred by item, normally distributed; and how do they depart?

    Parameters
    ----------
    scores : array-like, shape (N, R)
        Items x replications, NaN = missing. Items with fewer than two scores are left out.
    cluster : array-like, shape (N,), optional
        Clusters of the items, for the intervals.

    Returns
    -------
    TestResult
        ``effects``: excess kurtosis (0 for a normal distribution, -1.2 for a flat one) and
        skewness, with jackknife intervals over clusters.

    Raises
    ------
    InputError
        If the scores are not a matrix.

    Notes
    -----
    D'Agostino and Pearson's :math:`K^2` as ``scipy.stats.normaltest``, on the pooled scores minus
    their item's mean; it treats them as independent. Moments are :math:`g_1 = m_3 / m_2^{3/2}`,
    :math:`g_2 = m_4 / m_2^2 - 3`, not corrected for bias (e1071, type 1). The mean of R scores is
    subtracted, which draws the kurtosis of few replications to 0.

    References
    ----------
    D'Agostino & Pearson (1973), Tests for departure from normality. Biometrika 60, 613-622.

    Examples
    --------
    >>> import numpy as np
    >>> flat = np.random.default_rng(0).integers(1, 11, size=(40, 50))
    >>> out = normality_test(flat)
    >>> out.p_value < 0.001, round(out.effects[0].estimate, 1)
    (True, -1.2)
    """
    from scipy import stats

    where = "normality_test"
    x = np.asarray(scores, dtype=float)
    centred = centred_scores(x[:, None, :] if x.ndim == 2 else x)[:, 0, :]
    cells = cell_statistics(x[:, None, :])
    used = cells.n_scores[:, 0] >= 2
    codes = cluster_codes(inference["cluster"], x.shape[0], where=where)[used]
    sample = cells.sample(used, reason="fewer than 2 scores")
    values = centred[used][~np.isnan(centred[used])]
    reason = ""
    if values.size < _LEAST:
        few = count_noun(values.size, "score is", "scores are")
        reason = f"{few} too few (at least {_LEAST} are needed)"
    elif np.ptp(values) == 0:
        reason = "no score differs from the others of its item"
    effects = tuple(
        estimate_from_sums(
            SumStatistic(per_item=_powers, combine=combine),
            centred[used],
            name=name,
            label=label,
            estimator="moments of scores centred by item",
            sample=sample,
            reason=reason or "no score differs from the others of its item",
            where=where,
            cluster=codes,
            level=inference["level"],
            scale="identity",
        )
        for name, label, combine in (
            ("excess_kurtosis", "Excess kurtosis (0 if normal)", _excess_kurtosis),
            ("skewness", "Skewness (0 if symmetric)", _skewness),
        )
    )
    k2, p = (np.nan, np.nan) if reason else map(float, stats.normaltest(values))
    return result.TestResult(
        name=where,
        method="D'Agostino-Pearson test of normality on scores centred by item",
        statistic=k2,
        statistic_name="K2",
        df={"df": 2.0},
        p_value=p,
        null_hypothesis="scores of an item are normally distributed",
        alternative="skewness or kurtosis differ from a normal distribution's",
        why="It asks whether repeated scores look normal.",
        effects=effects,
        sample=sample,
        notes=_CAUTIONS,
        reason=reason,
    )


@with_keywords()
def kurtosis_change(
    before: ArrayLike, after: ArrayLike, **inference: Unpack[Clustered]
) -> result.Estimate:
    r"""Change of the excess kurtosis of repeated scores between two conditions, paired by item.

    Parameters
    ----------
    before, after : array-like, shape (N, R)
        Scores of the same items under two conditions, NaN = missing; R may differ.

    Returns
    -------
    Estimate
        After minus before: negative where the distribution became flatter.

    Raises
    ------
    InputError
        If the scores are not matrices of as many items.

    Notes
    -----
    Excess kurtosis as in `normality_test`, on scores minus their item's mean; the jackknife leaves
    an item out of both conditions at once.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> peaked, flat = rng.laplace(size=(40, 50)), rng.uniform(size=(40, 50))
    >>> change = kurtosis_change(peaked, flat)
    >>> change.estimate < -3, change.interval.high < 0
    (True, True)
    """
    where = "kurtosis_change"
    x, y = (np.asarray(v, dtype=float) for v in (before, after))
    check_items(where, ndim=2, before=x, after=y)
    parts = [centred_scores(v[:, None, :])[:, 0, :] for v in (x, y)]
    used = np.all([np.sum(~np.isnan(v), axis=1) >= 2 for v in (x, y)], axis=0)
    sums = np.concatenate([_powers(v[used]) for v in parts], axis=-1)
    vary = bool(sums.size) and bool(np.all(sums.sum(axis=0)[[1, 5]] > 0))
    codes = cluster_codes(inference["cluster"], x.shape[0], where=where)[used]

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(_excess_kurtosis(s[..., 4:]) - _excess_kurtosis(s[..., :4]))

    return estimate_from_sums(
        SumStatistic(per_item=lambda s: s, combine=combine),
        sums if vary else np.full((max(len(sums), 1), 8), np.nan),
        name="kurtosis_change",
        label="Change of the excess kurtosis",
        estimator="moments of scores centred by item, paired",
        sample=result.Sample.from_mask(used, "fewer than 2 scores"),
        reason="" if vary else "the scores of an item never differ under one of the conditions",
        where=where,
        cluster=codes if vary else None,
        level=inference["level"],
        scale="identity",
    )
