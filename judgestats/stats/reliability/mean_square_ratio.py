"""Intervals of intraclass correlations from leaving clusters out, where items scatter unequally.

Every intraclass correlation of one-way and two-way mixed layouts hangs on one ratio of mean
squares, between items over error. Its F distribution takes the scatter of all items for equal;
judges' items differ in it, and many have none.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import (
    cluster_sums,
    effective_clusters,
    jackknife_error,
    t_of_clusters,
)
from judgestats.stats.inference.estimable import held_by, not_estimable, useful_reliability
from judgestats.stats.inference.result import Interval, Note
from judgestats.stats.layouts.mean_squares import mean_squares_of_sums, row_sums

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanSquareRatio:
    r"""Mean squares between items and of error, of all items and without each cluster.

    Attributes
    ----------
    between, error : float
        Of all items.
    between_left, error_left : ndarray, shape (n_clusters,)
        Without each cluster.
    items : ndarray, shape (n_clusters,)
        Items of each cluster.
    inside : ndarray, shape (n_clusters,)
        Each cluster's part of the sum of squares behind `error`.
    k : float
        Judgments an item, n0 where they are unequal.
    symbol : str
        Which ratio: the error is that within items, or the residual.

    Notes
    -----
    Inferred is :math:`\log(MS_b / MS_e)`, which is -log(1 - ICC of the mean of k). Its jackknife
    error goes with a t whose degrees of freedom are Satterthwaite's of both parts:
    :math:`(s_b^2 + s_e^2)^2 / (s_b^4 / (G_b - 1) + s_e^4 / (G_e - 1))`, s the jackknife errors of
    the two logarithms, G the effective numbers of clusters behind them
    (`effective_clusters` of the items and of the sums of squares). Beside F, which misses .12 to
    .20 of judges' reliabilities for .05, it misses .01 to .08 (docs/simulations/null.md).

    Examples
    --------
    >>> x = np.array([[9.0, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9]])
    >>> ratio = MeanSquareRatio.one_way(
    ...     n=np.full(5, 4.0), mean=x.mean(axis=1), within=x.var(axis=1) * 4, codes=np.arange(5))
    >>> interval, notes = ratio.icc_interval(single=True)
    >>> round(interval.low, 2), round(interval.high, 2), interval.method
    (-0.2, 0.75, 'jackknife over items of log(MSb/MSw), t with 4 df')
    """

    between: float
    error: float
    between_left: FloatArray
    error_left: FloatArray
    items: FloatArray
    inside: FloatArray
    k: float
    symbol: str = "MSb/MSw"

    @classmethod
    def one_way(
        cls, *, n: FloatArray, mean: FloatArray, within: FloatArray, codes: IntArray
    ) -> MeanSquareRatio:
        """Of items with n judgments each, their means and sums of squares about them."""
        # Sums are taken about the grand mean to lose no digits; leaving a cluster out subtracts.
        about = mean - np.dot(n, mean) / n.sum()
        parts = cluster_sums(
            np.column_stack([np.ones_like(n), n, n * about, n * about**2, within]), codes
        )
        total = parts.sum(axis=0)

        def squares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
            items, judgments, first, second, inside = sums.T
            with np.errstate(divide="ignore", invalid="ignore"):
                between = np.maximum(second - first**2 / judgments, 0.0) / (items - 1)
                return between, np.maximum(inside, 0.0) / (judgments - items)

        between, error = squares(total[None])
        left = squares(total - parts)
        return cls(
            between=float(between[0]),
            error=float(error[0]),
            between_left=left[0],
            error_left=left[1],
            items=parts[:, 0],
            inside=parts[:, 4],
            k=float((total[1] - np.dot(n, n) / total[1]) / (total[0] - 1)),
        )

    @classmethod
    def of_sums(cls, sums: FloatArray, *, residual: bool) -> MeanSquareRatio:
        """Of complete layouts, from `row_sums` added up by cluster."""
        total = sums.sum(axis=0)
        k = total.size - 3
        all_items, left = mean_squares_of_sums(total), mean_squares_of_sums(total - sums)
        items, columns, squared_rows, squares = sums[:, 0], sums[:, 1:-2], sums[:, -2], sums[:, -1]
        grand = total[1:-2].sum() / (total[0] * k)
        shifts = total[1:-2] / total[0] - grand
        inside = squares - squared_rows / k
        if residual:
            own = columns - columns.sum(axis=1, keepdims=True) / k
            inside += items * np.dot(shifts, shifts) - 2 * own @ shifts
        return cls(
            between=float(all_items.items),
            error=float(all_items.residual if residual else all_items.within),
            between_left=np.asarray(left.items),
            error_left=np.asarray(left.residual if residual else left.within),
            items=items,
            inside=np.maximum(inside, 0.0),
            k=float(k),
            symbol="MSb/MSe" if residual else "MSb/MSw",
        )

    @classmethod
    def of_scores(cls, x: FloatArray, codes: IntArray | None, *, residual: bool) -> MeanSquareRatio:
        """Of items x replications; `residual` takes the columns' levels out and needs no gap."""
        codes = np.arange(x.shape[0]) if codes is None else codes
        if residual:
            return cls.of_sums(cluster_sums(row_sums(x - x.mean()), codes), residual=True)
        n = (~np.isnan(x)).sum(axis=1).astype(float)
        mean = np.nansum(x, axis=1) / n
        within = np.nansum((x - mean[:, None]) ** 2, axis=1)
        return cls.one_way(n=n, mean=mean, within=within, codes=codes)

    def icc_interval(
        self, *, single: bool, level: float = 0.95
    ) -> tuple[Interval | None, tuple[Note, ...]]:
        """Interval of the ICC of a `single` judgment, else of the mean of k, or why there is none.

        Parameters
        ----------
        single : bool
        level : float

        Returns
        -------
        interval : Interval or None
        notes : tuple of Note
        """
        g = self.items.size
        unit = "items" if g == self.items.sum() else "clusters"
        with np.errstate(divide="ignore", invalid="ignore"):
            between, error = np.log(self.between_left), np.log(self.error_left)
            centre = float(np.log(self.between) - np.log(self.error))
        if self.error <= 0 or self.between <= 0:
            why = "no score varies within items" if self.error <= 0 else "item means do not vary"
            return None, (Note(code="no_interval", message=f"No interval: {why}."),)
        held = held_by(self.inside, unit)
        if g < 3:
            return None, (not_estimable(f"{held} 3 are needed to leave one out."),)
        if not (np.isfinite(error).all() and np.isfinite(between).all()):
            still = "no score varies within items"
            still = "item means do not vary" if np.isfinite(error).all() else still
            why = f"Without one of the {g} {unit} {still}. Judge more items."
            return None, (not_estimable(why),)
        std_error, df = jackknife_error(between - error, self.items)
        if std_error <= 1e-12 * max(1.0, abs(centre)):
            message = f"No interval: the ratio is the same whichever of the {unit} is left out."
            return None, (Note(code="constant_distribution", message=message),)
        of_between, of_error = (jackknife_error(v, self.items)[0] ** 2 for v in (between, error))
        rough = (of_between + of_error) ** 2 / (
            of_between**2 / df + of_error**2 / max(effective_clusters(self.inside) - 1.0, 1.0)
        )
        df = max(min(rough, df), 1.0)
        half = float(distributions.t.ppf((1 + level) / 2, df)) * std_error
        ends = np.array([centre - half, centre + half])
        if single:
            low, high = (-np.expm1(-v) / (1 + (self.k - 1) * math.exp(-v)) for v in ends)
        else:
            low, high = -np.expm1(-ends)
        interval = Interval(
            low=float(low),
            high=float(high),
            level=level,
            method=f"jackknife over {unit} of log({self.symbol}), {t_of_clusters(df)}",
        )
        with np.errstate(over="ignore"):
            useful, notes = useful_reliability(interval, held, squares=float(np.exp(half)))
        if useful is None:
            return None, notes
        if df < 9:
            many = f"{df + 1:.1f} effective {unit} (of {g})" if df < g - 1.5 else f"{g} {unit}"
            more = "more items" if unit == "items" else "items of more questions"
            message = (
                f"Only {many}: the jackknife interval is wide and may still be too short. Judge "
                f"{more}."
            )
            notes = (Note(code="few_clusters", message=message),)
        return interval, notes
