"""Intervals of reliabilities that are functions of mean squares."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgestats.arrays import Floats
from judgestats.results.numbers import with_bounds
from judgestats.stats.designs.score_matrix import (
    MeanSquares,
    mean_squares,
    mean_squares_of_sums,
    row_sums,
)
from judgestats.stats.inference import distributions, jackknife, permutation_distribution
from judgestats.stats.inference.bootstrap import cluster_note, not_estimable, useful_reliability
from judgestats.stats.inference.result import Interval, Limits, Note

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
    inside, spread : ndarray, shape (n_clusters,)
        Each cluster's part of the sums of squares behind `error` and `between`.
    k : float
        Judgments per item, n0 where they are unequal.
    columns : float
        Mean square between columns; NaN where the error is that within items.
    columns_left : ndarray, shape (n_clusters,)
    repeats : float
        Variance of one repeat beyond that of a mean of repeats, where columns are such means.
    repeats_left : ndarray, shape (n_clusters,)

    Notes
    -----
    Inferred is :math:`\theta = \log(MS_b / MS_e)`, which is -log(1 - ICC of the mean of k), by the
    jackknife over clusters with a t. Of a one-way layout its degrees of freedom are
    Satterthwaite's of both parts:
    :math:`(s_b^2 + s_e^2)^2 / (s_b^4 / (G_b - 1) + s_e^4 / (G_e - 1))`, s the jackknife errors of
    the two logarithms, G the effective numbers of clusters behind them (`effective_clusters` of
    the sums of squares); of a two-way layout :math:`\min(G_b, G_e) - 1`. At least 1 each.

    ICC(2,1), other judges: :math:`\log(1/ICC - 1) = A - B` with
    :math:`A = \log(J + J/n \max(F - 1, 0))`, F = MSj/MSe with chi-squared limits of MSj, and
    :math:`B = \log(e^\theta - 1)`; limits by the MOVER for differences. ICC(A,1), these judges:
    jackknife of -log(1 - ICC).

    References
    ----------
    Zou & Donner (2008), Construction of confidence limits about effect measures: a general
    approach. Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    >>> x = np.array([[9.0, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9]])
    >>> ratio = MeanSquareRatio.one_way(
    ...     n=np.full(5, 4.0), mean=x.mean(axis=1), within=x.var(axis=1) * 4, codes=np.arange(5))
    >>> interval, notes = ratio.icc_interval(single=True)
    >>> round(interval.low, 2), round(interval.high, 2), interval.method
    (-0.23, 0.81, 'jackknife over items of log(MSb/MSw), t with 2.8 effective df')
    """

    between: float
    error: float
    between_left: FloatArray
    error_left: FloatArray
    items: FloatArray
    inside: FloatArray
    spread: FloatArray
    k: float
    columns: float = math.nan
    columns_left: FloatArray = dataclasses.field(default_factory=lambda: np.empty(0))
    repeats: float = 0.0
    repeats_left: FloatArray = dataclasses.field(default_factory=lambda: np.zeros(1))

    @classmethod
    def one_way(
        cls, *, n: FloatArray, mean: FloatArray, within: FloatArray, codes: IntArray
    ) -> MeanSquareRatio:
        """Of items with n judgments each, their means and sums of squares about them."""
        # Sums are taken about the grand mean to lose no digits; leaving a cluster out subtracts.
        about = mean - np.dot(n, mean) / n.sum()
        parts = jackknife.cluster_sums(
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
            spread=parts[:, 3],
            k=float((total[1] - np.dot(n, n) / total[1]) / (total[0] - 1)),
        )

    @classmethod
    def from_sums(cls, sums: FloatArray, *, residual: bool) -> MeanSquareRatio:
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
            spread=np.maximum(
                squared_rows - 2 * k * grand * columns.sum(axis=1) + items * (k * grand) ** 2, 0.0
            ),
            k=float(k),
            columns=float(all_items.replications) if residual else math.nan,
            columns_left=np.asarray(left.replications) if residual else np.empty(0),
        )

    @classmethod
    def from_scores(
        cls, x: FloatArray, codes: IntArray | None, *, residual: bool
    ) -> MeanSquareRatio:
        """Of items x replications; `residual` takes the columns' levels out and needs no gap."""
        codes = np.arange(x.shape[0]) if codes is None else codes
        if residual:
            return cls.from_sums(
                jackknife.cluster_sums(row_sums(x - x.mean()), codes), residual=True
            )
        n = (~np.isnan(x)).sum(axis=1).astype(float)
        mean = np.nansum(x, axis=1) / n
        within = np.nansum((x - mean[:, None]) ** 2, axis=1)
        return cls.one_way(n=n, mean=mean, within=within, codes=codes)

    def with_repeats(self, extra: FloatArray, codes: IntArray | None) -> MeanSquareRatio:
        """The same of columns that are means, with what one repeat adds, items x columns."""
        codes = np.arange(len(extra)) if codes is None else codes
        sums = jackknife.cluster_sums(extra.sum(axis=1)[:, None], codes)[:, 0]
        total, cells = float(sums.sum()), float(extra.size)
        with np.errstate(invalid="ignore"):  # one cluster leaves nothing
            left = (total - sums) / (cells - self.items * extra.shape[1])
        return dataclasses.replace(
            self, inside=self.inside + sums, repeats=total / cells, repeats_left=left
        )

    def form_interval(
        self, form: str, level: float = 0.95
    ) -> tuple[Interval | None, tuple[Note, ...]]:
        """Interval of one of the six forms, as ``ICC(2,1)``, or why there is none.

        Parameters
        ----------
        form : str
        level : float

        Returns
        -------
        interval : Interval or None
        notes : tuple of Note
        """
        single = form.endswith(",1)")
        if form[4] in "2A":
            return self.judges_interval(fixed=form[4] == "A", single=single, level=level)
        return self.icc_interval(single=single, level=level)

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
        if self._lack is not None:
            return None, (self._lack,)
        ends = self.limits(level, single=single)
        unit, symbol = self._unit, "MSb/MSe" if self._is_two_way else "MSb/MSw"
        method = f"jackknife over {unit} of log({symbol}), {jackknife.t_of_clusters(ends.df)}"
        return self._useful(ends, method, widest=single)

    def judges_interval(
        self, *, fixed: bool, single: bool, level: float = 0.95
    ) -> tuple[Interval | None, tuple[Note, ...]]:
        """Interval of the agreement of judges, or why there is none.

        Parameters
        ----------
        fixed : bool
            Whether it is that of these judges, ICC(A,.), or of others like them, ICC(2,.).
        single : bool
            Whether it is that of one judgment, or of the mean of k.
        level : float

        Returns
        -------
        interval : Interval or None
        notes : tuple of Note
        """
        if self._lack is not None:
            return None, (self._lack,)
        ends = self.these_judges(level) if fixed else self.random_judges(level)
        if ends.reason:
            return None, (not_estimable(ends.reason),)
        if not single:
            low, high = (_stepped(v, self.k) for v in (ends.low, ends.high))
            ends = dataclasses.replace(ends, low=low, high=high)
        how = "of -log(1 - ICC)" if fixed else "and chi-squared of judges, MOVER-D"
        method = f"jackknife over {self._unit} {how}, {jackknife.t_of_clusters(ends.df)}"
        return self._useful(ends, method, widest=False)

    def _useful(
        self, ends: Limits, method: str, *, widest: bool
    ) -> tuple[Interval | None, tuple[Note, ...]]:
        """The interval, where it says anything, with a note where clusters are few."""
        g, df, unit = self.items.size, ends.df, self._unit
        interval = Interval(low=ends.low, high=ends.high, level=ends.level, method=method)
        held = cluster_note(self.inside, unit)
        half = self._half(ends.level, self._error)
        with np.errstate(over="ignore"):
            squares = float(np.exp(half)) if widest else math.nan
            useful, notes = useful_reliability(interval, held, squares=squares)
        if useful is None:
            return useful, notes
        many = f"{df + 1:.1f} effective {unit} (of {g})" if df < g - 1.5 else f"{g} {unit}"
        message = f"Only {many}: the jackknife interval is wide and may still be too short."
        message += " Judge more items."
        return useful, notes if df >= 9 else Note.where(True, "few_clusters", message)

    @property
    def _is_two_way(self) -> bool:
        return self.columns_left.size > 0

    @property
    def _unit(self) -> str:
        return "items" if self.items.size == self.items.sum() else "clusters"

    @cached_property
    def _logs(self) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(self.between_left), np.log(self.error_left)

    @cached_property
    def _lack(self) -> Note | None:
        """Why there is no interval."""
        g, unit = self.items.size, self._unit
        if self.error <= 0 or self.between <= 0:
            why = "no score varies within items" if self.error <= 0 else "item means do not vary"
            return Note.no_interval(why)[0]
        if g < 3:
            return not_estimable(
                f"{cluster_note(self.inside, unit)} 3 are needed to leave one out."
            )
        between, error = self._logs
        if not (np.isfinite(error).all() and np.isfinite(between).all()):
            still = "no score varies within items"
            still = "item means do not vary" if np.isfinite(error).all() else still
            return not_estimable(f"Without one of the {g} {unit} {still}. Judge more items.")
        if self._error <= 1e-12:
            message = f"No interval: the ratio is the same whichever of the {unit} is left out."
            return Note(code="constant_distribution", message=message)
        few = jackknife.few_questions(self.items)
        return not_estimable(f"{few}.") if few else None

    @cached_property
    def _error(self) -> float:
        between, error = self._logs
        return jackknife.jackknife_error(between - error, self.items)[0]

    @cached_property
    def _df(self) -> float:
        ends = [
            max(jackknife.effective_clusters(sums) - 1.0, 1.0)
            for sums in (self.spread, self.inside)
        ]
        if self._is_two_way:
            return min(ends)
        parts = [jackknife.jackknife_error(v, self.items)[0] ** 2 for v in self._logs]
        each = sum(part**2 / df for part, df in zip(parts, ends, strict=True))
        return max(sum(parts) ** 2 / each, 1.0)

    def limits(self, level: float = 0.95, *, single: bool = True, inflation: float = 1.0) -> Limits:
        """Limits of the ICC(1,.) or ICC(3,.), without regard to how little they say.

        Parameters
        ----------
        level : float
        single : bool
            Whether of one judgment, or of the mean of k.
        inflation : float
            Factor by which the error mean square could be larger: lowers the lower limit.

        Returns
        -------
        Limits
        """
        f = self.between / self.error if self.error > 0 else math.inf
        k = self.k if single else 1.0

        def icc(ratio: float) -> float:
            below = ratio + self.k - 1 if single else ratio
            return (ratio - 1) / below if below > 0 else -math.inf

        def ends(_: float) -> tuple[float, float]:
            half = self._half(level, self._error)
            low, high = f * math.exp(-half), f * math.exp(min(half, 700.0))
            return icc(1 + (low - 1) / inflation), icc(high)

        value = icc(f) if math.isfinite(f) and k > 0 else math.nan
        return self._limits(value, level, ends)

    def _half(self, level: float, error: float) -> float:
        """Half the width of an interval with this standard error."""
        return float(distributions.t.ppf((1 + level) / 2, self._df)) * error

    def _limits(
        self, value: float, level: float, ends: Callable[[float], tuple[float, float]]
    ) -> Limits:
        """The limits, or why there are none."""
        if self._lack is not None:
            return Limits(estimate=value, level=level, reason=self._lack.message)
        low, high = ends(value)
        return Limits(estimate=value, low=low, high=high, level=level, df=self._df)

    def sem_limits(self, level: float = 0.95) -> Limits:
        """SEM of repeats in other runs, from runs (the columns) and residual, in points.

        Parameters
        ----------
        level : float

        Returns
        -------
        Limits
            By Graybill and Wang: the mean square of runs by chi-squared, the residual's by the
            jackknife of its logarithm.

        References
        ----------
        Graybill & Wang (1980), Confidence intervals on nonnegative linear combinations of
        variances. JASA 75, 869-873.
        """
        n, df = float(self.items.sum()), self.k - 1
        parts = np.array([self.columns / n, (1 - 1 / n) * self.error])
        total = float(parts.sum())
        residual = jackknife.log_jackknife(self.inside, self.items, self.items)
        if residual.reason or math.isnan(self.columns):
            return Limits(estimate=math.sqrt(total), level=level, reason=residual.reason)
        half = float(distributions.t.ppf((1 + level) / 2, residual.df)) * residual.std_error
        tails = np.array([(1 + level) / 2, (1 - level) / 2])
        of_runs = df / np.asarray(distributions.chi2.ppf(tails, df))
        of_error = np.exp([-half, half])
        apart = np.hypot(parts[0] * (1 - of_runs), parts[1] * (1 - of_error))
        return Limits(
            estimate=math.sqrt(total),
            low=math.sqrt(max(0.0, total - float(apart[0]))),
            high=math.sqrt(total + float(apart[1])),
            level=level,
            df=residual.df,
        )

    def these_judges(self, level: float = 0.95) -> Limits:
        """Limits of ICC(A,1): the agreement of these judges in one judgment.

        Parameters
        ----------
        level : float

        Returns
        -------
        Limits
        """
        n = float(self.items.sum())
        left = self._agreement(
            self.between_left, self.columns_left, self.error_left, n - self.items,
            self.repeats_left,
        )  # fmt: skip

        def ends(value: float) -> tuple[float, float]:
            error = jackknife.jackknife_error(-np.log1p(-np.asarray(left)), self.items)[0]
            centre, half = -math.log1p(-value), self._half(level, error)
            return -math.expm1(-(centre - half)), -math.expm1(-(centre + half))

        return self._limits(self._estimate_of_agreement, level, ends)

    def random_judges(self, level: float = 0.95) -> Limits:
        """Limits of ICC(2,1): the agreement of judges like these in one judgment.

        Parameters
        ----------
        level : float

        Returns
        -------
        Limits
            Two judges have none: they do not determine the variance of judges.
        """
        value = self._estimate_of_agreement
        if self._lack is None and self.k < 3:
            these = self.these_judges(level)
            reason = (
                "two judges do not determine the variance of judges; ICC(A,1) of these two: "
                f"{with_bounds(value, these.low, these.high, bounded=True)}"
            )
            return Limits(estimate=value, level=level, reason=reason)
        return self._limits(value, level, lambda _: self._mover(level))

    def _mover(self, level: float) -> tuple[float, float]:
        """Limits of ICC(2,1) by the MOVER for differences."""
        n, k = float(self.items.sum()), self.k
        f, df = self.columns / self.error, k - 1
        tails = (0.5, (1 + level) / 2, (1 - level) / 2)
        factors = [1.0, *(df / float(distributions.chi2.ppf(q, df)) for q in tails[1:])]
        a, a_low, a_high = (math.log(k + k / n * max(f * c - 1, 0.0)) for c in factors)
        theta = math.log(self.between / self.error)
        half = self._half(level, self._error)
        b, b_low, b_high = (
            math.log(max(math.expm1(t), 1e-12)) for t in (theta, theta - half, theta + half)
        )
        least = math.inf if theta - half <= 0 else a - b + math.hypot(a_high - a, b - b_low)
        most = a - b - math.hypot(a - a_low, b_high - b)
        return 0.0 if math.isinf(least) else 1 / (1 + math.exp(least)), 1 / (1 + math.exp(most))

    @property
    def _estimate_of_agreement(self) -> float:
        n = float(self.items.sum())
        return float(self._agreement(self.between, self.columns, self.error, n, self.repeats))

    def _agreement(
        self, between: Any, columns: Any, error: Any, n: Any, repeats: Any
    ) -> float | FloatArray:
        """ICC(2,1), which ICC(A,1) estimates alike, from mean squares of n items."""
        k = self.k
        with np.errstate(divide="ignore", invalid="ignore"):
            value: float | FloatArray = (between - error) / (
                between + (k - 1) * error + k * (columns - error) / n + k * repeats
            )
        return value


def _stepped(value: float, k: float) -> float:
    """Spearman-Brown."""
    return k * value / (1 + (k - 1) * value)


def shuffled_mean_squares(
    x: Floats, *, n_permutations: int, seed: int | None, n_jobs: int = 1
) -> MeanSquares:
    """Mean squares of a complete layout under shuffles of each column over the rows.

    Parameters
    ----------
    x : ndarray, shape (n, k)
    n_permutations : int
    seed : int or None
    n_jobs : int

    Returns
    -------
    MeanSquares
        A stack of `n_permutations`.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> shuffled = shuffled_mean_squares(x, n_permutations=99, seed=0)
    >>> len(shuffled.items), float(np.max(shuffled.items)), float(mean_squares(x).items)
    (99, 15.5, 15.5)
    """
    own = mean_squares(x)
    n, k = x.shape
    centred = x - x.mean(axis=0)
    draws = _permuted_item_squares if seed is not None else _permuted_item_squares.__wrapped__
    between = draws(centred.tobytes(), (n, k), n_permutations, seed, n_jobs)
    left = (n - 1) * float(own.items) + (n - 1) * (k - 1) * float(own.residual) - between
    # Differences of equal sums are rounding errors, not variation.
    tiny = 1e-13 * (left + between)
    between, left = np.where(between > tiny, between, 0.0), np.where(left > tiny, left, 0.0)
    shifts = (k - 1) * float(own.replications)
    return MeanSquares(
        items=between / (n - 1),
        replications=own.replications,
        residual=left / ((n - 1) * (k - 1)),
        within=(left + shifts) / (n * (k - 1)),
        n=float(n),
        k=float(k),
        df_within=float(n * (k - 1)),
    )


@lru_cache(maxsize=1)
def _permuted_item_squares(
    centred: bytes, shape: tuple[int, int], n_permutations: int, seed: int | None, n_jobs: int
) -> Floats:
    """Sum of squares between items in each shuffle, columns having mean 0."""
    x = np.frombuffer(centred).reshape(shape)
    values, codes = np.unique(x, return_inverse=True)
    # A byte a score: the stack of shuffles is then an eighth as large.
    small = len(values) <= 256
    shuffled = codes.reshape(shape).astype(np.uint8) if small else x

    def squares(stack: NDArray[Any]) -> Floats:
        total = np.zeros(stack.shape[:-1])
        for column in range(shape[1]):
            own = stack[..., column]
            total += values[own] if small else own
        return np.asarray(np.einsum("bi,bi->b", total, total)) / shape[1]

    return permutation_distribution(
        shuffled, squares, scheme="replications", n_permutations=n_permutations, seed=seed,
        n_jobs=n_jobs, vectorized=True,
    ).distribution  # fmt: skip
