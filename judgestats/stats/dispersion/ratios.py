"""Ratios of dispersion between conditions: variances, mean differences, and their tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import format_p
from judgestats.results.records import NOT_ESTIMABLE
from judgestats.stats.designs.cells import Cells, cell_statistics, check_scores
from judgestats.stats.inference import RunComponent, permutations_needed, result
from judgestats.stats.inference.bootstrap import (
    BEYOND,
    cluster_codes,
    is_too_wide,
    not_estimable,
)
from judgestats.stats.inference.jackknife import (
    LogRatio,
    cluster_sums,
    log_jackknife,
    log_ratio_of_sums,
)
from judgestats.stats.inference.keywords import Clustered, Seeded, with_keywords
from judgestats.stats.inference.multiplicity import holm_levels, p_bounds, with_adjusted

FloatArray = NDArray[np.float64]

_SIGNS = (1.0, -1.0, -1.0, 1.0)
TOO_FEW = "fewer than 2 scores in a compared cell"


def variance_cells(
    X: ArrayLike | Cells,
    *,
    function: str,
    conditions: Sequence[object] | None,
    cluster: ArrayLike | str | None,
) -> Cells:
    """Cells from scores, from a table of variances, or as given."""
    if isinstance(X, Cells):
        return X
    scores, names = check_scores(X, function=function, conditions=conditions, ndims=(2, 3))
    if scores.ndim == 3:
        return cell_statistics(scores, conditions=names, cluster=cluster)
    if np.any(scores < 0):
        raise InputError(
            f"{function}: 2-d scores are cell variances, which cannot be negative. Give scores as "
            "a 3-d array."
        )
    unknown = np.full(scores.shape, np.nan)
    return Cells(
        conditions=names,
        n_scores=np.zeros(scores.shape, dtype=np.int64),
        mean=unknown,
        median=unknown,
        variance=scores,
        gmd=unknown,
        cluster=cluster_codes(cluster, scores.shape[0], where=function),
    )


def chosen_pairs(
    names: tuple[str, ...], reference: object | None, *, function: str
) -> list[tuple[int, int]]:
    """Pairs (a, b) of columns: every later against every earlier, or each against `reference`."""
    need_two_conditions(names, function=function)
    if reference is None:
        return [(j, i) for i, j in itertools.combinations(range(len(names)), 2)]
    if str(reference) not in names:
        known = ", ".join(names)
        raise InputError(f"{function}: reference must be one of {known}, got {reference!r}.")
    base = names.index(str(reference))
    return [(j, base) for j in range(len(names)) if j != base]


def need_two_conditions(names: tuple[str, ...], *, function: str) -> None:
    """Refuse a comparison of one condition with itself."""
    if len(names) < 2:
        raise InputError(
            f"{function}: scores must hold at least 2 conditions on axis 1, got {len(names)}."
        )


def compare_variances(cells: Cells, a: int, b: int) -> tuple[LogRatio, NDArray[np.bool_]]:
    """Log ratio of the pooled variances of columns a and b, and the items that have both."""
    values = cells.variance
    both = ~np.isnan(values[:, a]) & ~np.isnan(values[:, b])
    if not both.any():
        return LogRatio(log=math.nan, reason="no item has 2 scores under both conditions"), both
    v, ones = values[both], np.ones(int(both.sum()))
    sums = cluster_sums(np.column_stack([v[:, a], ones, v[:, b], ones]), cells.cluster[both])
    ratio = log_ratio_of_sums(sums, _SIGNS)
    if ratio.reason == "a pooled sum is 0":
        totals = ((a, sums[:, 0]), (b, sums[:, 2]))
        silent = " and of ".join(cells.conditions[c] for c, total in totals if not total.any())
        reason = f"the pooled spread of {silent} is 0: every item was scored alike every time"
        ratio = LogRatio(log=math.nan, reason=reason)
    return ratio, both


@with_keywords()
def variance_ratio(
    scores: ArrayLike | Cells,
    *,
    conditions: Sequence[object] | None = None,
    reference: object | None = None,
    **inference: Unpack[Clustered],
) -> result.Comparisons:
    r"""Ratio of average within-cell variances between conditions, with intervals over clusters.

    Parameters
    ----------
    scores : array-like, shape (N, k, R) or (N, k), or Cells
        Scores (items x conditions x replications, NaN = missing), or a table of cell variances.
    conditions : sequence, optional
        Names of the k conditions.
    cluster : array-like, shape (N,), optional
        Cluster of each item. Not used with `Cells`, which hold it.
    reference : optional
        Compare every condition with this one; default every pair, the later condition over the
        earlier.

    Returns
    -------
    Comparisons
        ``estimate`` is the ratio a / b, ``effect`` the ratio on the scale of scores, ``statistic``
        Student's t of the log ratio. Where a pooled variance is 0 the ratio is NaN with a reason.
        ``details`` of a row: the effective number of clusters, and which item (counted from 1)
        holds the largest share of one of the two sums.

    Raises
    ------
    InputError

    Notes
    -----
    :math:`\hat\rho = \bar s^2_a / \bar s^2_b` over the items with at least two scores under both.
    p-values of the family are adjusted by Holm, intervals are not. Inference on the log scale:
    jackknife over clusters with
    :math:`\min_c (\sum_g v_{gc})^2/\sum_g v_{gc}^2 - 1` degrees of freedom. Pooled variances are
    dominated by the few items on which judges vary. Fewer than 10 effective clusters add a note.

    docs/simulations/coverage_ratio.csv has the coverage of a nominal .95 with N = 50 and R = 10. It
    is .95 to .97 for normal scores, items and cells of unequal spread, clusters, and scores of 8
    and 9. The percentile bootstrap covers .88 to .95 there. For two published judges, one or two
    items hold most of the variance. Coverage is .85 and .88 there (bootstrap .74 and .80).
    `gmd_ratio` depends less on such items, and its test holds its size.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(3)
    >>> X = rng.normal(size=(60, 2, 8)) * np.array([1.0, 1.5])[:, None]
    >>> out = variance_ratio(X, conditions=["T=0.2", "T=1"])
    >>> row = out.rows[0]
    >>> row.a, row.b, round(row.estimate, 2), bool(row.interval.low > 1)
    ('T=1', 'T=0.2', 2.21, True)
    """
    function = "variance_ratio"
    cells = variance_cells(
        scores, function=function, conditions=conditions, cluster=inference["cluster"]
    )
    rows: list[result.Comparison] = []
    notes: list[result.Note] = []
    for pair in chosen_pairs(cells.conditions, reference, function=function):
        row, _, told = ratio_comparison(cells, pair, level=inference["level"])
        notes += told
        rows.append(row)
    return result.Comparisons(
        name="variance_ratio",
        symbol="t",
        method="Variance ratio, jackknife t on the log scale",
        adjust="holm",
        family="ratios of these conditions",
        rows=with_adjusted(rows, "holm"),
        sample=cells_sample(cells),
        notes=tuple(notes),
        details={"weighting": "items", "interval": "jackknife"},
    )


def ratio_comparison(
    cells: Cells, pair: tuple[int, int], *, level: float
) -> tuple[result.Comparison, LogRatio, list[result.Note]]:
    """The row of two conditions' variances, their ratio, and the notes of the family."""
    a, b = (cells.conditions[c] for c in pair)
    ratio, both = compare_variances(cells, *pair)
    interval, lost, told = notes_of_ratio(ratio, level=level, names=f"{a} / {b}")
    held = np.where(both[:, None], cells.variance[:, list(pair)], 0.0).T
    heavy = (
        heaviest(held[0], held[1], np.arange(held.shape[1])) if np.all(held.sum(axis=1) > 0) else {}
    )
    row = result.Comparison(
        a=a,
        b=b,
        estimate=math.exp(ratio.log),
        estimate_name="variance_ratio",
        statistic=ratio.statistic(),
        df=ratio.df,
        p_value=ratio.p_value(),
        interval=interval,
        effect=math.exp(ratio.log / 2),
        effect_name="sd_ratio",
        n=int(both.sum()),
        reason=ratio.reason,
        notes=lost,
        details={"effective_clusters": ratio.effective_clusters, **heavy} if heavy else {},
    )
    return row, ratio, told


def notes_of_ratio(
    ratio: LogRatio, *, level: float, names: str = ""
) -> tuple[result.Interval | None, tuple[result.Note, ...], list[result.Note]]:
    """The interval of a comparison, the note of the row that lost it, and those of the family."""
    interval, limits = ratio.interval(level), ratio.notes
    if interval is None:
        limits = ratio.lost()
    elif is_too_wide(math.exp(ratio.log), interval.low, interval.high):
        why = f"{ratio.held} An end would be over {BEYOND**2:.0f} times the estimate."
        interval, limits = None, (not_estimable(f"{why} Judge more items."),)
    lost = tuple(note for note in limits if note.code == NOT_ESTIMABLE)
    if lost or ratio.reason:
        return interval, lost, []
    lead = f"{names}: " if names else ""
    return interval, lost, [result.Note(code=n.code, message=f"{lead}{n.message}") for n in limits]


def cells_sample(cells: Cells) -> result.Sample:
    """The items with a variance under at least two conditions."""
    used = np.sum(~np.isnan(cells.variance), axis=1) >= min(2, len(cells.conditions))
    if cells.common_r:
        return cells.sample(used, reason=TOO_FEW)
    return result.Sample.from_mask(used, "no variance given", cells.cluster)


def pooled_of_column(cells: Cells, column: int, level: float) -> result.Estimate:
    """The pooled variance of one condition."""
    name = cells.conditions[column]
    present = ~np.isnan(cells.variance[:, column])
    values = cells.variance[present, column]
    degrees = np.maximum(cells.n_scores[present, column] - 1.0, 0.0)
    degrees = degrees if degrees.any() else np.ones(values.size)  # variances as published
    reason = "" if present.any() else f"no item has 2 scores under {name}"
    ratio = LogRatio(log=math.nan)
    if present.any():
        parts = np.column_stack([values * degrees, degrees, np.ones(values.size)])
        ratio = log_jackknife(*cluster_sums(parts, cells.cluster[present]).T)
    value = math.exp(ratio.log)
    interval = ratio.interval(level)
    return result.Estimate(
        name="pooled_within_variance",
        label=f"Pooled within-cell variance of {name}",
        estimator="mean of cell variances, weighted by degrees of freedom",
        estimate=value,
        interval=interval,
        sample=cells.sample(present, reason="fewer than 2 scores"),
        notes=ratio.notes if interval else ratio.lost(of=name),
        reason=reason,
        details={"condition": name, "log_std_error": ratio.std_error, "df": ratio.df},
    )


@with_keywords()
def ratio_of_ratios(
    treated: ArrayLike,
    control: ArrayLike,
    *,
    groups: Sequence[object] | None = None,
    **inference: Unpack[Clustered],
) -> result.Comparisons:
    r"""Ratio of two ratios of pooled within-cell variances, for every pair of groups.

    Parameters
    ----------
    treated, control : array-like, shape (N, g, R) or (N, g)
        Scores (items x groups x replications, NaN = missing) with and without the treatment, or
        the variances of the cells. R may differ between the two.
    groups : sequence, optional
        Names of the g groups (judges).

    Returns
    -------
    Comparisons
        ``estimate`` is (treated / control in a) / (treated / control in b): 1 where the treatment
        multiplies the variance of both groups by the same factor.

    Raises
    ------
    InputError
        If the shapes do not fit, or there are fewer than two groups.

    Notes
    -----
    :math:`(\bar s^2_{a1} / \bar s^2_{a0}) / (\bar s^2_{b1} / \bar s^2_{b0})` over the items with a
    variance in all four cells; log scale, jackknife over clusters with effective degrees of
    freedom and p-values adjusted by Holm as in `variance_ratio`. A difference of differences would
    call it an interaction when a judge of twice the spread is changed by the same factor.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> plain = rng.normal(size=(80, 2, 10))
    >>> explained = rng.normal(size=(80, 2, 10)) * np.sqrt([1.0, 3.0])[:, None]
    >>> row = ratio_of_ratios(explained, plain, groups=["steady", "moved"]).rows[0]
    >>> row.a, row.b, round(row.estimate, 1), row.p_value < 0.001
    ('moved', 'steady', 3.3, True)
    """
    function = "ratio_of_ratios"
    cells, plain = (
        variance_cells(x, function=function, conditions=groups, cluster=inference["cluster"])
        for x in (treated, control)
    )
    names, codes, v1, v0 = cells.conditions, cells.cluster, cells.variance, plain.variance
    if v1.shape != v0.shape:
        raise InputError(
            f"{function}: treated and control must have the same items and groups, got shapes "
            f"{v1.shape} and {v0.shape}."
        )
    rows = []
    notes = []
    for a, b in chosen_pairs(names, None, function=function):
        columns = np.column_stack([v1[:, a], v0[:, a], v1[:, b], v0[:, b]])
        used = ~np.isnan(columns).any(axis=1)
        sums = cluster_sums(columns[used], codes[used])
        ratio = log_ratio_of_sums(sums, _SIGNS)
        interval, lost, told = notes_of_ratio(ratio, level=inference["level"])
        notes += told
        defined = not math.isnan(ratio.std_error)
        rows.append(
            result.Comparison(
                a=names[a],
                b=names[b],
                estimate=math.exp(ratio.log) if defined else math.nan,
                estimate_name="ratio_of_ratios",
                statistic=ratio.statistic() if defined else math.nan,
                df=ratio.df,
                p_value=ratio.p_value(),
                interval=interval,
                notes=lost,
                n=int(used.sum()),
                reason=ratio.reason if used.any() else "no item has a variance in all four cells",
            )
        )
    complete = ~np.isnan(np.column_stack([v1, v0])).any(axis=1)
    return result.Comparisons(
        symbol="t",
        name=function,
        method="Ratio of variance ratios, jackknife t on the log scale",
        adjust="holm",
        family="pairs of these groups",
        rows=with_adjusted(rows, "holm"),
        sample=result.Sample.from_mask(complete, "a cell without a variance", codes),
        notes=tuple({n.message: n for n in notes}.values()),
    )


EXACT = 12
"""Clusters up to which all exchanges are made; else `DRAWS` are drawn, or what a family needs."""
DRAWS = 999
_MANY = 10
_STACK = 1_000_000
"""Signs that are drawn at a time."""
_TIE = 1e-9
"""Difference, as a share of the sum, up to which two exchanges are as extreme as each other."""

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
        Items that vary under the judge whose scores vary in fewer of them, and all.
    n_clusters : int
    reason : str
        Why there is no estimate.

    Notes
    -----
    With sums :math:`v_{ga}, v_{gb}` by cluster, signs w, and :math:`T_w(\theta) = |\sum_g w_g
    (v_{gb} - \theta v_{ga})|`, the p of a ratio :math:`\theta` is the share of sign vectors
    (:math:`w_1 = +1`) with :math:`T_w \ge T`. Each exchange is as extreme as the data between two
    roots of :math:`T_w = T`, with the estimate between them. Hence the interval of all ratios with
    p > 1 - level ends at a root, and agrees with p exactly. A ratio of 0 or infinity has a p only.
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

    def limits(self, level: float = 0.95) -> result.Limits:
        """Interval of the ratios that the exchanges do not reject.

        Parameters
        ----------
        level : float

        Returns
        -------
        Limits
            Without limits where one would be 0 or infinite.
        """
        nothing = result.Limits(estimate=self.estimate, level=level, reason=self.reason)
        if self.reason:
            return nothing
        # More than a share 1 - level of the exchanges must be as extreme.
        need = math.floor((1 - level) * self.low_at.size + 1e-9)
        low, high = float(self.low_at[need]), float(self.high_at[-1 - need])
        if 0 < low < high * (1 - 1e-12) < math.inf:
            # An exchange as extreme as the observed one at 1 crosses there but for rounding.
            ends = (1.0 if abs(end - 1) <= _TIE else end ** (1 / self.power) for end in (low, high))
            low, high = ends
            return replace(nothing, low=low, high=high)
        stands = f"p {format_p(self.p_value)} stands"
        if 1 - level < self.smallest:
            unit = "items" if self.n_clusters == self.n_items else "questions"
            why = f"{self.n_clusters} {unit} cannot reach p .05"
        elif low > 0 and math.isfinite(high):
            why = "the ratio is the same in every cluster"
        else:
            why = f"too few items vary ({self.n_varying} of {self.n_items}) to bound the ratio"
        return replace(nothing, reason=f"{why}; {stands}")

    def interval(self, level: float = 0.95) -> result.Interval | None:
        """The limits as an interval; None where there are none.

        Parameters
        ----------
        level : float
        """
        return self.limits(level).interval("inverted exchange of cells within clusters")

    def notes(self, level: float) -> tuple[result.Note, ...]:
        """Why there is no interval.

        Parameters
        ----------
        level : float
        """
        limits = self.limits(level)
        if self.reason or not limits.reason:
            return ()
        return (not_estimable(f"{limits.reason[0].upper()}{limits.reason[1:]}."),)


MOST_EXCHANGED = 2_000
"""Clusters, or blocks of them, that are exchanged."""


def exchange_ratio(
    a: ArrayLike,
    b: ArrayLike,
    codes: Ints,
    *,
    power: int,
    seed: int | None = 0,
    n_draws: int = DRAWS,
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
        Of the exchanges drawn with more than `EXACT` clusters, and of blocks of clusters.
    n_draws : int
        Their number.

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
    [found] = _exchange_ratios([(a, b, codes)], power=power, seed=seed, n_draws=n_draws)
    return found


def _exchange_ratios(
    pairs: Sequence[tuple[ArrayLike, ArrayLike, Ints]],
    *,
    power: int,
    seed: int | None,
    n_draws: int,
) -> list[ExchangeRatio]:
    """`exchange_ratio` of several pairs, whose cells are exchanged by the same signs."""
    sides = [(np.asarray(a, dtype=float), np.asarray(b, dtype=float)) for a, b, _ in pairs]
    sums = [_side_sums(*own, pair[2], seed) for own, pair in zip(sides, pairs, strict=True)]
    drawn: dict[int, Floats] = {}
    for g in dict.fromkeys(len(own) for own in sums if own.sum() > 0):
        at = [i for i, own in enumerate(sums) if len(own) == g]
        stack = np.hstack([sums[i] for i in at])
        signed = np.concatenate([signs @ stack for signs in _signs(g, seed, n_draws)])
        drawn |= {i: signed[:, 2 * k : 2 * k + 2] for k, i in enumerate(at)}
    return [
        _exchanged(
            *own, clusters=len(np.unique(pair[2])), sums=sums[i], drawn=drawn.get(i), power=power
        )
        for i, (own, pair) in enumerate(zip(sides, pairs, strict=True))
    ]


def _side_sums(x: Floats, y: Floats, codes: Ints, seed: int | None) -> Floats:
    """Sums of both sides by cluster, or by block of clusters."""
    sums = cluster_sums(np.column_stack([x, y]), codes) if x.size else np.zeros((0, 2))
    # In an order that is the data's own, so that the draws do not hang on that of the rows.
    keys = np.round(sums / max(float(sums.max(initial=0.0)), 1e-300), 9)
    sums = sums[np.lexsort((keys[:, 0], keys.min(axis=1), np.round(keys.sum(axis=1), 9)))]
    g = len(sums)
    if g > MOST_EXCHANGED:  # exact with blocks drawn without regard to which side is larger
        blocks = np.random.default_rng(seed).spawn(1)[0].permutation(g) % MOST_EXCHANGED
        sums = cluster_sums(sums, blocks)
    return sums


def _exchanged(
    x: Floats, y: Floats, *, clusters: int, sums: Floats, drawn: Floats | None, power: int
) -> ExchangeRatio:
    total_a, total_b = (float(v) for v in sums.sum(axis=0))
    reason = "no repeats of a judge differ" if clusters else "no item is shared"
    reason = "" if min(total_a, total_b) > 0 else reason
    ratio = ExchangeRatio(
        estimate=math.nan, p_value=math.nan, smallest=math.nan,
        low_at=np.empty(0), high_at=np.empty(0), power=power,
        n_varying=int(min(np.sum(x > 0), np.sum(y > 0))), n_items=x.size, n_clusters=clusters,
        reason=reason,
    )  # fmt: skip
    if drawn is None or not total_a + total_b > 0:
        return ratio
    by_a, by_b = drawn.T
    tolerance = _TIE * (total_a + total_b)
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
        estimate=math.nan if reason else (total_b / total_a) ** (1 / power),
        p_value=float(np.mean(extreme)),
        smallest=1 / by_a.size,
        low_at=np.sort(low.min(axis=0)),
        high_at=np.sort(high.max(axis=0)),
    )


def _signs(g: int, seed: int | None, n_draws: int) -> Iterator[Floats]:
    """Sign vectors with a first sign of +, the data's own first, in stacks of some megabytes."""
    if g <= EXACT:
        rest = list(itertools.product((1.0, -1.0), repeat=max(g - 1, 0)))
        yield np.array([(1.0, *signs) for signs in rest])
        return
    yield np.ones((1, g))
    rng, most = np.random.default_rng(seed), max(1, _STACK // g)
    for start in range(0, n_draws, most):
        shape = (min(most, n_draws - start), g)
        drawn: Floats = rng.integers(0, 2, size=shape).astype(float) * 2 - 1
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
    parts = [v / v.sum() if v.sum() > 0 else np.zeros_like(v) for v in (a, b)]
    shares = np.stack(parts).max(axis=0)
    item = int(np.argmax(shares))
    return {"largest_share": float(shares[item]), "largest_item": int(items[item]) + 1}


def exchange_test(ratios: result.Comparisons, what: str) -> result.TestResult:
    """The test of the only pair of GMD ratios, which the interval of the ratio inverts.

    Parameters
    ----------
    ratios : Comparisons
    what : str
        What does not matter under the null hypothesis, in the plural.

    Examples
    --------
    >>> X = np.random.default_rng(3).normal(size=(60, 2, 8)) * np.array([1.0, 1.5])[:, None]
    >>> exchange_test(gmd_ratio(X), "conditions").p_value
    0.001
    """
    [row] = ratios.rows
    return result.TestResult(
        name="gmd_ratio_test", method=ratios.method, statistic=row.estimate,
        statistic_name="GMD ratio", p_value=row.p_value, sample=ratios.sample,
        null_hypothesis=f"the {what} do not matter for the spread of judgments",
        alternative=f"the spread of judgments differs between the {what}",
        details={"p_floor": row.details["p_floor"]},
        reason="" if row.p_value >= 0 else row.reason,
    )  # fmt: skip


@with_keywords()
def gmd_ratio(
    scores: ArrayLike | Cells,
    *,
    conditions: Sequence[object] | None = None,
    reference: object | None = None,
    statistic: Dispersion = "gmd",
    runs: RunComponent | None = None,
    n_comparisons: int = 1,
    **inference: Unpack[Seeded],
) -> result.Comparisons:
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
    n_comparisons : int
        Tests of the family in which p will be adjusted: more exchanges are drawn for more.

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
    Holm. Each interval has the level at which it agrees with its adjusted p.

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
    # A family of more than ten could hardly reject by the draws of one pair.
    family = max(n_comparisons, len(pairs) if len(pairs) > _MANY else 1)
    n_draws = max(DRAWS, permutations_needed(n_comparisons=family))
    sides = []
    for a, b in pairs:
        both = np.flatnonzero(~np.isnan(values[:, [a, b]]).any(axis=1))
        sides.append((values[both, b], values[both, a], both))
    ratios = _exchange_ratios(
        [(x, y, cells.cluster[both]) for x, y, both in sides],
        power=power, seed=inference["seed"], n_draws=n_draws,
    )  # fmt: skip
    found = [(ratio, heaviest(*own)) for ratio, own in zip(ratios, sides, strict=True)]
    levels = holm_levels([ratio.p_value for ratio, _ in found], level=inference["level"])
    name = f"{statistic}_ratio"
    rows = [
        result.Comparison(
            a=cells.conditions[a],
            b=cells.conditions[b],
            estimate=ratio.estimate,
            estimate_name=name,
            p_value=ratio.p_value,
            interval=result.adjusted_interval(ratio.interval(level), inference["level"]),
            limits=ratio.interval,
            effect=ratio.estimate,
            effect_name=name,
            n=ratio.n_items,
            reason=ratio.reason,
            notes=ratio.notes(level),
            details={
                "p_floor": ratio.smallest,
                "n_clusters": ratio.n_clusters,
                "n_varying": ratio.n_varying,
                "least_varying": 1 + math.ceil(-math.log2(1 - level)),
                **heavy,
                **({} if runs is None else {"target": runs.for_judges(a, b).target_of_dispersion}),
            },
        )
        for (a, b), (ratio, heavy), level in zip(pairs, found, levels, strict=True)
    ]
    bounds = p_bounds([row.p_value for row in rows], [ratio.smallest for ratio, _ in found])
    rows = [replace(row, p_bound=bound) for row, bound in zip(rows, bounds, strict=True)]
    floors = [ratio.smallest for ratio, _ in found if not ratio.reason]
    return result.Comparisons(
        name=name,
        method=f"{statistic.upper()} ratio, cells exchanged within clusters",
        adjust="holm",
        family="ratios of these conditions",
        rows=with_adjusted(rows, "holm"),
        sample=cells_sample(cells),
        details={"p_floor": max(floors, default=math.nan), "statistic": statistic},
    )
