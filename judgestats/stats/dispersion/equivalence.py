"""Showing that a difference is small: two one-sided tests against a declared margin.

A test that finds no difference never shows that there is none. Equivalence is shown if the whole
interval is inside a margin that was declared before the data were seen.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.errors import InputError
from judgestats.files.text import format_number
from judgestats.results.numbers import apa_estimate, count_noun, format_p
from judgestats.results.quantities import name_of
from judgestats.stats.designs.cells import Cells
from judgestats.stats.dispersion import condition_summary, ratios
from judgestats.stats.inference import distributions
from judgestats.stats.inference.multiplicity import with_adjusted
from judgestats.stats.inference.result import Comparison, Comparisons, Note

ALPHA = 0.05
"""Level of each one-sided test; intervals have level 1 - 2 alpha."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class EquivalenceResult(Comparisons):
    """Equivalence of pairs of conditions: shown or not shown, never assumed.

    Attributes
    ----------
    rows : tuple of Comparison
        ``p_value`` is the larger of the two one-sided p-values. ``interval`` is the 1 - 2 alpha
        interval, which is inside the margin exactly when ``p_value <= alpha``. ``statistic`` is the
        one-sided t nearer to zero.
    margin : tuple of float
        Lower and upper limit of what counts as equivalent.
    alpha : float
        Level of each one-sided test.
    quantity : str
        What is compared, as text.
    """

    margin: tuple[float, float]
    alpha: float = ALPHA
    quantity: str = ""

    @property
    def shown(self) -> tuple[bool, ...]:
        """For each pair: is equivalence shown, at the adjusted level?"""
        return tuple(row.p_adjusted <= self.alpha for row in self.rows)

    @property
    def p_all(self) -> float:
        """The p of 'all pairs are equivalent': the largest p, by intersection-union unadjusted."""
        p = [row.p_value for row in self.rows]
        return math.nan if any(math.isnan(v) for v in p) else max(p)

    @property
    def all_shown(self) -> bool:
        """Is it shown that every pair is equivalent?"""
        return self.p_all <= self.alpha

    def tidy(self) -> pd.DataFrame:
        """One row per pair, with the margin and the verdict."""
        frame = super().tidy()
        frame["margin_low"], frame["margin_high"] = self.margin
        frame["equivalence_shown"] = self.shown
        return frame

    def sentence(self) -> str:
        """What is shown, and what is not: not shown means open, neither equal nor different."""
        low, high = (format_number(m, digits=3) for m in self.margin)
        head = f"Equivalence of {self.quantity} (margin {low} to {high}, "
        if len(self.rows) == 1:
            row = self.rows[0]
            verdict = "is shown" if self.shown[0] else "is not shown"
            where = self._interval_phrase(row)
            tail = "" if self.shown[0] or self._is_outside(row) else f"; {_OPEN}"
            return (
                f"{head}two one-sided tests, p {format_p(row.p_value)}) {verdict} for {row.a} and "
                f"{row.b}: {where}{tail} ({self.sample})."
            )
        n_shown = sum(self.shown)
        text = f"{head}two one-sided tests per pair, {self.adjust}-adjusted) is shown for "
        text += f"{n_shown} of {count_noun(len(self.rows), 'pair', 'pairs')}"
        text += "; that all pairs are equivalent is "
        largest = f"shown (largest p {format_p(self.p_all)}, intersection-union)"
        text += largest if self.all_shown else "not shown"
        n_beyond = sum(self._is_outside(row) for row in self.rows)
        n_undefined = sum(math.isnan(row.p_value) for row in self.rows)
        if n_beyond:
            text += f"; for {n_beyond} the whole interval is beyond the margin"
        if n_undefined:
            text += f"; {n_undefined} could not be computed"
        if n_shown + n_beyond + n_undefined < len(self.rows):
            text += f"; for the others {_OPEN}"
        return f"{text} ({self.sample})."

    def _is_outside(self, row: Comparison) -> bool:
        """Whether the interval is wholly outside the margin: different, not merely undecided."""
        if row.interval is None:
            return False
        return row.interval.high < self.margin[0] or row.interval.low > self.margin[1]

    def _interval_phrase(self, row: Comparison) -> str:
        if row.interval is None:
            wide = "its interval is not estimable at this size"
            return row.reason or (wide if row.notes else "no interval is defined")
        inside = self.margin[0] < row.interval.low and row.interval.high < self.margin[1]
        place = "inside" if inside else "beyond" if self._is_outside(row) else "not inside"
        shown = apa_estimate(row.estimate, row.interval)
        return f"{name_of(row.estimate_name)} {shown} {place} the margin"


_OPEN = "the data leave open whether they differ by more than the margin"


def _limits(margin: float | Sequence[float], *, ratio: bool, function: str) -> tuple[float, float]:
    """Both limits from one number or two, or a readable refusal."""
    given = np.atleast_1d(np.asarray(margin, dtype=float))
    neutral = 1.0 if ratio else 0.0
    if given.size == 1:
        top = float(given[0])
        low, high = (1 / top if ratio and top > 0 else -top, top)
    elif given.size == 2:
        low, high = float(given[0]), float(given[1])
    else:
        low = high = math.nan
    if not (low < neutral < high) or (ratio and low <= 0) or not math.isfinite(high - low):
        wanted = "a ratio above 1 or two around 1" if ratio else "a positive number or two around 0"
        raise InputError(
            f"{function}: margin must be {wanted}, got {margin!r}. Declare it before looking at "
            "the data."
        )
    return low, high


def _two_one_sided(
    value: float, std_error: float, df: float, limits: tuple[float, float]
) -> tuple[float, float]:
    """The one-sided t nearer to zero and its p (the larger of both)."""
    t = min(value - limits[0], limits[1] - value) / std_error
    return t, float(distributions.t.sf(t, df))


def equivalence_of_spread(
    scores: ArrayLike | Cells,
    *,
    margin: float | Sequence[float],
    conditions: Sequence[object] | None = None,
    cluster: ArrayLike | None = None,
    reference: object | None = None,
) -> EquivalenceResult:
    r"""Test whether the spread under two conditions is equivalent.

    Parameters
    ----------
    scores : array-like, shape (N, k, R) or (N, k), or Cells
        Scores (NaN = missing), or a table of cell variances.
    margin : float or (float, float)
        Declared before the data are seen: the largest ratio of variances that does not matter
        (1.5 stands for 1/1.5 to 1.5; its root is the ratio of standard deviations).
    conditions, cluster
        As in `variance_ratio`.
    reference : optional
        Compare every condition with this one; default every pair.

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    InputError

    Notes
    -----
    Two one-sided t tests (Schuirmann, 1987) on the log ratio of pooled within-cell variances,
    standard error and degrees of freedom as in `variance_ratio`. A pooled variance of 0 leaves the
    ratio undefined, and equivalence not shown. Each one-sided test has level .05, the interval .90.
    Claims about single pairs are adjusted by Holm; that *all* pairs are equivalent needs no
    adjustment (intersection-union): see `EquivalenceResult.p_all`.

    References
    ----------
    Schuirmann (1987), J. Pharmacokin. Biopharm. 15, 657-680; Berger & Hsu (1996), Statist. Sci. 11.

    Examples
    --------
    >>> import numpy as np
    >>> X = 7 + np.random.default_rng(4).normal(size=(80, 2, 10))
    >>> out = equivalence_of_spread(X, margin=1.5, conditions=["plain", "anchored"])
    >>> out.shown, out.all_shown
    ((True,), True)
    """
    function = "equivalence_of_spread"
    limits = _limits(margin, ratio=True, function=function)
    cells = ratios.variance_cells(scores, function=function, conditions=conditions, cluster=cluster)
    rows = []
    notes: list[Note] = []
    for pair in ratios.chosen_pairs(cells.conditions, reference, function=function):
        row, ratio, told = ratios.ratio_comparison(cells, pair, level=1 - 2 * ALPHA)
        t = p = math.nan
        if not math.isnan(ratio.std_error):
            log_limits = (math.log(limits[0]), math.log(limits[1]))
            t, p = _two_one_sided(ratio.log, ratio.std_error, ratio.df, log_limits)
        notes += told
        rows.append(dataclasses.replace(row, statistic=t, p_value=p, details={}))
    return EquivalenceResult(
        symbol="t",
        name=function,
        method="Two one-sided tests of the ratio of pooled within-cell variances",
        adjust="holm",
        family="pairs of these conditions",
        rows=with_adjusted(rows, "holm"),
        sample=ratios.cells_sample(cells),
        notes=tuple(notes),
        details={"weighting": "items"},
        margin=limits,
        quantity="spread, as the ratio of variances",
    )


def equivalence_of_means(
    scores: ArrayLike | Cells,
    *,
    margin: float | Sequence[float],
    conditions: Sequence[object] | None = None,
    cluster: ArrayLike | None = None,
    reference: object | None = None,
) -> EquivalenceResult:
    r"""Test whether the mean scores under two conditions are equivalent, paired by item.

    Parameters
    ----------
    scores : array-like, shape (N, k, R) or (N, k), or Cells
        Scores (NaN = missing), or one mean a cell.
    margin : float or (float, float)
        Declared before the data are seen: the largest difference of means, in score points, that
        does not matter (0.5 stands for -0.5 to 0.5).
    conditions, cluster
        As in `mean_shift`.
    reference : optional
        As in `equivalence_of_spread`.

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    InputError

    Notes
    -----
    Two one-sided paired t tests on the items' differences, levels and adjustment as in
    `equivalence_of_spread`; with clusters the standard error of
    `mean_shift`. Without clusters the numbers are those of statsmodels' ``ttost_paired``.

    References
    ----------
    Schuirmann (1987), J. Pharmacokin. Biopharm. 15, 657-680.

    Examples
    --------
    >>> Y = [[7.1, 7.2], [5.0, 5.1], [8.4, 8.2], [6.0, 6.1], [4.9, 4.9], [7.7, 7.8]]
    >>> out = equivalence_of_means(Y, margin=0.5, conditions=["plain", "anchored"])
    >>> out.shown, round(out.rows[0].p_value, 5)
    ((True,), 0.00011)
    """
    function = "equivalence_of_means"
    limits = _limits(margin, ratio=False, function=function)
    cells = condition_summary.scored_cells(scores, conditions, cluster, function=function)
    rows = []
    for pair in ratios.chosen_pairs(cells.conditions, reference, function=function):
        d, m, _ = condition_summary.mean_difference(cells, *pair)
        t = p = math.nan
        if not m.reason:
            t, p = _two_one_sided(m.mean, m.std_error, m.df, limits)
        row = condition_summary.mean_comparison(cells, pair, d, m, level=1 - 2 * ALPHA)
        rows.append(dataclasses.replace(row, statistic=t, p_value=p))
    used = np.sum(~np.isnan(cells.mean), axis=1) >= 2
    return EquivalenceResult(
        symbol="t",
        name=function,
        method="Two one-sided tests of the shift of the mean, paired by item",
        adjust="holm",
        family="pairs of these conditions",
        rows=with_adjusted(rows, "holm"),
        sample=condition_summary.sample_of(scores, cells, used),
        margin=limits,
        quantity="mean scores, in score points",
    )
