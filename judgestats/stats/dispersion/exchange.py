"""Ratio of the dispersion of two judges' repeats, tested by exchange of their cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.results.numbers import format_p
from judgestats.stats.designs.cells import Cells
from judgestats.stats.dispersion.ratios import cells_sample, chosen_pairs, variance_cells
from judgestats.stats.inference.bootstrap import not_estimable
from judgestats.stats.inference.jackknife import cluster_sums
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.inference.multiplicity import holm_levels, p_bounds, with_adjusted
from judgestats.stats.inference.result import Comparison, Comparisons, Interval, Limits, Note
from judgestats.stats.inference.runs import RunComponent

EXACT = 12
"""Clusters up to which all exchanges are made; otherwise `DRAWS` are drawn."""
DRAWS = 999
_STACK = 1_000_000
"""Signs that are drawn at a time."""

Dispersion = Literal["gmd", "sd"]


@dataclass(frozen=True, kw_only=True)
class ExchangeRatio:
    r"""Ratio b / a of summed dispersions, and the exchanges that it is tested by.

    Attributes
    ----------
    estimate : float
        NaN where a side is 0.
    p_value : float
        Of the ratio 1; `smallest` is the least that the exchanges allow.
    smallest : float
    low_at, high_at : ndarray
        Ratios between which each exchange is as extreme as the data, ascending, on the scale of
        the sums.
    power : int
        1 of sums of distances, 2 of sums of squares, whose ratio's root is reported.
    n_varying, n_items : int
        Items that vary under either judge, and all.
    n_clusters : int
    reason : str
        Why there is no estimate.

    Notes
    -----
    With sums :math:`v_{ga}, v_{gb}` by cluster, signs w, and :math:`T_w(\theta) = |\sum_g w_g
    (v_{gb} - \theta v_{ga})|`, the p of a ratio :math:`\theta` is the share of sign vectors
    (:math:`w_1 = +1`) with :math:`T_w \ge T`. Each exchange is as extreme as the data between two
    roots of :math:`T_w = T`, with the estimate between them; hence the interval of all ratios with
    p > 1 - level ends at one of them, and agrees with p exactly.
    """

    estimate: float
    p_value: float
    smallest: float
    low_at: Floats
    high_at: Floats
    power: int
    n_varying: int
    n_items: int
    n_clusters: int
    reason: str = ""

    def limits(self, level: float = 0.95) -> Limits:
        """Interval of the ratios that the exchanges do not reject.

        Parameters
        ----------
        level : float

        Returns
        -------
        Limits
            Without limits where one would be 0 or infinite.
        """
        nothing = Limits(estimate=self.estimate, level=level, reason=self.reason)
        if self.reason:
            return nothing
        # More than a share 1 - level of the exchanges must be as extreme.
        need = math.floor((1 - level) * self.low_at.size + 1e-9)
        low, high = float(self.low_at[need]), float(self.high_at[-1 - need])
        if low > 0 and math.isfinite(high):
            root = 1 / self.power
            return replace(nothing, low=low**root, high=high**root)
        stands = f"p {format_p(self.p_value)} stands"
        if 1 - level < self.smallest:
            unit = "items" if self.n_clusters == self.n_items else "questions"
            why = f"{self.n_clusters} {unit} cannot reach p .05"
        else:
            why = f"too few items vary ({self.n_varying} of {self.n_items}) to bound the ratio"
        return replace(nothing, reason=f"{why}; {stands}")

    def interval(self, level: float = 0.95) -> Interval | None:
        """The limits as an interval; None where there are none.

        Parameters
        ----------
        level : float
        """
        return self.limits(level).interval("inverted exchange of cells within clusters")

    def notes(self, level: float) -> tuple[Note, ...]:
        """Why there is no interval.

        Parameters
        ----------
        level : float
        """
        limits = self.limits(level)
        if self.reason or not limits.reason:
            return ()
        return (not_estimable(f"{limits.reason[0].upper()}{limits.reason[1:]}."),)


def exchange_ratio(
    a: ArrayLike, b: ArrayLike, codes: Ints, *, power: int, seed: int | None = 0
) -> ExchangeRatio:
    """Compare the dispersion of two judges item by item, exchanging cells within clusters.

    Parameters
    ----------
    a, b : array-like, shape (N,)
        Dispersion of each item under the judge of the denominator and of the numerator.
    codes : ndarray of int, shape (N,)
        Cluster of each item.
    power : {1, 2}
        2 where the dispersions are squares.
    seed : int or None
        Of the exchanges drawn with more than `EXACT` clusters.

    Returns
    -------
    ExchangeRatio

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.gamma(2, size=(2, 40))
    >>> found = exchange_ratio(a, 2 * b, np.arange(40), power=1)
    >>> found.p_value < 0.05, found.limits().low > 1
    (True, True)
    """
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    sums = cluster_sums(np.column_stack([x, y]), codes) if x.size else np.zeros((0, 2))
    # In an order that is the data's own, so that the draws do not hang on that of the rows.
    keys = np.round(sums / max(float(sums.max(initial=0.0)), 1e-300), 9)
    sums = sums[np.lexsort((keys[:, 0], keys.min(axis=1), np.round(keys.sum(axis=1), 9)))]
    g = len(sums)
    total_a, total_b = (float(v) for v in sums.sum(axis=0))
    ratio = ExchangeRatio(
        estimate=math.nan, p_value=math.nan, smallest=math.nan,
        low_at=np.empty(0), high_at=np.empty(0), power=power,
        n_varying=int(np.sum((x > 0) | (y > 0))), n_items=x.size, n_clusters=g,
    )  # fmt: skip
    if not (total_a > 0 and total_b > 0):
        return replace(ratio, reason="no repeats of a judge differ" if g else "no item is shared")
    by_a, by_b = np.concatenate([signs @ sums for signs in _signs(g, seed)]).T
    tolerance = 1e-9 * (total_a + total_b)
    extreme = np.abs(by_b - by_a) >= abs(total_b - total_a) - tolerance
    over = np.stack([total_b - by_b, total_b + by_b])
    under = np.stack([total_a - by_a, total_a + by_a])
    over, under = (np.where(np.abs(v) > tolerance, v, 0.0) for v in (over, under))
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = over / under
    # 0 / 0: as extreme at every ratio, as the data themselves are.
    low, high = (np.nan_to_num(roots, nan=v, posinf=math.inf) for v in (0.0, math.inf))
    return replace(
        ratio,
        estimate=(total_b / total_a) ** (1 / power),
        p_value=float(np.mean(extreme)),
        smallest=1 / by_a.size,
        low_at=np.sort(low.min(axis=0)),
        high_at=np.sort(high.max(axis=0)),
    )


def _signs(g: int, seed: int | None) -> Iterator[Floats]:
    """Sign vectors with a first sign of +, the data's own first, in stacks of some megabytes."""
    if g <= EXACT:
        rest = list(itertools.product((1.0, -1.0), repeat=max(g - 1, 0)))
        yield np.array([(1.0, *signs) for signs in rest])
        return
    yield np.ones((1, g))
    rng, most = np.random.default_rng(seed), max(1, _STACK // g)
    for start in range(0, DRAWS, most):
        drawn: Floats = rng.integers(0, 2, size=(min(most, DRAWS - start), g)).astype(float) * 2 - 1
        drawn[:, 0] = 1.0
        yield drawn


def heaviest(a: Floats, b: Floats, items: Ints) -> dict[str, float | int]:
    """The largest share that one item holds of a side, and which item, counted from 1.

    Parameters
    ----------
    a, b : ndarray, shape (N,)
    items : ndarray of int, shape (N,)
        Their positions.

    Examples
    --------
    >>> heaviest(np.array([1.0, 1.0]), np.array([3.0, 1.0]), np.arange(2))
    {'largest_share': 0.75, 'largest_item': 1}
    """
    if not items.size:
        return {}
    shares = np.stack([v / v.sum() if v.sum() > 0 else np.zeros_like(v) for v in (a, b)]).max(
        axis=0
    )
    item = int(np.argmax(shares))
    return {"largest_share": float(shares[item]), "largest_item": int(items[item]) + 1}


@with_keywords()
def gmd_ratio(
    scores: ArrayLike | Cells,
    *,
    conditions: Sequence[object] | None = None,
    reference: object | None = None,
    statistic: Dispersion = "gmd",
    runs: RunComponent | None = None,
    **inference: Unpack[Seeded],
) -> Comparisons:
    r"""Ratio of the mean differences of two repeats between conditions, tested by exchange.

    Parameters
    ----------
    scores : array-like, shape (N, k, R), or Cells
        Scores: items x conditions x replications, NaN = missing.
    conditions : sequence, optional
        Names of the k conditions. Not used with `Cells`.
    cluster : array-like, shape (N,), optional
        Cluster of each item. Not used with `Cells`, which hold it.
    reference : optional
        Compare every condition with this one; default every pair, the later over the earlier.
    statistic : {"gmd", "sd"}
        ``gmd``: mean absolute difference of two repeats of an item. ``sd``: root of the mean
        variance within items, which depends on the few items on which a judge varies most.
    runs : RunComponent, optional
        Variance between the runs of these conditions, in their order. Where it finds a shift of
        runs, ``details["target"]`` of a row says that the row holds for these runs.

    Returns
    -------
    Comparisons
        Where a ratio cannot be bounded, its p stands and a note says why.

    Raises
    ------
    InputError

    Notes
    -----
    `ExchangeRatio` of the items with two scores under both conditions. p-values are adjusted by
    Holm, and each interval has the level at which it agrees with its adjusted p.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> X = rng.normal(size=(60, 2, 8)) * np.array([1.0, 1.5])[:, None]
    >>> row = gmd_ratio(X, conditions=["T=0.2", "T=1"]).rows[0]
    >>> row.a, row.b, round(row.estimate, 2), row.p_value, bool(row.interval.low > 1)
    ('T=1', 'T=0.2', 1.49, 0.001, True)
    """
    function = "gmd_ratio"
    one_of(function, "statistic", statistic, ("gmd", "sd"))
    cells = variance_cells(
        scores, function=function, conditions=conditions, cluster=inference["cluster"]
    )
    values, power = (cells.gmd, 1) if statistic == "gmd" else (cells.variance, 2)
    pairs = chosen_pairs(cells.conditions, reference, function=function)
    found = []
    for a, b in pairs:
        both = ~np.isnan(values[:, [a, b]]).any(axis=1)
        own = values[both]
        codes = cells.cluster[both]
        ratio = exchange_ratio(own[:, b], own[:, a], codes, power=power, seed=inference["seed"])
        found.append((ratio, heaviest(own[:, b], own[:, a], np.flatnonzero(both))))
    levels = holm_levels([ratio.p_value for ratio, _ in found], level=inference["level"])
    name = f"{statistic}_ratio"
    rows = [
        Comparison(
            a=cells.conditions[a],
            b=cells.conditions[b],
            estimate=ratio.estimate,
            estimate_name=name,
            p_value=ratio.p_value,
            interval=ratio.interval(level),
            limits=ratio.interval,
            effect=ratio.estimate,
            effect_name=name,
            n=ratio.n_items,
            reason=ratio.reason,
            notes=ratio.notes(level),
            details={
                "p_floor": ratio.smallest,
                "n_clusters": ratio.n_clusters,
                **heavy,
                **({} if runs is None else {"target": runs.for_judges(a, b).target_of_dispersion}),
            },
        )
        for (a, b), (ratio, heavy), level in zip(pairs, found, levels, strict=True)
    ]
    bounds = p_bounds([row.p_value for row in rows], [ratio.smallest for ratio, _ in found])
    rows = [replace(row, p_bound=bound) for row, bound in zip(rows, bounds, strict=True)]
    floors = [ratio.smallest for ratio, _ in found if not ratio.reason]
    return Comparisons(
        name=name,
        method="GMD ratio, cells exchanged within clusters"
        if statistic == "gmd"
        else "SD ratio, cells exchanged within clusters",
        adjust="holm",
        family="ratios of these conditions",
        rows=with_adjusted(rows, "holm"),
        sample=cells_sample(cells),
        details={"p_floor": max(floors, default=math.nan), "statistic": statistic},
    )
